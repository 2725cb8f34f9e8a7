//! Files that options name as a program's output.

use super::{FileUse, Likelihood, each};
use crate::argument::Argument;
use crate::invocation::Access;
use crate::option::values;

/// Programs and their options whose value is a file or directory they write.
const OUTPUTS: &[(&str, &[&str])] = &[
    ("curl", &["-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar", "--output-dir", "--trace"]),
    ("wget", &["-O", "--output-document", "-o", "--output-file", "-P", "--directory-prefix"]),
    ("sort", &["-o", "--output"]),
    ("tree", &["-o"]),
    ("tar", &["-C", "--directory"]),
    ("unzip", &["-d"]),
    ("openssl", &["-out"]),
    ("patch", &["-o", "--output", "-d", "--directory"]),
];

/// Returns the files that options of a program name as its output.
pub(super) fn named(program: &str, operands: &[Argument]) -> Vec<FileUse> {
    let Some((_, options)) = OUTPUTS.iter().find(|(name, _)| *name == program) else {
        return Vec::new();
    };
    each(values(operands, options), Access::Write)
}

/// `dd` names its files as `if=` and `of=`.
pub(super) fn of_disk_dump(operands: &[Argument]) -> Vec<FileUse> {
    let file = |word: &Argument| {
        let (key, value) = word.text.split_once('=')?;
        let access = match key {
            "if" => Access::Read,
            "of" => Access::Write,
            _ => return None,
        };
        Some(FileUse { access, file: word.piece(value), likelihood: Likelihood::Sure })
    };
    operands.iter().filter_map(file).collect()
}
