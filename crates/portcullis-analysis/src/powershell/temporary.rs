//! Files in the folder for temporary files: below `$env:TEMP`, or made by `New-TemporaryFile`.

use super::alias;
use super::collector::ScriptScope;
use super::value::{FoundText, ObjectKind, PowerShellValue};
use super::word::PowerShellWord;
use crate::lists::programs::shells::{ROOT_DIRECTORIES, TEMPORARY_DIRECTORIES};
use crate::place::is_system;
use crate::shape::{Shape, ShapePiece, TextKind};

/// The drive of the variables of the environment.
const DRIVE: &str = "env:";

/// Lets the variables that hold the folder stand for it, unless the text may set one of them by another way than assigning.
pub(super) fn note_folders(scope: &mut ScriptScope, text: &str) {
    let lower = text.to_lowercase();
    if lower.contains("setenvironmentvariable") {
        return;
    }
    for name in TEMPORARY_DIRECTORIES.iter().map(|name| name.to_lowercase()) {
        if !may_set(&lower, &name) {
            scope.assign(&format!("{DRIVE}{name}"), PowerShellValue::Instance(ObjectKind::TemporaryFolder));
        }
    }
}

/// Says whether a command runs code of others in this very process, which may set any variable that programs are started
/// with.
pub(super) fn may_run_here(name: &str) -> bool {
    const RUNNERS: &[&str] = &[
        "import-module",
        "invoke-build",
        "invoke-command",
        "invoke-expression",
        "invoke-pester",
        "invoke-psake",
    ];
    alias::is_script(name) || RUNNERS.contains(&name)
}

/// Forgets these variables, after something that may set them.
pub(super) fn forget_folders(scope: &mut ScriptScope) {
    for name in TEMPORARY_DIRECTORIES {
        scope.forget(&format!("{DRIVE}{}", name.to_lowercase()));
    }
}

/// Says whether a text names a variable, or the drive of them all, as an item that a cmdlet could change.
fn may_set(text: &str, name: &str) -> bool {
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(DRIVE).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + DRIVE.len()..).unwrap_or_default();
        let named = after.trim_start_matches(['\\', '/', ':']).split(|letter| !is_of_name(letter)).next();
        let is_value = before.ends_with('$') || before.ends_with("${");
        !is_value && named.is_none_or(|named| named.is_empty() || named == name)
    })
}

/// Returns a path that begins with such a variable. Where it is not set, what stands behind it begins at the
/// root, and has to be a path that nobody has there.
pub(super) fn below_variable(rest: &Shape) -> Option<PowerShellValue> {
    let (first, others) = rest.pieces().split_first()?;
    let ShapePiece::Text(text) = first else { return None };
    let path = text.strip_prefix('/')?;
    let (name, is_whole) = match path.split_once('/') {
        Some((name, _)) => (name, true),
        None => (path, others.is_empty()),
    };
    let at_root = format!("/{name}");
    let is_known = is_system(&at_root) || ROOT_DIRECTORIES.contains(&at_root.as_str());
    // No folder at the root has such a sign in its name, whatever comes after it.
    let is_own = if is_whole { !is_known } else { name.contains(['-', '_', '.']) };
    if is_own { below(rest) } else { None }
}

/// Returns a path below the folder; where the variable is not set, whoever joins the two fails.
pub(super) fn below(rest: &Shape) -> Option<PowerShellValue> {
    let is_text = |wanted: fn(&str) -> bool| {
        rest.pieces().iter().any(|piece| matches!(piece, ShapePiece::Text(text) if wanted(text)))
    };
    let begins = match rest.pieces() {
        [ShapePiece::Text(slash), ShapePiece::Of(TextKind::Word | TextKind::Digits), ..] if slash == "/" => {
            true
        }
        [ShapePiece::Text(text), ..] => text.strip_prefix('/').is_some_and(|path| {
            path.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_')
        }),
        _ => false,
    };
    let climbs = is_text(|text| text.contains("..") || text.contains(['*', '?', '[']));
    let shape = folder()?.join(rest).filter(|_| begins && !climbs)?;
    Some(PowerShellValue::found(Some(shape), false, true))
}

fn folder() -> Option<Shape> {
    Shape::text("/tmp/").join(&Shape::of(TextKind::Word))
}

/// Returns a path below the folder as it would be written, so that it is the same text wherever it is used.
pub(super) fn shown(found: &FoundText) -> Option<String> {
    match found.shape.pieces() {
        [ShapePiece::Text(root), ShapePiece::Of(TextKind::Word), ShapePiece::Text(rest)]
            if root == "/tmp/" =>
        {
            Some(format!("$env:TEMP{}", rest.replace('/', "\\")))
        }
        _ => None,
    }
}

/// Says of the folder itself where it is, to a command that only looks. Where the variable is not set it looks nowhere.
pub(super) fn look_inside(word: &mut PowerShellWord) {
    if word.value == PowerShellValue::Instance(ObjectKind::TemporaryFolder) {
        word.argument = word.argument.clone().bounded(folder(), false);
    }
}

/// Returns the file that is made where one is asked for.
pub(super) fn made_file(is_object: bool) -> PowerShellValue {
    PowerShellValue::found(made(), is_object, true)
}

/// Says whether a file is such a one, whose text is its path in every version of PowerShell.
pub(super) fn is_made(value: &PowerShellValue) -> bool {
    *value == made_file(true)
}

fn made() -> Option<Shape> {
    folder()?.join(&Shape::text("/tmp"))?.join(&Shape::of(TextKind::Word))?.join(&Shape::text(".tmp"))
}
