//! `chmod`, whose mode may look like an option and may give a program its owner's rights.

use super::CommandContext;
use super::{certain, possible};
use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::profile::{Match, Use};

const LONG_FLAGS: &[&str] = &[
    "--changes",
    "--silent",
    "--quiet",
    "--verbose",
    "--recursive",
    "--preserve-root",
    "--dereference",
    "--help",
    "--version",
    "--no-dereference",
];

/// Reads the arguments of `chmod`.
pub(super) fn chmod(context: &CommandContext<'_>, _: &Match<'_>) -> Vec<Use> {
    let mut uses = Vec::new();
    let mut mode: Option<&Argument> = None;
    let mut files = Vec::new();
    let mut words = context.invocation.operands().iter();
    let mut has_ended = false;
    let mut is_named = false;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if has_ended || !word.is_option() {
            files.push(word);
        } else if text == "--" {
            has_ended = true;
        } else if text.starts_with("--ref") {
            is_named = true;
            let value =
                text.split_once('=').map(|(_, value)| word.piece(value)).or_else(|| words.next().cloned());
            uses.extend(value.map(|file| certain(Act::List, &file)));
        } else if text.starts_with("--no-p") {
            uses.push(certain(Act::Weaken, word));
        } else if text.starts_with("--") {
            let is_known = LONG_FLAGS.iter().any(|flag| flag.starts_with(text));
            uses.extend((!is_known).then(|| certain(Act::Unknown, word)));
        } else if text.chars().skip(1).all(|letter| "Rcfvh HLP".contains(letter)) {
            // These change nothing about the mode.
        } else {
            mode = Some(word);
        }
    }
    if mode.is_none() && !is_named && !files.is_empty() {
        mode = Some(files.remove(0));
    }
    uses.extend(
        mode.filter(|mode| mode.knowledge == Knowledge::Dynamic).map(|mode| possible(Act::Unknown, mode)),
    );
    let gives = mode.is_some_and(gives_rights);
    let opens = mode.is_some_and(opens_to_all);
    for file in files {
        uses.push(certain(Act::SetMode, file));
        uses.extend(opens.then(|| certain(Act::SystemConfig, file)));
        uses.extend(gives.then(|| certain(Act::Grant, file)));
    }
    uses
}

/// Says whether a mode lets others run a program with its owner's or group's rights: `u+s`, `4755`.
pub(super) fn gives_rights(mode: &Argument) -> bool {
    let text = mode.text.as_str();
    if !text.is_empty() && text.chars().all(|letter| letter.is_digit(8)) {
        let digits = text.trim_start_matches('0');
        return digits.len() > 3 && !digits.starts_with('1');
    }
    text.split(',').any(|clause| {
        let given = clause.split_once(['+', '=']).map_or("", |(_, given)| given);
        given.contains('s')
    })
}

/// Says whether a mode lets everybody write: `777`, `o+w`, `a+rw`.
fn opens_to_all(mode: &Argument) -> bool {
    let text = mode.text.as_str();
    if !text.is_empty() && text.chars().all(|letter| letter.is_digit(8)) {
        return text.len() > 2 && text.ends_with(['2', '3', '6', '7']) && !text.starts_with('1');
    }
    text.split(',').any(|clause| {
        clause
            .split_once(['+', '='])
            .is_some_and(|(who, given)| who.contains(['o', 'a']) && given.contains('w'))
    })
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn the_mode_is_no_file_even_if_it_looks_like_an_option() {
        assert_eq!(effects("chmod +x run.sh"), ["set-mode run.sh"]);
        assert_eq!(effects("chmod -w run.sh"), ["set-mode run.sh"]);
        assert_eq!(effects("chmod -R 755 a b"), ["set-mode a", "set-mode b"]);
        assert_eq!(effects("chmod --reference=a b"), ["list a", "set-mode b"]);
        assert_eq!(effects("chmod 0644 a"), ["set-mode a"]);
        assert_eq!(effects("chmod 1777 a"), ["set-mode a"]);
    }

    #[test]
    fn modes_that_give_rights_say_so() {
        for mode in ["u+s", "4755", "+s", "6755", "02755", "g=rxs", "a+x,u+s", "u+xs"] {
            assert_eq!(effects(&format!("chmod {mode} x")), ["grant x", "set-mode x"], "{mode}");
        }
        assert_eq!(effects("chmod u-s x"), ["set-mode x"]);
        assert_eq!(effects("chmod 777 x"), ["set-mode x", "system-config x"]);
        assert_eq!(effects("chmod -R a+w x"), ["set-mode x", "system-config x"]);
        assert_eq!(effects("chmod $mode x"), ["set-mode x", "unknown $mode"]);
    }
}
