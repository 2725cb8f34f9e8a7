//! `portcullis run`: one command inside a fence, for a person or for a call that was judged.
//!
//! INVARIANT: what does not go up runs nothing: the exit code is 125, and one line says why and what helps.

mod change_call;
mod ending;
mod judged_call;
mod landing;
mod named_places;
mod trial;

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::Args;
use portcullis_fence::{AllowedHost, FencePolicy, NetworkAccess, RunStore, project_registries};
use portcullis_gate::Failure;
use portcullis_gate::containment::fence_policy;
use portcullis_gate::presence::require_presence;
use portcullis_gate::session_settings::locations;
use portcullis_settings::SettingsLocations;

use crate::exit_code::ExitCode;

/// Run a command inside a fence, see what it changed, and keep or drop that
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis run -- npm test
  portcullis run --drop -- ./unknown-script.sh
  portcullis run --keep -- make generate
  portcullis run --json --drop -- make
  portcullis run --allow-host packages.example.org -- ./fetch.sh
  portcullis run --registries -- npm ci

Inside, the command sees the machine read-only, has no network but its own loopback and the hosts you list, no secrets
of your home, and writes into a layer over the workspace. When it ends, you see what it changed, and nothing lands before you say so.
What is not answered is held: `portcullis runs`. Keeping needs a person in a terminal. The fence needs Linux.

Exit codes: those of the command; 125 if nothing was run, 126 or 127 if the command cannot be started")]
#[expect(clippy::struct_excessive_bools, reason = "independent flags of a command line")]
pub(crate) struct RunArgs {
    /// Keep what it changed without asking
    #[arg(long, conflicts_with_all = ["drop", "call"])]
    keep: bool,
    /// Throw away what it changed without asking
    #[arg(long, conflicts_with = "call")]
    drop: bool,
    /// Let it write the workspace itself; what exists of protected paths stays read-only, and so do caches
    #[arg(long, conflicts_with_all = ["keep", "drop", "call"])]
    direct: bool,
    /// Let a variable through that the fence would keep outside
    #[arg(long = "env", value_name = "NAME", conflicts_with = "call")]
    variables: Vec<String>,
    /// Let it reach a host by TCP: NAME means the ports 443 and 80, a private address must be listed as such
    #[arg(long = "allow-host", value_name = "NAME[:PORT]", conflicts_with = "call")]
    hosts: Vec<AllowedHost>,
    /// Let it reach the registries that the package managers of the project are set to, but no private addresses
    #[arg(long, conflicts_with = "call")]
    registries: bool,
    /// Share the network with runs of the same name, so that one finds the server that another one started
    #[arg(long, value_name = "NAME", value_parser = session_name, conflicts_with = "call")]
    session: Option<String>,
    /// Print what it changed as JSON, in the last line
    #[arg(long, conflicts_with = "call")]
    json: bool,
    /// Try whether a fence goes up: nothing of the run is kept, not even that it was
    #[arg(long, hide = true, conflicts_with_all = ["keep", "drop", "direct", "json", "call"])]
    trial: bool,
    /// Run the judged call with this id; what it may do stands in the record of the judgement
    #[arg(long, value_name = "ID", hide = true)]
    call: Option<String>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    words: Vec<OsString>,
}

/// A name of a session is the name of a directory.
fn session_name(text: &str) -> Result<String, &'static str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_name = !text.is_empty() && text.len() <= 32 && text.bytes().all(is_plain);
    if is_name { Ok(text.to_owned()) } else { Err("it is made of at most 32 letters, digits, `-` and `_`") }
}

/// Runs the command.
pub(crate) fn run(arguments: &RunArgs) -> Result<ExitCode, Failure> {
    match &arguments.call {
        Some(id) => judged_call::run(id, &arguments.words),
        None => trial::run(arguments),
    }
}

/// Where runs and judged calls are kept.
pub(crate) struct FenceHome {
    locations: SettingsLocations,
    state: PathBuf,
}

impl FenceHome {
    /// Finds the place for the current directory.
    pub(crate) fn find() -> Result<Self, Failure> {
        let locations = locations(None)?;
        let state = locations.state.clone().ok_or_else(|| {
            Failure::usage("there is no place to keep runs in").with_hint("set `HOME` or `XDG_STATE_HOME`")
        })?;
        Ok(Self { locations, state })
    }

    /// Returns the runs whose changes are held.
    pub(crate) fn runs(&self) -> RunStore {
        RunStore::at(self.state.join("runs"))
    }

    /// Returns what a command may reach that the flags list.
    fn network(&self, arguments: &RunArgs, workspace: &Path) -> NetworkAccess {
        let mut hosts = arguments.hosts.clone();
        if arguments.registries {
            let home = self.locations.home.as_deref();
            let found = project_registries(workspace, home, |name| std::env::var(name).ok());
            // Whoever wrote the project may have named an address in this network; a person lists that one by themselves.
            let is_open = |host: &AllowedHost| !host.is_private_address();
            hosts.extend(found.into_iter().map(|found| found.host).filter(is_open));
        }
        if hosts.is_empty() { NetworkAccess::None } else { NetworkAccess::Hosts(hosts) }
    }

    /// Returns the usual policy for the workspace of the current directory.
    fn usual_policy(&self) -> FencePolicy {
        fence_policy(&self.locations, &self.state)
    }
}

/// Removes what old runs left. What goes wrong there is no matter of the command that runs meanwhile.
fn tidy(runs: &RunStore) {
    let _ = runs.tidy();
}

/// Refuses whoever is no person in a terminal of their own: an agent must not answer for one.
pub(crate) fn require_keeper() -> Result<(), Failure> {
    if std::io::stdin().is_terminal() {
        return require_presence("keep what a run changed");
    }
    Err(Failure::usage("only a person in a terminal can keep what a run changed")
        .with_hint("run it yourself in a terminal, without a pipe into it"))
}
