//! Changing the network of this machine, or names that others reach machines by.
//!
//! A firewall rule lets others in, a route or a name sends traffic somewhere else, and a mistake locks everybody out.
//! Look at the configuration with commands that only list it, and let the person change it.
//! Or name the rule or record and say that it is to be changed.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{Finding, Firmness, Sample, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC027",
    name: "network-reconfiguration",
    title: "changes how machines reach each other",
    category: "security_disable",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["firewall", "route", "dns", "iptables", "open the port", "configure", "set"],
        must_name: "the rule, the name or the interface",
    },
    hits: &[
        Sample::Bash("iptables -A INPUT -p tcp --dport 22 -j DROP"),
        Sample::Bash("sudo ip link set eth0 up"),
        Sample::Bash("ip route add default via 10.0.0.1"),
        Sample::Bash("iptables -t nat -I OUTPUT -p tcp -j REDIRECT --to-ports 9000"),
        Sample::Bash("nft add rule ip nat prerouting dnat to 10.0.0.9"),
        Sample::Bash("firewall-cmd --add-port=8080/tcp"),
        Sample::Bash("ip link set eth0 down"),
        Sample::Bash(
            "aws route53 change-resource-record-sets --hosted-zone-id Z1 --change-batch file://c.json",
        ),
        Sample::Bash("ifconfig eth0 down"),
    ],
    misses: &[
        Sample::Bash("iptables -L"),
        Sample::Bash("ip addr show"),
        Sample::Bash("ip route"),
        Sample::Bash("ufw status"),
        Sample::Bash("nft list ruleset"),
        Sample::Bash("echo iptables -A INPUT -j DROP"),
        Sample::Bash("pip install torch --index-url https://download.example.org/whl"),
        Sample::Bash("aws route53 list-hosted-zones"),
        Sample::Bash("git commit -m \"iptables -F\""),
        Sample::Bash("ifconfig"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::NetworkConfig, Act::DnsWrite])
        .filter(|effect| !PACKAGERS.contains(&case.program(effect)))
        .map(|effect| {
            let deed = if effect.act == Act::DnsWrite {
                "changes names others rely on"
            } else {
                "changes the network of this machine"
            };
            let sentence = match effect.target.written() {
                "" => format!("it {deed}"),
                written => format!("it {deed}: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

/// Programs for which a package index is all they change.
const PACKAGERS: &[&str] = &["pdm", "pip", "pip3", "pipx", "poetry", "python", "python3", "uv", "uvx"];
