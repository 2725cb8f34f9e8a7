//! `cargo dev hook-bench`: one hook call from the start of its process to its end, beside `/bin/true` and other guards.
//!
//! The program is the released one (see `package`), with settings of a usual length and the audit trail on. All rows are
//! started in turn, so that a busy moment of the machine hits all of them alike; what counts is the ratio.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::package;
use crate::{output, process, repository};

const USUAL_RUNS: usize = 500;

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let options = HookBenchOptions::parse(arguments)?;
    let root = repository::root();
    let program = match options.program {
        Some(program) => program,
        None => package::build(&root, std::env::consts::ARCH)?,
    };
    let stage = BenchHome::new()?;
    let program = stage.install(&program)?;
    let mut rows = vec![MeasuredProgram::new("/bin/true", Path::new("/bin/true"), &[])];
    rows.push(MeasuredProgram::new("portcullis hook claude", &program, &["hook", "claude"]));
    if options.with_peers {
        rows.extend(peers(&root)?);
    }
    // The first starts read files that later ones find in memory.
    for row in &rows {
        for _ in 0..3 {
            stage.start(row)?;
        }
    }
    let mut times = vec![Vec::with_capacity(options.runs); rows.len()];
    for _ in 0..options.runs {
        for (row, times) in rows.iter().zip(&mut times) {
            times.push(stage.start(row)?);
        }
    }
    print(&rows, &mut times);
    stage.check_audit(&program, options.runs + 3)
}

struct HookBenchOptions {
    runs: usize,
    with_peers: bool,
    program: Option<PathBuf>,
}

impl HookBenchOptions {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self { runs: USUAL_RUNS, with_peers: false, program: None };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--runs" => options.runs = words.next().context("--runs needs a number")?.parse()?,
                "--peers" => options.with_peers = true,
                "--program" => {
                    options.program = Some(PathBuf::from(words.next().context("--program needs a path")?));
                }
                other => anyhow::bail!(
                    "usage: cargo dev hook-bench [--runs N] [--peers] [--program PATH], not `{other}`"
                ),
            }
        }
        ensure!(options.runs > 0, "--runs must be at least 1");
        Ok(options)
    }
}

/// A program that is started.
struct MeasuredProgram {
    name: String,
    program: PathBuf,
    arguments: Vec<String>,
}

impl MeasuredProgram {
    fn new(name: &str, program: &Path, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
        Self { name: name.to_owned(), program: program.to_owned(), arguments }
    }
}

/// A home with settings, a project, and the input of a hook.
struct BenchHome {
    folder: tempfile::TempDir,
}

impl BenchHome {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let (home, project) = (folder.path().join("home"), folder.path().join("home/project"));
        fs::create_dir_all(home.join(".claude"))?;
        fs::create_dir_all(project.join(".claude"))?;
        fs::create_dir_all(project.join(".git"))?;
        fs::write(home.join(".claude/settings.json"), settings().to_string())?;
        let local = json!({"permissions": {"deny": ["Read(.env)", "Read(secrets/**)"], "ask": ["Bash(npm publish *)"]}});
        fs::write(project.join(".claude/settings.json"), local.to_string())?;
        let input = json!({
            "session_id": "3f2b8a54-0d0c-4c2e-9d51-5a6f1f0f7f11",
            "transcript_path": home.join("session.jsonl"),
            "cwd": project,
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": "npm test 2>&1 | tail -20", "description": "Run the tests"},
            "tool_use_id": "toolu_01",
        });
        fs::write(folder.path().join("input.json"), input.to_string())?;
        Ok(Self { folder })
    }

    /// Copies the programs, as whatever installs them does. The kernel keeps a file that was written in one go in larger
    /// parts of memory than one that a linker wrote here and there, and maps it sooner.
    fn install(&self, program: &Path) -> Result<PathBuf> {
        let installed = self.folder.path().join("portcullis");
        fs::copy(program, &installed).with_context(|| format!("cannot copy {}", program.display()))?;
        fs::copy(program.with_file_name("portcullis-full"), self.folder.path().join("portcullis-full"))
            .context("the full program must lie beside the one that agents start")?;
        Ok(installed)
    }

    /// Starts a program as a host does and returns how long it took.
    fn start(&self, row: &MeasuredProgram) -> Result<Duration> {
        let folder = self.folder.path();
        let (input, out) = (File::open(folder.join("input.json"))?, File::create(folder.join("output"))?);
        let mut command = Command::new(&row.program);
        command
            .args(&row.arguments)
            .current_dir(folder.join("home/project"))
            .env_clear()
            .env("HOME", folder.join("home"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::from(input))
            .stdout(Stdio::from(out))
            .stderr(Stdio::null());
        let started = Instant::now();
        let status = command.spawn().with_context(|| format!("cannot start {}", row.name))?.wait()?;
        let time = started.elapsed();
        ensure!(matches!(status.code(), Some(0 | 2)), "{} ended with {status}", row.name);
        Ok(time)
    }

    /// A table of a hook that did not record would be of no use.
    fn check_audit(&self, program: &Path, expected: usize) -> Result<()> {
        let mut command = Command::new(program);
        command.args(["log", "head"]).env_clear().env("HOME", self.folder.path().join("home"));
        let head = process::capture(&mut command)?;
        let count = head.split_whitespace().next().and_then(|word| word.parse::<usize>().ok());
        ensure!(count == Some(expected), "the audit trail has `{}`, not {expected} decisions", head.trim());
        Ok(())
    }
}

/// Settings of a usual length.
pub(super) fn settings() -> serde_json::Value {
    let tools = [
        "cargo",
        "npm",
        "pnpm",
        "make",
        "go",
        "pytest",
        "docker compose",
        "git",
        "kubectl get",
        "terraform plan",
    ];
    let allow: Vec<String> = tools
        .iter()
        .flat_map(|tool| ["build", "test", "run lint", "fmt"].map(|verb| format!("Bash({tool} {verb} *)")))
        .chain(["Bash(npm test *)", "Read(~/notes/**)", "WebFetch(domain:docs.rs)"].map(str::to_owned))
        .collect();
    let deny = [
        "Bash(git push --force *)",
        "Bash(rm -rf /*)",
        "Read(~/.ssh/**)",
        "Read(~/.aws/**)",
        "Edit(/etc/**)",
    ];
    json!({"permissions": {"allow": allow, "deny": deny, "ask": ["Bash(git push *)"]}})
}

/// Installs the guards that registries have and returns how each is started as a hook. One that cannot be installed here is
/// named and left out.
fn peers(root: &Path) -> Result<Vec<MeasuredProgram>> {
    let folder = root.join("target/peers");
    fs::create_dir_all(&folder)?;
    let installers: [fn(&Path) -> Result<MeasuredProgram>; 3] = [safety_net, nah, dcg];
    let mut rows = Vec::new();
    for install in installers {
        match install(&folder) {
            Ok(row) => rows.push(row),
            Err(error) => output::say(&format!("left out: {error:#}")),
        }
    }
    Ok(rows)
}

fn safety_net(folder: &Path) -> Result<MeasuredProgram> {
    let npm = folder.join("npm");
    let program = npm.join("node_modules/.bin/cc-safety-net");
    if !program.exists() {
        fs::create_dir_all(&npm)?;
        let mut install = Command::new("npm");
        install.args(["install", "--no-save", "--prefix"]).arg(&npm).arg("cc-safety-net@2.4.5");
        process::run(&mut install)?;
    }
    Ok(MeasuredProgram::new("cc-safety-net 2.4.5", &program, &["hook", "--claude-code"]))
}

fn nah(folder: &Path) -> Result<MeasuredProgram> {
    let environment = folder.join("python");
    let python = environment.join("bin/python3");
    if !environment.join("bin/nah").exists() {
        process::run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
        process::run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "nah==0.11.0"]))?;
    }
    Ok(MeasuredProgram::new("nah 0.11.0", &python, &["-m", "nah.hook"]))
}

/// The last version with a plain licence.
fn dcg(folder: &Path) -> Result<MeasuredProgram> {
    let program = folder.join("cargo/bin/dcg");
    if !program.exists() {
        let mut install = process::cargo(folder);
        install.args(["install", "--quiet", "--locked", "--root"]).arg(folder.join("cargo"));
        process::run(install.arg("destructive_command_guard@0.4.1"))?;
    }
    Ok(MeasuredProgram::new("dcg 0.4.1", &program, &[]))
}

fn print(rows: &[MeasuredProgram], times: &mut [Vec<Duration>]) {
    output::say("one hook call                 median      p90      p99   of /bin/true");
    let mut base = None;
    for (row, times) in rows.iter().zip(times) {
        times.sort_unstable();
        let at = |percent: usize| {
            let place = (times.len() * percent / 100).min(times.len().saturating_sub(1));
            times.get(place).copied().unwrap_or_default().as_secs_f64() * 1_000.0
        };
        let base = *base.get_or_insert(at(50));
        let line = format!(
            "{:<26} {:>6.2} ms {:>5.2} ms {:>5.2} ms        {:>5.2}",
            row.name,
            at(50),
            at(90),
            at(99),
            at(50) / base
        );
        output::say(&line);
    }
}
