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

/// Returns a script file as a command line: itself if a shell reads it, else fed to its interpreter.
pub(super) fn command_line(file: &str, text: &str) -> Option<String> {
    let first = text.lines().next().unwrap_or_default();
    let shebang = first.strip_prefix("#!").map(interpreter_of);
    let extension = file.rsplit_once('.').map(|(_, extension)| extension).unwrap_or_default();
    let interpreter = match (shebang, extension) {
        (Some("sh" | "bash" | "dash" | "zsh" | "ksh"), _) | (_, "sh" | "bash" | "bats" | "zsh") => {
            return Some(text.to_owned());
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
            return Some(text.to_owned());
        }
        _ => return None,
    };
    (!text.contains(END)).then(|| format!("{interpreter} - <<'{END}'\n{text}\n{END}\n"))
}
