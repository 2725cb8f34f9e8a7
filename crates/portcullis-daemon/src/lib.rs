//! The daemon: one process that judges calls over HTTP, keeps the queue of approvals and serves the web page.
//!
//! ```text
//! TCP, TLS, unix socket ──► server ──► access (who asks, from where) ──► router ──► api   (JSON, /v1)
//!                                                                              └──► pages (HTML)
//! api/decide ──► settings cache ──► gate ──► queue, if a person must say ──► recorder ──► answer
//! ```
//!
//! INVARIANT: the daemon decides nothing that the one-shot command would not decide. It judges through the same gate, by
//! the same settings, which are looked at anew for every call; what it keeps in memory is what it can prove unchanged.

mod access;
mod api;
mod approval_object;
mod error;
#[cfg(debug_assertions)]
mod fault;
mod hub;
mod instance;
mod judging;
mod login;
mod notify;
mod pages;
mod passkeys;
pub mod policy;
mod presence_codes;
mod queue;
mod recorder;
mod router;
pub mod server;
mod settings_cache;
mod stamp;
pub mod start;
mod stopping;
mod tasks;
mod telemetry;
pub mod tokens;

use std::sync::Arc;

use portcullis_store::Store;

pub(crate) use access::Caller;
pub(crate) use error::ApiError;
pub(crate) use hub::{Hub, LiveEvent};
pub(crate) use queue::Queue;
pub(crate) use recorder::Recorder;
pub(crate) use settings_cache::SettingsCache;
pub use stopping::Stopping;
pub(crate) use telemetry::Telemetry;

use self::access::{Attempts, KnownAgents, Site, Usage};
use self::login::Logins;
use self::passkeys::Passkeys;
use self::policy::PolicyWatch;
use self::presence_codes::PresenceCodes;
use self::tokens::Tokens;
use portcullis_gate::SettingsFlags;

/// How many threads of the daemon wait for a disk, a server or a model at most. Many calls at once wait for a thread,
/// which costs little, and not each on one of its own.
pub const MOST_WAITING_THREADS: usize = 64;

/// What every request works with.
#[derive(Debug)]
pub struct Daemon {
    /// The flags that choose settings, for every call.
    pub(crate) arguments: SettingsFlags,
    /// Where everything is kept.
    pub(crate) store: Store,
    /// Whether other daemons share the store, so that using it means to wait for a server.
    pub(crate) is_shared_store: bool,
    /// The policy that the store has for this machine.
    pub(crate) policy: PolicyWatch,
    /// The settings of directories, loaded anew when a file of theirs changed.
    pub(crate) settings: SettingsCache,
    /// Writes decisions down, many at a time.
    pub(crate) recorder: Recorder,
    /// The questions that wait for a person.
    pub(crate) queue: Queue,
    /// What is told to those who watch.
    pub(crate) hub: Hub,
    /// Counts, and what is told to other systems.
    pub(crate) telemetry: Telemetry,
    /// Who may ask for what.
    pub(crate) tokens: Tokens,
    /// The agents that were seen.
    pub(crate) agents: KnownAgents,
    /// The codes by which a person shows in a browser that they are there.
    pub(crate) codes: PresenceCodes,
    /// The passkeys of the person.
    pub(crate) passkeys: Passkeys,
    /// Those who are signed in to the web page.
    pub(crate) logins: Logins,
    /// The connections and streams of each token.
    pub(crate) usage: Arc<Usage>,
    /// The wrong tokens of late.
    pub(crate) attempts: Attempts,
    /// The names it answers to, and where its pages are.
    pub(crate) site: Site,
    /// Tells those who wait for long that the daemon stops.
    pub(crate) stopping: Stopping,
}

/// The daemon, as every request has it.
pub(crate) type Shared = Arc<Daemon>;
