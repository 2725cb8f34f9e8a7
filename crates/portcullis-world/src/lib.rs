//! Answers the core's questions about the disk.
//!
//! ```text
//! Case::questions(policy) ──► World::answer ──► Case::answer ──► Case::decide(policy)
//! ```
//!
//! ```
//! use portcullis_core::{Case, Context, Decision, Mode, Policy, ToolCall};
//! use portcullis_world::World;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! std::os::unix::fs::symlink("/etc/passwd", folder.path().join("notes.txt"))?;
//! let project = folder.path().canonicalize()?.to_string_lossy().into_owned();
//!
//! let policy = Policy::default();
//! let decision = |mut world: World| {
//!     let mut case = Case::new(ToolCall::bash("cat notes.txt"), Context::new(Mode::Default, &project));
//!     case.look_up(&policy, |questions| world.answer(questions));
//!     case.decide(&policy).map(|outcome| outcome.into_verdict().decision)
//! };
//! assert_eq!(decision(World::without_disk())?, Decision::Allow);
//! assert_eq!(decision(World::default())?, Decision::Ask, "the file is a link out of the project");
//! # Ok(())
//! # }
//! ```
//!
//! The crate reads files, directories and links, never writes, and never opens a pipe or a device. Everything has a
//! limit, and what passes it or cannot be told is [`portcullis_core::DiskAnswer::Broken`], the unsafe answer. Of the
//! environment it reads `CARGO_HOME` and the home directory alone, to tell the user's own cargo settings from a
//! repository's. Of processes it reads who owns and who started them, where they work, and whether an agent's variable is
//! among theirs.
//!
//! INVARIANT: a [`World`] remembers. It answers one call, or calls of which none has run; once a call has run, the next
//! one needs a new world.

mod answers;
mod git;
mod path;
mod pattern;
mod process;
mod settings;
mod text;

pub use answers::World;
pub use process::AGENT_MARKS;
