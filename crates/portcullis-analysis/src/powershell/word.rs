//! One argument while its command is being read.

use portcullis_shell::Span;

use super::cursor::is_dash;
use super::value::{FoundText, PowerShellValue};
use crate::argument::{Argument, Bound, Knowledge};

/// An argument with what is known of its value.
#[derive(Debug, Clone)]
pub(super) struct PowerShellWord {
    pub(super) argument: Argument,
    pub(super) value: PowerShellValue,
    /// Whether it is quoted or computed, so that it is no parameter's name.
    pub(super) is_quoted: bool,
    /// Whether it is a further item of the list the word before it belongs to.
    pub(super) is_item: bool,
}

impl PowerShellWord {
    /// Makes a word of a value and of the way it is written.
    pub(super) fn new(value: PowerShellValue, written: &str, span: Span, is_quoted: bool) -> Self {
        let known = value.known_text();
        let knowledge = match &known {
            None => Knowledge::Dynamic,
            Some(text) => knowledge_of(text, is_quoted),
        };
        let text = known.unwrap_or_else(|| value.shown(written));
        let source = (text != written).then(|| written.to_owned());
        let bound = bound_of(&value);
        Self { argument: Argument { text, source, knowledge, span, bound }, value, is_quoted, is_item: false }
    }

    /// Makes a word of a text that was computed or split off another.
    pub(super) fn computed(text: &str, is_open: bool, span: Span) -> Self {
        let value = if is_open {
            PowerShellValue::text(text).plus(PowerShellValue::unknown())
        } else {
            PowerShellValue::text(text)
        };
        let knowledge = if is_open { Knowledge::Dynamic } else { knowledge_of(text, false) };
        let argument = Argument { text: text.to_owned(), source: None, knowledge, span, bound: None };
        Self { argument, value, is_quoted: false, is_item: false }
    }

    pub(super) fn text(&self) -> &str {
        &self.argument.text
    }

    pub(super) fn lower(&self) -> String {
        self.argument.text.to_lowercase()
    }

    pub(super) fn is_open(&self) -> bool {
        self.argument.knowledge == Knowledge::Dynamic
    }

    pub(super) fn is_decoded(&self) -> bool {
        self.value.is_decoded()
    }

    /// Returns the name of a parameter in lower case and the value glued to it.
    pub(super) fn parameter(&self) -> Option<(String, Option<&str>)> {
        let name = self.text().strip_prefix(is_dash)?;
        let begins_name = |letter: char| letter.is_alphabetic() || letter == '_' || letter == '?';
        if self.is_quoted || !name.starts_with(begins_name) {
            return None;
        }
        match name.split_once(':') {
            Some((name, value)) => Some((name.to_lowercase(), Some(value).filter(|value| !value.is_empty()))),
            None => Some((name.to_lowercase(), None)),
        }
    }

    /// Notes that the command it belongs to expands patterns in quotes too, as cmdlets do.
    pub(super) fn expand_quoted(&mut self) {
        if self.argument.knowledge == Knowledge::Fixed {
            self.argument.knowledge = knowledge_of(self.text(), false);
        }
    }
}

/// Returns what an argument may be whose value is only known by its shape.
fn bound_of(value: &PowerShellValue) -> Option<Box<Bound>> {
    let PowerShellValue::Found(FoundText { shape, is_file: false, is_one }) = value else { return None };
    Some(Box::new(Bound { shape: shape.clone(), is_many: !is_one, may_be_empty: !is_one }))
}

fn knowledge_of(text: &str, is_quoted: bool) -> Knowledge {
    if is_quoted || text.contains("://") {
        Knowledge::Fixed
    } else if text == "~" || text.starts_with("~/") || text.starts_with("~\\") {
        Knowledge::Tilde
    } else if text.contains(['*', '?']) || text.contains('[') && text.contains(']') {
        Knowledge::Glob
    } else {
        Knowledge::Fixed
    }
}

/// The words of a command, sorted by what they are.
#[derive(Debug, Default)]
pub(super) struct BoundParameters {
    named: Vec<(String, Vec<PowerShellWord>)>,
    /// What is no parameter's value, each with the items of its list.
    pub(super) positional: Vec<Vec<PowerShellWord>>,
}

impl BoundParameters {
    /// Sorts words into parameters with their values and the rest. Switches take no value.
    pub(super) fn new(words: &[PowerShellWord], switches: &[&str]) -> Self {
        let mut bound = Self::default();
        let mut groups = words.iter().cloned().fold(Vec::<Vec<PowerShellWord>>::new(), |mut groups, word| {
            match groups.last_mut() {
                Some(group) if word.is_item => group.push(word),
                _ => groups.push(vec![word]),
            }
            groups
        });
        groups.reverse();
        while let Some(group) = groups.pop() {
            let Some((name, glued)) = group.first().and_then(PowerShellWord::parameter) else {
                bound.positional.push(group);
                continue;
            };
            let is_switch = switches.iter().any(|switch| switch.starts_with(name.as_str()));
            let is_alone =
                groups.last().and_then(|next| next.first()).is_none_or(|next| next.parameter().is_some());
            let value = match (glued, group.first()) {
                (Some(glued), Some(word)) => {
                    let first = PowerShellWord::computed(glued, word.is_open(), word.argument.span);
                    std::iter::once(first).chain(group.iter().skip(1).cloned()).collect()
                }
                _ if is_switch || is_alone => Vec::new(),
                _ => groups.pop().unwrap_or_default(),
            };
            bound.named.push((name, value));
        }
        bound
    }

    /// Returns the value of a parameter, which may be written shorter.
    pub(super) fn named(&self, full: &str) -> Option<&[PowerShellWord]> {
        self.named
            .iter()
            .find(|(name, value)| !value.is_empty() && full.starts_with(name.as_str()))
            .map(|(_, value)| value.as_slice())
    }

    /// Returns the value of a parameter, or the positional words at a place.
    pub(super) fn value(&self, full: &str, place: usize) -> Option<&[PowerShellWord]> {
        self.named(full).or_else(|| self.positional.get(place).map(Vec::as_slice))
    }

    /// Says whether every parameter that is there is one of these.
    pub(super) fn has_only(&self, lists: &[&[&str]]) -> bool {
        let is_known =
            |name: &String| lists.iter().copied().flatten().any(|full| full.starts_with(name.as_str()));
        self.named.iter().all(|(name, _)| is_known(name))
    }

    /// Says whether a parameter is there, whatever its value.
    pub(super) fn has(&self, full: &str) -> bool {
        self.named.iter().any(|(name, _)| full.starts_with(name.as_str()))
    }
}
