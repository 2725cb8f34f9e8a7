//! The built command, run from outside in a home of its own: exit codes, standard output, standard error.
#![cfg(test)]

mod audit_load;
mod auto_mode;
mod batch;
mod boundaries;
mod check;
mod classifier;
mod denials;
mod dialogue;
mod doctor;
mod eval;
mod explain;
mod explainer;
mod explainer_by_model;
mod fail_shut;
mod failures;
mod grants;
mod hook;
mod init;
mod injection;
mod log;
mod mcp;
mod mcp_proxy;
mod own_scripts;
mod pages;
mod permission_hooks;
mod replay;
mod retry;
mod rules;
mod sandbox;
mod scene;
mod settings;
mod stats;
mod trust;
