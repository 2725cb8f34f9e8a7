//! The wrappers by name and how their arguments are laid out, compiled from `data/wrappers.toml`.

use super::layout::WrapperLayout;
use crate::invocation::Wrapping;

include!(concat!(env!("OUT_DIR"), "/wrappers.rs"));
