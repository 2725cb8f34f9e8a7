//! One file per agent: its JSON to a call, a verdict to its JSON, and the exit code it understands.
//!
//! ```text
//! host JSON ── <host>::parse ──► Hook ──► (decide) ──► Verdict ── <host>::reply ──► HostReply
//! ```
//!
//! Pure: nothing is read or written here. Input that is not understood is a [`HostError`], and every host turns an
//! error into its own blocking answer, never into silence.

pub mod claude;
pub mod json;
mod reason;
mod reply;
pub mod tool_names;

pub use reply::{HostError, HostReply};
