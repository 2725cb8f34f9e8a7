//! What would be changed to register with an agent, worked out before anything is written.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use portcullis_hosts::registration::{HookCommand, RegistrationPiece};
use portcullis_settings::SettingsLocations;
use portcullis_settings::disk::{MAXIMUM_SIZE, read_text};

use super::agent::Agent;
use super::ours::Ours;
use super::record::Records;
use super::text_kind::TextKind;
use super::{document, file_difference, shown, toml_document};
use portcullis_gate::Failure;
use portcullis_gate::env_vars;

/// What registering with an agent changes; nothing if it is registered already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The files.
    pub texts: Vec<TextChange>,
    /// The further names of our program.
    pub links: Vec<LinkChange>,
}

/// A file that is made or replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChange {
    /// The file as people know it.
    pub path: PathBuf,
    /// The file itself, links followed.
    pub real_path: PathBuf,
    /// Its text; `None` if there is none.
    pub before: Option<String>,
    /// Its new text.
    pub after: String,
    /// What kind of file it is.
    pub kind: TextKind,
}

/// A further name of our program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkChange {
    /// The name.
    pub path: PathBuf,
    /// Our program.
    pub target: PathBuf,
    /// Where it leads now, if it is there.
    pub before: Option<PathBuf>,
}

impl Plan {
    /// Works out what registering an agent changes.
    pub fn make(
        agent: &Agent,
        command: &HookCommand,
        locations: &SettingsLocations,
    ) -> Result<Self, Failure> {
        let pieces = (agent.adapter.registration.pieces)(command);
        let mut ours = Ours::new(agent.host(), Path::new(&command.program));
        if let Some(former) = Records::of(locations)?.read(agent.host()) {
            ours = ours.or_of(Path::new(&former.program));
        }
        let mut plan = Self { texts: Vec::new(), links: Vec::new() };
        for file in files_of(&pieces) {
            let own: Vec<&RegistrationPiece> =
                pieces.iter().filter(|piece| file_of(piece) == Some(file)).collect();
            let change = TextChange::make(&agent.folder.join(file), &own, &ours)?;
            refuse_dropped(agent, &change)?;
            if change.before.as_deref() != Some(&change.after) {
                plan.texts.push(change);
            }
        }
        for piece in &pieces {
            if let RegistrationPiece::ProgramName { name } = piece {
                plan.links.extend(LinkChange::make(name, Path::new(&command.program), &ours, locations)?);
            }
        }
        Ok(plan)
    }

    /// Says whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.links.is_empty()
    }

    /// Writes it for people.
    pub fn show(&self) -> String {
        let texts = self.texts.iter().map(TextChange::show);
        texts.chain(self.links.iter().map(LinkChange::show)).collect()
    }
}

/// Refuses to write into a file that the agent would not take: it would look registered, and no call would be judged.
fn refuse_dropped(agent: &Agent, change: &TextChange) -> Result<(), Failure> {
    let text = change.before.as_deref().filter(|_| change.kind == TextKind::Json);
    let Some(why) = text.and_then(agent.adapter.registration.refusal) else { return Ok(()) };
    let (title, path) = (agent.adapter.title, change.path.display());
    let message = format!("{title} does not take `{path}` as it is, and calls no hook of it: {why}");
    Err(Failure::usage(message)
        .with_hint("mend the file and run `portcullis init` again; nothing was written"))
}

impl TextChange {
    fn make(path: &Path, pieces: &[&RegistrationPiece], ours: &Ours) -> Result<Self, Failure> {
        let (real_path, before) = read(path)?;
        let whole = pieces.iter().find_map(|piece| match piece {
            RegistrationPiece::File { text, .. } => Some(text),
            _ => None,
        });
        let (after, kind) = if let Some(text) = whole {
            refuse_foreign(path, before.as_deref(), text)?;
            (text.clone(), TextKind::Whole)
        } else {
            let is_toml = toml_document::is_toml(path);
            let put = if is_toml { toml_document::put } else { document::put };
            let after = put(before.as_deref(), pieces, ours).map_err(|why| unreadable(path, &why))?;
            (after, if is_toml { TextKind::Toml } else { TextKind::Json })
        };
        Ok(Self { path: path.to_path_buf(), real_path, before, after, kind })
    }

    /// Writes it for people.
    pub fn show(&self) -> String {
        file_difference(&self.path, self.before.as_deref(), &self.after)
    }
}

impl LinkChange {
    /// Puts the name beside the program if that can be, else where the user's own programs are.
    fn make(
        name: &str,
        program: &Path,
        ours: &Ours,
        locations: &SettingsLocations,
    ) -> Result<Option<Self>, Failure> {
        let directory = link_directory(program, locations)?;
        let path = directory.join(name);
        let before = match fs::symlink_metadata(&path) {
            Err(_) => None,
            Ok(metadata) if metadata.is_symlink() && leads_to_us(&path, ours) => fs::read_link(&path).ok(),
            Ok(_) => {
                let message = format!("`{}` is there already and is not ours", path.display());
                return Err(Failure::usage(message).with_hint("move it away and try again"));
            }
        };
        let change = Self { path, target: program.to_path_buf(), before };
        Ok(Some(change).filter(|change| change.before.as_ref() != Some(&change.target)))
    }

    fn show(&self) -> String {
        format!("a link `{}` to `{}`\n", shown(&self.path), shown(&self.target))
    }

    /// Says whether a host that looks for programs by name would find it.
    pub fn is_on_path(&self) -> bool {
        self.path.parent().is_some_and(|directory| env_vars::path().iter().any(|entry| entry == directory))
    }
}

/// Says whether a link leads to our program, or led to it where it was earlier.
pub(super) fn leads_to_us(path: &Path, ours: &Ours) -> bool {
    fs::read_link(path).is_ok_and(|target| ours.has_program(&target))
}

fn link_directory(program: &Path, locations: &SettingsLocations) -> Result<PathBuf, Failure> {
    let beside = program.parent().filter(|directory| is_own(directory, locations));
    if let Some(directory) =
        beside.filter(|directory| env_vars::path().iter().any(|entry| entry == directory))
    {
        return Ok(directory.to_path_buf());
    }
    let home = locations.home.as_deref();
    let home = home.ok_or_else(|| Failure::usage("the home directory is not known").with_hint("set HOME"))?;
    Ok(home.join(".local/bin"))
}

/// Says whether a directory is the user's to write: one that belongs to whom the home belongs to.
fn is_own(directory: &Path, locations: &SettingsLocations) -> bool {
    let look = |path: &Path| fs::metadata(path).ok();
    let home = locations.home.as_deref().and_then(look);
    look(directory)
        .zip(home)
        .is_some_and(|(directory, home)| directory.uid() == home.uid() && !directory.permissions().readonly())
}

/// The files that pieces go to, each once and in their order.
pub fn files_of(pieces: &[RegistrationPiece]) -> Vec<&'static str> {
    let mut files = Vec::new();
    for file in pieces.iter().filter_map(file_of) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// The file that a piece goes to.
pub const fn file_of(piece: &RegistrationPiece) -> Option<&'static str> {
    match piece {
        RegistrationPiece::Element { file, .. }
        | RegistrationPiece::Field { file, .. }
        | RegistrationPiece::File { file, .. } => Some(file),
        RegistrationPiece::ProgramName { .. } => None,
    }
}

/// Reads a file that may be missing, and follows links to it.
pub(super) fn read(path: &Path) -> Result<(PathBuf, Option<String>), Failure> {
    let text = read_text(path, MAXIMUM_SIZE).map_err(|error| {
        let failure = Failure::usage(format!("`{}` was left as it is: {}", path.display(), error.message));
        error.hint.map_or_else(|| failure.clone(), |hint| failure.clone().with_hint(hint))
    })?;
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if fs::metadata(&real).is_ok_and(|metadata| metadata.permissions().readonly()) {
        let message = format!("`{}` was left as it is: it is read-only", path.display());
        return Err(Failure::usage(message).with_hint("make it writable, or have its owner register us"));
    }
    Ok((real, text))
}

/// Makes the failure of a file that cannot be understood.
pub(super) fn unreadable(path: &Path, why: &str) -> Failure {
    let message = format!("`{}` was left as it is, because it cannot be read: {why}", path.display());
    Failure::usage(message).with_hint("repair the file and try again")
}

/// A file in the place of one that is all ours may be somebody else's.
fn refuse_foreign(path: &Path, before: Option<&str>, ours: &str) -> Result<(), Failure> {
    if before.is_none_or(|before| is_same_kind(before, ours)) {
        return Ok(());
    }
    let message = format!("`{}` is there already and is not ours", path.display());
    Err(Failure::usage(message).with_hint("move it away and try again"))
}

/// Says whether a text is a file of ours or an earlier version of it: it begins like it and names us. Our program may
/// have another name, so that the very same text need not. The line that names a script's shell says nothing.
pub(super) fn is_same_kind(text: &str, ours: &str) -> bool {
    let first = |text: &str| text.lines().find(|line| !line.starts_with("#!")).map(str::to_owned);
    let is_earlier = || first(text) == first(ours) && text.contains("portcullis");
    text == ours || text.trim().is_empty() || is_earlier()
}
