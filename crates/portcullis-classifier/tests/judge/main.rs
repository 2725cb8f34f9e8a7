//! The judge against a server that misbehaves: every failure it can meet, and the stages when nothing fails (spec
//! D6, D8, D13).
//!
//! The server is a real one on loopback, so what is tested is what leaves the process and what comes back.
#![cfg(test)]

mod bench;
mod endings;
mod fallback;
mod room;
mod rows;
mod secrets;
mod shapes;
mod stages;
