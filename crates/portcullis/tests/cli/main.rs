//! The built command, run from outside in a home of its own: exit codes, standard output, standard error.
#![cfg(test)]

mod batch;
mod check;
mod eval;
mod explain;
mod explainer;
mod hook;
mod pages;
mod rules;
mod sandbox;
mod settings;
mod trust;
