//! Changing accounts, passwords or rights.
//!
//! A new account, another password or a wider right is a door that stays open after the work is done.
//! Work with the rights there are, and let the person change accounts.
//! Or name the account and say what is to be changed.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

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
    instead: "Work with the rights that are there, and tell the user which one is missing",
    hits: &[
        ExampleCall::Bash("useradd -m build"),
        ExampleCall::Bash("passwd root"),
        ExampleCall::Bash("usermod -aG docker me"),
        ExampleCall::Bash("chmod u+s /usr/local/bin/run"),
        ExampleCall::Bash("chmod 4755 tool"),
        ExampleCall::Bash("echo \"me ALL=(ALL) NOPASSWD: ALL\" | sudo tee /etc/sudoers.d/me"),
        ExampleCall::Bash("echo \"x:x:0:0::/:/bin/sh\" >> /etc/passwd"),
        ExampleCall::Bash("setcap cap_setuid+ep ./tool"),
        ExampleCall::Bash("groupadd admins"),
        ExampleCall::Bash("deluser ann"),
        ExampleCall::Call("mcp__cloud__grant_role", &[("member", "ann@example.com")]),
        ExampleCall::PowerShell(r"New-LocalUser ann"),
        ExampleCall::PowerShell(r"net user ann pw /add"),
    ],
    misses: &[
        ExampleCall::Bash("id"),
        ExampleCall::Bash("getent passwd me"),
        ExampleCall::Bash("groups me"),
        ExampleCall::Bash("chmod u+x tool"),
        ExampleCall::Bash("chmod 755 run.sh"),
        ExampleCall::Bash("grep -n root /etc/passwd"),
        ExampleCall::Bash("echo useradd build"),
        ExampleCall::Bash("docker run --rm app useradd build"),
        ExampleCall::Bash("git commit -m 'useradd and passwd'"),
        ExampleCall::Bash("cat docs/useradd.md"),
        ExampleCall::PowerShell(r"Get-LocalUser"),
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
