//! The text that settings are extracted from.

use std::path::Path;
use std::sync::Arc;

use portcullis_core::Source;

use crate::location::SettingsOwner;

/// The text of a file, and what the reader of it must know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SettingsText<'text> {
    pub(crate) source: Source,
    pub(crate) owner: SettingsOwner,
    pub(crate) text: &'text str,
    /// The name shown to people.
    pub(crate) label: &'text Arc<str>,
    /// The file of the origins; `None` for text given on the command line.
    pub(crate) file: Option<&'text Arc<str>>,
    pub(crate) base: Option<&'text Arc<str>>,
    pub(crate) home: Option<&'text Path>,
    pub(crate) project: &'text Path,
}
