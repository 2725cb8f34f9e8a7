//! Whether a fence goes up on this machine, for a workspace: tried once, and remembered until the machine is started anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use portcullis_fence::FencePolicy;
use portcullis_settings::SettingsLocations;
use serde::{Deserialize, Serialize};

use crate::{hex, process};

/// How long a trial may take; it takes some milliseconds.
const LONGEST_TRIAL: Duration = Duration::from_secs(5);

/// What the kernel names this run of the machine by.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The variable by which a test takes fences away, so that its verdicts depend on no machine. Release builds do not read it.
#[cfg(debug_assertions)]
const WITHOUT_FENCES: &str = "PORTCULLIS_TEST_WITHOUT_FENCES";

/// What a trial on a machine said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MachineFence {
    /// The run of the machine it was tried in, and the program that tried it.
    tried_by: String,
    /// Why no fence goes up; `None` if one does.
    pub(super) problem: Option<String>,
}

impl MachineFence {
    /// Returns what is known of a workspace, and tries it if nothing is.
    pub(super) fn of(state: &Path, workspace: &Path, program: &Path) -> Self {
        let tried_by = tried_by(program);
        #[cfg(debug_assertions)]
        if std::env::var_os(WITHOUT_FENCES).is_some() {
            return Self { tried_by, problem: Some("a test wants none".to_owned()) };
        }
        let file = note_of(state, workspace);
        let known = fs::read(&file).ok().and_then(|text| serde_json::from_slice::<Self>(&text).ok());
        if let Some(known) = known.filter(|known| known.tried_by == tried_by) {
            return known;
        }
        let found = Self { tried_by, problem: probe(program, workspace).err() };
        // Where it cannot be kept, it is tried again.
        let _ = file.parent().map(fs::create_dir_all);
        let _ = serde_json::to_vec(&found).map(|text| fs::write(&file, text));
        found
    }
}

/// The program that puts fences up, beside whichever of ours this is.
const PROGRAM: &str = "portcullis";

/// Returns where the program is that puts fences up; links are followed, so that nobody's `PATH` chooses it.
pub fn fence_program() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.canonicalize().ok()?.with_file_name(PROGRAM))
}

/// Tries a fence over a workspace by running a command in it that does nothing. Says why none goes up.
pub fn probe(program: &Path, workspace: &Path) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(["run", "--trial", "--", "true"]).current_dir(workspace);
    let finished = process::run(command, "", LONGEST_TRIAL)
        .map_err(|problem| format!("`{} run` {problem}", program.display()))?;
    if finished.code == Some(0) {
        return Ok(());
    }
    let line = finished.stderr.lines().last().unwrap_or_default();
    let line = line.strip_prefix("portcullis: nothing was run: ").unwrap_or(line);
    Err(if line.is_empty() {
        "a command inside a fence did not end as it should".to_owned()
    } else {
        line.to_owned()
    })
}

/// Returns what a fenced command may usually do in the workspace of a directory. The state is hidden from it.
pub fn fence_policy(locations: &SettingsLocations, state: &Path) -> FencePolicy {
    let workspace = locations.repository.as_ref().map_or(&locations.real_project, |found| &found.checkout);
    let own = [Some(state.to_path_buf()), locations.config.clone()];
    let home = locations.home.as_deref();
    FencePolicy::usual(workspace.clone(), home, own.into_iter().flatten().collect())
}

fn tried_by(program: &Path) -> String {
    let boot = fs::read_to_string(BOOT_ID).unwrap_or_default();
    format!("{} {} {}", boot.trim(), env!("CARGO_PKG_VERSION"), program.display())
}

fn note_of(state: &Path, workspace: &Path) -> PathBuf {
    let digest = ring::digest::digest(&ring::digest::SHA256, workspace.as_os_str().as_encoded_bytes());
    state.join("fences").join(format!("{}.json", hex(digest.as_ref().get(..16).unwrap_or_default())))
}
