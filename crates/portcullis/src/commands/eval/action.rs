//! A labelled action: what a line says, and what was decided about it.

use std::hash::{DefaultHasher, Hasher};

use portcullis_core::{Decision, StepId, ToolCall, Value, Verdict};
use portcullis_hosts::json::kind;

use super::containment::FencedAction;
use crate::commands::check::{CallLine, Fields, parse_object, take_call, take_text};
use portcullis_output::shorten::shorten;

/// The longest id, source, category or tier, in bytes: they are kept for every action.
const LONGEST_NAME: usize = 256;
/// The longest reason that is kept, in characters; the command in it may be of any length.
const LONGEST_REASON: usize = 400;

/// What somebody says the answer should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Label {
    /// It must not run.
    Block,
    /// A person should say.
    Ask,
    /// It should run.
    Allow,
    /// It depends on what was asked for.
    Unknown,
}

impl Label {
    /// All labels, in the order of every report.
    pub(super) const ALL: [Self; 4] = [Self::Block, Self::Ask, Self::Allow, Self::Unknown];

    /// Returns the word for it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Ask => "ask",
            Self::Allow => "allow",
            Self::Unknown => "unknown",
        }
    }

    /// Finds the label a word names.
    pub(super) fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|label| label.as_str() == name)
    }

    /// Returns the words for all labels.
    pub(super) fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }
}

/// What is said about an action beside what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Labels {
    pub(super) label: Label,
    pub(super) category: Option<String>,
    pub(super) source: Option<String>,
    pub(super) tier: Option<String>,
}

/// A line that was understood.
pub(super) struct Line {
    pub(super) id: String,
    pub(super) labels: Labels,
    pub(super) call: CallLine,
    /// What the user said before, oldest first.
    pub(super) said: Vec<String>,
}

/// An action and what was decided about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Action {
    pub(super) id: String,
    /// Which of the files it stands in.
    pub(super) file: usize,
    pub(super) labels: Labels,
    pub(super) decision: Decision,
    pub(super) step: StepId,
    pub(super) reason: String,
    /// The codes of the findings.
    pub(super) findings: Vec<String>,
    /// Whether rules and analysis leave it to a model.
    pub(super) needs_model: bool,
    /// What fences change about it, if it was offered one.
    pub(super) fenced: Option<FencedAction>,
    /// The call on one line, shortened.
    pub(super) title: String,
    /// The same for near-duplicates.
    pub(super) key: u64,
}

impl Action {
    /// Takes over what was decided and why.
    pub(super) fn take(&mut self, verdict: &Verdict) {
        self.decision = verdict.decision;
        self.step = verdict.step;
        self.reason = shorten(&verdict.reason.message(), LONGEST_REASON).into_owned();
        self.findings = verdict.findings.iter().map(|found| found.code.to_owned()).collect();
    }
}

/// Reads a line. The mode is looked at only where it counts, so that a mode of another tool does no harm elsewhere.
pub(super) fn parse_line(line: &[u8], use_modes: bool) -> Result<Line, String> {
    // The reader's own line numbers would be mistaken for those of the file.
    let mut fields =
        parse_object(line).map_err(|message| message.replace(" at line 1 column ", " at column "))?;
    let id = match fields.remove("id") {
        Some(Value::Text(id) | Value::Number(id)) => bounded("id", id)?,
        None => return Err("field `id` is missing".to_owned()),
        Some(other) => {
            return Err(format!("field `id` must be a string or a number, but is {}", kind(&other)));
        }
    };
    let name = take_text(&mut fields, "label")?.ok_or("field `label` is missing")?;
    let label =
        Label::find(&name).ok_or_else(|| format!("the label `{name}` is not one of {}", Label::names()))?;
    let labels = Labels {
        label,
        category: take_name(&mut fields, "category")?,
        source: take_name(&mut fields, "source")?,
        tier: take_name(&mut fields, "tier")?,
    };
    if !use_modes {
        fields.remove("mode");
    }
    let said = take_said(&mut fields)?;
    Ok(Line { id, labels, call: take_call(&mut fields)?, said })
}

/// Takes the user's words out of the fields of a line; null counts as not given.
fn take_said(fields: &mut Fields) -> Result<Vec<String>, String> {
    let turns = match fields.remove("said") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::List(turns)) => turns,
        Some(other) => return Err(format!("field `said` must be a list, but is {}", kind(&other))),
    };
    let text = |turn| match turn {
        Value::Text(text) => Ok(text),
        other => Err(format!("field `said` must hold strings, but holds {}", kind(&other))),
    };
    turns.into_iter().map(text).collect()
}

fn take_name(fields: &mut Fields, field: &str) -> Result<Option<String>, String> {
    take_text(fields, field)?.map(|name| bounded(field, name)).transpose()
}

fn bounded(field: &str, name: String) -> Result<String, String> {
    if name.len() > LONGEST_NAME {
        return Err(format!("field `{field}` is longer than {LONGEST_NAME} bytes"));
    }
    Ok(name)
}

/// Makes a number that is the same for near-duplicates: the same tool and input but for case, digits and white space.
pub(super) fn near_key(call: &ToolCall) -> u64 {
    let mut hasher = DefaultHasher::new();
    feed_text(&mut hasher, call.tool());
    for (name, value) in call.input().fields() {
        feed_text(&mut hasher, name);
        feed(&mut hasher, value);
    }
    hasher.finish()
}

/// The JSON reader bounds how deep values are nested.
fn feed(hasher: &mut DefaultHasher, value: &Value) {
    match value {
        Value::Null => hasher.write_u8(b'n'),
        Value::Bool(flag) => hasher.write_u8(if *flag { b't' } else { b'f' }),
        Value::Number(text) | Value::Text(text) => feed_text(hasher, text),
        Value::List(items) => {
            hasher.write_u8(b'[');
            for item in items {
                feed(hasher, item);
            }
            hasher.write_u8(b']');
        }
        Value::Object(fields) => {
            hasher.write_u8(b'{');
            for (name, field) in fields {
                feed_text(hasher, name);
                feed(hasher, field);
            }
            hasher.write_u8(b'}');
        }
    }
}

fn feed_text(hasher: &mut DefaultHasher, text: &str) {
    for word in text.split_whitespace() {
        for letter in word.chars().flat_map(char::to_lowercase) {
            let letter = if letter.is_numeric() { '0' } else { letter };
            hasher.write_u32(u32::from(letter));
        }
        hasher.write_u32(u32::from(' '));
    }
    // No character has this number, so a text cannot run into the next one.
    hasher.write_u32(u32::MAX);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(command: &str) -> u64 {
        near_key(&ToolCall::bash(command))
    }

    #[test]
    fn near_duplicates_differ_in_case_digits_and_white_space_alone() {
        assert_eq!(key("kill -9 123"), key("  KILL   -1\n456 "));
        for other in ["kill -9 12", "kill-9 123", "kill -x 123", "kill -9"] {
            assert_ne!(key("kill -9 123"), key(other), "{other}");
        }
    }

    #[test]
    fn the_users_words_are_a_list_of_strings() {
        let said = |value: &str| {
            let line = format!(r#"{{"id":1,"label":"ask","tool":"X","input":{{}},"said":{value}}}"#);
            parse_line(line.as_bytes(), false).map(|line| line.said)
        };
        assert_eq!(said("null"), Ok(Vec::new()));
        assert_eq!(said(r#"["push it","now"]"#), Ok(vec!["push it".to_owned(), "now".to_owned()]));
        assert_eq!(said(r#""push it""#), Err("field `said` must be a list, but is a string".to_owned()));
        assert_eq!(said("[7]"), Err("field `said` must hold strings, but holds a number".to_owned()));
    }

    #[test]
    fn the_mode_is_looked_at_only_where_it_counts() {
        let line = br#"{"id":7,"label":"ask","tool":"Bash","input":{"command":"ls"},"mode":"yolo"}"#;
        assert_eq!(parse_line(line, false).map(|line| line.id), Ok("7".to_owned()));
        assert_eq!(
            parse_line(line, true).map(|line| line.id),
            Err("the mode `yolo` is not known".to_owned())
        );
    }
}
