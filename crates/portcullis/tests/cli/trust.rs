//! `portcullis trust`: which workspaces' own allow rules count.

use pretty_assertions::assert_eq;
use serde_json::Value;

use super::sandbox::Sandbox;

#[test]
fn trust_is_given_listed_and_taken_away() {
    let sandbox = Sandbox::new();
    let project = sandbox.project.to_str().unwrap();
    let listed =
        || -> Value { serde_json::from_str(&sandbox.run(&["trust", "list", "--json"]).stdout).unwrap() };
    assert_eq!(listed()["trusted"], serde_json::json!([]));
    assert_eq!(listed()["is_trusted"], false);

    let ran = sandbox.run(&["trust", "add"]);
    assert_eq!((ran.code, ran.stdout), (Some(0), format!("{project} is trusted now\n")));
    assert_eq!(sandbox.run(&["trust", "add", "."]).stdout, format!("{project} was trusted already\n"));
    assert_eq!(listed()["trusted"], serde_json::json!([project]));
    assert_eq!(listed()["by"], "portcullis");

    let ran = sandbox.run(&["trust", "remove"]);
    assert_eq!((ran.code, ran.stdout), (Some(0), format!("{project} is no longer trusted\n")));
    assert_eq!(sandbox.run(&["trust", "remove"]).stdout, format!("{project} is not trusted\n"));
    assert_eq!(listed()["trusted"], serde_json::json!([]));
}

#[test]
fn a_check_says_that_trust_is_what_an_allow_rule_lacks() {
    let sandbox = Sandbox::new();
    sandbox.write_project(".claude/settings.json", r#"{"permissions":{"allow":["Bash(npm test)"]}}"#);
    let ran = sandbox.run(&["check", "npm test"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            Some(3),
            "note: settings not used: 1, because this workspace is not trusted; see `portcullis settings show`\n\n"
        )
    );
    sandbox.run(&["trust", "add"]);
    let ran = sandbox.run(&["check", "npm test"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_directory_inside_a_repository_stands_for_the_repository() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.project.join(".git")).unwrap();
    let ran = sandbox.run(&["trust", "add", "src"]);
    assert_eq!(ran.stdout, format!("{} is trusted now\n", sandbox.project.display()));
}

#[test]
fn trust_in_a_directory_that_is_gone_can_be_taken_away() {
    let sandbox = Sandbox::new();
    let gone = sandbox.project.join("gone");
    for named in ["gone", "src/../gone/", gone.to_str().unwrap()] {
        std::fs::create_dir(&gone).unwrap();
        assert_eq!(sandbox.run(&["trust", "add", "gone"]).code, Some(0));
        std::fs::remove_dir(&gone).unwrap();
        let ran = sandbox.run(&["trust", "remove", named]);
        assert_eq!(ran.stdout, format!("{} is no longer trusted\n", gone.display()), "{named}");
    }
}

#[test]
fn a_home_directory_is_never_trusted() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["trust", "add", sandbox.home.to_str().unwrap()]);
    assert_eq!(ran.code, Some(64));
    assert!(ran.stderr.contains("hint: "), "{}", ran.stderr);
    assert_eq!(sandbox.run(&["trust", "add", "no/such/directory"]).code, Some(64));
}

#[test]
fn whoever_trusts_is_told_what_counts_from_now_on() {
    let sandbox = Sandbox::new();
    sandbox.write_project(
        ".claude/settings.json",
        r#"{"permissions":{"allow":["Bash(make:*)"],"deny":["Bash(curl:*)"],"additionalDirectories":["/srv"]}}"#,
    );
    let expected = "PROJECT is trusted now
so these of its settings count:
  allow rule `Bash(make:*)` (PROJECT/.claude/settings.json:1)
  `permissions.additionalDirectories`: `/srv` (PROJECT/.claude/settings.json:1)
";
    assert_eq!(sandbox.plain(&sandbox.run(&["trust", "add"]).stdout), expected);
}
