//! The moments at which hosts ask.

use crate::capability::MomentCapabilities;

/// A moment at which a host asks whether a call may run.
#[derive(Debug, PartialEq, Eq)]
pub struct HookMoment {
    /// The event's name on the wire.
    pub event: &'static str,
    /// What an answer can say there.
    pub capabilities: MomentCapabilities,
    /// The answer that blocks, prepared before anything can fail.
    pub blocking: BlockingReply,
}

/// An answer that blocks and needs nothing to be worked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockingReply {
    /// Standard output.
    pub stdout: &'static str,
    /// Standard error.
    pub stderr: &'static str,
    /// The exit code.
    pub exit_code: i32,
}
