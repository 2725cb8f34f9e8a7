//! Doing what an answer says: a call approved, a grant given, a rule written.
//!
//! Everything here may be done twice and counts once, because a process may be killed after any line of it.

use portcullis_core::Source;
use portcullis_core::rule::Behavior;
use portcullis_settings::{RuleDestination, SettingsOwner, add_rule};
use portcullis_store::{
    AnswerScope, ApprovalAnswer, ApprovalRequest, GrantScope, NewGrant, Store, StoreError,
};

use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::judge::LONGEST_KEPT_MS;
use portcullis_gate::session_settings::locations;

/// How long an approved call may take to come, in milliseconds: an hour.
const LASTS_MS: u64 = 60 * 60 * 1_000;

/// Does what the answer of an approval says and notes that it was done. What can never be done is told as an error once,
/// and not tried again; an error of the store leaves the answer to be applied later.
///
/// A rule is written into the settings of whoever runs this daemon, so it must have been given to this very daemon: what
/// a shared store says alone changes no file of this machine.
pub(super) fn apply(store: &Store, approval: &ApprovalRequest, is_given_here: bool) -> Result<(), Failure> {
    let Some(answer) = &approval.answer else { return Ok(()) };
    #[cfg(debug_assertions)]
    crate::fault::inject_before_applying();
    let mut problem = None;
    if answer.is_allowed {
        let session = store.session(&approval.session);
        match session.approve_question(&approval.call, answer.at_ms, LASTS_MS) {
            Ok(()) => {}
            Err(error @ (StoreError::UnknownDenial { .. } | StoreError::NotRetryable { .. })) => {
                problem = Some(Failure::from(&error));
            }
            Err(error) => return Err(Failure::from(&error)),
        }
    }
    let beyond = match (answer.scope, &answer.rule) {
        (AnswerScope::Session, Some(rule)) => match give(store, approval, answer, rule) {
            Err(error) if !matches!(error, StoreError::TooManyGrants { .. }) => {
                return Err(Failure::from(&error));
            }
            given => given.map_err(|error| Failure::from(&error)),
        },
        (AnswerScope::Always, Some(rule)) if is_given_here || store.is_local() => write(answer, rule),
        (AnswerScope::Always, Some(rule)) => Err(unwritten(rule)),
        _ => Ok(()),
    };
    if let Err(failure) = beyond {
        problem = problem.or(Some(failure));
    }
    store.backend().mark_applied(&approval.id).map_err(|error| Failure::from(&error))?;
    match problem {
        Some(problem) => Err(Failure {
            message: format!("the answer counts, but not all of it could be done: {}", problem.message),
            ..problem
        }),
        None => Ok(()),
    }
}

/// Returns what the rule of an answer does.
pub(super) fn behavior(answer: &ApprovalAnswer) -> Behavior {
    if answer.is_allowed { Behavior::Allow } else { Behavior::Deny }
}

/// Gives a grant until the session ends, unless it is there already.
fn give(
    store: &Store,
    approval: &ApprovalRequest,
    answer: &ApprovalAnswer,
    rule: &str,
) -> Result<(), StoreError> {
    let (grants, now) = (store.grants(), now_ms());
    let (behavior, scope) = (behavior(answer).as_str(), GrantScope::Session(approval.session.clone()));
    let known = grants.list(now)?;
    let is_there = known.iter().any(|grant| {
        grant.behavior == behavior && grant.rule == rule && grant.scope == scope && !grant.is_limited()
    });
    if is_there {
        return Ok(());
    }
    let new = NewGrant {
        behavior: behavior.to_owned(),
        rule: rule.to_owned(),
        scope,
        lasts_ms: LONGEST_KEPT_MS,
        uses: None,
        plan: None,
        is_timed: false,
    };
    grants.give(new, now).map(|_| ())
}

/// Makes the failure of a rule that another daemon was told and did not write before it ended.
fn unwritten(rule: &str) -> Failure {
    Failure::usage(format!("the rule `{rule}` was not written, because another daemon was given the answer"))
        .with_hint("if it is yours, add it with `portcullis rules add`")
}

/// Writes a rule into the user's settings; one that is there stays.
fn write(answer: &ApprovalAnswer, rule: &str) -> Result<(), Failure> {
    let destination = RuleDestination { source: Source::User, owner: SettingsOwner::Portcullis };
    let written = add_rule(&locations(None)?, destination, behavior(answer), rule);
    written
        .map(|_| ())
        .map_err(|error| Failure::internal(format!("the rule `{rule}` could not be written: {error}")))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use portcullis_store::{AnswerOutcome, AnswerScope, DenialKind, NewApprovalRequest, NewDenial};
    use serde_json::json;

    use super::*;

    /// Answers a question with a rule that denies such calls for the session.
    fn denied_for_the_session(store: &Store) -> ApprovalRequest {
        let denial = NewDenial {
            tool: "Bash".to_owned(),
            input_json: "{}".to_owned(),
            cwd: "/".to_owned(),
            summary: "ls".to_owned(),
            reason: "r".to_owned(),
            kind: DenialKind::Asked,
            code: String::new(),
            retryable: true,
        };
        let denied = store.session("s").record_question(&denial, &[], 1).unwrap();
        let question = json!({
            "at_ms": 1, "host": "claude", "event": "e", "session": "s", "cwd": "/", "mode": "default",
            "headless": true, "tool": "Bash", "summary": "ls", "input": "{}", "decision": "deny", "said": "deny",
            "step": "A11", "kind": "headless", "reason": "r", "trace": [], "micros": 1,
        });
        let new = NewApprovalRequest {
            id: "a".repeat(32),
            created_at_ms: 1,
            expires_at_ms: 1_000,
            session: "s".to_owned(),
            call: store.session("s").denied(&denied).unwrap().unwrap(),
            question: serde_json::from_value(question).unwrap(),
            explanation: None,
        };
        let asked = store.backend().open_approval(&new).unwrap();
        let answer = ApprovalAnswer {
            is_allowed: false,
            scope: AnswerScope::Session,
            rule: Some("Bash(ls:*)".to_owned()),
            message: None,
            by: "me".to_owned(),
            via: "api".to_owned(),
            at_ms: 2,
        };
        match store.backend().answer_approval(&asked.id, &answer).unwrap() {
            AnswerOutcome::First(approval) => *approval,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_rule_that_the_store_cannot_keep_now_is_kept_later() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().to_path_buf());
        let approval = denied_for_the_session(&store);
        fs::write(folder.path().join("grants.json"), "torn").unwrap();
        assert!(apply(&store, &approval, true).is_err());
        assert_eq!(store.backend().unapplied().unwrap().len(), 1);
        fs::remove_file(folder.path().join("grants.json")).unwrap();
        apply(&store, &approval, false).unwrap();
        apply(&store, &approval, false).unwrap();
        let grants = store.grants().list(now_ms()).unwrap();
        let told: Vec<(&str, &str)> =
            grants.iter().map(|one| (one.behavior.as_str(), one.rule.as_str())).collect();
        assert_eq!(told, [("deny", "Bash(ls:*)")]);
        assert_eq!(store.backend().unapplied().unwrap().len(), 0);
    }
}
