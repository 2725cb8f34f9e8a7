//! Whether allow rules and the read-only set cover every part of a command line (spec A9, C7).

mod part;
mod whole;

pub(crate) use part::{CoverGrounds, grounds_in};
pub(crate) use whole::{Coverage, GapKind, cover};
