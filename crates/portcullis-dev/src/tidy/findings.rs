//! Checks that findings and allowances, their files and their pages belong together.

use portcullis_core::allowances::ALLOWANCES;
use portcullis_core::findings::FINDINGS;

use super::TidyProblem;
use crate::generated::finding_page;
use crate::prose::paragraphs;
use crate::repository::{TrackedFile, TrackedTree};

/// What the checks know of a finding or an allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisteredCategory {
    /// The directory its file lies in.
    pub folder: &'static str,
    /// Its code.
    pub code: &'static str,
    /// Its name.
    pub name: &'static str,
}

const FINDING_FOLDER: &str = "crates/portcullis-analysis/src/findings/";
const ALLOWANCE_FOLDER: &str = "crates/portcullis-analysis/src/allowances/";

/// Files of those directories that hold no finding and no allowance.
const OTHER_FILES: &[&str] = &["mod.rs", "registry.rs"];

/// Returns every finding and allowance that is registered.
pub fn registered() -> Vec<RegisteredCategory> {
    let findings = FINDINGS.iter().map(|finding| RegisteredCategory {
        folder: FINDING_FOLDER,
        code: finding.code,
        name: finding.name,
    });
    let allowances = ALLOWANCES.iter().map(|allowance| RegisteredCategory {
        folder: ALLOWANCE_FOLDER,
        code: allowance.code,
        name: allowance.name,
    });
    findings.chain(allowances).collect()
}

impl RegisteredCategory {
    fn file(self) -> String {
        format!("{}{}.rs", self.folder, self.name.replace('-', "_"))
    }

    fn has_good_code(self) -> bool {
        let (letters, count) = if self.folder == FINDING_FOLDER { ("PC", 3) } else { ("PA", 2) };
        let digits = self.code.strip_prefix(letters).unwrap_or_default();
        digits.len() == count && digits.bytes().all(|digit| digit.is_ascii_digit())
    }
}

/// Checks that every file is registered under the name it bears and the code it gives.
pub fn find_unregistered_files(tree: &TrackedTree) -> Vec<TidyProblem> {
    let entries = registered();
    let mut problems = Vec::new();
    for file in category_files(tree) {
        let Some(entry) = entries.iter().find(|entry| entry.file() == file.path) else {
            problems.push(TidyProblem::new(
                &file.path,
                0,
                "nothing is registered under the name of the file",
            ));
            continue;
        };
        if !file.text.contains(&format!("code: \"{}\"", entry.code)) {
            problems.push(TidyProblem::new(
                &file.path,
                0,
                format!("it does not give the code {}", entry.code),
            ));
        }
    }
    problems
}

/// Checks that everything registered has a file of its name.
pub fn find_missing_files(tree: &TrackedTree) -> Vec<TidyProblem> {
    let missing = registered().into_iter().filter(|entry| tree.find(&entry.file()).is_none());
    missing.map(|entry| TidyProblem::new(&entry.file(), 0, format!("{} has no file", entry.code))).collect()
}

/// Checks that everything registered has a page whose heading names it.
pub fn find_missing_pages(tree: &TrackedTree) -> Vec<TidyProblem> {
    let mut problems = Vec::new();
    for RegisteredCategory { code, name, .. } in registered() {
        let path = finding_page(code, name);
        let heading = format!("# {code} {name}");
        if !tree.find(&path).is_some_and(|page| page.text.lines().any(|line| line == heading)) {
            problems.push(TidyProblem::new(&path, 0, format!("no page with the heading `{heading}`")));
        }
    }
    problems
}

/// Checks that codes are well formed and in order, and that no code or name is used twice.
pub fn find_bad_codes(entries: &[RegisteredCategory]) -> Vec<TidyProblem> {
    let mut problems = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let mut report = |message: String| problems.push(TidyProblem::new(&entry.file(), 0, message));
        if !entry.has_good_code() {
            report(format!("`{}` is no code", entry.code));
        }
        let earlier = entries.get(..index).unwrap_or_default();
        if earlier.iter().any(|other| other.code == entry.code) {
            report(format!("the code {} is used twice", entry.code));
        }
        if earlier.iter().any(|other| other.name == entry.name) {
            report(format!("the name `{}` is used twice", entry.name));
        }
        let before = earlier.last().filter(|other| other.folder == entry.folder);
        if let Some(other) = before.filter(|other| other.code > entry.code) {
            report(format!("{} is registered after {}", entry.code, other.code));
        }
    }
    problems
}

/// Checks that the comment a page is made of says something: what it is about, and why or what to do.
pub fn find_thin_prose(tree: &TrackedTree) -> Vec<TidyProblem> {
    let is_thin = |file: &&TrackedFile| {
        let paragraphs = paragraphs(&file.text);
        let sentences = paragraphs.iter().flatten().filter(|sentence| sentence.ends_with('.')).count();
        paragraphs.len() < 2 || sentences < 2
    };
    let thin = category_files(tree).filter(is_thin);
    thin.map(|file| TidyProblem::new(&file.path, 1, "the page has less than a summary and a sentence"))
        .collect()
}

fn category_files(tree: &TrackedTree) -> impl Iterator<Item = &TrackedFile> {
    tree.with_extension("rs").filter(|file| {
        let is_inside = [FINDING_FOLDER, ALLOWANCE_FOLDER].iter().any(|folder| file.path.starts_with(folder));
        is_inside && !OTHER_FILES.contains(&file.name())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::messages;

    #[test]
    fn a_file_that_is_not_registered_or_gives_another_code_is_found() {
        let tree = TrackedTree::of(&[
            ("crates/portcullis-analysis/src/findings/mod.rs", ""),
            ("crates/portcullis-analysis/src/findings/git_force_push.rs", "code: \"PC007\","),
            ("crates/portcullis-analysis/src/findings/git_discard.rs", "code: \"PC999\","),
            ("crates/portcullis-analysis/src/findings/forgotten.rs", ""),
            ("crates/portcullis-analysis/src/findings/read_only.rs", "code: \"PA01\","),
            ("crates/portcullis-analysis/src/allowances/read_only.rs", "code: \"PA01\","),
        ]);
        assert_eq!(
            messages(&find_unregistered_files(&tree)),
            [
                "crates/portcullis-analysis/src/findings/git_discard.rs: it does not give the code PC005",
                "crates/portcullis-analysis/src/findings/forgotten.rs: nothing is registered under the name of the file",
                "crates/portcullis-analysis/src/findings/read_only.rs: nothing is registered under the name of the file",
            ]
        );
        let missing = messages(&find_missing_files(&tree));
        assert_eq!(missing.len(), registered().len() - 3);
        assert!(!missing.iter().any(|message| message.contains("git_force_push")));
    }

    #[test]
    fn a_page_that_is_missing_or_of_another_finding_is_found() {
        let tree = TrackedTree::of(&[
            ("docs/findings/PC007-git-force-push.md", "# PC007 git-force-push\n"),
            ("docs/findings/PC005-git-discard.md", "# PC006 git-erase\n"),
        ]);
        let found = messages(&find_missing_pages(&tree));
        assert_eq!(found.len(), registered().len() - 1);
        assert!(found.iter().any(|message| message.contains("`# PC005 git-discard`")), "{found:?}");
    }

    #[test]
    fn codes_that_are_malformed_out_of_order_or_used_twice_are_found() {
        let entry = |code, name| RegisteredCategory { folder: FINDING_FOLDER, code, name };
        let entries = [entry("PC002", "a"), entry("PC001", "b"), entry("PC001", "a"), entry("PA01", "c")];
        let found: Vec<String> =
            find_bad_codes(&entries).into_iter().map(|problem| problem.message).collect();
        assert_eq!(
            found,
            [
                "PC001 is registered after PC002",
                "the code PC001 is used twice",
                "the name `a` is used twice",
                "`PA01` is no code",
                "PA01 is registered after PC001",
            ]
        );
    }

    #[test]
    fn prose_of_one_sentence_or_one_paragraph_is_thin() {
        let path = "crates/portcullis-analysis/src/findings/x.rs";
        for (text, is_thin) in [
            ("//! One.\n//!\n//! Two.\n", false),
            ("//! One.\n//! Two.\n", true),
            ("//! One.\n", true),
            ("use a;\n", true),
        ] {
            assert_eq!(
                find_thin_prose(&TrackedTree::of(&[(path, text)])).len(),
                usize::from(is_thin),
                "{text}"
            );
        }
    }
}
