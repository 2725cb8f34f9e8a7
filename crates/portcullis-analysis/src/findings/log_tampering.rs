//! Removing or stopping records of what happened.
//!
//! Logs and histories are how people find out what went wrong and who did it; without them nobody can.
//! Nothing clears this: rotate logs with the tools of the system, or let the person do it.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::invocation::{Invocation, base_name};
use crate::place::{is_log, is_system};

pub(super) static FINDING: Finding = Finding {
    code: "PC021",
    name: "log-tampering",
    title: "removes or stops records of what happened",
    category: "log_audit_tamper",
    severity: Severity::High,
    firmness: Firmness::Hard,
    instead: "Read the records, as in `tail -n 100 app.log`, and leave them as they are",
    hits: &[
        ExampleCall::Bash("apt-get remove -y auditd"),
        ExampleCall::Bash("touch -r /usr/bin/env notes.txt"),
        ExampleCall::PowerShell("Clear-Content (Get-PSReadLineOption).HistorySavePath"),
        ExampleCall::Bash("rm ~/.guard/audit.jsonl"),
        ExampleCall::Bash("date 063008152019"),
        ExampleCall::Bash("rm /var/log/auth.log"),
        ExampleCall::Bash("> /var/log/syslog"),
        ExampleCall::Bash("truncate -s 0 /var/log/messages"),
        ExampleCall::Bash("history -c"),
        ExampleCall::Bash("unset HISTFILE"),
        ExampleCall::Bash("export HISTFILE=/dev/null"),
        ExampleCall::Bash("HISTSIZE=0"),
        ExampleCall::Bash("set +o history"),
        ExampleCall::Bash("shred -u ~/.bash_history"),
        ExampleCall::Bash("ln -sf /dev/null ~/.zsh_history"),
        ExampleCall::Bash("systemctl stop auditd"),
        ExampleCall::Bash("service rsyslog stop"),
        ExampleCall::Bash("auditctl -D"),
        ExampleCall::Bash("journalctl --vacuum-time=1s"),
        ExampleCall::Bash("pkill auditd"),
        ExampleCall::Bash("sed -i /me/d /var/log/auth.log"),
        ExampleCall::PowerShell(r"wevtutil cl Security"),
        ExampleCall::PowerShell(r"Clear-EventLog -LogName Security"),
    ],
    misses: &[
        ExampleCall::Bash("touch -r src/a.rs src/b.rs"),
        ExampleCall::Bash("tail -n 100 /var/log/syslog"),
        ExampleCall::Bash("journalctl -u app --since today"),
        ExampleCall::Bash("ls -la /var/log"),
        ExampleCall::Bash("rm app.log"),
        ExampleCall::Bash("truncate -s 0 logs/test.log"),
        ExampleCall::Bash("history 20"),
        ExampleCall::Bash("echo \"history -c\""),
        ExampleCall::Bash("systemctl status auditd"),
        ExampleCall::Bash("npm test > /tmp/test.log"),
        ExampleCall::Bash("systemctl stop app"),
        ExampleCall::Bash("HISTFILE=/tmp/history zsh -c true"),
        ExampleCall::Bash("docker exec web rm /var/log/nginx/access.log"),
        ExampleCall::Bash("nohup npm start > /var/log/app.log 2>&1 &"),
        ExampleCall::PowerShell(r"Get-EventLog -LogName System -Newest 10"),
    ],
    filter,
};

/// Services that keep records.
const KEEPERS: &[&str] = &[
    "auditbeat",
    "auditd",
    "auoms",
    "eventlog",
    "falco",
    "filebeat",
    "fluent-bit",
    "fluentd",
    "osqueryd",
    "rsyslog",
    "rsyslogd",
    "splunkd",
    "sysmon",
    "syslog",
    "syslog-ng",
    "syslogd",
    "systemd-journald",
    "journald",
    "td-agent",
    "wazuh-agent",
];

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let acts = &[
        Act::TamperLog,
        Act::List,
        Act::Write,
        Act::Delete,
        Act::DeleteTree,
        Act::Wipe,
        Act::Move,
        Act::ServiceStop,
        Act::Kill,
        Act::Uninstall,
    ];
    case.of(acts)
        .filter(|effect| !case.is_in_container(effect) && tampers(case, effect))
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it removes or stops records of what happened".to_owned(),
                written => format!("it removes or stops records of what happened: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

fn tampers(case: Case<'_>, effect: &Effect) -> bool {
    // What an agent notes for itself lies beside its transcripts.
    let is_record = |path: &String| {
        is_log(path, case.scope) && !path.contains("/memory/") && !case.scope.is_in_project(path)
    };
    // Where PowerShell keeps its history is only known to itself.
    let names_history = || {
        let written = effect.target.written().to_ascii_lowercase();
        ["historysavepath", "consolehost_history"].iter().any(|name| written.contains(name))
    };
    match effect.act {
        Act::TamperLog => true,
        // The times of a file of the system make another one look as if it had always been there.
        Act::List => {
            case.program(effect) == "touch" && effect.target.paths().iter().any(|path| is_system(path))
        }
        Act::Write | Act::Delete | Act::DeleteTree | Act::Move if names_history() => true,
        Act::ServiceStop | Act::Kill | Act::Uninstall => {
            names(case, effect).any(|name| KEEPERS.contains(&name.to_ascii_lowercase().as_str()))
        }
        // A program that writes its own log makes records, as long as it is not that of somebody else.
        Act::Write => {
            let mut paths = effect.target.paths().iter();
            paths.any(|path| is_record(path) && (changes_text(case, effect) || is_log_of_system(path)))
        }
        _ => effect.target.paths().iter().any(is_record),
    }
}

/// Says whether a command writes what it is given, or nothing, and not what it has to tell.
fn changes_text(case: Case<'_>, effect: &Effect) -> bool {
    const PROGRAMS: &[&str] = &[
        "", ":", "awk", "cat", "cp", "dd", "echo", "ed", "ex", "install", "ln", "mv", "perl", "printf",
        "python", "python3", "rsync", "sed", "shred", "tee", "touch", "true", "truncate", "vi", "vim",
    ];
    effect.invocation.is_none() || PROGRAMS.contains(&case.program(effect))
}

/// Says whether the system itself keeps a log.
fn is_log_of_system(path: &str) -> bool {
    const NAMES: &[&str] = &[
        "auth.log",
        "boot.log",
        "btmp",
        "cron",
        "daemon.log",
        "dmesg",
        "faillog",
        "kern.log",
        "lastlog",
        "maillog",
        "messages",
        "secure",
        "sudo.log",
        "syslog",
        "system.log",
        "ufw.log",
        "utmp",
        "wtmp",
    ];
    NAMES.contains(&base_name(path)) || path.starts_with("/var/log/audit/") || path.starts_with("/etc/")
}

/// Returns the names of services or processes that an effect is about, without the kind of unit.
fn names<'a>(case: Case<'a>, effect: &'a Effect) -> impl Iterator<Item = &'a str> {
    let words = case.command(effect).map(Invocation::operands).unwrap_or_default();
    let words = words.iter().map(|word| word.text.as_str()).chain([effect.target.written()]);
    words.map(|word| base_name(word.trim_end_matches(".service").trim_end_matches(".socket")))
}
