//! What a fence costs: its start beside plain `bash -c true`, as medians of runs that take turns, so that a busy machine
//! slows all alike; and how long it takes to list and to commit many changes.

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use portcullis_fence::{FencePolicy, RunSelection, RunStore, find_changes, protected_names};

const RUNNER: &str = env!("CARGO_BIN_EXE_portcullis-fence-runner");
const ROUNDS: usize = 100;
const FILES: usize = 10_000;

type MakeCommand<'a> = Box<dyn Fn() -> Command + 'a>;

fn main() -> Result<(), Box<dyn Error>> {
    let base = std::env::var_os("FENCE_BENCH_DIR").map_or_else(std::env::temp_dir, Into::into);
    let folder = base.join(format!("fence-bench-{}", std::process::id()));
    let workspace = folder.join("workspace");
    fs::create_dir_all(&workspace)?;
    starts(&folder, &workspace)?;
    changes(&folder, &workspace)?;
    Ok(fs::remove_dir_all(&folder)?)
}

fn starts(folder: &Path, workspace: &Path) -> Result<(), Box<dyn Error>> {
    let policy = folder.join("policy.json");
    let text = FencePolicy::usual(workspace.to_path_buf(), None, Vec::new());
    fs::write(&policy, serde_json::to_vec(&text)?)?;
    let store = folder.join("runs");
    let words = ["bash", "-c", "true"];
    let kinds: [(&str, MakeCommand<'_>); 3] = [
        ("plain", Box::new(move || with(Path::new("bash"), &[], &["-c", "true"]))),
        ("direct", Box::new(|| with(Path::new(RUNNER), &[&policy, workspace, Path::new("all")], &words))),
        (
            "observe",
            Box::new(|| with(Path::new(RUNNER), &[Path::new("--observe"), &store, workspace], &words)),
        ),
    ];
    let mut times: Vec<Vec<Duration>> = kinds.iter().map(|_| Vec::new()).collect();
    for _ in 0..ROUNDS {
        for ((_, make), times) in kinds.iter().zip(&mut times) {
            let started = Instant::now();
            let status = make().stdout(Stdio::null()).status()?;
            times.push(started.elapsed());
            if !status.success() {
                return Err("a run failed".into());
            }
        }
    }
    let medians: Vec<f64> = times.iter_mut().map(|times| median(times)).collect();
    let plain = medians.first().copied().unwrap_or(f64::NAN);
    for ((name, _), median) in kinds.iter().zip(&medians) {
        writeln!(
            std::io::stdout(),
            "{name:8} {median:6.2} ms  +{:5.2} ms  ×{:.1}",
            median - plain,
            median / plain
        )?;
    }
    Ok(())
}

/// Half of the files are new and half were there.
fn changes(folder: &Path, workspace: &Path) -> Result<(), Box<dyn Error>> {
    for number in 0..FILES / 2 {
        let directory = workspace.join(format!("d{}", number % 100));
        fs::create_dir_all(&directory)?;
        fs::write(directory.join(format!("old{number}")), "before")?;
    }
    let store_path = folder.join("changes");
    let line = "for file in */old*; do echo after > $file; echo new > ${file/old/new}; done";
    let mut command =
        with(Path::new(RUNNER), &[Path::new("--observe"), &store_path, workspace], &["bash", "-c", line]);
    let output = command.output()?;
    let id = String::from_utf8(output.stdout)?.trim().to_owned();
    let store = RunStore::at(store_path);
    let record = store.find(&id)?;
    let upper = record.layers.first().map_or_else(PathBuf::new, |layer| layer.upper.clone());
    let started = Instant::now();
    let found = find_changes(&upper, workspace, Some(record.began))?.len();
    store.held(&record, &protected_names())?;
    let listed = started.elapsed();
    let started = Instant::now();
    store.commit(&id, &RunSelection::All, false)?;
    let committed = started.elapsed();
    writeln!(
        std::io::stdout(),
        "{found} changes: listed in {:.0} ms, committed in {:.0} ms",
        listed.as_secs_f64() * 1000.0,
        committed.as_secs_f64() * 1000.0
    )?;
    Ok(())
}

fn with(program: &Path, paths: &[&Path], words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(paths).args(words);
    command
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(f64::NAN, |time| time.as_secs_f64() * 1000.0)
}
