//! What is run, and how it ended.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::host::HostAttempt;
use crate::policy::FencePolicy;

/// A command with the fence it runs in.
#[derive(Debug, Clone)]
pub struct FencedCommand {
    /// What it may do.
    pub policy: FencePolicy,
    /// Where it starts.
    pub directory: PathBuf,
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// The variables of whoever asked for it; only what [`crate::fenced_environment`] lets through gets in.
    pub environment: Vec<(OsString, OsString)>,
    /// The kernel features that the fence is made of; all of them but in tests of a single one.
    pub features: KernelFeatures,
    /// Who knows the addresses of hosts.
    pub resolver: HostResolver,
}

/// Who knows the addresses of the hosts that may be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostResolver {
    /// The system, outside the fence.
    System,
    /// A table, for tests that reach nobody.
    Table(Vec<(String, IpAddr)>),
}

impl FencedCommand {
    /// Returns a command with the whole fence round it.
    pub fn new(
        policy: FencePolicy,
        directory: PathBuf,
        words: Vec<OsString>,
        environment: Vec<(OsString, OsString)>,
    ) -> Self {
        let (features, resolver) = (KernelFeatures::ALL, HostResolver::System);
        Self { policy, directory, words, environment, features, resolver }
    }
}

/// The features that stand behind each other, so that each can be tried without the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelFeatures {
    /// The whole tree read-only but for what is granted.
    pub sealed_tree: bool,
    /// Rules of Landlock on top of the mounts.
    pub landlock: bool,
    /// The filter of system calls.
    pub syscall_filter: bool,
}

impl KernelFeatures {
    /// Everything; a fence without one of them is a fence for a test.
    pub const ALL: Self = Self { sealed_tree: true, landlock: true, syscall_filter: true };
}

/// How a fenced command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FenceOutcome {
    /// Its exit code, or the signal it died of.
    pub exit: FencedExit,
    /// How often something inside tried to reach an address outside the fence that is not listed.
    pub refused_connections: u64,
    /// The hosts that it tried to reach by name, and the listed addresses.
    pub hosts: Vec<HostAttempt>,
    /// What is protected and was not there before, or is another file than before. Only writes that land at once can make it,
    /// and only after the fact can it be known.
    pub made_protected: Vec<PathBuf>,
    /// The version of Landlock's interface that held it; none where the kernel has no Landlock.
    pub landlock_abi: Option<u8>,
}

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FencedExit {
    /// It ended by itself.
    Code(u8),
    /// A signal ended it.
    Signal(u8),
}

impl FencedExit {
    /// Returns the number by which a shell knows this end.
    pub fn shell_code(self) -> u8 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => signal.saturating_add(128),
        }
    }
}
