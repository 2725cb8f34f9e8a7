//! The files that a PowerShell cmdlet is given through a pipe: `Get-ChildItem x | Remove-Item` removes what is in `x`.
//!
//! What comes out of a listing lies below the folder that is listed, so the folder stands for it. What comes from anywhere
//! else is only known at run time.

use crate::argument::{Argument, Knowledge};
use crate::powershell::{PipedFiles, PowerShellCommand};

/// Cmdlets that change the files whose names or objects come through a pipe.
const CHANGERS: &[&str] = &[
    "clear-content",
    "clear-item",
    "clear-itemproperty",
    "copy-item",
    "expand-archive",
    "invoke-item",
    "move-item",
    "remove-item",
    "remove-itemproperty",
    "rename-item",
    "rename-itemproperty",
    "set-acl",
    "set-item",
    "set-itemproperty",
    "start-process",
    "unblock-file",
];

/// Cmdlets that read the files whose objects come through a pipe; a text that comes is looked at as a text.
const READERS: &[&str] =
    &["compress-archive", "format-hex", "get-content", "import-clixml", "import-csv", "select-string"];

/// Cmdlets that take a text that comes through a pipe as a text, and no path.
const TEXT_READERS: &[&str] = &["format-hex", "get-content", "select-string"];

/// Cmdlets that list files.
const LISTERS: &[&str] = &["get-childitem", "get-item"];

/// Cmdlets that hand on some of what they are given.
const FILTERS: &[&str] = &["select-object", "sort-object", "tee-object", "where-object"];

/// Parameters of a lister that take a value which is no folder.
const LISTER_VALUES: &[&str] = &["-filter", "-include", "-exclude", "-depth", "-attributes", "-erroraction"];

/// How many stages of a pipeline are looked at.
const MOST_STAGES: usize = 32;

/// Returns the files that come to a command through a pipe, as operands of it.
pub(super) fn piped_paths(command: &PowerShellCommand, all: &[PowerShellCommand]) -> Vec<Argument> {
    let is_changer = CHANGERS.contains(&command.name.as_str());
    let is_reader = READERS.contains(&command.name.as_str());
    if command.piped.is_empty() || !(is_changer || is_reader) {
        return Vec::new();
    }
    match &command.piped_files {
        PipedFiles::Files(files) => return files.iter().flat_map(|file| bound(file, command)).collect(),
        PipedFiles::Text if TEXT_READERS.contains(&command.name.as_str()) => return Vec::new(),
        PipedFiles::Text | PipedFiles::Unknown => {}
    }
    match origin(command, all) {
        Some(lister) if LISTERS.contains(&lister.name.as_str()) && lister.piped.is_empty() => {
            listed_paths(lister, command).iter().flat_map(|file| bound(file, command)).collect()
        }
        _ => bound(&word("(what comes through the pipe)", Knowledge::Dynamic, command), command),
    }
}

/// Returns the parameter that files come to through a pipe, with one.
fn bound(file: &Argument, command: &PowerShellCommand) -> Vec<Argument> {
    let name = if command.name == "start-process" { "-FilePath" } else { "-LiteralPath" };
    vec![word(name, Knowledge::Fixed, command), file.clone()]
}

/// Finds the command at the beginning of a pipeline that only filters.
fn origin<'c>(command: &'c PowerShellCommand, all: &'c [PowerShellCommand]) -> Option<&'c PowerShellCommand> {
    let mut stage = command;
    for _ in 0..MOST_STAGES {
        let before = all.get(stage.piped.clone())?;
        // What stands in the blocks and arguments of a stage comes after it.
        let first = before.iter().find(|other| other.nested_in == stage.nested_in)?;
        if !FILTERS.contains(&first.name.as_str()) {
            return Some(first).filter(|lister| !has_parameter(lister, "-name"));
        }
        if first.name == "select-object" && !only_counts(first) {
            return None;
        }
        stage = first;
    }
    None
}

/// Says whether a command has a parameter, which may be shortened.
fn has_parameter(command: &PowerShellCommand, name: &str) -> bool {
    command.arguments.iter().any(|word| {
        let lower = word.text.to_lowercase();
        let lower = lower.split(':').next().unwrap_or_default();
        lower.len() > 1 && lower.starts_with('-') && name.starts_with(lower)
    })
}

/// Says whether `Select-Object` says no more than how many it hands on. A property that it makes may be a path elsewhere.
fn only_counts(command: &PowerShellCommand) -> bool {
    const COUNTING: &[&str] = &["-first", "-index", "-last", "-skip", "-skiplast", "-unique"];
    command.arguments.iter().all(|word| {
        let lower = word.text.to_lowercase();
        let is_number = lower.split(',').all(|part| part.trim().parse::<u32>().is_ok());
        word.fixed().is_some() && (is_number || COUNTING.contains(&lower.as_str()))
    })
}

/// Returns the folders that a lister looks at; the current one unless it names another.
fn listed_paths(lister: &PowerShellCommand, command: &PowerShellCommand) -> Vec<Argument> {
    let mut paths: Vec<Argument> = Vec::new();
    let mut is_value = false;
    for argument in &lister.arguments {
        let lower = argument.text.to_lowercase();
        if std::mem::take(&mut is_value) {
            continue;
        }
        if argument.knowledge != Knowledge::Dynamic && lower.starts_with('-') {
            is_value = LISTER_VALUES.contains(&lower.as_str());
        } else {
            paths.push(argument.clone());
        }
    }
    if paths.is_empty() {
        paths.push(word(".\\*", Knowledge::Glob, command));
    }
    paths
}

fn word(text: &str, knowledge: Knowledge, command: &PowerShellCommand) -> Argument {
    Argument { text: text.to_owned(), source: None, knowledge, span: command.span, bound: None }
}
