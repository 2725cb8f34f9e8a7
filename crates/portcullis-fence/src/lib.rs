//! Runs one command inside a fence: the kernel holds it to what a policy grants, and nothing else of the machine changes.
//!
//! ```text
//! supervisor (outside) ── clone into new namespaces ──► init, process 1 of the fence ── spawn ──► the command
//!   waits, passes signals on                              mounts, network, Landlock, system call filter
//!   reads what changed                                    reaps, reports how it ended
//! ```
//!
//! [`run`] takes a [`FencedCommand`] and returns how it ended. The whole tree is read-only but for the places of its
//! [`FencePolicy`]; secrets and sockets are masked; there is no network but its own loopback.
//!
//! INVARIANT: whatever fails while the fence goes up is an error, and then nothing was run. There is no way to run the
//! command with a part of the fence.
//!
//! INVARIANT: unsafe code is in `linux/kernel.rs` alone, three calls that no library offers.

mod command;
mod environment;
mod error;
#[cfg(target_os = "linux")]
mod hexadecimal;
mod host;
#[cfg(target_os = "linux")]
mod layer;
#[cfg(target_os = "linux")]
mod linux;
mod policy;
mod protection;
#[cfg(target_os = "linux")]
mod public_address;
mod registries;
#[cfg(target_os = "linux")]
mod runs;
mod seatbelt;
mod usual_places;

pub use command::{FenceOutcome, FencedCommand, FencedExit, HostResolver, KernelFeatures};
pub use environment::fenced_environment;
pub use error::FenceError;
pub use host::{AllowedHost, AttemptResult, HostAttempt};
#[cfg(target_os = "linux")]
pub use layer::{
    ChangeConflict, ChangeKind, ChangedEntry, FileStamp, LayerChange, find_changes, open_regular,
};
#[cfg(target_os = "linux")]
pub use linux::{forget_typed_input, run, run_meanwhile};
pub use policy::{FencePolicy, NetworkAccess, OverlayLayer, ProtectedName, RunLimits, WriteMode};
pub use registries::{
    InstallerAccess, Registry, RegistryPlaces, RegistrySource, installers, project_registries,
};
#[cfg(target_os = "linux")]
pub use runs::{
    CallRecord, CallRecordStore, HeldChange, HoldNote, OpenRun, RunError, RunRecord, RunSelection, RunState,
    RunStore, command_hash, is_protected_change,
};
pub use seatbelt::seatbelt_profile;
pub use usual_places::protected_names;

/// Runs a command inside a fence, which only Linux has.
#[cfg(not(target_os = "linux"))]
pub fn run(_command: &FencedCommand) -> Result<FenceOutcome, FenceError> {
    Err(FenceError::set_up("start a fence", &std::io::Error::from(std::io::ErrorKind::Unsupported)))
}
