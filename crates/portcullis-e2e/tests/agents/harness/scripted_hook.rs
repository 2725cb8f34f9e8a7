//! A program in the place of ours, which answers a call as the call's own words say.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use portcullis_hosts::{HookBehavior, HookMoment, Host, HostAnswer, HostDecision};

use super::client::Client;
use super::place::Place;

/// How long it takes when it is to be late, in seconds; the agents wait two.
const LATENESS: u32 = 8;

/// Returns the file that a call leaves whose hook is to behave so.
pub(crate) fn file_of(behavior: HookBehavior) -> String {
    format!("on-{}.txt", behavior.title().replace(' ', "-"))
}

/// Writes the program. At a moment other than the one that is tried it has nothing to say.
pub(super) fn write(client: Client, place: &Place, moment: &'static HookMoment) -> PathBuf {
    let adapter = Host::find(client.name()).expect("a host").adapter();
    let answer = |said| {
        let answer = HostAnswer {
            said,
            reason: "scripted".to_owned(),
            notice: None,
            ends_run: false,
            changed_input: None,
        };
        (adapter.write)(moment, &answer).stdout
    };
    let mut script = "input=$(cat)\n".to_owned();
    let others = ["PermissionRequest", "PreToolUse"].into_iter().filter(|event| *event != moment.event);
    for event in others.filter(|_| client != Client::Copilot) {
        // Writing to a string cannot fail.
        let _ = writeln!(script, "case \"$input\" in *'\"hook_event_name\":\"{event}\"'*) exit 0 ;; esac");
    }
    script += "case \"$input\" in\n";
    for behavior in HookBehavior::ALL {
        let said = match behavior {
            HookBehavior::Allow => Some(HostDecision::Allow),
            HookBehavior::Ask => Some(HostDecision::Ask),
            HookBehavior::Silence => Some(HostDecision::Silence),
            HookBehavior::Deny | HookBehavior::Late => Some(HostDecision::Deny),
            HookBehavior::ExitOne | HookBehavior::Garbage | HookBehavior::Gone => None,
        };
        let path = place.root.join("answers").join(file_of(behavior));
        place.write(&path, &said.map(answer).unwrap_or_default());
        let print = format!("cat '{}'", path.display());
        let act = match behavior {
            HookBehavior::ExitOne => "exit 1".to_owned(),
            HookBehavior::Garbage => "echo 'neither yes nor no'".to_owned(),
            HookBehavior::Late => format!("sleep {LATENESS}; {print}"),
            _ => print,
        };
        let _ = writeln!(script, "*{}*) {act} ;;", file_of(behavior));
    }
    script += "esac";
    place.write_program("portcullis", &script);
    place.root.join("programs/portcullis")
}

/// Has an agent wait two seconds for what it would wait a minute and a half for.
pub(super) fn shorten_patience(client: Client, place: &Place) {
    let file = match client {
        Client::Claude => ".claude/settings.json",
        Client::Codex => ".codex/hooks.json",
        Client::Copilot => ".copilot/hooks/portcullis.json",
        Client::Droid => ".factory/hooks.json",
        Client::Gemini => ".gemini/settings.json",
        Client::Kimi => ".kimi-code/config.toml",
        Client::Opencode => ".config/opencode/plugin/portcullis.js",
        Client::Pi => ".pi/agent/extensions/portcullis.ts",
        Client::Qwen => ".qwen/settings.json",
        Client::Cline => return,
    };
    let path = place.home.join(file);
    let mut text = fs::read_to_string(&path).expect("what `init` wrote");
    let before = text.clone();
    for (patience, shorter) in [
        ("\"timeout\": 90000", "\"timeout\": 2000"),
        ("\"timeout\": 90", "\"timeout\": 2"),
        ("\"timeoutSec\": 90", "\"timeoutSec\": 2"),
        ("timeout = 90", "timeout = 2"),
        ("LONGEST_WAIT = 95_000", "LONGEST_WAIT = 2_000"),
    ] {
        text = text.replace(patience, shorter);
    }
    assert_ne!(text, before, "{file} says how long the hook may take");
    fs::write(&path, text).expect("a file");
}
