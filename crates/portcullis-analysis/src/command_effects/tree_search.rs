//! Searches through everything below a directory, hidden files too: what they show of another project holds its secrets.

use crate::argument::Argument;
use crate::directories::Directories;
use crate::effect::Target;
use crate::lists::places::open::{CACHES, PUBLIC_DIRECTORIES};
use crate::path;
use crate::reader::CommandContext;

/// The file that stands for the secrets of a project.
pub(crate) const SECRET_FILE: &str = ".env";

/// Directories of installed code, which holds nobody's secrets, wherever they lie.
const INSTALLED: &[&str] = &["dist-packages", "node_modules", "site-packages", "vendor"];

/// Options that say which files are searched.
const FILTERS: &[&str] =
    &["--include", "--glob", "--iglob", "-g", "-G", "--file-search-regex", "-t", "--type"];

/// Returns the files that a search reads beside the directory it is given, as pieces of the words that name it.
pub(super) fn secrets_below(context: &CommandContext<'_>, word: &Argument, target: &Target) -> Vec<Argument> {
    let words = context.invocation.operands();
    let program = context.invocation.program_name().unwrap_or_default();
    if !searches_hidden(program, words) || !is_elsewhere(context, target) || has_ending(&word.text) {
        return Vec::new();
    }
    let filters = filters(words);
    let names: Vec<String> = match filters.as_slice() {
        [] => vec![SECRET_FILE.to_owned()],
        filters => filters.iter().map(|filter| sample(filter)).filter(|name| !name.is_empty()).collect(),
    };
    let directory = word.text.trim_end_matches('/');
    names.into_iter().map(|name| word.piece(&format!("{directory}/{name}"))).collect()
}

/// Returns a name that a pattern of names takes in: `.env` for `.env*`.
pub(crate) fn sample(pattern: &str) -> String {
    let last = pattern.rsplit('/').next().unwrap_or(pattern);
    let is_named = !last.contains('{') && last.chars().any(char::is_alphanumeric);
    if is_named && path::may_name_component(last, SECRET_FILE) {
        return SECRET_FILE.to_owned();
    }
    last.split(',').next().unwrap_or(last).replace(['{', '}', '*', '[', ']', '?'], "")
}

/// Says whether a program searches directories down to the hidden files in them.
pub(crate) fn searches_hidden(program: &str, words: &[Argument]) -> bool {
    let has_letter = |letters: &str| {
        words.iter().any(|word| {
            word.text.starts_with('-')
                && !word.text.starts_with("--")
                && word
                    .text
                    .chars()
                    .skip(1)
                    .take_while(char::is_ascii_alphabetic)
                    .any(|own| letters.contains(own))
        })
    };
    let has_long = |names: &[&str]| words.iter().any(|word| names.contains(&word.text.as_str()));
    match program {
        "grep" | "egrep" | "fgrep" | "ggrep" | "zgrep" => {
            has_letter("rR") || has_long(&["--recursive", "--dereference-recursive", "--directories=recurse"])
        }
        "rgrep" => true,
        "git" => has_long(&["grep"]) && has_long(&["--no-index"]),
        // A pattern of names takes in hidden files as well.
        "rg" => {
            !filters(words).is_empty()
                || has_long(&["--hidden", "-.", "--no-ignore", "-uu", "-uuu", "--unrestricted"])
                || has_letter("u")
        }
        "ag" => has_letter("auU") || has_long(&["--hidden", "--all-types", "--unrestricted"]),
        "ugrep" | "ug" => has_long(&["--hidden", "-."]),
        _ => false,
    }
}

/// Returns the values of options that say which files are searched; those that leave files out do not count.
pub(crate) fn filters(words: &[Argument]) -> Vec<String> {
    let mut found = Vec::new();
    for (place, word) in words.iter().enumerate() {
        let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
        let value = match value {
            "" => words.get(place + 1).map_or("", |next| next.text.as_str()),
            value => value,
        };
        if FILTERS.contains(&name) && !value.is_empty() && !value.starts_with('!') {
            found.push(value.to_owned());
        }
    }
    found
}

/// Says whether the last part of a path has an ending, as files do.
fn has_ending(text: &str) -> bool {
    let last = text.trim_end_matches('/').rsplit('/').next().unwrap_or(text);
    !matches!(last, "." | "..") && last.trim_start_matches('.').contains('.')
}

/// Says whether a directory lies outside of where the command runs, and may hold projects.
fn is_elsewhere(context: &CommandContext<'_>, target: &Target) -> bool {
    let Directories::OneOf(own) = &context.invocation.directories else { return true };
    let home = context.home.unwrap_or("/");
    let is_own = |path: &String| own.iter().any(|directory| path::below(path, directory).is_some());
    target.paths().iter().any(|path| !is_own(path) && may_hold_projects(path, home))
}

/// Says whether a directory may hold projects: no place of the system's or of installed code.
pub(crate) fn may_hold_projects(path: &str, home: &str) -> bool {
    let is_public = PUBLIC_DIRECTORIES
        .iter()
        .filter(|public| **public != "/opt")
        .any(|public| path::is_inside(path, public));
    let is_cache = path::below(path, home)
        .is_some_and(|below| CACHES.iter().any(|cache| below.starts_with(cache.trim_end_matches("/**"))));
    let is_installed = path.split('/').any(|part| INSTALLED.contains(&part));
    let is_temporary = path::is_inside(path, "/tmp");
    !is_public && !is_cache && !is_installed && !is_temporary
}
