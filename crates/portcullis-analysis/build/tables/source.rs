//! A file of `data/`, read so that every mistake in it can be told with its line.

use std::error::Error;
use std::fmt::Display;
use std::fs;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::Result;

/// A name with the place where it stands.
pub(super) type Key<'a> = Spanned<DeString<'a>>;
/// A value with the place where it stands.
pub(super) type Item<'a> = Spanned<DeValue<'a>>;

/// A file and its text.
pub(super) struct Source {
    path: String,
    text: String,
}

impl Source {
    pub(super) fn read(path: &Path) -> Result<Self> {
        Ok(Self { path: path.display().to_string(), text: fs::read_to_string(path)? })
    }

    /// Returns the name of the file without folder and ending.
    pub(super) fn name(&self) -> &str {
        Path::new(&self.path).file_stem().and_then(|name| name.to_str()).unwrap_or_default()
    }

    pub(super) fn table(&self) -> Result<DeTable<'_>> {
        match DeTable::parse(&self.text) {
            Ok(table) => Ok(table.into_inner()),
            Err(error) => Err(format!("{}: {error}", self.path).into()),
        }
    }

    /// Says what is wrong with something, and where that stands.
    pub(super) fn error<T, U>(&self, at: &Spanned<T>, what: impl Display) -> Result<U> {
        let before = self.text.get(..at.span().start).unwrap_or_default();
        Err(format!("{}:{}: {what}", self.path, before.matches('\n').count() + 1).into())
    }

    /// Says that something is missing, which stands nowhere.
    pub(super) fn lacks(&self, name: &str) -> Box<dyn Error> {
        format!("{}: `{name}` is missing", self.path).into()
    }

    /// Returns the entries of a list: the words of a text, or the texts of a list where a blank may be part of one.
    pub(super) fn words<'a>(&self, item: &'a Item<'_>) -> Result<Vec<&'a str>> {
        let words: Vec<&str> = match item.get_ref() {
            DeValue::String(text) => text.split_whitespace().collect(),
            DeValue::Array(list) => list.iter().filter_map(|entry| entry.get_ref().as_str()).collect(),
            _ => return self.error(item, "a text or a list of texts is wanted"),
        };
        let is_whole = item.get_ref().as_array().is_none_or(|list| list.len() == words.len());
        let mut sorted = words.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair.first() == pair.last()) {
            Some(pair) => self.error(item, format!("`{}` stands twice", pair.concat())),
            None if !is_whole => self.error(item, "only texts may stand in the list"),
            None => Ok(words),
        }
    }

    /// Returns the table that an item is.
    pub(super) fn inner<'a, 'b>(&self, item: &'a Item<'b>) -> Result<&'a DeTable<'b>> {
        match item.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => self.error(item, "a table is wanted"),
        }
    }
}

/// Returns what stands in a table in the order of the file.
pub(super) fn in_order<'a, 'b>(table: &'a DeTable<'b>) -> Vec<(&'a Key<'b>, &'a Item<'b>)> {
    let mut entries: Vec<(&Key<'_>, &Item<'_>)> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// Writes words as a list of Rust.
pub(super) fn rust_list(words: &[&str]) -> String {
    format!("&{words:?}")
}
