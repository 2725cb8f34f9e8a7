//! Carrying a plan out: links first, so that no settings name what is not there, then each file in one step.

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_hosts::registration::{HookCommand, RegistrationPiece};
use portcullis_settings::SettingsLocations;
use portcullis_settings::disk::{DirectoryLock, FilePrivacy, ReplaceError, create_directory, replace};

use super::agent::Agent;
use super::ours::Ours;
use super::plan::{LinkChange, Plan, TextChange, file_of};
use super::record::{FileRecord, Record, Records, refused};
use super::text_kind::TextKind;
use super::{document, toml_document};
use portcullis_gate::Failure;

/// Takes turns with others who change settings of agents, until it is dropped.
#[derive(Debug)]
pub struct Turn {
    records: Records,
    _lock: Option<DirectoryLock>,
}

impl Turn {
    /// Waits for the turn.
    pub fn take(locations: &SettingsLocations) -> Result<Self, Failure> {
        let records = Records::of(locations)?;
        let lock = records.lock()?;
        Ok(Self { records, _lock: Some(lock) })
    }

    /// Looks at what was written, without a turn: for those who write nothing.
    pub fn look(locations: &SettingsLocations) -> Result<Self, Failure> {
        Ok(Self { records: Records::of(locations)?, _lock: None })
    }

    pub(super) const fn records(&self) -> &Records {
        &self.records
    }

    /// Carries out a plan, and returns where backups are.
    pub fn carry_out(
        &self,
        agent: &Agent,
        command: &HookCommand,
        plan: &Plan,
    ) -> Result<Vec<PathBuf>, Failure> {
        let known = self.records.read(agent.host());
        let mut record = known.clone().unwrap_or_else(|| Record::new(&command.program));
        record.program.clone_from(&command.program);
        let pieces = (agent.adapter.registration.pieces)(command);
        for change in &plan.texts {
            let own: Vec<&RegistrationPiece> =
                pieces.iter().filter(|piece| is_of(piece, agent, &change.path)).collect();
            let ours = Ours::new(agent.host(), Path::new(&known.as_ref().unwrap_or(&record).program));
            let before = original(change, known.as_ref(), &own, &ours);
            record.set_file(FileRecord {
                path: change.path.clone(),
                kind: change.kind,
                before,
                after: change.after.clone(),
                keys: Vec::new(),
            });
            remember_directories(&mut record, &change.real_path);
        }
        for link in &plan.links {
            if !record.links.contains(&link.path) {
                record.links.push(link.path.clone());
            }
            remember_directories(&mut record, &link.path);
        }
        // Kept before anything is changed: what is not written after all is found not to be there.
        self.records.write(agent.host(), &record)?;
        plan.links.iter().try_for_each(link)?;
        let mut backups = Vec::new();
        for change in &plan.texts {
            backups.extend(self.write(agent, change)?);
        }
        Ok(backups)
    }

    /// Changes one file beside what is planned, and remembers the keys of ours in it.
    pub(super) fn write_keys(
        &self,
        agent: &Agent,
        program: &str,
        change: &TextChange,
        keys: Vec<String>,
    ) -> Result<(), Failure> {
        let mut record = self.records.read(agent.host()).unwrap_or_else(|| Record::new(program));
        let known = record.file(&change.path).filter(|known| Some(&known.after) == change.before.as_ref());
        let before = known.map_or_else(|| change.before.clone(), |known| known.before.clone());
        record.set_file(FileRecord {
            path: change.path.clone(),
            kind: change.kind,
            before,
            after: change.after.clone(),
            keys,
        });
        self.records.write(agent.host(), &record)?;
        self.write(agent, change).map(|_| ())
    }

    fn write(&self, agent: &Agent, change: &TextChange) -> Result<Option<PathBuf>, Failure> {
        let backup = match &change.before {
            Some(text) => Some(self.records.back_up(agent.host(), &change.path, text)?),
            None => None,
        };
        let directory = change.real_path.parent().unwrap_or(Path::new("/"));
        create_directory(directory, FilePrivacy::Shared)
            .map_err(|error| refused(&change.path, ReplaceError::Io(error)))?;
        replace(&change.real_path, change.before.as_deref(), &change.after, FilePrivacy::Shared)
            .map_err(|refusal| refused(&change.path, refusal))?;
        if change.kind == TextKind::Whole && is_script(&change.after) {
            make_executable(&change.real_path)
                .map_err(|error| refused(&change.path, ReplaceError::Io(error)))?;
        }
        Ok(backup)
    }
}

fn is_of(piece: &RegistrationPiece, agent: &Agent, path: &Path) -> bool {
    file_of(piece).is_some_and(|file| agent.folder.join(file) == path)
}

/// Returns what undoing a change gives back: the text without anything of ours.
fn original(
    change: &TextChange,
    known: Option<&Record>,
    pieces: &[&RegistrationPiece],
    ours: &Ours,
) -> Option<String> {
    let known = known.and_then(|record| record.file(&change.path));
    if let Some(known) = known.filter(|known| Some(&known.after) == change.before.as_ref()) {
        return known.before.clone();
    }
    let before = change.before.as_deref()?;
    if change.kind == TextKind::Whole {
        // An earlier version of what is all ours.
        return None;
    }
    let original = known.and_then(|known| known.before.as_deref());
    let strip = if change.kind == TextKind::Toml { toml_document::strip } else { document::strip };
    Some(strip(before, pieces, ours, original).unwrap_or_else(|_| before.to_owned()))
}

/// Remembers which directories will have been made, so that undoing can remove them.
fn remember_directories(record: &mut Record, file: &Path) {
    let missing: Vec<PathBuf> =
        file.ancestors().skip(1).take_while(|place| !place.exists()).map(Path::to_path_buf).collect();
    for place in missing.into_iter().rev() {
        if !record.directories.contains(&place) {
            record.directories.push(place);
        }
    }
}

fn link(change: &LinkChange) -> Result<(), Failure> {
    let failed = |error: std::io::Error| refused(&change.path, ReplaceError::Io(error));
    if let Some(directory) = change.path.parent() {
        create_directory(directory, FilePrivacy::Shared).map_err(failed)?;
    }
    if change.before.is_some() {
        fs::remove_file(&change.path).map_err(failed)?;
    }
    make_link(&change.target, &change.path).map_err(failed)
}

/// Says whether a text is that of a program, which its host starts.
pub fn is_script(text: &str) -> bool {
    text.starts_with("#!")
}

#[cfg(unix)]
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut permissions = fs::metadata(path)?.permissions();
    permissions.set_mode(permissions.mode() | 0o111);
    fs::set_permissions(path, permissions)
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn make_link(target: &Path, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn make_link(target: &Path, path: &Path) -> std::io::Result<()> {
    fs::copy(target, path).map(|_| ())
}
