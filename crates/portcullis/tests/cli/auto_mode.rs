//! `portcullis auto-mode`: what the classifier is told, whom it asks, whether that works, and taking it back.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use portcullis_testkit::RequestedForm;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sandbox::{Ran, Sandbox, ran};
use super::scene::{JUDGE, KEY, Scene};

const LISTS: [&str; 4] = ["environment", "hard_deny", "soft_deny", "allow"];

fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"))
}

fn list<'a>(lists: &'a Value, name: &str) -> Vec<&'a str> {
    lists[name].as_array().unwrap().iter().map(|entry| entry.as_str().unwrap()).collect()
}

/// A scene with rules of the user's own.
fn with_rules(script: &str, rules: &Value) -> Scene {
    let scene = Scene::new(script);
    let classifier =
        json!({"provider": "anthropic", "baseUrl": scene.server.url(), "model": "claude-haiku-5-5"});
    scene.set(&json!({"classifier": classifier, "autoMode": rules}));
    scene
}

#[test]
fn every_command_has_a_help_with_examples_and_exit_codes() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["auto-mode", "--help"]);
    assert_eq!(ran.code, Some(0));
    for command in ["defaults", "config", "prompt", "critique", "test", "reset"] {
        assert!(ran.stdout.contains(&format!("\n  {command} ")), "{command} in\n{}", ran.stdout);
        let help = sandbox.run(&["auto-mode", command, "--help"]);
        assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""), "{command}");
        let example = format!("Examples:\n  portcullis auto-mode {command}");
        assert!(help.stdout.contains(&example) && help.stdout.contains("Exit codes: 0 "), "{}", help.stdout);
    }
    for wrong in [["auto-mode"].as_slice(), &["auto-mode", "nonsense"], &["auto-mode", "defaults", "x"]] {
        assert_eq!(sandbox.run(wrong).code, Some(64), "{wrong:?}");
    }
}

#[test]
fn defaults_are_the_four_lists_whatever_settings_say() {
    let plain = Sandbox::new().run(&["auto-mode", "defaults"]);
    assert_eq!((plain.code, plain.stderr.as_str()), (Some(0), ""));
    let lists = parsed(&plain);
    let keys: Vec<&String> = lists.as_object().unwrap().keys().collect();
    assert_eq!(keys, LISTS);
    assert!(LISTS.iter().all(|name| !list(&lists, name).is_empty()), "{lists}");
    let scene = with_rules(JUDGE, &json!({"allow": ["Widgets: may be turned"]}));
    assert_eq!(scene.run(&["auto-mode", "defaults"]).stdout, plain.stdout);
}

#[test]
fn a_label_narrows_the_defaults_in_any_case() {
    let sandbox = Sandbox::new();
    let some = parsed(&sandbox.run(&["auto-mode", "defaults", "--label", "remote"]));
    let found: Vec<&str> = LISTS.iter().flat_map(|name| list(&some, name)).collect();
    assert!(found.len() > 1 && found.iter().all(|entry| entry.starts_with("Remote")), "{found:?}");
    let all = parsed(&sandbox.run(&["auto-mode", "defaults"]));
    let expected = LISTS.iter().flat_map(|name| list(&all, name)).filter(|entry| entry.starts_with("Remote"));
    assert_eq!(found, expected.collect::<Vec<_>>());
    let none = parsed(&sandbox.run(&["auto-mode", "defaults", "--label", "no such label"]));
    assert!(LISTS.iter().all(|name| list(&none, name).is_empty()), "{none}");
}

#[test]
fn the_configuration_shows_rules_and_model_and_no_key() {
    let scene = with_rules(
        JUDGE,
        &json!({"allow": ["Widgets: may be turned"], "environment": ["$defaults", "Host: a laptop"]}),
    );
    let ran = scene.run(&["auto-mode", "config"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let config = parsed(&ran);
    assert_eq!(list(&config["autoMode"], "allow"), ["Widgets: may be turned"]);
    let defaults = parsed(&scene.run(&["auto-mode", "defaults"]));
    let mut environment = list(&defaults, "environment");
    environment.push("Host: a laptop");
    assert_eq!(list(&config["autoMode"], "environment"), environment);
    assert_eq!(config["autoMode"]["hard_deny"], defaults["hard_deny"]);
    let endpoint = &config["classifier"]["endpoints"][0];
    assert_eq!(
        (&endpoint["provider"], &endpoint["model"]),
        (&json!("anthropic"), &json!("claude-haiku-5-5"))
    );
    assert_eq!(endpoint["baseUrl"], json!(scene.server.url()));
    assert_eq!(config["problems"], json!([]));
    assert_eq!(scene.server.requests().len(), 0, "nothing is sent");
}

#[test]
fn the_configuration_tells_where_the_key_comes_from_and_whether_it_is_there() {
    let key = |scene: &Scene, value: Option<&str>| {
        let mut command = scene.sandbox.command(&["auto-mode", "config"]);
        let ran = ran(&command.envs(value.map(|value| ("ANTHROPIC_API_KEY", value))).output().unwrap());
        assert!(!ran.stdout.contains(KEY), "{}", ran.stdout);
        parsed(&ran)["classifier"]["endpoints"][0]["key"].clone()
    };
    let scene = Scene::new(JUDGE);
    for (value, is_set) in [(None, false), (Some(""), false), (Some(" \n"), false), (Some(KEY), true)] {
        let expected = json!({"variable": "ANTHROPIC_API_KEY", "isSet": is_set});
        assert_eq!(key(&scene, value), expected, "{value:?}");
    }
    let by_program = Scene::with(JUDGE, &json!({"keyCommand": ["/no/such/program", "show", "the key"]}));
    assert_eq!(key(&by_program, Some(KEY)), json!({"command": "/no/such/program"}));
    let without = Scene::with(JUDGE, &json!({"provider": "chat", "model": "house-model"}));
    assert_eq!(key(&without, Some(KEY)), Value::Null);
}

#[test]
fn the_password_of_a_proxy_is_not_shown() {
    let scene = Scene::with(JUDGE, &json!({"proxy": "http://me:hunter2@proxy.example:3128"}));
    let ran = scene.run(&["auto-mode", "config"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.contains("proxy.example:3128") && !ran.stdout.contains("hunter2"), "{}", ran.stdout);
}

#[test]
fn a_key_that_a_program_prints_is_sent_and_not_shown() {
    let scene = Scene::with(JUDGE, &json!({"keyCommand": ["./print-key"]}));
    let program =
        scene.sandbox.write_home(".config/portcullis/print-key", &format!("#!/bin/sh\necho {KEY}\n"));
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let config = scene.run(&["auto-mode", "config"]);
    assert!(config.code == Some(0) && config.stdout.contains("print-key"), "{config:?}");
    assert_eq!(scene.check(&[], "frobnicate").decision, "allow");
    assert_eq!(scene.server.requests()[0].header("x-api-key"), Some(KEY));
}

#[test]
fn without_a_provider_the_embedded_judge_serves() {
    for ran in [
        Sandbox::new().run(&["auto-mode", "config"]),
        Scene::new(JUDGE).run(&["auto-mode", "config", "--no-classifier"]),
        Scene::with(JUDGE, &json!({"provider": "none"})).run(&["auto-mode", "config"]),
    ] {
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let config = parsed(&ran);
        assert_eq!((&config["classifier"]["endpoints"], &config["problems"]), (&json!([]), &json!([])));
    }
}

#[test]
fn a_classifier_that_cannot_be_used_is_a_finding() {
    for (more, problem) in [
        (json!({"provider": "chat", "model": null}), "classifier.model"),
        (json!({"modelsFile": "/no/such/models.json"}), "/no/such/models.json"),
        (json!({"templates": {"base": "/no/such/base.md"}}), "/no/such/base.md"),
    ] {
        let scene = Scene::with(JUDGE, &more);
        let ran = scene.run(&["auto-mode", "config"]);
        assert_eq!(ran.code, Some(1), "{more}: {ran:?}");
        assert!(parsed(&ran)["problems"].to_string().contains(problem), "{more}: {}", ran.stdout);
        assert_eq!(scene.run(&["auto-mode", "test"]).code, Some(64), "{more}");
        let checked = scene.check(&[], "frobnicate");
        assert_eq!((checked.decision.as_str(), checked.kind.as_str()), ("deny", "unavailable"), "{more}");
        assert_eq!(scene.server.requests().len(), 0, "{more}");
    }
}

#[test]
fn the_prompt_without_a_call_is_what_the_model_is_told_of_itself() {
    let scene = with_rules(JUDGE, &json!({"allow": ["$defaults", "Widgets: may be turned"]}));
    let ran = scene.run(&["auto-mode", "prompt"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.contains("Widgets: may be turned") && ran.stdout.contains("Data Exfiltration"));
    assert_eq!(scene.server.requests().len(), 0, "nothing is sent");
    scene.check(&[], "frobnicate");
    let sent = scene.server.requests()[0].inquiry().unwrap().system;
    assert_eq!(sent.trim_end(), ran.stdout.trim_end(), "it is what is sent");
}

#[test]
fn the_prompt_of_a_call_shows_everything_that_would_be_sent() {
    let scene = Scene::new(JUDGE);
    scene.sandbox.write_project("CLAUDE.md", "Indent with tabs.");
    let arguments =
        ["auto-mode", "prompt", "--deny", "Bash(docker:*)", "--said", "ship the thing", "npm publish"];
    let ran = scene.run(&arguments);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let at = |text: &str| ran.stdout.find(text).unwrap_or_else(|| panic!("{text} in\n{}", ran.stdout));
    assert!(at("── system ──") < at("── session ──") && at("── session ──") < at("── transcript ──"));
    assert!(at("── transcript ──") < at("── action ──") && at("── action ──") < at("── facts ──"));
    assert!(at("Indent with tabs.") > at("── session ──") && at("Bash(docker:*)") > at("── session ──"));
    assert!(at("ship the thing") > at("── transcript ──"));
    assert!(ran.stdout.split("── action ──").nth(1).unwrap().contains("npm publish"));
    assert!(ran.stdout.split("── facts ──").nth(1).unwrap().contains("it publishes to everybody"));
    assert_eq!(scene.server.requests().len(), 0, "nothing is sent");
    let file = scene.sandbox.write_home("session.jsonl", "{\"user\":\"from the session\"}\n");
    let ran = scene.run(&["auto-mode", "prompt", "--transcript", file.to_str().unwrap(), "npm publish"]);
    assert!(ran.stdout.contains("from the session"), "{}", ran.stdout);
    let input =
        ["auto-mode", "prompt", "--tool", "mcp__web__post", "--input", r#"{"url":"https://a.example"}"#];
    assert!(scene.run(&input).stdout.contains("https://a.example"));
}

#[test]
fn the_prompt_of_a_call_is_what_a_recorded_request_holds() {
    for (more, provider_key) in [
        (json!({}), "ANTHROPIC_API_KEY"),
        (json!({"stages": "thinking"}), "ANTHROPIC_API_KEY"),
        (json!({"stages": "fast", "verdict": "severity", "transcript": "text"}), "ANTHROPIC_API_KEY"),
        (json!({"verdict": "tool"}), "ANTHROPIC_API_KEY"),
        (json!({"provider": "openai", "model": "gpt-6-luna", "verdict": "schema"}), "OPENAI_API_KEY"),
    ] {
        let scene = Scene::with(JUDGE, &more);
        let said = ["--said", "turn the widget", "frobnicate blockme"];
        let shown = scene.run(&[&["auto-mode", "prompt"], said.as_slice()].concat());
        assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""), "{more}");
        assert_eq!(scene.server.requests().len(), 0, "nothing is sent");
        let mut command = scene.command(&[&["check", "--mode", "auto"], said.as_slice()].concat());
        assert_eq!(command.env(provider_key, KEY).output().unwrap().status.code(), Some(2), "{more}");
        let requests = scene.server.requests();
        let stages = if more.get("stages").is_some() { 1 } else { 2 };
        assert_eq!(requests.len(), stages, "{more}");
        assert_eq!(shown.stdout.matches("── last words of the ").count(), stages, "{}", shown.stdout);
        for request in requests {
            let inquiry = request.inquiry().unwrap();
            let is_shown = |line: &str| line.is_empty() || shown.stdout.lines().any(|shown| shown == line);
            let missing: Vec<&str> = inquiry
                .system
                .lines()
                .chain(inquiry.messages.iter().flat_map(|message| message.lines()))
                .filter(|line| !is_shown(line))
                .collect();
            assert_eq!(missing, Vec::<&str>::new(), "{more}: sent, but not shown in\n{}", shown.stdout);
            let is_described = matches!(more["verdict"].as_str(), Some("tool" | "schema"));
            assert_eq!(inquiry.form != RequestedForm::Text, is_described, "{more}");
            assert_eq!(shown.stdout.contains("── answer of the "), is_described, "{more}");
            if let RequestedForm::Tool { schema, .. } | RequestedForm::Schema(schema) = &inquiry.form {
                let described = shown.stdout.split("── answer of the ").skip(1).map(|described| {
                    let (_, object) = described.split_once("\n{").unwrap();
                    let (object, _) = object.split_once("\n}").unwrap();
                    serde_json::from_str::<Value>(&format!("{{{object}}}")).unwrap()
                });
                assert!(described.into_iter().any(|described| described == *schema), "{more}");
            }
        }
    }
}

#[test]
fn every_model_that_may_be_asked_has_last_words_of_its_own() {
    let fallback = json!({"provider": "ollama", "model": "house-model"});
    let scene = Scene::with(JUDGE, &json!({"fallback": fallback, "stages": "fast"}));
    let ran = scene.run(&["auto-mode", "prompt", "npm publish"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for model in ["claude-haiku-5-5", "house-model"] {
        let title = format!("── last words of the fast stage ({model}) ──");
        assert!(ran.stdout.contains(&title), "{title} in\n{}", ran.stdout);
    }
}

#[test]
fn the_prompt_of_a_call_needs_no_model() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["auto-mode", "prompt", "--said", "ship the thing", "npm publish"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for part in ["── system ──", "ship the thing", "npm publish", "it publishes to everybody"] {
        assert!(ran.stdout.contains(part), "{part} in\n{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("last words"), "{}", ran.stdout);
    assert!(ran.stderr.contains("note: no model is configured"), "{}", ran.stderr);
    let scene = Scene::new(JUDGE);
    let without = scene.run(&["auto-mode", "prompt", "--no-classifier", "npm publish"]);
    let with = scene.run(&["auto-mode", "prompt", "npm publish"]);
    assert_eq!(without.code, Some(0), "{without:?}");
    assert!(with.stdout.starts_with(&without.stdout) && !without.stdout.is_empty(), "{}", without.stdout);
}

#[test]
fn the_prompt_of_what_cannot_be_read_is_wrong_usage() {
    let scene = Scene::new(JUDGE);
    for arguments in [
        ["--transcript", "/no/such/file.jsonl", "ls"].as_slice(),
        &["--transcript", "/", "ls"],
        &["--input", "not json"],
        &["--tool", "", "ls"],
    ] {
        let ran = scene.run(&[&["auto-mode", "prompt"], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(64), ""), "{arguments:?}");
    }
}

#[test]
fn a_critique_shows_the_model_the_users_rules_and_prints_what_it_says() {
    let scene = with_rules(
        r#"[{"say": "The first rule is vague.\nNot \u001b[2J this\u202e.\n"}]"#,
        &json!({"soft_deny": ["$defaults", "Widgets: never turn them on Fridays"]}),
    );
    let ran = scene.run(&["auto-mode", "critique"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(ran.stdout, "The first rule is vague.\nNot \\u{1b}[2J this\\u{202e}.\n");
    let everything = scene.server.requests()[0].inquiry().unwrap().everything();
    assert!(everything.contains("Widgets: never turn them on Fridays"), "{everything}");
    assert!(!everything.contains(KEY));
}

#[test]
fn a_critique_without_rules_or_model_is_wrong_usage_and_a_failing_model_an_error() {
    let rules = json!({"allow": ["Widgets: may be turned"]});
    let without_rules = Scene::new(JUDGE).run(&["auto-mode", "critique"]);
    let without_model = with_rules(JUDGE, &rules).run(&["auto-mode", "critique", "--no-classifier"]);
    let failing = with_rules(r#"[{"status": 401}]"#, &rules).run(&["auto-mode", "critique"]);
    for (ran, code, message) in [
        (without_rules, 64, "no rules of your own"),
        (without_model, 64, "no model is configured"),
        (failing, 70, "the model could not be asked"),
    ] {
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{ran:?}");
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
}

#[test]
fn a_test_without_a_model_or_a_key_says_so() {
    let ran = Scene::new(JUDGE).sandbox.run(&["auto-mode", "test"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("the variable ANTHROPIC_API_KEY is not set"), "{}", ran.stdout);
    let without_model = Sandbox::new().run(&["auto-mode", "test"]);
    assert_eq!(without_model.code, Some(64));
    assert!(without_model.stderr.contains("no model is configured"), "{}", without_model.stderr);
}

const OURS: &str = r#"{
  // the model that judges
  "explainer": "offline",
  "autoMode": {
    "allow": ["Widgets: may be turned"] // mine
  },
  /* what never runs */
  "permissions": {"deny": ["Bash(git push:*)"]}
}
"#;
const CLAUDES: &str = r#"{
  "model": "opus", // kept
  "autoMode": {"environment": ["Host: a laptop"]}
}
"#;

#[test]
fn a_reset_that_nobody_confirms_changes_nothing() {
    let sandbox = Sandbox::new();
    let files = [
        sandbox.write_home(".config/portcullis/settings.json", OURS),
        sandbox.write_home(".claude/settings.json", CLAUDES),
    ];
    let runs =
        [sandbox.run(&["auto-mode", "reset"]), sandbox.run_with_input(&["auto-mode", "reset"], b"yes\n")];
    for ran in runs {
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(64), ""), "only a terminal can say yes");
        assert!(ran.stderr.contains("nothing was changed") && ran.stderr.contains("--yes"), "{}", ran.stderr);
    }
    assert_eq!(files.map(|file| fs::read_to_string(file).unwrap()), [OURS, CLAUDES]);
}

#[test]
fn a_reset_takes_the_rules_out_of_both_files_and_keeps_the_rest_with_its_comments() {
    let sandbox = Sandbox::new();
    let files = [
        sandbox.write_home(".config/portcullis/settings.json", OURS),
        sandbox.write_home(".claude/settings.json", CLAUDES),
    ];
    let project = sandbox.write_project(".claude/settings.json", CLAUDES);
    let ran = sandbox.run(&["auto-mode", "reset", "--yes"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let said = sandbox.plain(&ran.stdout);
    assert!(
        said.contains("HOME/.config/portcullis/settings.json") && said.contains("HOME/.claude/settings.json"),
        "{said}"
    );
    let [ours, claudes] = files.map(|file| fs::read_to_string(file).unwrap());
    for kept in [
        "// the model that judges",
        "/* what never runs */",
        "\"explainer\": \"offline\"",
        "\"deny\": [\"Bash(git push:*)\"]",
    ] {
        assert!(ours.contains(kept), "{kept} in\n{ours}");
    }
    assert!(claudes.contains("\"model\": \"opus\"") && claudes.contains("// kept"), "{claudes}");
    assert!(!ours.contains("autoMode") && !claudes.contains("autoMode"), "{ours}\n{claudes}");
    assert_eq!(fs::read_to_string(project).unwrap(), CLAUDES, "the project's file is not the user's");
    assert_eq!(sandbox.run(&["check", "git push"]).code, Some(2), "the files can still be read");
    let lists = parsed(&sandbox.run(&["auto-mode", "config"]))["autoMode"].clone();
    assert_eq!(lists, parsed(&sandbox.run(&["auto-mode", "defaults"])));
    let again = sandbox.run(&["auto-mode", "reset", "--yes"]);
    assert_eq!(again.stdout, "nothing to reset: no user settings set `autoMode`\n");
}

#[test]
fn a_reset_of_a_broken_file_changes_neither() {
    let sandbox = Sandbox::new();
    let broken = "{\"autoMode\": {";
    let files = [
        sandbox.write_home(".config/portcullis/settings.json", OURS),
        sandbox.write_home(".claude/settings.json", broken),
    ];
    let ran = sandbox.run(&["auto-mode", "reset", "--yes"]);
    assert!(ran.code != Some(0) && ran.stdout.is_empty(), "{ran:?}");
    assert_eq!(files.map(|file| fs::read_to_string(file).unwrap()), [OURS, broken]);
}
