//! What today's settings say to a call: an object for programs, a page for people.

use portcullis_core::RuleExplanation;
use portcullis_gate::SessionSettings;
use portcullis_gate::judge::Trial;
use serde_json::{Value, json};

use super::human::{self, TraceDetail};
use super::json::{rule_json, verdict_object};
use crate::terminal::{BOLD, Painted};

/// Makes the object of a trial: its verdict, what the call would do, and what each rule says to it.
pub fn object(trial: &Trial, session: &SessionSettings) -> Value {
    let rule = |one: &RuleExplanation| {
        let mut object = rule_json(&one.rule);
        object.insert("matches".to_owned(), json!(one.matches));
        object.insert("detail".to_owned(), json!(one.detail));
        Value::Object(object)
    };
    let effects = trial
        .effects()
        .iter()
        .map(|one| json!({"act": one.act, "clause": one.clause(), "certain": one.is_certain}))
        .collect::<Vec<_>>();
    let mut object = verdict_object(&trial.verdict);
    if let Some(fields) = object.as_object_mut() {
        fields.insert("effects".to_owned(), json!(effects));
        fields.insert("rules".to_owned(), trial.rules(session).iter().map(rule).collect());
    }
    object
}

/// Writes a trial of a recorded call below its record.
pub fn page(trial: &Trial) -> String {
    let title = "Today's settings and files say, with no model, hook or person asked:";
    let verdict = human::verdict(trial.call(), &trial.verdict, TraceDetail::Spoken, &[], &[]);
    format!("\n{}\n\n{verdict}", Painted(BOLD, title))
}
