//! Whether an agent runs the command that it is given in place of its own: seen in a call that is contained.
//!
//! What counts as seen is a run of our own record: the runner took the call's policy and put the fence up.

use std::path::{Path, PathBuf};

use portcullis_gate::containment::ContainmentLedger;
use portcullis_hosts::{Host, HostAdapter};

use super::Checks;

/// The file that the call leaves, inside a fence or not.
const FILE: &str = "portcullis-fence-trial.txt";

/// What was seen of a rewrite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SeenRewrite {
    /// The command ran inside a fence.
    Inside,
    /// The command ran, and no fence was there.
    Bare,
    /// The command did not run: it was not contained here, or the fence did not go up.
    Nothing,
}

/// A call by which a rewrite is seen.
#[derive(Debug)]
pub(super) struct RewriteTrial {
    host: Host,
    state: PathBuf,
}

impl RewriteTrial {
    /// What the call is known by.
    pub(super) const LABEL: &'static str = "fence-trial";

    /// A program that nobody knows and that is nowhere, so that the call is contained.
    pub(super) const COMMAND: &'static str =
        "portcullis-trial-program; touch portcullis-fence-trial.txt; true";

    /// Returns the trial for an agent that was seen to take another command, and that `doctor` can drive.
    pub(super) fn of(adapter: &HostAdapter, state: &Path) -> Option<Self> {
        let takes_command = adapter.scripted_run.is_some_and(|run| run.takes_command);
        let can = cfg!(target_os = "linux") && takes_command;
        can.then(|| Self { host: adapter.host, state: state.to_path_buf() })
    }

    /// Lets an agent that lost a rewrite have a fence in this one place.
    pub(super) fn begin(&self, project: &Path) -> Result<(), String> {
        let project = project.canonicalize().map_err(|error| error.to_string())?;
        self.ledger().set_trial(self.host.name(), Some(&project)).map_err(|error| error.to_string())
    }

    /// Looks for the run, and leaves nothing of it behind.
    pub(super) fn end(&self, project: &Path) -> SeenRewrite {
        // Where that fails, the place is gone all the same.
        let _ = self.ledger().set_trial(self.host.name(), None);
        let project = project.canonicalize().unwrap_or_else(|_| project.to_path_buf());
        match (self.take_run(&project), project.join(FILE).exists()) {
            (true, _) => SeenRewrite::Inside,
            (false, true) => SeenRewrite::Bare,
            (false, false) => SeenRewrite::Nothing,
        }
    }

    /// Says whether something ran inside a fence over a project, and forgets that it did.
    #[cfg(target_os = "linux")]
    fn take_run(&self, project: &Path) -> bool {
        let runs = portcullis_fence::RunStore::at(self.state.join("runs"));
        let own = runs.list().unwrap_or_default().into_iter().filter(|run| run.directory == project);
        let own: Vec<_> = own.map(|run| runs.forget(&run.id)).collect();
        !own.is_empty()
    }

    #[cfg(not(target_os = "linux"))]
    fn take_run(&self, _project: &Path) -> bool {
        false
    }

    /// Says what was seen, and lets an agent have fences again that was seen to run one.
    pub(super) fn conclude(&self, checks: &mut Checks, title: &str, seen: SeenRewrite) {
        let name = self.host.name();
        let is_off = self.ledger().off(name).is_some();
        match seen {
            SeenRewrite::Inside => match self.ledger().switch_on(name) {
                Ok(()) if is_off => checks.fine(
                    "containment",
                    format!("{title} ran a command inside a fence, so its commands are contained again"),
                ),
                Ok(()) => checks.fine("containment", format!("{title} ran a command inside a fence")),
                Err(error) => checks.problem("containment", error.to_string(), "repair it"),
            },
            SeenRewrite::Bare => checks.problem(
                "containment",
                format!("{title} ran a command without the fence that it was told to run it in"),
                "look for another hook that rewrites commands",
            ),
            SeenRewrite::Nothing if is_off => checks.warning(
                "containment",
                format!(
                    "{title} was not seen to run a command inside a fence, so nothing of it is contained"
                ),
                "see whether a fence goes up above, and try it in auto mode: `portcullis init --mode auto`",
            ),
            SeenRewrite::Nothing => {}
        }
    }

    fn ledger(&self) -> ContainmentLedger {
        ContainmentLedger::below(&self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_leaves_the_file_that_is_looked_for() {
        assert!(RewriteTrial::COMMAND.contains(&format!("touch {FILE};")));
    }
}
