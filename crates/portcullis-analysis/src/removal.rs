//! What a removal takes away, as far as the text tells: a file, everything in a directory, what a pattern or a search
//! chooses.
//!
//! A pattern or a search may take away more than its words show, so that a removal is told by where it happens and how much
//! of that place goes.

use crate::act::Act;
use crate::argument::Knowledge;
use crate::case::Case;
use crate::effect::{Effect, PathTarget, Target};
use crate::invocation::Invocation;

/// Where something is removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RemovedPlace {
    /// An absolute path.
    pub(crate) path: String,
    /// How much of it goes.
    pub(crate) share: RemovedShare,
}

/// How much of a place goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RemovedShare {
    /// The file or directory itself.
    Itself,
    /// Everything in the directory.
    Contents,
    /// What a name chooses that the command spells out: `build-*`.
    Named,
    /// What a test chooses that says nothing of whose it is: an age, an ending.
    Chosen,
}

impl RemovedShare {
    /// Says whether nothing of the place is left.
    pub(crate) fn is_all(self) -> bool {
        matches!(self, Self::Itself | Self::Contents)
    }
}

/// Programs that search for files and may hand them on.
const SEARCHES: &[&str] = &["bfs", "fd", "fdfind", "find", "gfind"];

/// Tests of a search that say what a file is called.
const NAMES: &[&str] = &[
    "-g",
    "-iname",
    "-ipath",
    "-iregex",
    "-iwholename",
    "-name",
    "-path",
    "-regex",
    "-wholename",
    "-inum",
    "-samefile",
];

/// Other tests of a search that leave something out.
const TESTS: &[&str] = &[
    "-amin",
    "-atime",
    "-cmin",
    "-ctime",
    "-empty",
    "-mmin",
    "-mtime",
    "-newer",
    "-perm",
    "-size",
    "-user",
    "-used",
    "--changed-before",
    "--changed-within",
    "--older",
    "--newer",
    "-S",
    "-e",
];

/// So many letters at the beginning of a pattern make it a name of one's own.
const OWN_NAME: usize = 3;

/// Returns the places a removal takes something from; empty if they are only known at run time.
pub(crate) fn places<'a>(case: Case<'a>, effect: &'a Effect) -> Vec<RemovedPlace> {
    let Target::Path(target) = &effect.target else {
        return Vec::new();
    };
    let command = case.command(effect);
    let own_search = command.filter(|command| is_search(command));
    match (is_unknown(case, effect, target), own_search) {
        (true, _) => {
            let named = target.paths.iter().map(|path| of_path(target, path));
            searched(case, effect).into_iter().chain(named).collect()
        }
        (false, Some(search)) => {
            let share = if effect.act == Act::Delete { share_of(search) } else { RemovedShare::Contents };
            let place = |path: &String| RemovedPlace { share, ..of_path(target, path) };
            target.paths.iter().map(place).collect()
        }
        (false, None) => target.paths.iter().map(|path| of_path(target, path)).collect(),
    }
}

/// Says whether it is only known at run time what is removed: the path, or what stands for it in the words of a wrapper.
pub(crate) fn is_unknown(case: Case<'_>, effect: &Effect, target: &PathTarget) -> bool {
    const FILLING: &[&str] = &["fd", "fdfind", "find", "parallel", "xargs"];
    let is_filled = |command: &Invocation| command.program_name().is_some_and(|name| FILLING.contains(&name));
    let is_open = effect.word.as_ref().is_some_and(|word| word.knowledge == Knowledge::Dynamic);
    let is_own = case.command(effect).is_some_and(is_search);
    target.paths.is_empty()
        || is_open && !is_own
        || target.written.contains("{}") && case.wrappers(effect).any(is_filled)
}

/// Returns the places of the searches whose results are removed: `find -exec`, `find | xargs`, `rm $(find …)`.
fn searched<'a>(case: Case<'a>, effect: &'a Effect) -> Vec<RemovedPlace> {
    let is_other = |source: &&Effect| source.act == Act::List && source.invocation != effect.invocation;
    let mut found = Vec::new();
    for source in case.sources(effect).filter(is_other) {
        if let Some(search) = case.command(source).filter(|command| is_search(command)) {
            let share = share_of(search);
            found.extend(source.target.paths().iter().map(|path| RemovedPlace { path: path.clone(), share }));
        }
    }
    found
}

fn is_search(command: &Invocation) -> bool {
    command.program_name().is_some_and(|name| SEARCHES.contains(&name))
}

/// Says how much a search leaves to be removed.
fn share_of(search: &Invocation) -> RemovedShare {
    let words = search.operands();
    let mut after = words.iter().skip(1);
    let mut share = RemovedShare::Contents;
    for word in words {
        let value = after.next().map(|value| value.text.as_str()).unwrap_or_default();
        if NAMES.contains(&word.text.as_str()) {
            let value = value.trim_start_matches("*/").trim_start_matches("./");
            if is_own_name(value) {
                return RemovedShare::Named;
            }
            if !matches!(value, "*" | "" | ".*") {
                share = RemovedShare::Chosen;
            }
        } else if TESTS.contains(&word.text.as_str()) {
            share = RemovedShare::Chosen;
        }
    }
    // The first operand of fd is a pattern itself.
    let has_pattern = search.program_name().is_some_and(|name| name.starts_with("fd"))
        && words.iter().any(|word| !word.is_option() && word.text != ".");
    if has_pattern { RemovedShare::Named } else { share }
}

/// Says whether a pattern begins with a name or is one.
fn is_own_name(pattern: &str) -> bool {
    pattern.chars().take_while(|letter| !matches!(letter, '*' | '?' | '[' | '{')).count() >= OWN_NAME
}

fn of_path(target: &PathTarget, path: &str) -> RemovedPlace {
    let is_glob = |part: &str| part.contains(['*', '?', '[', '{']);
    if !target.is_pattern || target.is_single || !is_glob(path) {
        return RemovedPlace { path: path.to_owned(), share: RemovedShare::Itself };
    }
    let mut before = String::new();
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let mut chosen = "";
    for part in parts.by_ref() {
        if is_glob(part) {
            chosen = part;
            break;
        }
        before.push('/');
        before.push_str(part);
    }
    let is_last = parts.next().is_none();
    let takes_all = chosen.trim_start_matches('.').chars().all(|letter| matches!(letter, '*' | '?'))
        || matches!(chosen, ".[!.]*" | ".[^.]*" | "[!.]*");
    let share = match (takes_all, is_last) {
        (true, true) => RemovedShare::Contents,
        _ if is_own_name(chosen) => RemovedShare::Named,
        _ => RemovedShare::Chosen,
    };
    RemovedPlace { path: if before.is_empty() { "/".to_owned() } else { before }, share }
}

#[cfg(test)]
mod tests {
    use super::{RemovedPlace, RemovedShare, is_own_name, of_path};
    use crate::effect::PathTarget;

    fn place(path: &str, is_pattern: bool) -> RemovedPlace {
        of_path(&PathTarget { is_pattern, ..PathTarget::new(path, vec![path.to_owned()]) }, path)
    }

    #[test]
    fn a_pattern_takes_everything_or_what_it_names() {
        let expected = [
            ("/tmp/*", "/tmp", RemovedShare::Contents),
            ("/tmp/.*", "/tmp", RemovedShare::Contents),
            ("/tmp/app-*", "/tmp", RemovedShare::Named),
            ("/tmp/*.log", "/tmp", RemovedShare::Chosen),
            ("/*", "/", RemovedShare::Contents),
            ("/e*/passwd", "/", RemovedShare::Chosen),
            ("/code/*/dist", "/code", RemovedShare::Chosen),
        ];
        for (pattern, path, share) in expected {
            assert_eq!(place(pattern, true), RemovedPlace { path: path.to_owned(), share }, "{pattern}");
        }
    }

    #[test]
    fn a_plain_path_is_taken_itself() {
        assert_eq!(
            place("/code/[x]", false),
            RemovedPlace { path: "/code/[x]".to_owned(), share: RemovedShare::Itself }
        );
    }

    #[test]
    fn three_letters_make_a_name() {
        assert!(is_own_name("app*") && is_own_name("node_modules"));
        assert!(!is_own_name("ap*") && !is_own_name("*.log") && !is_own_name(""));
    }
}
