//! A home and a project that exist for one test, and the command run in them.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A home and a project below it.
pub(crate) struct Sandbox {
    _folder: TempDir,
    pub(crate) home: PathBuf,
    pub(crate) project: PathBuf,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (home, project) = (root.join("home"), root.join("project"));
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(project.join("src")).unwrap();
        Self { _folder: folder, home, project }
    }

    /// Makes a sandbox whose user has these Claude Code settings.
    pub(crate) fn with_user_settings(settings: &str) -> Self {
        let sandbox = Self::new();
        sandbox.write_home(".claude/settings.json", settings);
        sandbox
    }

    pub(crate) fn write_home(&self, path: &str, text: &str) -> PathBuf {
        write(self.home.join(path), text)
    }

    pub(crate) fn write_project(&self, path: &str, text: &str) -> PathBuf {
        write(self.project.join(path), text)
    }

    /// Returns the command with these arguments, to be run in the project.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
        command.args(arguments).env_clear().env("HOME", &self.home).current_dir(&self.project);
        command.envs(stand_ins());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        ran(&self.command(arguments).output().unwrap())
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // The command may end before it has read everything.
        let writer = std::thread::spawn(move || _ = stdin.write_all(&input));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        ran(&output)
    }

    /// Runs the command in a terminal of its own, where both outputs are one, with what a person types there.
    pub(crate) fn at_terminal(&self, arguments: &[&str], typed: &str) -> Ran {
        let words = [&[env!("CARGO_BIN_EXE_portcullis")], arguments].concat();
        let line = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).env_clear();
        command.envs(std::env::var_os("PATH").map(|it| ("PATH", it)));
        command.env("HOME", &self.home).env("NO_COLOR", "1").current_dir(&self.project);
        command.envs(stand_ins());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("`script` of bsdutils is needed");
        child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
        let Ran { code, stdout, stderr } = ran(&child.wait_with_output().unwrap());
        Ran { code, stdout: stdout.replace("\r\n", "\n"), stderr }
    }

    /// Replaces the sandbox's own folders in a text by `HOME` and `PROJECT`.
    pub(crate) fn plain(&self, text: &str) -> String {
        text.replace(self.home.to_str().unwrap(), "HOME").replace(self.project.to_str().unwrap(), "PROJECT")
    }
}

/// The variable that takes fences away from a machine.
pub(crate) const WITHOUT_FENCES: &str = "PORTCULLIS_TEST_WITHOUT_FENCES";

/// Returns the variables by which a test stands in for the machine: who runs the test is nobody's business, and neither is
/// whether a fence goes up there.
pub(crate) fn stand_ins() -> [(&'static str, String); 2] {
    [("PORTCULLIS_TEST_FIRST_PROCESS", std::process::id().to_string()), (WITHOUT_FENCES, "1".to_owned())]
}

fn write(path: PathBuf, text: &str) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

pub(crate) fn ran(output: &Output) -> Ran {
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout.clone()).unwrap(),
        stderr: String::from_utf8(output.stderr.clone()).unwrap(),
    }
}
