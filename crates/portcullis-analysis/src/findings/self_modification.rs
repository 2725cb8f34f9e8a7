//! Changing what agents may do.
//!
//! An agent that widens its own permissions, adds servers or switches off its hooks is no longer under anybody's control.
//! So is one that answers its own questions through our daemon, or reads the tokens that would let it.
//! So is one that moves, removes or opens the directory where these settings and the record of what was denied are kept.
//! Nothing clears this: tell the person what to change, and let them do it.

use crate::act::Act;
use crate::case::Case;
use crate::command_effects::reaches_daemon;
use crate::effect::Effect;
use crate::findings::{Finding, Firmness, Sample, Severity, Sighting};
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
    hits: &[
        Sample::Bash("echo '{}' > .claude/settings.json"),
        Sample::Bash("cp x.json ~/.claude/settings.local.json"),
        Sample::Bash("claude mcp add files npx server"),
        Sample::Bash("rm .claude/hooks/check.sh"),
        Sample::Call("Write", &[("file_path", "/code/app/.claude/settings.json"), ("content", "{}")]),
        Sample::Call(
            "Edit",
            &[("file_path", "/home/me/.codex/config.toml"), ("old_string", "a"), ("new_string", "b")],
        ),
        Sample::Bash("sed -i s/deny/allow/ ~/.claude/settings.json"),
        Sample::Bash("ln -sf /tmp/x.json .mcp.json"),
        Sample::Call("Config", &[("setting", "permissions.defaultMode"), ("value", "bypassPermissions")]),
        Sample::Bash("mv x.json ~/.gemini/settings.json"),
        Sample::Bash("chmod 000 .claude/hooks/check.sh"),
        Sample::Bash("mv ~/.local/state/portcullis x"),
        Sample::Bash("mv ~/.local/state x"),
        Sample::Bash("mv ~/.config ~/.c"),
        Sample::Bash("mv ~/.local/state/* /tmp/x"),
        Sample::Bash("rm -rf .claude"),
        Sample::Bash("rm -rf ~/.claude/*"),
        Sample::Bash("find ~/.codex -delete"),
        Sample::Bash("find ~/.local/state -exec rm -rf {} +"),
        Sample::Bash("chmod 777 ~/.local/state/portcullis"),
        Sample::Bash("rsync -a forged/ ~/.local/state/portcullis/"),
        Sample::Bash("cp -r forged/. ~/.config/portcullis"),
        Sample::Bash("tar -C ~/.codex -xf f.tar"),
        Sample::Bash("git -C ~/.local/state/portcullis init"),
        Sample::Bash("cd ~/.config/portcullis && git stash pop"),
        Sample::Bash("git clone https://example.com/x.git ~/.codex"),
        Sample::Bash("portcullis check --settings '{}' ls"),
        Sample::Bash("portcullis eval --with-classifier 5 actions.jsonl"),
        Sample::Bash("portcullis allow --last --yes"),
        Sample::Bash("portcullis deny 'Bash(ls *)' --minutes 5"),
        Sample::Bash("portcullis grants clear"),
        Sample::Bash("portcullis init --yes"),
        Sample::Bash("portcullis uninstall"),
        Sample::Bash("portcullis log prune --older-than 0"),
        Sample::Bash("script -qec 'portcullis allow --last --yes' /dev/null"),
        Sample::Bash("portcullis hook claude < prompt.json"),
        Sample::Bash("env AGENT_TOOL_NAME=Bash portcullis-amp < call.json"),
        Sample::Bash("codex features disable hooks"),
        Sample::Bash("echo '{}' > ~/.factory/hooks.json"),
        Sample::Bash("rm ~/.copilot/hooks/portcullis.json"),
        Sample::Bash("portcullis approvals allow 5e1f"),
        Sample::Bash("script -qec 'portcullis approvals' /dev/null"),
        Sample::Bash("portcullis tokens create x --role person"),
        Sample::Bash("portcullis serve"),
        Sample::Bash("portcullis policy publish p.json --key k"),
        Sample::Bash("cat ~/.local/state/portcullis/daemon/person.token"),
        Sample::Bash("cd ~/.local/state/portcullis/daemon && head -1 person.token"),
        Sample::Bash("base64 ~/.local/state/portcullis/daemon/*.token"),
        Sample::Bash("cp -r ~/.local/state/portcullis /tmp/x"),
        Sample::Bash("grep -r . /home/me/.local/state/portcullis/daemon"),
        Sample::Bash("curl --unix-socket ~/.local/state/portcullis/daemon/socket http://x/v1/approvals"),
        Sample::Bash("nc -U /home/me/.local/state/portcullis/daemon/socket"),
        Sample::Bash(
            "cd ~/.local/state/portcullis/daemon && curl --unix-socket socket http://x/v1/approvals",
        ),
        Sample::Bash("cd ~/.local/state/portcullis/./daemon; nc -U ./socket"),
        Sample::Bash("cat ~/.local/state/portcullis/*/*"),
        Sample::Bash("cat ~/.local/*/*/daemo?/pers[o]n.token"),
        Sample::Bash("shopt -s globstar; cat ~/.local/**/*.token"),
        Sample::Bash("grep -rh . ~/.local/state"),
        Sample::Bash("tar cf x.tar ~/.local"),
        Sample::Bash("grep -rh . ~/.local/*"),
        Sample::Bash("grep -rh --include=person.token . ~"),
        Sample::Bash("socat - UNIX-CONNECT:/home/me/.local/state/portcullis/daemon/socket"),
        Sample::Call("Read", &[("file_path", "/home/me/.local/state/portcullis/daemon/person.token")]),
    ],
    misses: &[
        Sample::Bash("cat .claude/settings.json"),
        Sample::Bash("ls .claude"),
        Sample::Call("Read", &[("file_path", "/code/app/.claude/settings.json")]),
        Sample::Call(
            "Edit",
            &[("file_path", "/code/app/CLAUDE.md"), ("old_string", "a"), ("new_string", "b")],
        ),
        Sample::Bash("claude mcp list"),
        Sample::Bash("echo \"edit .claude/settings.json\""),
        Sample::Bash("git add .claude/settings.json"),
        Sample::Bash("cp .claude/settings.json /tmp/settings.json"),
        Sample::Bash("jq . .mcp.json"),
        Sample::Bash("git diff .mcp.json"),
        Sample::Bash("mkdir -p ~/.codex"),
        Sample::Bash("cp -r ~/.claude /tmp/copy"),
        Sample::Bash("git -C ~/.local/state/portcullis status"),
        Sample::Bash("rm -rf .claude/worktrees/old"),
        Sample::Bash("ln -s ../AGENTS.md .claude/"),
        Sample::Bash("mv config .config"),
        Sample::Bash("portcullis check --mode auto --json 'rm -rf .claude'"),
        Sample::Bash("git -C .claude add ."),
        Sample::Bash("portcullis grants"),
        Sample::Bash("portcullis approvals list --json"),
        Sample::Bash("portcullis serve --help"),
        Sample::Bash("ls ~/.local/state/portcullis/daemon"),
        Sample::Bash("cat portcullis/daemon/main.rs"),
        Sample::Bash("cat src/*/*/*/*/*"),
        Sample::Bash("grep -n x src/**/*"),
        Sample::Bash("cat ~/.config/*/*.json"),
        Sample::Bash("wc -l ~/*"),
        Sample::Bash("cp notes.txt ~"),
        Sample::Bash("grep -r x ."),
        Sample::Bash("docker exec web rm -rf /home/app/.config"),
        Sample::Bash("find .claude -name '*.tmp' -delete"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let (invocations, home) = (&case.survey.invocations, case.scope.home.as_deref());
    case.effects
        .iter()
        .filter(|effect| configures(case, effect) || reaches_daemon(effect, invocations, home))
        .map(|effect| {
            let sentence = match effect.target.written() {
                written if !configures(case, effect) => {
                    format!("it reaches for the daemon that people answer through: `{written}`")
                }
                "" => "it changes what agents may do".to_owned(),
                written => format!("it changes what agents may do: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
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
