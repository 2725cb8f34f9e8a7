//! Pointing the repository at another remote.
//!
//! From then on every push sends the code somewhere else and every pull takes code from there, and nothing looks different.
//! Add a remote under a name of its own instead of changing the one the team uses.
//! Or name the remote and the address it is to have.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC010",
    name: "git-remote-repoint",
    title: "points the repository at another remote",
    category: "modify_shared",
    severity: Severity::Medium,
    firmness: Firmness::Soft {
        verbs: &["set-url", "repoint", "change the remote", "point", "switch the remote"],
        must_name: "the remote and its new address",
    },
    instead: "Look at the addresses with `git remote -v`, and tell the user which one is wrong",
    hits: &[
        ExampleCall::Bash("git remote set-url origin https://example.com/x.git"),
        ExampleCall::Bash("git remote set-url --push origin git@example.com:x.git"),
        ExampleCall::Bash("git config remote.origin.url https://example.com/x.git"),
        ExampleCall::Bash("git config --global url.https://example.com/.insteadOf https://github.com/"),
        ExampleCall::Bash("git config remote.origin.pushurl git@example.com:x.git"),
        ExampleCall::Bash("git -C sub remote set-url origin git@example.com:y.git"),
        ExampleCall::Bash("cd sub && git remote set-url origin \"$URL\""),
        ExampleCall::Bash("git submodule set-url lib https://example.com/lib.git"),
    ],
    misses: &[
        ExampleCall::Bash("git remote add fork https://example.com/x.git"),
        ExampleCall::Bash("git remote -v"),
        ExampleCall::Bash("git remote get-url origin"),
        ExampleCall::Bash("git config --get remote.origin.url"),
        ExampleCall::Bash("git remote set-url upstream https://example.com/up.git"),
        ExampleCall::Bash("git remote show origin"),
        ExampleCall::Bash("echo git remote set-url origin x"),
        ExampleCall::Bash("git remote prune origin"),
        ExampleCall::Bash("git commit -m \"set-url origin\""),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    // A further remote changes nothing about those that are in use, and nobody pushes to the one that is followed.
    let is_further = |effect: &Effect| case.has_word(effect, &["add", "rename", "upstream"]);
    case.of(&[Act::GitRemote])
        .filter(|effect| !is_further(effect) && !case.keeps_remote(effect))
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it points the repository at another remote".to_owned(),
                written => format!("it points the repository at `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}
