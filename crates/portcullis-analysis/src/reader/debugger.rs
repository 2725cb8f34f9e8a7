//! Commands of `gdb` on its command line: which only look at the program that is debugged, or let it run.

use super::CommandContext;
use super::certain;
use crate::act::Act;
use crate::lists::readers::debugger::{LOOKING, SETTINGS, STEPPING};
use crate::profile::{Match, Use};

/// Adds the commands that do more. The program itself is said to be run whether a command starts it or not.
pub(super) fn read(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let commands = found.wanted.options.iter().filter(|(option, _)| *option == "-ex");
    let odd = commands.filter_map(|(_, value)| value.as_ref()).filter(|value| {
        let text = value.text.trim().trim_matches(['"', '\'']);
        !value.is_known() || !is_plain(text)
    });
    uses.extend(odd.map(|value| certain(Act::LoadCode, value)));
    uses
}

/// Says whether a command changes nothing but the program that is debugged, and calls nothing in it.
fn is_plain(command: &str) -> bool {
    let (verb, rest) = command.split_once([' ', '/']).unwrap_or((command, ""));
    // Arguments of the program go through a shell, and expressions may assign and call.
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || " _-./:,%$+@*".contains(letter);
    if !rest.chars().all(is_word) {
        return false;
    }
    match verb {
        "set" => SETTINGS.iter().any(|setting| rest == *setting || rest.starts_with(&format!("{setting} "))),
        "thread" | "frame" if rest.starts_with("apply ") => {
            let all = rest.split_once(" all ").map(|(_, inner)| inner);
            all.is_some_and(is_plain)
        }
        "run" | "r" | "start" | "starti" => !rest.contains(['$', '*']),
        verb => LOOKING.contains(&verb) || STEPPING.contains(&verb),
    }
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn looking_and_stepping_are_told_from_calling_and_writing() {
        for plain in [
            "run",
            "run --parse a.bin",
            "bt full",
            "info registers rip",
            "thread apply all bt",
            "x/16xw $sp",
            "print count",
            "break src/a.c:12",
            "set pagination off",
            "frame 2",
            "continue",
        ] {
            assert!(is_plain(plain), "{plain}");
        }
        for odd in [
            "shell rm -rf x",
            "!rm x",
            "print system(\"rm\")",
            "call f(1)",
            "run $(rm x)",
            "run > /etc/x",
            "set var x = 1",
            "dump memory a 0 1",
            "generate-core-file /x",
            "source x.gdb",
            "python print(1)",
            "thread apply all shell x",
            "set logging enabled on",
            "attach 12",
            "set args `x`",
            "pipe bt | sh",
        ] {
            assert!(!is_plain(odd), "{odd}");
        }
    }
}
