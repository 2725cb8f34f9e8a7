//! Scripts that a command line writes and then runs: what is in them is not followed.

use std::collections::BTreeSet;

use portcullis_shell::Span;

use crate::act::Act;
use crate::effect::Effect;
use crate::invocation::base_name;

/// Finds the words that run a file which the same line writes.
///
/// A loop or a function may run what stands further on in the text, from another directory, so that only the last
/// component of a name counts.
pub fn runs_what_it_writes(effects: &[Effect]) -> Option<Span> {
    let named = |effect: &Effect| effect.word.as_ref().map(|word| base_name(&word.text).to_owned());
    let of_builds = effects.iter().filter(|effect| effect.act == Act::RunProject);
    let building: BTreeSet<usize> = of_builds.filter_map(|effect| effect.invocation).collect();
    let builds = |effect: &Effect| {
        !effect.is_redirection && effect.invocation.is_some_and(|index| building.contains(&index))
    };
    // What a tool makes of the project's files is judged by these.
    let is_written = |effect: &&Effect| matches!(effect.act, Act::Write | Act::Link) && !builds(effect);
    let written: BTreeSet<String> = effects.iter().filter(is_written).filter_map(named).collect();
    let runs = |effect: &&Effect| {
        matches!(effect.act, Act::Execute | Act::LoadCode)
            && named(effect)
                .is_some_and(|name| !matches!(name.as_str(), "" | "." | "..") && written.contains(&name))
    };
    effects.iter().find(runs).map(|effect| effect.span)
}
