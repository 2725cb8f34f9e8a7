//! Changing what agents may do.
//!
//! An agent that widens its own permissions, adds servers or switches off its hooks is no longer under anybody's control.
//! Nothing clears this: tell the person what to change, and let them do it.

use crate::case::Case;
use crate::effect::Act;
use crate::findings::{Finding, Firmness, Sample, Severity, Sighting};
use crate::place::is_agent_setting;

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
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let acts =
        &[Act::AgentConfig, Act::Write, Act::Delete, Act::DeleteTree, Act::Wipe, Act::Move, Act::SetMode];
    case.of(acts)
        .filter(|effect| {
            effect.act == Act::AgentConfig || effect.target.paths().iter().any(|path| is_agent_setting(path))
        })
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it changes what agents may do".to_owned(),
                written => format!("it changes what agents may do: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}
