//! `cargo dev overhead`: what a judgement costs besides the model's own time.
//!
//! A hook is started for a call that only the model can settle, with a session file of a given length, and the clock
//! runs from before the process is started until its request has arrived at a scripted model on loopback. `/bin/true` is
//! started in turn with it, to tell the machine's own share.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use portcullis_testkit::{ModelScript, ScriptedServer};
use serde_json::json;

use crate::{output, process, repository};

const USUAL_RUNS: usize = 100;

/// Lengths of session files that are tried, in kilobytes.
const LENGTHS: [usize; 4] = [0, 100, 1_000, 4_000];

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let runs = match arguments {
        [] => USUAL_RUNS,
        [flag, number] if flag == "--runs" => number.parse().context("--runs needs a number")?,
        _ => anyhow::bail!("usage: cargo dev overhead [--runs N]"),
    };
    ensure!(runs > 0, "--runs must be at least 1");
    let root = repository::root();
    if cfg!(debug_assertions) {
        // The server's own time is part of what is measured, so it is built with optimisations too.
        let package = ["run", "--profile", "profiling", "--locked", "--package", "portcullis-dev", "--"];
        return process::run(process::cargo(&root).args(package).arg("overhead").args(arguments));
    }
    process::run(process::cargo(&root).args([
        "build",
        "--profile",
        "dist",
        "--locked",
        "--package",
        "portcullis",
    ]))?;
    let program = root.join("target/dist/portcullis");
    output::say("session file   start to request            whole hook    /bin/true");
    for kilobytes in LENGTHS {
        let times = measure(&program, kilobytes, runs)?;
        output::say(&format!(
            "{kilobytes:>9} KB   median {}, p90 {}   {}       {}",
            milliseconds(quantile(&times.sent, 50)),
            milliseconds(quantile(&times.sent, 90)),
            milliseconds(quantile(&times.whole, 50)),
            milliseconds(quantile(&times.nothing, 50)),
        ));
    }
    Ok(())
}

/// What was measured, sorted.
struct Times {
    sent: Vec<Duration>,
    whole: Vec<Duration>,
    nothing: Vec<Duration>,
}

fn measure(program: &Path, kilobytes: usize, runs: usize) -> Result<Times> {
    let script = ModelScript::from_json(r#"{"default": {"allow": true}}"#)?;
    let server = ScriptedServer::start(script);
    let home = tempfile::tempdir()?;
    let project = home.path().join("project");
    fs::create_dir_all(&project)?;
    let settings = home.path().join(".config/portcullis");
    fs::create_dir_all(&settings)?;
    let classifier = json!({"classifier": {"provider": "anthropic", "baseUrl": server.url()}});
    fs::write(settings.join("settings.json"), classifier.to_string())?;
    let session = home.path().join("session.jsonl");
    fs::write(&session, session_text(kilobytes * 1_000))?;
    let input = json!({
        "session_id": "overhead",
        "transcript_path": session,
        "cwd": project,
        "permission_mode": "auto",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "frobnicate --level 3 src/parser.rs"},
        "tool_use_id": "toolu_1",
    })
    .to_string();
    let mut times = Times { sent: Vec::new(), whole: Vec::new(), nothing: Vec::new() };
    // The first run warms the disk and does not count.
    for number in 0..=runs {
        let start = Instant::now();
        let output = hook(program, home.path(), &project, &input)?;
        let whole = start.elapsed();
        // The model is asked, and has not passed the self-test.
        ensure!(output.contains("\"ask\""), "the hook did not ask: {output}");
        let requests = server.requests();
        let request = requests.get(number).context("the model was not asked")?;
        let nothing = Instant::now();
        ensure!(Command::new("/bin/true").status()?.success(), "/bin/true failed");
        let nothing = nothing.elapsed();
        if number > 0 {
            times.sent.push(request.arrived.saturating_duration_since(start));
            times.whole.push(whole);
            times.nothing.push(nothing);
        }
    }
    times.sent.sort();
    times.whole.sort();
    times.nothing.sort();
    Ok(times)
}

fn hook(program: &Path, home: &Path, project: &Path, input: &str) -> Result<String> {
    let mut child = Command::new(program)
        .args(["hook", "claude"])
        .current_dir(project)
        .env_clear()
        .env("HOME", home)
        .env("ANTHROPIC_API_KEY", "test")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("the hook could not be started")?;
    child.stdin.take().context("the hook has no standard input")?.write_all(input.as_bytes())?;
    let output = child.wait_with_output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Makes a session in the shape Claude Code writes: a prompt, and then calls with results of some length.
fn session_text(length: usize) -> String {
    let mut lines = vec![json!({
        "type": "user", "uuid": "u0", "parentUuid": null, "sessionId": "overhead", "isSidechain": false,
        "message": {"role": "user", "content": "make the parser faster"},
    })];
    let mut size = 0;
    let mut number = 0;
    while size < length {
        let (call, result) = (format!("a{number}"), format!("r{number}"));
        let parent = if number == 0 { "u0".to_owned() } else { format!("r{}", number - 1) };
        let id = format!("toolu_a{number}");
        let input = json!({"command": format!("cargo test --package parser case_{number}")});
        lines.push(json!({
            "type": "assistant", "uuid": call, "parentUuid": parent, "sessionId": "overhead", "isSidechain": false,
            "message": {"role": "assistant", "id": format!("m{number}"), "content": [
                {"type": "tool_use", "id": id, "name": "Bash", "input": input},
            ]},
        }));
        let text = "test parser::case ... ok\n".repeat(160);
        size += 2 * text.len();
        lines.push(json!({
            "type": "user", "uuid": result, "parentUuid": call, "sessionId": "overhead", "isSidechain": false,
            "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": text},
            ]},
            "toolUseResult": {"stdout": text, "stderr": "", "interrupted": false},
        }));
        number += 1;
    }
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

fn quantile(sorted: &[Duration], percent: usize) -> Duration {
    let place = (sorted.len().saturating_sub(1) * percent + 50) / 100;
    sorted.get(place).copied().unwrap_or_default()
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1_000.0)
}
