//! Switching off a protection of the machine.
//!
//! Firewalls, scanners and access controls are there for what nobody foresaw, and they stay off when the work is done.
//! Make the exception that the work needs, or let the person do it.
//! Or name the protection and say that it is to be switched off.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::invocation::{Invocation, base_name};

pub(super) static FINDING: Finding = Finding {
    code: "PC025",
    name: "protection-disabled",
    title: "switches off a protection",
    category: "security_disable",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &[
            "disable",
            "switch off",
            "turn off",
            "stop",
            "firewall",
            "selinux",
            "apparmor",
            "quarantine",
        ],
        must_name: "the protection",
    },
    instead: "Leave the protection on, and tell the user what it blocks",
    hits: &[
        ExampleCall::Bash("apt-get remove -y clamav"),
        ExampleCall::Bash("setenforce 0"),
        ExampleCall::Bash("ufw disable"),
        ExampleCall::Bash("systemctl stop firewalld"),
        ExampleCall::Bash("systemctl disable --now ufw"),
        ExampleCall::Bash("service iptables stop"),
        ExampleCall::Bash("aa-disable /etc/apparmor.d/usr.sbin.x"),
        ExampleCall::Bash("spctl --master-disable"),
        ExampleCall::Bash("csrutil disable"),
        ExampleCall::Bash("pkill falcon-sensor"),
        ExampleCall::Bash("systemctl mask apparmor"),
        ExampleCall::Bash("xattr -d com.apple.quarantine App.app"),
        ExampleCall::PowerShell(r"Set-MpPreference -DisableRealtimeMonitoring $true"),
    ],
    misses: &[
        ExampleCall::Bash("ufw status"),
        ExampleCall::Bash("getenforce"),
        ExampleCall::Bash("systemctl status firewalld"),
        ExampleCall::Bash("echo setenforce 0"),
        ExampleCall::Bash("grep -rn setenforce docs"),
        ExampleCall::Bash("systemctl restart ufw"),
        ExampleCall::Bash("csrutil status"),
        ExampleCall::Bash("git commit -m \"ufw disable\""),
        ExampleCall::Bash("spctl --status"),
        ExampleCall::Bash("sysctl kernel.randomize_va_space"),
    ],
    filter,
};

/// Programs that guard a machine, by their service or process names.
const GUARDS: &[&str] = &[
    "apparmor",
    "avast",
    "carbonblack",
    "cbagentd",
    "cbdaemon",
    "clamav",
    "clamav-daemon",
    "clamd",
    "crowdstrike",
    "ebtables",
    "esets",
    "fail2ban",
    "falcon-sensor",
    "falcond",
    "firewalld",
    "freshclam",
    "ip6tables",
    "iptables",
    "mdatp",
    "mpssvc",
    "netfilter-persistent",
    "nftables",
    "portcullis",
    "portcullis-full",
    "selinux",
    "sentinelagent",
    "sentinelone",
    "setroubleshoot",
    "sophos",
    "ufw",
    "windefend",
];

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::Weaken, Act::ServiceStop, Act::Kill, Act::Uninstall])
        .filter(|effect| effect.act == Act::Weaken || guards(case, effect))
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it switches off a protection of the machine".to_owned(),
                written => format!("it switches off a protection of the machine: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

/// Says whether a guard is among what is stopped.
fn guards(case: Case<'_>, effect: &Effect) -> bool {
    names(case, effect).any(|name| GUARDS.contains(&name.to_ascii_lowercase().as_str()))
}

/// Returns the names of services or processes that an effect is about, without the kind of unit.
fn names<'a>(case: Case<'a>, effect: &'a Effect) -> impl Iterator<Item = &'a str> {
    let words = case.command(effect).map(Invocation::operands).unwrap_or_default();
    let words = words.iter().map(|word| word.text.as_str()).chain([effect.target.written()]);
    words.map(|word| base_name(word.trim_end_matches(".service").trim_end_matches(".socket")))
}
