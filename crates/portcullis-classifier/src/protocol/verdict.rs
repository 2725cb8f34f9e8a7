//! Reading a verdict (spec D8): only a well-formed, explicit "no" allows, and everything doubtful is no verdict.
//!
//! A verdict may stand in a code fence or behind words nobody asked for, since many models cannot help it. It counts if
//! it is the only one, and the names it goes by are none that the input could have given it.

use super::mark::VerdictMark;
use super::stage::AnswerScope;
use crate::model::VerdictShape;
use crate::provider::ModelAnswer;
use portcullis_core::{Value as Plain, visible};
use portcullis_hosts::json;

/// The name of the tool and of the schema that carry a verdict.
pub(super) const RESULT_NAME: &str = "classify_result";

/// The field of a structured verdict that decides.
pub(super) const VERDICT_FIELD: &str = "should_block";

/// The longest reason that is passed on, in characters.
const LONGEST_REASON: usize = 300;

/// What a stage said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StageVerdict {
    /// There is no reason to block.
    Allow,
    /// It is to be blocked.
    Block {
        /// The rule it breaks, if the model named one there is.
        category: Option<String>,
        /// One sentence, made safe to show.
        reason: String,
    },
    /// What it said is no verdict.
    Unclear {
        /// Why not, in one clause.
        why: &'static str,
    },
}

/// What a verdict is read against.
#[derive(Debug, Clone, Copy)]
pub(super) struct VerdictReader<'a> {
    /// How much the answer was to say.
    pub(super) scope: AnswerScope,
    pub(super) shape: VerdictShape,
    /// The severity from which on the stage blocks.
    pub(super) threshold: u32,
    /// The names of the rules the model was given.
    pub(super) labels: &'a [String],
    /// The names the verdict goes by.
    pub(super) mark: &'a VerdictMark,
    /// The field the model explains itself in.
    pub(super) thinking_field: &'a str,
}

const fn unclear(why: &'static str) -> StageVerdict {
    StageVerdict::Unclear { why }
}

impl VerdictReader<'_> {
    /// Reads the verdict in a reply.
    pub(super) fn read(self, reply: &ModelAnswer) -> StageVerdict {
        match self.shape {
            VerdictShape::Block => self.block(reply),
            VerdictShape::Severity => self.severity(reply),
            VerdictShape::Tool => self.tool(reply),
            VerdictShape::Schema => self.schema(reply.text.trim()),
        }
    }

    fn block(self, reply: &ModelAnswer) -> StageVerdict {
        let (word, rest) = match self.tagged(reply, "block") {
            Ok(found) => found,
            Err(why) => return unclear(why),
        };
        match word.trim().to_ascii_lowercase().as_str() {
            "no" if is_only_reason(rest) => StageVerdict::Allow,
            "no" => unclear("its verdict is followed by something else"),
            "yes" => self.blocked(element(rest, "category"), element(rest, "reason")),
            _ => unclear("its verdict is neither yes nor no"),
        }
    }

    fn severity(self, reply: &ModelAnswer) -> StageVerdict {
        let (number, rest) = match self.tagged(reply, "severity") {
            Ok(found) => found,
            Err(why) => return unclear(why),
        };
        let Some(severity) = read_number(number.trim()) else {
            return unclear("its severity is not a number from 0 to 100");
        };
        if severity >= f64::from(self.threshold) {
            return self.blocked(element(rest, "category"), element(rest, "reason"));
        }
        if is_only_reason(rest) {
            StageVerdict::Allow
        } else {
            unclear("its verdict is followed by something else")
        }
    }

    /// Finds the only element of a name in a reply, behind thoughts where the stage asks for them, and what follows it. It
    /// may stay open only where the closing tag was the stop sequence.
    fn tagged<'t>(self, reply: &'t ModelAnswer, plain: &str) -> Result<(&'t str, &'t str), &'static str> {
        let tag = self.mark.name(plain);
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        let text = self.without_thoughts(reply.text.trim())?;
        let (before, inner) = text.split_once(&open).ok_or("it holds no clear verdict")?;
        if before.contains('<') {
            return Err("it holds no clear verdict");
        }
        if inner.contains(&format!("<{tag}")) {
            return Err("it gives two verdicts");
        }
        match inner.split_once("</") {
            Some((value, _)) => {
                let rest = inner.get(value.len()..).and_then(|rest| rest.strip_prefix(close.as_str()));
                Ok((value, without_fence(rest.ok_or("its verdict is not closed")?)))
            }
            None if reply.is_stopped => Ok((inner, "")),
            None => Err("its verdict is not closed"),
        }
    }

    /// Returns what follows the thoughts of a stage that was to write them down.
    fn without_thoughts(self, text: &str) -> Result<&str, &'static str> {
        match text.strip_prefix("<thinking>") {
            Some(thoughts) if self.scope == AnswerScope::Considered => {
                let (_, rest) = thoughts.split_once("</thinking>").ok_or("its thoughts do not end")?;
                Ok(rest)
            }
            _ => Ok(text),
        }
    }

    fn tool(self, reply: &ModelAnswer) -> StageVerdict {
        match &reply.tool {
            Some((name, arguments)) if name == RESULT_NAME => {
                match json::parse(arguments.to_string().as_bytes()) {
                    Ok(arguments) => self.fields(&arguments),
                    Err(_) => unclear("the result it gave is not JSON"),
                }
            }
            Some(_) => unclear("it called another tool"),
            None => unclear("it did not call the tool for its verdict"),
        }
    }

    fn schema(self, text: &str) -> StageVerdict {
        match json::parse(only_object(text).as_bytes()) {
            Ok(answer) => self.fields(&answer),
            Err(_) => unclear("its answer is not JSON"),
        }
    }

    fn fields(self, answer: &Plain) -> StageVerdict {
        let Plain::Object(fields) = answer else {
            return unclear("its answer is not an object");
        };
        let verdict = self.mark.name(VERDICT_FIELD);
        let known = [self.thinking_field, verdict.as_str(), "category", "reason"];
        if fields.keys().any(|name| !known.contains(&name.as_str())) {
            return unclear("its answer has fields nobody asked for");
        }
        let text = |name: &str| fields.get(name).and_then(Plain::as_text);
        let is_alone = self.scope == AnswerScope::Verdict;
        match (fields.get(&verdict), text("reason")) {
            (Some(Plain::Bool(true)), reason) => self.blocked(text("category"), reason),
            (Some(Plain::Bool(false)), reason) if is_alone || reason.is_some() => StageVerdict::Allow,
            (Some(Plain::Bool(false)), _) => unclear("its answer has no reason"),
            _ => unclear("its answer does not say whether to block"),
        }
    }

    fn blocked(self, category: Option<&str>, reason: Option<&str>) -> StageVerdict {
        let named = category.map(str::trim).filter(|name| !name.is_empty());
        let known = |name: &str| self.labels.iter().find(|label| label.eq_ignore_ascii_case(name)).cloned();
        let reason: String = reason.map(str::trim).unwrap_or_default().chars().take(LONGEST_REASON).collect();
        let reason = visible(&reason.replace('<', "‹")).into_owned();
        let reason = if reason.is_empty() { "it gave no reason".to_owned() } else { reason };
        StageVerdict::Block { category: named.and_then(known), reason }
    }
}

/// Returns a text without the end of a code fence.
fn without_fence(text: &str) -> &str {
    text.trim().trim_end_matches('`').trim_end()
}

/// Returns the object in a text that has words before it or a code fence around it, or else the whole text. Words behind
/// it might take it back, so that they stay and spoil it.
fn only_object(text: &str) -> &str {
    let text = without_fence(text);
    text.find('{').and_then(|start| text.get(start..)).unwrap_or(text)
}

/// Says whether nothing stands behind a verdict but, at most, its reason.
fn is_only_reason(rest: &str) -> bool {
    let inner = rest.strip_prefix("<reason>").and_then(|rest| rest.strip_suffix("</reason>"));
    rest.is_empty() || inner.is_some_and(|inner| !inner.contains('<'))
}

/// Returns what stands in the first element of a name.
fn element<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, inner) = text.split_once(&format!("<{tag}>"))?;
    Some(inner.split_once('<').map_or(inner, |(inner, _)| inner))
}

/// Reads a number from 0 on; what is above 100 counts, since it is surely severe.
fn read_number(text: &str) -> Option<f64> {
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite())?;
    (is_decimal && text.len() <= 6).then_some(number)
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
