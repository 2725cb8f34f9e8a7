//! What a fence costs beside plain `bash -c true`: medians of runs that take turns, so that a busy machine slows all alike.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 100;

type MakeCommand<'a> = Box<dyn Fn() -> Command + 'a>;

fn main() -> std::io::Result<()> {
    let runner = env!("CARGO_BIN_EXE_portcullis-fence-runner");
    let base = std::env::var_os("FENCE_BENCH_DIR").map_or_else(std::env::temp_dir, Into::into);
    let folder = base.join(format!("fence-bench-{}", std::process::id()));
    let workspace = folder.join("workspace");
    std::fs::create_dir_all(&workspace)?;
    let policy = folder.join("policy.json");
    let text = portcullis_fence::FencePolicy::usual(workspace.clone(), None, Vec::new());
    std::fs::write(&policy, serde_json::to_vec(&text)?)?;
    let store = folder.join("runs");
    let words = ["bash", "-c", "true"];
    let kinds: [(&str, MakeCommand<'_>); 3] = [
        ("plain", Box::new(move || with(Path::new("bash"), &[], &["-c", "true"]))),
        ("direct", Box::new(|| with(Path::new(runner), &[&policy, &workspace, Path::new("all")], &words))),
        (
            "observe",
            Box::new(|| with(Path::new(runner), &[Path::new("--observe"), &store, &workspace], &words)),
        ),
    ];
    let mut times: Vec<Vec<Duration>> = kinds.iter().map(|_| Vec::new()).collect();
    for _ in 0..ROUNDS {
        for ((_, make), times) in kinds.iter().zip(&mut times) {
            let started = Instant::now();
            let status = make().stdout(Stdio::null()).status()?;
            times.push(started.elapsed());
            if !status.success() {
                return Err(std::io::Error::other("a run failed"));
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
    std::fs::remove_dir_all(&folder)
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
