//! The runner as a program, for tests: a policy from a file and a command, or the life of a run whose changes are held.

use std::error::Error;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use portcullis_fence::{
    FenceOutcome, FencePolicy, FencedCommand, HostResolver, KernelFeatures, RunSelection, RunStore,
    WriteMode, run,
};

fn main() -> ExitCode {
    let mut words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let rest = words.split_off(words.len().min(3));
    let outcome = match words.as_slice() {
        [action, store, workspace] if action == "--observe" => observe(store, workspace, rest),
        [action, store, id] if action == "--commit" => commit(store, id, rest),
        [action, store, id] if action == "--drop" => {
            let id = id.to_string_lossy();
            RunStore::at(store.into()).discard(&id).map(|_| 0).map_err(Into::into)
        }
        [action, store, ..] if action == "--recover" => {
            RunStore::at(store.into()).recover().map(|_| 0).map_err(Into::into)
        }
        [policy, directory, features] => direct(policy, directory, features, rest),
        _ => Ok(64),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "portcullis: nothing was run: {error}");
            let code = error
                .downcast_ref::<portcullis_fence::FenceError>()
                .map_or(1, portcullis_fence::FenceError::exit_code);
            ExitCode::from(code)
        }
    }
}

type Done = Result<u8, Box<dyn Error>>;

fn direct(policy: &OsString, directory: &OsString, features: &OsString, words: Vec<OsString>) -> Done {
    let policy: FencePolicy = serde_json::from_slice(&std::fs::read(policy)?)?;
    let features = match features.to_str() {
        Some("no-seal") => KernelFeatures { sealed_tree: false, ..KernelFeatures::ALL },
        Some("no-landlock") => KernelFeatures { landlock: false, ..KernelFeatures::ALL },
        Some("no-filter") => KernelFeatures { syscall_filter: false, ..KernelFeatures::ALL },
        _ => KernelFeatures::ALL,
    };
    let outcome = start(policy, directory.into(), features, words)?;
    if std::env::var_os("FENCE_SHOW_OUTCOME").is_some() {
        writeln!(std::io::stderr(), "{outcome:?}")?;
    }
    Ok(outcome.exit.shell_code())
}

fn start(
    policy: FencePolicy,
    directory: PathBuf,
    features: KernelFeatures,
    words: Vec<OsString>,
) -> Result<FenceOutcome, Box<dyn Error>> {
    let environment = std::env::vars_os().collect();
    let mut command = FencedCommand::new(policy, directory, words, environment);
    command.features = features;
    if let Ok(table) = std::env::var("FENCE_HOSTS") {
        let entries = table.split(',').filter_map(|entry| entry.split_once('='));
        let entries = entries.filter_map(|(name, address)| Some((name.to_owned(), address.parse().ok()?)));
        command.resolver = HostResolver::Table(entries.collect());
    }
    Ok(run(&command)?)
}

/// Runs a command over a layer, and prints the name of the run.
fn observe(store: &OsString, workspace: &OsString, words: Vec<OsString>) -> Done {
    let workspace = PathBuf::from(workspace);
    let open = RunStore::at(store.into()).begin(&[], &workspace, std::slice::from_ref(&workspace), 0)?;
    let mut policy = FencePolicy::for_workspace(workspace.clone());
    policy.mode = WriteMode::Observe(open.layers().to_vec());
    let outcome = start(policy, workspace, KernelFeatures::ALL, words)?;
    let record = open.end(&outcome)?;
    writeln!(std::io::stdout(), "{}", record.id)?;
    Ok(outcome.exit.shell_code())
}

fn commit(store: &OsString, id: &OsString, paths: Vec<OsString>) -> Done {
    let paths: Vec<PathBuf> = paths.into_iter().map(PathBuf::from).collect();
    let selection = if paths.is_empty() { RunSelection::All } else { RunSelection::Paths(paths) };
    RunStore::at(store.into()).commit(&id.to_string_lossy(), &selection, false)?;
    Ok(0)
}
