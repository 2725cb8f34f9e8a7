//! The audit trail: what is kept, what a changed trail gives away, many writers at once, and the index.
#![cfg(test)]
#![cfg(unix)]

mod chain;
mod content;
mod index;
mod processes;
mod sample;
mod tampering;
