//! Checks that the code in the guide is the code of this example.
#![cfg(test)]

use portcullis_core::{Case, Outcome, Policy};
use portcullis_settings::Loaded;
use portcullis_store::{SessionStore, Store};
use portcullis_world::World;

const GUIDE: &str = include_str!("../../../docs/guides/embed-the-library.md");
const GATE: &str = include_str!("../src/gate.rs");

#[test]
fn every_piece_of_rust_in_the_guide_stands_in_the_gate() {
    let gate: Vec<&str> = GATE.lines().map(str::trim_start).collect();
    let mut pieces = 0;
    for piece in GUIDE.split("```rust\n").skip(1) {
        let (piece, _) = piece.split_once("```").expect("a fence ends");
        let lines: Vec<&str> = piece.lines().map(str::trim_start).collect();
        assert!(lines.len() > 1, "a piece is more than a line: {piece}");
        assert!(gate.windows(lines.len()).any(|window| window == lines), "not in the gate:\n{piece}");
        pieces += 1;
    }
    assert!(pieces > 0, "the guide shows code");
}

#[test]
fn the_guide_names_the_crates_of_the_example() {
    for line in include_str!("../Cargo.toml").lines() {
        if let Some((name, _)) = line.split_once(".workspace = true")
            && name.starts_with("portcullis-")
        {
            assert!(GUIDE.contains(&format!("`{name}`")), "{name}");
        }
    }
}

#[test]
fn what_the_guide_says_of_threads_is_so() {
    fn share<T: Send + Sync>(_: Option<T>) {}
    fn send<T: Send>(_: Option<T>) {}
    share(None::<(Policy, Case, Outcome)>);
    share(None::<(Loaded, Store, SessionStore)>);
    send(None::<World>);
}
