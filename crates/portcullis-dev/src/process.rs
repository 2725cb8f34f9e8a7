//! Running other programs, loudly: the command line is shown before it runs and named when it fails.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::output;

/// Returns a command for the cargo that runs us, in `root`.
pub fn cargo(root: &Path) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.current_dir(root);
    command
}

/// Runs a command with its output shown, and fails if it fails.
pub fn run(command: &mut Command) -> Result<()> {
    let line = describe(command);
    output::say(&format!("$ {line}"));
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    ensure!(status.success(), "`{line}` failed: {status}");
    Ok(())
}

/// Runs a command, hands every line of its standard output to `each_line`, and says whether it succeeded.
pub fn run_reading(command: &mut Command, mut each_line: impl FnMut(&str)) -> Result<bool> {
    let line = describe(command);
    output::say(&format!("$ {line}"));
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start `{line}`"))?;
    let stdout = child.stdout.take().context("the child has no standard output")?;
    for text in BufReader::new(stdout).split(b'\n') {
        each_line(&String::from_utf8_lossy(&text?));
    }
    Ok(child.wait()?.success())
}

/// Runs a command quietly and returns its standard output.
pub fn capture(command: &mut Command) -> Result<String> {
    let line = describe(command);
    let result = command.output().with_context(|| format!("cannot start `{line}`"))?;
    if !result.status.success() {
        bail!("`{line}` failed: {}\n{}", result.status, String::from_utf8_lossy(&result.stderr));
    }
    String::from_utf8(result.stdout).with_context(|| format!("`{line}` did not print UTF-8"))
}

/// Finds a program in `PATH`.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file())
}

fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let mut words = vec![program.to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}
