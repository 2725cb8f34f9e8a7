//! What a program's makers wrote for people and shells, as a draft of its profile: names of options and subcommands.
//!
//! Texts are read as data: nothing of them is more than a name or a comment. What an option does, a person says.

mod completion;
mod help;
mod manual;

use std::collections::BTreeSet;

pub use completion::{of_bash, of_fish, of_zsh};
pub use help::of_help;
pub use manual::of_page;

/// What a page, a help text or a completion file says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// What the program is for, if the text says so.
    pub summary: Option<String>,
    /// Its options.
    pub options: Vec<DraftOption>,
    /// Its subcommands, with what they are for.
    pub subcommands: Vec<(String, String)>,
}

/// An option by its spellings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftOption {
    /// How it is written.
    pub spellings: Vec<String>,
    /// Whether it takes a value.
    pub value: DraftValue,
    /// The first line of its description.
    pub about: String,
}

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DraftValue {
    /// It does not.
    None,
    /// It does: attached or in the next word.
    Required,
    /// Only one that is attached.
    Attached,
}

impl Draft {
    /// Takes over what another text says and this one does not.
    pub fn add(&mut self, other: Self) {
        self.summary = self.summary.take().or(other.summary);
        let mut known: BTreeSet<String> =
            self.options.iter().flat_map(|option| option.spellings.iter().cloned()).collect();
        for mut option in other.options {
            option.spellings.retain(|spelling| known.insert(spelling.clone()));
            if !option.spellings.is_empty() {
                self.options.push(option);
            }
        }
        for (name, about) in other.subcommands {
            if !self.subcommands.iter().any(|(listed, _)| *listed == name) {
                self.subcommands.push((name, about));
            }
        }
    }

    /// Reads a file by its name and first lines: a completion file of fish, zsh or bash, or a manual page.
    pub fn of_file(file_name: &str, program: &str, text: &str) -> Self {
        let is_page = |line: &str| [".TH", ".Dd", ".SH", ".Sh"].iter().any(|mark| line.starts_with(mark));
        if file_name.rsplit_once('.').is_some_and(|(_, ending)| ending == "fish") {
            of_fish(program, text)
        } else if file_name.starts_with('_') || text.starts_with("#compdef") {
            of_zsh(text)
        } else if text.lines().any(is_page) {
            of_page(text)
        } else {
            of_bash(text)
        }
    }
}

/// Says whether a name can be that of a program and of its file.
pub fn is_plain_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._+-@".contains(letter);
    !name.is_empty() && !name.starts_with(['-', '.']) && name.chars().all(is_plain)
}

/// Says whether a word is an option and nothing that could mean more in a profile.
fn is_spelling(word: &str) -> bool {
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).unwrap_or_default();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.+?@#".contains(letter);
    name.starts_with(|letter: char| letter.is_ascii_alphanumeric() || "?@#".contains(letter))
        // A full stop behind it belongs to a sentence.
        && !name.ends_with(['.', '-'])
        && name.len() <= 60
        && name.chars().all(is_plain)
}

/// Reads `-o, --output=FILE`, `-o FILE, --output FILE`, `--color[=WHEN]`.
fn option_of(text: &str) -> Option<DraftOption> {
    let mut option = DraftOption { spellings: Vec::new(), value: DraftValue::None, about: String::new() };
    let words: Vec<&str> = text.split([' ', ',', '|', '\t']).filter(|word| !word.is_empty()).collect();
    for (place, word) in words.iter().enumerate() {
        if word.starts_with('-') {
            add_spellings(&mut option, word)?;
            continue;
        }
        // A word behind an option is its value, unless a description begins there.
        let is_marked = word.starts_with(['<', '[']) || word.chars().all(|letter| !letter.is_lowercase());
        let is_last = place + 1 == words.len();
        if is_marked || is_last || words.get(place + 1).is_some_and(|next| next.starts_with('-')) {
            option.value = DraftValue::Required;
        } else {
            break;
        }
    }
    (!option.spellings.is_empty()).then_some(option)
}

/// Adds the spellings of one word: `--output=FILE`, `--[no-]color`.
fn add_spellings(option: &mut DraftOption, word: &str) -> Option<()> {
    if let Some(rest) = word.strip_prefix("--[no-]") {
        add_spellings(option, &format!("--{rest}"))?;
        let end = rest.find(['=', '[', '<', '(']).unwrap_or(rest.len());
        option
            .spellings
            .extend(rest.get(..end).map(|name| format!("--no-{name}")).filter(|name| is_spelling(name)));
        return Some(());
    }
    let end = word.find(['=', '[', '<', '(']).unwrap_or(word.len());
    let (name, rest) = word.split_at_checked(end)?;
    if is_spelling(name) {
        option.spellings.push(name.to_owned());
    }
    if rest.starts_with('[') {
        option.value = DraftValue::Attached;
    } else if !rest.is_empty() {
        option.value = DraftValue::Required;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_add_to_each_other() {
        let mut draft = of_page(".SH OPTIONS\n.TP\n-a, --all\nall\n");
        draft.add(of_bash("opts=\"--all --new-one --file=\""));
        let spellings: Vec<String> = draft.options.iter().map(|option| option.spellings.join(" ")).collect();
        assert_eq!(spellings, ["-a --all", "--new-one", "--file"]);
    }

    #[test]
    fn names_are_plain() {
        for (name, is_plain) in [
            ("acme-lint", true),
            ("g++", true),
            ("../x", false),
            ("-x", false),
            ("a b", false),
            ("", false),
            (".x", false),
        ] {
            assert_eq!(is_plain_name(name), is_plain, "{name}");
        }
    }

    #[test]
    fn an_option_that_can_be_taken_back_has_both_spellings() {
        let option = option_of("--[no-]color[=WHEN]").unwrap();
        assert_eq!(option.spellings, ["--color", "--no-color"]);
        assert_eq!(option.value, DraftValue::Attached);
    }
}
