//! Lines of notebooks that are no Python: `!command`, `%magic`, `name = !command`, `name?`.

use crate::code::Code;

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
