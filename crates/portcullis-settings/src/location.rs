//! Where settings live: eight sources, and for the file-borne ones both Claude Code's file and our own (spec C9, C15).
//!
//! | source  | Claude Code's file                                   | our own file                                     | `/x` means |
//! |---------|------------------------------------------------------|--------------------------------------------------|------------|
//! | policy  | `/etc/claude-code/managed-settings.json`, `.d/*.json` | `/etc/portcullis/managed-settings.json`, `.d/*.json` | `/x` |
//! | flag    | –                                                    | the file or JSON text of `--settings`            | the file's directory |
//! | local   | `.claude/settings.local.json`                        | `.portcullis/settings.local.json`                | the project |
//! | project | `.claude/settings.json`                              | `.portcullis/settings.json`                      | the project |
//! | user    | `~/.claude/settings.json`                            | `~/.config/portcullis/settings.json`             | the file's directory |
//!
//! Project files are looked for in the primary working directory alone; local files at the top of the repository's main
//! checkout, so that one grant serves all worktrees. Managed rules anchor at the root of the file system, because an
//! administrator who writes `/etc` means `/etc`.
//!
//! A policy that a store pushes to this machine is one more managed document, the weakest of them: `policy/current.json` in
//! the state directory, read where settings name the keys it may be signed with (see `pushed`).
//!
//! Nothing here reads the environment: the caller passes values in.

use std::path::{Path, PathBuf};

use portcullis_core::Source;

use crate::repository::GitRepository;

/// Values the caller took from the environment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SettingsEnvironment {
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`; a relative path is ignored, as its specification says.
    pub xdg_config_home: Option<PathBuf>,
    /// `XDG_STATE_HOME`; a relative path is ignored.
    pub xdg_state_home: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`.
    pub claude_config_dir: Option<PathBuf>,
    /// Where managed settings are, if not where they usually are.
    pub managed: Option<ManagedDirectories>,
    /// The session's primary working directory, if it is not the current one.
    pub project: Option<PathBuf>,
}

/// The directories managed settings are deployed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagedDirectories {
    /// Our own.
    pub portcullis: PathBuf,
    /// Claude Code's.
    pub claude: PathBuf,
}

impl ManagedDirectories {
    /// Returns the usual places of this operating system.
    pub fn usual() -> Self {
        if cfg!(target_os = "macos") {
            Self {
                portcullis: PathBuf::from("/Library/Application Support/Portcullis"),
                claude: PathBuf::from("/Library/Application Support/ClaudeCode"),
            }
        } else {
            Self { portcullis: PathBuf::from("/etc/portcullis"), claude: PathBuf::from("/etc/claude-code") }
        }
    }
}

/// Whose format and habits a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingsOwner {
    /// Claude Code's own file, read as it is.
    ClaudeCode,
    /// Our own file; inside one source it beats Claude Code's.
    Portcullis,
}

impl SettingsOwner {
    /// Both, the weaker first.
    pub const ALL: [Self; 2] = [Self::ClaudeCode, Self::Portcullis];
}

/// Everything that says where settings are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsLocations {
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// The directory of our own user settings.
    pub config: Option<PathBuf>,
    /// The directory of our own state, the trust store among it.
    pub state: Option<PathBuf>,
    /// Claude Code's configuration directory.
    pub claude: Option<PathBuf>,
    /// Claude Code's global file, which remembers trusted directories.
    pub claude_state: Option<PathBuf>,
    /// The managed directories.
    pub managed: ManagedDirectories,
    /// The current directory.
    pub cwd: PathBuf,
    /// The session's primary working directory.
    pub project: PathBuf,
    /// The same with symbolic links resolved, where that is possible.
    pub real_project: PathBuf,
    /// The repository around it, if there is one.
    pub repository: Option<GitRepository>,
}

/// A settings file that may or may not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFile {
    /// The source it belongs to.
    pub source: Source,
    /// Whose file it is.
    pub owner: SettingsOwner,
    /// Where it is.
    pub path: PathBuf,
    /// The directory a pattern with a single leading `/` is relative to; `None` stands for the project.
    pub base: Option<PathBuf>,
}

/// Follows the links of a directory. What the kernel calls the working directory has none, which is asked first because
/// agents start a hook where they work.
fn real_path(directory: &Path) -> PathBuf {
    if std::env::current_dir().is_ok_and(|current| current == directory) {
        return directory.to_path_buf();
    }
    directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf())
}

impl SettingsLocations {
    /// Works out the locations for a session in `cwd`. Looks at the disk only to find the repository.
    pub fn new(environment: SettingsEnvironment, cwd: &Path) -> Self {
        let SettingsEnvironment {
            home,
            xdg_config_home,
            xdg_state_home,
            claude_config_dir,
            managed,
            project,
        } = environment;
        let project = project.map_or_else(|| cwd.to_path_buf(), |project| cwd.join(project));
        let real_project = real_path(&project);
        let under_home = |name: &str| home.as_ref().map(|home| home.join(name));
        let absolute = |path: Option<PathBuf>| path.filter(|path| path.is_absolute());
        let claude_directory =
            claude_config_dir.filter(|path| !path.as_os_str().is_empty()).map(|path| cwd.join(path));
        Self {
            config: absolute(xdg_config_home)
                .or_else(|| under_home(".config"))
                .map(|path| path.join("portcullis")),
            state: absolute(xdg_state_home)
                .or_else(|| under_home(".local/state"))
                .map(|path| path.join("portcullis")),
            claude_state: claude_directory.as_ref().or(home.as_ref()).map(|path| path.join(".claude.json")),
            claude: claude_directory.or_else(|| under_home(".claude")),
            managed: managed.unwrap_or_else(ManagedDirectories::usual),
            repository: GitRepository::find(&real_project),
            cwd: cwd.to_path_buf(),
            home,
            project,
            real_project,
        }
    }

    /// Returns the directory that workspace trust is kept for: the main checkout, or the project outside a repository.
    pub fn workspace(&self) -> &Path {
        self.repository.as_ref().map_or(&self.real_project, |repository| &repository.main)
    }

    /// Returns the file of an editable source; `None` for the other sources, and for the user without a home.
    pub fn file(&self, source: Source, owner: SettingsOwner) -> Option<SettingsFile> {
        let repository_folder = match owner {
            SettingsOwner::ClaudeCode => ".claude",
            SettingsOwner::Portcullis => ".portcullis",
        };
        let (path, base) = match source {
            Source::Local => {
                let root = self.repository.as_ref().map_or(&self.project, |repository| &repository.main);
                (root.join(repository_folder).join("settings.local.json"), None)
            }
            Source::Project => (self.project.join(repository_folder).join("settings.json"), None),
            Source::User => {
                let directory = match owner {
                    SettingsOwner::ClaudeCode => self.claude.as_ref()?,
                    SettingsOwner::Portcullis => self.config.as_ref()?,
                };
                (directory.join("settings.json"), Some(directory.clone()))
            }
            Source::Policy | Source::Flag | Source::Argument | Source::Session | Source::Command => {
                return None;
            }
        };
        Some(SettingsFile { source, owner, path, base })
    }

    /// Returns the files of a source that sit at fixed places, the weaker owner first. Drop-in directories of managed
    /// settings are listed by `load`.
    pub fn files(&self, source: Source) -> Vec<SettingsFile> {
        if source == Source::Policy {
            return SettingsOwner::ALL.iter().map(|owner| self.managed_file(*owner)).collect();
        }
        let user_file = |owner| self.file(Source::User, owner).map(|file| file.path);
        SettingsOwner::ALL
            .iter()
            .filter_map(|owner| self.file(source, *owner))
            // In the home directory the project's file is the user's own.
            .filter(|file| source == Source::User || user_file(file.owner).as_ref() != Some(&file.path))
            .collect()
    }

    fn managed_file(&self, owner: SettingsOwner) -> SettingsFile {
        let directory = match owner {
            SettingsOwner::ClaudeCode => &self.managed.claude,
            SettingsOwner::Portcullis => &self.managed.portcullis,
        };
        SettingsFile {
            source: Source::Policy,
            owner,
            path: directory.join("managed-settings.json"),
            base: Some(PathBuf::from("/")),
        }
    }

    /// Says whether a path lies inside the repository or, outside one, inside the project; links resolved.
    pub(crate) fn is_inside_workspace(&self, path: &Path) -> bool {
        let inside = |directory: &Path| path.starts_with(directory);
        let repository = self.repository.as_ref();
        inside(&self.real_project)
            || repository.is_some_and(|repository| inside(&repository.main) || inside(&repository.checkout))
    }
}
