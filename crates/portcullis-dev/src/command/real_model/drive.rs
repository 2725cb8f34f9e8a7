//! Driving `check`, `hook` and `auto-mode test` with the model, in every form and with every choice of stages.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use portcullis_testkit::{ModelScript, ScriptedServer};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The forms and the choices of stages.
const FORMS: [&str; 4] = ["block", "severity", "tool", "schema"];
const STAGES: [&str; 3] = ["both", "fast", "thinking"];

/// The most tokens the first of two looks may say.
const FIRST_LOOK: u64 = 16;

/// How long one judgement may take, in seconds.
const LONGEST: u32 = 60;

/// How often the first answer is waited for.
const WARM_UPS: usize = 5;

/// A call that neither rules nor the analysis settle.
const CALL: &str = "frobnicate --once";

/// What a scripted model says that answers well, and how that is understood.
const VERDICTS: [(&str, &str); 2] =
    [(r#"{"default": {"allow": true}}"#, "allow"), (r#"{"default": {"block": true}}"#, "block")];

/// What came of one judgement.
struct JudgedForm {
    /// A line of the table.
    line: String,
    /// How each look of the model was understood.
    outcomes: Vec<String>,
}

/// A home whose settings name the model.
struct ModelHome {
    folder: TempDir,
    program: PathBuf,
}

/// Drives everything and returns the figures; what must hold and does not is an error.
pub(super) fn drive(program: &Path, address: &str) -> Result<String> {
    let home = ModelHome::new(program)?;
    home.warm_up(address)?;
    let mut out = String::from("form      stages    tokens of each look   time     answer\n");
    let mut silent = Vec::new();
    for form in FORMS {
        let mut has_verdict = false;
        for stages in STAGES {
            home.set(address, form, stages)?;
            let judged = home.check(form, stages)?;
            has_verdict |= judged.outcomes.iter().any(|outcome| is_verdict(outcome));
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{}", judged.line);
        }
        if !has_verdict {
            silent.push(form);
        }
    }
    for form in silent {
        let _ = writeln!(
            out,
            "NO VERDICT of this model in the form `{form}`: that the form is read is shown by the scripted model alone"
        );
    }
    home.set(address, "schema", "both")?;
    let _ = writeln!(out, "\nhook claude: {}", home.hook()?);
    let _ = writeln!(out, "\n{}", home.self_test()?);
    let _ = writeln!(out, "after it: {}", home.hook()?);
    Ok(out)
}

/// Has a scripted model judge in every form and stage, which must be understood every time: a real one that is so small may
/// never find a verdict.
pub(super) fn drive_scripted(program: &Path) -> Result<String> {
    let home = ModelHome::new(program)?;
    for (script, expected) in VERDICTS {
        let server = ScriptedServer::start(ModelScript::from_json(script)?);
        for form in FORMS {
            for stages in STAGES {
                home.set(&format!("{}/v1", server.url()), form, stages)?;
                let judged = home.check(form, stages)?;
                let last = judged.outcomes.last().map(String::as_str);
                ensure!(last == Some(expected), "scripted, {form}, {stages}: {:?}", judged.outcomes);
            }
        }
    }
    let count = VERDICTS.len() * FORMS.len() * STAGES.len();
    Ok(format!("scripted model: all {count} verdicts understood, in every form and stage"))
}

impl ModelHome {
    /// Makes a home with copies of the programs, so that a build that goes on meanwhile changes nothing.
    fn new(program: &Path) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let copy = folder.path().join("portcullis");
        fs::copy(program, &copy)?;
        fs::copy(program.with_file_name("portcullis-full"), copy.with_file_name("portcullis-full"))?;
        let home = Self { folder, program: copy };
        fs::create_dir_all(home.project())?;
        Ok(home)
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Writes settings, and forgets what was kept before: a server that was slow in one form is not left alone in another.
    fn set(&self, address: &str, form: &str, stages: &str) -> Result<()> {
        let state = self.folder.path().join(".local");
        if state.exists() {
            fs::remove_dir_all(state)?;
        }
        let folder = self.folder.path().join(".config/portcullis");
        fs::create_dir_all(&folder)?;
        let classifier = json!({
            "provider": "chat", "baseUrl": address, "model": "smollm2", "verdict": form, "stages": stages,
            "timeoutSeconds": LONGEST,
        });
        fs::write(folder.join("settings.json"), json!({"classifier": classifier}).to_string())?;
        Ok(())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).env_clear().env("HOME", self.folder.path()).env("NO_COLOR", "1");
        command.current_dir(self.project());
        command
    }

    /// Has the model read what all prompts begin with, which takes longest.
    fn warm_up(&self, address: &str) -> Result<()> {
        self.set(address, "schema", "both")?;
        for _ in 0..WARM_UPS {
            if self.check("schema", "both").is_ok() {
                return Ok(());
            }
        }
        bail!("the model has not answered in {WARM_UPS} tries")
    }

    /// Has a call judged and says what the model said.
    fn check(&self, form: &str, stages: &str) -> Result<JudgedForm> {
        let started = Instant::now();
        let arguments = ["check", "--mode", "auto", "--json", "--said", "turn the widget once", CALL];
        let output = self.command(&arguments).output()?;
        let elapsed = started.elapsed();
        let verdict = read_json(&output)?;
        let calls = verdict.get("classifier").and_then(Value::as_array).context("the model was not asked")?;
        ensure!(!calls.is_empty(), "the model was not asked: {verdict}");
        for call in calls {
            ensure!(is_understood(call), "{form}, {stages}: {call}");
        }
        let tokens = |call: &Value| call.get("output").and_then(Value::as_u64).unwrap_or_default();
        if stages == "both" {
            let first = calls.first().map(tokens).unwrap_or_default();
            ensure!(first <= FIRST_LOOK, "{form}: the first look said {first} tokens");
        }
        ensure!(word(&verdict, "/decision") != "allow", "{form}, {stages}: an untested model allowed a call");
        let outcomes: Vec<String> = calls.iter().map(|call| word(call, "/outcome").to_owned()).collect();
        let said: Vec<String> = calls
            .iter()
            .zip(&outcomes)
            .map(|(call, outcome)| format!("{} {outcome}", tokens(call)))
            .collect();
        let decision = word(&verdict, "/decision");
        let line = format!(
            "{form:<10}{stages:<10}{:<22}{:>5.1} s  {decision}",
            said.join(", "),
            elapsed.as_secs_f64()
        );
        Ok(JudgedForm { line, outcomes })
    }

    /// Puts a call as Claude Code does, and returns the answer.
    fn hook(&self) -> Result<String> {
        let input = json!({
            "session_id": "real-model", "hook_event_name": "PreToolUse", "permission_mode": "auto",
            "cwd": self.project(), "tool_name": "Bash", "tool_input": {"command": CALL},
        });
        let mut child = self
            .command(&["hook", "claude"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        child.stdin.take().context("no standard input")?.write_all(input.to_string().as_bytes())?;
        let answer = read_json(&child.wait_with_output()?)?;
        let said = |name: &str| word(&answer, &format!("/hookSpecificOutput/{name}")).to_owned();
        ensure!(
            said("permissionDecision") != "allow",
            "a model that has not passed allowed a call: {answer}"
        );
        Ok(format!("{}: {}", said("permissionDecision"), said("permissionDecisionReason")))
    }

    /// Runs the self-test, which must refuse the model.
    fn self_test(&self) -> Result<String> {
        let output = self.command(&["auto-mode", "test"]).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.code() != Some(1) || !text.contains("did not pass") {
            bail!(
                "the self-test did not refuse the model:\n{text}\n{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(text)
    }
}

/// Says whether an answer is one that such a model may give: it rambles until it is cut off or out of time.
fn is_understood(call: &Value) -> bool {
    let outcome = word(call, "/outcome");
    is_verdict(outcome) || ["unclear", "answer cut off", "timed out"].contains(&outcome)
}

fn is_verdict(outcome: &str) -> bool {
    ["allow", "block"].contains(&outcome)
}

/// Returns a text of a value, by where it stands.
fn word<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn read_json(output: &Output) -> Result<Value> {
    serde_json::from_slice(&output.stdout).with_context(|| {
        let (said, complained) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        format!("no JSON: {said}{complained}")
    })
}
