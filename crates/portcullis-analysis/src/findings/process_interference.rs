//! Ending or disturbing what others run.
//!
//! A process found by a name or a number may be somebody else's, and what it had in hand is lost.
//! End what you started, by the number you got when you started it: a process with an agent's variables that works in the project is the agent's own.
//! A person is asked about a process of one's own user that is named by its number, its port or its name; what the machine depends on is refused.
//! Or name the process or service and say that it is to be ended.

use crate::act::Act;
use crate::argument::Argument;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::invocation::Invocation;
use crate::lists::programs::processes::{FINDERS, SYSTEM};

pub(super) static FINDING: Finding = Finding {
    code: "PC029",
    name: "process-interference",
    title: "ends or disturbs processes and services",
    category: "interfere_processes",
    severity: Severity::Medium,
    firmness: Firmness::Soft {
        verbs: &["kill", "stop", "restart", "shut down", "reboot", "end", "terminate", "free the port"],
        must_name: "the process, service or machine",
    },
    instead: "End only what you started, as in `npm start & PID=$!; kill $PID`",
    hits: &[
        ExampleCall::Bash("kill 12345"),
        ExampleCall::Bash("kill -9 $(pgrep node)"),
        ExampleCall::Bash("pkill -f server.py"),
        ExampleCall::Bash("killall python3"),
        ExampleCall::Bash("systemctl stop nginx"),
        ExampleCall::Bash("sudo reboot"),
        ExampleCall::Bash("shutdown -h now"),
        ExampleCall::Bash("gdb -p 1234"),
        ExampleCall::Bash(":(){ :|:& };:"),
        ExampleCall::Bash("kill $(lsof -ti:3000)"),
        ExampleCall::Bash("launchctl bootout system/app"),
        ExampleCall::Bash("stress-ng --vm 4 --vm-bytes 90%"),
        ExampleCall::Bash("fuser -k 8080/tcp"),
        ExampleCall::PowerShell(r"Stop-Process -Name explorer"),
        ExampleCall::PowerShell(r"Get-Process node | Stop-Process -Force"),
    ],
    misses: &[
        ExampleCall::Bash("sleep 100 & kill $!"),
        ExampleCall::Bash("kill -0 12345"),
        ExampleCall::Bash("pgrep -f server.py"),
        ExampleCall::Bash("ps aux"),
        ExampleCall::Bash("systemctl status nginx"),
        ExampleCall::Bash("systemctl restart app --dry-run"),
        ExampleCall::Bash("echo kill 12345"),
        ExampleCall::Bash("kill -l"),
        ExampleCall::Bash("npm start & PID=$!; kill $PID"),
        ExampleCall::Bash("jobs"),
        ExampleCall::Bash("git commit -m \"pkill node\""),
        ExampleCall::PowerShell(r"Get-Process"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::Kill, Act::ServiceStop, Act::Inject, Act::PowerOff, Act::Exhaust])
        .filter(|effect| !case.is_in_container(effect) && !case.ends_own_process(effect))
        .map(|effect| {
            let deed = match effect.act {
                Act::Kill => "ends or signals processes",
                Act::ServiceStop => "stops a service",
                Act::Inject => "reaches into another process",
                Act::PowerOff => "stops or restarts the machine",
                _ => "uses up the machine",
            };
            let sentence = match effect.target.written() {
                "" => format!("it {deed}"),
                written => format!("it {deed}: `{written}`"),
            };
            Sighting::of(case, effect, sentence).ordinary_if(is_ordinary(case, effect))
        })
        .collect()
}

/// Says whether a command ends single processes of the user's own, as somebody does whose server still holds a port.
///
/// What the machine depends on, all processes at once, other users and what a loop over all processes picks is more.
fn is_ordinary(case: Case<'_>, effect: &Effect) -> bool {
    let Some((index, command)) = effect.invocation.zip(case.command(effect)) else {
        return false;
    };
    let name = command.program_name().unwrap_or_default().to_ascii_lowercase();
    let is_plain = match name.trim_end_matches(".exe") {
        "kill" => effect.word.as_ref().is_none_or(|word| is_single_process(case, word)),
        "fuser" | "killall" | "pkill" | "spps" | "stop-process" | "taskkill" => {
            !command.operands().iter().any(takes_many)
        }
        _ => false,
    };
    let words = involved(case, index, effect);
    effect.act == Act::Kill
        && command.code.is_none()
        && is_plain
        && !case.is_raised(effect)
        && words.is_some_and(|words| !words.iter().any(|word| names_system(word)))
}

/// Says whether a word of `kill` stands for single processes: numbers, or what finders of processes print.
fn is_single_process(case: Case<'_>, word: &Argument) -> bool {
    match word.fixed() {
        // One is what started everything else, and less than one stands for many.
        Some(text) => text.parse::<u32>().is_ok_and(|number| number > 1),
        None => match variable(&word.text) {
            Some(name) => {
                let mut values = assignments(case, name).peekable();
                let is_given = values.peek().is_none() && is_of_environment(case, name);
                is_given
                    || values.peek().is_some()
                        && values.all(|(command, value)| {
                            value.fixed().is_some() || !command.substituted.is_empty()
                        })
            }
            None => word.text.starts_with(['`', '…']) || word.text.starts_with("$("),
        },
    }
}

/// Says whether a variable that a line does not set has the value it came with.
fn is_of_environment(case: Case<'_>, name: &str) -> bool {
    const FILLERS: &[&str] = &["mapfile", "ps", "read", "readarray"];
    let fills = |command: &Invocation| command.program_name().is_some_and(|name| FILLERS.contains(&name));
    !name.starts_with(|letter: char| letter.is_ascii_digit()) && !case.survey.invocations.iter().any(fills)
}

/// Says whether an option takes processes by whom they belong to, or a pattern takes nearly all.
fn takes_many(word: &Argument) -> bool {
    const OWNERS: &[&str] = &[
        "-G",
        "-U",
        "-Z",
        "-g",
        "-m",
        "-t",
        "-u",
        "-v",
        "--context",
        "--euid",
        "--group",
        "--inverse",
        "--mount",
        "--pgroup",
        "--terminal",
        "--uid",
        "--user",
    ];
    const FILTERS: &[&str] = &["/fi", "/s", "/u"];
    let text = word.text.as_str();
    let letters = text.chars().filter(char::is_ascii_alphanumeric).count();
    let is_option = text.starts_with(['-', '/']);
    OWNERS.contains(&text)
        || FILTERS.contains(&text.to_ascii_lowercase().as_str())
        || (!is_option && (letters < 3 || text.contains('*')))
}

/// Says whether `Get-Process` takes processes of this machine by names and nothing else.
fn takes_by_name(command: &Invocation) -> bool {
    let is_parameter = |word: &&Argument| word.text.starts_with('-');
    let is_known = |word: &Argument| {
        let lower = word.text.to_ascii_lowercase();
        ["-name", "-processname", "-erroraction", "-ea"].contains(&lower.as_str())
    };
    let (parameters, names): (Vec<&Argument>, Vec<&Argument>) =
        command.operands().iter().partition(is_parameter);
    !names.is_empty()
        && names.iter().all(|word| word.fixed().is_some() && !takes_many(word))
        && parameters.into_iter().all(is_known)
}

/// Returns the fixed words of every command that a signal goes by; `None` if another kind of command has a say.
fn involved(case: Case<'_>, index: usize, effect: &Effect) -> Option<Vec<String>> {
    let mut reached = case.reaching(index);
    let name = effect.word.as_ref().and_then(|word| variable(&word.text));
    for (place, invocation) in case.survey.invocations.iter().enumerate() {
        let sets = |name| invocation.assignments.iter().any(|variable| variable.name == name);
        if name.is_some_and(sets) {
            reached.extend(case.reaching(place));
        }
    }
    let mut words = Vec::new();
    let (mut lists, mut selects) = (false, false);
    for command in reached.iter().filter_map(|place| case.survey.invocations.get(*place)) {
        let is_finder = match command.program_name() {
            Some(name) => FINDERS.contains(&name) || SIGNALLERS.contains(&name.to_ascii_lowercase().as_str()),
            None => command.arguments.is_empty(),
        };
        // All processes at once, or what a loop picks of them, is more than one that is looked for.
        let is_listing = command.program_name() == Some("ps");
        let takes_many = match command.program_name() {
            Some("pgrep") => command.operands().iter().any(takes_many),
            Some("get-process") => !takes_by_name(command),
            _ => false,
        };
        if !is_finder || takes_many || (is_listing && name.is_some()) {
            return None;
        }
        lists |= is_listing;
        selects |= selects_by_name(command);
        words.extend(command.operands().iter().map(|word| word.text.clone()));
    }
    (!lists || selects).then_some(words)
}

/// Says whether a command picks lines of a list by a name.
fn selects_by_name(command: &Invocation) -> bool {
    let mut words = command.operands().iter().map(|word| word.text.as_str());
    match command.program_name().unwrap_or_default() {
        "grep" | "egrep" | "fgrep" | "rg" => {
            !words.clone().any(|word| word.starts_with('-') && word.contains('v'))
                && words.any(|word| word.chars().filter(char::is_ascii_alphanumeric).count() > 2)
        }
        "awk" | "gawk" | "mawk" => words.any(|word| word.contains('/') || word.contains("==")),
        _ => false,
    }
}

/// Programs that signal processes.
const SIGNALLERS: &[&str] =
    &["fuser", "kill", "killall", "pkill", "spps", "stop-process", "taskkill", "taskkill.exe"];

/// Returns the name of the variable that a word is.
fn variable(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).or(text.strip_prefix('$'))?;
    inner.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_').then_some(inner)
}

/// Returns what a line sets a variable to, with the command that does.
fn assignments<'a>(case: Case<'a>, name: &'a str) -> impl Iterator<Item = (&'a Invocation, &'a Argument)> {
    case.survey.invocations.iter().flat_map(move |command| {
        let set = command.assignments.iter().filter(move |variable| variable.name == name);
        set.map(move |variable| (command, &variable.value))
    })
}

/// Says whether a word names something that the machine depends on, as a whole part of it.
fn names_system(word: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let mut parts = word.split(|letter: char| !is_part(letter));
    let known = |name: &str| SYSTEM.iter().any(|system| system.eq_ignore_ascii_case(name));
    let is_daemon = |part: &str| part.strip_suffix('d').is_some_and(|stem| stem.len() > 2 && known(stem));
    parts.any(|part| known(part) || is_daemon(part))
}
