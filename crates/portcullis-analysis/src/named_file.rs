//! Words of a command that could be files, for programs of which that is not known, and what others read unasked.

use crate::argument::Argument;
use crate::invocation::Invocation;

/// Returns the operands of any program that could be files, and the paths inside its options.
pub fn mentioned(invocation: &Invocation) -> Vec<Argument> {
    let mut words = plain_operands(invocation.operands());
    if invocation.program_name() == Some("git") {
        // A file in a commit: `HEAD:src/main.rs`.
        let in_commit = |word: &Argument| word.text.split_once(':').map(|(_, file)| word.piece(file));
        let files: Vec<Argument> = words.iter().filter_map(in_commit).collect();
        words.extend(files.into_iter().filter(|file| !file.text.is_empty()));
    }
    words.extend(invocation.operands().iter().filter(|word| word.is_option()).filter_map(path_in_option));
    words
}

/// Programs that find their work by the directory they run in.
const WORKING_HERE: &[&str] = &["du", "fd", "fdfind", "find", "gh", "git", "grep", "ls", "rg", "tree"];

/// Returns what a program reads without being told in so many words: the directory it runs in, and for git the words
/// that lead out of it.
pub fn implied(invocation: &Invocation) -> Vec<Argument> {
    let Some(program) = invocation.program() else {
        return Vec::new();
    };
    let name = invocation.program_name().unwrap_or_default();
    let mut words: Vec<Argument> = Vec::new();
    if WORKING_HERE.contains(&name) {
        words.push(program.piece("."));
    }
    if name == "git" {
        let leads_out = |word: &Argument| {
            word.text.starts_with(['/', '~']) || word.text.split('/').any(|component| component == "..")
        };
        words.extend(mentioned(invocation).into_iter().filter(leads_out));
    }
    words
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

/// Returns the path that stands inside an option: `--file=/etc/x`, `-f/etc/x`.
fn path_in_option(option: &Argument) -> Option<Argument> {
    let text = option.text.as_str();
    let value = match text.split_once('=') {
        Some((_, value)) => value,
        None => text.find(['/', '~']).and_then(|at| text.get(at..)).unwrap_or_default(),
    };
    let is_path = value.contains('/') || value.starts_with('~') || value.starts_with("..");
    let is_named = !value.is_empty() && text.contains('=') && option.is_known();
    (is_path || is_named).then(|| option.piece(value))
}
