//! A scripted model server on loopback: a real HTTP server that answers as models do, or fails as servers do.
//!
//! ```text
//! Script ──► ScriptedServer ◄── HTTP ── whoever asks a model
//!               │   └─ http: bytes ──► request ──► Inquiry (wire, action, form) ──► step ──► answer ──► delivery
//!               └─► requests(): what was asked, in order
//! ```
//!
//! ```
//! use portcullis_testkit::{Script, ScriptedServer};
//!
//! let script = Script::from_json(r#"[{"block": {"category": "Test", "reason": "no"}}, {"allow": true}]"#)?;
//! let server = ScriptedServer::start(script);
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! assert_eq!(server.requests().len(), 0);
//! # Ok::<(), portcullis_testkit::ScriptError>(())
//! ```
//!
//! It speaks no TLS, listens on loopback only, and holds no key: the keys it is sent are anybody's.

mod answer;
mod delivery;
mod http;
mod recorded;
mod script;
mod server;
mod wire;

pub use recorded::Recorded;
pub use script::{Answer, Echo, Fault, Judge, Rule, Script, ScriptError, Step, Stop, Tokens, Verdict, When};
pub use server::ScriptedServer;
pub use wire::{AskedForm, Inquiry, Stage, Wire};
