//! Containment: which calls get a fence, the command that a host runs instead, and the proof that it did (spec H1, H4).
//!
//! ```text
//! verdict contained ──► FenceBuilder: settings, host, machine ──► record for the runner + ledger ──► changed input
//!                                                                      │
//!          runner takes the record, notes in the ledger that it ran ◄──┘
//!          the host's after-event looks there: what never ran inside was lost, and the host gets no fence any more
//! ```
//!
//! INVARIANT: the host's new command grants nothing. What it may do stands in a record that only this user can write, for
//! this command in this directory, and that is gone once it was looked at.

#[cfg(target_os = "linux")]
mod builder;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod fence_builder;
mod held_run;
#[cfg(target_os = "linux")]
mod held_runs;
mod ledger;
#[cfg(target_os = "linux")]
mod machine;
#[cfg(target_os = "linux")]
mod needed_programs;
mod proof;
#[cfg(target_os = "linux")]
mod run_difference;
mod wrapped_command;

#[cfg(target_os = "linux")]
pub use builder::HostFence;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{HeldRuns, HostFence};
pub use fence_builder::FenceBuilder;
pub(crate) use fence_builder::HELD_CHANGES;
pub use held_run::{HeldRun, HeldRunChange};
#[cfg(target_os = "linux")]
pub use held_runs::{HeldRuns, conflict_text, run_failure};
pub use ledger::{ContainedCall, ContainedState, ContainmentLedger, SwitchedOff};
#[cfg(target_os = "linux")]
pub use machine::{fence_policy, fence_program, probe};
pub(crate) use proof::prove;
#[cfg(target_os = "linux")]
pub use run_difference::run_difference;
