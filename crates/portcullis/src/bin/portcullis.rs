//! The program that agents and people start: it answers hooks itself, and turns into the full program for everything else.
//!
//! A host starts it before every tool call, so nothing is linked in that a hook does not need.
#![no_main]

use std::ffi::OsString;

portcullis_guard::begin_with!(begin);

/// Does what the arguments say, the first of which is the name of the program.
fn begin(arguments: Vec<OsString>) -> u8 {
    portcullis_memory::prepare();
    portcullis_hook::run_small(arguments)
}
