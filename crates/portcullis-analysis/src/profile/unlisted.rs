//! What may be taken of an option that no table lists.
//!
//! A closed world: an option with a value that nobody listed is unknown, since the value may be a file to write, a
//! program to run or a host to reach. Of switches without a value a profile may say that they are harmless.

use super::{Form, OtherOptions, Style};
use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::lists::options::{BUILD_SWITCHES, SWITCHES, VALUED, WORDS};

/// What an option that is not listed turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unlisted {
    /// A switch that changes nothing that matters, or an option whose value cannot matter.
    Harmless,
    /// A switch, unless it takes the next word for its value.
    Switch,
    /// An option of a request, if a value follows.
    Parameter,
    /// Nobody knows.
    Unknown,
}

/// Judges an option by its name and the value attached to it.
pub(super) fn judge(form: Form<'_>, name: &str, value: Option<&str>) -> Unlisted {
    let others = form.other_options;
    let is_number = name.chars().skip(1).all(|letter| letter.is_ascii_digit());
    if is_number {
        return Unlisted::Harmless;
    }
    if others == OtherOptions::Unknown {
        return Unlisted::Unknown;
    }
    let is_common = is_listed(SWITCHES, name);
    match value {
        None if is_common || is_listed(VALUED, name) => Unlisted::Harmless,
        None if others == OtherOptions::Harmless => Unlisted::Switch,
        Some(value) if is_listed(VALUED, name) || is_common && is_tame(value) => Unlisted::Harmless,
        Some(value) if others == OtherOptions::Harmless && is_tame(value) => Unlisted::Harmless,
        None if others == OtherOptions::Parameters => Unlisted::Parameter,
        Some(value) if others == OtherOptions::Parameters && is_parameter(name, value) => Unlisted::Harmless,
        None | Some(_) => Unlisted::Unknown,
    }
}

/// Says whether a word that may be the value of an unlisted option could matter as such.
pub(super) fn may_matter(form: Form<'_>, option: &Argument, word: &Argument) -> bool {
    if form.other_options == OtherOptions::Parameters {
        return !word.is_known() || !is_parameter(&option.text, &word.text);
    }
    // Single letters are mostly switches, and every parameter of PowerShell may have a value.
    let is_short = option.text.len() == 2 || form.style == Style::Gnu && !option.text.starts_with("--");
    let is_lenient = is_short || form.style == Style::Windows || is_build_switch(form, &option.text);
    // A pattern that begins inside stays there.
    let is_seen = word.is_known() || word.knowledge == Knowledge::Glob;
    if is_lenient { !is_seen || !is_inside(&word.text) } else { !is_tame(&word.text) }
}

/// Says whether the letters behind one dash hold more than switches: `-V1/etc/x`, `-ofile.txt`.
pub(super) fn holds_value(letters: &str) -> bool {
    !letters
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '?' | '#' | '@'))
}

fn is_listed(list: &[&str], name: &str) -> bool {
    list.binary_search(&name).is_ok()
}

/// Says whether a value says only how much or whether: no name, no place, no command.
pub(super) fn is_tame(value: &str) -> bool {
    let is_number = value.starts_with(|first: char| first.is_ascii_digit())
        && value.len() <= 12
        && value
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '%' | ',' | '-'));
    value.is_empty() || is_number || is_listed(WORDS, value)
}

/// Says whether a text names at most a file of the project: no other place, no address, no command.
fn is_inside(text: &str) -> bool {
    let is_elsewhere = text.starts_with(['/', '~', '|', '@']) || text.split('/').any(|part| part == "..");
    !is_elsewhere
        && !text.contains("://")
        && !text.contains(|letter: char| letter.is_whitespace() || "$`;|&<>".contains(letter))
}

/// Says whether an option is a switch of tools that build, test and check: the word behind it is no value of it, and what
/// it names in the project is the project's own affair.
fn is_build_switch(form: Form<'_>, name: &str) -> bool {
    let name = name.trim_start_matches('-');
    form.does().any(|act| act == Act::RunProject)
        && (name.starts_with("no-") || is_listed(BUILD_SWITCHES, name))
}

/// Says whether a value is text of a request: not read from a file, not fetched, not made by a command, and not where
/// the request goes or its answer is kept.
fn is_parameter(name: &str, value: &str) -> bool {
    // Where it goes, what is kept of it, and what makes a service show a secret in plain words.
    let is_place = [
        "endpoint",
        "-url",
        "file",
        "universe",
        "proxy",
        "destination",
        "out-",
        "decrypt",
        "include-value",
        "plaintext",
        "reveal",
    ]
    .iter()
    .any(|part| name.contains(part));
    let is_path = name.len() == 2 && value.starts_with('/');
    !is_place
        && !is_path
        && !value.contains("://")
        && !value.starts_with(['@', '~', '|'])
        && !value.contains("$(")
        && !value.contains('`')
}
