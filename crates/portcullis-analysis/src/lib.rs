//! What a shell command would do, as far as its text tells.
//!
//! [`survey`] lists every program a command line would start, seen through wrappers, shells, substitutions and
//! control flow, with the directories it may run in. [`read_only`] knows the commands that change nothing, and
//! [`access`] which files a command names. Pure: no I/O, no clock, no environment.

pub mod access;
mod argument;
mod arithmetic;
mod directories;
pub mod environment;
mod feed;
pub mod global_options;
mod interpreter;
mod invocation;
mod option;
pub mod read_only;
mod survey;
mod wrapper;

pub use argument::{Argument, Knowledge};
pub use directories::Directories;
pub use invocation::{Access, Invocation, Opacity, Redirection, Survey, Variable, Wrapping, base_name};
pub use survey::{Surroundings, survey};
