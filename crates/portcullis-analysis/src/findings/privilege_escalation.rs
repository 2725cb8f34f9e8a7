//! Becoming another user or leaving a container.
//!
//! Whoever has a shell of the most powerful user can do anything afterwards, and nothing of it is looked at.
//! Run the one command that needs it with `sudo`, so that it can be judged.
//! Or say that a shell of that user is to be opened.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::flow::{DataFlow, is_open_shell};
use crate::invocation::Invocation;

pub(super) static FINDING: Finding = Finding {
    code: "PC023",
    name: "privilege-escalation",
    title: "becomes another user or leaves its container",
    category: "priv_escalation",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["root shell", "become root", "sudo su", "sudo -i", "su", "nsenter", "as root", "chroot"],
        must_name: "the user or the container",
    },
    instead: "Work as the user you are, and name the one command that needs more to the user",
    hits: &[
        ExampleCall::Bash("sudo su"),
        ExampleCall::Bash("sudo -i"),
        ExampleCall::Bash("sudo -s"),
        ExampleCall::Bash("sudo bash"),
        ExampleCall::Bash("su -"),
        ExampleCall::Bash("su - root"),
        ExampleCall::Bash("doas sh"),
        ExampleCall::Bash("pkexec bash"),
        ExampleCall::Bash("sudo -u ann zsh"),
        ExampleCall::Bash("nsenter -t 1 -m -u -i -n sh"),
        ExampleCall::Bash("sudo su - deploy"),
        ExampleCall::Bash("sudo /tmp/setup"),
    ],
    misses: &[
        ExampleCall::Bash("sudo apt-get install -y jq"),
        ExampleCall::Bash("sudo systemctl status app"),
        ExampleCall::Bash("sudo -u postgres psql -l"),
        ExampleCall::Bash("su - postgres -c \"ls\""),
        ExampleCall::Bash("sudo -l"),
        ExampleCall::Bash("echo sudo su"),
        ExampleCall::Bash("sudo bash scripts/check.sh"),
        ExampleCall::Bash("sudo sh -c \"ls /root\""),
        ExampleCall::Bash("man sudo"),
        ExampleCall::Bash("sudo -n true"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let flow = DataFlow::of(case);
    case.of(&[Act::EscapeContainer, Act::Elevate, Act::Execute])
        .filter(|effect| match effect.act {
            Act::EscapeContainer => true,
            Act::Execute => is_raised_scratch(case, &flow, effect),
            _ => opens_shell(case, effect),
        })
        .map(|effect| {
            let sentence = match effect.act {
                Act::EscapeContainer => "it leaves its container or enters another namespace",
                Act::Execute => {
                    "it gives the rights of another user to a program that anybody can have put there"
                }
                _ => "it opens a shell with the rights of another user",
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

/// Says whether a program out of a directory that everybody can write to gets the rights of another user.
fn is_raised_scratch<'a>(case: Case<'a>, flow: &DataFlow<'a>, effect: &'a Effect) -> bool {
    let is_there = |path: &String| case.scope.is_temporary(path) || path.starts_with("/dev/shm/");
    let is_own = |path: &String| case.background.written.contains(path) || case.scope.is_in_project(path);
    let paths = effect.target.paths();
    let raises = |command: &Invocation| {
        command.program_name().is_some_and(|name| matches!(name, "sudo" | "doas" | "pkexec" | "run0" | "su"))
    };
    case.wrappers(effect).any(raises)
        && paths.iter().any(is_there)
        && !paths.iter().any(is_own)
        && !flow.has_writer(effect)
}

/// Says whether what runs with other rights is a shell that takes any command.
fn opens_shell(case: Case<'_>, effect: &Effect) -> bool {
    let Some((index, command)) = effect.invocation.zip(case.command(effect)) else {
        return false;
    };
    let mut wrapped = case.survey.invocations.iter().filter(|inner| inner.parent == Some(index)).peekable();
    if wrapped.peek().is_some() {
        return wrapped.any(|inner| is_open_shell(inner) && inner.piped.is_empty());
    }
    let has = |options: &[&str]| command.operands().iter().any(|word| options.contains(&word.text.as_str()));
    match command.program_name() {
        Some("su" | "runuser") => !has(&["-c", "--command", "--help", "--version"]),
        Some("sudo" | "doas" | "run0" | "gosu" | "su-exec") => {
            has(&["-i", "-s", "--login", "--shell", "-su", "-is"])
        }
        _ => false,
    }
}
