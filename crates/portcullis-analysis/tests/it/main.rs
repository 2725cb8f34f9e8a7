//! Integration tests of the analysis: what a survey finds in whole command lines.
#![cfg(test)]

mod carried_values;
mod closed_world;
mod code;
mod containers;
mod developer_programs;
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
#[cfg(target_os = "linux")]
mod shape_lines;
mod survey;
mod unknown_code;
#[cfg(target_os = "linux")]
mod value_lines;
mod values;
