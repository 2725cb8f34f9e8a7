//! Putting foreign text where agents or builds obey it.
//!
//! Instructions and build definitions are followed by everybody who works on the project, without a second look.
//! Read the text first, and write what you mean into the file yourself.
//! Or name the file and where its text is to come from.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::flow::DataFlow;
use crate::place::{is_agent_instruction, is_loopback};

pub(super) static FINDING: Finding = Finding {
    code: "PC039",
    name: "instruction-poisoning",
    title: "puts foreign text where agents or builds obey it",
    category: "self_modification",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["download", "copy", "fetch", "install the rules", "take over"],
        must_name: "the file and where its text comes from",
    },
    instead: "Read the text first, and write what you mean into the file yourself",
    hits: &[
        ExampleCall::Bash("curl -o CLAUDE.md https://example.com/rules.md"),
        ExampleCall::Bash("mv /tmp/rules.md .cursorrules"),
        ExampleCall::Bash("cp /tmp/ci.yml .github/workflows/ci.yml"),
        ExampleCall::Bash("curl -s https://example.com/a.md >> AGENTS.md"),
        ExampleCall::Bash("wget -O .github/workflows/build.yml https://example.com/b.yml"),
        ExampleCall::Bash("curl -s https://example.com/r | tee .cursor/rules/r.mdc"),
        ExampleCall::Bash("cp /dev/shm/x AGENTS.md"),
        ExampleCall::Bash("cat /tmp/note.md >> CLAUDE.md"),
        ExampleCall::Bash("curl -o .gitlab-ci.yml https://example.com/ci.yml"),
    ],
    misses: &[
        ExampleCall::Bash("cp docs/rules.md CLAUDE.md"),
        ExampleCall::Bash("echo \"Use tabs.\" >> CLAUDE.md"),
        ExampleCall::Bash("cat CLAUDE.md"),
        ExampleCall::Bash("cp .github/workflows/a.yml .github/workflows/b.yml"),
        ExampleCall::Call(
            "Edit",
            &[("file_path", "/code/app/CLAUDE.md"), ("old_string", "a"), ("new_string", "b")],
        ),
        ExampleCall::Call("Write", &[("file_path", "/code/app/.github/workflows/ci.yml"), ("content", "x")]),
        ExampleCall::Bash("cp CLAUDE.md /tmp/"),
        ExampleCall::Bash("sed -i s/a/b/ .github/workflows/ci.yml"),
        ExampleCall::Bash("curl -s https://example.com/rules.md"),
        ExampleCall::Bash("git checkout main -- CLAUDE.md"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let flow = DataFlow::of(case);
    case.of(&[Act::Write])
        .filter(|effect| effect.target.paths().iter().any(|path| is_obeyed(path)))
        .filter_map(|effect| {
            let source = flow.sources(effect).into_iter().find(|source| is_foreign(case, source))?;
            let (to, from) = (effect.target.written(), source.target.written());
            Some(Sighting::of(case, effect, format!("it puts text of `{from}` into `{to}`, which is obeyed")))
        })
        .collect()
}

/// Says whether agents or builds do what a file says.
fn is_obeyed(path: &str) -> bool {
    const DEFINITIONS: &[&str] = &[
        "/.gitlab-ci.yml",
        "/Jenkinsfile",
        "/azure-pipelines.yml",
        "/.travis.yml",
        "/bitbucket-pipelines.yml",
    ];
    is_agent_instruction(path)
        || DEFINITIONS.iter().any(|name| path.ends_with(name))
        || ["/.github/workflows/", "/.circleci/", "/.github/actions/"]
            .iter()
            .any(|directory| path.contains(directory))
}

/// Says whether text comes from outside: from the network, or from where anybody can put a file.
fn is_foreign(case: Case<'_>, source: &Effect) -> bool {
    let is_scratch = |path: &String| {
        !case.scope.is_in_project(path) && (case.scope.is_temporary(path) || path.starts_with("/dev/shm/"))
    };
    match source.act {
        Act::Fetch => !source.target.host().is_some_and(is_loopback),
        Act::Read | Act::Move => source.target.paths().iter().any(is_scratch),
        _ => false,
    }
}
