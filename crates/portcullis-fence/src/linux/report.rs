//! What process 1 of a fence tells the supervisor, over a pipe that the command never has.

use std::fs::File;
use std::io::{self, Read as _, Write as _};

use serde::{Deserialize, Serialize};

use crate::command::FencedExit;
use crate::error::FenceError;

/// The longest report that is read.
const LONGEST_REPORT: u64 = 64 * 1024;

/// How it went inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum InsideReport {
    /// Nothing was run.
    Failed(FenceError),
    /// The command ran and ended.
    Ended {
        /// How it ended.
        exit: FencedExit,
        /// How often it wanted to reach something outside.
        refused_connections: u64,
        /// What held it.
        landlock_abi: Option<u8>,
    },
}

impl InsideReport {
    /// Writes the report; the pipe ends with the process.
    pub(super) fn write(&self, pipe: &mut File) -> io::Result<()> {
        pipe.write_all(&serde_json::to_vec(self)?)
    }

    /// Reads the report when the other end is closed; nothing if there is none that makes sense.
    pub(super) fn read(pipe: File) -> Option<Self> {
        let mut text = Vec::new();
        pipe.take(LONGEST_REPORT).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }
}
