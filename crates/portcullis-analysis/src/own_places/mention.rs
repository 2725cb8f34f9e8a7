//! Our places in texts that nobody reads: code that is not understood, words of programs that nobody knows, files that
//! are only known at run time.

use std::cell::OnceCell;

use super::{Trespass, texts};
use crate::act::{Access, Act};
use crate::case::Case;
use crate::directories::Directories;
use crate::effect::{Effect, Target};
use crate::invocation::Invocation;
use crate::lists::places::own::{
    ANYWHERE, DIGESTS, KEPT, MOUNTERS, OWN_NAMES, SECRET_NAMES, SECRETS, SEEKING,
};
use crate::path::{below, components, join, may_name_component};
use crate::place::OwnKinds;

/// How much of one text is looked at name by name, in bytes. Names of ours that stand one after the other are looked for
/// in all of it.
const LONGEST: usize = 65_536;

/// Words by which code finds the home directory.
const HOMES: &[&str] = &["HOME", "home", "homedir", "expanduser", "expand_path", "~", "Dir.home", "userhome"];

/// Says what is done to a place that an effect does not name, by the names that stand around it.
pub(super) fn named(case: Case<'_>, effect: &Effect, line: &OnceCell<OwnKinds>) -> Option<Trespass> {
    let is_given = |command: &Invocation| command.given.is_some() || command.input.is_some();
    let doubt = Doubt::of(effect, case.command(effect).is_some_and(is_given))?;
    if case.is_in_container(effect) {
        return None;
    }
    let command = case.command(effect);
    let is_dynamic = effect.word.as_ref().is_some_and(|word| !word.is_known());
    let found = match command {
        None => in_text(case, effect.target.written(), None, false),
        Some(_) if is_dynamic => *line.get_or_init(|| on_line(case)),
        Some(command) => kinds_in(case, command),
    };
    match doubt {
        _ if found.secret => Some(Trespass::Read),
        Doubt::Reads if found.program && !DIGESTS.contains(&case.program(effect)) => Some(Trespass::Copy),
        Doubt::Changes if found.kept || found.program => Some(Trespass::Change),
        Doubt::Changes | Doubt::Reads => None,
    }
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
            (Act::List, _) => None,
            (_, Some(Access::Read)) if is_nameless => Some(Self::Reads),
            (_, Some(_)) if is_nameless => Some(Self::Changes),
            _ => None,
        }
    }
}

fn on_line(case: Case<'_>) -> OwnKinds {
    let mut found = OwnKinds::default();
    for command in &case.survey.invocations {
        found.add(kinds_in(case, command));
    }
    found
}

fn kinds_in(case: Case<'_>, command: &Invocation) -> OwnKinds {
    let mut found = OwnKinds::default();
    let mounts = command.program_name().is_some_and(|name| MOUNTERS.contains(&name));
    for text in texts(command) {
        found.add(in_text(case, text, Some(&command.directories), mounts));
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
    let text = text.get(..text.floor_char_boundary(LONGEST)).unwrap_or(text);
    let text = text.replace("${HOME}", "~").replace("$HOME", "~");
    for name in text.split(|letter: char| letter.is_whitespace() || "'\"`()<>,;|&=!\\:@".contains(letter)) {
        for path in spellings(case, name, directories) {
            let touch = case.own_places().touch(&path, name.contains(['*', '?', '[']));
            found.add(touch.inside);
            if mounts {
                found.add(touch.above);
            }
        }
    }
    found
}

/// Returns the absolute paths that a name may stand for.
fn spellings(case: Case<'_>, name: &str, directories: Option<&Directories>) -> Vec<String> {
    let home = case.scope.home.as_deref();
    match (name.strip_prefix('~'), home) {
        _ if name.is_empty() || name.contains('$') => Vec::new(),
        (Some(rest), Some(home)) => vec![join(home, rest.trim_start_matches('/'))],
        _ if name.starts_with('/') => vec![join("/", name)],
        _ if !name.contains(['/', '.']) => Vec::new(),
        _ => {
            let all = directories.and_then(Directories::alternatives).unwrap_or_default();
            all.iter().map(|directory| join(directory, name)).collect()
        }
    }
}

/// Returns the kinds of places whose components stand in a text one after the other, whatever joins them, and of files
/// that only we have.
fn by_components(case: Case<'_>, text: &str) -> OwnKinds {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "._-*?~".contains(letter);
    let tokens: Vec<&str> = text.split(|letter| !is_name(letter)).filter(|token| !token.is_empty()).collect();
    let home = case.scope.home.as_deref().unwrap_or("/");
    // What settings name in the home directory, as code joins it to that.
    let named = case.own_places().locations.files.iter().filter_map(|file| below(file, home));
    let is_home = tokens.iter().any(|token| HOMES.iter().any(|home| token.ends_with(home)));
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
