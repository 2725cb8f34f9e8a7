//! What is known of a text that only the running shell knows: which pieces are written out, and of what kind the others are.
//!
//! A shape stands for all texts it admits, and whoever asks whether something is harmless asks for all of them. A value that
//! is one of a few texts is no shape: the survey lists its commands once for each.

mod cut;
mod pieces;

pub use pieces::{Shape, ShapePiece, TextKind};
