//! Databases and decisions to try things on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use portcullis_postgres::{PostgresOptions, PostgresStore};
use portcullis_store::audit::{Entry, ModelEntry, OriginEntry, RuleEntry, SuggestionEntry, TraceEntry};
use portcullis_store::{DenialKind, NewApprovalRequest, NewDenial, Store};
use portcullis_testkit::PostgresServer;
use tempfile::TempDir;

/// When the first decision is made: at noon of 2027-01-15.
pub(crate) const START: u64 = 1_800_014_400_000;

/// Makes an empty database on the server that all tests share, and returns its name and URL.
pub(crate) fn database() -> (String, String) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("fleet_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let url = PostgresServer::shared().database(&name);
    (name, url)
}

/// Runs statements in a database of the shared server.
pub(crate) fn run_sql(database: &str, statements: &str) -> String {
    PostgresServer::shared().run_sql(database, statements)
}

/// How the tests connect: with few connections, and with so much patience that a slow machine is no failure.
pub(crate) fn options() -> PostgresOptions {
    PostgresOptions { connections: 3, patience: Duration::from_mins(1), ..PostgresOptions::default() }
}

/// Connects to a store.
pub(crate) fn connect(url: &str) -> PostgresStore {
    PostgresStore::connect(url, options()).unwrap()
}

/// Makes a store in a database of its own.
pub(crate) fn fleet() -> PostgresStore {
    connect(&database().1)
}

/// Makes a whole store around a fleet.
pub(crate) fn store(url: &str) -> (TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::with_backend(directory.path().to_path_buf(), Arc::new(connect(url)));
    (directory, store)
}

/// Makes a decision, a second after the one before it.
pub(crate) fn entry(number: u64) -> Entry {
    Entry {
        at_ms: START + number * 1_000,
        host: "claude".to_owned(),
        event: "PreToolUse".to_owned(),
        session: "a-session".to_owned(),
        agent: None,
        call_id: Some(format!("call-{number}")),
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
        rule: Some(RuleEntry {
            text: "Bash(make:*)".to_owned(),
            behavior: "ask".to_owned(),
            origin: OriginEntry { source: "user".to_owned(), ..OriginEntry::default() },
        }),
        code: Some("PC007".to_owned()),
        denial: None,
        findings: Vec::new(),
        trace: vec![TraceEntry {
            step: "A1".to_owned(),
            outcome: "pass".to_owned(),
            detail: "no rule".to_owned(),
        }],
        suggestions: vec![SuggestionEntry { behavior: "allow".to_owned(), rule: "Bash(make:*)".to_owned() }],
        models: vec![ModelEntry {
            provider: "anthropic".to_owned(),
            model: "small".to_owned(),
            stage: "fast".to_owned(),
            outcome: "allow".to_owned(),
            input: 100,
            cache_read: 900,
            cache_write: 0,
            output: 5,
            cost_usd: Some(0.001),
            latency_ms: 400,
        }],
        micros: 700 + number,
        ..Entry::default()
    }
}

/// Makes decisions.
pub(crate) fn entries(numbers: std::ops::Range<u64>) -> Vec<Entry> {
    numbers.map(entry).collect()
}

/// Denies a call in a session and makes the question about it.
pub(crate) fn question(store: &Store, session: &str, id: &str) -> NewApprovalRequest {
    let denial = NewDenial {
        tool: "Bash".to_owned(),
        input_json: format!(r#"{{"command":"deploy {id}"}}"#),
        cwd: "/code/app".to_owned(),
        summary: format!("Bash deploy {id}"),
        reason: "nobody could be asked".to_owned(),
        kind: DenialKind::Asked,
        code: String::new(),
        retryable: true,
    };
    let session = store.session(session);
    let denied = session.record_question(&denial, &[], START).unwrap();
    let (_, call) = store.find_denied(&denied).unwrap().unwrap();
    NewApprovalRequest {
        id: id.to_owned(),
        created_at_ms: START,
        expires_at_ms: START + 60_000,
        session: session.name().to_owned(),
        call,
        question: entry(0),
        explanation: None,
    }
}
