//! What is known of each language, compiled from `data/languages`.

use super::Language;
use super::table::{Does, Gives, LanguageTable, LibraryRow, On};
use crate::act::Act;

include!(concat!(env!("OUT_DIR"), "/languages.rs"));
