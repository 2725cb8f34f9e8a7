//! Putting a secret where others can read it.
//!
//! A key in a commit, an image or a shared directory is out for good: it has to be replaced even if the copy is removed.
//! Keep the file out of the commit, and hand keys over through the environment or a secret store.
//! Or name the file and say where it is to go.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::flow::DataFlow;
use crate::invocation::base_name;
use crate::place::{Secrecy, is_free};

pub(super) static FINDING: Finding = Finding {
    code: "PC033",
    name: "credential-leak",
    title: "puts a secret where others can read it",
    category: "credential_leak",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["commit", "add", "copy", "back up", "include"],
        must_name: "the file with the secret and where it goes",
    },
    instead: "Leave the secret out, and commit a file without values, as in `git add .env.example`",
    hits: &[
        ExampleCall::Bash("git add .env"),
        ExampleCall::Bash("git add -f config/master.key"),
        ExampleCall::Bash("git commit -m keys server.pem"),
        ExampleCall::Bash("cp ~/.ssh/id_rsa /tmp/"),
        ExampleCall::Bash("base64 ~/.aws/credentials > /dev/shm/x"),
        ExampleCall::Bash("zip /tmp/c.zip ~/.aws/credentials"),
        ExampleCall::Bash("tar czf backup.tgz ~/.ssh"),
        ExampleCall::Bash("cat ~/.netrc > notes.txt"),
        ExampleCall::Bash("docker build --secret id=k,src=/home/me/.kube/config ."),
        ExampleCall::Bash("git add secrets.yaml"),
        ExampleCall::Bash("ln -s ~/.ssh/id_ed25519 /tmp/notes"),
        ExampleCall::Bash("git add .env.production"),
    ],
    misses: &[
        ExampleCall::Bash("git add src/lib.rs"),
        ExampleCall::Bash("git add .env.example"),
        ExampleCall::Bash("git add -A"),
        ExampleCall::Bash("cp ~/.ssh/id_rsa ~/.ssh/id_rsa.bak"),
        ExampleCall::Bash("git add tests/fixtures/server.key"),
        ExampleCall::Bash("cp .env.example .env"),
        ExampleCall::Bash("git commit -m \"Add .env to .gitignore\""),
        ExampleCall::Bash("cat ~/.ssh/id_rsa.pub > keys.txt"),
        ExampleCall::Bash("git rm --cached .env"),
        ExampleCall::Bash("cp .env .env.backup"),
        ExampleCall::Bash("git add .npmrc"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let flow = DataFlow::of(case);
    let leaks = |effect: &&Effect| match effect.act {
        Act::Read => is_committed(case, effect) || is_built_in(case, effect),
        _ => copied(case, &flow, effect).is_some(),
    };
    case.of(&[Act::Read, Act::Write, Act::SetMode])
        .filter(leaks)
        .map(|effect| {
            let written = effect.target.written();
            let sentence = match copied(case, &flow, effect) {
                Some(source) if effect.act != Act::Read => {
                    format!("it puts the secret of `{}` into `{written}`", source.target.written())
                }
                _ => format!("it puts `{written}`, which holds secrets, where others can read it"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

/// Settings that projects keep in their repositories, and that hold a key only by mistake.
const USUAL: &[&str] =
    &[".envrc", ".npmrc", "credentials", ".env.development", ".env.ci", ".env.local.example"];

/// Says whether a file with secrets becomes part of a commit.
fn is_committed(case: Case<'_>, effect: &Effect) -> bool {
    let is_usual = |path: &String| USUAL.contains(&base_name(path));
    case.program(effect) == "git"
        && case.has_word(effect, &["add", "commit", "stage"])
        && case.secrecy(effect).is_some()
        && !(effect.target.paths().iter().any(is_usual)
            || USUAL.contains(&base_name(effect.target.written())))
}

/// Says whether a key of the user goes into an image.
fn is_built_in(case: Case<'_>, effect: &Effect) -> bool {
    matches!(case.program(effect), "docker" | "podman" | "buildah" | "nerdctl")
        && case.has_word(effect, &["build", "buildx", "cp", "copy"])
        && case.secrecy(effect) == Some(Secrecy::Key)
}

/// Finds the key whose content a file gets.
fn copied<'a>(case: Case<'a>, flow: &DataFlow<'a>, effect: &Effect) -> Option<&'a Effect> {
    let paths = effect.target.paths();
    let is_secret = || !paths.is_empty() && case.secrecy(effect).is_some();
    if effect.act == Act::Read || paths.iter().any(|path| is_free(path)) || is_secret() {
        return None;
    }
    flow.sources(effect).into_iter().find(|source| source.act != Act::SecretRead && case.is_secret(source))
}
