//! Profile files: what an organization, the user and a trusted project tell of programs.
//!
//! | source  | folder                              | may describe                            |
//! |---------|-------------------------------------|-----------------------------------------|
//! | policy  | `/etc/portcullis/commands/`         | any program                             |
//! | user    | `~/.config/portcullis/commands/`    | any program                             |
//! | project | `.portcullis/commands/`, if trusted | programs that have no built-in profile  |
//!
//! A profile can let more run, so it counts where an allow rule of the same place would. A file that is not understood is
//! reported and counts for nothing: the built-in profile stays, and an unknown program stays unknown. Files of a
//! workspace that is not trusted are not even opened.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_core::profile::{
    Authority, Dialect, ProfileError, ProfileOrigin, Profiles, WrongExample, compile, wrong_examples,
};
use portcullis_core::{Origin, Source};

use crate::disk::{list_files, plain, read_text};
use crate::json::TextPosition;
use crate::layer::{IgnoredReason, IgnoredSetting};
use crate::loaded::{DocumentState, LoadedSettings, SettingsDocument};
use crate::location::{SettingsLocations, SettingsOwner};
use crate::problem::{ProblemSeverity, SettingsProblem};
use crate::trust::WorkspaceTrust;

/// The largest profile file that is read.
const SIZE_LIMIT: u64 = 1024 * 1024;

/// How many files of a folder are read.
const FILE_LIMIT: usize = 256;

/// What the profile files of a load are weighed with.
pub(crate) struct ProfileLoader<'load, L> {
    pub(crate) locations: &'load SettingsLocations,
    /// Whether managed settings allow nobody else to widen.
    pub(crate) managed_only: bool,
    /// Asks whether the workspace is trusted, where nothing did before.
    pub(crate) look_up_trust: L,
}

impl<L: FnOnce() -> (WorkspaceTrust, Option<SettingsProblem>)> ProfileLoader<'_, L> {
    /// Reads the files, the strongest source first, and notes what they say.
    pub(crate) fn load(self, loaded: &mut LoadedSettings) {
        let mut profiles = Profiles::default();
        let mut look_up_trust = Some(self.look_up_trust);
        for (source, folder) in self.locations.profile_folders() {
            let files = match list_files(&folder, "toml") {
                Ok(files) => files,
                // What would be the folder around it is a file.
                Err(error) if error.kind() == ErrorKind::NotADirectory && !folder.exists() => continue,
                Err(error) => {
                    let message = format!("the directory cannot be listed: {}", plain(&error));
                    loaded.problems.push(
                        SettingsProblem::new(ProblemSeverity::Error, message).in_file(&name_of(&folder)),
                    );
                    continue;
                }
            };
            if source.is_in_repository()
                && !files.is_empty()
                && loaded.trust.is_none()
                && let Some(look_up) = look_up_trust.take()
            {
                let (trust, problem) = look_up();
                loaded.trust = Some(trust);
                loaded.problems.extend(problem);
            }
            if files.len() > FILE_LIMIT {
                let message =
                    format!("there are more than {FILE_LIMIT} profile files; the others are not read");
                loaded
                    .problems
                    .push(SettingsProblem::new(ProblemSeverity::Error, message).in_file(&name_of(&folder)));
            }
            let against = reason_against(source, loaded, self.managed_only);
            for file in files.iter().take(FILE_LIMIT) {
                let name = name_of(file);
                if let Some(reason) = against {
                    let origin = Origin { file: Some(Arc::clone(&name)), ..Origin::bare(source) };
                    loaded.ignored.push(IgnoredSetting {
                        what: "profiles of programs".to_owned(),
                        origin,
                        reason,
                    });
                    continue;
                }
                let before = profiles.added().count();
                let result = read(file, source, self.locations, &name, &mut profiles);
                let programs = profiles.added().count() - before;
                let state = if result.is_ok() { DocumentState::Read } else { DocumentState::Broken };
                loaded.problems.extend(result.err());
                let owner = SettingsOwner::Portcullis;
                loaded.documents.push(SettingsDocument { source, owner, name, state, rules: 0, programs });
            }
        }
        loaded.profiles = Arc::new(profiles);
    }
}

/// A profile widens as an allow rule does, so that whatever speaks against one speaks against the other.
fn reason_against(source: Source, loaded: &LoadedSettings, managed_only: bool) -> Option<IgnoredReason> {
    if source == Source::Policy {
        None
    } else if managed_only {
        Some(IgnoredReason::ManagedRulesOnly)
    } else if loaded.damaged {
        Some(IgnoredReason::BrokenSettings)
    } else if source.is_in_repository() && !loaded.trust.is_some_and(WorkspaceTrust::is_trusted) {
        Some(IgnoredReason::UntrustedWorkspace)
    } else {
        None
    }
}

fn read(
    file: &Path,
    source: Source,
    locations: &SettingsLocations,
    name: &Arc<str>,
    profiles: &mut Profiles,
) -> Result<(), SettingsProblem> {
    // A report must not carry the contents of a file that a repository links to.
    if source.is_in_repository()
        && !file.canonicalize().is_ok_and(|real| locations.is_inside_workspace(&real))
    {
        let message = "the file this leads to lies outside of the repository";
        return Err(SettingsProblem::new(ProblemSeverity::Error, message).in_file(name));
    }
    let text = match read_text(file, SIZE_LIMIT) {
        Ok(text) => text.unwrap_or_default(),
        Err(unreadable) => {
            let problem = SettingsProblem::new(ProblemSeverity::Error, unreadable.message).in_file(name);
            return Err(SettingsProblem { hint: unreadable.hint.map(str::to_owned), ..problem });
        }
    };
    let authority = if source.is_in_repository() { Authority::NewPrograms } else { Authority::AnyProgram };
    let origin = ProfileOrigin { source: source.as_str(), file: Arc::clone(name) };
    profiles.add(&text, &origin, authority).map_err(|error| {
        let hint = "until it is mended, nothing of the file counts; try `portcullis profiles check FILE`";
        problem_at(&text, name, &error).with_hint(hint)
    })
}

/// What a check of one profile file found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileCheck {
    /// The programs it describes.
    pub programs: Vec<String>,
    /// How many examples were tried.
    pub examples: usize,
    /// What is wrong with it.
    pub problems: Vec<SettingsProblem>,
}

/// Checks the text of a profile file and tries its examples, as if it were the user's.
pub fn check_profiles(text: &str, file: &Arc<str>) -> ProfileCheck {
    let mut check = ProfileCheck { programs: Vec::new(), examples: 0, problems: Vec::new() };
    let origin = ProfileOrigin { source: Source::User.as_str(), file: Arc::clone(file) };
    let mut profiles = Profiles::default();
    let compiled = match profiles.add(text, &origin, Authority::AnyProgram).and_then(|()| compile(text)) {
        Ok(compiled) => compiled,
        Err(error) => {
            check.problems.push(problem_at(text, file, &error));
            return check;
        }
    };
    for profile in &compiled {
        check.programs.extend(profile.names.iter().map(|name| name.name.clone()));
        check.examples += profile.examples.len();
        for WrongExample { example, found } in wrong_examples(profile, &profiles, Dialect::of(profile)) {
            let message = format!(
                "`{}` has other effects than the example says: {}",
                example.command,
                if found.is_empty() { "none".to_owned() } else { found.join(", ") }
            );
            check.problems.push(problem_at(text, file, &ProfileError::at(text, example.at, message)));
        }
    }
    check
}

fn problem_at(text: &str, file: &Arc<str>, error: &ProfileError) -> SettingsProblem {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let position = TextPosition { line: number(error.line), column: number(error.column), length: 1 };
    SettingsProblem::new(ProblemSeverity::Error, error.message.as_str()).in_file(file).at(text, position)
}

fn name_of(path: &Path) -> Arc<str> {
    Arc::from(path.to_string_lossy())
}

impl SettingsLocations {
    /// Returns the folders of profile files, there or not, the strongest source first.
    pub fn profile_folders(&self) -> Vec<(Source, PathBuf)> {
        let mut folders = vec![(Source::Policy, self.managed.portcullis.join("commands"))];
        folders.extend(self.config.as_ref().map(|config| (Source::User, config.join("commands"))));
        folders.push((Source::Project, self.project.join(".portcullis/commands")));
        folders
    }
}
