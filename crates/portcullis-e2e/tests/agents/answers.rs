//! What each agent does with each answer of a hook, held against the table in its adapter.

use std::process::Command;

use portcullis_hosts::{CallFate, HookBehavior, Host, ObservedMode};
use portcullis_testkit::{AgentScript, AgentTurn};
use pretty_assertions::assert_eq;

use crate::harness::{Finished, Registration, Session, Stage, file_of};

/// Runs an agent with a hook that gives every answer, and compares what becomes of the calls with the row that names the
/// test. `begin` makes a session, and `call` the call that leaves a file.
pub(crate) fn assert_as_observed(
    test: &str,
    begin: impl Fn() -> Session,
    call: impl Fn(Stage<'_>, &str, &str) -> AgentTurn,
) {
    let seen = row(test);
    let (mut gentle, fatal): (Vec<_>, Vec<_>) = HookBehavior::ALL
        .into_iter()
        .filter(|behavior| *behavior != HookBehavior::Gone && seen.fate(*behavior) != CallFate::NotSeen)
        .partition(|behavior| seen.fate(*behavior) != CallFate::RunEnds);
    // What ends a run comes last in it, and the next one needs a run of its own.
    let (first, others) =
        fatal.split_first().map_or((None, &[][..]), |(first, others)| (Some(*first), others));
    gentle.extend(first);
    let runs = std::iter::once(gentle).chain(others.iter().map(|behavior| vec![*behavior]));
    for behaviors in runs {
        let session = begin().registered(Registration::Scripted(seen));
        let finished = session.play(|stage| {
            let turns = behaviors.iter().map(|behavior| call(stage, label(*behavior), &file_of(*behavior)));
            AgentScript::new(turns.chain([AgentTurn::say("All done.")]).collect())
        });
        let found: Vec<_> = behaviors.iter().map(|one| (one.title(), fate(&finished, *one))).collect();
        let expected: Vec<_> = behaviors.iter().map(|one| (one.title(), seen.fate(*one))).collect();
        assert_eq!(found, expected, "{}", finished.describe());
    }
}

/// Has the shell leave the file of a call.
pub(crate) fn touch(stage: Stage<'_>, label: &str, file: &str) -> AgentTurn {
    stage.shell(label, &format!("touch {file}"))
}

fn rows() -> impl Iterator<Item = &'static ObservedMode> {
    Host::ALL.into_iter().flat_map(|host| host.adapter().observed)
}

fn row(test: &str) -> &'static ObservedMode {
    rows().find(|seen| seen.shown_by == test).unwrap_or_else(|| panic!("no row names `{test}`"))
}

/// No label is a part of another.
const fn label(behavior: HookBehavior) -> &'static str {
    match behavior {
        HookBehavior::ExitOne => "exit-one",
        _ => behavior.title(),
    }
}

fn fate(finished: &Finished, behavior: HookBehavior) -> CallFate {
    let file = file_of(behavior);
    let is_asked = finished.questions.iter().any(|question| question.contains(&file));
    match (finished.has_file(&file), is_asked) {
        (true, true) => CallFate::Asked,
        (true, false) => CallFate::Runs,
        (false, _) if finished.model.told(label(behavior)).is_some() => CallFate::Stopped,
        (false, _) => CallFate::RunEnds,
    }
}

#[test]
fn every_test_that_a_row_names_exists() {
    let mut list = Command::new(std::env::current_exe().expect("this program"));
    let listed = list.args(["--list", "--format", "terse"]).output().expect("it lists its tests");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    for name in rows().flat_map(ObservedMode::tests) {
        assert!(listed.lines().any(|line| line == format!("{name}: test")), "there is no test `{name}`");
    }
}
