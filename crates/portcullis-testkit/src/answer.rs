//! From a step and a request to an answer, in the form the request asks for.

use serde_json::{Map, Value, json};

use crate::script::{EchoedPart, ScriptStep, ScriptedAnswer, ScriptedVerdict, ServerFault, WordJudge};
use crate::wire::{
    ModelReply, ModelRequest, ReplyContent, ReportedTokens, RequestedForm, RequestedStage, StopReason,
    ToolArguments,
};

/// Makes the answer of a model. Steps that are none (errors, raw bodies) have an allow here, which is what faults spoil.
pub(crate) fn compose(step: &ScriptStep, inquiry: &ModelRequest) -> ModelReply {
    let mut thinking = step.thinking.clone();
    let mut blocks = None;
    // Whether the model itself would have stopped at a stop sequence.
    let mut is_cut_at_stops = true;
    let content = match &step.answer {
        ScriptedAnswer::Say(text) => {
            is_cut_at_stops = false;
            vec![ReplyContent::Text(text.clone())]
        }
        ScriptedAnswer::Tool { name, input } => {
            vec![ReplyContent::Tool { name: name.clone(), arguments: ToolArguments::Object(input.clone()) }]
        }
        ScriptedAnswer::Json(value) => vec![ReplyContent::Text(value.to_string())],
        ScriptedAnswer::Verdict(verdict) => express(verdict, inquiry),
        ScriptedAnswer::Blocks(own) => {
            blocks = Some(own.clone());
            Vec::new()
        }
        ScriptedAnswer::Echo(echo) => repeat(&told(*echo, inquiry), &inquiry.form),
        ScriptedAnswer::Judge(judge) => express(&judge_by_words(judge, inquiry), inquiry),
        ScriptedAnswer::Fault(ServerFault::TwoVerdicts) => {
            is_cut_at_stops = false;
            two_verdicts(inquiry)
        }
        ScriptedAnswer::Fault(ServerFault::VerdictInThinking) => {
            let verdict = express(&ScriptedVerdict::allow(), inquiry);
            thinking = Some(verdict.iter().map(describe).collect());
            vec![ReplyContent::Text("That is my verdict.".into())]
        }
        ScriptedAnswer::Fault(_) | ScriptedAnswer::Error { .. } | ScriptedAnswer::Raw { .. } => {
            express(&ScriptedVerdict::allow(), inquiry)
        }
    };
    let mut reply = ModelReply {
        thinking,
        content,
        blocks,
        stop: StopReason::EndTurn,
        stop_sequence: None,
        usage: ReportedTokens::default(),
    };
    end(&mut reply, inquiry, step.stop, is_cut_at_stops);
    reply.usage = step.usage.unwrap_or_else(|| guess_usage(&reply, inquiry));
    reply
}

/// Ends an answer as the request and the script want it.
fn end(reply: &mut ModelReply, inquiry: &ModelRequest, stop: Option<StopReason>, is_cut_at_stops: bool) {
    if let [ReplyContent::Text(text)] = reply.content.as_mut_slice() {
        let first = inquiry.stops.iter().filter_map(|stop| text.find(stop).map(|at| (at, stop))).min();
        match first {
            Some((at, sequence)) if is_cut_at_stops => {
                text.truncate(at);
                reply.stop = StopReason::StopSequence;
                reply.stop_sequence = Some(sequence.clone());
            }
            None => {
                // A text that opens a tag and does not close it ended where the closing tag would stand.
                let is_open = |stop: &&String| {
                    stop.strip_prefix("</").is_some_and(|name| text.contains(&format!("<{name}")))
                };
                if let Some(sequence) = inquiry.stops.iter().find(is_open) {
                    reply.stop = StopReason::StopSequence;
                    reply.stop_sequence = Some(sequence.clone());
                }
            }
            Some(_) => {}
        }
    }
    if let Some(stop) = stop {
        reply.stop = stop;
        if stop == StopReason::StopSequence && reply.stop_sequence.is_none() {
            reply.stop_sequence = inquiry.stops.first().cloned();
        }
    }
}

/// Writes a verdict in the form that is asked for.
fn express(verdict: &ScriptedVerdict, inquiry: &ModelRequest) -> Vec<ReplyContent> {
    match &inquiry.form {
        RequestedForm::Text => vec![ReplyContent::Text(verdict_text(verdict, inquiry))],
        RequestedForm::Tool { name, schema } => {
            vec![ReplyContent::Tool {
                name: name.clone(),
                arguments: ToolArguments::Object(fill(schema, verdict)),
            }]
        }
        RequestedForm::Schema(schema) => vec![ReplyContent::Text(fill(schema, verdict).to_string())],
    }
}

/// Writes a verdict in tags: those the last words of the request speak of.
fn verdict_text(verdict: &ScriptedVerdict, inquiry: &ModelRequest) -> String {
    let instructions = inquiry.instructions();
    let ScriptedVerdict { is_block, category, reason, severity } = verdict;
    let mut parts = Vec::new();
    if inquiry.stage() == RequestedStage::Thinking && instructions.contains("<thinking>") {
        parts.push("<thinking>The script has decided.</thinking>".to_owned());
    }
    if let Some(tag) = tag_in(instructions, "severity") {
        parts.push(format!("<{tag}>{severity}</{tag}>"));
    } else {
        let tag = tag_in(instructions, "block").unwrap_or("block");
        let word = if *is_block { "yes" } else { "no" };
        parts.push(format!("<{tag}>{word}</{tag}>"));
    }
    if *is_block && instructions.contains("<category>") {
        parts.push(format!("<category>{category}</category>"));
    }
    if *is_block {
        parts.push(format!("<reason>{reason}</reason>"));
    }
    parts.concat()
}

/// Returns the last tag in a text whose name begins so: names of a verdict may be marked.
fn tag_in<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    let (_, rest) = text.rsplit_once(&format!("</{start}"))?;
    let end = rest.find('>')?;
    let from = text.len().checked_sub(rest.len() + start.len())?;
    text.get(from..from + start.len() + end)
}

/// Fills the fields of a schema so that they say the verdict.
fn fill(schema: &Value, verdict: &ScriptedVerdict) -> Value {
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|map| !map.is_empty())
    else {
        return json!({"should_block": verdict.is_block, "reason": verdict.reason});
    };
    let filled =
        properties.iter().map(|(name, property)| (name.clone(), fill_field(name, property, verdict)));
    Value::Object(filled.collect())
}

fn fill_field(name: &str, property: &Value, verdict: &ScriptedVerdict) -> Value {
    if let Some(choices) = property.get("enum").and_then(Value::as_array) {
        return choose(choices, verdict);
    }
    let name = name.to_ascii_lowercase();
    let is_about_going_ahead =
        ["allow", "safe", "approve", "harmless"].iter().any(|word| name.contains(word));
    match property.get("type").and_then(Value::as_str) {
        Some("boolean" | "BOOLEAN") => json!(verdict.is_block != is_about_going_ahead),
        Some("integer" | "number" | "INTEGER" | "NUMBER") => json!(verdict.severity),
        Some("array" | "ARRAY") => json!([]),
        Some("object" | "OBJECT") => json!({}),
        _ if name.contains("category") => json!(verdict.category),
        _ => json!(verdict.reason),
    }
}

/// Chooses the word of an enumeration that comes closest to a verdict.
fn choose(choices: &[Value], verdict: &ScriptedVerdict) -> Value {
    let wanted: &[&str] = if verdict.is_block {
        &["block", "blocked", "deny", "yes", "true", "high"]
    } else {
        &["allow", "allowed", "no", "false", "none", "low", ""]
    };
    let fits = |choice: &&Value| {
        choice.as_str().is_some_and(|choice| {
            choice.eq_ignore_ascii_case(&verdict.category)
                || wanted.iter().any(|word| choice.eq_ignore_ascii_case(word))
        })
    };
    choices.iter().find(fits).or(choices.first()).cloned().unwrap_or(Value::Null)
}

fn told(echo: EchoedPart, inquiry: &ModelRequest) -> String {
    match echo {
        EchoedPart::LastMessage => inquiry.last_message().to_owned(),
        EchoedPart::Everything => inquiry.everything(),
        EchoedPart::Action => inquiry.action().to_owned(),
        EchoedPart::ActionRaw => inquiry.action_raw(),
        EchoedPart::System => inquiry.system.clone(),
    }
}

/// Repeats a text. Where a tool must be called its arguments are the text itself if that is an object; otherwise every
/// field has the text, whatever its type should be.
fn repeat(text: &str, form: &RequestedForm) -> Vec<ReplyContent> {
    match form {
        RequestedForm::Text | RequestedForm::Schema(_) => vec![ReplyContent::Text(text.to_owned())],
        RequestedForm::Tool { name, schema } => {
            let spread = || {
                let properties = schema.get("properties").and_then(Value::as_object);
                let names = properties.into_iter().flat_map(Map::keys);
                Value::Object(names.map(|name| (name.clone(), json!(text))).collect())
            };
            let own = serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
            let object = own.unwrap_or_else(spread);
            let arguments = ToolArguments::Text { text: text.to_owned(), object };
            vec![ReplyContent::Tool { name: name.clone(), arguments }]
        }
    }
}

fn judge_by_words(judge: &WordJudge, inquiry: &ModelRequest) -> ScriptedVerdict {
    let action = inquiry.action_raw().to_lowercase();
    match judge.block_if.iter().find(|word| action.contains(&word.to_lowercase())) {
        Some(word) => ScriptedVerdict::block(&judge.category, &format!("the action contains `{word}`")),
        None => ScriptedVerdict::allow(),
    }
}

/// Allows first and blocks then.
fn two_verdicts(inquiry: &ModelRequest) -> Vec<ReplyContent> {
    let mut both = express(&ScriptedVerdict::allow(), inquiry);
    both.extend(express(&ScriptedVerdict::block("Scripted", "the script blocks this"), inquiry));
    match &inquiry.form {
        RequestedForm::Tool { .. } => both,
        RequestedForm::Text | RequestedForm::Schema(_) => {
            vec![ReplyContent::Text(both.iter().map(describe).collect())]
        }
    }
}

fn describe(content: &ReplyContent) -> String {
    match content {
        ReplyContent::Text(text) => text.clone(),
        ReplyContent::Tool {
            arguments: ToolArguments::Object(object) | ToolArguments::Text { object, .. },
            ..
        } => object.to_string(),
    }
}

/// Guesses tokens: four bytes each.
fn guess_usage(reply: &ModelReply, inquiry: &ModelRequest) -> ReportedTokens {
    let count = |bytes: usize| u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX);
    let thinking = count(reply.thinking.as_ref().map_or(0, String::len));
    let said = reply.content.iter().map(describe).map(|text| text.len()).sum();
    ReportedTokens {
        input: count(inquiry.everything().len()),
        output: count(said).saturating_add(thinking),
        thinking,
        ..ReportedTokens::default()
    }
}
