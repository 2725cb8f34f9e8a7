//! `portcullis eval --with-classifier` with a file to go on from, by category, in pairs, and its report page.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

use portcullis_testkit::{ModelScript, ScriptedServer};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sandbox::{Ran, Sandbox, ran};

const ALLOW: &str = r#"{"default": {"allow": true, "usage": {"input": 1000, "output": 10}}}"#;

/// A scripted model, and ten actions that need one.
struct Scene {
    sandbox: Sandbox,
    server: ScriptedServer,
}

impl Scene {
    fn new(script: &str) -> Self {
        let scene = Self {
            sandbox: Sandbox::new(),
            server: ScriptedServer::start(ModelScript::from_json(script).unwrap()),
        };
        scene.write(&(0..10).map(step).collect::<Vec<_>>());
        scene
    }

    fn write(&self, actions: &[Value]) {
        let text = actions.iter().fold(String::new(), |text, action| text + &action.to_string() + "\n");
        self.sandbox.write_project("actions.jsonl", &text);
    }

    fn command(&self, more: &Value, flags: &[&str]) -> Command {
        let mut classifier =
            json!({"provider": "anthropic", "baseUrl": self.server.url(), "model": "claude-haiku-5-5"});
        for (key, value) in more.as_object().unwrap() {
            classifier[key] = value.clone();
        }
        let settings = json!({"classifier": classifier}).to_string();
        let fixed = ["eval", "actions.jsonl", "--settings", &settings, "--with-classifier", "100"];
        let mut command = self.sandbox.command(&[&fixed, flags].concat());
        command.env("ANTHROPIC_API_KEY", "test");
        command
    }

    fn eval(&self, flags: &[&str]) -> Ran {
        ran(&self.command(&json!({}), flags).output().unwrap())
    }

    /// Evaluates with the file to go on from, and returns the figures of the model.
    fn resume(&self, more: &Value) -> Value {
        let ran = ran(&self.command(more, &["--resume", "run.jsonl", "--json"]).output().unwrap());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["model"].clone()
    }

    /// Returns the keys of what was kept, and checks that each stands there once.
    fn kept(&self) -> BTreeSet<String> {
        let text = fs::read_to_string(self.sandbox.project.join("run.jsonl")).unwrap_or_default();
        let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let keys: BTreeSet<String> =
            lines.iter().map(|line| line["key"].as_str().unwrap().to_owned()).collect();
        assert_eq!(keys.len(), lines.len(), "an action was judged twice:\n{text}");
        keys
    }

    fn asked(&self) -> usize {
        self.server.requests().len()
    }
}

fn step(number: usize) -> Value {
    let (label, category) = if number.is_multiple_of(2) { ("block", "loss") } else { ("allow", "none") };
    json!({
        "id": format!("s{number}"), "tool": "Bash", "input": {"command": format!("frobnicate --step {number}")},
        "label": label, "category": category,
    })
}

#[test]
fn a_run_that_is_killed_goes_on_and_judges_nothing_twice() {
    let scene = Scene::new(
        r#"{"default": {"allow": true, "delay_ms": 150, "usage": {"input": 1000, "output": 10}}}"#,
    );
    let mut child = scene.command(&json!({}), &["--resume", "run.jsonl", "--json"]).spawn().unwrap();
    while scene.kept().len() < 3 {
        thread::sleep(Duration::from_millis(5));
        assert_eq!(child.try_wait().unwrap(), None, "it ended before it could be killed");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let (before, asked) = (scene.kept(), scene.asked());
    assert!((3..10).contains(&before.len()), "{before:?}");
    let model = scene.resume(&json!({}));
    assert_eq!((&model["asked"], &model["recalled"]), (&json!(10), &json!(before.len())));
    assert_eq!(scene.asked() - asked, 10 - before.len(), "what was kept was asked about again");
    assert!(scene.kept().is_superset(&before) && scene.kept().len() == 10);
    // All of it is known now.
    let asked = scene.asked();
    assert_eq!(scene.resume(&json!({}))["recalled"], 10);
    assert_eq!(scene.asked(), asked);
}

#[test]
fn a_run_that_an_outage_ends_goes_on_when_it_is_over() {
    let outage = json!({"status": 500, "headers": {"x-should-retry": "false"}});
    let mut steps = vec![json!({"allow": true}); 3];
    steps.extend(vec![outage; 5]);
    let scene = Scene::new(&json!({"steps": steps, "default": {"allow": true}}).to_string());
    let ended = scene.eval(&["--resume", "run.jsonl"]);
    assert_eq!((ended.code, scene.kept().len()), (Some(70), 3), "{}", ended.stderr);
    assert!(ended.stderr.contains("run the same command again to go on"), "{}", ended.stderr);
    let model = scene.resume(&json!({}));
    assert_eq!((&model["asked"], &model["recalled"], &model["failed"]), (&json!(10), &json!(3), &json!(0)));
    assert_eq!(scene.asked(), 3 + 5 + 7);
}

#[test]
fn what_was_kept_counts_for_the_same_model_prompt_settings_and_line_alone() {
    let scene = Scene::new(ALLOW);
    scene.resume(&json!({}));
    for (more, what) in [
        (json!({"model": "claude-sonnet-5"}), "model"),
        (json!({"verdict": "severity"}), "form"),
        (json!({"stages": "thinking"}), "stages"),
        (json!({"transcript": "text"}), "prompt"),
        (json!({"onFailure": "ask"}), "what a failure means"),
    ] {
        let asked = scene.asked();
        let model = scene.resume(&more);
        assert_eq!(model["recalled"], 0, "another {what}");
        assert!(scene.asked() >= asked + 10, "another {what}");
    }
    let mut actions: Vec<Value> = (0..10).map(step).collect();
    actions[4]["said"] = json!(["frobnicate the fourth"]);
    scene.write(&actions);
    let asked = scene.asked();
    assert_eq!((scene.resume(&json!({}))["recalled"].clone(), scene.asked() - asked), (json!(9), 1));
}

#[test]
fn half_a_line_is_judged_again_and_a_file_of_something_else_is_refused() {
    let scene = Scene::new(ALLOW);
    scene.resume(&json!({}));
    let file = scene.sandbox.project.join("run.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.get(..text.len() - 20).unwrap()).unwrap();
    let asked = scene.asked();
    assert_eq!(scene.resume(&json!({}))["recalled"], 9);
    assert_eq!((scene.asked() - asked, scene.kept().len()), (1, 10));
    fs::write(&file, "# Notes\n\nnot a run\n").unwrap();
    let refused = scene.eval(&["--resume", "run.jsonl"]);
    assert_eq!(refused.code, Some(64), "{}", refused.stderr);
    assert!(refused.stderr.contains("`run.jsonl` is no file of an earlier run"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(&file).unwrap(), "# Notes\n\nnot a run\n");
}

#[test]
fn the_cost_is_said_before_and_after() {
    let scene = Scene::new(ALLOW);
    let ran = scene.eval(&["--resume", "run.jsonl"]);
    assert!(
        ran.stderr.contains("asking the model about 10 actions: at most 20 requests of about "),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("tokens each, at most $"), "{ran:?}");
    assert!(ran.stdout.contains("  cost: sample $"), "{}", ran.stdout);
    let again = scene.eval(&["--resume", "run.jsonl"]);
    let line = "  10 of them by an earlier run, 0 by this one; cost of this one: $0.000000\n";
    assert!(again.stdout.contains(line), "{}", again.stdout);
    let unknown = ran_text(&mut scene.command(&json!({"model": "made-up-model"}), &[]));
    assert!(unknown.stderr.contains("what that costs is not known"), "{unknown:?}");
}

fn ran_text(command: &mut Command) -> Ran {
    ran(&command.output().unwrap())
}

#[test]
fn the_model_is_measured_by_category_and_in_pairs_and_a_page_says_so() {
    let block = |when: &str| json!({"when": {"text": when}, "answer": {"block": true}});
    let rules = ["--step 0", "publish, not yet", "--both"].map(block);
    let scene = Scene::new(&json!({"rules": rules, "default": {"allow": true}}).to_string());
    let pair = |id: &str, label: &str, command: &str, said: &str| {
        json!({"id": id, "tool": "Bash", "input": {"command": command}, "label": label,
            "category": "context|<b>", "said": [said]})
    };
    let mut actions: Vec<Value> = (0..4).map(step).collect();
    actions.extend([
        pair("p1", "block", "frobnicate --publish", "do not publish, not yet"),
        pair("p2", "allow", "frobnicate --publish", "publish it now"),
        pair("q1", "block", "frobnicate --both", "look at it"),
        pair("q2", "allow", "frobnicate --both", "yes, do it"),
    ]);
    scene.write(&actions);
    let ran = scene.eval(&["--json", "--report", "run.md"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let model = serde_json::from_str::<Value>(&ran.stdout).unwrap()["model"].clone();
    let counts =
        |allowed: usize, blocked: usize| json!({"allowed": allowed, "blocked": blocked, "nothing": 0});
    assert_eq!(
        model["byCategory"],
        json!({
            "context|<b>": {"block": counts(0, 2), "allow": counts(1, 1)},
            "loss": {"block": counts(1, 1)},
            "none": {"allow": counts(2, 0)},
        })
    );
    assert_eq!((&model["pairs"]["calls"], &model["pairs"]["toldApart"]), (&json!(2), &json!(1)));
    let text = scene.eval(&[]).stdout;
    assert!(text.contains("told apart: 1 of 2 (50.0%)"), "{text}");
    assert!(text.contains("what the model said, by category"), "{text}");
    let page = fs::read_to_string(scene.sandbox.project.join("run.md")).unwrap();
    for part in [
        "# Evaluation\n",
        "## The model\n",
        "| asked about | 8 |\n",
        "## What the model said, by category\n",
        "| loss | block | 1 | 1 | 0 | 50.0% |\n",
        "| context&#124;&#60;b&#62; | allow | 1 | 1 | 0 | 50.0% |\n",
        "Told apart: 1 of 2 (50.0%).\n",
        "## Labelled block, but allowed: 1\n",
        "## Labelled allow, but denied: 1\n",
    ] {
        assert!(page.contains(part), "no {part:?} in\n{page}");
    }
    let rows = page.lines().filter(|line| line.starts_with('|'));
    assert!(rows.into_iter().all(|row| row.ends_with('|')), "{page}");
}
