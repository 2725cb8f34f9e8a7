//! What a call would do to our own places: change them, read what is secret of them, or answer in a person's place.
//!
//! Every effect is held against one list of places, whatever tool or language it comes from. Where the text does not say
//! which file is meant, the names that stand in it do.

mod lever;
mod mention;
mod tree;

use std::cell::OnceCell;

use crate::act::{Access, Act};
use crate::argument::Argument;
use crate::case::Case;
use crate::effect::{Effect, PathTarget, Target};
use crate::invocation::Invocation;
use crate::lists::places::own::{COPIERS, DIGESTS};
use crate::path::normal;
use crate::place::{OwnKinds, OwnTouch};
use crate::reach;

/// What is done that nobody but a person may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trespass {
    /// Our settings, state or program, or what a host reads to start us, would change.
    Change,
    /// Tokens, questions or sessions would be read.
    Read,
    /// The program would be copied, under another name that nobody knows.
    Copy,
    /// Somebody would answer, grant or trust in a person's place.
    Answer,
}

impl Trespass {
    /// Returns what it does, as a clause.
    pub(crate) fn clause(self) -> &'static str {
        match self {
            Self::Change => "it changes what Portcullis keeps or is started by",
            Self::Read => "it reads the tokens, questions or sessions of Portcullis",
            Self::Copy => "it copies the program of Portcullis",
            Self::Answer => "it answers or grants in a person's place",
        }
    }
}

/// Returns what the effects of a call do to our own places, without those that leave them alone.
pub(crate) fn trespasses(case: Case<'_>) -> impl Iterator<Item = (&Effect, Trespass)> {
    // A value that is only known at run time may come from anywhere on the line, which is read once.
    let line = OnceCell::new();
    let search = lever::GrantSearch::default();
    let trespass = move |effect: &Effect| {
        let by_path = match &effect.target {
            Target::Path(target) if !case.is_in_container(effect) => by_path(case, effect, target),
            Target::Path(_) | Target::None | Target::Host { .. } | Target::Name(_) => None,
        };
        by_path
            .or_else(|| works_inside(case, effect))
            .or_else(|| tree::by_repository(case, effect))
            .or_else(|| tree::by_container(case, effect))
            .or_else(|| tree::by_search(case, effect))
            .or_else(|| tree::by_word(case, effect))
            .or_else(|| tree::by_install(case, effect))
            .or_else(|| lever::pulled(case, effect, &search))
            .or_else(|| mention::named(case, effect, &line))
    };
    case.effects.iter().filter_map(move |effect| Some((effect, trespass(effect)?)))
}

/// Returns the words that name a place of ours and of which nobody says what becomes.
pub(crate) fn untold(case: Case<'_>) -> impl Iterator<Item = (&Argument, Trespass)> {
    tree::untold(case)
}

/// Returns what a part of the command line may do to our own places that nobody reads.
pub(crate) fn unread(case: Case<'_>, text: &str) -> Option<Trespass> {
    mention::unread(case, text)
}

fn by_path(case: Case<'_>, effect: &Effect, target: &PathTarget) -> Option<Trespass> {
    let access = effect.act.access().filter(|_| effect.act != Act::List)?;
    target.paths.iter().find_map(|path| {
        let touch = case.own_places().touch(path, target.is_pattern);
        match access {
            Access::Read => by_reading(case, effect, touch),
            Access::Write | Access::Remove => by_changing(case, effect, touch),
        }
    })
}

fn by_reading(case: Case<'_>, effect: &Effect, touch: OwnTouch) -> Option<Trespass> {
    let program = case.program(effect);
    if touch.inside.secret {
        return Some(Trespass::Read);
    }
    if effect.act != Act::Read {
        return None;
    }
    if touch.inside.kept && changes_database(case, effect) {
        return Some(Trespass::Change);
    }
    let is_ours = touch.inside.is_any() || touch.above.kept || touch.above.secret;
    if is_ours && makes_links(case, effect) {
        return Some(Trespass::Change);
    }
    if touch.inside.program && !DIGESTS.contains(&program) {
        return Some(Trespass::Copy);
    }
    if touch.above.secret && tree::is_searched(case, effect, touch) {
        return Some(Trespass::Read);
    }
    (touch.above.program && !touch.is_broad && COPIERS.contains(&program)).then_some(Trespass::Copy)
}

fn by_changing(case: Case<'_>, effect: &Effect, touch: OwnTouch) -> Option<Trespass> {
    let holds = OwnKinds { program: false, ..touch.above }.is_any() || touch.above_named_file;
    let is_above = touch.above.is_any() || touch.above_named_file;
    let is_changed = touch.inside.is_any()
        || match effect.act {
            // A whole home is more than ours, and has a finding of its own.
            Act::DeleteTree => is_above && !touch.is_broad,
            Act::Move | Act::Wipe | Act::Mount => is_above,
            Act::Link => holds,
            Act::SetMode => holds && case.has_word(effect, &["-R", "--recursive"]),
            Act::Write if tree::names_below(case, effect) => true,
            Act::Write => {
                // In a home or a project much else is written; only what brings whole trees may bring our places.
                let is_ours = touch.above.kept || touch.above.secret || touch.above_known_program;
                let fills = if touch.is_broad || !is_ours { tree::unpacks } else { tree::fills };
                (is_ours || touch.above_named_file) && fills(case, effect)
            }
            _ => false,
        };
    is_changed.then_some(Trespass::Change)
}

/// Says whether a copy is only another name for the same file, by which it can be changed.
fn makes_links(case: Case<'_>, effect: &Effect) -> bool {
    let links = |word: &Argument| match word.text.strip_prefix('-') {
        Some(long) if long.starts_with('-') => matches!(long, "-link" | "-symbolic-link"),
        Some(short) => short.contains(['l', 's']),
        None => false,
    };
    let words = case.command(effect).map(Invocation::operands).unwrap_or_default();
    match case.program(effect) {
        "cp" | "gcp" => words.iter().any(links),
        "rsync" => words.iter().any(|word| word.text.starts_with("--link-dest")),
        _ => false,
    }
}

/// Says whether a database that the command reads is changed by it too.
fn changes_database(case: Case<'_>, effect: &Effect) -> bool {
    let mut changes = case.of(&[Act::DatabaseWrite, Act::DatabaseDestroy]);
    changes.any(|change| change.invocation == effect.invocation)
}

/// Says what is done by a command that runs in one of our directories, where a name alone is enough. What says which file
/// it means is judged by that file.
fn works_inside(case: Case<'_>, effect: &Effect) -> Option<Trespass> {
    let reads = effect.act == Act::Read;
    let is_told = effect.act.is_observing() && !reads
        || effect.act == Act::Fetch
        || effect.act != Act::Execute && !effect.target.paths().is_empty();
    if is_told || case.is_in_container(effect) {
        return None;
    }
    let directories = case.command(effect).and_then(|command| command.directories.alternatives());
    directories.unwrap_or_default().iter().find_map(|directory| {
        let touch = case.own_places().touch(&normal(directory), false);
        let is_near_secret = touch.inside.secret || touch.above.secret && !touch.is_broad;
        if reads || effect.act == Act::Listen && is_near_secret {
            return is_near_secret.then_some(Trespass::Read);
        }
        (touch.inside.kept || touch.inside.secret).then_some(Trespass::Change)
    })
}

/// Returns the directories that git works on.
fn workplaces(case: Case<'_>, effect: &Effect) -> Vec<String> {
    reach::workplaces(case, effect).unwrap_or_default()
}

/// Returns the texts of a command: its words, what it is given, and code in it.
fn texts(command: &Invocation) -> impl Iterator<Item = &str> {
    let words = command.arguments.iter().map(|word| word.text.as_str());
    let values = command.assignments.iter().map(|variable| variable.value.text.as_str());
    let files = command.redirections.iter().map(|redirection| redirection.target.text.as_str());
    let code = command.code.iter().map(|code| code.text.as_str());
    words
        .chain(values)
        .chain(files)
        .chain(code)
        .chain(command.given.as_deref())
        .chain(command.input.as_deref())
}
