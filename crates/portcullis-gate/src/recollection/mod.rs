//! The memory of a yes: what a person allowed in a repository runs there again without a question, in the same shape.
//!
//! ```text
//! a person answers ──► the call is judged again, allowed by the answer ──► learn ──► memory.json
//! a call is asked about ──► its shapes ──► program, scripts and paths looked up ──► recall ──► judged again
//! ```
//!
//! What a shape is, and what no memory lifts, the core says. Here is found out whether the program, the scripts and the
//! repository are still those of the yes.
//!
//! INVARIANT: only an answer of a person is learned, as it reaches us as an approval. That a call ran after a host's own
//! question is none: programs answer those too, and no host says who did. What cannot be found out is not remembered and
//! not recalled.

mod day;
mod disk;
mod repository;
mod yes_memory;

use std::collections::BTreeSet;

use portcullis_core::command_shape::{Act, CommandShape, TargetKind};
use portcullis_store::RememberedYes;

pub use self::yes_memory::Recollection;
use crate::session_settings::SessionSettings;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// Returns how long a yes counts without a use, in milliseconds.
pub fn lasts_ms(session: &SessionSettings) -> u64 {
    u64::from(session.loaded.memory.expire_days).saturating_mul(DAY_MS)
}

/// Returns the shape that was allowed; `None` if there is a word in it that nobody knows.
pub fn read_shape(yes: &RememberedYes) -> Option<CommandShape> {
    let acts: Option<BTreeSet<Act>> = yes.acts.iter().map(|name| Act::find(name)).collect();
    let target = |name: &String| TargetKind::ALL.iter().copied().find(|kind| kind.name() == name);
    let targets: Option<BTreeSet<TargetKind>> = yes.targets.iter().map(target).collect();
    Some(CommandShape {
        program: yes.program.clone(),
        subcommand: yes.subcommand.clone(),
        words: yes.words.clone(),
        acts: acts?,
        targets: targets?,
    })
}
