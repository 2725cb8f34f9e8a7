//! Uses the store from a process of its own, once its standard input ends; `tests/processes.rs` looks at what it says.
//!
//! `ROOT SESSION deny COUNT` denies so often and prints each id with the limit it reached; `ROOT SESSION take` prints the
//! id of the approval it got, or `none`.

use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use portcullis_store::{DenialKind, NewDenial, SessionStore, Store};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let _ = io::stdin().read_to_end(&mut Vec::new());
    let outcome = match words.as_slice() {
        [root, session, "deny", count] => deny(&open(root, session), count.parse().unwrap_or_default()),
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
    Store::new(root.into()).with_patience(Duration::from_mins(10)).session(session)
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

fn say(line: &str) -> Result<(), String> {
    // One write a line: what was said before a kill was said whole.
    io::stdout().write_all(format!("{line}\n").as_bytes()).map_err(|error| error.to_string())
}
