//! What a shell command would do, as far as its text tells.
//!
//! [`survey`] lists every program a command line would start, seen through wrappers, shells, substitutions and
//! control flow, with the directories it may run in. [`effect`] says what each of them does,
//! by the command profiles in `data/`; [`findings`] and [`allowances`] say what of that is to be stopped and what is fine. Pure: no I/O, no clock, no environment.

mod act;
pub mod allowances;
mod argument;
mod arithmetic;
mod assessment;
mod case;
pub mod code;
pub mod command_effects;
pub mod command_shape;
pub mod container_image;
mod directories;
pub mod effect;
mod encoded_text;
pub mod environment;
mod exfiltration;
pub mod findings;
mod flow;
mod git;
pub mod global_options;
mod interpreter;
mod invocation;
mod named_file;
mod option;
mod outgoing;
mod own_places;
mod own_service;
mod package_runner;
pub mod path;
pub mod place;
pub mod powershell;
pub mod profile;
mod reach;
pub mod reader;
mod removal;
pub mod script;
pub mod session_code;
mod shape;
mod sighting;
mod standard_input;
mod steering;
mod survey;
pub mod tool_call;
mod wrapper;

/// Lists of names that a judgement goes by, compiled from `data/lists`: a module a file, a constant a list.
mod lists {
    include!(concat!(env!("OUT_DIR"), "/lists.rs"));
}

pub use act::Access;
pub use argument::{Argument, Bound, Knowledge};
pub use assessment::{Assessment, assess};
pub use case::{Background, Case, ended_process};
pub use directories::Directories;
pub use git::pushed_branches;
pub use invocation::{Invocation, Opacity, Redirection, Survey, Variable, Wrapping, base_name};
pub use named_file::{Naming, PossibleFile, possible_files};
pub use shape::{Shape, ShapePiece, TextKind};
pub use survey::{SYNTAX_ERROR, Surroundings, TOO_LONG, survey};
