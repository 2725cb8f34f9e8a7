//! A finding or an allowance, found by what a person types.

use portcullis_core::allowances::{ALLOWANCES, Allowance};
use portcullis_core::closeness;
use portcullis_core::findings::{ExampleCall, FINDINGS, Finding, Firmness};
use serde_json::{Value, json};

use super::pages::PAGES;

/// What can be explained.
#[derive(Debug, Clone, Copy)]
pub enum PageEntry {
    /// Something that is stopped.
    Finding(&'static Finding),
    /// Something that is fine.
    Allowance(&'static Allowance),
}

impl PageEntry {
    /// Returns everything that can be explained, findings first.
    pub fn all() -> impl Iterator<Item = Self> {
        let findings = FINDINGS.iter().copied().map(Self::Finding);
        findings.chain(ALLOWANCES.iter().copied().map(Self::Allowance))
    }

    /// Finds an entry by its code, by the number of a finding, or by its name, in any case.
    pub fn find(typed: &str) -> Option<Self> {
        Self::all().find(|entry| {
            typed.eq_ignore_ascii_case(entry.code())
                || typed.eq_ignore_ascii_case(entry.name())
                || entry.has_number(typed)
        })
    }

    /// Finds the entry whose code or name is nearest to what was typed.
    pub fn find_closest(typed: &str) -> Option<Self> {
        let names = Self::all().flat_map(|entry| [entry.code(), entry.name()]);
        closeness::find_closest(typed, names).and_then(Self::find)
    }

    /// Says whether this is the finding with a number, or either with its letters and a number: `7`, `pc7`, `PA2`.
    fn has_number(self, typed: &str) -> bool {
        let letters = typed.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let Some(digits) = typed.strip_prefix(letters).filter(|digits| !digits.is_empty()) else {
            return false;
        };
        let (prefix, own_digits) = self.code().split_at_checked(2).unwrap_or_default();
        let is_meant =
            letters.eq_ignore_ascii_case(prefix) || letters.is_empty() && matches!(self, Self::Finding(_));
        is_meant && digits.trim_start_matches('0') == own_digits.trim_start_matches('0')
    }

    /// Returns its code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Finding(finding) => finding.code,
            Self::Allowance(allowance) => allowance.code,
        }
    }

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finding(finding) => finding.name,
            Self::Allowance(allowance) => allowance.name,
        }
    }

    /// Returns what it is about, a few words.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Finding(finding) => finding.title,
            Self::Allowance(allowance) => allowance.title,
        }
    }

    /// Returns the Markdown of its page.
    pub fn page(self) -> &'static str {
        let page = PAGES.iter().find(|(code, _)| *code == self.code());
        page.map(|(_, page)| *page).unwrap_or_default()
    }

    /// Returns the object with its metadata alone.
    pub fn summary_json(self) -> Value {
        match self {
            Self::Finding(finding) => {
                let (firmness, words, must_name) = match finding.firmness {
                    Firmness::Hard => ("hard", [].as_slice(), None),
                    Firmness::Soft { verbs, must_name } => ("soft", verbs, Some(must_name)),
                };
                let clearing = ALLOWANCES.iter().filter(|allowance| allowance.clears.contains(&finding.code));
                let cleared_by: Vec<&str> = clearing.map(|allowance| allowance.code).collect();
                json!({
                    "kind": "finding",
                    "code": finding.code,
                    "name": finding.name,
                    "title": finding.title,
                    "category": finding.category,
                    "severity": finding.severity.as_str(),
                    "firmness": firmness,
                    "words": words,
                    "mustName": must_name,
                    "instead": finding.instead,
                    "clearedBy": cleared_by,
                })
            }
            Self::Allowance(allowance) => json!({
                "kind": "allowance",
                "code": allowance.code,
                "name": allowance.name,
                "title": allowance.title,
                "clears": allowance.clears,
            }),
        }
    }

    /// Returns the object with metadata and examples.
    pub fn to_json(self) -> Value {
        let (hits, misses) = match self {
            Self::Finding(finding) => (finding.hits, finding.misses),
            Self::Allowance(allowance) => (allowance.hits, allowance.misses),
        };
        let calls =
            |samples: &[ExampleCall]| samples.iter().map(|sample| call_json(*sample)).collect::<Vec<_>>();
        let mut object = self.summary_json();
        if let Some(fields) = object.as_object_mut() {
            fields.insert("hits".to_owned(), json!(calls(hits)));
            fields.insert("misses".to_owned(), json!(calls(misses)));
        }
        object
    }
}

/// Makes the call of an example, as `check --batch` reads it.
fn call_json(sample: ExampleCall) -> Value {
    match sample {
        ExampleCall::Bash(command) => json!({"tool": "Bash", "input": {"command": command}}),
        ExampleCall::PowerShell(command) => json!({"tool": "PowerShell", "input": {"command": command}}),
        ExampleCall::Call(tool, fields) => {
            let input: serde_json::Map<String, Value> =
                fields.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
            json!({"tool": tool, "input": input})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(typed: &str) -> Option<&'static str> {
        PageEntry::find(typed).map(PageEntry::code)
    }

    #[test]
    fn codes_numbers_and_names_are_found() {
        for typed in ["PC007", "pc007", "Pc7", "7", "007", "git-force-push", "GIT-Force-Push"] {
            assert_eq!(code_of(typed), Some("PC007"), "{typed}");
        }
        for typed in ["PA02", "pa2", "local-operations"] {
            assert_eq!(code_of(typed), Some("PA02"), "{typed}");
        }
        for typed in ["", "0", "PC", "PC0007x", "P7", "7C", "force", "PA99", "٧"] {
            assert_eq!(code_of(typed), None, "{typed}");
        }
    }

    #[test]
    fn every_entry_has_a_page_of_its_own() {
        for entry in PageEntry::all() {
            let heading = format!("\n# {} {}\n", entry.code(), entry.name());
            assert!(entry.page().contains(&heading), "{}", entry.code());
        }
    }

    #[test]
    fn the_closest_entry_is_found_by_code_or_name() {
        for (typed, expected) in
            [("git-force-psuh", Some("PC007")), ("PC00", Some("PC001")), ("zebra crossing", None)]
        {
            assert_eq!(PageEntry::find_closest(typed).map(PageEntry::code), expected, "{typed}");
        }
    }
}
