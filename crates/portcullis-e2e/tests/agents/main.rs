//! Runs the real agents, offline, against a scripted model, with our hook registered as a user would register it.
//!
//! `cargo dev clients` installs the agents; `docs/development/real-clients.md` tells how it all fits together.
#![cfg(test)]

mod answers;
mod claude;
mod claude_versions;
mod cline;
mod codex;
mod contained;
mod copilot;
mod droid;
mod gemini;
mod harness;
mod kimi;
mod opencode;
mod pi;
mod proof;
mod qwen;
mod tour;
mod working_day;
