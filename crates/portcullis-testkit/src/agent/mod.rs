//! A scripted model for whole agents: it streams as their clients expect, calls tools by a script, and keeps what the
//! clients answer.
//!
//! ```text
//! AgentScript ──► AgentServer ◄── HTTP ── a real agent ──► its hook ──► its tools
//!                    │   └─ dialect: is it the agent, its subagent or something beside? which turn is next?
//!                    └─► told(label): what the model was told a call came to
//! ```
//!
//! Which turn is next is read off the conversation in the request, never counted: a client that repeats a request gets
//! the same turn again.

mod dialect;
mod script;
mod server;

pub use script::{AgentCall, AgentCallInput, AgentScript, AgentTurn};
pub use server::{AgentServer, AskingAgent};
