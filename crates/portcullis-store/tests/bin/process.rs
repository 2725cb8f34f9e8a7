//! Uses the store from a process of its own, once its standard input ends; `tests/processes.rs` looks at what it says.
//!
//! `ROOT SESSION deny COUNT` denies so often and prints each id with the limit it reached; `ROOT SESSION take` prints the
//! id of the approval it got, or `none`; `ROOT SESSION append COUNT` appends so many decisions to the audit trail and prints
//! the id of each; `ROOT SESSION ingest` brings the index up to date and prints how many decisions are in it; `ROOT WHO
//! answer ID` answers an approval, prints `first`, `late` or `unknown`, and waits to be killed before it is applied.

use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use portcullis_store::audit::Entry;
use portcullis_store::audit::index::Filter;
use portcullis_store::{
    AnswerOutcome, AnswerScope, ApprovalAnswer, DenialKind, NewDenial, SessionStore, Store,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let _ = io::stdin().read_to_end(&mut Vec::new());
    let outcome = match words.as_slice() {
        [root, session, "deny", count] => deny(&open(root, session), count.parse().unwrap_or_default()),
        [root, session, "append", count] => append(root, session, count.parse().unwrap_or_default()),
        [root, _, "ingest"] => ingest(root),
        [root, who, "answer", id] => answer(root, who, id),
        [root, session, "take"] => take(&open(root, session)),
        _ => Err("no such use".to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr(), "{message}");
            ExitCode::FAILURE
        }
    }
}

/// Opens a session with so much patience that a slow machine is no failure.
fn open(root: &str, session: &str) -> SessionStore {
    patient(root).session(session)
}

fn patient(root: &str) -> Store {
    Store::new(root.into()).with_patience(Duration::from_mins(10))
}

fn append(root: &str, session: &str, count: u64) -> Result<(), String> {
    let audit = patient(root).audit();
    for number in 0..count {
        let entry = Entry {
            at_ms: 1_800_000_000_000 + number,
            host: "claude".to_owned(),
            event: "PreToolUse".to_owned(),
            session: session.to_owned(),
            agent: None,
            call_id: Some(format!("{}-{number}", std::process::id())),
            cwd: "/code/app".to_owned(),
            mode: "auto".to_owned(),
            headless: false,
            tool: "Bash".to_owned(),
            summary: format!(
                "Bash make {}",
                "x".repeat(usize::try_from(number * 37 % 300).unwrap_or_default())
            ),
            input: r#"{"command":"make"}"#.to_owned(),
            decision: "allow".to_owned(),
            said: "allow".to_owned(),
            step: "A9".to_owned(),
            kind: "rule".to_owned(),
            reason: "allowed by a rule".to_owned(),
            rule: None,
            code: None,
            denial: None,
            findings: Vec::new(),
            trace: Vec::new(),
            suggestions: Vec::new(),
            models: Vec::new(),
            micros: 700,
            ..Entry::default()
        };
        say(&audit.append(&entry).map_err(|error| error.to_string())?)?;
    }
    Ok(())
}

fn ingest(root: &str) -> Result<(), String> {
    let found = patient(root).audit().count(&Filter::default()).map_err(|error| error.to_string())?;
    say(&found.to_string())
}

fn deny(session: &SessionStore, count: u32) -> Result<(), String> {
    for _ in 0..count {
        let denial = NewDenial {
            tool: "Bash".to_owned(),
            input_json: r#"{"command":"make deploy"}"#.to_owned(),
            cwd: "/code/app".to_owned(),
            summary: "make deploy".to_owned(),
            reason: "it deploys".to_owned(),
            kind: DenialKind::Classifier,
            code: "Production Deploy".to_owned(),
            retryable: true,
        };
        let recorded = session.record_denial(&denial, 1_000).map_err(|error| error.to_string())?;
        say(&format!("{} {:?}", recorded.id, recorded.limit))?;
    }
    Ok(())
}

fn take(session: &SessionStore) -> Result<(), String> {
    let taken = session
        .take_approval("Bash", r#"{"command":"make deploy"}"#, "/code/app", 2_000)
        .map_err(|error| error.to_string())?;
    say(taken.as_deref().unwrap_or("none"))
}

fn answer(root: &str, who: &str, id: &str) -> Result<(), String> {
    let answer = ApprovalAnswer {
        is_allowed: true,
        scope: AnswerScope::Once,
        rule: None,
        message: None,
        by: who.to_owned(),
        via: "api".to_owned(),
        at_ms: 1_800_000_000_001,
    };
    let answered = patient(root).backend().answer_approval(id, &answer).map_err(|error| error.to_string())?;
    match answered {
        AnswerOutcome::First(_) => {
            say("first")?;
            loop {
                std::thread::park();
            }
        }
        AnswerOutcome::Late(_) => say("late"),
        AnswerOutcome::Unknown => say("unknown"),
    }
}

fn say(line: &str) -> Result<(), String> {
    // One write a line: what was said before a kill was said whole.
    io::stdout().write_all(format!("{line}\n").as_bytes()).map_err(|error| error.to_string())
}
