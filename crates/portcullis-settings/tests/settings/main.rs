//! Settings from the outside: real files in temporary directories, one module per part of the contract.
#![cfg(test)]

mod attack;
mod classifier;
mod classifier_choice;
mod edit;
mod managed;
mod precedence;
mod profiles;
mod pushed;
mod repository;
mod reset;
mod samples;
mod schema;
mod source;
mod store;
mod trust;
mod world;
