//! A place for tests: a workspace, a home with secrets outside it, and both programs where every user can start them.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use portcullis_fence::FencePolicy;
use tempfile::TempDir;

const NOBODY: u32 = 65_534;

/// Who runs the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// Whoever runs the tests.
    Tester,
    /// A user without any right, where root runs the tests.
    Nobody,
}

impl Who {
    /// Returns everybody that can be tried here.
    pub(crate) fn everybody() -> &'static [Self] {
        if is_root() { &[Self::Tester, Self::Nobody] } else { &[Self::Tester] }
    }
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[derive(Debug)]
pub(crate) struct Yard {
    folder: TempDir,
    who: Who,
    pub(crate) policy: FencePolicy,
}

impl Yard {
    /// Makes a yard outside of `/tmp`, which a fence replaces as a whole.
    pub(crate) fn new(who: Who) -> Self {
        Self::below(&base(), who)
    }

    pub(crate) fn below(base: &Path, who: Who) -> Self {
        let folder = tempfile::Builder::new().prefix("fence-").tempdir_in(base).expect("a folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("open to all");
        let root = folder.path().canonicalize().expect("a path");
        for directory in ["workspace", "home/.ssh", "programs", "run"] {
            fs::create_dir_all(root.join(directory)).expect("a directory");
        }
        fs::write(root.join("home/notes"), "notes").expect("a file");
        fs::write(root.join("home/token"), "secret").expect("a file");
        fs::write(root.join("home/.ssh/id"), "secret").expect("a file");
        for program in
            [env!("CARGO_BIN_EXE_portcullis-fence-runner"), env!("CARGO_BIN_EXE_portcullis-fence-attack")]
        {
            let name = Path::new(program).file_name().expect("a name");
            // Another process copies: a descriptor of ours that is open for writing could be inherited by a program that
            // another test starts, and then the copy could not be started.
            let copied = Command::new("cp").arg(program).arg(root.join("programs").join(name)).status();
            assert!(copied.expect("cp runs").success());
        }
        let mut policy = FencePolicy::for_workspace(root.join("workspace"));
        policy.masked = vec![root.join("home/.ssh"), root.join("home/token")];
        let yard = Self { folder, who, policy };
        yard.give_away();
        yard
    }

    /// Gives every file to whoever runs the command, so that only the fence can stand in the way.
    pub(crate) fn give_away(&self) {
        if self.who == Who::Nobody {
            give(&self.root());
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("a path")
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.policy.workspace.clone()
    }

    pub(crate) fn home(&self, name: &str) -> String {
        self.root().join("home").join(name).display().to_string()
    }

    pub(crate) fn attack(&self) -> String {
        self.root().join("programs/portcullis-fence-attack").display().to_string()
    }

    /// Returns a command that runs words inside the fence.
    pub(crate) fn fenced(&self, features: &str, words: &[&str]) -> Command {
        let policy = self.root().join("policy.json");
        fs::write(&policy, serde_json::to_vec(&self.policy).expect("JSON")).expect("a file");
        let mut command =
            self.plain(&[&self.root().join("programs/portcullis-fence-runner").display().to_string()]);
        command.arg(policy).arg(self.workspace()).arg(features).args(words);
        command
    }

    /// Returns a command that runs words as the same user without a fence.
    pub(crate) fn plain(&self, words: &[&str]) -> Command {
        let mut command = match self.who {
            Who::Tester => Command::new(words[0]),
            Who::Nobody => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid=65534", "--regid=65534", "--clear-groups", words[0]]);
                // Root's own programs are out of reach for everybody else.
                command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
                command
            }
        };
        command.args(&words[1..]).current_dir(self.workspace());
        command
    }

    /// Runs a line of bash inside the fence.
    pub(crate) fn bash(&self, line: &str) -> Output {
        self.fenced("all", &["bash", "-c", line]).output().expect("it runs")
    }
}

pub(crate) fn give(path: &Path) {
    let _ = chown(path, Some(NOBODY), Some(NOBODY));
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).expect("entries").flatten() {
            give(&entry.path());
        }
    }
}

/// Returns a directory that is not hidden by a fence and that every user can reach.
fn base() -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let candidates = [Some(PathBuf::from(env!("CARGO_TARGET_TMPDIR"))), home, Some("/var/lib".into())];
    let is_open = |path: &PathBuf| {
        let replaced = ["/tmp", "/run", "/var/tmp", "/dev"].iter().any(|place| path.starts_with(place));
        let mut above = path.ancestors().filter_map(|above| fs::metadata(above).ok());
        let is_reachable = !is_root() || above.all(|above| above.permissions().mode() & 0o001 != 0);
        !replaced && is_reachable && path.is_dir()
    };
    candidates.into_iter().flatten().find(is_open).expect("a place for the tests that a fence does not hide")
}

pub(crate) fn text(output: &Output) -> String {
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{}\n{out}{error}", output.status)
}
