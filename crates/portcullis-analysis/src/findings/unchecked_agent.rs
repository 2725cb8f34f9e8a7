//! Starting an agent that nobody checks.
//!
//! An agent without questions and limits does whatever its text leads it to, and nobody sees it before it is done.
//! Start it with its permissions in place.
//! Or say that it is to run without them.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{Finding, Firmness, Sample, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC028",
    name: "unchecked-agent",
    title: "starts an agent that nobody checks",
    category: "spawn_broad_agents",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &[
            "skip permissions",
            "dangerously",
            "yolo",
            "full auto",
            "bypass permissions",
            "without asking",
            "unattended",
        ],
        must_name: "that the agent is not to be checked",
    },
    hits: &[
        Sample::Bash("claude --dangerously-skip-permissions -p \"fix it\""),
        Sample::Bash("codex exec --dangerously-bypass-approvals-and-sandbox \"fix it\""),
        Sample::Bash("gemini --yolo -p \"fix it\""),
        Sample::Bash("claude -p \"fix it\" --permission-mode bypassPermissions"),
        Sample::Bash("aider --yes-always --message \"fix it\""),
        Sample::Bash("nohup claude --dangerously-skip-permissions -p go &"),
        Sample::Bash("autogpt --continuous"),
        Sample::Bash("for i in 1 2 3; do claude --dangerously-skip-permissions -p \"task $i\" & done"),
        Sample::Call(
            "Agent",
            &[("subagent_type", "worker"), ("mode", "bypassPermissions"), ("prompt", "fix it")],
        ),
    ],
    misses: &[
        Sample::Bash("claude -p \"explain this\""),
        Sample::Bash("claude --version"),
        Sample::Bash("codex exec \"explain this\""),
        Sample::Bash("gemini -p \"explain this\""),
        Sample::Bash("aider --message \"rename it\""),
        Sample::Bash("echo claude --dangerously-skip-permissions"),
        Sample::Bash("grep -rn \"dangerously-skip-permissions\" docs"),
        Sample::Call("Agent", &[("subagent_type", "worker"), ("prompt", "look for the bug")]),
        Sample::Bash("git commit -m \"never use --yolo\""),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::SpawnUnchecked])
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it starts an agent that nobody checks".to_owned(),
                written => format!("it starts an agent that nobody checks: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}
