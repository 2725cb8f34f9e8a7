//! Values of variables as texts: which are plain, which are places and where these lead.

use crate::argument::{Argument, Knowledge};
use crate::lists::environment::{PLAIN_OUTPUTS, USUAL_BEGINNINGS, USUAL_PLACES};
use crate::path;

/// Says whether a value is a number or a switch, or nothing at all.
pub(super) fn is_switch(value: &str) -> bool {
    let number = value.strip_prefix('-').filter(|rest| !rest.is_empty()).unwrap_or(value);
    let is_number =
        number.chars().all(|letter| letter.is_ascii_digit() || letter == '.') && !number.starts_with('.');
    let word = value.to_ascii_lowercase();
    is_number
        || matches!(
            word.as_str(),
            "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n" | "always" | "never" | "auto" | "none"
        )
}

/// Says whether a value is one word that no program can take for a path, an option, a list or a command.
pub(super) fn is_plain_word(value: &str) -> bool {
    // A name with an ending may be a file of the directory the program runs in.
    let is_file = value.rsplit_once('.').is_some_and(|(_, end)| {
        end.starts_with(|letter: char| letter.is_ascii_alphabetic()) && end.len() <= 5 && !end.contains('-')
    });
    is_plain_name(value) && !is_file
}

/// Says whether a value is one word, which may have dots: a module, a version.
pub(super) fn is_plain_name(value: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.,+@%^#".contains(letter);
    is_switch(value) || !value.starts_with(['-', '.', '@', '+']) && value.chars().all(is_plain)
}

/// Says whether the running shell puts something plain in: a variable of the session, a revision, a date, a number.
pub(super) fn is_plain_expansion(value: &str, is_set_here: impl Fn(&str) -> bool) -> bool {
    let value = value.trim_matches('"');
    if let Some(name) = variable_in(value) {
        return !is_set_here(name);
    }
    let inside = value.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
    inside.is_some_and(|command| {
        let is_listed = PLAIN_OUTPUTS.iter().any(|plain| {
            command.strip_prefix(plain).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '%']))
        });
        is_listed && !command.contains(['|', ';', '&', '`', '<', '>', '\n']) && !command.contains("$(")
            || command.starts_with('(') && command.ends_with(')')
    })
}

/// Returns the variable that a text is: `$NAME` or `${NAME}`.
pub(super) fn variable_in(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('$')?;
    let name = rest.strip_prefix('{').map_or(Some(rest), |rest| rest.strip_suffix('}'))?;
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// Says whether a piece of a list is the value that the variable has already: `$PATH`, `${X:-}`, `${X:+:$X}`.
pub(super) fn is_itself(name: &str, piece: &str) -> bool {
    let inside = piece.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let after = inside.and_then(|inside| inside.strip_prefix(name));
    variable_in(piece) == Some(name)
        || after.is_some_and(|after| {
            matches!(after, ":-" | "-" | ":+" | "+")
                || after.trim_start_matches([':', '+', '$', '{']).starts_with(name)
        })
}

/// Splits a list of places at its colons, those inside of expansions left alone.
pub(super) fn places(value: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut depth, mut from) = (0_usize, 0);
    for (at, letter) in value.char_indices() {
        match letter {
            '{' | '(' => depth += 1,
            '}' | ')' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => {
                pieces.extend(value.get(from..at));
                from = at + 1;
            }
            _ => {}
        }
    }
    pieces.extend(value.get(from..));
    pieces
}

/// Makes a word of a place in a value. What stands for the directory of the command is put in; `None` if the rest is only
/// known at run time.
pub(crate) fn place(value: &Argument, piece: &str) -> Option<Argument> {
    const HERE: &[&str] = &["$PWD", "${PWD}", "$(pwd)", "`pwd`", "$(git rev-parse --show-toplevel)"];
    let piece = piece.trim_matches('"');
    let here = HERE.iter().find_map(|here| piece.strip_prefix(here));
    let text = match here {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!(".{rest}"),
        _ => piece.to_owned(),
    };
    let is_open = text.contains(['$', '`', '…']) || value.knowledge == Knowledge::Glob;
    let knowledge = if text.starts_with('~') { Knowledge::Tilde } else { Knowledge::Fixed };
    (!is_open).then(|| Argument { knowledge, ..value.piece(&text) })
}

/// Says whether a piece of a value can be nothing but a path: no option, list, command or pattern.
pub(super) fn is_path(piece: &str) -> bool {
    let is_odd = |letter: char| letter.is_whitespace() || ":=;|&<>{}'!\\*?".contains(letter);
    !piece.trim_matches('"').contains(is_odd) && !piece.starts_with(['-', '@', '+', '|'])
}

/// Says whether a place is one where only the owner of the machine or the user's own tools put files.
pub(super) fn is_usual(piece: &str, home: Option<&str>) -> bool {
    let piece = piece.trim_matches('"');
    if USUAL_BEGINNINGS.iter().any(|start| piece.starts_with(start)) {
        return !piece.contains("..") && !piece.contains([';', '|', '&']);
    }
    let below_home = home.and_then(|home| piece.strip_prefix(home)).filter(|rest| rest.starts_with('/'));
    let text = match (below_home, piece.strip_prefix("$HOME/")) {
        (Some(rest), _) => format!("~{rest}"),
        (None, Some(rest)) => format!("~/{rest}"),
        (None, None) => piece.to_owned(),
    };
    if text.contains(['$', '`', '*', '?']) {
        return false;
    }
    let text = if text.starts_with('/') { path::normalize(&text) } else { text };
    let begins = |start: &&str| {
        let is_whole = start.strip_suffix('/') == Some(text.as_str());
        is_whole
            || text.strip_prefix(*start).is_some_and(|rest| {
                rest.is_empty()
                    || start.ends_with('/')
                    || rest.starts_with(['/', '-', '.', '@'])
                    || is_versioned(start)
            })
    };
    !text.contains("/../") && !text.ends_with("/..") && USUAL_PLACES.iter().any(begins)
}

/// Says whether names go on after the beginning: `/opt/jdk17`, `/opt/java-21`.
fn is_versioned(start: &str) -> bool {
    start.starts_with("/opt/")
}

/// Says whether a place is one that anybody may write to.
pub(super) fn is_scratch(piece: &str) -> bool {
    let piece = piece.trim_matches('"');
    ["/tmp", "/dev/shm", "/var/tmp", "/private/tmp"]
        .iter()
        .any(|start| piece.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_are_told_from_places_lists_and_commands() {
        for plain in ["", "1", "-1", "true", "test", "arm64", "test_1", "1.2.3", "v1.2", "a,b", "us-east-1"] {
            assert!(is_plain_word(plain), "{plain}");
        }
        for steering in
            ["./x", "/x", "~/x", "a:b", "a=b", "a b", "-x", "evil.sh", "x.so", "..", "$(x)", "a;b", "{x}"]
        {
            assert!(!is_plain_word(steering), "{steering}");
        }
    }

    #[test]
    fn usual_places_are_those_of_the_machine_and_of_tools() {
        for usual in [
            "/usr/lib/jvm/java-21",
            "/home/me/.kube/dev",
            "~/.cargo",
            "/dev/null",
            "$HOME/go",
            "/opt/jdk-21",
            "$GOPATH/bin",
        ] {
            assert!(is_usual(usual, Some("/home/me")), "{usual}");
        }
        for odd in [
            "/usr/../tmp/x",
            "/opt/evil",
            "~/code/x",
            "/tmp/x",
            "$X/bin",
            "/home/me/.kubex",
            "~/.ssh",
            "/home/you/.cargo",
        ] {
            assert!(!is_usual(odd, Some("/home/me")), "{odd}");
        }
    }

    #[test]
    fn a_list_is_split_outside_of_expansions() {
        assert_eq!(places("a:b"), ["a", "b"]);
        assert_eq!(places("x${A:+:$A}"), ["x${A:+:$A}"]);
        assert!(is_itself("PATH", "$PATH") && is_itself("A", "${A:-}") && is_itself("A", "${A:+:$A}"));
        assert!(!is_itself("PATH", "$X"));
    }
}
