//! Golden cases: what a test compares with, many cases in one Markdown file that a person can read.
//!
//! ````text
//! # A title and prose, for the reader alone
//!
//! ## the-name-of-a-case
//!
//! ```json input
//! {"command": "ls"}
//! ```
//!
//! ```json output no-newline
//! {"decision": "allow"}
//! ```
//! ````
//!
//! A block begins with its language, which is for editors, and its name. Its text is byte for byte what stands between
//! the fences; `no-newline` says that the text ends without the newline that the closing fence needs. With
//! `UPDATE_GOLDEN` in the environment, a test sets what it found and [`GoldenFile::update`] writes the file anew.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const HEADING: &str = "## ";
const NO_NEWLINE: &str = " no-newline";
const UPDATE: &str = "UPDATE_GOLDEN";

/// A file of golden cases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldenFile {
    path: PathBuf,
    /// What stands before the first case.
    introduction: String,
    /// The cases, in the order of the file.
    pub cases: Vec<GoldenCase>,
}

/// One case: named texts that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldenCase {
    /// The heading.
    pub name: String,
    blocks: Vec<GoldenBlock>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct GoldenBlock {
    language: String,
    name: String,
    text: String,
}

/// Says whether golden files are to be written rather than compared with.
pub fn is_updating() -> bool {
    env::var_os(UPDATE).is_some()
}

impl GoldenFile {
    /// Reads a file. Anything but blocks below the heading of a case is an error, so that no case gets lost.
    pub fn read(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let text = fs::read_to_string(path)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
        let invalid = |(line, problem): (usize, &str)| {
            let message = format!("{}:{line}: {problem}", path.display());
            io::Error::new(io::ErrorKind::InvalidData, message)
        };
        let (introduction, cases) = parse(&text).map_err(invalid)?;
        Ok(Self { path: path.to_owned(), introduction, cases })
    }

    /// Reads every file of a folder, by name.
    pub fn read_folder(folder: impl AsRef<Path>) -> io::Result<Vec<Self>> {
        let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
        let mut paths = entries.collect::<io::Result<Vec<PathBuf>>>()?;
        paths.sort();
        paths.iter().map(Self::read).collect()
    }

    /// Returns the name of the file without its extension: what the cases have in common.
    pub fn topic(&self) -> &str {
        self.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
    }

    /// Finds a case by its name, or adds one without blocks.
    pub fn case(&mut self, name: &str) -> &mut GoldenCase {
        let index = self.cases.iter().position(|case| case.name == name).unwrap_or_else(|| {
            self.cases.push(GoldenCase { name: name.to_owned(), blocks: Vec::new() });
            self.cases.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the position of a case that is there")]
        &mut self.cases[index]
    }

    /// Writes the file anew if golden files are being updated.
    pub fn update(&self) -> io::Result<()> {
        if is_updating() { fs::write(&self.path, self.print()) } else { Ok(()) }
    }

    fn print(&self) -> String {
        let mut printed = self.introduction.clone();
        for case in &self.cases {
            let _ = write!(printed, "{HEADING}{}\n\n", case.name);
            for block in &case.blocks {
                block.print(&mut printed);
            }
        }
        printed.truncate(printed.trim_end().len());
        printed + "\n"
    }
}

impl GoldenCase {
    /// Returns the text of a block.
    pub fn find(&self, block: &str) -> Option<&str> {
        self.blocks.iter().find(|found| found.name == block).map(|found| found.text.as_str())
    }

    /// Returns the names and texts of all blocks.
    pub fn blocks(&self) -> impl Iterator<Item = (&str, &str)> {
        self.blocks.iter().map(|block| (block.name.as_str(), block.text.as_str()))
    }

    /// Replaces the text of a block, or adds the block at the end.
    pub fn set(&mut self, language: &str, block: &str, text: &str) {
        match self.blocks.iter_mut().find(|found| found.name == block) {
            Some(found) => text.clone_into(&mut found.text),
            None => self.blocks.push(GoldenBlock {
                language: language.to_owned(),
                name: block.to_owned(),
                text: text.to_owned(),
            }),
        }
    }

    /// Takes out the blocks whose names do not pass.
    pub fn retain(&mut self, mut passes: impl FnMut(&str) -> bool) {
        self.blocks.retain(|block| passes(&block.name));
    }
}

impl GoldenBlock {
    fn print(&self, printed: &mut String) {
        let longest = self.text.lines().map(|line| line.len() - line.trim_start_matches('`').len()).max();
        let fence = "`".repeat(longest.map_or(3, |length| (length + 1).max(3)));
        let is_open = !self.text.is_empty() && !self.text.ends_with('\n');
        let mark = if is_open { NO_NEWLINE } else { "" };
        let newline = if is_open { "\n" } else { "" };
        let Self { language, name, text } = self;
        let _ = write!(printed, "{fence}{language} {name}{mark}\n{text}{newline}{fence}\n\n");
    }
}

type ParsedFile = (String, Vec<GoldenCase>);

fn parse(text: &str) -> Result<ParsedFile, (usize, &'static str)> {
    let mut introduction = String::new();
    let mut cases: Vec<GoldenCase> = Vec::new();
    let mut lines = text.split_inclusive('\n').enumerate();
    while let Some((index, line)) = lines.next() {
        let error = |problem| (index + 1, problem);
        if let Some(name) = line.strip_prefix(HEADING) {
            let name = name.trim_end().to_owned();
            if cases.iter().any(|case| case.name == name) {
                return Err(error("a case of this name is there already"));
            }
            cases.push(GoldenCase { name, blocks: Vec::new() });
            continue;
        }
        let Some(case) = cases.last_mut() else {
            introduction.push_str(line);
            continue;
        };
        let fence = line.get(..line.len() - line.trim_start_matches('`').len()).unwrap_or_default();
        if fence.len() >= 3 {
            let (language, name) = line
                .get(fence.len()..)
                .and_then(|header| header.trim_end().split_once(' '))
                .ok_or(error("a block begins with a language and a name"))?;
            let mut body = String::new();
            loop {
                let (_, line) = lines.next().ok_or(error("the block does not end"))?;
                if line.trim_end_matches('\n') == fence {
                    break;
                }
                body.push_str(line);
            }
            let block = block(language, name, body);
            if case.find(&block.name).is_some() {
                return Err(error("a block of this name is there already"));
            }
            case.blocks.push(block);
        } else if !line.trim().is_empty() {
            return Err(error("a case holds blocks alone"));
        }
    }
    Ok((introduction, cases))
}

fn block(language: &str, name: &str, mut text: String) -> GoldenBlock {
    let open = name.strip_suffix(NO_NEWLINE);
    if open.is_some() {
        text.pop();
    }
    GoldenBlock { language: language.to_owned(), name: open.unwrap_or(name).to_owned(), text }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn file(introduction: &str, cases: Vec<GoldenCase>) -> GoldenFile {
        GoldenFile {
            path: PathBuf::from("tests/golden/host.md"),
            introduction: introduction.to_owned(),
            cases,
        }
    }

    #[test]
    fn what_was_printed_is_read_byte_for_byte() {
        let mut written = file("# Title\n\nProse.\n\n", Vec::new());
        let texts = [
            "",
            "\n",
            "\n\n",
            "a",
            "a\n",
            " a \n\n",
            "## b\n",
            "```\nc\n````\n",
            "d\n```",
            "\r\n",
            "é\u{202e}",
        ];
        for (index, text) in texts.iter().enumerate() {
            written.case(&format!("case {}", index / 2)).set("text", &format!("block {index}"), text);
        }
        let (introduction, cases) = parse(&written.print()).unwrap();
        assert_eq!(file(&introduction, cases), written);
    }

    #[test]
    fn a_block_that_is_there_is_replaced_where_it_stands() {
        let mut golden = file("", Vec::new());
        golden.case("one").set("json", "input", "{}\n");
        golden.case("one").set("json", "output", "old");
        golden.case("two").set("text", "input", "x\n");
        golden.case("one").set("json", "output", "new");
        assert_eq!(golden.topic(), "host");
        assert_eq!(
            golden.print(),
            "## one\n\n```json input\n{}\n```\n\n```json output no-newline\nnew\n```\n\n## two\n\n```text input\nx\n```\n"
        );
    }

    #[test]
    fn nothing_is_passed_over() {
        let texts = [
            ("# T\n\n## a\n\n## a\n", (5, "a case of this name is there already")),
            ("## a\nprose\n", (2, "a case holds blocks alone")),
            ("## a\n```json x\n1\n", (2, "the block does not end")),
            ("## a\n```json\n1\n```\n", (2, "a block begins with a language and a name")),
            ("## a\n```json x\n```\n```json x\n```\n", (4, "a block of this name is there already")),
        ];
        for (text, problem) in texts {
            assert_eq!(parse(text), Err(problem), "{text}");
        }
    }
}
