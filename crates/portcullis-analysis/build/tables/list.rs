//! Lists of words, and of words with what they mean.
//!
//! `name = "a b"` is a list. `[name]` pairs words with a text: `"a meaning" = "a b"`. `[acts.name]` pairs them with
//! acts: `read = "a b"`. `[lists.name]` gives each name a list: `program = "-a -b"`. `[module.name]` holds all of these
//! in a module of its own. The order of a file is kept: where several words fit, the first one counts.

use toml::de::{DeTable, DeValue};

use super::Result;
use super::source::{Item, Source, in_order, rust_list};
use crate::act::Act;

/// Makes a constant of everything in a file.
pub(super) fn compile(source: &Source) -> Result<String> {
    constants(source, &source.table()?)
}

fn constants(source: &Source, table: &DeTable<'_>) -> Result<String> {
    let mut text = String::new();
    for (key, item) in table {
        let name = key.get_ref().as_ref();
        match (name, item.get_ref()) {
            ("module", DeValue::Table(tables)) => {
                for (key, item) in tables {
                    text.push_str(&module(key.get_ref(), &constants(source, source.inner(item)?)?));
                }
            }
            ("acts", DeValue::Table(tables)) => {
                for (key, item) in tables {
                    let rows = pairs(source, source.inner(item)?, |act| {
                        Act::find(act).map(|act| format!("crate::act::Act::{act:?}"))
                    })?;
                    text.push_str(&constant(key.get_ref(), "(&str, crate::act::Act)", &rows));
                }
            }
            ("lists", DeValue::Table(tables)) => {
                for (key, item) in tables {
                    text.push_str(&constant(key.get_ref(), "(&str, &[&str])", &named(source, item)?));
                }
            }
            (_, DeValue::Table(table)) => {
                let rows = pairs(source, table, |meaning| Some(format!("{meaning:?}")))?;
                text.push_str(&constant(name, "(&str, &str)", &rows));
            }
            _ => text.push_str(&constant(name, "&str", &rust_list(&source.words(item)?))),
        }
    }
    Ok(text)
}

/// Makes a module named as a file or a `[module.name]` is.
pub(super) fn module(name: &str, inside: &str) -> String {
    format!("pub(crate) mod {} {{\n{inside}}}\n", name.replace('-', "_"))
}

fn constant(name: &str, kind: &str, rows: &str) -> String {
    let name = name.to_uppercase().replace('-', "_");
    format!("pub(crate) const {name}: &[{kind}] = {rows};\n")
}

/// Pairs every word with what the key before it means.
fn pairs(source: &Source, table: &DeTable<'_>, meaning: impl Fn(&str) -> Option<String>) -> Result<String> {
    let mut rows: Vec<(&str, String)> = Vec::new();
    for (key, item) in in_order(table) {
        let Some(meaning) = meaning(key.get_ref()) else {
            return source.error(key, format!("`{}` is no act", key.get_ref()));
        };
        for word in source.words(item)? {
            if rows.iter().any(|(known, _)| *known == word) {
                return source.error(item, format!("`{word}` has another meaning already"));
            }
            rows.push((word, meaning.clone()));
        }
    }
    let rows: Vec<String> = rows.iter().map(|(word, meaning)| format!("({word:?}, {meaning})")).collect();
    Ok(format!("&[{}]", rows.join(", ")))
}

/// Gives every name its list.
fn named(source: &Source, item: &Item<'_>) -> Result<String> {
    let mut rows = Vec::new();
    for (key, item) in source.inner(item)? {
        rows.push(format!("({:?}, {})", key.get_ref(), rust_list(&source.words(item)?)));
    }
    Ok(format!("&[{}]", rows.join(", ")))
}
