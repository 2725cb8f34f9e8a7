//! One file per agent: its JSON to a call, a verdict to its JSON, and the exit code it understands.
//!
//! ```text
//! host JSON ── read ──► Event::Call ──► (decide) ──► Verdict ── Answer::of ──► Answer ── write ──► HostReply
//! ```
//!
//! Hosts differ in what they can be told: [`Capabilities`] says so for each moment, and a verdict becomes what the
//! moment can say, always towards safety. Pure: nothing is read or written here. Input that is not understood is a
//! [`HostError`], and every host turns an error into its own blocking answer, never into silence.
//!
//! A harness of its own needs no host. [`json`] reads the input of its calls, and [`tool_names`] knows what other agents
//! call the tools that the core knows.

mod adapter;
mod amp;
mod call_parts;
mod capability;
mod claude;
mod claude_family;
mod cline;
mod codex;
mod copilot;
mod copilot_tools;
mod crush;
mod cursor;
mod droid;
mod fields;
mod gemini;
mod generic;
mod host;
pub mod json;
mod kimi;
mod observed;
mod opencode;
mod pi;
mod qwen;
mod reason;
pub mod registration;
mod registry;
mod reply;
mod rewriting;
mod scripted_run;
mod settings_shape;
mod shell_word;
#[cfg(test)]
mod shown_calls;
pub mod tool_names;

pub use adapter::{
    BlockingReply, HookCall, HookMoment, HookSession, HostAdapter, HostAnswer, HostEvent, HostInput,
    RewritableInput, SessionFact, SessionFactKind, SessionFormat,
};
pub use capability::{AskBy, HostDecision, MomentCapabilities, PlainQuestion};
pub use host::Host;
pub use observed::{CallFate, HookBehavior, ObservedMode, offered_tools};
pub use reply::{HostError, HostReply};
pub use scripted_run::ScriptedRun;
pub use shell_word::joined as shell_joined;
