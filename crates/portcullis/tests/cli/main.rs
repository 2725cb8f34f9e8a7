//! The built command, run from outside in a home of its own: exit codes, standard output, standard error.
#![cfg(test)]

mod auto_mode;
mod batch;
mod check;
mod classifier;
mod eval;
mod explain;
mod explainer;
mod explainer_by_model;
mod failures;
mod hook;
mod injection;
mod own_scripts;
mod pages;
mod retry;
mod rules;
mod sandbox;
mod settings;
mod trust;
