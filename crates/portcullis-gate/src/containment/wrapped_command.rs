//! The command that a host runs in place of one that is contained.

use std::ffi::OsString;

use portcullis_hosts::shell_joined;

/// The longest command that is wrapped, in bytes: the kernel takes no longer word.
const LONGEST: usize = 100_000;

/// Says whether a command can be the word of another.
pub(super) fn can_be_wrapped(command: &str) -> bool {
    command.len() <= LONGEST && !command.contains('\0')
}

/// Returns the words that the runner starts inside the fence. What they are is bound to the record of the call.
pub(super) fn words(command: &str) -> Vec<OsString> {
    ["bash", "-c", command].map(OsString::from).to_vec()
}

/// Returns the command for the host. The original can be read in it, and nothing in it says what it may do.
///
/// A child cannot move the shell of a host that keeps its directory between calls, so the line goes there afterwards: to a
/// directory that was worked out from the text before anything ran, never to one that the fenced command names.
pub(super) fn wrapped(program: &str, id: &str, command: &str, moves_to: Option<&str>) -> String {
    let line = shell_joined([program, "run", "--call", id, "--", "bash", "-c", command]);
    match moves_to {
        None => line,
        Some(directory) => {
            let there = shell_joined(["cd", "--", directory]);
            format!("{line}; portcullis_status=$?; {there}; (exit \"$portcullis_status\")")
        }
    }
}

/// Returns the command inside a line of ours, if it is one. An agent that sees its calls wrapped begins to write such lines;
/// what it wrote was judged by what is inside, and is wrapped once.
pub(super) fn unwrapped(program: &str, line: &str) -> Option<String> {
    let (_, rest) = line.split_once(" run --call ")?;
    let (id, word) = rest.split_once(" -- bash -c ")?;
    let inner = match word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')) {
        Some(quoted) => quoted.replace(r"'\''", "'"),
        None => word.to_owned(),
    };
    (wrapped(program, id, &inner, None) == line).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_original_is_one_word_whatever_it_is() {
        for command in ["make", "it's", "a\nb", "x'; rm -rf ~; '", "$(id)", "`id`", "-c", ""] {
            let line = wrapped("/opt/a b/portcullis", "1f", command, None);
            assert!(line.starts_with("'/opt/a b/portcullis' run --call 1f -- bash -c "), "{line}");
            let echo = line.replacen("'/opt/a b/portcullis'", "printf '%s\\0'", 1);
            let output = std::process::Command::new("sh").args(["-c", &echo]).output().unwrap();
            let mut expected = ["run", "--call", "1f", "--", "bash", "-c", command].join("\0");
            expected.push('\0');
            assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{command}");
        }
    }

    #[test]
    fn only_our_very_own_line_is_unwrapped() {
        let program = "/opt/a b/portcullis";
        for command in ["make", "it's", "a\nb", "x'; rm -rf ~; '", "echo ' -- bash -c '", ""] {
            let line = wrapped(program, "1f", command, None);
            assert_eq!(unwrapped(program, &line).as_deref(), Some(command), "{line}");
            let twice = wrapped(program, "2f", &line, None);
            assert_eq!(unwrapped(program, &twice).as_deref(), Some(line.as_str()), "{line}");
            for other in [format!("{line}; rm x"), format!("A=b {line}"), format!("{line} > out")] {
                assert_eq!(unwrapped(program, &other), None, "{other}");
            }
        }
        assert_eq!(unwrapped(program, "/tmp/portcullis run --call 1f -- bash -c make"), None);
        assert_eq!(unwrapped(program, "make"), None);
    }

    #[test]
    fn a_directory_survives_with_the_exit_code() {
        let line = wrapped("false", "1f", "cd sub", Some("/"));
        let script = format!("cd /tmp; {line}; echo \"$? $PWD\"");
        let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "1 /\n");
    }
}
