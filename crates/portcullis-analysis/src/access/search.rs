//! `grep` and its kin: a pattern or program first, then the files it is tried on.
//!
//! An option that is not known may take the next word or not; then no operand is taken for the pattern, and all count as
//! files.

use super::{FileUse, each, with_option_paths};
use crate::argument::Argument;
use crate::invocation::Access;

/// The options of a searcher.
struct Options {
    names: &'static [&'static str],
    /// Short options with a value.
    valued: &'static str,
    /// Long options with a value.
    valued_long: &'static [&'static str],
    /// Options whose value is a file, or a directory to look in.
    files: &'static [&'static str],
    /// Options that give the pattern, so that the first operand is a file.
    patterns: &'static [&'static str],
    /// Long options without a value; with none listed, every unlisted one is taken for such.
    flags_long: &'static [&'static str],
}

/// Long options with a value that `grep` and `rg` have, together.
const GREP_VALUED: &[&str] = &[
    "after-context",
    "before-context",
    "context",
    "max-count",
    "include",
    "exclude",
    "exclude-dir",
    "type",
    "type-not",
    "glob",
    "iglob",
    "max-depth",
    "color",
    "colors",
    "replace",
    "sort",
    "sortr",
    "max-columns",
    "encoding",
    "threads",
    "max-filesize",
    "engine",
    "label",
    "binary-files",
    "regexp",
    "file",
    "exclude-from",
    "ignore-file",
    "path-separator",
];

/// Long options without a value that they have, together.
const GREP_FLAGS: &[&str] = &[
    "ignore-case",
    "word-regexp",
    "line-number",
    "files-with-matches",
    "files-without-match",
    "count",
    "count-matches",
    "recursive",
    "dereference-recursive",
    "fixed-strings",
    "hidden",
    "no-ignore",
    "no-ignore-vcs",
    "only-matching",
    "invert-match",
    "multiline",
    "multiline-dotall",
    "pcre2",
    "no-heading",
    "heading",
    "json",
    "files",
    "vimgrep",
    "no-filename",
    "with-filename",
    "smart-case",
    "case-sensitive",
    "follow",
    "null",
    "quiet",
    "silent",
    "no-messages",
    "extended-regexp",
    "perl-regexp",
    "basic-regexp",
    "line-regexp",
    "trim",
    "stats",
    "column",
    "no-line-number",
    "text",
    "unrestricted",
    "color",
    "colour",
    "no-config",
    "version",
    "help",
    "type-list",
    "debug",
    "passthru",
    "byte-offset",
    "null-data",
];

const SEARCHERS: &[Options] = &[
    Options {
        names: &["grep", "egrep", "fgrep"],
        valued: "ABCDdefm",
        valued_long: GREP_VALUED,
        files: &["-f", "--file", "--exclude-from", "--ignore-file"],
        patterns: &["-e", "-f", "--regexp", "--file", "--files", "--type-list"],
        flags_long: GREP_FLAGS,
    },
    Options {
        names: &["rg"],
        valued: "ABCEMTdefgjmrt",
        valued_long: GREP_VALUED,
        files: &["-f", "--file", "--exclude-from", "--ignore-file"],
        patterns: &["-e", "-f", "--regexp", "--file", "--files", "--type-list"],
        flags_long: GREP_FLAGS,
    },
    Options {
        names: &["fd", "fdfind"],
        valued: "dtESjceoC",
        valued_long: &[
            "max-depth",
            "min-depth",
            "exact-depth",
            "type",
            "exclude",
            "extension",
            "size",
            "changed-within",
            "changed-before",
            "owner",
            "threads",
            "max-results",
            "color",
            "base-directory",
            "search-path",
            "ignore-file",
            "format",
        ],
        files: &["-C", "--base-directory", "--search-path", "--ignore-file"],
        patterns: &[],
        flags_long: &[
            "hidden",
            "no-ignore",
            "no-ignore-vcs",
            "unrestricted",
            "case-sensitive",
            "ignore-case",
            "glob",
            "regex",
            "fixed-strings",
            "absolute-path",
            "follow",
            "full-path",
            "print0",
            "prune",
            "quiet",
            "show-errors",
            "one-file-system",
            "version",
            "help",
        ],
    },
    Options {
        names: &["jq"],
        valued: "fL",
        valued_long: &["from-file", "indent", "library-path"],
        files: &["-f", "--from-file", "-L", "--library-path"],
        patterns: &["-f", "--from-file"],
        flags_long: &[],
    },
    Options {
        names: &["sed"],
        valued: "efl",
        valued_long: &["expression", "file", "line-length"],
        files: &["-f", "--file"],
        patterns: &["-e", "-f", "--expression", "--file"],
        flags_long: &[],
    },
    Options {
        names: &["awk", "gawk"],
        valued: "fFvile",
        valued_long: &["file", "field-separator", "assign", "include", "load", "source"],
        files: &["-f", "--file", "-i", "--include"],
        patterns: &["-f", "--file", "-e", "--source"],
        flags_long: &[],
    },
    Options {
        names: &["yq"],
        valued: "opI",
        valued_long: &["output-format", "input-format", "indent", "from-file"],
        files: &["--from-file"],
        patterns: &["--from-file"],
        flags_long: &[],
    },
];

/// Returns the files a searcher reads, or writes in the case of `sed -i`.
pub(super) fn files(name: &str, operands: &[Argument]) -> Vec<FileUse> {
    let Some(options) = SEARCHERS.iter().find(|options| options.names.contains(&name)) else {
        return each(super::plain_operands(operands), Access::Read);
    };
    let reading = options.read(operands);
    let access =
        if name == "sed" && operands.iter().any(edits_in_place) { Access::Write } else { Access::Read };
    let skipped = usize::from(!reading.has_pattern && !reading.is_doubtful);
    let mut uses = each(reading.operands.into_iter().skip(skipped).collect(), access);
    uses.extend(each(reading.files, Access::Read));
    with_option_paths(operands, uses)
}

fn edits_in_place(word: &Argument) -> bool {
    word.text.starts_with("--in-place")
        || (word.is_option() && !word.text.starts_with("--") && word.text.contains('i'))
}

#[derive(Default)]
struct Reading {
    operands: Vec<Argument>,
    files: Vec<Argument>,
    has_pattern: bool,
    is_doubtful: bool,
}

impl Options {
    fn read(&self, words: &[Argument]) -> Reading {
        let mut reading = Reading::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word.text == "--" {
                reading.operands.extend(words.by_ref().cloned());
            } else if !word.is_option() {
                reading.operands.push(word.clone());
            } else if let Some((option, value)) = self.option(word, &mut reading) {
                let value = value.or_else(|| words.next().cloned());
                reading.has_pattern |= self.patterns.contains(&option.as_str());
                reading.files.extend(value.filter(|_| self.files.contains(&option.as_str())));
            }
        }
        reading.operands.retain(|word| word.text != "-");
        reading
    }

    /// Reads one word of options; returns the one that has a value, with the value if it is attached.
    fn option(&self, word: &Argument, reading: &mut Reading) -> Option<(String, Option<Argument>)> {
        if let Some(long) = word.text.strip_prefix("--") {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let option = format!("--{name}");
            if let Some(value) = value {
                return Some((option, Some(word.piece(value))));
            }
            reading.has_pattern |= self.patterns.contains(&option.as_str());
            // `--color` may stand alone.
            if self.valued_long.contains(&name) && !self.flags_long.contains(&name) {
                return Some((option, None));
            }
            reading.is_doubtful |= !self.flags_long.is_empty() && !self.flags_long.contains(&name);
            return None;
        }
        let cluster = word.text.strip_prefix('-')?;
        let at = cluster.find(|letter| self.valued.contains(letter))?;
        let letter = cluster.get(at..at + 1)?;
        let attached = cluster.get(at + 1..).filter(|attached| !attached.is_empty());
        Some((format!("-{letter}"), attached.map(|attached| word.piece(attached))))
    }
}
