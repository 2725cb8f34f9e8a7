//! What a command runs, as it lies on the disk: the file of its program, the text of its scripts, where its paths lead.

use std::fs::{self, File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use portcullis_core::command_shape::TargetKind;
use ring::digest::{Context, SHA256};

use crate::env_vars;
use crate::id::hex;

/// A longer file has no hash, and what runs it no memory, in bytes.
const LONGEST: u64 = 256 * 1024 * 1024;

/// Directories for temporary files, as they are written.
const TEMPORARY: [&str; 5] = ["/tmp", "/var/tmp", "/private/tmp", "/var/folders", "/private/var/folders"];

/// The file that a program is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProgramFile {
    /// Its path, links followed.
    pub(super) file: String,
    /// The hash of what it holds, unless only an administrator can change it.
    pub(super) digest: Option<String>,
}

impl ProgramFile {
    /// Finds the file that a shell in a directory would run; `None` if there is none, or nobody can tell. Whoever owns
    /// `own` asks.
    pub(super) fn find(program: &str, directory: &str, own: &Path) -> Option<Self> {
        let named = if program.contains('/') {
            Path::new(directory).join(program)
        } else {
            search(program, &env_vars::path())?
        };
        let real = named.canonicalize().ok()?;
        let metadata = fs::metadata(&real).ok()?;
        if !is_program(&metadata) {
            return None;
        }
        let digest = if is_administrators(&real, own) { None } else { Some(digest(&real)?) };
        Some(Self { file: real.to_str()?.to_owned(), digest })
    }
}

/// Returns the first program of a name. A directory that depends on where the shell stands could hold any.
fn search(program: &str, directories: &[PathBuf]) -> Option<PathBuf> {
    for directory in directories {
        if !directory.is_absolute() {
            return None;
        }
        let file = directory.join(program);
        if fs::metadata(&file).is_ok_and(|metadata| is_program(&metadata)) {
            return Some(file);
        }
    }
    None
}

fn is_program(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.mode() & 0o111 != 0
}

/// Says whether only an administrator can change a file, and the user is none.
fn is_administrators(file: &Path, own: &Path) -> bool {
    let is_users = fs::metadata(own).is_ok_and(|metadata| metadata.uid() != 0);
    let is_kept = |path: &Path| {
        fs::symlink_metadata(path).is_ok_and(|metadata| metadata.uid() == 0 && metadata.mode() & 0o022 == 0)
    };
    is_users && file.ancestors().all(is_kept)
}

/// Returns the hash of a script; empty if there is none, `None` if it cannot be read.
pub(super) fn digest_of(script: &str) -> Option<String> {
    match fs::metadata(script) {
        Ok(metadata) if metadata.is_file() => digest(Path::new(script)),
        Ok(metadata) if metadata.is_dir() => Some(String::new()),
        Ok(_) => None,
        Err(error) => (error.kind() == std::io::ErrorKind::NotFound).then(String::new),
    }
}

fn digest(file: &Path) -> Option<String> {
    let mut file = File::open(file).ok()?;
    if file.metadata().ok()?.len() > LONGEST {
        return None;
    }
    let mut context = Context::new(&SHA256);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hex(context.finish().as_ref())),
            count => context.update(buffer.get(..count)?),
        }
    }
}

/// Says whether a path lies where it seems to, and no link below the workspace or the temporary directory leads elsewhere.
pub(super) fn lies_directly(path: &str, kind: TargetKind, project: &str) -> bool {
    let path = Path::new(path);
    let is_plain = !path.components().any(|part| part == Component::ParentDir);
    let stays = |root: &Path| {
        let (Ok(rest), Ok(real)) = (path.strip_prefix(root), root.canonicalize()) else { return false };
        real_path(path) == Some(real.join(rest))
    };
    is_plain
        && match kind {
            TargetKind::Workspace => {
                let project = Path::new(project);
                stays(project) || project.canonicalize().is_ok_and(|real| stays(&real))
            }
            TargetKind::Temporary => TEMPORARY.iter().any(|root| stays(Path::new(root))),
            TargetKind::OwnService => false,
        }
}

/// Returns where a path leads; of one that is not there, its nearest parent that is.
fn real_path(path: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut existing = path;
    while fs::symlink_metadata(existing).is_err() {
        missing.push(existing.file_name()?);
        existing = existing.parent()?;
    }
    let real = existing.canonicalize().ok()?;
    Some(missing.iter().rev().fold(real, |path, name| path.join(name)))
}
