//! What the checks put into a store.

use crate::approvals::{AnswerScope, ApprovalAnswer, NewApprovalRequest};
use crate::audit::{Entry, ModelEntry, SuggestionEntry};
use crate::state::{DenialKind, DeniedCall, NewDenial};
use crate::{Store, StoreError};

/// When everything begins.
pub(super) const START: u64 = 1_800_000_000_000;

/// A denial of a command.
pub(super) fn denial(command: &str) -> NewDenial {
    NewDenial {
        tool: "Bash".to_owned(),
        input_json: format!(r#"{{"command":"{command}"}}"#),
        cwd: "/code/app".to_owned(),
        summary: format!("Bash: {command}"),
        reason: "it is not known".to_owned(),
        kind: DenialKind::Asked,
        code: String::new(),
        retryable: true,
    }
}

/// A decision, so many seconds after the beginning.
pub(super) fn entry(number: u64) -> Entry {
    Entry {
        at_ms: START + number * 1_000,
        host: "claude".to_owned(),
        event: "PreToolUse".to_owned(),
        session: "a-session".to_owned(),
        agent: None,
        call_id: None,
        cwd: "/code/app".to_owned(),
        mode: "auto".to_owned(),
        headless: false,
        tool: "Bash".to_owned(),
        summary: format!("Bash make step-{number}"),
        input: format!(r#"{{"command":"make step-{number}"}}"#),
        decision: "ask".to_owned(),
        said: "ask".to_owned(),
        step: "A10".to_owned(),
        kind: "default".to_owned(),
        reason: "nothing decided".to_owned(),
        rule: None,
        code: None,
        denial: None,
        findings: Vec::new(),
        trace: Vec::new(),
        suggestions: vec![SuggestionEntry { behavior: "allow".to_owned(), rule: "Bash(make *)".to_owned() }],
        models: Vec::new(),
        micros: 700,
        ..Entry::default()
    }
}

/// A talk with a model.
pub(super) fn model(cost_usd: f64) -> ModelEntry {
    ModelEntry {
        provider: "a provider".to_owned(),
        model: "small".to_owned(),
        stage: "fast".to_owned(),
        outcome: "allow".to_owned(),
        input: 100,
        cache_read: 900,
        cache_write: 0,
        output: 5,
        cost_usd: Some(cost_usd),
        latency_ms: 400,
    }
}

/// Keeps a question of a session and returns the call.
pub(super) fn asked(
    store: &Store,
    session: &str,
    command: &str,
    now_ms: u64,
) -> Result<DeniedCall, StoreError> {
    let session = store.session(session);
    let id = session.record_question(&denial(command), &[], now_ms)?;
    session.denied(&id)?.ok_or(StoreError::UnknownDenial { id })
}

/// A question that waits a minute for an answer.
pub(super) fn question(
    store: &Store,
    id: &str,
    session: &str,
    command: &str,
    now_ms: u64,
) -> Result<NewApprovalRequest, StoreError> {
    Ok(NewApprovalRequest {
        id: id.to_owned(),
        created_at_ms: now_ms,
        expires_at_ms: now_ms + 60_000,
        session: session.to_owned(),
        call: asked(store, session, command, now_ms)?,
        question: Entry { at_ms: now_ms, ..entry(0) },
        explanation: None,
    })
}

/// An answer for this very call.
pub(super) fn answer(is_allowed: bool, by: &str, at_ms: u64) -> ApprovalAnswer {
    ApprovalAnswer {
        is_allowed,
        scope: AnswerScope::Once,
        rule: None,
        message: Some("as you like".to_owned()),
        by: by.to_owned(),
        via: "api".to_owned(),
        at_ms,
    }
}

/// Opens a store so many times, for as many threads.
pub(super) fn several(open: &dyn Fn() -> Store, count: usize) -> Vec<Store> {
    (0..count).map(|_| open()).collect()
}

/// Does something in a thread for each store, and returns what came of each.
pub(super) fn at_once<T: Send>(
    stores: &[Store],
    work: impl Fn(usize, &Store) -> Result<T, StoreError> + Sync,
) -> Result<Vec<T>, StoreError> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = stores
            .iter()
            .enumerate()
            .map(|(number, store)| scope.spawn(move || work(number, store)))
            .collect();
        let lost = |_| StoreError::Unsupported { what: "a thread that panics" };
        threads.into_iter().map(|thread| thread.join().map_err(lost)?).collect()
    })
}
