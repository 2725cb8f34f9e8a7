//! Makes effects of commands: of a surveyed line, of PowerShell text; and what can be said of a command by them.

mod code_effects;
mod example;
mod git_objects;
mod handed;
mod looking;
mod maker;
mod power_shell;
mod power_shell_native;
mod power_shell_pipe;
mod terminal;
pub(crate) mod tree_search;
mod written;

pub use example::{Dialect, WrongExample, listed_effects, wrong_examples};
pub use looking::is_looking;
pub use maker::effects;
pub use power_shell::power_shell_layout;
pub(crate) use tree_search::{filters as name_filters, searches_hidden};
pub use written::{runs_what_it_writes, written_texts};

use crate::effect::Effect;
use crate::invocation::Survey;

/// A call laid out: what it does, and the commands in it if it holds any.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// What it would do.
    pub effects: Vec<Effect>,
    /// The commands of shell text in its fields.
    pub survey: Survey,
}
