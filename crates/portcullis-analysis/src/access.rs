//! Which files an invocation names, and what it does to them.
//!
//! For programs in the tables every operand is accounted for. For others [`mentioned`] lists the operands that could
//! be files, so that a rule about a path can at least raise a question.

use crate::argument::{Argument, Knowledge};
use crate::invocation::{Access, Invocation};

/// A file named in an invocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUse {
    /// What is done to it.
    pub access: Access,
    /// The file.
    pub file: Argument,
    /// Whether that is sure.
    pub likelihood: Likelihood,
}

/// How sure it is that a file is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likelihood {
    /// It is, if the command runs.
    Sure,
    /// It is if something on the disk is as the command may expect: a destination that is a directory.
    Possible,
}

/// Programs whose operands are never files.
const WITHOUT_FILES: &[&str] = &[
    ":", "basename", "date", "dirname", "echo", "expr", "false", "hostname", "id", "kill", "printf", "pwd",
    "seq", "sleep", "true", "type", "uname", "which", "whoami",
];

/// Programs that read each operand.
const READERS: &[&str] = &[
    "base64",
    "bat",
    "cat",
    "cd",
    "cmp",
    "column",
    "comm",
    "cut",
    "diff",
    "du",
    "expand",
    "file",
    "find",
    "fmt",
    "fold",
    "head",
    "hexdump",
    "less",
    "ls",
    "md5sum",
    "more",
    "nl",
    "od",
    "paste",
    "pr",
    "pushd",
    "readlink",
    "realpath",
    "rev",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "sort",
    "source",
    "stat",
    "strings",
    "tac",
    "tail",
    "tree",
    "tsort",
    "unexpand",
    "uniq",
    "wc",
    "xxd",
];

/// Programs whose first operand is a pattern or a program and whose others are read.
const SEARCHERS: &[&str] =
    &["awk", "egrep", "fd", "fdfind", "fgrep", "gawk", "grep", "jq", "rg", "sed", "yq"];

/// Options that give a searcher its pattern, so that the first operand is a file.
const PATTERN_OPTIONS: &[&str] =
    &["-e", "-f", "--regexp", "--file", "--expression", "--from-file", "--files"];

/// Programs that write or create each operand.
const WRITERS: &[&str] = &["chgrp", "chmod", "chown", "mkdir", "tee", "touch", "truncate"];

/// Programs that remove each operand.
const REMOVERS: &[&str] = &["rm", "rmdir", "shred", "unlink"];

/// The file commands that accept-edits mode may run (spec B).
pub const EDITING_COMMANDS: &[&str] = &["mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"];

/// Returns every file an invocation of a known program names; `None` if the program is not known.
pub fn files(invocation: &Invocation) -> Option<Vec<FileUse>> {
    let name = invocation.program_name()?;
    let operands = invocation.operands();
    let listed = |names: &[&str]| names.contains(&name);
    let uses = if listed(WITHOUT_FILES) {
        Vec::new()
    } else if listed(READERS) {
        with_option_paths(operands, each(plain_operands(operands), Access::Read))
    } else if listed(SEARCHERS) {
        searched(name, operands)
    } else if listed(WRITERS) {
        let skip = usize::from(matches!(name, "chmod" | "chown" | "chgrp"));
        each(plain_operands(operands).into_iter().skip(skip).collect(), Access::Write)
    } else if listed(REMOVERS) {
        each(plain_operands(operands), Access::Remove)
    } else if matches!(name, "cp" | "mv" | "ln" | "install") {
        copied(name, operands)
    } else {
        return None;
    };
    Some(uses)
}

/// Returns the operands of any program that could be files.
pub fn mentioned(invocation: &Invocation) -> Vec<FileUse> {
    with_option_paths(invocation.operands(), each(plain_operands(invocation.operands()), Access::Read))
}

/// Returns the operands: what is not an option, and everything after `--`.
fn plain_operands(operands: &[Argument]) -> Vec<Argument> {
    let mut plain = Vec::new();
    let mut ended = false;
    for argument in operands {
        if !ended && argument.text == "--" {
            ended = true;
        } else if ended || !argument.is_option() {
            plain.push(argument.clone());
        }
    }
    plain.retain(|argument| argument.text != "-");
    plain
}

fn each(files: Vec<Argument>, access: Access) -> Vec<FileUse> {
    files.into_iter().map(|file| FileUse { access, file, likelihood: Likelihood::Sure }).collect()
}

/// Adds the paths that stand inside options: `--file=/etc/x`, `-f/etc/x`.
fn with_option_paths(operands: &[Argument], mut uses: Vec<FileUse>) -> Vec<FileUse> {
    for argument in operands.iter().filter(|argument| argument.is_option()) {
        let text = argument.text.as_str();
        let value = match text.split_once('=') {
            Some((_, value)) => value,
            None => text.find(['/', '~']).and_then(|at| text.get(at..)).unwrap_or_default(),
        };
        if value.contains('/') || value.starts_with('~') || value.starts_with("..") {
            uses.push(FileUse {
                access: Access::Read,
                file: piece(argument, value),
                likelihood: Likelihood::Sure,
            });
        }
    }
    uses
}

/// Makes an argument of a piece of another.
fn piece(argument: &Argument, text: &str) -> Argument {
    let knowledge = match argument.knowledge {
        Knowledge::Fixed if text.starts_with('~') => Knowledge::Tilde,
        other => other,
    };
    Argument { text: text.to_owned(), source: None, knowledge, span: argument.span }
}

fn searched(name: &str, operands: &[Argument]) -> Vec<FileUse> {
    let has_pattern = operands.iter().any(|argument| {
        PATTERN_OPTIONS.iter().any(|option| {
            argument.text == *option
                || argument.text.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
        })
    });
    let in_place = name == "sed"
        && operands.iter().any(|argument| {
            argument.text.starts_with("--in-place")
                || (argument.is_option() && !argument.text.starts_with("--") && argument.text.contains('i'))
        });
    let access = if in_place { Access::Write } else { Access::Read };
    let files = plain_operands(operands).into_iter().skip(usize::from(!has_pattern)).collect();
    with_option_paths(operands, each(files, access))
}

/// `cp`, `mv`, `ln`, `install`: sources, then a destination, unless `-t` names it.
fn copied(name: &str, operands: &[Argument]) -> Vec<FileUse> {
    let from = if name == "mv" { Access::Remove } else { Access::Read };
    let mut sources = Vec::new();
    let mut words = operands.iter();
    let mut named = None;
    while let Some(word) = words.next() {
        match target_directory(word) {
            Some("") => named = words.next().cloned(),
            Some(attached) => named = Some(piece(word, attached)),
            None if word.text == "--" => sources.extend(words.by_ref().cloned()),
            None if !word.is_option() => sources.push(word.clone()),
            None => {}
        }
    }
    let Some(destination) = named.or_else(|| sources.pop()) else {
        return Vec::new();
    };
    let inside = sources.iter().filter_map(|source| inside(&destination, source));
    let mut uses: Vec<FileUse> = inside
        .map(|file| FileUse { access: Access::Write, file, likelihood: Likelihood::Possible })
        .collect();
    uses.push(FileUse { access: Access::Write, file: destination, likelihood: Likelihood::Sure });
    uses.extend(each(sources, from));
    uses
}

/// Returns the value attached to an option that names the target directory; empty if the next word is the value.
fn target_directory(word: &Argument) -> Option<&str> {
    if let Some(long) = word.text.strip_prefix("--") {
        let (name, value) = long.split_once('=').unwrap_or((long, ""));
        return (!name.is_empty() && "target-directory".starts_with(name)).then_some(value);
    }
    let cluster = word.text.strip_prefix('-')?;
    cluster.split_once('t').map(|(_, attached)| attached)
}

/// Returns the file that results if the destination is a directory.
fn inside(destination: &Argument, source: &Argument) -> Option<Argument> {
    let name = crate::invocation::base_name(source.text.trim_end_matches('/'));
    let text = format!("{}/{name}", destination.text.trim_end_matches('/'));
    let knowledge = destination.knowledge.max(source.knowledge);
    let is_name = !matches!(name, "" | "." | "..");
    is_name.then(|| Argument {
        text,
        source: Some(destination.as_written().to_owned()),
        knowledge,
        span: destination.span,
    })
}
