//! The four lists of prose in the system prompt (spec D11): what surrounds the session, what is fine, what is blocked.
//!
//! A list of the settings takes the place of the built-in one, and `"$defaults"` in it stands for the built-in one. Lists
//! come from user, managed and flag settings only; they are the words the judge obeys. Even so no `<` in them stands as
//! itself, and nothing in them hides.

use portcullis_core::visible;

use super::excerpt::beginning;
use crate::escape;

/// The entry that stands for the built-in ones.
pub const DEFAULTS: &str = "$defaults";

/// The longest entry, in characters.
const LONGEST_ENTRY: usize = 2_000;

/// The longest label, in characters.
const LONGEST_LABEL: usize = 48;

/// Labels of blocks that no list holds: the templates name them.
const FIXED_LABELS: [&str; 2] = ["Deny Rule Bypass", "User Boundary"];

/// One of the lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PromptList {
    /// What surrounds the session and what of it is trusted.
    Environment,
    /// What is blocked whatever anybody says.
    HardDeny,
    /// What is blocked unless an exception or the user's own words clear it.
    SoftDeny,
    /// Exceptions.
    Allow,
}

impl PromptList {
    /// Every list, in the order they stand in the prompt.
    pub const ALL: [Self; 4] = [Self::Environment, Self::HardDeny, Self::SoftDeny, Self::Allow];

    /// Returns its name, in settings and in templates.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::HardDeny => "hard_deny",
            Self::SoftDeny => "soft_deny",
            Self::Allow => "allow",
        }
    }

    /// Returns its built-in entries.
    pub fn built_in(self) -> Vec<String> {
        entries_of(match self {
            Self::Environment => include_str!("../../data/prompts/environment.md"),
            Self::HardDeny => include_str!("../../data/prompts/hard_deny.md"),
            Self::SoftDeny => include_str!("../../data/prompts/soft_deny.md"),
            Self::Allow => include_str!("../../data/prompts/allow.md"),
        })
    }

    /// Says whether a shortened entry could let more pass than the whole one.
    const fn widens(self) -> bool {
        matches!(self, Self::Environment | Self::Allow)
    }
}

/// The lists of the settings, each on its own; `None` if it is not set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CustomLists<'a> {
    /// What surrounds the session.
    pub environment: Option<&'a [String]>,
    /// What is always blocked.
    pub hard_deny: Option<&'a [String]>,
    /// What is blocked unless it is cleared.
    pub soft_deny: Option<&'a [String]>,
    /// Exceptions.
    pub allow: Option<&'a [String]>,
}

impl<'a> CustomLists<'a> {
    /// Returns one of the lists.
    pub const fn list(&self, section: PromptList) -> Option<&'a [String]> {
        match section {
            PromptList::Environment => self.environment,
            PromptList::HardDeny => self.hard_deny,
            PromptList::SoftDeny => self.soft_deny,
            PromptList::Allow => self.allow,
        }
    }
}

/// The lists as they hold: cleaned, without repetition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptLists {
    environment: Vec<String>,
    hard_deny: Vec<String>,
    soft_deny: Vec<String>,
    allow: Vec<String>,
    problems: Vec<String>,
}

impl PromptLists {
    /// Returns the lists the program comes with.
    pub fn built_in() -> Self {
        Self::resolve(CustomLists::default())
    }

    /// Puts the lists of the settings in place of the built-in ones.
    ///
    /// A list that is not set, or holds nothing but blanks, leaves the built-in one as it is.
    pub fn resolve(lists: CustomLists<'_>) -> Self {
        let mut problems = Vec::new();
        let mut list = |section| resolve_list(section, lists.list(section), &mut problems);
        Self {
            environment: list(PromptList::Environment),
            hard_deny: list(PromptList::HardDeny),
            soft_deny: list(PromptList::SoftDeny),
            allow: list(PromptList::Allow),
            problems,
        }
    }

    /// Returns the entries of one list, each on one line and with nothing hidden in it.
    pub fn list(&self, section: PromptList) -> &[String] {
        match section {
            PromptList::Environment => &self.environment,
            PromptList::HardDeny => &self.hard_deny,
            PromptList::SoftDeny => &self.soft_deny,
            PromptList::Allow => &self.allow,
        }
    }

    /// Returns what was wrong with entries of the settings: which, what was done, how to put it right.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Returns the labels a block may name, without repetition.
    pub fn labels(&self) -> Vec<String> {
        let mut labels: Vec<String> = FIXED_LABELS.iter().map(|&label| label.to_owned()).collect();
        for entry in self.hard_deny.iter().chain(&self.soft_deny) {
            let label = label_of(entry);
            if !label.is_empty() && !labels.contains(&label) {
                labels.push(label);
            }
        }
        labels
    }

    /// Returns a list as it stands in the prompt, without a line break at its end.
    pub(super) fn items(&self, section: PromptList) -> String {
        let entries = self.list(section);
        if entries.is_empty() {
            return "(none)".to_owned();
        }
        let items: Vec<String> = entries.iter().map(|entry| format!("- {}", escape(entry))).collect();
        items.join("\n")
    }
}

/// Returns the label of an entry: the words before its colon, or else its first words; letters, digits and spaces only.
pub fn label_of(entry: &str) -> String {
    let head = entry.split_once(':').map(|(head, _)| head);
    let head = head.filter(|head| head.chars().nth(LONGEST_LABEL).is_none()).unwrap_or(entry);
    let mut label = String::new();
    let mut length = 0;
    for word in head.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let letters = word.chars().count();
        if length + letters + 1 > LONGEST_LABEL + 1 {
            break;
        }
        if !label.is_empty() {
            label.push(' ');
        }
        label.push_str(word);
        length += letters + 1;
    }
    label
}

fn resolve_list(section: PromptList, custom: Option<&[String]>, problems: &mut Vec<String>) -> Vec<String> {
    let custom = custom.unwrap_or_default();
    if custom.iter().all(|entry| entry.trim().is_empty()) {
        return section.built_in();
    }
    let mut entries = Vec::new();
    for (position, text) in custom.iter().enumerate() {
        if text.trim() == DEFAULTS {
            entries.extend(section.built_in());
        } else if let Some(entry) = clean(section, position, text, problems) {
            entries.push(entry);
        }
    }
    without_repetition(entries)
}

fn clean(section: PromptList, position: usize, text: &str, problems: &mut Vec<String>) -> Option<String> {
    let one_line = text.trim().replace(['\n', '\r', '\t'], " ");
    let entry = visible(&one_line);
    if entry.is_empty() {
        return None;
    }
    let length = entry.chars().count();
    if length <= LONGEST_ENTRY {
        return Some(entry.into_owned());
    }
    let what = if section.widens() { "left out" } else { "cut" };
    problems.push(format!(
        "entry {} of `autoMode.{}` has {length} characters, more than {LONGEST_ENTRY}, and is {what}: shorten it",
        position + 1,
        section.as_str(),
    ));
    (!section.widens()).then(|| beginning(&entry, LONGEST_ENTRY))
}

/// Keeps the first of equal entries, in order.
fn without_repetition(entries: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    entries.into_iter().filter(|entry| seen.insert(entry.clone())).collect()
}

/// Reads a built-in list: an entry begins with `- ` and goes on over indented lines.
fn entries_of(text: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in text.lines() {
        if let Some(beginning) = line.strip_prefix("- ") {
            entries.push(beginning.trim().to_owned());
        } else if let (Some(entry), more) = (entries.last_mut(), line.trim())
            && !more.is_empty()
        {
            entry.push(' ');
            entry.push_str(more);
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn allow(entries: &[&str]) -> Vec<String> {
        let entries: Vec<String> = entries.iter().map(|&entry| entry.to_owned()).collect();
        let lists = CustomLists { allow: Some(&entries), ..CustomLists::default() };
        PromptLists::resolve(lists).allow
    }

    fn with_built_in(before: &[&str], after: &[&str]) -> Vec<String> {
        let own = |entries: &[&str]| entries.iter().map(|&entry| entry.to_owned()).collect::<Vec<_>>();
        [own(before), PromptList::Allow.built_in(), own(after)].concat()
    }

    #[test]
    fn defaults_are_spliced_in_where_they_are_named() {
        assert_eq!(allow(&["$defaults", "b"]), with_built_in(&[], &["b"]));
        assert_eq!(allow(&["a", "$defaults", "b"]), with_built_in(&["a"], &["b"]));
        assert_eq!(allow(&["a", " $defaults "]), with_built_in(&["a"], &[]));
        assert_eq!(allow(&["$defaults", "a", "$defaults"]), with_built_in(&[], &["a"]));
    }

    #[test]
    fn a_list_without_defaults_replaces_the_built_in_one_and_no_other() {
        assert_eq!(allow(&["a", "$default"]), ["a", "$default"]);
        let own = ["Only: this".to_owned()];
        let lists = CustomLists { soft_deny: Some(&own), ..CustomLists::default() };
        let sections = PromptLists::resolve(lists);
        assert_eq!(sections.soft_deny, ["Only: this"]);
        assert_eq!(sections.hard_deny, PromptList::HardDeny.built_in());
        assert_eq!(sections.environment, PromptList::Environment.built_in());
        assert_eq!(sections.allow, PromptList::Allow.built_in());
    }

    #[test]
    fn a_list_that_says_nothing_is_not_set() {
        assert_eq!(allow(&[]), PromptList::Allow.built_in());
        assert_eq!(allow(&["", " \n"]), PromptList::Allow.built_in());
    }

    #[test]
    fn entries_are_trimmed_shown_and_kept_once() {
        assert_eq!(
            allow(&[" a\nb ", "", "x\u{202e}y\u{1b}", "a b", "x\u{202e}y\u{1b}"]),
            ["a b", "x\\u{202e}y\\u{1b}"]
        );
    }

    #[test]
    fn an_entry_that_is_too_long_never_lets_more_pass() {
        let long = ["a".to_owned(), "Long: ".to_owned() + &"x".repeat(3_000)];
        let lists = CustomLists {
            environment: Some(&long),
            hard_deny: Some(&long),
            soft_deny: Some(&long),
            allow: Some(&long[1..]),
        };
        let sections = PromptLists::resolve(lists);
        assert_eq!(sections.environment, ["a"]);
        assert!(sections.allow.is_empty());
        assert_eq!(sections.items(PromptList::Allow), "(none)");
        for list in [&sections.hard_deny, &sections.soft_deny] {
            assert_eq!(list.len(), 2);
            assert_eq!(list[1].chars().count(), 2_000);
            assert!(list[1].ends_with(" […cut]"));
        }
        assert_eq!(sections.problems().len(), 4);
        assert_eq!(
            sections.problems()[1],
            "entry 2 of `autoMode.hard_deny` has 3006 characters, more than 2000, and is cut: shorten it"
        );
    }

    #[test]
    fn a_label_is_what_stands_before_the_colon_or_the_first_words() {
        for (entry, label) in [
            ("Data Exfiltration: secrets leave", "Data Exfiltration"),
            ("TLS/Auth <Weaken>: x", "TLS Auth Weaken"),
            ("Never deploy to production", "Never deploy to production"),
            (
                "Never ever under any circumstances run the migration of the billing database: ask first",
                "Never ever under any circumstances run the",
            ),
            (": x", ""),
            ("", ""),
        ] {
            assert_eq!(label_of(entry), label, "{entry}");
            assert!(label.chars().count() <= LONGEST_LABEL);
        }
    }

    #[test]
    fn labels_are_those_of_blocks_without_repetition() {
        let own = ["Malware: another".to_owned(), "Never on Fridays".to_owned()];
        let lists = CustomLists { soft_deny: Some(&own), ..CustomLists::default() };
        assert_eq!(
            PromptLists::resolve(lists).labels(),
            [
                "Deny Rule Bypass",
                "User Boundary",
                "Data Exfiltration",
                "Remote Control",
                "Audit Tampering",
                "Self Authorization",
                "Malware",
                "Never on Fridays"
            ]
        );
    }
}
