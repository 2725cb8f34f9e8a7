//! The answers to the core's questions about the disk.

mod answers;
mod path;
mod pattern;

pub(crate) use answers::World;
