//! Speaks to the scripted server as a client would, byte by byte.
#![cfg(test)]

mod agents;
mod client;
mod connections;
mod faults;
mod program;
mod scripts;
mod wires;
