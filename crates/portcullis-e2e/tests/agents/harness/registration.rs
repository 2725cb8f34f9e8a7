//! Tells an agent of our hook, by the command that users tell it with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::client::{Client, portcullis};
use super::daemon::Daemon;
use super::place::Place;

/// How an agent comes to ask us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Registration {
    /// By the hook that `portcullis init` registers.
    ByInit,
    /// By that hook, whose program is gone when the agent runs.
    ByInitAndGone,
    /// By a hook for Claude Code's own questions alone, written by hand.
    AtQuestions,
    /// By posting to a daemon, without a program in between.
    OverHttp,
    /// By posting with a token that does not hold.
    OverHttpWithWrongToken,
    /// By posting to a daemon that is gone when the agent runs.
    OverHttpAndGone,
    /// By no hook.
    Not,
}

impl Registration {
    /// Registers. The agent's own settings must be there already, because some agents are asked about theirs.
    /// Returns the daemon that is asked, if one is.
    pub(super) fn register(self, client: Client, place: &Place) -> Option<Daemon> {
        match self {
            Self::ByInit => init(&portcullis(), client, place),
            Self::ByInitAndGone => {
                let program = move_in(place);
                init(&program, client, place);
                fs::remove_file(program).expect("the program goes away");
            }
            Self::AtQuestions => {
                assert_eq!(client, Client::Claude, "only Claude Code has such a hook");
                let hook = json!({"type": "command", "command": portcullis(), "args": ["hook", "claude"]});
                let hooks = json!({"PermissionRequest": [{"matcher": "*", "hooks": [hook]}]});
                place.write_settings(".claude/settings.json", &json!({"hooks": hooks}));
            }
            Self::OverHttp | Self::OverHttpWithWrongToken | Self::OverHttpAndGone => {
                assert_eq!(client, Client::Claude, "only Claude Code posts its hooks");
                let mut daemon = Daemon::start(place);
                daemon.register(place);
                match self {
                    Self::OverHttpWithWrongToken => daemon.token = "wrong".to_owned(),
                    Self::OverHttpAndGone => daemon.end(),
                    _ => {}
                }
                return Some(daemon);
            }
            Self::Not => {}
        }
        None
    }
}

fn init(program: &Path, client: Client, place: &Place) {
    let mut command = Command::new(program);
    place.confine(&mut command).args(["init", client.name(), "--yes"]);
    // In a run without a person Gemini CLI ends at a question; it is told a denial instead.
    if client == Client::Gemini {
        command.arg("--headless");
    }
    let output = command.output().expect("portcullis runs");
    assert!(
        output.status.success(),
        "`portcullis init {}` failed: {}\n{}{}",
        client.name(),
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Puts a copy of our program into a place, for a test that takes it away.
fn move_in(place: &Place) -> PathBuf {
    let program = place.root.join("programs/portcullis");
    fs::copy(portcullis(), &program).expect("a copy");
    // Registering is done by the full program, which lies beside the one that agents start.
    fs::copy(portcullis().with_file_name("portcullis-full"), program.with_file_name("portcullis-full"))
        .expect("a copy");
    program
}
