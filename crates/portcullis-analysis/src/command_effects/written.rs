//! Scripts that a command line writes and then runs.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_shell::Span;

use crate::act::Act;
use crate::effect::Effect;
use crate::invocation::{Invocation, Survey, base_name};

/// Finds the words that run a file which the same line writes, other than those whose text is known.
///
/// A loop or a function may run what stands further on in the text, from another directory, so that only the last
/// component of a name counts.
pub fn runs_what_it_writes(effects: &[Effect], texts: &BTreeMap<String, String>) -> Option<Span> {
    let named = |effect: &Effect| effect.word.as_ref().map(|word| base_name(&word.text).to_owned());
    let of_builds = effects.iter().filter(|effect| effect.act == Act::RunProject);
    let building: BTreeSet<usize> = of_builds.filter_map(|effect| effect.invocation).collect();
    let builds = |effect: &Effect| {
        !effect.is_redirection && effect.invocation.is_some_and(|index| building.contains(&index))
    };
    let is_known = |effect: &Effect| matches!(effect.target.paths(), [file] if texts.contains_key(file));
    // What a tool makes of the project's files is judged by these.
    let is_written = |effect: &&Effect| {
        matches!(effect.act, Act::Write | Act::Link) && !builds(effect) && !is_known(effect)
    };
    let written: BTreeSet<String> = effects.iter().filter(is_written).filter_map(named).collect();
    let runs = |effect: &&Effect| {
        matches!(effect.act, Act::Execute | Act::LoadCode)
            && named(effect)
                .is_some_and(|name| !matches!(name.as_str(), "" | "." | "..") && written.contains(&name))
    };
    effects.iter().find(runs).map(|effect| effect.span)
}

/// Returns the files that a line fills with a text that is known to the letter, with that text.
///
/// A file counts only if one command alone writes anything of that name, and if it is known of every write where it goes.
pub fn written_texts(survey: &Survey, effects: &[Effect]) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    let puts = survey.invocations.iter().any(|command| command.put.is_some());
    let changes = |effect: &&Effect| {
        matches!(effect.act, Act::Write | Act::Link | Act::Move | Act::Delete | Act::DeleteTree | Act::Wipe)
    };
    let is_lost = |effect: &Effect| match effect.target.paths() {
        [] => true,
        paths => paths.iter().any(|path| path.contains(['*', '?', '[', '{'])),
    };
    if !puts || effects.iter().filter(changes).any(is_lost) {
        return texts;
    }
    for (index, command) in survey.invocations.iter().enumerate() {
        let own = |effect: &&Effect| effect.is_redirection && effect.invocation == Some(index);
        let mut files = effects.iter().filter(changes).filter(own);
        let (Some(text), Some(write), None) = (&command.put, files.next(), files.next()) else { continue };
        let [file] = write.target.paths() else { continue };
        let is_same = |path: &String| base_name(path) == base_name(file);
        let others =
            effects.iter().filter(changes).filter(|effect| effect.target.paths().iter().any(is_same));
        if others.count() == 1 && !is_within_changed(survey, effects, file) {
            texts.insert(file.clone(), text.clone());
        }
    }
    texts
}

/// Says whether a line also changes a directory of a file other than by making it.
fn is_within_changed(survey: &Survey, effects: &[Effect], file: &str) -> bool {
    let is_around =
        |path: &String| file.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('/'));
    let makes = |effect: &Effect| {
        let command = effect.invocation.and_then(|index| survey.invocations.get(index));
        command.and_then(Invocation::program_name) == Some("mkdir")
    };
    let changes = |effect: &&Effect| match effect.act {
        Act::Write => !makes(effect),
        act => matches!(act, Act::Link | Act::Move | Act::Delete | Act::DeleteTree | Act::Wipe),
    };
    effects.iter().filter(changes).any(|effect| effect.target.paths().iter().any(is_around))
}
