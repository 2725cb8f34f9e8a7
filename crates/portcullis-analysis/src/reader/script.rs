//! Interpreters whose first operand is a script, and `python -m`.

use super::{CommandContext, inline};
use super::{certain, certain_here, nameless};
use crate::act::Act;
use crate::argument::Argument;
use crate::lists::readers::script::{PROJECT_MODULES, STANDARD_PACKAGES};
use crate::profile::{self, Match, Use};

/// Modules of Python that only show something.
const SHOWING_MODULES: &[&str] =
    &["ast", "calendar", "dis", "pydoc", "site", "sysconfig", "this", "tokenize", "platform"];

/// Options by which Python's archivers only look into an archive.
const LISTING: [&str; 4] = ["--list", "--test", "-l", "-t"];

/// Says whether a module is one inside a package that does not come with Python: the project's, or one it declares.
fn is_of_package(name: &str) -> bool {
    let is_name = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && part.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    let mut parts = name.split('.');
    let package = parts.next().unwrap_or_default();
    let mut inner = parts.peekable();
    inner.peek().is_some()
        && is_name(package)
        && inner.all(is_name)
        && !STANDARD_PACKAGES.contains(&package)
        && profile::find(&package.replace('_', "-")).is_none()
}

/// Reads the words of a module as those of the program that starts it.
fn of_program(name: &str, words: &[&Argument]) -> Vec<Use> {
    let words: Vec<Argument> = words.iter().map(|word| (*word).clone()).collect();
    let profile = profile::find(&name.replace('_', "-"));
    profile.map(|profile| profile::read(profile, &words).uses).unwrap_or_default()
}

/// Reads `python -m module`.
pub(super) fn python_module(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if found.is_idle {
        return uses;
    }
    uses.extend(managed(context, found));
    let named = found.wanted.options.iter().find(|(option, _)| *option == "-m");
    let Some(module) = named.and_then(|(_, value)| value.as_ref()) else {
        return uses;
    };
    let after = context.invocation.operands().iter().skip_while(|word| word.text != module.text).skip(1);
    let rest: Vec<_> = after.collect();
    match module.text.as_str() {
        // What stands in a document behind `>>>` is run.
        "doctest" => {
            uses.push(nameless(Act::RunProject));
            let documents = rest.iter().filter(|word| !word.is_option());
            uses.extend(documents.map(|word| certain(Act::Execute, word)));
        }
        name if PROJECT_MODULES.contains(&name) => {
            uses.push(nameless(Act::RunProject));
            uses.extend(of_program(name, &rest));
        }
        name if SHOWING_MODULES.contains(&name) => {
            uses.extend(rest.iter().filter(|word| !word.is_option()).map(|word| certain(Act::Read, word)));
        }
        "json.tool" => {
            let mut files = rest.iter().filter(|word| !word.is_option());
            uses.extend(files.next().map(|word| certain(Act::Read, word)));
            uses.extend(files.map(|word| certain(Act::Write, word)));
        }
        "venv" | "virtualenv" | "compileall" => {
            let clears = rest.iter().any(|word| word.text == "--clear");
            let act = if clears { Act::DeleteTree } else { Act::Write };
            uses.extend(rest.iter().filter(|word| !word.is_option()).map(|word| certain(act, word)));
        }
        "tarfile" | "zipfile" if rest.first().is_some_and(|word| LISTING.contains(&word.text.as_str())) => {
            let files = rest.iter().filter(|word| !word.is_option());
            uses.extend(files.map(|word| certain(Act::Read, word)));
        }
        // The first name of a script is the one that is run.
        "cProfile" | "profile" => {
            uses.push(nameless(Act::RunProject));
            uses.extend(profiled(&rest));
        }
        "trace" => {
            uses.push(nameless(Act::RunProject));
            uses.extend(rest.iter().find(|word| !word.is_option()).map(|word| certain(Act::Execute, word)));
        }
        "timeit" if context.invocation.code.is_some() => {}
        "pip" | "pip3" => {
            uses.extend(of_program("pip", &rest));
        }
        "http.server" | "SimpleHTTPServer" => uses.extend(served(context, &rest)),
        name if is_of_package(name) => uses.push(nameless(Act::RunProject)),
        _ => uses.push(certain(Act::Unknown, module)),
    }
    uses
}

/// Reads the words of a server of files: where it listens, and which directory it shows.
fn served(context: &CommandContext<'_>, words: &[&Argument]) -> Vec<Use> {
    let value = |names: [&str; 2]| {
        let place = words.iter().position(|word| names.contains(&word.text.as_str()))?;
        Some((place + 1, *words.get(place + 1)?))
    };
    let (bind, directory) = (value(["-b", "--bind"]), value(["-d", "--directory"]));
    let attached = words.iter().find_map(|word| Some(word.piece(word.text.strip_prefix("--directory=")?)));
    let taken = [bind, directory].map(|found| found.map(|(place, _)| place));
    let is_port = |(place, word): &(usize, &&Argument)| !word.is_option() && !taken.contains(&Some(*place));
    let port = words.iter().enumerate().find(is_port).map(|(_, word)| *word);
    let listen = bind.map(|(_, word)| word).or(port);
    let shown = directory
        .map(|(_, word)| certain(Act::Read, word))
        .or(attached.map(|word| certain(Act::Read, &word)));
    let listening = listen.map_or_else(|| nameless(Act::Listen), |address| certain(Act::Listen, address));
    std::iter::once(listening).chain(shown.or_else(|| certain_here(context, Act::Read))).collect()
}

/// Reads the words of a profiler: where the result goes, and the script or module that is run.
fn profiled(words: &[&Argument]) -> Vec<Use> {
    let mut uses = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "-o" | "--outfile" => uses.extend(rest.next().map(|file| certain(Act::Write, file))),
            "-s" | "--sort" => _ = rest.next(),
            "-m" => {
                let is_own = |name: &Argument| {
                    name.fixed().is_some_and(|name| PROJECT_MODULES.contains(&name) || is_of_package(name))
                };
                uses.extend(rest.next().filter(|name| !is_own(name)).map(|name| certain(Act::Unknown, name)));
                break;
            }
            option if option.starts_with('-') => {
                let attached =
                    option.strip_prefix("--outfile=").map(|file| certain(Act::Write, &word.piece(file)));
                uses.extend(attached.or_else(|| (option.len() > 2).then(|| certain(Act::Unknown, word))));
            }
            _ => {
                uses.push(certain(Act::Execute, word));
                break;
            }
        }
    }
    uses
}

/// Reads tasks of a Django project: `manage.py` takes what `django-admin` takes.
fn managed(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let Some((script, words)) = found.wanted.operands.split_first() else {
        return Vec::new();
    };
    let is_manager = script.text == "manage.py" || script.text.ends_with("/manage.py");
    match profile::find("django-admin").filter(|_| is_manager && !words.is_empty()) {
        Some(profile) => {
            // Code that a reader took is judged by what stands in it.
            let is_read = context.invocation.code.is_some();
            let mut uses = profile::read(profile, words).uses;
            uses.retain(|used| !(is_read && used.act == Act::Unknown));
            uses
        }
        None => Vec::new(),
    }
}

/// Reads an interpreter that takes its program from standard input when no script is named.
pub(super) fn script(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let has_program = context.invocation.code.is_some() || !found.wanted.operands.is_empty();
    let is_told = uses.iter().any(|found| !found.act.is_observing());
    if !found.is_idle && !has_program && !is_told {
        uses.push(nameless(Act::Unknown));
    }
    inline::take(context, &mut uses);
    uses
}
