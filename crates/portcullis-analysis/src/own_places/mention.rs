//! Our places in texts that nobody reads: code that is not understood, words of programs that nobody knows, files that
//! are only known at run time.

use std::cell::OnceCell;

use super::{Trespass, texts};
use crate::act::{Access, Act};
use crate::argument::Argument;
use crate::case::Case;
use crate::directories::Directories;
use crate::effect::{Effect, Target};
use crate::invocation::Invocation;
use crate::lists::places::own::{
    ANYWHERE, DIGESTS, KEPT, KEPT_NAMES, MOUNTERS, NAMING, OWN_NAMES, PASSING_HIDDEN, SECRET_NAMES, SECRETS,
    SEEKING,
};
use crate::path::{below, components, join, may_name_component};
use crate::place::{OwnKinds, is_loopback};

/// How much of one text is looked at name by name, in bytes. Names of ours that stand one after the other are looked for
/// in all of it.
const LONGEST: usize = 65_536;

/// Words by which code finds the home directory.
const HOMES: &[&str] = &["HOME", "home", "homedir", "expanduser", "expand_path", "~", "Dir.home", "userhome"];

/// Our places that the whole of a line names, which is read once.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LineKinds {
    inside: OwnKinds,
    /// Directories above ours that hold little else.
    above: OwnKinds,
    /// Whether a name stands in it that a file or directory of ours has.
    names_file: bool,
}

/// Endings of words by which code goes into a directory or to the home.
const STEPS: &[&str] = &["chdir", "pushd", "expanduser"];

/// Says what is done to a place that an effect does not name, by the names that stand around it.
pub(super) fn named(case: Case<'_>, effect: &Effect, line: &OnceCell<LineKinds>) -> Option<Trespass> {
    let is_given = |command: &Invocation| command.given.is_some() || command.input.is_some();
    let doubt = Doubt::of(effect, case.command(effect).is_some_and(is_given))?;
    if case.is_in_container(effect) {
        return None;
    }
    let found = match case.command(effect) {
        None => kinds_of_call(case, effect, line),
        Some(command) => kinds_around(case, effect, command, line),
    };
    match doubt {
        _ if found.secret => Some(Trespass::Read),
        Doubt::Reads if found.program && !DIGESTS.contains(&case.program(effect)) => Some(Trespass::Copy),
        Doubt::Changes if found.kept || found.program => Some(Trespass::Change),
        Doubt::Changes | Doubt::Reads => None,
    }
}

/// Returns what is meant by an effect that belongs to no command: of a tool the text that it is given, of a line any of
/// its words.
fn kinds_of_call(case: Case<'_>, effect: &Effect, line: &OnceCell<LineKinds>) -> OwnKinds {
    let text = effect.word.as_ref().map_or(effect.target.written(), |word| word.text.as_str());
    let mut found = in_text(case, text, None, false);
    if effect.act == Act::Unknown && !case.survey.text.is_empty() {
        let line = line.get_or_init(|| on_line(case));
        found.add(line.inside);
        found.kept |= line.names_file && line.above.kept;
    }
    found
}

/// Says whether a command looks for files and hands each to another.
fn is_search(command: &Invocation) -> bool {
    let name = command.program_name().unwrap_or_default();
    name == "find" || PASSING_HIDDEN.contains(&name)
}

/// Returns the kinds of places whose names a program that nobody reads is told on its standard input.
fn kinds_told(case: Case<'_>, effect: &Effect, command: &Invocation) -> OwnKinds {
    let mut found = OwnKinds::default();
    if !matches!(effect.act, Act::Execute | Act::RunProject | Act::Unknown) {
        return found;
    }
    let piped = case.survey.invocations.get(command.piped.clone()).unwrap_or_default();
    for teller in
        piped.iter().filter(|teller| teller.program_name().is_some_and(|name| NAMING.contains(&name)))
    {
        found.add(kinds_in(case, teller));
    }
    found
}

/// Returns what a word may mean whose gaps the shell fills in, if what stands around them is part of a name of ours:
/// `~/.config/port${x}cullis`.
fn in_gaps(case: Case<'_>, command: &Invocation, word: &Argument) -> OwnKinds {
    let pattern = with_gaps(&word.text);
    let last = pattern.rsplit('/').next().unwrap_or_default();
    let spells = |component: &str| component.len() > 3 && may_name_component(component, "portcullis");
    let is_ours = KEPT_NAMES.contains(&last)
        || SECRET_NAMES.contains(&last)
        || pattern.split('/').any(|component| component.contains('*') && spells(component))
        || word.text.contains("portcullis");
    let mut found = OwnKinds::default();
    if is_ours && pattern.contains('/') && !pattern.starts_with('*') {
        let all: Vec<&str> = entered(command).collect();
        for path in spellings(case, &pattern, &all) {
            found.add(case.own_places().touch(&path, true).inside);
        }
    }
    found
}

/// Returns a word with a star in the place of each expansion.
fn with_gaps(word: &str) -> String {
    let mut pattern = String::new();
    let text = plain_home(word);
    let mut letters = text.trim_matches('"').chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '$' {
            pattern.push(letter);
            continue;
        }
        pattern.push('*');
        match letters.peek() {
            Some('{' | '(') => {
                let mut depth = 0_usize;
                for inner in letters.by_ref() {
                    match inner {
                        '{' | '(' => depth += 1,
                        '}' | ')' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
            _ => {
                while letters.next_if(|letter| letter.is_ascii_alphanumeric() || *letter == '_').is_some() {}
            }
        }
    }
    pattern
}

/// Returns what a command may mean by a word, or in a directory, that is only known at run time.
fn kinds_around(
    case: Case<'_>,
    effect: &Effect,
    command: &Invocation,
    line: &OnceCell<LineKinds>,
) -> OwnKinds {
    let word = effect.word.as_ref();
    // What a method of PowerShell is called on stands before it.
    let is_method = command.program_name().is_some_and(|name| name.starts_with('.'));
    let is_dynamic = word.map_or(is_method, |word| !word.is_known());
    let is_lost = command.directories.alternatives().is_none() && effect.target.paths().is_empty();
    if !is_dynamic && !is_lost {
        let mut found = kinds_in(case, command);
        found.add(kinds_told(case, effect, command));
        return found;
    }
    let line = line.get_or_init(|| on_line(case));
    let may_be_below = line.names_file
        || word.is_some_and(Argument::is_appended)
        || command.parent.and_then(|place| case.survey.invocations.get(place)).is_some_and(is_search)
        || effect.act.access() == Some(Access::Remove);
    let mut found = kinds_in(case, command);
    if is_dynamic || line.names_file {
        found.add(line.inside);
    }
    found.add(word.filter(|_| is_dynamic).map_or(OwnKinds::default(), |word| in_gaps(case, command, word)));
    // What lies above is read by many a search, which is judged by what it looks for.
    if may_be_below && effect.act.access() != Some(Access::Read) {
        found.kept |= line.above.kept;
    }
    found
}

/// What an effect may do to a file that it does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doubt {
    Reads,
    Changes,
}

impl Doubt {
    fn of(effect: &Effect, is_given_text: bool) -> Option<Self> {
        // A pattern in code may go deeper than it is followed.
        let is_pattern =
            matches!(&effect.target, Target::Path(target) if target.is_pattern && effect.word.is_none());
        let is_nameless = effect.target.paths().is_empty() || is_pattern;
        match (effect.act, effect.act.access()) {
            (Act::Unknown, _) => Some(Self::Changes),
            (Act::Execute | Act::RunProject, _) if is_given_text => Some(Self::Changes),
            // What they are told to run may be any of their words.
            (Act::Execute | Act::LoadCode | Act::RemoteShell, _) => Some(Self::Changes),
            (Act::RemoteRun, _) if effect.target.host().is_some_and(is_loopback) => Some(Self::Changes),
            (Act::List, _) => None,
            (_, Some(Access::Read)) if is_nameless => Some(Self::Reads),
            (_, Some(_)) if is_nameless => Some(Self::Changes),
            _ => None,
        }
    }
}

fn on_line(case: Case<'_>) -> LineKinds {
    let mut line = LineKinds { inside: by_components(case, &case.survey.text), ..LineKinds::default() };
    for command in &case.survey.invocations {
        line.inside.add(kinds_in(case, command));
    }
    let mut all: Vec<&str> = case.survey.invocations.iter().flat_map(entered).collect();
    all.sort_unstable();
    all.dedup();
    for name in names(&plain_home(&case.survey.text)) {
        let is_pattern = name.contains(['*', '?', '[']);
        let is_choice = is_pattern && name.contains(|letter: char| letter.is_ascii_alphanumeric());
        let plain = name.trim_matches('/');
        line.names_file |= KEPT_NAMES.contains(&plain)
            || plain == "portcullis"
            || is_choice && may_name_component(name, "portcullis");
        for path in spellings(case, name, &all) {
            let touch = case.own_places().touch(&path, is_pattern);
            line.inside.add(touch.inside);
            if !touch.is_broad {
                line.above.add(touch.above);
            }
        }
    }
    // Our program says where its places are.
    line.inside.kept |= case.survey.invocations.iter().any(tells_places);
    line
}

/// Says whether a command asks our program where its settings are, or for files of their names wherever they lie.
fn tells_places(command: &Invocation) -> bool {
    let is_settings = |word: &Argument| matches!(word.text.as_str(), "settings" | "doctor");
    let is_name = |word: &Argument| KEPT_NAMES.contains(&word.text.trim_matches(['/', '*']));
    let words = command.operands();
    match command.program_name().unwrap_or_default() {
        // They know every file of the machine.
        "locate" | "plocate" | "mlocate" | "mdfind" => words.iter().any(is_name),
        name => name.starts_with("portcullis") && words.iter().any(is_settings),
    }
}

/// Returns the directories that a command may run in.
fn entered(command: &Invocation) -> impl Iterator<Item = &str> {
    command.directories.alternatives().unwrap_or_default().iter().map(String::as_str)
}

fn kinds_in(case: Case<'_>, command: &Invocation) -> OwnKinds {
    let mut found = OwnKinds::default();
    let mounts = command.program_name().is_some_and(|name| MOUNTERS.contains(&name));
    let program = command.program().map(|word| word.text.as_str());
    for text in texts(command) {
        let mut named = in_text(case, text, Some(&command.directories), mounts);
        // To run our program is not to change it.
        named.program &= program != Some(text);
        found.add(named);
    }
    found
}

/// Says what text may do that stands in a command and that nobody reads.
pub(super) fn unread(case: Case<'_>, text: &str) -> Option<Trespass> {
    let found = in_text(case, text, None, false);
    if found.secret {
        return Some(Trespass::Read);
    }
    (found.kept || found.program).then_some(Trespass::Change)
}

/// Returns the kinds of our places that a text names.
fn in_text(case: Case<'_>, text: &str, directories: Option<&Directories>, mounts: bool) -> OwnKinds {
    let mut found = by_components(case, text);
    let all = directories.and_then(Directories::alternatives).unwrap_or_default();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    for name in names(&plain_home(text)) {
        for path in spellings(case, name, &all) {
            let touch = case.own_places().touch(&path, name.contains(['*', '?', '[']));
            found.add(touch.inside);
            if mounts {
                found.add(touch.above);
            }
        }
    }
    found
}

/// Returns so much of a text as is looked at name by name, with the home directory spelled in one way.
fn plain_home(text: &str) -> String {
    let text = text.get(..text.floor_char_boundary(LONGEST)).unwrap_or(text);
    text.replace("${HOME}", "~").replace("$HOME", "~")
}

/// Splits a text into what may be names of files.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| letter.is_whitespace() || "'\"`()<>,;|&=!\\:@".contains(letter))
}

/// Returns the absolute paths that a name may stand for.
fn spellings(case: Case<'_>, name: &str, directories: &[&str]) -> Vec<String> {
    let home = case.scope.home.as_deref();
    match (name.strip_prefix('~'), home) {
        _ if name.is_empty() || name.contains('$') => Vec::new(),
        (Some(rest), Some(home)) => vec![join(home, rest.trim_start_matches('/'))],
        // Code puts what is hidden behind the home directory.
        (None, Some(home)) if name.starts_with("/.") => vec![join("/", name), format!("{home}{name}")],
        _ if name.starts_with('/') => vec![join("/", name)],
        _ if !name.contains(['/', '.']) => Vec::new(),
        _ => directories.iter().map(|directory| join(directory, name)).collect(),
    }
}

/// Returns the kinds of places whose components stand in a text one after the other, whatever joins them, and of files
/// that only we have.
fn by_components(case: Case<'_>, text: &str) -> OwnKinds {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "._-*?~".contains(letter);
    let mut tokens: Vec<&str> =
        text.split(|letter| !is_name(letter)).filter(|token| !token.is_empty()).collect();
    let home = case.scope.home.as_deref().unwrap_or("/");
    // What settings name in the home directory, as code joins it to that.
    let named = case.own_places().locations.files.iter().filter_map(|file| below(file, home));
    let is_home = tokens.iter().any(|token| HOMES.iter().any(|home| token.ends_with(home)));
    // Between the steps into a directory stands no more than that they are taken.
    tokens.retain(|token| !STEPS.iter().any(|step| token.ends_with(step)) && *token != "cd");
    let is_searched = |token: &&str| {
        let is_choice = token.contains('*') && token.contains(|letter: char| letter.is_ascii_alphabetic());
        is_home && is_choice && SECRET_NAMES.iter().any(|name| may_name_component(token, name))
    };
    let is_ours = |token: &&str| OWN_NAMES.contains(token) || is_searched(token);
    OwnKinds {
        secret: tokens.iter().any(is_ours) || SECRETS.iter().any(|entry| stands_in(&tokens, entry)),
        kept: KEPT.iter().chain(ANYWHERE).copied().chain(named).any(|entry| stands_in(&tokens, entry)),
        program: tokens
            .windows(2)
            .any(|pair| matches!(pair, [seek, name] if SEEKING.contains(seek) && *name == "portcullis")),
    }
}

/// Says whether the components of an entry stand one after the other. An entry of one component is no name of ours alone.
fn stands_in(tokens: &[&str], entry: &str) -> bool {
    let wanted: Vec<&str> = components(entry).take_while(|component| !component.contains('*')).collect();
    wanted.len() > 1
        && tokens
            .windows(wanted.len())
            .any(|window| window.iter().zip(&wanted).all(|(token, name)| token.eq_ignore_ascii_case(name)))
}
