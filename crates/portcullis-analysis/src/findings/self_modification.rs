//! Changing what agents may do.
//!
//! An agent that widens its own permissions, adds servers or switches off its hooks is no longer under anybody's control.
//! So is one that moves, removes or opens the directory where these settings are kept.
//! What Portcullis itself keeps has a [finding of its own](PC063-own-places.md).
//! Nothing clears this: tell the person what to change, and let them do it.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::own_places::trespasses;
use crate::place::{is_agent_directory, is_agent_hold, is_agent_setting, is_agent_shelter};
use crate::reach;
use crate::removal::{RemovedPlace, places};

pub(super) static FINDING: Finding = Finding {
    code: "PC038",
    name: "self-modification",
    title: "changes what agents may do",
    category: "self_modification",
    severity: Severity::Critical,
    firmness: Firmness::Hard,
    instead: "Read the settings, as in `cat .claude/settings.json`, and tell the user what to change",
    hits: &[
        ExampleCall::Bash("claude mcp add files npx server"),
        ExampleCall::Bash("rm .claude/hooks/check.sh"),
        ExampleCall::Bash("mv .claude/hooks/check.sh /tmp/check.sh"),
        ExampleCall::Bash("ln -sf /tmp/x.json .mcp.json"),
        ExampleCall::Call(
            "Config",
            &[("setting", "permissions.defaultMode"), ("value", "bypassPermissions")],
        ),
        ExampleCall::Bash("chmod 000 .claude/hooks/check.sh"),
        ExampleCall::Bash("tee /data/config/portcullis/commands/acme.toml"),
        ExampleCall::Bash("codex mcp add files -- npx server"),
    ],
    misses: &[
        ExampleCall::Bash("cat .claude/settings.json"),
        ExampleCall::Bash("ls .claude"),
        ExampleCall::Call("Read", &[("file_path", "/code/app/.claude/settings.json")]),
        ExampleCall::Call(
            "Edit",
            &[("file_path", "/code/app/CLAUDE.md"), ("old_string", "a"), ("new_string", "b")],
        ),
        ExampleCall::Bash("claude mcp list"),
        ExampleCall::Bash("echo \"edit .claude/settings.json\""),
        ExampleCall::Bash("git add .claude/settings.json"),
        ExampleCall::Bash("cp .claude/settings.json /tmp/settings.json"),
        ExampleCall::Bash("jq . .mcp.json"),
        ExampleCall::Bash("git diff .mcp.json"),
        ExampleCall::Bash("mkdir -p ~/.codex"),
        ExampleCall::Bash("cp -r ~/.claude /tmp/copy"),
        ExampleCall::Bash("git -C ~/.local/state/portcullis status"),
        ExampleCall::Bash("rm -rf .claude/worktrees/old"),
        ExampleCall::Bash("ln -s ../AGENTS.md .claude/"),
        ExampleCall::Bash("mv config .config"),
        ExampleCall::Bash("portcullis check --mode auto --json 'rm -rf .claude'"),
        ExampleCall::Bash("git -C .claude add ."),
        ExampleCall::Bash("portcullis grants"),
        ExampleCall::Bash("portcullis approvals list --json"),
        ExampleCall::Bash("portcullis questions list --json"),
        ExampleCall::Bash("portcullis serve --help"),
        ExampleCall::Bash("ls ~/.local/state/portcullis/daemon"),
        ExampleCall::Bash("cat portcullis/daemon/main.rs"),
        ExampleCall::Bash("cat src/*/*/*/*/*"),
        ExampleCall::Bash("grep -n x src/**/*"),
        ExampleCall::Bash("cat ~/.config/*/*.json"),
        ExampleCall::Bash("wc -l ~/*"),
        ExampleCall::Bash("cp notes.txt ~"),
        ExampleCall::Bash("grep -r x ."),
        ExampleCall::Bash("docker exec web rm -rf /home/app/.config"),
        ExampleCall::Bash("find .claude -name '*.tmp' -delete"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let found: Vec<&Effect> = case.effects.iter().filter(|effect| configures(case, effect)).collect();
    if found.is_empty() {
        return Vec::new();
    }
    // What is ours has a finding of its own.
    let ours: Vec<&Effect> = trespasses(case).map(|(effect, _)| effect).collect();
    let others = found.into_iter().filter(|effect| !ours.iter().any(|own| std::ptr::eq(*own, *effect)));
    let sentence = |effect: &Effect| match effect.target.written() {
        "" => "it changes what agents may do".to_owned(),
        written => format!("it changes what agents may do: `{written}`"),
    };
    others.map(|effect| Sighting::of(case, effect, sentence(effect))).collect()
}

/// Says whether an effect changes what agents may do: their settings, or a directory that holds them.
fn configures(case: Case<'_>, effect: &Effect) -> bool {
    let is_on = |test: &dyn Fn(&str) -> bool| effect.target.paths().iter().any(|path| test(path));
    // The directories of a container are not those of this machine.
    let is_here = || !case.is_in_container(effect);
    match effect.act {
        Act::AgentConfig => true,
        Act::Delete | Act::DeleteTree | Act::Wipe | Act::Move => {
            let is_taken = |place: &RemovedPlace| {
                let path = place.path.as_str();
                let is_whole = is_agent_directory(path) || is_agent_shelter(path, case.scope);
                is_whole && place.share.is_all()
            };
            is_on(&is_agent_setting) || places(case, effect).iter().any(is_taken) && is_here()
        }
        Act::SetMode => is_on(&is_agent_setting) || is_on(&is_agent_directory) && is_here(),
        Act::Write => {
            let brings_tree = || TREE_WRITERS.contains(&case.program(effect));
            is_on(&is_agent_setting) || is_on(&is_agent_hold) && brings_tree() && is_here()
        }
        Act::GitLocal | Act::GitRewrite | Act::GitDiscard => {
            let is_of_agents = |path: &String| {
                !case.scope.is_in_project(path) && (is_agent_hold(path) || is_agent_setting(path))
            };
            reach::workplaces(case, effect).is_some_and(|places| places.iter().any(is_of_agents))
        }
        _ => false,
    }
}

/// Programs that put files into a directory whose names they are not told one by one.
const TREE_WRITERS: &[&str] = &[
    "7z", "bsdtar", "cp", "cpio", "gcp", "git", "gln", "gmv", "gtar", "ln", "mv", "rclone", "rsync", "scp",
    "tar", "unrar", "unzip",
];
