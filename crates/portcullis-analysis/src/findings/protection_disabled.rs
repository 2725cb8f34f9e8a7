//! Switching off a protection of the machine.
//!
//! Firewalls, scanners and access controls are there for what nobody foresaw, and they stay off when the work is done.
//! Make the exception that the work needs, or let the person do it.
//! Or name the protection and say that it is to be switched off.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{Finding, Firmness, Sample, Severity, Sighting};
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
    hits: &[
        Sample::Bash("apt-get remove -y clamav"),
        Sample::Bash("setenforce 0"),
        Sample::Bash("ufw disable"),
        Sample::Bash("systemctl stop firewalld"),
        Sample::Bash("systemctl disable --now ufw"),
        Sample::Bash("service iptables stop"),
        Sample::Bash("aa-disable /etc/apparmor.d/usr.sbin.x"),
        Sample::Bash("spctl --master-disable"),
        Sample::Bash("csrutil disable"),
        Sample::Bash("pkill falcon-sensor"),
        Sample::Bash("systemctl mask apparmor"),
        Sample::Bash("xattr -d com.apple.quarantine App.app"),
        Sample::PowerShell(r"Set-MpPreference -DisableRealtimeMonitoring $true"),
    ],
    misses: &[
        Sample::Bash("ufw status"),
        Sample::Bash("getenforce"),
        Sample::Bash("systemctl status firewalld"),
        Sample::Bash("echo setenforce 0"),
        Sample::Bash("grep -rn setenforce docs"),
        Sample::Bash("systemctl restart ufw"),
        Sample::Bash("csrutil status"),
        Sample::Bash("git commit -m \"ufw disable\""),
        Sample::Bash("spctl --status"),
        Sample::Bash("sysctl kernel.randomize_va_space"),
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
