//! The parser against tables, golden trees, bash itself and hostile texts.
#![cfg(test)]

mod adversarial;
mod bash;
mod commands;
mod contexts;
mod dump;
mod execution;
mod golden;
mod oracle;
mod programs;
mod properties;
mod refusals;
mod traits;
mod tricky;
