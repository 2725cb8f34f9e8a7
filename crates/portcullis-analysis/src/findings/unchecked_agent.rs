//! Starting an agent that nobody checks.
//!
//! An agent without questions and limits does whatever its text leads it to, and nobody sees it before it is done.
//! Start it with its permissions in place.
//! Or say that it is to run without them.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

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
    instead: "Start the agent with its permission checks on",
    hits: &[
        ExampleCall::Bash("claude --dangerously-skip-permissions -p \"fix it\""),
        ExampleCall::Bash("codex exec --dangerously-bypass-approvals-and-sandbox \"fix it\""),
        ExampleCall::Bash("gemini --yolo -p \"fix it\""),
        ExampleCall::Bash("claude -p \"fix it\" --permission-mode bypassPermissions"),
        ExampleCall::Bash("aider --yes-always --message \"fix it\""),
        ExampleCall::Bash("nohup claude --dangerously-skip-permissions -p go &"),
        ExampleCall::Bash("autogpt --continuous"),
        ExampleCall::Bash("for i in 1 2 3; do claude --dangerously-skip-permissions -p \"task $i\" & done"),
        ExampleCall::Call(
            "Agent",
            &[("subagent_type", "worker"), ("mode", "bypassPermissions"), ("prompt", "fix it")],
        ),
    ],
    misses: &[
        ExampleCall::Bash("claude -p \"explain this\""),
        ExampleCall::Bash("claude --version"),
        ExampleCall::Bash("codex exec \"explain this\""),
        ExampleCall::Bash("gemini -p \"explain this\""),
        ExampleCall::Bash("aider --message \"rename it\""),
        ExampleCall::Bash("echo claude --dangerously-skip-permissions"),
        ExampleCall::Bash("grep -rn \"dangerously-skip-permissions\" docs"),
        ExampleCall::Call("Agent", &[("subagent_type", "worker"), ("prompt", "look for the bug")]),
        ExampleCall::Bash("git commit -m \"never use --yolo\""),
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
