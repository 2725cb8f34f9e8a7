//! Placeholder module text, replaced with the crate's own.
