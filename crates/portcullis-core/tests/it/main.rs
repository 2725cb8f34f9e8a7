//! Integration tests of the core: verdicts for whole calls.
#![cfg(test)]

mod allow_rules;
mod deny_rules_hold;
mod mode_matrix;
mod pipeline;
mod properties;
mod safety;
mod seed_examples;
mod suggestions;
mod support;
