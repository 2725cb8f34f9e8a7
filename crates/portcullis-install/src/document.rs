//! A host's JSON settings with our pieces in it, or without them: text in, text out.
//!
//! Comments, spacing and everything of others stay as they are. A text that cannot be read, or in which a name that
//! leads to our place stands twice, is an error and never changed. The new text is read again before anybody uses it.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use portcullis_hosts::registration::RegistrationPiece;
use serde_json::Value;

use super::ours::Ours;

/// Comments and a comma too many are common in settings; nothing else is taken that is not JSON.
const PARSE_OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// An element of a list, or a field, that belongs into a document.
#[derive(Debug, Clone, Copy)]
struct Wanted<'a> {
    at: &'a [&'static str],
    value: &'a Value,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Element { is_first: bool },
    Field,
}

/// Reads settings as JSON; what is wrong is said in a clause.
pub fn read(text: &str) -> Result<Value, String> {
    let root = parse(text)?;
    root.to_serde_value().ok_or_else(|| "it has no value".to_owned())
}

/// Puts pieces into a text, in the place of earlier ones of ours; the same text if they are there already.
pub fn put(before: Option<&str>, pieces: &[&RegistrationPiece], ours: &Ours) -> Result<String, String> {
    let whole = before.unwrap_or_default();
    let (mark, text) = split_mark(whole);
    let is_new = text.trim().is_empty();
    let root = parse(if is_new { "{}\n" } else { text })?;
    let object = root.object_value().ok_or("it must be an object")?;
    if is_new {
        object.ensure_multiline();
    }
    let wanted: Vec<Wanted<'_>> = pieces.iter().filter_map(|piece| wanted(piece)).collect();
    let mut is_changed = remove_strays(&object, &wanted, ours);
    is_changed |= remove_former(&object, &wanted, ours);
    for piece in &wanted {
        is_changed |= put_one(&object, piece, ours)?;
    }
    if !is_changed {
        return Ok(whole.to_owned());
    }
    let after = root.to_string();
    let check = read(&after)?;
    if wanted.iter().all(|piece| is_in(&check, piece)) {
        return Ok(format!("{mark}{after}"));
    }
    Err("the change did not come out as meant".to_owned())
}

/// Takes everything of ours out of a text, and what was made for it: lists, objects and fields that `original`, the
/// text before us, did not have.
pub fn strip(
    text: &str,
    pieces: &[&RegistrationPiece],
    ours: &Ours,
    original: Option<&str>,
) -> Result<String, String> {
    let (mark, body) = split_mark(text);
    if body.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let root = parse(body)?;
    let object = root.object_value().ok_or("it must be an object")?;
    let wanted: Vec<Wanted<'_>> = pieces.iter().filter_map(|piece| wanted(piece)).collect();
    let original = original.and_then(|text| read(split_mark(text).1).ok()).unwrap_or_default();
    let mut is_changed = remove_former(&object, &wanted, ours);
    let elements: Vec<&Wanted<'_>> = wanted.iter().filter(|piece| piece.kind != Kind::Field).collect();
    for property in object.properties() {
        let name = property.decoded_name().unwrap_or_default();
        let is_place = elements.iter().any(|piece| piece.at.first().is_some_and(|first| *first == name));
        if let Some(value) = property.value().filter(|_| is_place) {
            is_changed |= take_out_below(&value, ours);
        }
    }
    if is_changed {
        for piece in elements {
            prune(&object, piece.at, &original);
        }
        remove_fields(&object, &wanted, &original);
    }
    if !is_changed {
        return Ok(text.to_owned());
    }
    let after = root.to_string();
    read(&after)?;
    Ok(format!("{mark}{after}"))
}

/// Follows names into a document.
pub fn follow<'a>(document: &'a Value, at: &[&str]) -> Option<&'a Value> {
    at.iter().try_fold(document, |value, name| value.get(name))
}

fn split_mark(text: &str) -> (&str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest))
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    CstRootNode::parse(text, &PARSE_OPTIONS).map_err(|error| error.to_string().to_lowercase())
}

fn wanted(piece: &RegistrationPiece) -> Option<Wanted<'_>> {
    match piece {
        RegistrationPiece::Element { at, value, is_first, .. } => {
            Some(Wanted { at, value, kind: Kind::Element { is_first: *is_first } })
        }
        RegistrationPiece::Field { at, value, .. } => Some(Wanted { at, value, kind: Kind::Field }),
        RegistrationPiece::File { .. } | RegistrationPiece::ProgramName { .. } => None,
    }
}

fn is_in(document: &Value, piece: &Wanted<'_>) -> bool {
    let found = follow(document, piece.at);
    match piece.kind {
        Kind::Field => found.is_some(),
        Kind::Element { .. } => {
            let list = found.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            list.iter().filter(|entry| *entry == piece.value).count() == 1
        }
    }
}

/// Puts one piece; says whether anything changed.
fn put_one(object: &CstObject, piece: &Wanted<'_>, ours: &Ours) -> Result<bool, String> {
    let Some((last, outer)) = piece.at.split_last() else { return Err("a piece has no place".to_owned()) };
    let mut parent = object.clone();
    for name in outer {
        check_once(&parent, name)?;
        parent = parent.object_value_or_create(name).ok_or_else(|| format!("`{name}` must be an object"))?;
    }
    check_once(&parent, last)?;
    let Kind::Element { is_first } = piece.kind else {
        let is_missing = parent.get(last).is_none();
        if is_missing {
            parent.append(last, input(piece.value));
        }
        return Ok(is_missing);
    };
    let elements = parent.array_value_or_create(last).ok_or_else(|| format!("`{last}` must be a list"))?;
    Ok(put_element(&elements, piece.value, is_first, ours))
}

fn put_element(list: &CstArray, value: &Value, is_first: bool, ours: &Ours) -> bool {
    let elements = list.elements();
    let is_own =
        |element: &CstNode| element.to_serde_value().is_some_and(|entry| ours.command_in(&entry).is_some());
    let own: Vec<(usize, CstNode)> =
        elements.into_iter().enumerate().filter(|(_, element)| is_own(element)).collect();
    if let [(index, element)] = own.as_slice()
        && (*index == 0 || !is_first)
    {
        let now = element.to_serde_value();
        if now.as_ref() == Some(value) {
            return false;
        }
        // In its old place, so that what refers to it by its number still does.
        if let (Some(object), true) = (element.as_object(), now.is_some_and(|now| is_only_ours(&now, ours))) {
            object.replace_with(input(value));
            return true;
        }
    }
    for (_, element) in own {
        take_out(element, ours);
    }
    if is_first {
        list.insert(0, input(value));
    } else {
        list.append(input(value));
    }
    true
}

/// Says whether an entry of ours has no command of anybody else in it.
fn is_only_ours(entry: &Value, ours: &Ours) -> bool {
    if ours.own_command(entry).is_some() {
        return true;
    }
    let lists = entry.as_object().into_iter().flat_map(|object| object.values()).filter_map(Value::as_array);
    lists.flatten().filter(|inner| inner.is_object()).all(|inner| ours.own_command(inner).is_some())
}

/// Takes what is ours out of an element: the whole of it, or its part if others stand in it too.
fn take_out(element: CstNode, ours: &Ours) {
    let Some(entry) = element.to_serde_value() else { return };
    if is_only_ours(&entry, ours) {
        let list = element.parent().and_then(|parent| parent.as_array());
        element.remove();
        if let Some(list) = list {
            tidy(&list);
        }
        return;
    }
    let properties = element.as_object().map(|object| object.properties()).unwrap_or_default();
    for inner in
        properties.iter().filter_map(CstObjectProp::array_value).flat_map(|list: CstArray| list.elements())
    {
        if inner.to_serde_value().is_some_and(|entry| ours.own_command(&entry).is_some()) {
            inner.remove();
        }
    }
}

/// A list that became empty is written as one.
fn tidy(list: &CstArray) {
    let is_bare = list.children().iter().all(|child| !child.is_comment());
    if list.elements().is_empty() && is_bare {
        for child in list.children().into_iter().filter(|child| child.is_whitespace() || child.is_newline()) {
            child.remove();
        }
    }
}

/// Takes what is ours out of every list below a value; says whether there was any.
fn take_out_below(node: &CstNode, ours: &Ours) -> bool {
    if let Some(list) = node.as_array() {
        let is_own = |element: &CstNode| {
            element.to_serde_value().is_some_and(|entry| ours.command_in(&entry).is_some())
        };
        let own: Vec<CstNode> = list.elements().into_iter().filter(is_own).collect();
        let has_own = !own.is_empty();
        for element in own {
            take_out(element, ours);
        }
        return has_own;
    }
    let properties = node.as_object().map(|object| object.properties()).unwrap_or_default();
    let mut has_own = false;
    for property in properties {
        has_own |= property.array_value().is_some_and(|list| take_out_below(&list.into(), ours));
    }
    has_own
}

/// Takes out what an earlier version put into lists that no piece names any longer.
fn remove_strays(object: &CstObject, wanted: &[Wanted<'_>], ours: &Ours) -> bool {
    let mut is_changed = false;
    let outer = wanted.iter().filter_map(|piece| match piece.at {
        [outer, _] if piece.kind != Kind::Field => Some(*outer),
        _ => None,
    });
    let mut seen: Vec<&str> = Vec::new();
    for name in outer {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let Some(lists) = object.object_value(name) else { continue };
        for property in lists.properties() {
            let list_name = property.decoded_name().unwrap_or_default();
            let is_named = wanted.iter().any(|piece| piece.at == [name, list_name.as_str()]);
            let Some(list) = property.array_value().filter(|_| !is_named) else { continue };
            if take_out_below(&list.clone().into(), ours) {
                is_changed = true;
                if list.elements().is_empty() {
                    property.remove();
                }
            }
        }
    }
    is_changed
}

/// Takes out what an earlier version put below `hooks` for a host that has its events at the top of the file.
fn remove_former(object: &CstObject, wanted: &[Wanted<'_>], ours: &Ours) -> bool {
    const FORMER_PLACE: &str = "hooks";
    if wanted.iter().any(|piece| piece.at.first() == Some(&FORMER_PLACE)) {
        return false;
    }
    let Some(place) = object.get(FORMER_PLACE) else { return false };
    let Some(events) = place.object_value() else { return false };
    let mut is_changed = false;
    for event in events.properties() {
        let Some(list) = event.array_value() else { continue };
        if take_out_below(&list.clone().into(), ours) {
            is_changed = true;
            if list.elements().is_empty() {
                event.remove();
            }
        }
    }
    if is_changed && events.properties().is_empty() {
        place.remove();
    }
    is_changed
}

/// Removes the containers on a way that are empty and were not there before us, the innermost first.
fn prune(object: &CstObject, at: &[&'static str], original: &Value) {
    for length in (1..=at.len()).rev() {
        let Some((name, outer)) = at.get(..length).and_then(<[_]>::split_last) else { continue };
        let parent = outer.iter().try_fold(object.clone(), |parent, name| parent.object_value(name));
        let Some(property) = parent.and_then(|parent| parent.get(name)) else { continue };
        let is_empty = property.array_value().is_some_and(|list| list.elements().is_empty())
            || property.object_value().is_some_and(|object| object.properties().is_empty());
        if is_empty && follow(original, at.get(..length).unwrap_or_default()).is_none() {
            property.remove();
        }
    }
}

/// Removes fields that were not there before us, if nothing else is left that could need them.
fn remove_fields(object: &CstObject, wanted: &[Wanted<'_>], original: &Value) {
    let is_field = |name: &str| {
        wanted
            .iter()
            .any(|piece| piece.kind == Kind::Field && piece.at == [name] && original.get(name).is_none())
    };
    let properties = object.properties();
    let names: Vec<String> =
        properties.iter().map(|property| property.decoded_name().unwrap_or_default()).collect();
    if names.iter().all(|name| is_field(name)) {
        properties.into_iter().for_each(CstObjectProp::remove);
    }
}

/// A name that stands twice means one thing to one reader and another to the next.
fn check_once(object: &CstObject, name: &str) -> Result<(), String> {
    let is_it = |found: &String| found == name;
    let count = object.properties().iter().filter_map(CstObjectProp::decoded_name).filter(is_it).count();
    if count > 1 { Err(format!("`{name}` stands in it more than once")) } else { Ok(()) }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}
