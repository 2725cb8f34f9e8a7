//! Ten thousand hooks from twenty callers at once: every decision is on record once, the chain holds, denials are exact.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::Stdio;

use portcullis_core::Denials;
use portcullis_store::Store;
use portcullis_store::audit::{Position, Record};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::log::{audit, state};
use super::sandbox::Sandbox;

const CALLERS: usize = 20;
const CALLS_EACH: usize = 500;

/// One in so many calls is denied in the session that all callers share, and one in the caller's own.
const DENIED_EVERY: usize = 20;

/// The id of a call and what the host was told.
type Told = (String, String);

#[test]
fn ten_thousand_calls_of_twenty_callers_are_recorded_once_each_and_counted_exactly() {
    let sandbox = Sandbox::new();
    let told = run_all(&sandbox);
    assert_eq!(told.len(), CALLERS * CALLS_EACH);

    let records = audit(&sandbox).read_after(Position::default(), usize::MAX).unwrap().records;
    let numbers: Vec<u64> = records.iter().map(|record| record.number).collect();
    assert_eq!(numbers, (1..=10_000).collect::<Vec<u64>>());
    let recorded: BTreeMap<String, String> = records.iter().map(recorded).collect();
    assert_eq!(recorded, told);

    let verified = sandbox.run(&["log", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    assert!(verified.stdout.contains("the record is whole: 10000 records"), "{}", verified.stdout);
    assert_counts(&sandbox, &records);
}

/// Lets all callers run at once, and returns what the host was told of each call.
fn run_all(sandbox: &Sandbox) -> BTreeMap<String, String> {
    std::thread::scope(|scope| {
        let callers: Vec<_> =
            (0..CALLERS).map(|caller| scope.spawn(move || run_caller(sandbox, caller))).collect();
        callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect()
    })
}

/// Puts calls one after the other, each to a hook of its own.
fn run_caller(sandbox: &Sandbox, caller: usize) -> Vec<Told> {
    let own = format!("session-{caller}");
    let call = |number: usize| {
        let (session, command) = match number % DENIED_EVERY {
            3 => (own.as_str(), "git push --force origin main"),
            13 => ("shared", "git push --force origin main"),
            _ => (own.as_str(), "ls"),
        };
        let id = format!("call-{caller}-{number}");
        let decision = run_hook(sandbox, session, command, &id);
        (id, decision)
    };
    (0..CALLS_EACH).map(call).collect()
}

/// Runs a hook in auto mode and returns what it tells the host.
fn run_hook(sandbox: &Sandbox, session: &str, command: &str, id: &str) -> String {
    let input = json!({
        "session_id": session, "cwd": sandbox.project, "permission_mode": "auto",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command}
    });
    let mut child = sandbox.command(&["hook", "claude"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap().to_owned()
}

fn recorded(record: &Record) -> Told {
    (record.entry.call_id.clone().unwrap(), record.entry.said.clone())
}

/// Every caller's own session ends its runs of denials with allowed calls and so reaches only the limit in total. The
/// shared one has nothing but denials: after two of them each asks a person.
fn assert_counts(sandbox: &Sandbox, records: &[Record]) {
    let store = Store::new(state(sandbox));
    let denied_each = CALLS_EACH / DENIED_EVERY;
    let counts = |session: &str| {
        let denials = store.session(session).denials().unwrap();
        (usize::try_from(denials.in_a_row).unwrap(), usize::try_from(denials.in_total).unwrap())
    };
    let limit = usize::try_from(Denials::MOST_IN_TOTAL).unwrap();
    for caller in 0..CALLERS {
        assert_eq!(counts(&format!("session-{caller}")), (0, denied_each % limit), "caller {caller}");
    }
    let shared = denied_each * CALLERS;
    assert_eq!(counts("shared"), (shared, shared % limit));

    // No id of a denial is given twice, and none is left out.
    let denials = records.iter().filter(|record| record.entry.session == "shared");
    let number = |record: &Record| {
        let id = record.entry.denial.clone().unwrap();
        id.rsplit_once('-').unwrap().1.parse::<usize>().unwrap()
    };
    let mut numbers: Vec<usize> = denials.map(number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=shared).collect::<Vec<usize>>());

    let asked = CALLERS * (denied_each / limit) + shared - 2;
    let denied = 2 * shared - asked;
    let allowed = CALLERS * CALLS_EACH - 2 * shared;
    let stats = sandbox.run(&["stats", "--json"]);
    let stats: Value = serde_json::from_str(&stats.stdout).unwrap();
    assert_eq!(stats["calls"], CALLERS * CALLS_EACH);
    assert_eq!(stats["decisions"], json!({"allow": allowed, "ask": asked, "deny": denied}));
}
