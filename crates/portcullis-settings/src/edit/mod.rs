//! Adding and removing rules and sections in a settings file, leaving every other byte as its author wrote it (spec C14).
//!
//! The file is changed in one piece: locked, read, edited in a syntax tree that keeps comments and spacing, checked,
//! written beside the old one, renamed over it. A rule that does not compile is never written, a file that is broken is
//! never touched, and a file that changed in between is left alone.

mod change;
mod error;
mod mode;
mod section;
mod target;

use std::fs;
use std::path::PathBuf;

use portcullis_core::rule::{Behavior, Rule};
use portcullis_core::{Mode, Origin, Source};

pub use error::EditError;

use crate::disk::{DirectoryLock, FilePrivacy, create_directory, replace};
use crate::location::{SettingsLocations, SettingsOwner};
use change::RuleChange;
use mode::put_mode;
use section::remove_section;
use target::EditTarget;

/// Where a rule goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleDestination {
    /// An editable source: local, project or user.
    pub source: Source,
    /// Whose file.
    pub owner: SettingsOwner,
}

/// What an edit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditReport {
    /// The file as it is named in the settings' locations.
    pub file: PathBuf,
    /// Whether anything was written.
    pub changed: bool,
    /// The lines that differ, without context; empty if nothing changed.
    pub lines: Vec<ChangedLine>,
}

/// One line of the difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedLine {
    /// Whether it was taken out or put in.
    pub side: LineSide,
    /// Its number in the old file, or in the new one.
    pub number: usize,
    /// The line without its end.
    pub text: String,
}

/// Which version a line is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineSide {
    /// The old one.
    Before,
    /// The new one.
    After,
}

/// Adds a rule. A rule that is there already is left as it is, and the report says so.
pub fn add_rule(
    locations: &SettingsLocations,
    destination: RuleDestination,
    behavior: Behavior,
    text: &str,
) -> Result<EditReport, EditError> {
    let rule = Rule::compile(text, behavior, Origin::bare(destination.source))
        .map_err(|problem| EditError::Rule { text: text.to_owned(), problem })?;
    edit(locations, destination, &RuleChange::Add(Box::new(rule)))
}

/// Removes a rule, however often it is listed. A rule that is not there is an error that names close ones.
pub fn remove_rule(
    locations: &SettingsLocations,
    destination: RuleDestination,
    behavior: Behavior,
    text: &str,
) -> Result<EditReport, EditError> {
    edit(locations, destination, &RuleChange::Remove { behavior, text: text.to_owned() })
}

/// Removes the whole `autoMode` object from both files of the user, Claude Code's and ours, and reports each file that
/// exists. If one of them cannot be edited, neither is.
pub fn reset_auto_mode(locations: &SettingsLocations) -> Result<Vec<EditReport>, EditError> {
    let mut targets: Vec<EditTarget> = Vec::new();
    for file in locations.files(Source::User) {
        let destination = RuleDestination { source: Source::User, owner: file.owner };
        let named = EditTarget::find(locations, destination)?;
        if fs::symlink_metadata(&named.path).is_err() {
            continue;
        }
        let target = named.resolve(locations, Source::User)?;
        // Both names may lead to one file.
        if targets.iter().all(|other| other.real_path != target.real_path) {
            targets.push(target);
        }
    }
    let change = |target: &EditTarget, before: Option<&str>| {
        before.map_or(Ok(None), |text| remove_section(&target.path, text, "autoMode"))
    };
    for target in &targets {
        change(target, target.read()?.as_deref())?;
    }
    targets.iter().map(|target| write(target, |before| change(target, before))).collect()
}

/// Says which mode sessions start in, in the user's own settings file of ours.
pub fn set_mode(locations: &SettingsLocations, mode: Mode) -> Result<EditReport, EditError> {
    let destination = RuleDestination { source: Source::User, owner: SettingsOwner::Portcullis };
    let named = EditTarget::find(locations, destination)?;
    create_directory(&named.directory, FilePrivacy::Shared)
        .map_err(|error| EditError::of_refusal(&named.path, error.into()))?;
    let target = named.resolve(locations, Source::User)?;
    write(&target, |before| put_mode(&target.path, before, mode))
}

/// What [`set_mode`] would write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModeChange {
    /// The file.
    pub file: PathBuf,
    /// Its text; `None` if there is none.
    pub before: Option<String>,
    /// Its new text.
    pub after: String,
}

/// Works out what [`set_mode`] would write; `None` if the file names the mode already.
pub fn plan_mode(locations: &SettingsLocations, mode: Mode) -> Result<Option<ModeChange>, EditError> {
    let destination = RuleDestination { source: Source::User, owner: SettingsOwner::Portcullis };
    let named = EditTarget::find(locations, destination)?;
    let target = if named.directory.exists() { named.resolve(locations, Source::User)? } else { named };
    let before = target.read()?;
    let after = put_mode(&target.path, before.as_deref(), mode)?;
    Ok(after.map(|after| ModeChange { file: target.path, before, after }))
}

fn edit(
    locations: &SettingsLocations,
    destination: RuleDestination,
    change: &RuleChange,
) -> Result<EditReport, EditError> {
    let named = EditTarget::find(locations, destination)?;
    if matches!(change, RuleChange::Add(_)) {
        create_directory(&named.directory, FilePrivacy::Shared)
            .map_err(|error| EditError::of_refusal(&named.path, error.into()))?;
    } else if !named.directory.exists() {
        return Err(change.missing(&named.path, &[]));
    }
    let target = named.resolve(locations, destination.source)?;
    write(&target, |before| change.apply(&target.path, before))
}

/// Replaces a file by what `change` makes of it, while nobody else edits in its directory.
fn write(
    target: &EditTarget,
    change: impl FnOnce(Option<&str>) -> Result<Option<String>, EditError>,
) -> Result<EditReport, EditError> {
    let refused = |refusal| EditError::of_refusal(&target.path, refusal);
    let _lock = DirectoryLock::take(&target.directory).map_err(refused)?;
    let before = target.read()?;
    let after = change(before.as_deref())?;
    let file = target.path.clone();
    let Some(after) = after else { return Ok(EditReport { file, changed: false, lines: Vec::new() }) };
    replace(&target.real_path, before.as_deref(), &after, FilePrivacy::Shared).map_err(refused)?;
    let lines = difference(before.as_deref().unwrap_or_default(), &after);
    Ok(EditReport { file, changed: true, lines })
}

/// Returns the lines between the common beginning and the common end.
fn difference(before: &str, after: &str) -> Vec<ChangedLine> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let common = old.iter().zip(&new).take_while(|(left, right)| left == right).count();
    let rest = old.len().min(new.len()) - common;
    let tail =
        old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(left, right)| left == right).count();
    let side = |lines: &[&str], side| -> Vec<ChangedLine> {
        let end = lines.len() - tail;
        let changed = lines.iter().enumerate().take(end).skip(common);
        changed
            .map(|(index, text)| ChangedLine { side, number: index + 1, text: (*text).to_owned() })
            .collect()
    };
    let mut lines = side(&old, LineSide::Before);
    lines.extend(side(&new, LineSide::After));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_is_what_lies_between_the_common_ends() {
        for (before, after, expected) in [
            ("a\nb\nc\n", "a\nb\nc\n", vec![]),
            ("a\nc\n", "a\nb\nc\n", vec![(LineSide::After, 2, "b")]),
            ("a\nb\nc\n", "a\nc\n", vec![(LineSide::Before, 2, "b")]),
            ("", "a\n", vec![(LineSide::After, 1, "a")]),
            ("a\na\n", "a\na\na\n", vec![(LineSide::After, 3, "a")]),
            (
                "a\nb\n",
                "a\nx\ny\n",
                vec![(LineSide::Before, 2, "b"), (LineSide::After, 2, "x"), (LineSide::After, 3, "y")],
            ),
        ] {
            let lines = difference(before, after);
            let plain: Vec<_> =
                lines.iter().map(|line| (line.side, line.number, line.text.as_str())).collect();
            assert_eq!(plain, expected, "{before:?} {after:?}");
        }
    }
}
