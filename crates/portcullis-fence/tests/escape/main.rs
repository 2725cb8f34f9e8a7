//! Every way out that was ever tried, inside the real runner: as whoever runs the tests and as a user without rights.
//!
//! These tests fail where the kernel makes no user namespaces. They must not be skipped there: a fence that nobody tried
//! is none.
#![cfg(test)]
#![cfg(target_os = "linux")]

mod attempt;
mod behaviour;
mod file;
mod yard;
