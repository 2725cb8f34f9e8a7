//! Our own program: where it is, and whether others could put something else in its place.

use std::fs::{self, Metadata};
use std::path::{Component, Path, PathBuf};

use portcullis_settings::SettingsLocations;

use portcullis_gate::Failure;
use portcullis_hook::SMALL_NAME;

/// What is known of a program that hosts start before every call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its absolute path, links resolved.
    pub path: PathBuf,
    /// The same as text, for settings files.
    pub text: String,
    /// Whether it lies where an agent works.
    pub is_in_workspace: bool,
    /// Why it should lie elsewhere, a clause each.
    pub doubts: Vec<String>,
}

/// Finds the program to register: the one that was named, or the running one.
pub fn find(named: Option<&Path>, locations: &SettingsLocations) -> Result<Program, Failure> {
    match named {
        Some(path) => inspect(path, locations),
        None => inspect(&running()?.path, locations),
    }
}

/// Names the running program, whether it should be registered or not.
pub fn running() -> Result<Program, Failure> {
    let unknown = |why: &str| Failure::internal(format!("this program's own path is not known: {why}"));
    let path = std::env::current_exe().map_err(|error| unknown(&error.to_string()))?;
    // Agents start the small program, which is installed beside the full one.
    let path = path.canonicalize().unwrap_or(path).with_file_name(SMALL_NAME);
    let text = path.to_str().ok_or_else(|| unknown("it is not text"))?.to_owned();
    Ok(Program { path, text, is_in_workspace: false, doubts: Vec::new() })
}

/// Looks at a program. One that others can replace is refused; one that an agent could replace is doubtful.
pub fn inspect(path: &Path, locations: &SettingsLocations) -> Result<Program, Failure> {
    let refused = |why: String| Failure::usage(format!("`{}` {why}", path.display()));
    let real = path.canonicalize().map_err(|_| refused("is not there".to_owned()))?;
    let metadata = fs::metadata(&real).map_err(|error| refused(format!("cannot be looked at: {error}")))?;
    if !metadata.is_file() || !is_executable(&metadata) {
        return Err(refused("is not a program".to_owned()));
    }
    let owner = locations.home.as_deref().and_then(|home| fs::metadata(home).ok());
    for place in real.ancestors() {
        let Ok(metadata) = fs::metadata(place) else { continue };
        if let Some(why) = exposure(&metadata, owner.as_ref()) {
            let message =
                format!("`{}` {why}, so others could replace `{}`", place.display(), real.display());
            let hint = "install it where only you or the administrator can write, and run `init` from there";
            return Err(Failure::usage(message).with_hint(hint));
        }
    }
    let text = real.to_str().ok_or_else(|| refused("has a name that is not text".to_owned()))?.to_owned();
    let is_in_workspace = is_in_workspace(&real, locations);
    let doubts = doubts(&real, locations, is_in_workspace);
    Ok(Program { path: real, text, is_in_workspace, doubts })
}

/// Says whether a path lies in the workspace. Whoever works in the home directory itself, or at the root of the disk,
/// has everything of their own in it.
pub(super) fn is_in_workspace(path: &Path, locations: &SettingsLocations) -> bool {
    let workspace = locations.workspace();
    let home = locations.home.as_deref().and_then(|home| home.canonicalize().ok());
    path.starts_with(workspace) && home.as_deref() != Some(workspace) && workspace != Path::new("/")
}

/// Says why an agent could replace a program, or why it may soon be gone.
fn doubts(path: &Path, locations: &SettingsLocations, is_in_workspace: bool) -> Vec<String> {
    let mut doubts = Vec::new();
    if is_in_workspace {
        let workspace = locations.workspace().display();
        doubts.push(format!("lies in the workspace `{workspace}`, where an agent may replace it"));
    }
    let temporary = [Path::new("/tmp"), Path::new("/var/tmp"), Path::new("/dev/shm"), Path::new("/run")];
    if temporary.iter().any(|place| path.starts_with(place)) || path.starts_with(std::env::temp_dir()) {
        doubts.push("lies in a temporary directory, and may be gone soon".to_owned());
    }
    let is_build = path.components().any(|part| part == Component::Normal("target".as_ref()));
    if is_build {
        doubts.push("lies in a build directory, where every build replaces it".to_owned());
    }
    doubts
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    true
}

/// Says why others could change a file or a directory. In a directory like the system's temporary one, which all may
/// write, nobody can replace what is not theirs.
#[cfg(unix)]
fn exposure(metadata: &Metadata, owner: Option<&Metadata>) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt as _;
    let mode = metadata.mode();
    let is_sticky = metadata.is_dir() && mode & 0o1000 != 0;
    if mode & 0o002 != 0 && !is_sticky {
        return Some("can be written by everybody");
    }
    let is_theirs = owner.is_some_and(|owner| metadata.uid() != owner.uid()) && metadata.uid() != 0;
    is_theirs.then_some("belongs to somebody else")
}

#[cfg(not(unix))]
fn exposure(_: &Metadata, _: Option<&Metadata>) -> Option<&'static str> {
    None
}
