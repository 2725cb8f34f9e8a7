//! Integration tests of the analysis: what a survey finds in whole command lines.
#![cfg(test)]

mod access;
mod directories;
#[cfg(target_os = "linux")]
mod execution;
#[cfg(target_os = "linux")]
mod lines;
mod read_only;
mod survey;
