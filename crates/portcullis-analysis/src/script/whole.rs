//! A script file as a command line.

use crate::path;

/// Returns the program that the first line of a script names: `/bin/bash -e`, `/usr/bin/env -S python3 -u`.
fn interpreter_of(line: &str) -> &str {
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = words.next().unwrap_or_default();
    let is_set_up = |word: &&str| word.starts_with('-') || word.contains('=');
    if program == "env" { words.find(|word| !is_set_up(word)).unwrap_or_default() } else { program }
}

/// What ends the text of a script that is fed to its interpreter.
const END: &str = "END_OF_THE_SCRIPT_FILE";

/// The name of the function that a script of the shell becomes, so that its arguments are those of a call.
const FUNCTION: &str = "the_script_file";

/// Returns a script file as a command line: itself if a shell reads it, else fed to its interpreter.
pub(super) fn command_line(file: &str, text: &str, arguments: Option<&[Option<String>]>) -> Option<String> {
    let first = text.lines().next().unwrap_or_default();
    let shebang = first.strip_prefix("#!").map(interpreter_of);
    let extension = file.rsplit_once('.').map(|(_, extension)| extension).unwrap_or_default();
    let interpreter = match (shebang, extension) {
        (Some("sh" | "bash" | "dash" | "zsh" | "ksh"), _) | (_, "sh" | "bash" | "bats" | "zsh") => {
            return Some(with_arguments(text, arguments));
        }
        (Some(name), _) if name.starts_with("python") => "python3",
        (Some("node"), _) | (_, "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx") => "node",
        // The program of awk is a word, and its standard input is data.
        (Some("awk" | "gawk"), _) | (_, "awk") => {
            return Some(format!("awk '{}'", text.replace('\'', r"'\''")));
        }
        (Some("ruby"), _) | (_, "rb") => "ruby",
        (Some("perl"), _) | (_, "pl") => "perl",
        (Some("php"), _) | (_, "php") => "php",
        (_, "py") => "python3",
        // A text without a word on its interpreter is run by the shell.
        (None, _)
            if !path::file_name(file).is_some_and(|name| name.contains('.')) && !text.contains('\0') =>
        {
            return Some(with_arguments(text, arguments));
        }
        _ => return None,
    };
    (!text.contains(END)).then(|| format!("{interpreter} - {} <<'{END}'\n{text}\n{END}\n", words(arguments)))
}

/// Returns a script of the shell that is started with arguments. One that changes them is read as if nobody knew them.
fn with_arguments(text: &str, arguments: Option<&[Option<String>]>) -> String {
    let uses_them = text.contains("$1") || text.contains("${1") || text.contains("$@") || text.contains("$2");
    let is_plain = !text.contains(FUNCTION) && !text.contains("getopts");
    match arguments.filter(|_| uses_them && is_plain) {
        Some(_) => format!("{FUNCTION}() {{\n{text}\n}}\n{FUNCTION} {}\n", words(arguments)),
        None => text.to_owned(),
    }
}

/// Writes arguments as words of a command line.
fn words(arguments: Option<&[Option<String>]>) -> String {
    let Some(arguments) = arguments else { return "\"$@\"".to_owned() };
    let word = |word: &Option<String>| match word {
        Some(word) => format!("'{}'", word.replace('\'', r"'\''")),
        None => "\"$UNKNOWN\"".to_owned(),
    };
    arguments.iter().map(word).collect::<Vec<_>>().join(" ")
}
