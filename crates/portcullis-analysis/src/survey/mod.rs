//! Walks a command line and lists every invocation in it, wrapped ones included.
//!
//! Substitutions, function bodies, branches and background jobs all count: a command that stands anywhere in the text
//! is listed. Shell text in arguments (`bash -c`, `eval`) is parsed and walked in turn, to a bounded depth.

mod braces;
mod calculation;
mod columns;
mod compound;
mod decode;
mod evaluation;
mod filling;
mod find_names;
mod function;
mod lasting;
mod listing;
mod movement;
mod output;
mod parameter;
mod program;
mod queries;
mod settled;
mod simple;
mod split_words;
mod tool_code;
mod values;
mod variables;
mod walk;
mod wrapped;

pub(crate) use find_names::{found_by_find, is_found_by_name};
pub(crate) use listing::printed;
pub use walk::{SYNTAX_ERROR, Surroundings, survey};
pub use wrapped::TOO_LONG;
