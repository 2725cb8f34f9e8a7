//! Denials of auto mode: the limits at which a person is asked or the run ends, and counts that no process loses.

use std::fs::{self, File};
use std::path::Path;
use std::process::Child;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sandbox::ran;
use super::scene::{HARD, JUDGE, SOFT, Scene, hooked};

#[test]
fn the_third_denial_in_a_row_asks_a_person_and_so_does_every_further_one() {
    let scene = Scene::new(JUDGE);
    let commands = ["frobnicate blockme", SOFT, "npm unpublish app", "frobnicate blockme"];
    let answers = commands.map(|command| scene.check(&["--session", "s1"], command));
    assert_eq!(answers.each_ref().map(|answer| answer.decision.as_str()), ["deny", "deny", "ask", "ask"]);
    assert_eq!(answers[2].kind, "limit");
    assert!(answers[2].message.contains("3 actions in a row"), "{}", answers[2].message);
    assert!(answers.iter().all(|answer| answer.json["endsRun"] == Value::Null), "{answers:?}");
    assert_eq!(scene.session()["denials"], json!({"in_a_row": 4, "in_total": 4}));
    assert_eq!(scene.check(&["--session", "s2"], "frobnicate blockme").decision, "deny", "another session");
}

#[test]
fn a_run_without_a_person_ends_at_the_limit_or_is_denied_as_settings_say() {
    for (on_limit, ends) in [("abort", json!(true)), ("deny", Value::Null)] {
        let scene = Scene::with(JUDGE, &json!({"onLimit": on_limit}));
        let check = || scene.check(&["--session", "s1", "--headless"], "frobnicate blockme");
        let answers = [check(), check(), check()];
        assert!(answers.iter().all(|answer| answer.decision == "deny"), "{answers:?}");
        assert_eq!(
            answers.each_ref().map(|answer| answer.json["endsRun"].clone()),
            [json!(null), json!(null), ends]
        );
        assert!(answers[2].message.contains("too many classifier denials"), "{}", answers[2].message);
    }
}

#[test]
fn an_allow_ends_the_run_of_denials_but_not_the_total() {
    let scene = Scene::new(JUDGE);
    let mut answers = Vec::new();
    for number in 0..20 {
        answers.push(scene.check(&["--session", "s1"], "git push -f origin topic"));
        if number % 2 == 1 {
            // Once by the model, otherwise by a proof.
            let harmless = if number == 1 { "frobnicate" } else { "ls" };
            assert_eq!(scene.check(&["--session", "s1"], harmless).decision, "allow");
            assert_eq!(scene.session()["denials"]["in_a_row"], 0);
        }
    }
    let asked: Vec<usize> = (0..20).filter(|index| answers[*index].decision != "deny").collect();
    assert_eq!(asked, [19], "the twentieth reaches the total");
    assert!(answers[19].message.contains("20 actions of this session"), "{}", answers[19].message);
    assert_eq!(scene.session()["denials"]["in_total"], 0, "the total begins anew");
}

#[test]
fn what_nothing_clears_stays_denied_at_the_limit() {
    let scene = Scene::new(JUDGE);
    for _ in 0..5 {
        let denied = scene.check(&["--session", "s1"], HARD);
        assert_eq!((denied.decision.as_str(), denied.kind.as_str()), ("deny", "finding"));
        assert_eq!(denied.json["denial"], Value::Null, "nobody can lift it");
    }
    assert_eq!(scene.session()["denials"]["in_a_row"], 5);
    let ended = scene.check(&["--session", "s1", "--headless"], HARD);
    assert_eq!((ended.decision.as_str(), &ended.json["endsRun"]), ("deny", &json!(true)));
}

#[test]
fn a_judge_that_failed_has_not_denied() {
    let scene = Scene::new(r#"[{"status": 401}]"#);
    for _ in 0..4 {
        assert_eq!(scene.check(&["--session", "s1"], "frobnicate").decision, "deny");
    }
    assert!(!scene.session_file().exists());
}

/// Puts something in the way of the state.
type Spoil = fn(&Scene);

#[test]
fn a_state_that_cannot_be_kept_never_turns_a_denial() {
    let ways: [(&str, Spoil); 3] = [
        ("a broken session", |scene| {
            scene.sandbox.write_home(".local/state/portcullis/sessions/s1.json", "{\"version\":1,");
        }),
        ("the session of somebody else", |scene| {
            let state = json!({"version": 1, "session": "other", "changed_at_ms": 0, "next": 1, "denied": [],
                "denials": {"in_a_row": 0, "in_total": 0}, "approvals": []});
            scene.sandbox.write_home(".local/state/portcullis/sessions/s1.json", &state.to_string());
        }),
        ("a directory in place of the session", |scene| {
            fs::create_dir_all(scene.session_file()).unwrap();
        }),
    ];
    for (name, spoil) in ways {
        let scene = Scene::new(JUDGE);
        spoil(&scene);
        let nowhere = scene.sandbox.home.join("missing.jsonl");
        for command in [SOFT, "frobnicate blockme", HARD, SOFT, SOFT] {
            let answer = scene.hook(&scene.call(&nowhere, command));
            assert_eq!(answer.decision, "deny", "{name}: {command}");
            assert!(answer.json["systemMessage"].is_string(), "{name}: {command}");
        }
        let checked = scene.check(&["--session", "s1"], "frobnicate blockme");
        assert_eq!(checked.decision, "deny", "{name}");
        assert!(checked.stderr.contains("note: "), "{name}: {}", checked.stderr);
        assert_eq!(scene.check(&["--session", "s1"], "frobnicate").decision, "allow", "{name}");
    }
}

/// Starts a hook for each number at once, all of one session and all stopped by a finding.
fn start_hooks(scene: &Scene, count: usize) -> Vec<Child> {
    let nowhere = scene.sandbox.home.join("missing.jsonl");
    let start = |number: usize| {
        let call = scene.call(&nowhere, &format!("git push -f origin branch-{number}"));
        let input = scene.sandbox.write_home(&format!("inputs/{number}.json"), &call.to_string());
        scene.command(&["hook", "claude"]).stdin(File::open(input).unwrap()).spawn().unwrap()
    };
    (1..=count).map(start).collect()
}

/// Returns the numbers of the denials in a session's file, and those of the branches that were denied.
fn denied(scene: &Scene) -> (Vec<usize>, Vec<usize>) {
    let session = scene.session();
    let denied = session["denied"].as_array().unwrap();
    let number = |text: &str, before: char| -> usize { text.rsplit_once(before).unwrap().1.parse().unwrap() };
    let ids = denied.iter().map(|call| number(call["id"].as_str().unwrap(), '-')).collect();
    let mut branches: Vec<usize> =
        denied.iter().map(|call| number(call["summary"].as_str().unwrap(), '-')).collect();
    branches.sort_unstable();
    (ids, branches)
}

#[test]
fn who_is_asked_at_the_limit_reads_what_was_found_once() {
    let scene = Scene::new(JUDGE);
    let answers =
        start_hooks(&scene, 3).into_iter().map(|hook| ran(&hook.wait_with_output().unwrap()).stdout);
    let asked: Vec<String> = answers.filter(|answer| answer.contains("a person must look")).collect();
    let [asked] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!(asked.matches("PC007").count(), 1, "{asked}");
    assert!(!asked.contains("the last"), "{asked}");
}

#[test]
fn fifty_hooks_at_once_are_all_counted() {
    let scene = Scene::new(JUDGE);
    let hooks = start_hooks(&scene, 50);
    let answers = hooks.into_iter().map(|hook| hooked(&ran(&hook.wait_with_output().unwrap())).decision);
    let answers: Vec<String> = answers.collect();
    let all: Vec<usize> = (1..=50).collect();
    assert_eq!(denied(&scene), (all.clone(), all));
    assert_eq!(scene.session()["denials"], json!({"in_a_row": 50, "in_total": 10}));
    assert_eq!(scene.session()["next"], 51);
    let count = |decision: &str| answers.iter().filter(|answer| *answer == decision).count();
    assert_eq!((count("deny"), count("ask")), (2, 48));
}

#[test]
fn a_hook_that_is_killed_loses_at_most_its_own_denial() {
    let scene = Scene::new(JUDGE);
    let mut hooks = start_hooks(&scene, 50);
    // The youngest first: those are still at work.
    for victim in hooks.iter_mut().rev().step_by(4) {
        victim.kill().unwrap();
    }
    let outputs = hooks.into_iter().map(|hook| hook.wait_with_output().unwrap());
    let survivors: Vec<usize> = (1..)
        .zip(outputs)
        .filter(|(_, output)| {
            let is_alive = output.status.code().is_some();
            assert!(!is_alive || ["deny", "ask"].contains(&hooked(&ran(output)).decision.as_str()));
            is_alive
        })
        .map(|(number, _)| number)
        .collect();
    assert!(survivors.len() >= 37, "{survivors:?}");
    let (ids, branches) = denied(&scene);
    assert_eq!(ids, (1..=branches.len()).collect::<Vec<_>>(), "each number once");
    assert!(branches.windows(2).all(|pair| pair[0] < pair[1]), "each call once: {branches:?}");
    let lost: Vec<&usize> = survivors.iter().filter(|number| !branches.contains(number)).collect();
    assert_eq!(lost, Vec::<&usize>::new());
    assert_eq!(scene.session()["next"], json!(branches.len() + 1));
    assert_eq!(scene.hook(&scene.call(Path::new("/gone"), SOFT)).decision, "ask", "it goes on");
}
