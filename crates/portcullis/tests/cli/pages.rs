//! Help, version, modes, manual pages, completions and the settings schema.
//!
//! `UPDATE_GOLDEN=1 cargo test -p portcullis` writes the help snapshot anew; read its diff before committing.

use std::fmt::Write as _;
use std::path::Path;

use pretty_assertions::assert_eq;
use serde_json::Value;

use super::sandbox::Sandbox;

const COMMANDS: &[&[&str]] = &[
    &[],
    &["check"],
    &["eval"],
    &["explain"],
    &["rules"],
    &["rules", "list"],
    &["rules", "add"],
    &["rules", "remove"],
    &["rules", "test"],
    &["rules", "explain"],
    &["rules", "lint"],
    &["modes"],
    &["trust"],
    &["trust", "add"],
    &["trust", "remove"],
    &["trust", "list"],
    &["settings"],
    &["settings", "show"],
    &["settings", "where"],
    &["schema"],
    &["hook"],
    &["init"],
    &["uninstall"],
    &["doctor"],
    &["log"],
    &["log", "show"],
    &["log", "verify"],
    &["log", "head"],
    &["log", "prune"],
    &["stats"],
    &["questions"],
    &["questions", "list"],
    &["questions", "show"],
    &["questions", "watch"],
    &["allow"],
    &["deny"],
    &["grants"],
    &["replay"],
    &["serve"],
    &["tokens"],
    &["tokens", "create"],
    &["tokens", "list"],
    &["tokens", "revoke"],
    &["tokens", "renew"],
    &["tokens", "link"],
    &["tokens", "forget-passkeys"],
    &["store"],
    &["store", "status"],
    &["store", "migrate"],
    &["policy"],
    &["policy", "keygen"],
    &["policy", "publish"],
    &["policy", "list"],
    &["policy", "show"],
    &["policy", "verify"],
    &["policy", "rollback"],
    &["policy", "pull"],
    &["mcp"],
    &["mcp-proxy"],
    &["completions"],
    &["man"],
];

#[test]
fn help_is_as_committed() {
    let sandbox = Sandbox::new();
    let mut all = String::new();
    for command in COMMANDS {
        let arguments: Vec<&str> = command.iter().copied().chain(["--help"]).collect();
        let ran = sandbox.run(&arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{command:?}");
        let _ = writeln!(all, "$ portcullis {}\n{}", arguments.join(" "), ran.stdout);
    }
    let snapshot = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/help.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&snapshot, &all).unwrap();
    }
    assert_eq!(all, std::fs::read_to_string(snapshot).unwrap());
}

#[test]
fn the_version_is_printed() {
    let ran = Sandbox::new().run(&["--version"]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.stdout, format!("portcullis {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn every_mode_is_listed() {
    let sandbox = Sandbox::new();
    let text = sandbox.run(&["modes"]).stdout;
    let json: Value = serde_json::from_str(&sandbox.run(&["modes", "--json"]).stdout).unwrap();
    let names = ["default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions"];
    for (index, name) in names.iter().enumerate() {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}");
        assert_eq!(json[index]["name"], *name);
    }
    assert!(text.contains("(also manual)"));
}

#[test]
fn completions_are_made_for_every_shell() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = sandbox.run(&["completions", shell]);
        assert_eq!(ran.code, Some(0), "{shell}");
        assert!(ran.stdout.contains("--headless") || ran.stdout.contains("-l headless"), "{shell}");
        let knows_values = matches!(shell, "bash" | "fish" | "zsh");
        assert_eq!(ran.stdout.contains("acceptEdits"), knows_values, "{shell}");
    }
}

#[test]
fn manual_pages_are_printed_or_written() {
    let sandbox = Sandbox::new();
    assert!(sandbox.run(&["man"]).stdout.contains(".TH portcullis 1"));
    let directory = sandbox.project.join("share/man");
    assert_eq!(sandbox.run(&["man", "--dir", "share/man"]).code, Some(0));
    for page in ["portcullis.1", "portcullis-check.1", "portcullis-rules-add.1"] {
        assert!(directory.join(page).is_file(), "{page}");
    }
    let ran = sandbox.run(&["man", "--dir", "share/man/portcullis.1"]);
    assert_eq!(ran.code, Some(70));
    assert!(ran.stderr.contains("`share/man/portcullis.1`"), "{}", ran.stderr);
}

#[test]
fn the_schema_describes_permissions() {
    let schema: Value = serde_json::from_str(&Sandbox::new().run(&["schema", "settings"]).stdout).unwrap();
    assert!(schema["properties"]["permissions"]["properties"]["allow"].is_object(), "{schema}");
}
