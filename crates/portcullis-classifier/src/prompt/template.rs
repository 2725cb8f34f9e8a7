//! The three templates of the system prompt (spec D10): who judges and how, what the user's words mean, the rules.
//!
//! Slots are written `{{name}}`. The template of the rules has every list once: one that left out the hard rules would
//! quietly switch them off. The base may have a slot for the form of the transcript, so that one form is described.

use super::PROMPT_VERSION;
use super::section::{PromptList, PromptLists};
use crate::transcript::EntryForm;

/// The slot of the base for the form of the transcript. A base of the user's own may do without.
const TRANSCRIPT_SLOT: &str = "transcript";

/// The longest template of a user's own, in bytes.
const LONGEST_TEMPLATE: usize = 200_000;

/// The templates, checked: each slot stands where it must.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptTemplates {
    base: String,
    intent: String,
    permissions: String,
    /// The form of the transcript, which the base describes.
    form: EntryForm,
}

/// Why a template cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// It has a slot nobody fills.
    #[error("the template `{template}` has the unknown slot `{{{{{slot}}}}}`: {}", known_slots(template))]
    UnknownSlot {
        /// Which template.
        template: &'static str,
        /// The name of the slot.
        slot: String,
    },
    /// It lacks a slot.
    #[error("the template `{template}` lacks the slot `{{{{{slot}}}}}`: add it where the list is to stand")]
    MissingSlot {
        /// Which template.
        template: &'static str,
        /// The name of the slot.
        slot: &'static str,
    },
    /// It has a slot more than once.
    #[error("the template `{template}` has the slot `{{{{{slot}}}}}` more than once: keep one of them")]
    RepeatedSlot {
        /// Which template.
        template: &'static str,
        /// The name of the slot.
        slot: &'static str,
    },
    /// A slot begins and does not end.
    #[error("the template `{template}` has a `{{{{` without `}}}}` behind it on the same line: close it")]
    OpenSlot {
        /// Which template.
        template: &'static str,
    },
    /// It says nothing.
    #[error("the template `{template}` is empty: write it, or remove the setting to use the built-in one")]
    Empty {
        /// Which template.
        template: &'static str,
    },
    /// It holds a character nobody sees, and so perhaps words nobody sees.
    #[error("the template `{template}` holds the hidden character U+{code:04X}: remove it")]
    Hidden {
        /// Which template.
        template: &'static str,
        /// The code of the character.
        code: u32,
    },
    /// It is too long.
    #[error("the template `{template}` has {bytes} bytes, more than {LONGEST_TEMPLATE}: shorten it")]
    TooLong {
        /// Which template.
        template: &'static str,
        /// How many bytes it has.
        bytes: usize,
    },
}

impl PromptTemplates {
    /// Returns the templates the program comes with.
    pub fn built_in() -> Self {
        Self {
            base: include_str!("../../data/prompts/base.md").to_owned(),
            intent: include_str!("../../data/prompts/intent.md").to_owned(),
            permissions: include_str!("../../data/prompts/permissions.md").to_owned(),
            form: EntryForm::default(),
        }
    }

    /// Describes another form of the transcript.
    #[must_use]
    pub fn with_form(self, form: EntryForm) -> Self {
        Self { form, ..self }
    }

    /// Takes the texts of user or managed settings in place of the built-in ones, and checks their slots.
    ///
    /// None of them may come from a repository: they are the words the judge obeys.
    pub fn from_texts(
        base: Option<String>,
        intent: Option<String>,
        permissions: Option<String>,
    ) -> Result<Self, TemplateError> {
        let mut templates = Self::built_in();
        let texts = [
            ("base", base, &mut templates.base),
            ("intent", intent, &mut templates.intent),
            ("permissions", permissions, &mut templates.permissions),
        ];
        for (name, text, place) in texts {
            if let Some(text) = text {
                let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
                check(name, &text)?;
                *place = text;
            }
        }
        Ok(templates)
    }

    /// Returns the version of the system prompt: that of the built-in one, and whether anything of it is the user's own.
    pub fn version(&self, sections: &PromptLists) -> String {
        let is_built_in =
            self.fill(sections) == Self::built_in().with_form(self.form).fill(&PromptLists::built_in());
        if is_built_in { PROMPT_VERSION.to_string() } else { format!("{PROMPT_VERSION}+own") }
    }

    /// Returns the system prompt: the templates with the lists in their slots.
    pub fn fill(&self, sections: &PromptLists) -> String {
        let mut out = String::new();
        for text in [&self.base, &self.intent, &self.permissions] {
            if !out.is_empty() {
                out.push('\n');
            }
            for piece in pieces(text.trim()) {
                match piece {
                    TemplatePiece::Text(text) => out.push_str(text),
                    TemplatePiece::Slot(TRANSCRIPT_SLOT) => out.push_str(description(self.form)),
                    // Checked before: there is no other slot.
                    TemplatePiece::Slot(name) => {
                        out.push_str(&find_slot(name).map(|slot| sections.items(slot)).unwrap_or_default());
                    }
                    TemplatePiece::Open => {}
                }
            }
            out.push('\n');
        }
        out
    }
}

/// A part of a template.
enum TemplatePiece<'a> {
    Text(&'a str),
    Slot(&'a str),
    /// A slot that does not end; nothing stands behind it.
    Open,
}

/// Takes a template apart, once: what fills a slot is never looked at for slots.
fn pieces(text: &str) -> Vec<TemplatePiece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("{{") {
        pieces.push(TemplatePiece::Text(before));
        let line = behind.split('\n').next().unwrap_or_default();
        let Some((name, _)) = line.split_once("}}") else {
            pieces.push(TemplatePiece::Open);
            return pieces;
        };
        pieces.push(TemplatePiece::Slot(name.trim()));
        rest = behind.split_once("}}").map(|(_, rest)| rest).unwrap_or_default();
    }
    pieces.push(TemplatePiece::Text(rest));
    pieces
}

fn check(template: &'static str, text: &str) -> Result<(), TemplateError> {
    if text.len() > LONGEST_TEMPLATE {
        return Err(TemplateError::TooLong { template, bytes: text.len() });
    }
    if text.trim().is_empty() {
        return Err(TemplateError::Empty { template });
    }
    let is_hidden = |letter: &char| portcullis_core::is_hidden(*letter) && !matches!(letter, '\n' | '\t');
    if let Some(hidden) = text.chars().find(is_hidden) {
        return Err(TemplateError::Hidden { template, code: u32::from(hidden) });
    }
    let mut seen: Vec<PromptList> = Vec::new();
    for piece in pieces(text) {
        match piece {
            TemplatePiece::Text(_) => {}
            TemplatePiece::Open => return Err(TemplateError::OpenSlot { template }),
            TemplatePiece::Slot(TRANSCRIPT_SLOT) if template == "base" => {}
            TemplatePiece::Slot(name) => match find_slot(name).filter(|_| has_slots(template)) {
                None => {
                    let slot = super::excerpt::beginning(name, 60);
                    return Err(TemplateError::UnknownSlot { template, slot });
                }
                Some(slot) if seen.contains(&slot) => {
                    return Err(TemplateError::RepeatedSlot { template, slot: slot.as_str() });
                }
                Some(slot) => seen.push(slot),
            },
        }
    }
    let missing = PromptList::ALL.into_iter().find(|slot| has_slots(template) && !seen.contains(slot));
    missing.map_or(Ok(()), |slot| Err(TemplateError::MissingSlot { template, slot: slot.as_str() }))
}

/// Describes a form of the transcript to whoever reads it.
const fn description(form: EntryForm) -> &'static str {
    match form {
        EntryForm::Jsonl => {
            "  Each line is one JSON object, and its first key says who speaks or which tool is called."
        }
        EntryForm::Text => {
            "  Each entry begins with who speaks: `User:` is the user, a kind in brackets such as `[summary]:` a notice, any \
             other word a tool, after what became of it in parentheses; further lines are indented."
        }
        EntryForm::Compact => {
            "  Each line has a `role`, which is `user`, `tool` or the kind of a notice, and an `action`, cut short; only the \
             last entries are there."
        }
    }
}

fn has_slots(template: &str) -> bool {
    template == "permissions"
}

fn find_slot(name: &str) -> Option<PromptList> {
    PromptList::ALL.into_iter().find(|slot| slot.as_str() == name)
}

fn known_slots(template: &str) -> String {
    if template == "base" {
        return format!("use `{{{{{TRANSCRIPT_SLOT}}}}}`");
    }
    if !has_slots(template) {
        return "only the templates `base` and `permissions` have slots".to_owned();
    }
    let names: Vec<String> =
        PromptList::ALL.iter().map(|slot| format!("`{{{{{}}}}}`", slot.as_str())).collect();
    format!("use {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const SLOTS: &str = "{{environment}} {{hard_deny}} {{soft_deny}} {{allow}}";

    fn permissions(text: &str) -> Result<PromptTemplates, TemplateError> {
        PromptTemplates::from_texts(None, None, Some(text.to_owned()))
    }

    #[test]
    fn the_built_in_templates_pass_their_own_check() {
        let PromptTemplates { base, intent, permissions, .. } = PromptTemplates::built_in();
        for (name, text) in [("base", base), ("intent", intent), ("permissions", permissions)] {
            assert_eq!(check(name, &text), Ok(()));
        }
    }

    #[test]
    fn a_slot_that_is_unknown_missing_twice_or_open_is_named() {
        for (text, message) in [
            (
                format!("{SLOTS} {{{{rules}}}}"),
                "the template `permissions` has the unknown slot `{{rules}}`: use `{{environment}}`, \
                 `{{hard_deny}}`, `{{soft_deny}}`, `{{allow}}`",
            ),
            (
                "{{environment}} {{soft_deny}} {{allow}}".to_owned(),
                "the template `permissions` lacks the slot `{{hard_deny}}`: add it where the list is to stand",
            ),
            (
                format!("{SLOTS}\n{{{{ allow }}}}"),
                "the template `permissions` has the slot `{{allow}}` more than once: keep one of them",
            ),
            (
                format!("{SLOTS}\n{{{{allow\n}}}}"),
                "the template `permissions` has a `{{` without `}}` behind it on the same line: close it",
            ),
            (
                " \n".to_owned(),
                "the template `permissions` is empty: write it, or remove the setting to use the built-in one",
            ),
            (
                format!("{SLOTS} \u{202e}"),
                "the template `permissions` holds the hidden character U+202E: remove it",
            ),
            (
                "x".repeat(200_001),
                "the template `permissions` has 200001 bytes, more than 200000: shorten it",
            ),
        ] {
            assert_eq!(permissions(&text).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn slots_of_lists_belong_to_the_template_of_the_rules() {
        let error = PromptTemplates::from_texts(Some("{{allow}}".to_owned()), None, None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the template `base` has the unknown slot `{{allow}}`: use `{{transcript}}`"
        );
        assert!(PromptTemplates::from_texts(None, Some("{{}}".to_owned()), None).is_err());
    }

    #[test]
    fn what_fills_a_slot_is_not_looked_at_for_slots() {
        let own = ["Odd: {{hard_deny}} {{x}} {{".to_owned()];
        let lists = super::super::CustomLists { allow: Some(&own), ..Default::default() };
        let system = permissions(SLOTS).unwrap().fill(&PromptLists::resolve(lists));
        assert_eq!(system.matches("- Odd: {{hard_deny}} {{x}} {{\n").count(), 1);
        assert_eq!(system.matches("- Malware: ").count(), 1);
    }

    #[test]
    fn a_template_of_the_users_own_takes_the_place_of_ours() {
        let own = PromptTemplates::from_texts(Some("\u{feff}Judge.\r\n".to_owned()), None, None).unwrap();
        let system = own.fill(&PromptLists::built_in());
        assert!(system.starts_with("Judge.\n\n# What the user wants\n"), "{system}");
    }
}
