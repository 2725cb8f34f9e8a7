//! Walks a command line and lists every invocation in it, wrapped ones included.
//!
//! Substitutions, function bodies, branches and background jobs all count: a command that stands anywhere in the text
//! is listed. Shell text in arguments (`bash -c`, `eval`) is parsed and walked in turn, to a bounded depth.

mod compound;
mod lasting;
mod movement;
mod simple;
mod walk;
mod wrapped;
mod written;

pub use walk::{Surroundings, survey};
