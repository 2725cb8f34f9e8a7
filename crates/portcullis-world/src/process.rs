//! Which processes an agent started: they have the variables that agents set for what they run.
//!
//! A variable that a process began with is the kernel's to tell, and nobody else can give it one afterwards. A server that
//! the user started at a terminal of their own has none of them.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use portcullis_core::DiskAnswer;

/// Variables that agents set for what they start.
pub const AGENT_MARKS: [&str; 10] = [
    "AGENT_SESSION_ID",
    "AMP_CURRENT_THREAD_ID",
    "CLAUDECODE",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "CRUSH",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "OPENCODE",
    "QWEN_CODE",
];

/// The longest list of variables that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// How many parents of this process are looked at.
const MOST_PARENTS: usize = 64;

/// Returns the directory of a process that an agent started. The agent itself, and whatever it runs in, is none.
pub(crate) fn agent_process(number: &str) -> DiskAnswer {
    let found = directory_of(number).and_then(|directory| directory.to_str().map(str::to_owned));
    found.map_or(DiskAnswer::Absent, DiskAnswer::Text)
}

fn directory_of(number: &str) -> Option<PathBuf> {
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || own_line().iter().any(|own| own == number) {
        return None;
    }
    let place = Path::new("/proc").join(number);
    let owner = |path: &Path| fs::metadata(path).ok().map(|metadata| metadata.uid());
    if owner(&place)? != owner(Path::new("/proc/self"))? || !has_mark(&place)? {
        return None;
    }
    fs::read_link(place.join("cwd")).ok()
}

fn has_mark(place: &Path) -> Option<bool> {
    let mut variables = Vec::new();
    File::open(place.join("environ")).ok()?.take(LONGEST).read_to_end(&mut variables).ok()?;
    let mut names =
        variables.split(|byte| *byte == 0).filter_map(|variable| variable.split(|byte| *byte == b'=').next());
    Some(names.any(|name| AGENT_MARKS.iter().any(|mark| mark.as_bytes() == name)))
}

/// Returns the numbers of this process and its parents.
fn own_line() -> Vec<String> {
    let mut line = vec![std::process::id().to_string()];
    while let Some(parent) = line.last().and_then(|own| parent_of(own))
        && line.len() < MOST_PARENTS
    {
        line.push(parent);
    }
    line
}

/// Returns the number of a process's parent. The name of a program may have any letter in it, and ends in a parenthesis.
fn parent_of(number: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    let (_, rest) = status.rsplit_once(')')?;
    rest.split_whitespace().nth(1).filter(|parent| *parent != "0").map(str::to_owned)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::process::Command;

    use pretty_assertions::assert_eq;

    use super::*;

    /// Looks at a process that was started in a directory, perhaps with a variable.
    fn look(directory: &Path, variable: Option<&str>) -> DiskAnswer {
        let mut command = Command::new("sleep");
        command.arg("60").env_clear().current_dir(directory);
        command.envs(variable.map(|name| (name, "1")));
        let mut child = command.spawn().unwrap();
        let answer = agent_process(&child.id().to_string());
        child.kill().unwrap();
        child.wait().unwrap();
        answer
    }

    #[test]
    fn only_what_an_agent_started_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().canonicalize().unwrap();
        let found = DiskAnswer::Text(directory.to_str().unwrap().to_owned());
        for mark in AGENT_MARKS {
            assert_eq!(look(&directory, Some(mark)), found, "{mark}");
        }
        for other in [None, Some("TERM"), Some("MY_CLAUDECODE"), Some("CLAUDECODE2")] {
            assert_eq!(look(&directory, other), DiskAnswer::Absent, "{other:?}");
        }
    }

    #[test]
    fn neither_this_process_nor_what_it_runs_in_nor_anything_else_is() {
        for own in own_line() {
            assert_eq!(agent_process(&own), DiskAnswer::Absent, "{own}");
        }
        for other in ["", "0", "1", "4294967295", "-1", "+1", "self", "1/../self", " 1"] {
            assert_eq!(agent_process(other), DiskAnswer::Absent, "{other}");
        }
    }
}
