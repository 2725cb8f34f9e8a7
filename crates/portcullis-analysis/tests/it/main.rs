//! Integration tests of the analysis: what a survey finds in whole command lines.
#![cfg(test)]

mod access;
mod directories;
mod execution;
mod lines;
mod read_only;
mod survey;
