//! The agents of this machine: which are installed, where their settings are, which version they have.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use portcullis_hosts::registration::{FolderBase, HookCommand, SettingsFolder};
use portcullis_hosts::{Host, HostAdapter};
use portcullis_settings::SettingsLocations;

use super::program::{Program, is_in_workspace};
use portcullis_gate::Failure;
use portcullis_gate::env_vars;
use portcullis_gate::process;

/// How long an agent may take to say which version it is.
const VERSION_LIMIT: Duration = Duration::from_secs(10);

/// A version: major, minor, patch.
pub type AgentVersion = (u32, u32, u32);

/// How a version of an agent stands to what is known of it; what there is to say is a sentence without a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionStanding {
    /// It was run with our hook.
    Tried,
    /// It was not.
    Untried(String),
    /// It is known to run what our hook denies.
    Unguarded(String),
}

/// An agent and where its settings are.
#[derive(Debug, Clone)]
pub struct Agent {
    /// How it is spoken to and registered with.
    pub adapter: &'static HostAdapter,
    /// Its program, if it was found.
    pub program: Option<PathBuf>,
    /// The folder of its settings, which need not be there.
    pub folder: PathBuf,
}

impl Agent {
    /// Looks for an agent.
    pub fn look(host: Host, locations: &SettingsLocations) -> Result<Self, Failure> {
        let adapter = host.adapter();
        let registration = &adapter.registration;
        let folder = folder(registration.folder, locations)?;
        let program = registration.programs.iter().find_map(|name| find_program(name, locations));
        Ok(Self { adapter, program, folder })
    }

    /// Says whether there is any trace of it.
    pub fn is_installed(&self) -> bool {
        // The home directory itself is no trace of anybody.
        let has_folder = !self.adapter.registration.folder.path.is_empty() && self.folder.is_dir();
        self.program.is_some() || has_folder
    }

    /// Returns which agent it is.
    pub fn host(&self) -> Host {
        self.adapter.host
    }

    /// Asks the agent's program for its version. What went wrong is a clause that follows the program's name.
    pub fn version(&self) -> Result<AgentVersion, String> {
        let program = self.program.as_ref().ok_or("was not found")?;
        let mut command = Command::new(program);
        command.arg("--version");
        let finished = process::run(command, "", VERSION_LIMIT)?;
        // Pi says it on standard error.
        let said = version_in(&finished.stdout).or_else(|| version_in(&finished.stderr));
        said.ok_or_else(|| "does not say its version".to_owned())
    }

    /// Says how a version of the agent stands to what is known of it.
    pub fn standing(&self, version: AgentVersion) -> VersionStanding {
        let (title, now) = (self.adapter.title, written(version));
        if let Some(oldest) = self.adapter.registration.oldest.filter(|oldest| version < *oldest) {
            return VersionStanding::Unguarded(format!(
                "{title} {now} runs calls that a hook denies; the oldest version that can be guarded is {}",
                written(oldest)
            ));
        }
        let tried = self.tried();
        let (Some(oldest), Some(newest)) = (tried.first(), tried.last()) else {
            return VersionStanding::Untried(format!("no version of {title} was tried with us"));
        };
        if tried.contains(&version) {
            VersionStanding::Tried
        } else if version < *oldest {
            let oldest = written(*oldest);
            VersionStanding::Untried(format!(
                "{title} {now} was not tried with us, and is older than {oldest}, which was"
            ))
        } else {
            let newest = written(*newest);
            VersionStanding::Untried(format!(
                "{title} {now} was not tried with us; the newest that was is {newest}"
            ))
        }
    }

    /// Returns the versions that were run with our hook, the oldest first. They are those of the first program.
    fn tried(&self) -> Vec<AgentVersion> {
        let name = self.program.as_deref().and_then(Path::file_name);
        if name
            .is_some_and(|name| self.adapter.registration.programs.first().is_none_or(|first| name != *first))
        {
            return Vec::new();
        }
        let mut versions: Vec<AgentVersion> =
            self.adapter.observed.iter().filter_map(|seen| version_in(seen.version)).collect();
        versions.sort_unstable();
        versions.dedup();
        versions
    }

    /// Makes the command that the agent is to start.
    pub fn command(&self, program: &Program, is_headless: bool) -> HookCommand {
        let mut arguments = vec!["hook".to_owned(), self.host().name().to_owned()];
        arguments.extend(is_headless.then(|| "--headless".to_owned()));
        let mut command = HookCommand { program: program.text.clone(), arguments, host_version: None };
        if self.heeds_version(&command) {
            command.host_version = self.version().ok();
        }
        command
    }

    /// Says whether what is registered depends on the agent's version.
    pub fn heeds_version(&self, command: &HookCommand) -> bool {
        let pieces = self.adapter.registration.pieces;
        let unknown = HookCommand { host_version: None, ..command.clone() };
        pieces(&newest(command)) != pieces(&unknown)
    }
}

/// Makes the command for the newest version there could be of the agent.
pub fn newest(command: &HookCommand) -> HookCommand {
    HookCommand { host_version: Some((u32::MAX, 0, 0)), ..command.clone() }
}

/// The hosts that can be registered: all that have settings of their own.
pub fn registrable() -> impl Iterator<Item = Host> {
    Host::ALL.into_iter().filter(|host| !host.adapter().registration.programs.is_empty())
}

fn folder(folder: SettingsFolder, locations: &SettingsLocations) -> Result<PathBuf, Failure> {
    if let Some((variable, named)) = env_vars::moved_folder(folder)? {
        refuse_steered(variable, &named, locations)?;
        return Ok(named);
    }
    let unknown = || Failure::usage("the home directory is not known").with_hint("set HOME");
    let base = match folder.base {
        FolderBase::Home | FolderBase::HomeOr(_) => locations.home.clone().ok_or_else(unknown)?,
        FolderBase::Config => {
            let own = locations.config.as_deref().ok_or_else(unknown)?;
            own.parent().map(Path::to_path_buf).ok_or_else(unknown)?
        }
    };
    Ok(if folder.path.is_empty() { base } else { base.join(folder.path) })
}

/// A repository may set variables for what runs in it, and would then hold the settings itself.
fn refuse_steered(variable: &str, named: &Path, locations: &SettingsLocations) -> Result<(), Failure> {
    let workspace = locations.workspace();
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let is_home_inside = locations.home.as_deref().is_some_and(|home| real(home).starts_with(workspace));
    if is_home_inside || !real(named).starts_with(workspace) {
        return Ok(());
    }
    let message = format!("the variable `{variable}` leads into the workspace `{}`", workspace.display());
    Err(Failure::usage(message).with_hint("unset it, or start from another directory"))
}

/// Finds a program by its name. What lies in the workspace, or where the current directory decides, is not the user's.
pub fn find_program(name: &str, locations: &SettingsLocations) -> Option<PathBuf> {
    let is_steered = |path: &Path| path.canonicalize().is_ok_and(|path| is_in_workspace(&path, locations));
    let directories = env_vars::path().into_iter().filter(|directory| directory.is_absolute());
    directories.map(|directory| directory.join(name)).find(|path| path.is_file() && !is_steered(path))
}

fn written((major, minor, patch): AgentVersion) -> String {
    format!("{major}.{minor}.{patch}")
}

/// Finds the first version in a text: three numbers with points between them.
fn version_in(text: &str) -> Option<AgentVersion> {
    text.split(|character: char| !character.is_ascii_digit() && character != '.').find_map(|word| {
        let mut numbers = word.split('.').map(str::parse::<u32>);
        match (numbers.next(), numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch))) => Some((major, minor, patch)),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_wherever_it_stands() {
        let table = [
            ("2.1.325 (Claude Code)\n", Some((2, 1, 325))),
            ("codex-cli 0.166.0\n", Some((0, 166, 0))),
            ("v1.2.3-beta.4", Some((1, 2, 3))),
            ("version 1.2", None),
            ("1.2.99999999999", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(version_in(text), expected, "{text}");
        }
    }

    fn agent(host: Host, program: &str) -> Agent {
        let program = Some(PathBuf::from(program));
        Agent { adapter: host.adapter(), program, folder: PathBuf::from("/home/ada/.agent") }
    }

    #[test]
    fn a_version_is_tried_not_tried_or_cannot_be_guarded() {
        let claude = agent(Host::Claude, "/usr/bin/claude");
        assert_eq!(claude.standing((2, 1, 325)), VersionStanding::Tried);
        assert_eq!(claude.standing((2, 1, 112)), VersionStanding::Tried);
        for (version, said) in [
            ((2, 1, 400), "Claude Code 2.1.400 was not tried with us; the newest that was is 2.1.325"),
            ((2, 1, 200), "Claude Code 2.1.200 was not tried with us; the newest that was is 2.1.325"),
            ((2, 0, 30), "Claude Code 2.0.30 was not tried with us, and is older than 2.1.112, which was"),
        ] {
            assert_eq!(claude.standing(version), VersionStanding::Untried(said.to_owned()));
        }
        assert!(matches!(claude.standing((1, 0, 58)), VersionStanding::Unguarded(_)));
        let pi = agent(Host::Pi, "/usr/bin/pi");
        let said =
            "Pi 0.34.2 runs calls that a hook denies; the oldest version that can be guarded is 0.35.0";
        assert_eq!(pi.standing((0, 34, 2)), VersionStanding::Unguarded(said.to_owned()));
    }

    #[test]
    fn of_a_program_that_never_ran_here_no_version_is_known() {
        for (host, program) in [(Host::Cursor, "/usr/bin/cursor"), (Host::Copilot, "/usr/bin/code")] {
            let standing = agent(host, program).standing((1, 0, 102));
            assert!(matches!(standing, VersionStanding::Untried(said) if said.starts_with("no version")));
        }
        assert_eq!(agent(Host::Copilot, "/usr/bin/copilot").standing((1, 0, 102)), VersionStanding::Tried);
    }
}
