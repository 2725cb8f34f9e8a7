//! The store of a fleet, against a real server.
#![cfg(test)]
#![cfg(unix)]

mod approvals;
mod conformance;
mod connecting;
mod crash;
mod migrations;
mod sample;
mod trail;
