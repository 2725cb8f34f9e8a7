//! Typing into another terminal session.
//!
//! What is typed there runs with whatever that session may do, and nobody judges it as a command.
//! Run the command here.
//! Or name the session and say what is to be typed into it.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC052",
    name: "terminal-driving",
    title: "types into another terminal session",
    category: "spawn_broad_agents",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["tmux", "screen", "send keys", "type into", "session", "terminal"],
        must_name: "the session and what is typed",
    },
    instead: "Run the command here, in a call of its own",
    hits: &[
        ExampleCall::Bash("tmux send-keys -t main 'ls' Enter"),
        ExampleCall::Bash("screen -S main -X stuff 'ls\\n'"),
        ExampleCall::Bash("tmux send-keys -t 0 C-c"),
        ExampleCall::Bash("tmux send -t work make Enter"),
        ExampleCall::Bash("xdotool type hello"),
        ExampleCall::Bash("ydotool type hello"),
        ExampleCall::Bash("wtype hello"),
        ExampleCall::Bash("tmux send-keys -t api:0.1 \"npm start\" C-m"),
        ExampleCall::Bash("echo hello > /dev/pts/3"),
    ],
    misses: &[
        ExampleCall::Bash("tmux ls"),
        ExampleCall::Bash("tmux new-session -d -s main"),
        ExampleCall::Bash("tmux capture-pane -p -t main"),
        ExampleCall::Bash("screen -ls"),
        ExampleCall::Bash("echo tmux send-keys -t main ls"),
        ExampleCall::Bash("grep -rn send-keys docs"),
        ExampleCall::Bash("tmux -V"),
        ExampleCall::Bash("git commit -m \"tmux send-keys\""),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::DriveTerminal, Act::Write])
        .filter(|effect| {
            effect.act == Act::DriveTerminal || effect.target.paths().iter().any(|path| is_terminal(path))
        })
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it types into another terminal session".to_owned(),
                written => format!("it types into another terminal session: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

/// Says whether a file is the terminal of a session, not the one a command runs in.
fn is_terminal(path: &str) -> bool {
    let number = path.strip_prefix("/dev/pts/").or_else(|| path.strip_prefix("/dev/tty"));
    number.is_some_and(|number| !number.is_empty() && number.chars().all(|letter| letter.is_ascii_digit()))
}
