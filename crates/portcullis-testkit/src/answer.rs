//! From a step and a request to an answer, in the form the request asks for.

use serde_json::{Map, Value, json};

use crate::script::{Answer, Echo, Fault, Judge, Step, Stop, Tokens, Verdict};
use crate::wire::{Arguments, AskedForm, Content, Inquiry, Reply, Stage};

/// Makes the answer of a model. Steps that are none (errors, raw bodies) have an allow here, which is what faults spoil.
pub(crate) fn compose(step: &Step, inquiry: &Inquiry) -> Reply {
    let mut thinking = step.thinking.clone();
    let mut blocks = None;
    // Whether the model itself would have stopped at a stop sequence.
    let mut is_cut_at_stops = true;
    let content = match &step.answer {
        Answer::Say(text) => {
            is_cut_at_stops = false;
            vec![Content::Text(text.clone())]
        }
        Answer::Tool { name, input } => {
            vec![Content::Tool { name: name.clone(), arguments: Arguments::Object(input.clone()) }]
        }
        Answer::Json(value) => vec![Content::Text(value.to_string())],
        Answer::Verdict(verdict) => express(verdict, inquiry),
        Answer::Blocks(own) => {
            blocks = Some(own.clone());
            Vec::new()
        }
        Answer::Echo(echo) => repeat(&told(*echo, inquiry), &inquiry.form),
        Answer::Judge(judge) => express(&judge_by_words(judge, inquiry), inquiry),
        Answer::Fault(Fault::TwoVerdicts) => {
            is_cut_at_stops = false;
            two_verdicts(inquiry)
        }
        Answer::Fault(Fault::VerdictInThinking) => {
            let verdict = express(&Verdict::allow(), inquiry);
            thinking = Some(verdict.iter().map(describe).collect());
            vec![Content::Text("That is my verdict.".into())]
        }
        Answer::Fault(_) | Answer::Error { .. } | Answer::Raw { .. } => express(&Verdict::allow(), inquiry),
    };
    let mut reply = Reply {
        thinking,
        content,
        blocks,
        stop: Stop::EndTurn,
        stop_sequence: None,
        usage: Tokens::default(),
    };
    end(&mut reply, inquiry, step.stop, is_cut_at_stops);
    reply.usage = step.usage.unwrap_or_else(|| guess_usage(&reply, inquiry));
    reply
}

/// Ends an answer as the request and the script want it.
fn end(reply: &mut Reply, inquiry: &Inquiry, stop: Option<Stop>, is_cut_at_stops: bool) {
    if let [Content::Text(text)] = reply.content.as_mut_slice() {
        let first = inquiry.stops.iter().filter_map(|stop| text.find(stop).map(|at| (at, stop))).min();
        match first {
            Some((at, sequence)) if is_cut_at_stops => {
                text.truncate(at);
                reply.stop = Stop::StopSequence;
                reply.stop_sequence = Some(sequence.clone());
            }
            None => {
                // A text that opens a tag and does not close it ended where the closing tag would stand.
                let is_open = |stop: &&String| {
                    stop.strip_prefix("</").is_some_and(|name| text.contains(&format!("<{name}")))
                };
                if let Some(sequence) = inquiry.stops.iter().find(is_open) {
                    reply.stop = Stop::StopSequence;
                    reply.stop_sequence = Some(sequence.clone());
                }
            }
            Some(_) => {}
        }
    }
    if let Some(stop) = stop {
        reply.stop = stop;
        if stop == Stop::StopSequence && reply.stop_sequence.is_none() {
            reply.stop_sequence = inquiry.stops.first().cloned();
        }
    }
}

/// Writes a verdict in the form that is asked for.
fn express(verdict: &Verdict, inquiry: &Inquiry) -> Vec<Content> {
    match &inquiry.form {
        AskedForm::Text => vec![Content::Text(verdict_text(verdict, inquiry))],
        AskedForm::Tool { name, schema } => {
            vec![Content::Tool { name: name.clone(), arguments: Arguments::Object(fill(schema, verdict)) }]
        }
        AskedForm::Schema(schema) => vec![Content::Text(fill(schema, verdict).to_string())],
    }
}

/// Writes a verdict in tags: those the last words of the request speak of.
fn verdict_text(verdict: &Verdict, inquiry: &Inquiry) -> String {
    let instructions = inquiry.instructions();
    let Verdict { is_block, category, reason, severity } = verdict;
    let mut parts = Vec::new();
    if inquiry.stage() == Stage::Thinking && instructions.contains("<thinking>") {
        parts.push("<thinking>The script has decided.</thinking>".to_owned());
    }
    if instructions.contains("<severity>") {
        parts.push(format!("<severity>{severity}</severity>"));
    } else {
        let word = if *is_block { "yes" } else { "no" };
        parts.push(format!("<block>{word}</block>"));
    }
    if *is_block && instructions.contains("<category>") {
        parts.push(format!("<category>{category}</category>"));
    }
    if *is_block {
        parts.push(format!("<reason>{reason}</reason>"));
    }
    parts.concat()
}

/// Fills the fields of a schema so that they say the verdict.
fn fill(schema: &Value, verdict: &Verdict) -> Value {
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|map| !map.is_empty())
    else {
        return json!({"should_block": verdict.is_block, "reason": verdict.reason});
    };
    let filled =
        properties.iter().map(|(name, property)| (name.clone(), fill_field(name, property, verdict)));
    Value::Object(filled.collect())
}

fn fill_field(name: &str, property: &Value, verdict: &Verdict) -> Value {
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
fn choose(choices: &[Value], verdict: &Verdict) -> Value {
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

fn told(echo: Echo, inquiry: &Inquiry) -> String {
    match echo {
        Echo::LastMessage => inquiry.last_message().to_owned(),
        Echo::Everything => inquiry.everything(),
        Echo::Action => inquiry.action().to_owned(),
        Echo::ActionRaw => inquiry.action_raw(),
        Echo::System => inquiry.system.clone(),
    }
}

/// Repeats a text. Where a tool must be called its arguments are the text itself if that is an object; otherwise every
/// field has the text, whatever its type should be.
fn repeat(text: &str, form: &AskedForm) -> Vec<Content> {
    match form {
        AskedForm::Text | AskedForm::Schema(_) => vec![Content::Text(text.to_owned())],
        AskedForm::Tool { name, schema } => {
            let spread = || {
                let properties = schema.get("properties").and_then(Value::as_object);
                let names = properties.into_iter().flat_map(Map::keys);
                Value::Object(names.map(|name| (name.clone(), json!(text))).collect())
            };
            let own = serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
            let object = own.unwrap_or_else(spread);
            let arguments = Arguments::Text { text: text.to_owned(), object };
            vec![Content::Tool { name: name.clone(), arguments }]
        }
    }
}

fn judge_by_words(judge: &Judge, inquiry: &Inquiry) -> Verdict {
    let action = inquiry.action_raw().to_lowercase();
    match judge.block_if.iter().find(|word| action.contains(&word.to_lowercase())) {
        Some(word) => Verdict::block(&judge.category, &format!("the action contains `{word}`")),
        None => Verdict::allow(),
    }
}

/// Allows first and blocks then.
fn two_verdicts(inquiry: &Inquiry) -> Vec<Content> {
    let mut both = express(&Verdict::allow(), inquiry);
    both.extend(express(&Verdict::block("Scripted", "the script blocks this"), inquiry));
    match &inquiry.form {
        AskedForm::Tool { .. } => both,
        AskedForm::Text | AskedForm::Schema(_) => vec![Content::Text(both.iter().map(describe).collect())],
    }
}

fn describe(content: &Content) -> String {
    match content {
        Content::Text(text) => text.clone(),
        Content::Tool { arguments: Arguments::Object(object) | Arguments::Text { object, .. }, .. } => {
            object.to_string()
        }
    }
}

/// Guesses tokens: four bytes each.
fn guess_usage(reply: &Reply, inquiry: &Inquiry) -> Tokens {
    let count = |bytes: usize| u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX);
    let thinking = count(reply.thinking.as_ref().map_or(0, String::len));
    let said = reply.content.iter().map(describe).map(|text| text.len()).sum();
    Tokens {
        input: count(inquiry.everything().len()),
        output: count(said).saturating_add(thinking),
        thinking,
        ..Tokens::default()
    }
}
