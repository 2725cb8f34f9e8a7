//! The proof that a command changes nothing (spec A9, D3).

use crate::act::Act;
use crate::code::Language;
use crate::effect::Effect;
use crate::environment::is_safe_prefix;
use crate::invocation::{Invocation, Wrapping};
use crate::profile::Profiles;

/// Says whether a command only looks: its program is known, all it does is looking, and nothing before it steers it.
///
/// Redirections are the shell's doing and left aside, and so is which files it looks at.
pub fn is_looking(profiles: &Profiles, invocation: &Invocation, effects: &[Effect]) -> bool {
    let is_plain = invocation.assignments.iter().all(|variable| is_safe_prefix(&variable.name));
    let looks = |effect: &Effect| {
        effect.is_redirection || matches!(effect.act, Act::Observe | Act::Read | Act::List | Act::Query)
    };
    // What changes how a command is started is no mere look, whatever it starts.
    let wraps = invocation.wrapping == Wrapping::Changing;
    // A program text may load modules that lie in the directory it runs in.
    let may_load = invocation.code.as_ref().is_some_and(|code| code.language != Language::Awk);
    // A program without a profile has no effects that could be looked at, however few are listed. Finding it takes
    // longest, so it comes last.
    let has_program = || invocation.program_name().is_some_and(|name| profiles.knows(name));
    is_plain && !wraps && !may_load && effects.iter().all(looks) && has_program()
}
