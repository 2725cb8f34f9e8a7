//! Integration tests of the analysis: what a survey finds in whole command lines.
#![cfg(test)]

mod code;
mod containers;
mod directories;
mod environment;
#[cfg(target_os = "linux")]
mod execution;
mod findings;
mod flow;
mod git;
#[cfg(target_os = "linux")]
mod lines;
mod powershell;
mod profiles;
mod program;
mod read_only;
mod seeded;
mod survey;
#[cfg(target_os = "linux")]
mod value_lines;
mod values;
