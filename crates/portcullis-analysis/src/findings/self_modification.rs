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
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
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
        ExampleCall::Bash("echo '{}' > .claude/settings.json"),
        ExampleCall::Bash("cp x.json ~/.claude/settings.local.json"),
        ExampleCall::Bash("claude mcp add files npx server"),
        ExampleCall::Bash("rm .claude/hooks/check.sh"),
        ExampleCall::Call("Write", &[("file_path", "/code/app/.claude/settings.json"), ("content", "{}")]),
        ExampleCall::Call(
            "Edit",
            &[("file_path", "/home/me/.codex/config.toml"), ("old_string", "a"), ("new_string", "b")],
        ),
        ExampleCall::Bash("sed -i s/deny/allow/ ~/.claude/settings.json"),
        ExampleCall::Bash("ln -sf /tmp/x.json .mcp.json"),
        ExampleCall::Call(
            "Config",
            &[("setting", "permissions.defaultMode"), ("value", "bypassPermissions")],
        ),
        ExampleCall::Bash("mv x.json ~/.gemini/settings.json"),
        ExampleCall::Bash("chmod 000 .claude/hooks/check.sh"),
        ExampleCall::Bash("mv ~/.local/state/portcullis x"),
        ExampleCall::Bash("mv ~/.local/state x"),
        ExampleCall::Bash("mv ~/.config ~/.c"),
        ExampleCall::Bash("cp acme.toml ~/.config/portcullis/commands/"),
        ExampleCall::Bash("echo x > .portcullis/commands/acme.toml"),
        ExampleCall::Bash("tee /data/config/portcullis/commands/acme.toml"),
        ExampleCall::Bash("portcullis profiles new acme --write"),
        ExampleCall::Call("Write", &[("file_path", "/etc/portcullis/commands/acme.toml"), ("content", "")]),
        ExampleCall::Bash("mv ~/.local/state/* /tmp/x"),
        ExampleCall::Bash("rm -rf .claude"),
        ExampleCall::Bash("rm -rf ~/.claude/*"),
        ExampleCall::Bash("find ~/.codex -delete"),
        ExampleCall::Bash("find ~/.local/state -exec rm -rf {} +"),
        ExampleCall::Bash("chmod 777 ~/.local/state/portcullis"),
        ExampleCall::Bash("rsync -a forged/ ~/.local/state/portcullis/"),
        ExampleCall::Bash("cp -r forged/. ~/.config/portcullis"),
        ExampleCall::Bash("tar -C ~/.codex -xf f.tar"),
        ExampleCall::Bash("git -C ~/.local/state/portcullis init"),
        ExampleCall::Bash("cd ~/.config/portcullis && git stash pop"),
        ExampleCall::Bash("git clone https://example.com/x.git ~/.codex"),
        ExampleCall::Bash("portcullis check --settings '{}' ls"),
        ExampleCall::Bash("portcullis eval --with-classifier 5 actions.jsonl"),
        ExampleCall::Bash("portcullis allow --last --yes"),
        ExampleCall::Bash("portcullis deny 'Bash(ls *)' --minutes 5"),
        ExampleCall::Bash("portcullis-full allow --last --yes"),
        ExampleCall::Bash("portcullis grants clear"),
        ExampleCall::Bash("portcullis init --yes"),
        ExampleCall::Bash("portcullis uninstall"),
        ExampleCall::Bash("portcullis log prune --older-than 0"),
        ExampleCall::Bash("script -qec 'portcullis allow --last --yes' /dev/null"),
        ExampleCall::Bash("portcullis hook claude < prompt.json"),
        ExampleCall::Bash("env AGENT_TOOL_NAME=Bash portcullis-amp < call.json"),
        ExampleCall::Bash("codex features disable hooks"),
        ExampleCall::Bash("echo '{}' > ~/.factory/hooks.json"),
        ExampleCall::Bash("rm ~/.copilot/hooks/portcullis.json"),
        ExampleCall::Bash("portcullis approvals allow 5e1f"),
        ExampleCall::Bash("portcullis questions allow 5e1f"),
        ExampleCall::Bash("portcullis allow --id 5e1f --yes"),
        ExampleCall::Bash("portcullis deny --id 5e1f"),
        ExampleCall::Bash("portcullis retry 3f9a1c-2"),
        ExampleCall::Bash("script -qec 'portcullis approvals' /dev/null"),
        ExampleCall::Bash("script -qec 'portcullis questions' /dev/null"),
        ExampleCall::Bash("portcullis tokens create x --role person"),
        ExampleCall::Bash("portcullis serve"),
        ExampleCall::Bash("portcullis policy publish p.json --key k"),
        ExampleCall::Bash("cat ~/.local/state/portcullis/daemon/person.token"),
        ExampleCall::Bash("cd ~/.local/state/portcullis/daemon && head -1 person.token"),
        ExampleCall::Bash("base64 ~/.local/state/portcullis/daemon/*.token"),
        ExampleCall::Bash("cp -r ~/.local/state/portcullis /tmp/x"),
        ExampleCall::Bash("grep -r . /home/me/.local/state/portcullis/daemon"),
        ExampleCall::Bash("curl --unix-socket ~/.local/state/portcullis/daemon/socket http://x/v1/approvals"),
        ExampleCall::Bash("nc -U /home/me/.local/state/portcullis/daemon/socket"),
        ExampleCall::Bash(
            "cd ~/.local/state/portcullis/daemon && curl --unix-socket socket http://x/v1/approvals",
        ),
        ExampleCall::Bash("cd ~/.local/state/portcullis/./daemon; nc -U ./socket"),
        ExampleCall::Bash("cat ~/.local/state/portcullis/*/*"),
        ExampleCall::Bash("cat ~/.local/*/*/daemo?/pers[o]n.token"),
        ExampleCall::Bash("shopt -s globstar; cat ~/.local/**/*.token"),
        ExampleCall::Bash("grep -rh . ~/.local/state"),
        ExampleCall::Bash("tar cf x.tar ~/.local"),
        ExampleCall::Bash("grep -rh . ~/.local/*"),
        ExampleCall::Bash("grep -rh --include=person.token . ~"),
        ExampleCall::Bash("socat - UNIX-CONNECT:/home/me/.local/state/portcullis/daemon/socket"),
        ExampleCall::Call("Read", &[("file_path", "/home/me/.local/state/portcullis/daemon/person.token")]),
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
