//! Prompt injection: attacks through everything the judge is shown, and through everything it must never see.
//!
//! None of them changes the structure of what the model reads, and none gets an allow from a model that repeats what it
//! is told.
#![cfg(test)]

mod attacks;
mod channel;
mod echo;
mod outcomes;
mod raw;
mod session_file;
mod shape;
mod structure;
mod unicode;

use attacks::Attack;

/// Returns every attack.
fn attacks() -> Vec<Attack> {
    let lists = [
        attacks::BREAKING_OUT,
        attacks::FAKE_TURNS,
        attacks::NAMES,
        attacks::VERDICTS,
        outcomes::OUTCOMES,
        unicode::UNICODE,
    ];
    lists.concat()
}

#[test]
fn the_attacks_are_many_and_each_has_a_name_of_its_own() {
    let attacks = attacks();
    let names: std::collections::BTreeSet<&str> = attacks.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names.len(), attacks.len());
    assert!(attacks.len() >= 150, "{}", attacks.len());
    for channel in channel::Channel::ALL {
        assert!(attacks.iter().any(|(_, used, _)| used == channel), "nobody attacks by {channel:?}");
    }
}
