//! Effects in words: what a person would call one thing, quoted so that no text of a call can pose as ours.

mod circumstance;
mod effect_group;
mod quote;

pub(crate) use circumstance::{Circumstance, Circumstances};
pub use effect_group::effect_clause;
pub(crate) use effect_group::{Detail, EffectGroup, clause_of, enumerate, merge, name_of};
pub(crate) use quote::{LONGEST_QUOTE, capital, cut, prose, quote};
