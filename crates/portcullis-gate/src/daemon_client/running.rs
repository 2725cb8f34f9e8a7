//! A daemon that runs, as others find it: the file that it holds locked says where it listens.

use std::fs::{File, TryLockError};
use std::io::Read as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::places::Places;

/// The longest file that is read.
const LONGEST: u64 = 64 * 1024;

/// A daemon that runs, as others find it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Running {
    /// Its process.
    pub pid: u32,
    /// Where its pages and its API are; `None` if it listens at its socket alone.
    pub url: Option<String>,
    /// The address it listens at.
    pub address: Option<String>,
    /// Its unix socket.
    pub socket: PathBuf,
    /// When it started, in unix milliseconds.
    pub started_at_ms: u64,
}

impl Running {
    /// Finds the daemon of a state directory; `None` if none runs.
    pub fn find(places: &Places) -> Option<Self> {
        let file = File::open(places.lock()).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Self::read(&file),
            // Nobody holds it: whoever wrote it is gone.
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }

    fn read(file: &File) -> Option<Self> {
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }
}
