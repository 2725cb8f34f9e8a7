//! Which files an invocation names, and what it does to them.
//!
//! For programs in the tables every operand is accounted for. For others [`mentioned`] lists the operands that could
//! be files, so that a rule about a path can at least raise a question.

mod copy;
mod implied;
mod output;
mod search;

pub use implied::implied;

use crate::argument::Argument;
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
        search::files(name, operands)
    } else if listed(WRITERS) {
        let skip = usize::from(matches!(name, "chmod" | "chown" | "chgrp"));
        let written = plain_operands(operands).into_iter().skip(skip).collect();
        with_option_paths(operands, each(written, Access::Write))
    } else if listed(REMOVERS) {
        each(plain_operands(operands), Access::Remove)
    } else if matches!(name, "cp" | "mv" | "ln" | "install") {
        copy::files(name, operands)
    } else if name == "dd" {
        output::of_disk_dump(operands)
    } else {
        return None;
    };
    Some(uses)
}

/// Returns the files that options of a program name as its output: `curl -o x`.
pub fn outputs(invocation: &Invocation) -> Vec<FileUse> {
    invocation.program_name().map(|name| output::named(name, invocation.operands())).unwrap_or_default()
}

/// Returns the operands of any program that could be files.
pub fn mentioned(invocation: &Invocation) -> Vec<FileUse> {
    let mut words = plain_operands(invocation.operands());
    if invocation.program_name() == Some("git") {
        // A file in a commit: `HEAD:src/main.rs`.
        let in_commit = |word: &Argument| word.text.split_once(':').map(|(_, file)| word.piece(file));
        let files: Vec<Argument> = words.iter().filter_map(in_commit).collect();
        words.extend(files.into_iter().filter(|file| !file.text.is_empty()));
    }
    with_option_paths(invocation.operands(), each(words, Access::Read))
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
        let is_path = value.contains('/') || value.starts_with('~') || value.starts_with("..");
        let is_named = !value.is_empty() && text.contains('=') && argument.is_known();
        if is_path || is_named {
            uses.push(FileUse {
                access: Access::Read,
                file: argument.piece(value),
                likelihood: Likelihood::Sure,
            });
        }
    }
    uses
}
