//! The judge of auto mode: a separate, fast model call over the user's own words and the agent's actions.
//!
//! ```text
//! session file ──► Transcript ──► Rendered ─┐
//! autoMode prose, findings, deny rules ─────┴─► Prompt ──► Query (a stage) ──► provider ──► transport ──► model
//!                                                             ▲                                            │
//! Ruling ◄── run: fast stage, then thinking stage ◄─ verdict ─┴──────────────── Reply or Fault ◄───────────┘
//! ```
//!
//! [`protocol::Judge`] is the whole of it for a caller: made of [`protocol::Endpoint`]s, it judges a [`prompt::Prompt`], and
//! the ruling becomes the answer that resumes a pending outcome of the core. It blocks the thread it is called on, at
//! most for its time limit, and starts no runtime.
//!
//! Everything that is quoted to the model is data: the user's words, the agent's actions, files of the repository. None
//! of it can end its quotation, because no `<` and no hidden character of it stands as itself.
//!
//! INVARIANT: only a well-formed, explicit "no, do not block" becomes an allow. Whatever fails is no verdict, and no
//! verdict never allows.

mod fault;
mod key;
pub mod model;
pub mod prompt;
pub mod protocol;
pub mod provider;
mod quotation;
pub mod selftest;
mod tokens;
pub mod transcript;
pub mod transport;

pub use key::{KeySource, Secret, fetch_key};
pub use quotation::{escape, quote};
pub use tokens::estimate_tokens;
