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

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

pub use call_record::{CallRecord, CallRecordStore, command_hash};
pub use error::RunError;
pub(crate) use record::create_private;
pub use record::{HoldNote, RunRecord, RunSelection, RunState};
pub use store::{HeldChange, OpenRun, RunStore, is_protected_change};

/// Takes the lock of a file, for which it is worth waiting a little.
fn wait_for_lock(file: &File, id: &str, path: &Path, patience: Duration) -> Result<(), RunError> {
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if started.elapsed() < patience => {
                sleep(Duration::from_millis(5));
            }
            Err(TryLockError::WouldBlock) => return Err(RunError::Busy(id.to_owned())),
            Err(TryLockError::Error(error)) => return Err(RunError::disk("lock", path)(error)),
        }
    }
}
