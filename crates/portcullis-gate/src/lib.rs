//! The engine of Portcullis: one tool call from a host's moment to a recorded answer.
//!
//! ```text
//! HookCall ──► settings of its directory ──► judge: disk, session, grants, model, hooks ──► queue ──► audit ──► Answer
//! ```
//!
//! INVARIANT: nobody else puts settings, disk, session and a decision together. Hooks, commands, the daemon and programs
//! that embed this crate call it, and none of them can be laxer by leaving something out: what is not given is looked up
//! here, and what cannot be looked up does not allow.

pub mod audit;
pub mod audit_head;
pub mod call_input;
pub mod classifier;
pub mod clock;
pub mod containment;
pub mod daemon_client;
pub mod env_vars;
mod failure;
pub mod gate;
mod id;
pub mod judge;
pub mod mode_in_force;
mod own_locations;
mod permission_hooks;
pub mod posting;
pub mod presence;
pub mod process;
pub mod recollection;
pub mod record_json;
pub mod session_facts;
pub mod session_settings;
pub mod session_traces;
pub mod standard_input;
pub mod stores;
pub mod text_difference;

pub use failure::{Failure, FailureKind};
pub use gate::{Gate, GateDecision};
pub use id::{hex, is_id, new_id};
pub use session_settings::{SessionSettings, SettingsFlags, SettingsPlan};

/// The guide for programs that embed the engine, compiled as it is written.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/embed-the-library.md")]
pub struct EmbeddingGuide;
