//! Commands whose arguments or standard input are shell text: `bash -c`, `eval`, `trap`, a shell that reads a pipe.

use crate::argument::Argument;
use crate::invocation::{Wrapping, base_name};
use crate::wrapper::{Inside, Peeled};

const SHELLS: &[&str] =
    &["bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "csh", "tcsh", "yash"];

/// Options of a shell whose value is the next word.
const VALUED: &[&str] = &["-o", "+o", "-O", "+O", "--rcfile", "--init-file"];

/// Finds the shell text a command runs; `None` if it runs none.
pub(crate) fn peel(arguments: &[Argument]) -> Option<Peeled> {
    let (program, rest) = arguments.split_first()?;
    match base_name(program.fixed()?) {
        "eval" => text(rest.to_vec(), Wrapping::Transparent),
        "trap" => peel_trap(rest),
        "source" | "." => peel_source(rest),
        name if SHELLS.contains(&name) => peel_shell(rest),
        _ => None,
    }
}

fn text(words: Vec<Argument>, wrapping: Wrapping) -> Option<Peeled> {
    (!words.is_empty()).then(|| Peeled {
        wrapping,
        inside: Inside::Text(words),
        assignments: Vec::new(),
        directory: None,
    })
}

fn of(inside: Inside) -> Peeled {
    Peeled { wrapping: Wrapping::Changing, inside, assignments: Vec::new(), directory: None }
}

fn peel_trap(rest: &[Argument]) -> Option<Peeled> {
    let action = rest.iter().find(|argument| argument.text != "--")?;
    if action.is_option() || rest.len() < 2 || action.text.is_empty() {
        return None;
    }
    text(vec![action.clone()], Wrapping::Transparent)
}

fn peel_source(rest: &[Argument]) -> Option<Peeled> {
    let file = rest.first()?;
    if file.text == "/dev/stdin" {
        return Some(of(Inside::Input));
    }
    (!file.is_known()).then(|| of(Inside::Unknown("the file it runs is only known at run time")))
}

/// Reads a shell's options up to `-c` and its script.
fn peel_shell(rest: &[Argument]) -> Option<Peeled> {
    let mut words = rest.iter();
    let mut has_command = false;
    let mut plain = true;
    while let Some(word) = words.next() {
        if !word.is_known() {
            return Some(of(Inside::Unknown("the shell's script is only known at run time")));
        }
        if VALUED.contains(&word.text.as_str()) {
            plain &= matches!(word.text.as_str(), "-o" | "+o");
            words.next();
        } else if word.text == "--" || word.text == "-" {
            return Some(after_options(words.cloned().collect(), has_command, plain));
        } else if is_cluster(&word.text) {
            let cluster = word.text.trim_start_matches('-');
            has_command |= cluster.contains('c') && !word.text.starts_with("--");
            plain &= cluster.chars().all(|letter| "ceuxvnfB".contains(letter));
            if word.text == "-s" {
                return Some(of(Inside::Input));
            }
        } else {
            let remaining = std::iter::once(word).chain(words).cloned().collect();
            return Some(after_options(remaining, has_command, plain)).filter(|peeled| {
                // A script file is an ordinary operand; there is nothing to look into here.
                !matches!(&peeled.inside, Inside::Commands(none) if none.is_empty())
            });
        }
    }
    Some(after_options(Vec::new(), has_command, plain))
}

fn is_cluster(text: &str) -> bool {
    text.len() > 1 && text.starts_with(['-', '+'])
}

fn after_options(remaining: Vec<Argument>, has_command: bool, plain: bool) -> Peeled {
    let wrapping = if plain { Wrapping::Transparent } else { Wrapping::Changing };
    match remaining.into_iter().next() {
        Some(script) if has_command => {
            Peeled { wrapping, inside: Inside::Text(vec![script]), assignments: Vec::new(), directory: None }
        }
        Some(file) if file.text == "/dev/stdin" => of(Inside::Input),
        Some(_) => of(Inside::Commands(Vec::new())),
        None if has_command => of(Inside::Commands(Vec::new())),
        None => of(Inside::Input),
    }
}
