//! Patches of Codex and opencode, judged by the files they name: those of the project run in auto mode, others do not.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sandbox::Sandbox;

/// What a patch does, a piece a line as `A path`, `U path`, `M path -> path` or `D path`, and whether it may run.
const PATCHES: [(&str, bool); 26] = [
    ("U src/lib.rs", true),
    ("A src/new.rs", true),
    ("A src/deep/er/new.rs", true),
    ("U src/lib.rs\nU src/main.rs", true),
    ("A docs/notes.md\nU src/lib.rs", true),
    ("M src/main.rs -> src/bin.rs", true),
    ("A ./src/here.rs", true),
    ("A tests/a_test.py", true),
    ("U README.md", true),
    ("A a file with spaces.txt", true),
    ("A src/../src/back.rs", true),
    ("A /opt/other/x.rs", false),
    ("U /etc/hosts", false),
    ("A ~/.bashrc", false),
    ("A src/../../../../../../opt/outside.rs", false),
    ("U src/lib.rs\nU /etc/hosts", false),
    ("A .git/hooks/pre-commit", false),
    ("U .git/config", false),
    ("A .claude/settings.json", false),
    ("A .codex/config.toml", false),
    ("A .github/workflows/x.yml", false),
    ("A .vscode/tasks.json", false),
    ("M src/main.rs -> /opt/stolen.rs", false),
    ("M src/main.rs -> .git/hooks/post-commit", false),
    ("D /opt/other/x.rs", false),
    ("D src/unsaved.rs", false),
];

/// Writes a patch as both agents take it.
fn patch(pieces: &str) -> String {
    let piece = |line: &str| match line.split_at(2) {
        ("A ", path) => format!("*** Add File: {path}\n+x\n"),
        ("U ", path) => format!("*** Update File: {path}\n@@\n-x\n+y\n"),
        ("D ", path) => format!("*** Delete File: {path}\n"),
        (_, paths) => {
            let (from, to) = paths.split_once(" -> ").unwrap();
            format!("*** Update File: {from}\n*** Move to: {to}\n@@\n-x\n+y\n")
        }
    };
    let pieces: String = pieces.lines().map(piece).collect();
    format!("*** Begin Patch\n{pieces}*** End Patch")
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_home(".config/portcullis/settings.json", r#"{"permissions":{"defaultMode":"auto"}}"#);
    for file in ["src/lib.rs", "src/main.rs", "src/unsaved.rs", "README.md"] {
        sandbox.write_project(file, "x\n");
    }
    sandbox
}

/// Says whether a hook lets a call run, by everything that it answers.
fn runs(sandbox: &Sandbox, host: &str, input: &Value) -> (bool, String) {
    let ran = sandbox.run_with_input(&["hook", host], input.to_string().as_bytes());
    let said = format!("{}{}", ran.stdout, ran.stderr);
    let is_stopped =
        ["\"deny\"", "\"ask\"", "\"block\"", "\"decision\":\"deny\""].iter().any(|word| said.contains(word));
    (ran.code == Some(0) && !is_stopped, said)
}

#[test]
fn a_patch_is_judged_by_the_files_it_names() {
    let sandbox = sandbox();
    for (pieces, expected) in PATCHES {
        let text = patch(pieces);
        let codex = json!({"hook_event_name": "PreToolUse", "session_id": "c1", "turn_id": "t", "model": "m",
            "cwd": sandbox.project, "permission_mode": "default", "tool_name": "apply_patch",
            "tool_input": {"command": text}, "tool_use_id": "t1"});
        let opencode = json!({"event": "tool.execute.before", "sessionID": "ses_1",
            "directory": sandbox.project, "tool": "apply_patch", "args": {"patchText": text}});
        for (host, input) in [("codex", codex), ("opencode", opencode)] {
            let (is_run, said) = runs(&sandbox, host, &input);
            assert_eq!(is_run, expected, "{host}: {pieces}\n{said}");
        }
    }
}

#[test]
fn what_is_no_patch_is_stopped() {
    let sandbox = sandbox();
    for text in [
        "",
        "*** Begin Patch\n*** End Patch",
        "*** Begin Patch\n*** Update File: src/lib.rs\n",
        "*** Begin Patch\n*** Run: rm -rf ~\n*** End Patch",
        "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1 +1 @@\n-x\n+y\n",
        "*** Begin Patch\n*** Add File: \n+x\n*** End Patch",
        "*** Begin Patch\n*** Update File: src/lib.rs\n*** Move to: \n@@\n-x\n+y\n*** End Patch",
    ] {
        let opencode = json!({"event": "tool.execute.before", "sessionID": "ses_1",
            "directory": sandbox.project, "tool": "apply_patch", "args": {"patchText": text}});
        let (is_run, said) = runs(&sandbox, "opencode", &opencode);
        assert!(!is_run, "{text:?}: {said}");
    }
}

#[test]
fn a_language_server_is_asked_about_the_file_that_its_tool_names() {
    let sandbox = sandbox();
    for (file, expected) in [
        ("src/lib.rs".to_owned(), true),
        (sandbox.project.join("src/lib.rs").display().to_string(), true),
        ("/etc/shadow".to_owned(), false),
        (sandbox.home.join(".ssh/id_ed25519").display().to_string(), false),
    ] {
        let claude = json!({"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": sandbox.project,
            "permission_mode": "default", "tool_name": "LSP", "tool_use_id": "t1",
            "tool_input": {"operation": "goToDefinition", "filePath": file, "line": 3, "character": 7}});
        let (is_run, said) = runs(&sandbox, "claude", &claude);
        assert_eq!(is_run, expected, "{file}: {said}");
    }
}
