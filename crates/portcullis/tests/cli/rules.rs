//! `portcullis rules`: list, add, remove, test, explain, lint.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::Value;

use super::sandbox::Sandbox;

const RULES: &str = r#"{
  // kept as it is
  "permissions": {
    "allow": ["Bash(git push origin:*)", "Bash(python3:*)"],
    "ask": ["Bash(npm publish:*)"],
    "deny": ["Bash(git push:*)"],
  },
}
"#;

#[test]
fn a_list_names_the_place_of_every_rule_and_what_is_not_used() {
    let sandbox = Sandbox::new();
    sandbox.write_home(".config/portcullis/settings.json", RULES);
    sandbox.write_project(".claude/settings.json", r#"{"permissions":{"allow":["Bash(make:*)"]}}"#);
    let ran = sandbox.run(&["rules", "list"]);
    assert_eq!(ran.code, Some(0));
    let text = sandbox.plain(&ran.stdout);
    for line in [
        "  Bash(git push:*)  user, HOME/.config/portcullis/settings.json:6",
        "  Bash(python3:*)  user, HOME/.config/portcullis/settings.json:4  suspended in auto mode",
        "  Bash(npm publish:*)  user, HOME/.config/portcullis/settings.json:5",
    ] {
        assert!(text.lines().any(|shown| shown == line), "no {line:?} in\n{text}");
    }
    assert!(text.contains("not used: allow rule `Bash(make:*)`"), "{text}");

    let json: Value = serde_json::from_str(&sandbox.run(&["rules", "list", "--json"]).stdout).unwrap();
    assert_eq!(json["rules"].as_array().unwrap().len(), 4);
    assert_eq!(json["ignored"][0]["reason"], "this workspace is not trusted");
    let suspended = json["rules"].as_array().unwrap().iter().filter(|rule| rule["suspended_in_auto"] == true);
    assert_eq!(suspended.map(|rule| rule["text"].as_str().unwrap()).collect::<Vec<_>>(), ["Bash(python3:*)"]);
}

#[test]
fn no_rules_are_said_to_be_none() {
    assert_eq!(Sandbox::new().run(&["rules", "list"]).stdout, "no rules\n");
    assert_eq!(Sandbox::new().run(&["rules", "test", "ls"]).stdout, "no rules\n");
}

#[test]
fn a_rule_is_added_and_removed_where_it_is_asked_for() {
    let sandbox = Sandbox::new();
    let table: &[(&[&str], &str)] = &[
        (&[], "home/.config/portcullis/settings.json"),
        (&["--claude"], "home/.claude/settings.json"),
        (&["--source", "project"], "project/.portcullis/settings.json"),
        (&["--source", "project", "--claude"], "project/.claude/settings.json"),
        (&["--source", "local"], "project/.portcullis/settings.local.json"),
        (&["--source", "local", "--claude"], "project/.claude/settings.local.json"),
    ];
    let root = sandbox.home.parent().unwrap();
    for (target, path) in table {
        let file = root.join(path);
        let run = |verb: &str| {
            let arguments: Vec<&str> =
                ["rules", verb, "deny", "Bash(curl:*)"].iter().chain(*target).copied().collect();
            sandbox.run(&arguments)
        };
        let added = run("add");
        assert_eq!(added.code, Some(0), "{path}: {}", added.stderr);
        assert!(added.stdout.contains(file.to_str().unwrap()), "{path}: {}", added.stdout);
        assert!(
            added.stdout.contains("+      \"Bash(curl:*)\"") || added.stdout.contains("\"Bash(curl:*)\""),
            "{path}"
        );
        assert!(fs::read_to_string(&file).unwrap().contains("Bash(curl:*)"), "{path}");
        assert_eq!(sandbox.run(&["check", "curl x"]).code, Some(2), "{path}");
        assert!(run("add").stdout.contains("the rule is there already"), "{path}");
        assert_eq!(run("remove").code, Some(0), "{path}");
        assert!(!fs::read_to_string(&file).unwrap().contains("curl"), "{path}");
        assert_eq!(run("remove").code, Some(64), "{path}: it is not there any more");
    }
}

#[test]
fn an_edit_leaves_the_rest_of_the_file_as_it_is() {
    let sandbox = Sandbox::new();
    let file = sandbox.write_home(".config/portcullis/settings.json", RULES);
    assert_eq!(sandbox.run(&["rules", "add", "ask", "Bash(docker:*)"]).code, Some(0));
    assert!(fs::read_to_string(&file).unwrap().contains("// kept as it is"));
    assert_eq!(sandbox.run(&["rules", "remove", "ask", "Bash(docker:*)"]).code, Some(0));
    assert_eq!(fs::read_to_string(&file).unwrap(), RULES);
}

#[test]
fn a_rule_that_cannot_work_is_never_written() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["rules", "add", "allow", "Bash(ls)", "Bash(ls"]);
    assert_eq!(ran.code, Some(64));
    assert!(ran.stderr.contains("`Bash(ls`"), "{}", ran.stderr);
    assert!(
        !sandbox.home.join(".config/portcullis/settings.json").exists(),
        "the good rule was written before the bad"
    );
}

#[test]
fn a_test_says_which_rules_match_and_why_the_others_do_not() {
    let sandbox = Sandbox::new();
    sandbox.write_home(".config/portcullis/settings.json", RULES);
    let ran = sandbox.run(&["rules", "test", "--json", "git -C . push origin main"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let matches = |text: &str| {
        let rules = json["rules"].as_array().unwrap();
        let rule = rules.iter().find(|rule| rule["text"] == text).unwrap();
        assert!(!rule["detail"].as_str().unwrap().is_empty(), "{text}");
        rule["matches"].as_bool().unwrap()
    };
    assert!(matches("Bash(git push:*)"));
    assert!(!matches("Bash(npm publish:*)"));
    assert!(!matches("Bash(python3:*)"));

    let ran = sandbox.run(&[
        "rules",
        "test",
        "--as",
        "deny",
        "Bash(git push:*)",
        "Bash(rm:*)",
        "--",
        "git",
        "push",
    ]);
    let text = &ran.stdout;
    assert!(text.starts_with("match  Bash(git push:*)"), "{text}");
    assert!(text.contains("\nno     Bash(rm:*)"), "{text}");
    assert!(!text.contains("npm publish"), "only the rules that were given are tried\n{text}");
}

#[test]
fn an_explanation_tells_shape_meaning_and_examples() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["rules", "explain", "Bash(npm run:*)"]);
    assert_eq!(ran.code, Some(0));
    for part in ["command prefix", "  matches\n    npm run\n", "  does not match\n    npm runx\n"] {
        assert!(ran.stdout.contains(part), "no {part:?} in\n{}", ran.stdout);
    }
    let ran = sandbox.run(&["rules", "explain", "--json", "--as", "deny", "Task(helper)"]);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["canonical"], "Agent(helper)");
    assert_eq!(json["behavior"], "deny");
}

#[test]
fn a_rule_that_only_restrains_is_said_to_need_another_reading() {
    let ran = Sandbox::new().run(&["rules", "explain", "Bash(run_in_background:true)"]);
    assert_eq!(ran.code, Some(64));
    assert!(ran.stderr.ends_with("hint: read it as a deny or ask rule: add `--as deny`\n"), "{}", ran.stderr);
}

#[test]
fn lint_finds_shadowed_and_dangerous_rules_with_fixes() {
    let sandbox = Sandbox::new();
    sandbox.write_home(".config/portcullis/settings.json", RULES);
    let ran = sandbox.run(&["rules", "lint"]);
    assert_eq!(ran.code, Some(1));
    for part in ["deny-shadowed", "Bash(git push origin:*)", "dangerous", "Bash(python3:*)", "fix:"] {
        assert!(ran.stdout.contains(part), "no {part:?} in\n{}", ran.stdout);
    }
    let json: Value = serde_json::from_str(&sandbox.run(&["rules", "lint", "--json"]).stdout).unwrap();
    let shadowed =
        json["lints"].as_array().unwrap().iter().find(|lint| lint["kind"] == "deny-shadowed").unwrap();
    assert_eq!(shadowed["rule"]["line"], 4);
    assert_eq!(shadowed["other"]["line"], 6);

    let clean = Sandbox::with_user_settings(r#"{"permissions":{"allow":["Bash(cargo test:*)"]}}"#);
    let ran = clean.run(&["rules", "lint"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "nothing found\n"));
}

#[test]
fn a_broken_settings_file_is_never_written_to() {
    let sandbox = Sandbox::new();
    let file = sandbox.write_home(".config/portcullis/settings.json", "{ \"permissions\": ");
    let ran = sandbox.run(&["rules", "add", "allow", "Bash(ls)"]);
    assert_eq!(ran.code, Some(64));
    assert_eq!(fs::read_to_string(file).unwrap(), "{ \"permissions\": ");
}
