//! A host's TOML settings with our entries in it, or without them: text in, text out.
//!
//! An entry is a table in a list of tables, `[[hooks]]`, or in a list that is written as one value. Comments, spacing and
//! everything of others stay as they are. A text that cannot be read is an error and never changed.

use std::collections::BTreeMap;
use std::path::Path;

use portcullis_hosts::registration::RegistrationPiece;
use serde_json::Value;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike};

use super::ours::Ours;

/// Says whether a file is of this form, by its name.
pub fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|kind| kind == "toml")
}

/// Reads settings as if they were JSON; what is wrong is said in a clause.
pub fn read(text: &str) -> Result<Value, String> {
    Ok(table_value(parse(text)?.as_table()))
}

/// Puts entries into a text, in the place of earlier ones of ours; the same text if they are there already.
pub fn put(before: Option<&str>, pieces: &[&RegistrationPiece], ours: &Ours) -> Result<String, String> {
    let text = before.unwrap_or_default();
    let mut document = parse(text)?;
    let mut lists: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for (name, value) in pieces.iter().filter_map(|piece| wanted(piece)) {
        lists.entry(name).or_default().push(value);
    }
    let mut is_changed = false;
    for (name, values) in lists {
        is_changed |= put_all(document.as_table_mut(), name, &values, ours)?;
    }
    if !is_changed {
        return Ok(text.to_owned());
    }
    let after = document.to_string();
    let check = read(&after)?;
    let is_in = |(name, value): (&str, &Value)| {
        let list = check.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        list.iter().filter(|entry| *entry == value).count() == 1
    };
    if pieces.iter().filter_map(|piece| wanted(piece)).all(is_in) {
        return Ok(after);
    }
    Err("the change did not come out as meant".to_owned())
}

/// Takes everything of ours out of a text, and lists that `original`, the text before us, did not have.
pub fn strip(
    text: &str,
    pieces: &[&RegistrationPiece],
    ours: &Ours,
    original: Option<&str>,
) -> Result<String, String> {
    let mut document = parse(text)?;
    let original = original.and_then(|text| parse(text).ok()).unwrap_or_default();
    let mut is_changed = false;
    for (name, _) in pieces.iter().filter_map(|piece| wanted(piece)) {
        let root = document.as_table_mut();
        let Some(list) = root.get_mut(name) else { continue };
        is_changed |= take_out(list, ours);
        if is_empty(list) && original.get(name).is_none() {
            root.remove(name);
        }
    }
    Ok(if is_changed { document.to_string() } else { text.to_owned() })
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())
}

/// The list and the entry of a piece.
fn wanted(piece: &RegistrationPiece) -> Option<(&'static str, &Value)> {
    match piece {
        RegistrationPiece::Element { at: [name], value, .. } => Some((name, value)),
        _ => None,
    }
}

/// Puts the entries of one list, behind those of others.
fn put_all(root: &mut Table, name: &str, values: &[&Value], ours: &Ours) -> Result<bool, String> {
    let list = root.entry(name).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let all = entries(list);
    let own = all.iter().filter(|entry| ours.command_in(entry).is_some());
    if own.eq(values.iter().copied()) {
        return Ok(false);
    }
    take_out(list, ours);
    for value in values {
        let fields = value.as_object().ok_or("an entry must be a table")?;
        match list {
            Item::ArrayOfTables(tables) => {
                let mut table = Table::new();
                for (name, field) in fields {
                    table.insert(name, Item::Value(plain(field)?));
                }
                tables.push(table);
            }
            Item::Value(toml_edit::Value::Array(array)) => {
                let mut table = InlineTable::new();
                for (name, field) in fields {
                    table.insert(name, plain(field)?);
                }
                array.push(table);
            }
            _ => return Err(format!("`{name}` must be a list of tables")),
        }
    }
    Ok(true)
}

/// Takes the entries of ours out of a list; says whether there were any.
fn take_out(list: &mut Item, ours: &Ours) -> bool {
    let own: Vec<usize> = entries(list)
        .iter()
        .enumerate()
        .filter_map(|(index, entry)| ours.command_in(entry).map(|_| index))
        .collect();
    for index in own.iter().rev() {
        match list {
            Item::ArrayOfTables(tables) => _ = tables.remove(*index),
            Item::Value(toml_edit::Value::Array(array)) => _ = array.remove(*index),
            _ => {}
        }
    }
    !own.is_empty()
}

fn is_empty(list: &Item) -> bool {
    match list {
        Item::ArrayOfTables(tables) => tables.is_empty(),
        Item::Value(toml_edit::Value::Array(array)) => array.is_empty(),
        _ => false,
    }
}

/// The entries of a list as JSON.
fn entries(list: &Item) -> Vec<Value> {
    match item_value(list) {
        Value::Array(entries) => entries,
        _ => Vec::new(),
    }
}

/// Makes a value of a plain field.
fn plain(value: &Value) -> Result<toml_edit::Value, String> {
    match value {
        Value::String(text) => Ok(text.into()),
        Value::Bool(is_on) => Ok((*is_on).into()),
        Value::Number(number) => {
            number.as_i64().map(Into::into).ok_or_else(|| "a number is too large".to_owned())
        }
        _ => Err("a field of an entry must be plain".to_owned()),
    }
}

fn item_value(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => value_of(value),
        Item::Table(table) => table_value(table),
        Item::ArrayOfTables(tables) => Value::Array(tables.iter().map(|table| table_value(table)).collect()),
    }
}

fn table_value(table: &dyn TableLike) -> Value {
    Value::Object(table.iter().map(|(name, item)| (name.to_owned(), item_value(item))).collect())
}

fn value_of(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::String(text.value().clone()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => Value::from(*number.value()),
        toml_edit::Value::Boolean(is_on) => Value::Bool(*is_on.value()),
        toml_edit::Value::Datetime(time) => Value::String(time.value().to_string()),
        toml_edit::Value::Array(array) => array_value(array),
        toml_edit::Value::InlineTable(table) => table_value(table),
    }
}

fn array_value(array: &Array) -> Value {
    Value::Array(array.iter().map(value_of).collect())
}

#[cfg(test)]
mod tests {
    use portcullis_hosts::Host;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn piece(command: &str) -> RegistrationPiece {
        let value = json!({"event": "PreToolUse", "command": command, "timeout": 90});
        RegistrationPiece::Element { file: "config.toml", at: &["hooks"], value, is_first: false }
    }

    fn ours() -> Ours {
        Ours::new(Host::Kimi, Path::new("/opt/portcullis"))
    }

    #[test]
    fn an_entry_is_put_once_replaced_and_taken_out_again() {
        for original in [
            "",
            "# mine\ndefault_model = \"k\" # keep\n\n[providers.x]\ntype = \"openai\"\n",
            "[[hooks]]\nevent = \"Stop\"\ncommand = \"theirs\" # keep\n\n[models.k]\nprovider = \"x\"\n",
            "hooks = [{ event = \"Stop\", command = \"theirs\" }]\n",
            "[a]\r\nb = 1\r\n",
        ] {
            let old = piece("/old/portcullis hook kimi");
            let new = piece("'/my tools/portcullis' hook kimi || exit 2");
            let first = put(Some(original), &[&old], &ours()).unwrap();
            let second = put(Some(&first), &[&new], &ours()).unwrap();
            assert!(!second.contains("/old/"), "{second}");
            assert_eq!(put(Some(&second), &[&new], &ours()).unwrap(), second);
            let hooks = read(&second).unwrap()["hooks"].as_array().unwrap().clone();
            assert_eq!(hooks.iter().filter(|hook| hook["event"] == "PreToolUse").count(), 1, "{second}");
            assert_eq!(read(&strip(&second, &[&new], &ours(), Some(original)).unwrap()), read(original));
            for line in original.lines().filter(|line| line.contains('#')) {
                assert!(second.contains(line.trim()), "{second}");
            }
        }
    }

    #[test]
    fn entries_for_several_events_stand_in_one_list() {
        let of_event = |event: &str| {
            let value = json!({"event": event, "command": "portcullis hook kimi"});
            RegistrationPiece::Element { file: "config.toml", at: &["hooks"], value, is_first: false }
        };
        let (call, start) = (of_event("PreToolUse"), of_event("SessionStart"));
        let original = "[[hooks]]\nevent = \"Stop\"\ncommand = \"theirs\"\n";
        let first = put(Some(original), &[&call], &ours()).unwrap();
        let both = put(Some(&first), &[&call, &start], &ours()).unwrap();
        assert_eq!(read(&both).unwrap()["hooks"].as_array().unwrap().len(), 3, "{both}");
        assert_eq!(put(Some(&both), &[&call, &start], &ours()).unwrap(), both);
        assert_eq!(read(&strip(&both, &[&call, &start], &ours(), Some(original)).unwrap()), read(original));
    }

    #[test]
    fn what_is_no_list_of_tables_is_left_alone() {
        for text in ["hooks = 7\n", "[hooks]\na = 1\n", "a = \n"] {
            assert!(put(Some(text), &[&piece("portcullis hook kimi")], &ours()).is_err(), "{text}");
        }
        let theirs = "[[hooks]]\nevent = \"Stop\"\ncommand = \"theirs\"\n";
        assert_eq!(strip(theirs, &[&piece("x")], &ours(), None).unwrap(), theirs);
    }
}
