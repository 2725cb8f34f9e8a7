//! The hook: what agents start before every tool call.
//!
//! ```text
//! portcullis hook HOST ──► guard armed ──► host's JSON ──► gate ──► answer in one write
//!                                                           └──► a model or a hook must be asked ──► portcullis-full
//! ```
//!
//! Agents start the small program, `portcullis`. It has no network, no database and no terminal in it; where a call needs
//! one of them, the process turns into the full program, which is installed beside it, and judges the call from the start.
//!
//! INVARIANT: nothing was used up or written down by a process before it turns into the full program.

#[cfg(debug_assertions)]
mod fault;
mod full_program;
mod road;
mod small_program;

pub use full_program::{FULL_NAME, SMALL_NAME, become_full};
pub use road::run;
pub use small_program::run_small;
