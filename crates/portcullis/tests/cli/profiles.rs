//! `portcullis profiles`, and what files of users and projects change.

use pretty_assertions::assert_eq;
use serde_json::Value;

use super::sandbox::Sandbox;

const GUIDE: &str = include_str!("../../../../docs/guides/add-a-program.md");
const USER_FILE: &str = ".config/portcullis/commands/acme-lint.toml";
const PROJECT_FILE: &str = ".portcullis/commands/acme-lint.toml";

/// Returns the profile of the guide.
fn guide_profile() -> &'static str {
    let (_, rest) = GUIDE.split_once("```toml\n").unwrap();
    rest.split_once("```").unwrap().0
}

/// Runs every `portcullis check` of a part of the guide, and compares what comes out with what it says.
fn assert_as_told(sandbox: &Sandbox, part: &str) {
    let mut count = 0;
    for line in part.lines().filter(|line| line.starts_with("portcullis check '")) {
        let (command, decision) = line.split_once('#').unwrap();
        let command = command.trim().strip_prefix("portcullis check '").unwrap().strip_suffix('\'').unwrap();
        let code = if decision.trim() == "allow" { 0 } else { 3 };
        let ran = sandbox.run(&["check", command]);
        assert_eq!(ran.code, Some(code), "{line}\n{}{}", ran.stdout, ran.stderr);
        count += 1;
    }
    assert!(count > 0, "{part}");
}

#[test]
fn the_guide_is_as_it_says() {
    let sandbox = Sandbox::new();
    let (before, after) = GUIDE.split_once("```toml").unwrap();
    assert_as_told(&sandbox, before);
    let file = sandbox.write_home(USER_FILE, guide_profile());
    let checked = sandbox.run(&["profiles", "check", file.to_str().unwrap()]);
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    assert_as_told(&sandbox, after);
    let shown = sandbox.run(&["profiles", "show", "acme-lint"]);
    assert!(shown.stdout.contains("checks the style of code"), "{}", shown.stdout);
    assert!(
        shown.stdout.contains("--plugin: takes a value: makes a program load foreign code"),
        "{}",
        shown.stdout
    );
    let broken = sandbox.write_home(USER_FILE, &guide_profile().replace("=write", "=wrte"));
    let ran = sandbox.run(&["check", "acme-lint src"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stdout);
    let told = GUIDE.split("```text\n").last().unwrap().split_once("```").unwrap().0;
    let told = told.replace("/home/me/.config/portcullis/commands/acme-lint.toml", broken.to_str().unwrap());
    assert!(ran.stderr.contains(told.trim_end()), "{}", ran.stderr);
}

#[test]
fn a_repository_adds_programs_only_once_it_is_trusted() {
    let sandbox = Sandbox::new();
    sandbox.write_project(PROJECT_FILE, guide_profile());
    let untrusted = sandbox.run(&["check", "acme-lint src"]);
    assert_eq!(untrusted.code, Some(3), "{}", untrusted.stdout);
    assert!(untrusted.stderr.contains("this workspace is not trusted"), "{}", untrusted.stderr);
    let trusted = sandbox.run(&["trust", "add"]);
    assert!(trusted.stdout.contains("profiles of programs"), "{}", trusted.stdout);
    assert_eq!(sandbox.run(&["check", "acme-lint src"]).code, Some(0));
    assert_eq!(sandbox.run(&["check", "acme-lint --fix src"]).code, Some(3));
}

#[test]
fn a_trusted_repository_cannot_replace_what_is_built_in() {
    let sandbox = Sandbox::new();
    let profile = guide_profile().replace("acme-lint", "rm").replace("\"--fix !write\",", "\"-r -f\",");
    sandbox.write_project(".portcullis/commands/rm.toml", &profile);
    assert_eq!(sandbox.run(&["trust", "add"]).code, Some(0));
    let ran = sandbox.run(&["check", "rm -rf src"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stdout);
    assert!(ran.stderr.contains("rm.toml:1:10"), "{}", ran.stderr);
    assert!(ran.stderr.contains("which a project cannot replace"), "{}", ran.stderr);
}

#[test]
fn what_is_known_is_listed_with_where_it_comes_from() {
    let sandbox = Sandbox::new();
    sandbox.write_home(USER_FILE, guide_profile());
    let ran = sandbox.run(&["profiles", "list", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(json["built_in"].as_u64().unwrap() > 4000, "{json}");
    assert_eq!(json["added"][0]["name"], "acme-lint");
    assert_eq!(json["added"][0]["source"], "user");
    let text = sandbox.plain(&sandbox.run(&["profiles", "list"]).stdout);
    assert!(text.starts_with("acme-lint  checks the style of code  user, HOME/.config/"), "{text}");

    let json: Value =
        serde_json::from_str(&sandbox.run(&["profiles", "show", "sort", "--json"]).stdout).unwrap();
    assert_eq!((json["source"].as_str(), json["file"].as_str()), (Some("built-in"), None));
    assert!(
        json["form"]["options"].as_array().unwrap().iter().any(|option| option["value"] == "write"),
        "{json}"
    );
    let unknown = sandbox.run(&["profiles", "show", "acme-build"]);
    assert_eq!(unknown.code, Some(64));
    assert!(unknown.stderr.contains("portcullis profiles new acme-build"), "{}", unknown.stderr);

    let files = sandbox.plain(&sandbox.run(&["settings", "where"]).stdout);
    assert!(files.contains("HOME/.config/portcullis/commands/acme-lint.toml  1 programs"), "{files}");
}

#[test]
fn a_file_is_checked_with_its_examples() {
    let sandbox = Sandbox::new();
    let wrong = guide_profile().replace("effects = [\"read src\"]", "effects = []");
    let file = sandbox.write_project("acme.toml", &wrong);
    let ran = sandbox.run(&["profiles", "check", "acme.toml"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("acme.toml:14:11"), "{}", ran.stderr);
    let json = sandbox.run(&["profiles", "check", "--json", file.to_str().unwrap()]);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((json["problems"][0]["line"].as_u64(), json["examples"].as_u64()), (Some(14), Some(3)));
    assert_eq!(sandbox.run(&["profiles", "check", "missing.toml"]).code, Some(64));
}

#[test]
fn a_draft_comes_from_the_manual_page_and_allows_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write_home(
        ".local/share/man/man1/acme-lint.1",
        ".TH ACME-LINT 1\n.SH NAME\nacme-lint \\- checks style\n.SH OPTIONS\n.TP\n.B \\-\\-fix\nchange files\n",
    );
    let ran = sandbox.run(&["profiles", "new", "acme-lint"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("    # change files\n    \"--fix !unknown\",\n"), "{}", ran.stdout);
    assert_eq!(sandbox.run(&["profiles", "new", "acme-lint", "--write"]).code, Some(0));
    assert_eq!(
        sandbox.run(&["profiles", "new", "acme-lint", "--write"]).code,
        Some(64),
        "it is there already"
    );
    let file = sandbox.home.join(USER_FILE);
    assert_eq!(sandbox.run(&["profiles", "check", file.to_str().unwrap()]).code, Some(0));
    assert_eq!(sandbox.run(&["check", "acme-lint src"]).code, Some(3));
    assert_eq!(sandbox.run(&["profiles", "new", "../x"]).code, Some(64));
    let bare = sandbox.run(&["profiles", "new", "no-such-program"]);
    assert!(bare.stdout.contains("There is no manual page"), "{}", bare.stdout);
}
