//! A scripted model server on loopback: a real HTTP server that answers as models do, or fails as servers do.
//!
//! ```text
//! Script ──► ScriptedServer ◄── HTTP ── whoever asks a model
//!               │   └─ http: bytes ──► request ──► Inquiry (wire, action, form) ──► step ──► answer ──► delivery
//!               └─► requests(): what was asked, in order
//! ```
//!
//! ```
//! use portcullis_testkit::{ModelScript, ScriptedServer};
//!
//! let script = ModelScript::from_json(r#"[{"block": {"category": "Test", "reason": "no"}}, {"allow": true}]"#)?;
//! let server = ScriptedServer::start(script);
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! assert_eq!(server.requests().len(), 0);
//! # Ok::<(), portcullis_testkit::ScriptError>(())
//! ```
//!
//! [`AgentServer`] plays the model of a whole agent instead: it streams, and its script is a list of tool calls.
//!
//! [`OtlpCollector`] takes what is posted to it, as a collector of telemetry does.
//!
//! [`PostgresServer`] is a real PostgreSQL server that can be killed and started again.
//!
//! [`GoldenFile`] is a file of cases that a test compares with, whatever it tests.
//!
//! The scripted ones speak no TLS, listen on loopback only, and hold no key: the keys they are sent are anybody's.

mod agent;
mod answer;
mod collector;
mod delivery;
mod golden;
mod http;
mod listening;
#[cfg(unix)]
mod postgres;
mod recorded;
mod script;
mod server;
mod wire;

pub use agent::{AgentCall, AgentCallInput, AgentScript, AgentServer, AgentTurn, AskingAgent};
pub use collector::{CollectedPost, OtlpCollector};
pub use golden::{GoldenCase, GoldenFile, is_updating};
#[cfg(unix)]
pub use postgres::PostgresServer;
pub use recorded::RecordedRequest;
pub use script::{
    EchoedPart, ModelScript, RequestMatch, ScriptError, ScriptRule, ScriptStep, ScriptedAnswer,
    ScriptedVerdict, ServerFault, WordJudge,
};
pub use server::ScriptedServer;
pub use wire::{ModelRequest, ReportedTokens, RequestedForm, RequestedStage, StopReason, WireProtocol};
