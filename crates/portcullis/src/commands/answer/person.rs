//! Who answers: a person in a terminal, who is shown what is meant and says yes.
//!
//! INVARIANT: nothing is granted, denied or revoked without a terminal on standard input, whatever the flags say, and
//! nothing is widened by what an agent started, whatever terminal it made: no agent may lift what it was denied.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _};

use portcullis_core::rule::Behavior;
use portcullis_core::visible;
use portcullis_gate::Failure;
use portcullis_gate::presence;
use portcullis_output::terminal::{confirm, print_error};

/// Refuses whoever is no person in a terminal.
fn require_person() -> Result<(), Failure> {
    if io::stdin().is_terminal() {
        return Ok(());
    }
    Err(Failure::usage("only a person in a terminal can grant, deny or revoke")
        .with_hint("run it yourself in a terminal, without a pipe into it"))
}

/// Refuses whoever is no person in a terminal of their own, for what gives more.
pub(crate) fn require_presence() -> Result<(), Failure> {
    require_person()?;
    presence::require_presence("do this")
}

/// Refuses whoever may not answer so: to allow takes a terminal of one's own, to deny any terminal.
pub(crate) fn require_person_to(behavior: Behavior) -> Result<(), Failure> {
    match behavior {
        Behavior::Allow => require_presence(),
        Behavior::Ask | Behavior::Deny => require_person(),
    }
}

/// Asks a person whether it is meant, unless they said so already.
pub(crate) fn require_yes(is_said: bool, question: &str) -> Result<(), Failure> {
    if is_said || confirm(question)? { Ok(()) } else { Err(nothing_changed()) }
}

/// Returns the only rule, or the one that a person chooses of several; whoever is not to be asked must name one.
pub(crate) fn choose_rule(rules: &[&str], is_silent: bool) -> Result<String, Failure> {
    match rules {
        [only] => Ok((*only).to_owned()),
        several if is_silent => Err(Failure::usage("several rules would do, and one must be chosen")
            .with_hint(format!("name one of them: {}", several.join(", ")))),
        several => {
            let mut text = String::new();
            for (at, rule) in several.iter().enumerate() {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "{:>3}  {}", at + 1, visible(rule));
            }
            print_error(&format!("{text}which one? [1-{}] ", several.len()));
            let chosen = read_answer()?.parse::<usize>().ok().and_then(|at| at.checked_sub(1));
            let rule = chosen.and_then(|at| several.get(at));
            rule.map(|rule| (*rule).to_owned()).ok_or_else(nothing_changed)
        }
    }
}

fn nothing_changed() -> Failure {
    Failure::usage("nothing was changed")
}

fn read_answer() -> Result<String, Failure> {
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(|error| Failure::internal(format!("the answer could not be read: {error}")))?;
    Ok(line.trim().to_owned())
}
