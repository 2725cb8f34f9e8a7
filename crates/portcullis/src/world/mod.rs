//! The answers to the core's questions about the disk.

mod answers;
mod path;
mod pattern;
mod settings;
mod text;

pub(crate) use answers::World;
