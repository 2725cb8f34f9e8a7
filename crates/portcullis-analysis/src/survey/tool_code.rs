//! Code that tools are given in forms of their own: lines of notebooks that are no Python (`!command`, `%magic`,
//! `name = !command`, `name?`), statements of `timeit`, texts of `manage.py shell` and `rails runner`.

use super::program::joined;
use crate::argument::Argument;
use crate::code::{Code, Language};

/// Magics that change nothing but how things are shown.
const PLAIN_MAGICS: &[&str] =
    &["%autoreload", "%config", "%matplotlib", "%precision", "%pwd", "%who", "%whos"];

/// Names of commands that stand for themselves at the beginning of a line.
const COMMANDS: &[&str] =
    &["cat", "cd", "cp", "ls", "mkdir", "more", "mv", "rm", "rmdir", "run", "sx", "system", "writefile"];

/// What stands for a line that nobody can follow.
const UNKNOWN_LINE: &str = "run_cell_magic()";

/// Writes the lines of a notebook as Python: a command is run by a shell, a magic is something unknown.
pub(super) fn plain(code: &Code) -> Code {
    let mut rest_is_magic = false;
    let mut lines = Vec::new();
    for line in code.text.split('\n') {
        rest_is_magic |= line.trim_start().starts_with("%%");
        let written = if rest_is_magic { UNKNOWN_LINE.to_owned() } else { of_line(line) };
        lines.push(written);
    }
    Code { text: lines.join("\n"), ..code.clone() }
}

fn of_line(line: &str) -> String {
    let begin = line.trim_start();
    let indent = line.get(..line.len() - begin.len()).unwrap_or_default();
    let right = begin.split_once('=').map_or("", |(_, right)| right.trim_start());
    let command =
        begin.strip_prefix('!').or_else(|| right.strip_prefix('!').filter(|rest| !rest.starts_with('=')));
    if let Some(command) = command {
        let text = command.trim_start_matches('!').replace('\\', "\\\\").replace('"', "\\\"");
        return format!("{indent}__import__(\"os\").system(\"{text}\")");
    }
    let first = begin.split_whitespace().next().unwrap_or_default();
    if PLAIN_MAGICS.contains(&first) {
        return format!("{indent}pass");
    }
    let is_magic = begin.starts_with(['%', '?']) || right.starts_with('%') || begin.ends_with('?');
    if is_magic || COMMANDS.contains(&first) { format!("{indent}{UNKNOWN_LINE}") } else { line.to_owned() }
}

/// Returns the code that a tool of Python is given on the line: `-m timeit 'x()'`, `manage.py shell -c 'x()'`.
pub(super) fn python_tool(rest: &[Argument]) -> Option<Code> {
    let texts: Vec<&str> = rest.iter().map(|word| word.fixed().unwrap_or_default()).collect();
    let at = texts.iter().position(|text| {
        *text == "-m" || *text == "-mtimeit" || !text.starts_with('-') && !text.is_empty()
    })?;
    let is_manager = |text: &str| text == "manage.py" || text.ends_with("/manage.py");
    let words = rest.get(at + 1..)?;
    match (*texts.get(at)?, words.first().and_then(Argument::fixed)) {
        ("-m", Some("timeit")) => timed(words.get(1..)?),
        ("-mtimeit", _) => timed(words),
        (file, Some("shell" | "shell_plus")) if is_manager(file) => {
            let mut options =
                words.iter().skip_while(|word| !matches!(word.text.as_str(), "-c" | "--command"));
            let code = options.nth(1).cloned().or_else(|| {
                words.iter().find_map(|word| Some(word.piece(word.text.strip_prefix("--command=")?)))
            });
            joined(Language::Python, &[code?], "\n", true)
        }
        _ => None,
    }
}

/// Returns the statements that `timeit` runs, those that set up first.
fn timed(words: &[Argument]) -> Option<Code> {
    let (mut setup, mut statements) = (Vec::new(), Vec::new());
    let mut is_sure = true;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let (option, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
        match option {
            "-s" => setup.extend(rest.next().cloned()),
            "--setup" if value.is_empty() => setup.extend(rest.next().cloned()),
            "--setup" => setup.push(word.piece(value)),
            "-n" | "-r" | "-u" | "--number" | "--repeat" | "--unit" if value.is_empty() => _ = rest.next(),
            "-p" | "-v" | "-vv" | "--process" | "--verbose" | "--number" | "--repeat" | "--unit" => {}
            option if option.starts_with("-n") || option.starts_with("-r") => {}
            option if option.starts_with('-') && option != "--" && statements.is_empty() => is_sure = false,
            "--" => {}
            _ => statements.push(word.clone()),
        }
    }
    setup.extend(statements);
    joined(Language::Python, &setup, "\n", is_sure)
}

/// Returns the code that `rails runner` is given in the place of a file, behind the application that it loads.
pub(super) fn rails_runner(rest: &[Argument]) -> Option<Code> {
    let mut words = rest.iter();
    let code = loop {
        let word = words.next()?;
        match word.text.as_str() {
            "-e" | "--environment" => _ = words.next(),
            text if text.starts_with('-') => {}
            _ => break word,
        }
    };
    let is_file = code
        .fixed()
        .is_some_and(|text| text == "-" || text.rsplit_once('.').is_some_and(|(_, end)| end == "rb"));
    let load = code.piece("require_relative 'config/environment'");
    if is_file { None } else { joined(Language::Ruby, &[load, code.clone()], "\n", true) }
}

#[cfg(test)]
mod tests {
    use super::of_line;

    #[test]
    fn a_command_is_run_by_a_shell_and_a_magic_is_unknown() {
        assert_eq!(of_line("!ls \"a b\""), "__import__(\"os\").system(\"ls \\\"a b\\\"\")");
        assert_eq!(of_line("  x = !!ls"), "  __import__(\"os\").system(\"ls\")");
        assert_eq!(of_line("%matplotlib inline"), "pass");
        for line in ["%run x.py", "x = %sx ls", "rm -rf x", "?print", "print?"] {
            assert_eq!(of_line(line), "run_cell_magic()", "{line}");
        }
        for line in ["x != y", "x = a if b != c else d", "print(5 % 2)", "run(x)"] {
            assert_eq!(of_line(line), line);
        }
    }
}
