//! Undoing what was written for an agent: the same bytes as before where nobody changed them since, else without us.
//!
//! A record says what to write where. So that nobody who gets at it can have other files written or removed, it is
//! believed about the agent's own settings and about links to our program alone.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use portcullis_hosts::Host;
use portcullis_hosts::registration::{HookCommand, RegistrationPiece};
use portcullis_settings::disk::{FilePrivacy, ReplaceError, replace};

use super::agent::{Agent, newest};
use super::ours::Ours;
use super::plan::{file_of, files_of, is_same_kind, leads_to_us, read, unreadable};
use super::program::Program;
use super::record::{FileRecord, refused};
use super::text_kind::TextKind;
use super::writing::Turn;
use super::{codex_trust, document, file_difference, shown, toml_document};
use portcullis_gate::Failure;

/// What undoing changes; nothing if there is nothing of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undo {
    texts: Vec<TextUndo>,
    links: Vec<PathBuf>,
    directories: Vec<PathBuf>,
    /// Files on record that are not the agent's, and left alone.
    pub left: Vec<PathBuf>,
}

/// A file that is given back.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TextUndo {
    path: PathBuf,
    real_path: PathBuf,
    now: String,
    /// Its new text; `None` if it is removed.
    after: Option<String>,
}

impl Undo {
    /// Works out what undoing changes.
    pub fn make(turn: &Turn, agent: &Agent, program: &Program) -> Result<Self, Failure> {
        let record = turn.records().read(agent.host());
        let registered = record.as_ref().map_or(&program.text, |record| &record.program);
        let arguments = vec!["hook".to_owned(), agent.host().name().to_owned()];
        let command = HookCommand { program: registered.clone(), arguments, host_version: None };
        let pieces = (agent.adapter.registration.pieces)(&command);
        let ours = Ours::new(agent.host(), Path::new(registered));
        let recorded = record.iter().flat_map(|record| &record.files).map(|file| file.path.clone());
        let (mut paths, left): (Vec<PathBuf>, Vec<PathBuf>) =
            recorded.partition(|path| is_of_agent(path, agent, &command));
        for file in files_of(&pieces) {
            let path = agent.folder.join(file);
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let mut texts = Vec::new();
        for path in &paths {
            let own: Vec<&RegistrationPiece> = pieces
                .iter()
                .filter(|piece| file_of(piece).is_some_and(|file| agent.folder.join(file) == *path))
                .collect();
            let known = record.as_ref().and_then(|record| record.file(path));
            texts.extend(undo_text(path, known, &own, &ours)?);
        }
        let named: Vec<PathBuf> = record
            .iter()
            .flat_map(|record| &record.links)
            .filter(|link| pieces.iter().any(|piece| is_named(link, piece)))
            .cloned()
            .collect();
        let mut directories = record.map(|record| record.directories).unwrap_or_default();
        directories.retain(|directory| paths.iter().chain(&named).any(|path| path.starts_with(directory)));
        let links = named.into_iter().filter(|link| leads_to_us(link, &ours)).collect();
        Ok(Self { texts, links, directories, left })
    }

    /// Says whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.links.is_empty()
    }

    /// Writes it for people.
    pub fn show(&self) -> String {
        let mut out = String::new();
        for text in &self.texts {
            match &text.after {
                Some(after) => out.push_str(&file_difference(&text.path, Some(&text.now), after)),
                None => _ = writeln!(out, "removes `{}`", shown(&text.path)),
            }
        }
        for link in &self.links {
            let _ = writeln!(out, "removes the link `{}`", shown(link));
        }
        out
    }

    /// Carries it out: settings first, so that no host is left with a name that leads nowhere.
    pub fn carry_out(&self, turn: &Turn, agent: &Agent) -> Result<(), Failure> {
        for text in &self.texts {
            turn.records().back_up(agent.host(), &text.path, &text.now)?;
            text.carry_out().map_err(|refusal| refused(&text.path, refusal))?;
        }
        for link in &self.links {
            fs::remove_file(link).map_err(|error| refused(link, ReplaceError::Io(error)))?;
        }
        for directory in self.directories.iter().rev() {
            // One that others use by now stays.
            let _ = fs::remove_dir(directory);
        }
        if self.left.is_empty() {
            turn.records().remove(agent.host());
        }
        Ok(())
    }
}

impl TextUndo {
    fn carry_out(&self) -> Result<(), ReplaceError> {
        match &self.after {
            Some(after) => replace(&self.real_path, Some(&self.now), after, FilePrivacy::Shared),
            None if fs::read(&self.real_path)? != self.now.as_bytes() => Err(ReplaceError::Changed),
            None => Ok(fs::remove_file(&self.real_path)?),
        }
    }
}

/// Says whether a file on record is one of the agent's settings: one that `init` writes for it, or another one that
/// really lies in the folder of its settings.
fn is_of_agent(path: &Path, agent: &Agent, command: &HookCommand) -> bool {
    let pieces = agent.adapter.registration.pieces;
    let (usual, newest) = (pieces(command), pieces(&newest(command)));
    let trust = Some(codex_trust::CONFIG).filter(|_| agent.host() == Host::Codex);
    let mut files = files_of(&usual).into_iter().chain(files_of(&newest)).chain(trust);
    if files.any(|file| agent.folder.join(file) == path) {
        return true;
    }
    // The home directory is no agent's own.
    let is_own = !agent.adapter.registration.folder.path.is_empty();
    let is_inside = || Some(path.canonicalize().ok()?.starts_with(agent.folder.canonicalize().ok()?));
    is_own && is_inside().unwrap_or(false)
}

/// Says whether a link has the name that a piece gives our program.
fn is_named(link: &Path, piece: &RegistrationPiece) -> bool {
    matches!(piece, RegistrationPiece::ProgramName { name } if link.file_name().is_some_and(|own| own == *name))
}

fn undo_text(
    path: &Path,
    known: Option<&FileRecord>,
    pieces: &[&RegistrationPiece],
    ours: &Ours,
) -> Result<Option<TextUndo>, Failure> {
    let (real_path, now) = read(path)?;
    let Some(now) = now else { return Ok(None) };
    let after = match known.filter(|known| known.after == now) {
        Some(known) => known.before.clone(),
        None => stripped(path, &now, known, pieces, ours)?,
    };
    let undo = TextUndo { path: path.to_path_buf(), real_path, now, after };
    Ok(Some(undo).filter(|undo| undo.after.as_ref() != Some(&undo.now)))
}

/// Takes only what is ours out of a file that was changed since, or of which nothing is known.
fn stripped(
    path: &Path,
    now: &str,
    known: Option<&FileRecord>,
    pieces: &[&RegistrationPiece],
    ours: &Ours,
) -> Result<Option<String>, Failure> {
    let whole = pieces.iter().find_map(|piece| match piece {
        RegistrationPiece::File { text, .. } => Some(text),
        _ => None,
    });
    if let Some(text) = whole {
        return Ok(Some(now.to_owned()).filter(|_| !is_same_kind(now, text)));
    }
    let original = known.and_then(|known| known.before.as_deref());
    let after = match known {
        _ if toml_document::is_toml(path) && !pieces.is_empty() => {
            toml_document::strip(now, pieces, ours, original)
        }
        Some(known) if known.kind == TextKind::Toml => codex_trust::distrust(now, &known.keys, original),
        _ => document::strip(now, pieces, ours, original),
    };
    let after = after.map_err(|why| unreadable(path, &why))?;
    let is_ours_alone = known.is_some() && original.is_none();
    let is_bare = matches!(after.split_whitespace().collect::<String>().as_str(), "" | "{}");
    Ok(Some(after).filter(|_| !(is_ours_alone && is_bare)))
}
