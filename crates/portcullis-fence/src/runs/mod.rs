//! Runs whose changes are held apart: where they are kept, what becomes of them, and what a killed one leaves.
//!
//! ```text
//! running ──► held ──► committing ──► committed
//!    │          └─────► dropped
//!    └ killed: held by the next command, and whatever was committing is finished
//! ```

mod call_record;
mod error;
mod record;
mod store;

pub use call_record::{CallRecord, CallRecordStore, command_hash};
pub use error::RunError;
pub(crate) use record::create_private;
pub use record::{HoldNote, RunRecord, RunState};
pub use store::{HeldChange, OpenRun, RunSelection, RunStore, is_protected_change};
