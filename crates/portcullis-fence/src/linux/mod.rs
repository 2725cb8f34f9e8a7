//! The fence as Linux makes it, without any privilege and without any other program.
//!
//! `supervisor` stays outside; `inside` is what the new process does until the command runs, in the order in which it must
//! be done; the other files are the parts.

mod carrier;
mod device;
mod doors;
mod inside;
mod kernel;
mod landlock_rules;
mod loopback;
mod mask;
mod mount;
mod mount_table;
mod name_answer;
mod network_plan;
mod privilege;
mod program;
mod report;
mod session;
mod supervisor;
mod syscall_filter;

pub use privilege::forget_typed_input;
pub use supervisor::{run, run_meanwhile};
