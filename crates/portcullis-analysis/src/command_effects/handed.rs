//! What code on the line hands to functions of the project, which nobody reads: it must be data.
//!
//! A script of the project gets its words from the line, where everybody sees them. A function may get a place outside of
//! the project, an address, a command or a secret out of a program, so these stay unknown, and so does a program that
//! makes texts of parts which say nothing.

use crate::code::{Code, CodeAction, CodeReading, CodeTarget, HandedText, Language};
use crate::effect::target::host_in;
use crate::lists::readers::inline::{HIDDEN_TEXTS, HOST_ENDS, PLAIN_WORDS};
use crate::lists::session_code::FOREIGN_PLACES;
use crate::place::{is_loopback, secrecy_by_text};
use crate::profile;
use crate::session_code::outward_word;

/// Says what is not known of code that calls functions of the project.
pub(super) fn doubts(code: &Code, reading: &CodeReading) -> Vec<String> {
    let calls = |action: &CodeAction| matches!(action.object, CodeTarget::Module { is_used: true, .. });
    if !reading.actions.iter().any(calls) {
        return Vec::new();
    }
    let language = match code.language {
        Language::JavaScript => "javascript",
        Language::Ruby => "ruby",
        Language::Php => "php",
        Language::Perl => "perl",
        Language::Python | Language::Awk | Language::Sql => "python",
    };
    let hidden = HIDDEN_TEXTS.iter().find(|way| code.text.contains(**way)).map(|way| (*way).to_owned());
    let word = hidden.or_else(|| outward_word(language, &code.text));
    let beside = word.map(|word| format!("uses `{word}` beside code of the project"));
    let handed = reading.handed.iter().find_map(outward);
    let handed = handed.map(|what| format!("hands {what} to code of the project"));
    beside.into_iter().chain(handed).collect()
}

/// Returns the file that a text names, if it reads like one.
pub(super) fn file(handed: &HandedText) -> Option<&str> {
    let text = handed.text.trim();
    let has_ending = text.rsplit_once('.').is_some_and(|(name, ending)| {
        let is_short = (1..=6).contains(&ending.len());
        !name.is_empty() && is_short && ending.chars().all(|letter| letter.is_ascii_alphanumeric())
    });
    let is_one = !text.is_empty() && !text.contains(char::is_whitespace) && !text.contains("://");
    (is_one && !handed.is_route && (has_ending || text.contains('/'))).then_some(text)
}

/// Says how a text leads out of a computation, if it does.
fn outward(handed: &HandedText) -> Option<&'static str> {
    let HandedText { text, is_route } = handed;
    let (text, is_route) = (text.trim(), *is_route);
    if names_place(text, is_route) {
        return Some("a path outside the project");
    }
    if names_host(text) {
        return Some("a host");
    }
    if is_command(text) {
        return Some("a command");
    }
    if changes_data(text) {
        return Some("SQL that changes something");
    }
    (!text.contains(char::is_whitespace) && secrecy_by_text(text).is_some()).then_some("a secret")
}

/// Says whether a text holds a path that leads out of the directory where the program runs.
fn names_place(text: &str, is_route: bool) -> bool {
    let is_system = |part: &str| {
        FOREIGN_PLACES.iter().any(|place| {
            let rest = part.strip_prefix(place.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let leads = |part: &str| {
        let is_drive = part.as_bytes().get(1) == Some(&b':')
            && part.starts_with(|first: char| first.is_ascii_alphabetic())
            && part.len() > 2;
        part.starts_with('~') && !part.starts_with("~=")
            || part.starts_with('\\') && part.len() > 2
            || part.split(['/', '\\']).any(|component| component == "..")
            || is_drive && part.get(2..3).is_some_and(|next| matches!(next, "/" | "\\"))
            || part.starts_with('/') && (!is_route || is_system(part))
    };
    let is_end =
        |letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | '`' | ',' | '=' | '(' | '[');
    text.split(is_end).filter(|part| !part.is_empty()).any(leads)
}

/// Says whether a text holds an address or the name of a host elsewhere.
fn names_host(text: &str) -> bool {
    let is_end = |letter: char| {
        letter.is_whitespace()
            || matches!(letter, '"' | '\'' | '`' | ',' | ';' | '(' | ')' | '<' | '>' | '[' | ']')
    };
    text.split(is_end).filter(|part| part.contains('.') || part.contains("://")).any(|part| {
        let Some(host) = host_in(part) else { return true };
        let ending = host.rsplit('.').next().unwrap_or_default();
        let is_number =
            host.split('.').count() == 4 && host.split('.').all(|part| part.parse::<u8>().is_ok());
        let is_named = host.contains('.') && HOST_ENDS.contains(&ending);
        (part.contains("://") || is_number || is_named) && !is_loopback(&host)
    })
}

/// Says whether a text reads like a command line: a program that is known with words after it, or any with options.
fn is_command(text: &str) -> bool {
    text.split([';', '|', '&', '\n', '`', '(', ')', '$']).any(|part| {
        let words: Vec<&str> = part.split_whitespace().collect();
        let has_option = words.iter().skip(1).any(|word| {
            let mut letters = word.chars();
            letters.next() == Some('-')
                && letters.next().is_some_and(|next| next == '-' || next.is_ascii_alphabetic())
        });
        let Some(program) = words.first() else { return false };
        let name = program.rsplit('/').next().unwrap_or(program);
        let is_script = program.contains('/') && words.len() > 1;
        let is_program = || !PLAIN_WORDS.contains(&name) && profile::find(name).is_some();
        has_option || is_script || words.len() > 1 && is_program() || halts(name, words.len())
    })
}

/// Says whether a single word is a program that needs none besides to stop the machine.
fn halts(name: &str, words: usize) -> bool {
    words == 1 && matches!(name, "halt" | "poweroff" | "reboot" | "shutdown")
}

/// Says whether a text is SQL that does more than ask.
fn changes_data(text: &str) -> bool {
    let mut words = text.split_whitespace().map(str::to_ascii_lowercase);
    let verb = words.next().unwrap_or_default();
    let next = words.next().unwrap_or_default();
    match verb.as_str() {
        "alter" | "create" | "drop" | "truncate" => matches!(
            next.as_str(),
            "database"
                | "extension"
                | "function"
                | "index"
                | "or"
                | "role"
                | "schema"
                | "table"
                | "trigger"
                | "user"
                | "view"
        ),
        "delete" => next == "from",
        "insert" | "replace" => matches!(next.as_str(), "into" | "or"),
        "update" => words.any(|word| word == "set"),
        "attach" | "copy" | "grant" | "pragma" | "revoke" => !next.is_empty(),
        _ => false,
    }
}
