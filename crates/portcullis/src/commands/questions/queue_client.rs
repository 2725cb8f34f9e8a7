//! What this command asks the daemon of the user.

use portcullis_core::visible;
use portcullis_store::AnswerScope;
use serde_json::{Value, json};

use super::outcome_text;
use super::wire::{self, QueuedQuestion};
use portcullis_gate::Failure;
use portcullis_gate::daemon_client::Role;
use portcullis_gate::daemon_client::{Client, Events};
use portcullis_gate::is_id;
use portcullis_gate::session_settings::locations;

/// The most questions that are looked through for the beginning of an id.
const MOST: u64 = 1_000;

/// The daemon, as somebody who answers or only looks knows it.
#[derive(Debug, Clone)]
pub(super) struct QueueClient {
    client: Client,
}

/// What a person says to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QuestionAnswer {
    /// Whether the call may run.
    pub(super) is_allowed: bool,
    /// For how long.
    pub(super) scope: AnswerScope,
    /// The rule, if it is to hold beyond this very call.
    pub(super) rule: Option<String>,
    /// What the agent is told.
    pub(super) message: Option<String>,
}

impl QuestionAnswer {
    /// Allows the call, and calls of its kind if there is a rule.
    pub(super) fn allow(scope: AnswerScope, rule: Option<String>) -> Self {
        Self { is_allowed: true, scope, rule, message: None }
    }

    /// Denies the call.
    pub(super) fn deny(message: Option<String>) -> Self {
        Self { is_allowed: false, scope: AnswerScope::Once, rule: None, message }
    }

    fn to_json(&self) -> Value {
        json!({
            "decision": if self.is_allowed { "allow" } else { "deny" },
            "scope": scope_name(self.scope),
            "rule": self.rule,
            "message": self.message,
        })
    }
}

/// Returns the word for how long an answer holds.
pub(super) const fn scope_name(scope: AnswerScope) -> &'static str {
    match scope {
        AnswerScope::Once => "once",
        AnswerScope::Session => "session",
        AnswerScope::Always => "always",
    }
}

impl QueueClient {
    /// Finds the daemon, which must run.
    pub(super) fn open(role: Role) -> Result<Self, Failure> {
        let state = locations(None)?.state.ok_or_else(|| {
            Failure::usage("there is no home directory, so there is no daemon").with_hint("set HOME")
        })?;
        let client = Client::connect(&state, role)?;
        let client = client.ok_or_else(|| {
            Failure::usage("no daemon runs, so no question waits in a queue").with_hint(
                "start one with `portcullis serve`; without one, `portcullis allow` lists what was denied",
            )
        })?;
        Ok(Self { client })
    }

    /// Lists questions as the daemon writes them: those in a state, `any` for all.
    pub(super) fn list(&self, state: &str, limit: u64) -> Result<Value, Failure> {
        self.client.get(&format!("/v1/approvals?state={state}&limit={limit}"))?.success()
    }

    /// Returns one question by its whole id; `None` if there is none.
    pub(super) fn get(&self, id: &str) -> Result<Option<Value>, Failure> {
        let response = self.client.get(&format!("/v1/approvals/{id}"))?;
        if response.status == 404 { Ok(None) } else { response.success().map(Some) }
    }

    /// Finds a question by its id or how it begins; an open one goes before one that is over.
    pub(super) fn find(&self, start: &str) -> Result<Value, Failure> {
        let unknown = || {
            Failure::usage(format!("no question has an id that begins with `{}`", visible(start)))
                .with_hint("`portcullis questions list` lists what waits")
        };
        if is_id(start) {
            return self.get(start)?.ok_or_else(unknown);
        }
        for state in ["open", "any"] {
            let listed = self.list(state, MOST)?;
            if let Some(found) = one_of(&listed, start)? {
                return Ok(found.clone());
            }
        }
        Err(unknown())
    }

    /// Answers a question. Whoever is late is told who was first.
    pub(super) fn answer(&self, id: &str, answer: &QuestionAnswer) -> Result<Value, Failure> {
        let response = self.client.post(&format!("/v1/approvals/{id}/answer"), &answer.to_json())?;
        if response.status == 409
            && let Some(queued) = response.value()?.get("approval").and_then(wire::parse_question)
        {
            return Err(late(&queued));
        }
        response.success()
    }

    /// Listens to what happens.
    pub(super) fn events(&self) -> Result<Events, Failure> {
        self.client.events("/v1/events")
    }
}

/// Makes the failure of an answer that comes too late.
pub(super) fn late(queued: &QueuedQuestion) -> Failure {
    Failure::usage(format!("the question was not open any more: {}", outcome_text(queued)))
        .with_hint("nothing was changed")
}

/// Returns the only question of a list whose id begins so.
fn one_of<'a>(listed: &'a Value, start: &str) -> Result<Option<&'a Value>, Failure> {
    let list = listed.get("approvals").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let id = |queued: &'a Value| queued.get("id").and_then(Value::as_str).unwrap_or_default();
    let fitting: Vec<&Value> =
        list.iter().filter(|one| !start.is_empty() && id(one).starts_with(start)).collect();
    match fitting.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(only)),
        several => {
            let some: Vec<&str> = several.iter().take(5).map(|one| id(one)).collect();
            Err(Failure::usage(format!("several questions have an id that begins with `{}`", visible(start)))
                .with_hint(format!("give more of it: {}", some.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_may_be_shortened_while_it_is_the_only_one() {
        let listed = json!({"approvals": [{"id": "ab12"}, {"id": "ab34"}, {"id": "cd56"}, {"x": 1}]});
        let found = |start: &str| one_of(&listed, start).map(|one| one.map(|one| one["id"].clone()));
        assert_eq!(found("c"), Ok(Some(json!("cd56"))));
        assert_eq!(found("ab3"), Ok(Some(json!("ab34"))));
        assert_eq!((found("ef"), found("")), (Ok(None), Ok(None)));
        let several = found("ab").unwrap_err();
        assert_eq!(several.hint.as_deref(), Some("give more of it: ab12, ab34"));
        assert_eq!(one_of(&Value::Null, "ab"), Ok(None));
    }
}
