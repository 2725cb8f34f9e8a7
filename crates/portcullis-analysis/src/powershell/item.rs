//! What commands put out, as far as it matters to the next command: files of a listing, paths, plain text.
//!
//! A file that was listed is known by the shape of its path, which begins at the root. Everything that is not sure to be
//! plain text is unknown: an object may have a property by which another command opens a file.

use portcullis_shell::Span;

use super::PipedFiles;
use super::reader::BlockUse;
use super::value::{FoundText, ObjectKind, PowerShellValue};
use super::word::{BoundParameters, PowerShellWord};
use super::{alias, operator, temporary};
use crate::argument::Argument;
use crate::directories::Directories;
use crate::shape::{Shape, ShapePiece, TextKind};
use crate::standard_input::StandardInput;
use crate::survey;

/// The parameters of listings and pickers that take no value.
const SWITCHES: &[&str] = &[
    "ashashtable",
    "asstring",
    "descending",
    "directory",
    "file",
    "force",
    "followsymlink",
    "hidden",
    "leaf",
    "name",
    "parent",
    "raw",
    "readonly",
    "recurse",
    "relative",
    "resolve",
    "stable",
    "system",
    "unique",
    "wait",
];

/// Their parameters that take a value.
const VALUED: &[&str] = &[
    "attributes",
    "credential",
    "depth",
    "erroraction",
    "exclude",
    "filter",
    "include",
    "literalpath",
    "path",
    "pspath",
    "stream",
];

/// Commands that hand on some of what they are given.
const FILTERS: &[&str] = &["get-unique", "sort-object", "tee-object", "where-object"];

/// Commands whose output is plain text or numbers.
const TEXTS: &[&str] = &[
    "convertto-csv",
    "convertto-html",
    "convertto-json",
    "get-content",
    "get-date",
    "get-random",
    "out-string",
    "read-host",
    "test-path",
];

/// A listing with more starting points or patterns than this is not followed.
const MOST: usize = 8;

/// A command whose output is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct FinishedCommand<'c> {
    pub(super) name: &'c str,
    pub(super) words: &'c [PowerShellWord],
    /// What came through a pipe.
    pub(super) input: Option<&'c PowerShellValue>,
    /// What the block yields that it runs for each thing it is given.
    pub(super) block: Option<&'c PowerShellValue>,
    pub(super) directories: &'c Directories,
}

/// Returns what a command puts out.
pub(super) fn output(command: &FinishedCommand<'_>) -> PowerShellValue {
    let bound = BoundParameters::new(command.words, SWITCHES);
    let passed = || loosened(command.input.cloned().into_iter().collect());
    match command.name {
        name if FILTERS.contains(&name) => passed(),
        name if TEXTS.contains(&name) => PowerShellValue::Data,
        "convertfrom-json" | "convertfrom-csv" | "import-csv" | "convertfrom-stringdata" => {
            PowerShellValue::Instance(ObjectKind::Record)
        }
        "start-process" if bound.has("passthru") => PowerShellValue::Instance(ObjectKind::StartedProcess),
        "new-object" => made(&bound),
        "new-temporaryfile" if command.words.is_empty() => temporary::made_file(true),
        "new-guid" => PowerShellValue::found(Some(Shape::of(TextKind::Word)), false, true),
        "get-childitem" => listed(command, &bound).unwrap_or_else(PowerShellValue::unknown),
        "get-item" | "resolve-path" | "convert-path" if !bound.has("relative") => {
            named(command, &bound).unwrap_or_else(PowerShellValue::unknown)
        }
        "select-object" => picked(&bound, passed()),
        "foreach-object" => each(command, &bound),
        "join-path" => joined(&bound).unwrap_or_else(PowerShellValue::unknown),
        "get-location" => here(command.directories),
        "write-output" if command.input.is_none() => {
            let values: Vec<_> = command.words.iter().map(|word| word.value.clone()).collect();
            PowerShellValue::of_outputs(values)
        }
        name if is_native(name) => printed(name, command.words),
        _ => PowerShellValue::unknown(),
    }
}

/// Returns what `New-Object` makes.
fn made(bound: &BoundParameters) -> PowerShellValue {
    match bound.value("typename", 0) {
        Some([word]) if !word.is_open() && !bound.has("comobject") => {
            operator::instance(&alias::canonical_type(word.text()))
        }
        _ => PowerShellValue::unknown(),
    }
}

/// Says whether a name is a program's and no cmdlet's: it has no verb.
fn is_native(name: &str) -> bool {
    !name.contains('-') && !name.starts_with(['[', '.', '&', '$', '('])
}

/// Returns the directory where the command runs.
pub(super) fn here(directories: &Directories) -> PowerShellValue {
    match directories.alternatives() {
        Some([directory]) if directory.starts_with('/') => PowerShellValue::text(directory),
        _ => PowerShellValue::unknown(),
    }
}

/// Returns the shape of the lines that a program prints, by the table that holds for bash as well.
fn printed(name: &str, words: &[PowerShellWord]) -> PowerShellValue {
    let words: Vec<Argument> = words.iter().map(|word| word.argument.clone()).collect();
    match survey::printed(name, &words) {
        Some(StandardInput::Lines { shapes, .. }) => match shapes.as_slice() {
            [only] => PowerShellValue::found(Some(only.clone()), false, false),
            _ => PowerShellValue::Data,
        },
        _ => PowerShellValue::Data,
    }
}

/// Returns what `Select-Object` leaves: the thing itself if no property is picked, or one property.
fn picked(bound: &BoundParameters, input: PowerShellValue) -> PowerShellValue {
    if let Some([name]) = bound.named("expandproperty") {
        return property(&input, &name.lower());
    }
    let is_plain = bound.positional.is_empty() && !bound.has("property") && !bound.has("excludeproperty");
    if is_plain { input } else { PowerShellValue::unknown() }
}

/// Returns what `ForEach-Object` puts out: what its block does, or a property.
fn each(command: &FinishedCommand<'_>, bound: &BoundParameters) -> PowerShellValue {
    if let Some(block) = command.block {
        return block.clone();
    }
    match (command.words, command.input) {
        ([only], Some(input)) if !only.is_open() => property(input, &only.lower()),
        _ => match (bound.named("membername"), command.input) {
            (Some([name]), Some(input)) if command.words.len() == 2 => property(input, &name.lower()),
            _ => PowerShellValue::unknown(),
        },
    }
}

/// Returns a property of what was found.
pub(super) fn property(value: &PowerShellValue, name: &str) -> PowerShellValue {
    match value {
        PowerShellValue::List(items) if items.len() <= MOST && !matches!(name, "count" | "length") => {
            PowerShellValue::List(items.iter().map(|item| property(item, name)).collect())
        }
        PowerShellValue::Found(found) if found.is_file => of_file(found, name),
        PowerShellValue::Instance(kind) if *kind != ObjectKind::Container => value.clone(),
        PowerShellValue::Found(_) | PowerShellValue::Data | PowerShellValue::Text(_) => match name {
            "length" | "count" => number(),
            _ => PowerShellValue::unknown(),
        },
        PowerShellValue::List(_) if matches!(name, "count" | "length") => number(),
        _ => PowerShellValue::unknown(),
    }
}

/// Returns a file as the text it becomes as an argument: its path, or its name where the command runs, as older versions
/// of PowerShell write it.
pub(super) fn as_text(value: PowerShellValue, directories: &Directories) -> PowerShellValue {
    if temporary::is_made(&value) {
        return temporary::made_file(false);
    }
    let PowerShellValue::Found(FoundText { shape, is_file: true, is_one }) = value else {
        return match value {
            PowerShellValue::List(items) => {
                PowerShellValue::List(items.into_iter().map(|item| as_text(item, directories)).collect())
            }
            other => other,
        };
    };
    let widened = || {
        let [directory] = directories.alternatives()? else { return None };
        let ShapePiece::Text(start) = shape.pieces().first()? else { return None };
        let is_below = crate::path::is_inside(start.trim_end_matches('/'), directory);
        let last = match shape.pieces().last()? {
            ShapePiece::Text(text) => text.rsplit('/').next()?.to_owned(),
            ShapePiece::Of(TextKind::Name(last) | TextKind::Inside(last) | TextKind::Below(last)) => {
                last.clone()
            }
            ShapePiece::Of(_) => return None,
        };
        is_below.then(|| Shape::text(directory).join(&Shape::of(TextKind::Below(last))))?
    };
    PowerShellValue::found(widened(), false, is_one)
}

fn number() -> PowerShellValue {
    PowerShellValue::found(Some(Shape::of(TextKind::Digits)), false, true)
}

/// Returns a property of a file that was listed.
fn of_file(found: &FoundText, name: &str) -> PowerShellValue {
    let text = |shape: Option<Shape>| PowerShellValue::found(shape, false, found.is_one);
    match name {
        "fullname" | "path" | "providerpath" | "filename" => text(Some(found.shape.clone())),
        "name" | "pschildname" => {
            let any = || Shape::of(TextKind::Name("*".to_owned()));
            text(Some(found.shape.file_name().unwrap_or_else(any)))
        }
        "basename" => text(Some(Shape::of(TextKind::Name("*".to_owned())))),
        "length" | "count" => PowerShellValue::found(Some(Shape::of(TextKind::Digits)), false, found.is_one),
        "directoryname" => text(found.shape.directory()),
        "directory" => PowerShellValue::found(found.shape.directory(), true, found.is_one),
        "extension" | "mode" | "lastwritetime" | "creationtime" | "isreadonly" | "psiscontainer" => {
            PowerShellValue::Data
        }
        _ => PowerShellValue::unknown(),
    }
}

/// Returns the texts of words that are all known, slashes turned.
fn known_texts(words: &[PowerShellWord]) -> Option<Vec<String>> {
    let text = |word: &PowerShellWord| word.value.known_text().map(|text| text.replace('\\', "/"));
    words.iter().map(text).collect()
}

/// Returns the shapes of the places that a lister or resolver is given, below the root.
fn places(command: &FinishedCommand<'_>, bound: &BoundParameters) -> Option<Vec<Shape>> {
    let words = bound.named("path").or_else(|| bound.named("literalpath")).or_else(|| bound.named("pspath"));
    let words = words.or_else(|| bound.positional.first().map(Vec::as_slice));
    match (words, command.input) {
        (Some(words), None) => words.iter().map(|word| place(&word.value, command.directories)).collect(),
        (None, Some(input)) => {
            input.items_of_pipe().iter().map(|item| place(item, command.directories)).collect()
        }
        (None, None) if command.name == "get-childitem" => {
            Some(vec![place(&PowerShellValue::text("."), command.directories)?])
        }
        _ => None,
    }
}

/// Returns the shape of one place from the root.
fn place(value: &PowerShellValue, directories: &Directories) -> Option<Shape> {
    if let PowerShellValue::Found(FoundText { shape, is_file: true, .. }) = value {
        return Some(shape.clone());
    }
    if let PowerShellValue::Found(FoundText { shape, is_one: true, .. }) = value {
        return in_directory(shape, directories);
    }
    let text = value.known_text()?.replace('\\', "/");
    let text = text.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(&text);
    if text.starts_with('~') || text.contains([':', '$', '`']) {
        return None;
    }
    if text.starts_with('/') {
        return Shape::of_pattern(&crate::path::normalize(text));
    }
    let [directory] = directories.alternatives()? else { return None };
    let joined = crate::path::join(directory, text);
    directory.starts_with('/').then(|| Shape::of_pattern(&joined))?
}

/// Returns a relative shape as one from the root.
fn in_directory(shape: &Shape, directories: &Directories) -> Option<Shape> {
    let [directory] = directories.alternatives()? else { return None };
    let is_absolute = shape.path_patterns()?.iter().all(|pattern| pattern.starts_with('/'));
    if is_absolute { Some(shape.clone()) } else { Shape::of_pattern(directory)?.in_directory(shape) }
}

/// Returns what `Get-Item` or `Resolve-Path` finds.
fn named(command: &FinishedCommand<'_>, bound: &BoundParameters) -> Option<PowerShellValue> {
    if !bound.has_only(&[SWITCHES, VALUED]) {
        return None;
    }
    let is_path = command.name == "convert-path";
    let items = places(command, bound)?.into_iter().map(|shape| {
        let is_one = shape.is_single() && command.input.is_none();
        PowerShellValue::found(Some(shape), !is_path, is_one)
    });
    let items: Vec<PowerShellValue> = items.take(MOST + 1).collect();
    (items.len() <= MOST).then(|| PowerShellValue::of_outputs(items))
}

/// Returns what `Get-ChildItem` finds: everything below where it looks, by the last part of its patterns.
fn listed(command: &FinishedCommand<'_>, bound: &BoundParameters) -> Option<PowerShellValue> {
    if !bound.has_only(&[SWITCHES, VALUED]) {
        return None;
    }
    let mut names = Vec::new();
    for parameter in ["filter", "include"] {
        names.extend(bound.named(parameter).map_or(Some(Vec::new()), known_texts)?);
    }
    // A second operand is the filter.
    if let Some(words) = bound.positional.get(usize::from(bound.named("path").is_none())) {
        names.extend(known_texts(words)?);
    }
    let is_odd =
        |name: &String| name.is_empty() || name.contains(['/', '{', '(', '[']) || name.starts_with("..");
    if names.is_empty() || names.len() > MOST || names.iter().any(is_odd) {
        names = vec!["*".to_owned()];
    }
    let mut items = Vec::new();
    for start in places(command, bound)? {
        let (base, pattern) = base_of(&start)?;
        let names = match &pattern {
            Some(pattern) if !bound.has("recurse") || names == ["*"] => vec![pattern.clone()],
            _ => names.clone(),
        };
        for name in names {
            let below = base.clone().join(&Shape::of(TextKind::Below(name)))?;
            // Names are relative to where each listing begins.
            let is_relative = bound.has("name");
            items.push(PowerShellValue::found(Some(below).filter(|_| !is_relative), true, false));
        }
    }
    (items.len() <= MOST).then(|| PowerShellValue::of_outputs(items))
}

/// Splits the place a listing starts at: the directory that is written out, and the pattern of names in it.
fn base_of(start: &Shape) -> Option<(Shape, Option<String>)> {
    if start.as_text().is_some() {
        return Some((start.clone(), None));
    }
    let patterns = start.path_patterns()?;
    let [pattern] = patterns.as_slice() else { return None };
    let wild = pattern.find(['*', '?', '['])?;
    let (directory, rest) =
        pattern.get(..wild)?.rsplit_once('/').map(|(before, _)| (before, pattern.get(before.len() + 1..)))?;
    let last = rest?.rsplit('/').next()?.to_owned();
    Some((Shape::text(directory), Some(last)))
}

/// Returns the path that `Join-Path` puts together.
fn joined(bound: &BoundParameters) -> Option<PowerShellValue> {
    let parts: Vec<&PowerShellWord> = bound.positional.iter().flatten().collect();
    let named = [bound.named("path"), bound.named("childpath"), bound.named("additionalchildpath")];
    let parts: Vec<&PowerShellWord> = named.into_iter().flatten().flatten().chain(parts).collect();
    let (first, rest) = parts.split_first()?;
    if rest.is_empty() || bound.has("resolve") {
        return None;
    }
    let start = match &first.value {
        PowerShellValue::Found(found) if found.is_file && found.is_one => {
            PowerShellValue::found(Some(found.shape.clone()), false, true)
        }
        other => other.clone(),
    };
    let joined = |start: PowerShellValue| {
        rest.iter().fold(start, |path, part| path.plus(PowerShellValue::text("/")).plus(part.value.clone()))
    };
    if start == PowerShellValue::Instance(ObjectKind::TemporaryFolder) {
        return temporary::below(&joined(PowerShellValue::text("")).text_shape()?);
    }
    let value = joined(start);
    match value {
        PowerShellValue::Text(text) => Some(PowerShellValue::Text(text.replace('\\', "/"))),
        PowerShellValue::Found(_) => Some(value),
        _ => None,
    }
}

/// Commands that run a block for each thing that comes through a pipe, or take one that works a value out of it.
const FOR_ITEMS: &[&str] = &[
    "compare-object",
    "copy-item",
    "foreach-object",
    "format-custom",
    "format-list",
    "format-table",
    "format-wide",
    "group-object",
    "measure-object",
    "move-item",
    "rename-item",
    "select-object",
    "sort-object",
    "where-object",
];

/// Commands that run a block at once.
const AT_ONCE: &[&str] = &["&", "invoke-command", "measure-command", "trace-command"];

/// Says when the script blocks among the words of a command run.
pub(super) fn block_use(name: &str, is_piped: bool) -> BlockUse {
    match name {
        name if FOR_ITEMS.contains(&name) && is_piped => BlockUse::ForItems,
        name if FOR_ITEMS.contains(&name) || AT_ONCE.contains(&name) => BlockUse::Now,
        _ => BlockUse::Later,
    }
}

/// Returns what a block yields that runs any number of times.
pub(super) fn loosened(blocks: Vec<PowerShellValue>) -> PowerShellValue {
    let loose = |value: PowerShellValue| match value {
        PowerShellValue::Found(found) => PowerShellValue::Found(FoundText { is_one: false, ..found }),
        PowerShellValue::Text(_) | PowerShellValue::Number(_) | PowerShellValue::Data => {
            PowerShellValue::Data
        }
        PowerShellValue::Instance(ObjectKind::Record | ObjectKind::Document) => value,
        _ => PowerShellValue::unknown(),
    };
    let values: Vec<_> = blocks.into_iter().flat_map(PowerShellValue::into_items).map(loose).collect();
    match values.as_slice() {
        [] => PowerShellValue::unknown(),
        values if values.iter().all(|value| *value == PowerShellValue::Data) => PowerShellValue::Data,
        values if values.len() <= MOST => PowerShellValue::of_outputs(values.to_vec()),
        _ => PowerShellValue::unknown(),
    }
}

/// Returns the files that come through a pipe as a value.
pub(super) fn piped_files(value: &PowerShellValue, span: Span) -> PipedFiles {
    let items = match value {
        PowerShellValue::List(items) => items.clone(),
        other => vec![other.clone()],
    };
    let is_text = |item: &PowerShellValue| match item {
        PowerShellValue::Found(found) => !found.is_file,
        PowerShellValue::Data | PowerShellValue::Number(_) | PowerShellValue::Text(_) => true,
        _ => false,
    };
    if items.iter().all(is_text) {
        return PipedFiles::Text;
    }
    let file = |item: &PowerShellValue| match item {
        PowerShellValue::Found(found) if found.is_file => {
            let shape = PowerShellValue::found(Some(found.shape.clone()), false, found.is_one);
            Some(PowerShellWord::new(shape, "(what comes through the pipe)", span, true).argument)
        }
        _ => None,
    };
    items.iter().map(file).collect::<Option<Vec<_>>>().map_or(PipedFiles::Unknown, PipedFiles::Files)
}

/// Returns the directories after a change into what words name.
pub(super) fn target(words: &[PowerShellWord], current: &Directories) -> Option<Directories> {
    let bound = BoundParameters::new(words, &["passthru"]);
    let is_plain = bound.has_only(&[&["literalpath", "passthru", "path"]]);
    let named = bound.named("literalpath").or_else(|| bound.value("path", 0));
    let [word] = named.filter(|_| is_plain)? else { return None };
    let text = word.value.known_text()?.replace('\\', "/");
    let is_odd =
        text.is_empty() || text.starts_with(['~', '-', '+']) || text.contains([':', '$', '*', '?', '[', '%']);
    let all = current.alternatives()?.iter().map(|directory| crate::path::join(directory, &text));
    (!is_odd).then(|| Directories::OneOf(all.collect()))
}

/// Says whether words name nothing but a process that this text started.
pub(super) fn names_started(words: &[PowerShellWord]) -> bool {
    let is_started =
        |word: &&PowerShellWord| word.value == PowerShellValue::Instance(ObjectKind::StartedProcess);
    let is_plain = |word: &PowerShellWord| {
        word.parameter().is_some_and(|(name, _)| matches!(name.as_str(), "id" | "inputobject" | "force"))
    };
    words.iter().any(|word| is_started(&word)) && words.iter().all(|word| is_started(&word) || is_plain(word))
}
