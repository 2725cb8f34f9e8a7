//! Integration tests of the core: verdicts for whole calls.
#![cfg(test)]

mod allow_rules;
mod answers;
mod boundaries;
mod classifier;
mod code_on_the_line;
mod consent;
mod containment;
mod deny_rules_hold;
mod explainer;
mod mode_matrix;
mod obfuscation;
mod one_stream;
mod ordinary_findings;
mod other_doors;
mod own_places;
mod own_scripts;
mod pipeline;
mod properties;
mod safety;
mod seed_examples;
mod session_files;
mod suggestions;
mod support;
mod words_that_are_data;
