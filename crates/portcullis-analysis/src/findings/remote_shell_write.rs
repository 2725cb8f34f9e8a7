//! Changing something on another machine through a shell.
//!
//! Nothing that protects this machine protects that one: no project, no sandbox, no undo.
//! Look at its state with commands that change nothing, and let the person make the change.
//! A person is asked about a service that is restarted or a program that is updated and run; the rest is refused.
//! Or name the machine and say what is to be done on it.

use std::collections::BTreeSet;

use crate::act::{Act, Weight};
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::invocation::Invocation;
use crate::place::{is_free, is_loopback};

pub(super) static FINDING: Finding = Finding {
    code: "PC019",
    name: "remote-shell-write",
    title: "changes something on another machine",
    category: "remote_shell_write",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["ssh", "run on", "on the server", "log in", "restart", "deploy", "exec"],
        must_name: "the machine and what is to be done there",
    },
    instead: "Only look at the other machine, and show the user the change that it needs",
    hits: &[
        ExampleCall::Bash("ssh web-1 'rm -rf /srv/app/old'"),
        ExampleCall::Bash("ssh me@example.com 'echo x >> /srv/app/config'"),
        ExampleCall::Bash("ssh web-1 sudo systemctl restart nginx"),
        ExampleCall::Bash("kubectl exec web-0 -- rm -rf /data/cache"),
        ExampleCall::Bash("ssh web-1 'cd app && git pull && make install'"),
        ExampleCall::Bash("ssh root@example.com"),
        ExampleCall::Bash(
            "ssh web-1 bash <<'EOF'
mv a b
EOF",
        ),
        ExampleCall::Bash("ssh -t web-1 'apt-get install -y nginx'"),
    ],
    misses: &[
        ExampleCall::Bash("ssh web-1 uptime"),
        ExampleCall::Bash("ssh web-1 'tail -n 50 /srv/app/app.txt'"),
        ExampleCall::Bash("ssh web-1 'df -h 2>/dev/null'"),
        ExampleCall::Bash("kubectl exec web-0 -- ls /data"),
        ExampleCall::Bash("ssh -p 2222 me@localhost 'touch x'"),
        ExampleCall::Bash("echo ssh web-1 rm -rf /srv"),
        ExampleCall::Bash("ssh-keygen -l -f key.pub"),
        ExampleCall::Bash("docker exec web ls /"),
        ExampleCall::Bash("ssh web-1 'cat /proc/loadavg | head -1'"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let changing = wrapping(case, is_change);
    let weighty = wrapping(case, |effect| {
        let is_upkeep = UPKEEP.contains(&effect.act) || effect.act.is_observing();
        !is_upkeep && !matches!(effect.act, Act::Elevate | Act::Fetch | Act::RemoteRun)
    });
    case.of(&[Act::RemoteRun])
        .filter(|effect| case.tool == "PowerShell" || !effect.target.host().is_some_and(is_loopback))
        .filter(|effect| {
            is_root_shell(case, effect)
                || case.tool == "PowerShell"
                || effect.invocation.is_some_and(|index| changing.contains(&index))
        })
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it changes something on another machine".to_owned(),
                written => format!("it changes something on {written}"),
            };
            let is_upkeep = !case.names_production(effect)
                && case.tool != "PowerShell"
                && !is_root_shell(case, effect)
                && !effect.invocation.is_some_and(|index| weighty.contains(&index));
            Sighting::of(case, effect, sentence).ordinary_if(is_upkeep)
        })
        .collect()
}

/// What keeps a service up to date.
const UPKEEP: &[Act] = &[
    Act::ServiceControl,
    Act::GitLocal,
    Act::RunProject,
    Act::InstallDeclared,
    Act::ContainerLocal,
    Act::PullImage,
];

/// Returns the commands that wrap one which does something of a kind.
fn wrapping(case: Case<'_>, is_meant: impl Fn(&Effect) -> bool) -> BTreeSet<usize> {
    let mut wrappers = BTreeSet::new();
    let parent = |index: usize| case.survey.invocations.get(index).and_then(|command| command.parent);
    for effect in case.effects.iter().filter(|effect| is_meant(effect)) {
        let mut next = effect.invocation.and_then(parent);
        while let Some(index) = next.filter(|index| wrappers.insert(*index)) {
            next = parent(index);
        }
    }
    wrappers
}

fn is_change(effect: &Effect) -> bool {
    match effect.act {
        Act::Fetch | Act::Connect | Act::Elevate | Act::KillOwn | Act::RemoteRun => false,
        Act::Write => !effect.target.is_path_with(is_free),
        act => matches!(act.weight(), Weight::Local | Weight::Outward | Weight::Grave),
    }
}

/// Says whether a shell of the most powerful user is opened, with no command to run.
fn is_root_shell(case: Case<'_>, effect: &Effect) -> bool {
    let is_root = effect.target.written().trim_start_matches("ssh://").starts_with("root@");
    let words = case.command(effect).map(Invocation::operands).unwrap_or_default();
    is_root && words.last().is_some_and(|last| last.text == effect.target.written())
}
