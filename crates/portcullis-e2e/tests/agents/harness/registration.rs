//! Tells an agent of our hook, by the command that users tell it with.

use std::fs;
use std::path::Path;
use std::process::Command;

use portcullis_hosts::{CallFate, HookBehavior, ObservedMode};
use serde_json::json;

use super::client::{Client, portcullis};
use super::daemon::Daemon;
use super::place::Place;
use super::scripted_hook;

/// The event of Claude Code's own questions.
const AT_QUESTIONS: &str = "PermissionRequest";

/// How an agent comes to ask us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Registration {
    /// By the hook that `portcullis init` registers.
    ByInit,
    /// By that hook, whose program is gone when the agent runs.
    ByInitAndGone,
    /// By that hook, with a program in the place of ours that does what each call names.
    Scripted(&'static ObservedMode),
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
    pub(super) fn register(self, client: Client, place: &Place, mode: Option<&str>) -> Option<Daemon> {
        match self {
            Self::ByInit => init(client, place, mode, None),
            Self::ByInitAndGone => {
                let program = place.root.join("programs/portcullis");
                fs::copy(portcullis(), &program).expect("a copy");
                init(client, place, mode, Some(&program));
                fs::remove_file(program).expect("the program goes away");
            }
            Self::Scripted(seen) => {
                let program = scripted_hook::write(client, place, seen.moment);
                if client == Client::Claude && seen.moment.event == AT_QUESTIONS {
                    register_at_questions(place, &program, 2);
                    return None;
                }
                init(client, place, mode, Some(&program));
                // Codex does not trust a hook that was changed since.
                if seen.fate(HookBehavior::Late) != CallFate::NotSeen {
                    scripted_hook::shorten_patience(client, place);
                }
            }
            Self::AtQuestions => {
                assert_eq!(client, Client::Claude, "only Claude Code has such a hook");
                register_at_questions(place, &portcullis(), 90);
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

/// Registers a program with Claude Code at its own questions, which `init` does not.
fn register_at_questions(place: &Place, program: &Path, timeout: u32) {
    let words = json!(["hook", "claude"]);
    let hook = json!({"type": "command", "command": program, "args": words, "timeout": timeout});
    let hooks = json!({AT_QUESTIONS: [{"matcher": "*", "hooks": [hook]}]});
    place.write_settings(".claude/settings.json", &json!({"hooks": hooks}));
}

/// Registers our program, or another one in its place.
fn init(client: Client, place: &Place, mode: Option<&str>, program: Option<&Path>) {
    let mut command = Command::new(portcullis());
    place.confine(&mut command).args(["init", client.name(), "--yes"]);
    command.args(mode.iter().flat_map(|mode| ["--mode", *mode]));
    if let Some(program) = program {
        command.arg("--program").arg(program);
    }
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
