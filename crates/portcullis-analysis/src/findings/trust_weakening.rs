//! Weakening the check of who is at the other end.
//!
//! Without it anybody on the way can read and change what goes over the line, and nobody notices.
//! Put right the certificate or the host key, or test against this machine.
//! Or name the host and say that the check is to be skipped.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::invocation::Invocation;
use crate::path::is_inside;
use crate::place::{is_internal_host, is_loopback, is_metadata};

pub(super) static FINDING: Finding = Finding {
    code: "PC024",
    name: "trust-weakening",
    title: "weakens the check of who is at the other end",
    category: "tls_auth_weaken",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &[
            "insecure",
            "skip verification",
            "no-check-certificate",
            "ignore certificate",
            "self-signed",
            "trust",
            "host key",
        ],
        must_name: "the host or the check",
    },
    instead: "Keep the check, and tell the user which certificate or key it rejects",
    hits: &[
        ExampleCall::Bash("curl -k https://example.com/x"),
        ExampleCall::Bash("wget --no-check-certificate https://example.com/x"),
        ExampleCall::Bash("git -c http.sslVerify=false clone https://example.com/x.git"),
        ExampleCall::Bash("git config --global http.sslVerify false"),
        ExampleCall::Bash("NODE_TLS_REJECT_UNAUTHORIZED=0 node app.js"),
        ExampleCall::Bash("npm config set strict-ssl false"),
        ExampleCall::Bash("ssh -o StrictHostKeyChecking=no me@example.com ls"),
        ExampleCall::Bash("pip install --trusted-host example.com tool"),
        ExampleCall::Bash("cp root.crt /usr/local/share/ca-certificates/root.crt"),
        ExampleCall::Bash("echo \"PermitRootLogin yes\" >> /etc/ssh/sshd_config"),
        ExampleCall::Bash("echo \"auth sufficient pam_permit.so\" > /etc/pam.d/su"),
        ExampleCall::Bash("GIT_SSL_NO_VERIFY=1 git fetch"),
    ],
    misses: &[
        ExampleCall::Bash("curl -k https://localhost:8443/health"),
        ExampleCall::Bash("curl -sk https://127.0.0.1/x"),
        ExampleCall::Bash("curl https://example.com/x"),
        ExampleCall::Bash("git config http.sslVerify"),
        ExampleCall::Bash("ssh me@example.com ls"),
        ExampleCall::Bash("echo curl -k https://example.com"),
        ExampleCall::Bash("grep -rn sslVerify docs"),
        ExampleCall::Bash("openssl verify cert.pem"),
        ExampleCall::Bash("cat /etc/ssh/sshd_config"),
        ExampleCall::Bash("curl -k https://192.168.0.10:8006/api"),
        ExampleCall::Bash("git commit -m \"Remove --insecure\""),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let acts =
        &[Act::WeakenTrust, Act::Write, Act::Link, Act::Move, Act::SystemConfig, Act::GitLocal, Act::Fetch];
    case.of(acts)
        .filter(|effect| match effect.act {
            Act::WeakenTrust => !is_near(case, effect),
            Act::SystemConfig | Act::GitLocal | Act::Fetch => {
                sets_unchecked(case, effect) && !is_near(case, effect)
            }
            _ => {
                effect.target.paths().iter().any(|path| decides_trust(path)) && !case.is_in_container(effect)
            }
        })
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it skips the check of who is at the other end".to_owned(),
                written => format!("it weakens the check of who is at the other end: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

/// Says whether the only hosts that a command speaks to are this machine and its own network.
fn is_near(case: Case<'_>, effect: &Effect) -> bool {
    let is_own = |other: &&Effect| other.invocation == effect.invocation;
    let mut hosts = case.effects.iter().filter(is_own).filter_map(|other| other.target.host()).peekable();
    hosts.peek().is_some()
        && hosts.all(|host| is_loopback(host) || is_internal_host(host) && !is_metadata(host))
}

/// Says whether a setting of a program switches the check off: `git -c http.sslVerify=false`.
fn sets_unchecked(case: Case<'_>, effect: &Effect) -> bool {
    const SETTINGS: &[&str] = &["http.sslverify", "strict-ssl", "enablestrictssl", "http.strictssl"];
    let words = case.command(effect).map(Invocation::operands).unwrap_or_default();
    let is_off = |value: &str| matches!(value, "false" | "0" | "no" | "off");
    let is_setting = |name: &str| SETTINGS.contains(&name.to_ascii_lowercase().as_str());
    let pairs = words.windows(2).filter_map(|pair| match pair {
        [name, value] => Some((name.text.as_str(), value.text.as_str())),
        _ => None,
    });
    let mut all = pairs.chain(words.iter().filter_map(|word| word.text.split_once('=')));
    all.any(|(name, value)| is_setting(name) && is_off(value))
}

/// Says whether a file decides whom the machine believes: certificates, logins.
fn decides_trust(path: &str) -> bool {
    const DIRECTORIES: &[&str] = &[
        "/etc/ca-certificates",
        "/etc/pam.d",
        "/etc/pki/ca-trust",
        "/etc/ssl/certs",
        "/usr/local/share/ca-certificates",
        "/usr/share/ca-certificates",
    ];
    matches!(path, "/etc/pam.conf" | "/etc/hosts.equiv")
        || path.starts_with("/etc/ssh/sshd_config")
        || DIRECTORIES.iter().any(|directory| is_inside(path, directory))
}
