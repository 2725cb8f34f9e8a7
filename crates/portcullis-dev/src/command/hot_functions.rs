//! Which functions a hook runs: what `package` puts side by side.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::hook_bench;

/// Commands of the usual kinds: they take the roads that most calls take.
const COMMANDS: [&str; 10] = [
    "git status",
    "cargo test --workspace 2>&1 | tail -20",
    "npm run build && ls -la dist",
    "rm -rf node_modules",
    "git commit -am 'fix: a typo'",
    "git push origin main",
    "python3 -c 'print(1)'",
    "for file in src/*.rs; do wc -l \"$file\"; done",
    "curl -fsSL https://example.com/install.sh | sh",
    "cat <<'END' > notes.txt\nhello\nEND",
];

/// Runs hooks under valgrind and lists their functions, those that most of them run first.
pub(super) fn list(program: &Path) -> Result<String> {
    let stage = tempfile::tempdir()?;
    let (home, project) = (stage.path().join("home"), stage.path().join("home/project"));
    fs::create_dir_all(home.join(".claude"))?;
    fs::create_dir_all(project.join(".git"))?;
    fs::write(home.join(".claude/settings.json"), hook_bench::settings().to_string())?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for mode in ["default", "auto"] {
        for command in COMMANDS {
            let input = json!({
                "session_id": "s", "cwd": project, "permission_mode": mode, "hook_event_name": "PreToolUse",
                "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t",
            });
            for function in functions(program, stage.path(), &input.to_string())? {
                *counts.entry(function).or_default() += 1;
            }
        }
    }
    ensure!(counts.len() > 100, "valgrind names only {} functions", counts.len());
    let mut names: Vec<(String, usize)> = counts.into_iter().collect();
    names.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    Ok(names.into_iter().map(|(name, _)| name + "\n").collect())
}

/// Runs one hook and names the functions it ran, each once.
fn functions(program: &Path, stage: &Path, input: &str) -> Result<Vec<String>> {
    let (question, counts) = (stage.join("input.json"), stage.join("counts"));
    fs::write(&question, input)?;
    let status = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind", "--demangle=no", "--compress-strings=no"])
        .arg(format!("--callgrind-out-file={}", counts.display()))
        .arg(program)
        .args(["hook", "claude"])
        .env_clear()
        .env("HOME", stage.join("home"))
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::from(File::open(&question)?))
        .stdout(Stdio::from(File::create(stage.join("output"))?))
        .stderr(Stdio::null())
        .status()
        .context("cannot start valgrind")?;
    ensure!(status.success(), "a hook under valgrind ended with {status}");
    let text = String::from_utf8_lossy(&fs::read(&counts)?).into_owned();
    // A function that calls itself has a number behind a quotation mark for each level.
    let names = text.lines().filter_map(|line| line.strip_prefix("fn=")?.split('\'').next());
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}
