//! Whether words of a build or test command lead out of the project.
//!
//! What a build reads, writes and loads is told by its words, and no table knows the options of every build tool.
//! So a word that names a place of somebody else is enough for a question, whatever its option is called.
//!
//! Allowances ask it about programs that run code of the project: these may stay what they are only inside of it.

use std::cell::OnceCell;

use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::case::Case;
use crate::effect::target::{host_in, path_of};
use crate::effect::{Effect, Target};
use crate::environment::place_in;
use crate::invocation::Invocation;
use crate::lists::programs::builds::{ELSEWHERE, LOADING, SHORT_LOADING, SHOWN};
use crate::option::values;
use crate::path::{is_inside, normalize};
use crate::place::{Scope, is_agent_shelter, is_among_agent_files, is_free, is_loopback, secrecy};
use crate::steering;

/// Says whether a command runs outside of the project, or a word of it leads out.
pub(crate) fn leads_out(case: Case<'_>, effect: &Effect) -> bool {
    let Some(command) = case.command(effect).filter(|_| !case.is_in_container(effect)) else {
        return false;
    };
    if runs_elsewhere(case, command) {
        return true;
    }
    // A variable that is set for what follows is judged by its name.
    if matches!(command.program_name(), Some("declare" | "export" | "local" | "readonly" | "typeset")) {
        return false;
    }
    let runs_operands = command.program_name().is_some_and(|name| RUNNING.contains(&name));
    let (mut before, mut is_loading_before) = ("", false);
    for word in command.operands() {
        let is_named = before.starts_with('-') && !word.is_option();
        // Code that a reader understands is judged by what stands in it.
        if command.code.as_ref().is_some_and(|code| code.is_whole && code.is_of(word)) {
            (before, is_loading_before) = (&word.text, false);
            continue;
        }
        // Code that a reader took for the project's own is no command line.
        if is_named && holds_code(command) && effect.word.as_ref() == Some(word) {
            (before, is_loading_before) = (&word.text, false);
            continue;
        }
        let front = OptionFront::of(&word.text);
        let option = if is_named { before } else { &word.text };
        if steering::is_command_text(command, word) || names_foreign_address(option, &word.text) {
            return true;
        }
        let leads = pieces(&word.text).any(|(at, piece)| {
            let is_run = front.is_loading(at)
                || is_named && is_loading_before
                || runs_operands && !is_named && at == 0 && is_code(piece);
            let is_value = is_named || word.text.starts_with("--") && at > 1;
            let is_run = is_run || is_value && !is_told(case, effect, piece);
            is_elsewhere(case.scope, command, word, piece, is_run)
        });
        if leads {
            return true;
        }
        (before, is_loading_before) = (&word.text, front.is_loading(word.text.len()));
    }
    false
}

/// Says whether a command may run in a directory that is not the project's: what it builds, tests and loads there is the
/// code of somebody else. Among temporary files a directory is one's own that the line makes, or that this session filled.
fn runs_elsewhere(case: Case<'_>, command: &Invocation) -> bool {
    let fills = |directory: &str| {
        let mut changes = case.of(&[Act::Write, Act::Link, Act::Move]);
        changes.any(|change| {
            case.command(change).is_some_and(|earlier| !std::ptr::eq(earlier, command))
                && change.target.paths().iter().any(|path| is_inside(path, directory))
        })
    };
    let is_fresh = |directory: &str| {
        let makes = |earlier: &Invocation| earlier.program_name() == Some("mktemp");
        directory.contains('[') && case.survey.invocations.iter().any(makes)
    };
    let is_own = |directory: &String| {
        let directory = normalize(directory);
        let is_filled = || is_fresh(&directory) || case.background.fills(&directory) || fills(&directory);
        case.scope.is_in_project(&directory) || case.scope.is_temporary(&directory) && is_filled()
    };
    match command.directories.alternatives() {
        Some(places) => !places.iter().all(is_own),
        None => case.survey.invocations.iter().any(|earlier| may_leave(case.scope, earlier)),
    }
}

/// Says whether a command may change into a directory outside of the project. What a script of the project does when it is
/// read into the shell is the project's.
fn may_leave(scope: &Scope, command: &Invocation) -> bool {
    let stays = |path: &str| {
        let climbs = path.split('/').any(|component| component == "..");
        !climbs && (!path.starts_with(['/', '-', '~']) || scope.is_in_project(path))
    };
    if !matches!(command.program_name(), Some("cd" | "pushd")) {
        return false;
    }
    let known = |word: &Argument| match word.patterns() {
        Some(patterns) => patterns.iter().all(|pattern| stays(pattern)),
        None => word.fixed().is_some_and(stays),
    };
    !command.operands().iter().any(known)
}

/// Says whether a program takes code on its line that is judged by the functions it calls.
fn holds_code(command: &Invocation) -> bool {
    matches!(command.program_name(), Some("R" | "Rscript" | "julia" | "littler"))
}

/// Says whether a word names an address elsewhere that is more than shown: a build or test that is told one fetches,
/// loads or calls what is there.
fn names_foreign_address(option: &str, text: &str) -> bool {
    let is_shown = || {
        let option = option.split('=').next().unwrap_or(option).to_ascii_lowercase();
        SHOWN.iter().any(|part| option.contains(part))
    };
    let is_foreign = |(at, _): (usize, &str)| {
        let after = text.get(at..).unwrap_or_default();
        let address = after.split(['"', '\'', ' ', ',', '}']).next().unwrap_or(after);
        !host_in(&format!("x{address}")).is_some_and(|host| is_loopback(&host))
    };
    let is_file = text.contains("file://");
    !is_file && text.match_indices("://").any(is_foreign) && !is_shown()
}

/// Says whether the profile of the command, or of one that it starts, knows what is done to a path.
fn is_told(case: Case<'_>, effect: &Effect, piece: &str) -> bool {
    let starts = |known: &Effect| {
        let command = case.command(effect);
        case.wrappers(known).any(|wrapper| command.is_some_and(|command| std::ptr::eq(command, wrapper)))
    };
    let mut known = case.of(&[Act::Read, Act::Write, Act::Delete, Act::DeleteTree]);
    known.any(|known| {
        known.target.written().contains(piece) && (known.invocation == effect.invocation || starts(known))
    })
}

/// Says whether a command builds or runs containers as a file outside the project tells.
pub(crate) fn takes_foreign_file(case: Case<'_>, effect: &Effect) -> bool {
    let Some(command) = case.command(effect) else {
        return false;
    };
    let words = command.operands();
    let named = words
        .iter()
        .zip(words.iter().skip(1))
        .filter(|(option, _)| FILE_OPTIONS.contains(&option.text.as_str()));
    let attached = words.iter().filter_map(|word| {
        let (option, value) = word.text.split_once('=')?;
        FILE_OPTIONS.contains(&option).then(|| word.piece(value))
    });
    named.map(|(_, value)| value.clone()).chain(attached).any(|value| {
        let target = path_of(&value, &command.directories, case.scope.home.as_deref());
        value.text != "-" && !target.is_all(|path| case.scope.is_in_project(path))
    })
}

/// Says whether a copy hands a secret of this machine to a container.
pub(crate) fn hands_over_secret(case: Case<'_>, effect: &Effect) -> bool {
    let is_secret = |path: &String| {
        secrecy(path, case.scope).is_some() || secrecy(&format!("{path}/x"), case.scope).is_some()
    };
    let mut read = case.of(&[Act::Read]).filter(|read| read.invocation == effect.invocation);
    case.has_word(effect, COPYING) && read.any(|read| read.target.paths().iter().any(is_secret))
}

/// Words by which files come into a container or virtual machine.
const COPYING: &[&str] = &["copy", "cp", "push", "transfer", "upload"];

/// Says whether a container gets a directory of this machine that is neither of the project nor temporary.
pub(crate) fn mounts_elsewhere(case: Case<'_>, effect: &Effect) -> bool {
    let Some(command) = case.command(effect) else {
        return false;
    };
    let plain = values(command.operands(), &["-v", "--volume"]).into_iter().filter_map(|value| {
        let source = value.text.split(':').next().map(str::to_owned)?;
        // A name without a slash is a volume that the engine keeps.
        source.contains(['/', '~', '$', '.']).then_some((value, source))
    });
    let long = values(command.operands(), &["--mount"]).into_iter().filter_map(|value| {
        let mut parts = value.text.split(',').filter_map(|part| part.split_once('='));
        let source = parts.find(|(key, _)| matches!(*key, "source" | "src")).map(|(_, at)| at.to_owned())?;
        source.contains(['/', '~', '$']).then_some((value, source))
    });
    plain.chain(long).any(|(value, source)| {
        let place = place_in(&value, &source).unwrap_or(value);
        let target = path_of(&place, &command.directories, case.scope.home.as_deref());
        let is_own = |path: &str| {
            case.scope.is_in_project(path) || case.scope.is_temporary(path) || path == "/etc/localtime"
        };
        !target.is_all(is_own)
    })
}

/// Returns the directories a command may work in: where it runs, and where an option sends it. `None` if nobody knows.
pub(crate) fn workplaces(case: Case<'_>, effect: &Effect) -> Option<Vec<String>> {
    let Some(command) = case.command(effect) else {
        return Some(Vec::new());
    };
    let entered = command.directories.alternatives()?;
    let mut all: Vec<String> = entered.iter().map(|directory| normalize(directory)).collect();
    let is_sent = command
        .operands()
        .iter()
        .any(|word| SENDING_OPTIONS.iter().any(|option| word.text.starts_with(option)));
    if is_sent {
        // What these options name is looked at, and where links lead is known of what is looked at.
        for look in case.of(&[Act::List]).filter(|look| look.invocation == effect.invocation) {
            match &look.target {
                Target::Path(path) if path.paths.is_empty() || path.is_lost => return None,
                target => all.extend(target.paths().iter().cloned()),
            }
        }
    }
    Some(all)
}

/// Says whether git works on a repository of one's own: in the project or among temporary files. In those of others it may
/// do no more than go to a branch, stage and fetch, and nothing where files of agents are.
pub(crate) fn works_in_own_repository(case: Case<'_>, effect: &Effect) -> bool {
    const LIGHT: &[&str] = &["add", "checkout", "fetch", "stage", "switch"];
    let is_own = |path: &String| case.scope.is_in_project(path) || case.scope.is_temporary(path);
    let is_of_agents = |path: &String| {
        !case.scope.is_in_project(path)
            && (is_among_agent_files(path)
                || is_agent_shelter(path, case.scope)
                || case.scope.home.as_ref() == Some(path))
    };
    let is_light = case.has_word(effect, LIGHT);
    workplaces(case, effect)
        .is_some_and(|places| !places.iter().any(is_of_agents) && (is_light || places.iter().all(is_own)))
}

/// Options that make a program work in another directory.
const SENDING_OPTIONS: &[&str] = &["-C", "--git-dir", "--work-tree"];

/// Options that name a file which says what containers get.
const FILE_OPTIONS: &[&str] = &["-f", "--file", "--project-directory"];

/// Programs that run the files named as operands.
const RUNNING: &[&str] = &[
    "bun", "crystal", "dart", "deno", "dotnet", "next", "nim", "rspec", "swift", "zig", "go", "jest",
    "mocha", "node", "nox", "py.test", "pytest", "python", "python3", "rustc", "tsx", "vitest",
];

/// Says whether a path names code or a directory of it.
fn is_code(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        None => true,
        Some((_, end)) => matches!(
            end,
            "cjs"
                | "cr"
                | "dart"
                | "dll"
                | "exe"
                | "nim"
                | "rb"
                | "zig"
                | "go"
                | "js"
                | "jsx"
                | "mjs"
                | "py"
                | "rs"
                | "ts"
                | "tsx"
        ),
    }
}

/// Cuts a word at some letters, with the place of each part.
fn cut<'a>(text: &'a str, letters: &'a [char]) -> impl Iterator<Item = (usize, &'a str)> {
    let place = |from: &mut usize, part: &'a str| {
        let at = *from;
        *from += part.len() + 1;
        Some((at, part))
    };
    text.split(letters).scan(0, place)
}

/// Returns the parts of a word that may be paths, with their places. An address is none.
fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_address = text.contains("://") && !text.contains("file://");
    let parts = cut(text, &['=', ',', ':', ';', ' ', '@', '"', '\'']).filter(move |_| !is_address);
    parts.filter_map(|(at, part)| {
        let is_option = part.starts_with(['-', '+']);
        let from = if is_option { part.find(['/', '~'])? } else { 0 };
        let piece = part.get(from..).filter(|part| part.contains('/') || matches!(*part, "~" | ".."));
        piece.map(|piece| (at + from, piece))
    })
}

/// Returns the parts of a word or value that may name files, whether they hold a slash or not, with their places.
pub(crate) fn parts(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_address = text.contains("://") && !text.contains("file://");
    let split = cut(text, &['=', ',', ':', ';', ' ', '@', '"', '\'', '{', '}', '[', ']']);
    let parts = split.filter(move |(_, part)| !is_address && !part.is_empty());
    parts.filter_map(|(at, part)| {
        let from = if part.starts_with(['-', '+']) { part.find(['/', '~', '.'])? } else { 0 };
        part.get(from..).map(|part| (at + from, part))
    })
}

fn is_elsewhere(scope: &Scope, command: &Invocation, word: &Argument, piece: &str, is_run: bool) -> bool {
    let piece = match (piece.strip_prefix('~'), scope.home.as_deref()) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        _ => piece.to_owned(),
    };
    let word = Argument { knowledge: Knowledge::Fixed, ..word.piece(&piece) };
    let target = path_of(&word, &command.directories, scope.home.as_deref());
    target.paths.iter().any(|path| {
        if scope.is_in_project(path) || is_free(path) {
            return false;
        }
        if scope.is_temporary(path) {
            return is_run;
        }
        let is_own_neighbour = !piece.starts_with('/');
        if is_run && matches!(path.as_str(), "/tmp" | "/var/tmp") {
            return true;
        }
        is_own_neighbour
            || scope.below_home(path).is_some()
            || ELSEWHERE.iter().any(|start| is_inside(path, start))
    })
}

/// What stands before a value in one word, `--config=x`, `-Da=x`, `-I/x`, `CC=x`, `@x`, `+x`, or in the word before it.
///
/// A word may be a program of many thousand parts, so it is searched for names once and not for every part; and most words
/// have nothing before a value, so it is not searched before that matters.
#[derive(Debug)]
pub(crate) struct OptionFront<'a> {
    text: &'a str,
    names: OnceCell<NameEnds>,
}

#[derive(Debug)]
struct NameEnds {
    /// Where the first name of an option ends that loads or runs its value.
    loading: Option<usize>,
    /// Where the first name ends that has to do with logs.
    logging: Option<usize>,
}

impl NameEnds {
    fn of(text: &str) -> Self {
        let name = text.to_ascii_lowercase();
        // Names are short, and so many parts are looked for that preparing each search would take longest.
        let end = |part: &str| {
            let at = name.as_bytes().windows(part.len()).position(|piece| piece == part.as_bytes());
            at.map(|at| at + part.len())
        };
        let loading = LOADING.iter().filter_map(|part| end(part)).min();
        Self { loading, logging: end("log") }
    }
}

impl<'a> OptionFront<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self { text, names: OnceCell::new() }
    }

    /// Says whether a value that begins at a place is loaded or run, going by what stands before it.
    pub(crate) fn is_loading(&self, at: usize) -> bool {
        let option = self.text.get(..at).unwrap_or_default().trim_end_matches(['=', ':']);
        let ends_before = |end: Option<usize>| end.is_some_and(|end| end <= option.len());
        let is_named_loading = || {
            let names = self.names.get_or_init(|| NameEnds::of(self.text));
            !ends_before(names.logging) && ends_before(names.loading)
        };
        SHORT_LOADING.contains(&option)
            || option.len() > 2 && is_named_loading()
            || matches!(option, "@" | "+" | "CC" | "CXX" | "LD" | "AR" | "MAKE")
    }
}

/// Says whether a command names a service on this machine, such as an emulator.
pub(crate) fn names_local_service(case: Case<'_>, effect: &Effect) -> bool {
    let words = case.command(effect).map(Invocation::operands).unwrap_or_default();
    words.iter().any(|word| {
        let address = word.text.split_once('=').map_or(word.text.as_str(), |(_, value)| value);
        address.contains("://") && host_in(address).is_some_and(|host| is_loopback(&host))
    })
}
