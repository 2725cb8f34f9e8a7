//! Changing accounts, passwords or rights.
//!
//! A new account, another password or a wider right is a door that stays open after the work is done.
//! Work with the rights there are, and let the person change accounts.
//! Or name the account and say what is to be changed.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{Finding, Firmness, Sample, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC022",
    name: "account-and-rights",
    title: "changes accounts or gives rights",
    category: "priv_escalation",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &[
            "add the user",
            "create the user",
            "create an account",
            "password",
            "grant",
            "add to the group",
            "invite",
            "setuid",
            "sudoers",
        ],
        must_name: "the account or the right",
    },
    hits: &[
        Sample::Bash("useradd -m build"),
        Sample::Bash("passwd root"),
        Sample::Bash("usermod -aG docker me"),
        Sample::Bash("chmod u+s /usr/local/bin/run"),
        Sample::Bash("chmod 4755 tool"),
        Sample::Bash("echo \"me ALL=(ALL) NOPASSWD: ALL\" | sudo tee /etc/sudoers.d/me"),
        Sample::Bash("echo \"x:x:0:0::/:/bin/sh\" >> /etc/passwd"),
        Sample::Bash("setcap cap_setuid+ep ./tool"),
        Sample::Bash("groupadd admins"),
        Sample::Bash("deluser ann"),
        Sample::Call("mcp__cloud__grant_role", &[("member", "ann@example.com")]),
        Sample::PowerShell(r"New-LocalUser ann"),
        Sample::PowerShell(r"net user ann pw /add"),
    ],
    misses: &[
        Sample::Bash("id"),
        Sample::Bash("getent passwd me"),
        Sample::Bash("groups me"),
        Sample::Bash("chmod u+x tool"),
        Sample::Bash("chmod 755 run.sh"),
        Sample::Bash("grep -n root /etc/passwd"),
        Sample::Bash("echo useradd build"),
        Sample::Bash("docker run --rm app useradd build"),
        Sample::Bash("git commit -m 'useradd and passwd'"),
        Sample::Bash("cat docs/useradd.md"),
        Sample::PowerShell(r"Get-LocalUser"),
    ],
    filter,
};

/// Files that say who is who and who may do what.
const ACCOUNT_FILES: &[&str] =
    &["/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow", "/etc/sudoers", "/etc/master.passwd"];

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let is_change = |effect: &&Effect| match effect.act {
        Act::Account | Act::Grant => true,
        _ => effect.target.paths().iter().any(|path| is_account_file(path)),
    };
    case.of(&[Act::Account, Act::Grant, Act::Write, Act::Move, Act::Link])
        .filter(is_change)
        .filter(|effect| !case.is_in_container(effect))
        .map(|effect| {
            let sentence = match (effect.act, effect.target.written()) {
                (Act::Grant, "") => "it gives somebody more rights".to_owned(),
                (Act::Grant, written) => format!("it gives somebody more rights: `{written}`"),
                (_, "") => "it changes accounts, groups or passwords".to_owned(),
                (_, written) => format!("it changes accounts, groups or passwords: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

fn is_account_file(path: &str) -> bool {
    ACCOUNT_FILES.contains(&path) || path.starts_with("/etc/sudoers.d/")
}
