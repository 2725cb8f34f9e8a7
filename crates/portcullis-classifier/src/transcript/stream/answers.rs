//! What the user answered when the agent asked: the one result of a tool that a judge sees.
//!
//! INVARIANT: an answer is what Claude Code itself noted beside the result of its own tool `AskUserQuestion`. The text of
//! the result is not looked at, nor what any other tool returned: whoever shows an answer looks at the call it belongs to.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::wire::{AnswersWire, FlagWire, ListWire, ObjectWire, TextWire};
use super::super::{TranscriptFormat, UserAnswer, lines};

/// The most questions of one call.
const MOST_QUESTIONS: usize = 8;

/// What stands around a result.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AnsweredWire<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextWire<'a>,
    #[serde(borrow)]
    tool_denial_kind: TextWire<'a>,
    is_sidechain: FlagWire,
    #[serde(borrow)]
    tool_use_result: ObjectWire<QuestionResultWire<'a>>,
    #[serde(borrow)]
    message: ObjectWire<ResultsWire<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct QuestionResultWire<'a> {
    #[serde(borrow)]
    answers: AnswersWire<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResultsWire<'a> {
    #[serde(borrow)]
    content: ListWire<ObjectWire<ResultWire<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResultWire<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextWire<'a>,
    #[serde(borrow)]
    tool_use_id: TextWire<'a>,
    is_error: FlagWire,
}

/// Reads what results say that look like answers, by the host's ids of the calls. Which call asked at all is for the
/// reader of the calls to say. Other hosts than Claude Code do not note answers apart from results.
pub fn read_answers(bytes: &[u8], format: Option<TranscriptFormat>) -> BTreeMap<String, Vec<UserAnswer>> {
    let mut answers = BTreeMap::new();
    if format.unwrap_or_else(|| lines::detect(bytes)) != TranscriptFormat::Claude {
        return answers;
    }
    for line in lines::lines(bytes) {
        // Most lines are long results of other tools, which need not be read to see that.
        if memchr::memmem::find(line, b"\"answers\"").is_none() {
            continue;
        }
        if let Some((id, told)) = answered(line) {
            // The first counts: nobody answers twice.
            answers.entry(id).or_insert(told);
        }
    }
    answers
}

fn answered(line: &[u8]) -> Option<(String, Vec<UserAnswer>)> {
    let ObjectWire(record) = serde_json::from_slice::<ObjectWire<AnsweredWire<'_>>>(line).ok()?;
    let record = record.filter(|record| record.kind.as_str() == "user" && !record.is_sidechain.0)?;
    let is_denied = !record.tool_denial_kind.as_str().is_empty();
    let blocks: Vec<&ResultWire<'_>> = record
        .message
        .0
        .iter()
        .flat_map(|message| &message.content.0)
        .filter_map(|block| block.0.as_ref())
        .collect();
    // With a second result beside it, it is not clear whose answers these are.
    let [result] = blocks.as_slice() else { return None };
    if is_denied || result.is_error.0 || result.kind.as_str() != "tool_result" {
        return None;
    }
    let id = result.tool_use_id.as_str();
    let told: Vec<UserAnswer> = record
        .tool_use_result
        .0?
        .answers
        .0
        .into_iter()
        .take(MOST_QUESTIONS)
        .map(|(question, answer)| UserAnswer { question: question.into_owned(), answer: answer.into_owned() })
        .collect();
    (!id.is_empty() && !told.is_empty()).then(|| (id.to_owned(), told))
}
