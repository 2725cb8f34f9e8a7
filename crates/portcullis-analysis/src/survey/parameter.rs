//! What `${x…}` becomes of a known value: cut at either end, replaced, in other cases, a default, an element, a length.
//!
//! What a pattern leaves of a text is worked out; of a shape only what cannot be told wrong: the last component, the
//! directory, a fixed ending.

use super::settled::is_name;
use super::values::first_of;
use super::variables::{KnownValue, KnownValues};
use crate::lists::programs::shells::TEMPORARY_DIRECTORIES;
use crate::shape::{Shape, ShapePiece, TextKind};
use crate::standard_input::{ColumnSeparator, LineCount};

/// A longer text is not cut.
const LONGEST_CUT: usize = 1_024;

/// Letters that make a pattern or default more than plain text.
const SPECIAL: &[char] = &['$', '`', '\\', '"', '\'', '{', '}', '[', '(', '~', '<', '>'];

/// Returns the words that an expansion stands for, `inside` being what stands between its braces.
pub(super) fn expand(inside: &str, values: &KnownValues) -> Option<Vec<KnownValue>> {
    let digits = || Some(vec![KnownValue::of(Shape::of(TextKind::Digits), LineCount::One)]);
    if let Some(name) = inside.strip_prefix('#') {
        let name = name.strip_suffix("[@]").or(name.strip_suffix("[*]")).unwrap_or(name);
        let is_counted = name.is_empty() || matches!(name, "@" | "*") || name.chars().all(is_name);
        return if is_counted { digits() } else { None };
    }
    let end = inside.find(|letter| !is_name(letter)).unwrap_or(inside.len());
    let (name, rest) = inside.split_at_checked(end)?;
    if let Some(after) = rest.strip_prefix('[') {
        let (subscript, after) = after.split_once(']')?;
        return if after.is_empty() { element(values.get(name)?, subscript) } else { None };
    }
    if let Some(default) = rest.strip_prefix(":-").or_else(|| rest.strip_prefix('-')) {
        return or_default(name, values.get(name), rest.starts_with(':'), default).map(|value| vec![value]);
    }
    let value = match values.get(name)? {
        KnownValue::Elements(all) => first_of(all)?,
        value => value,
    };
    changed(value, rest).map(|value| vec![value])
}

/// Returns one element of an array, or all.
fn element(value: &KnownValue, subscript: &str) -> Option<Vec<KnownValue>> {
    let KnownValue::Elements(all) = value else { return None };
    if subscript == "@" {
        return Some(all.clone());
    }
    let is_many = |one: &KnownValue| matches!(one, KnownValue::Shaped { count: LineCount::Many, .. });
    let at: usize = subscript.parse().ok().filter(|_| !all.iter().any(is_many))?;
    all.get(at).cloned().map(|one| vec![one])
}

fn or_default(
    name: &str,
    value: Option<&KnownValue>,
    counts_empty: bool,
    default: &str,
) -> Option<KnownValue> {
    match value {
        Some(KnownValue::Text { text, .. }) if text.is_empty() && counts_empty => plain(default),
        // What may be nothing is then the default.
        Some(KnownValue::Shaped { shape, count }) if *count != LineCount::One && counts_empty => {
            let count = if *count == LineCount::Many { LineCount::Many } else { LineCount::One };
            shape.admits(default).then(|| KnownValue::of(shape.clone(), count))
        }
        Some(value) => Some(value.clone()),
        // Whoever sets them means such a directory.
        None if TEMPORARY_DIRECTORIES.contains(&name) && matches!(default, "/tmp" | "/var/tmp") => {
            Some(KnownValue::text(default))
        }
        None => None,
    }
}

fn plain(text: &str) -> Option<KnownValue> {
    (!text.contains(SPECIAL) && !text.contains(['*', '?'])).then(|| KnownValue::text(text))
}

/// Applies what stands behind the name.
fn changed(value: &KnownValue, operation: &str) -> Option<KnownValue> {
    let pattern = operation.trim_start_matches(['#', '%', '/', ',', '^', ':']);
    if pattern.contains(SPECIAL) && operation != "##*/" {
        return None;
    }
    match value {
        KnownValue::Text { text, is_decoded } => {
            let text = if text.len() <= LONGEST_CUT { changed_text(text, operation)? } else { return None };
            Some(KnownValue::Text { text, is_decoded: *is_decoded })
        }
        KnownValue::Shaped { shape, count: LineCount::One } => {
            changed_shape(shape, operation).map(|shape| KnownValue::of(shape, LineCount::One))
        }
        // `${line%%:*}` leaves the first column.
        KnownValue::Columns(columns) => {
            let separator = operation.strip_prefix("%%")?.strip_suffix('*')?;
            let kind = columns.column(ColumnSeparator::Letter(separator.parse().ok()?), 1)?;
            (columns.count == LineCount::One && !columns.may_be_blank)
                .then(|| KnownValue::of(Shape::of(kind), LineCount::One))
        }
        KnownValue::Shaped { .. } | KnownValue::Elements(_) => None,
    }
}

fn changed_text(text: &str, operation: &str) -> Option<String> {
    let cuts = || (0..=text.len()).filter(|at| text.is_char_boundary(*at));
    let before = |at: usize| text.get(..at).unwrap_or_default();
    let after = |at: usize| text.get(at..).unwrap_or_default();
    if let Some(pattern) = operation.strip_prefix("##") {
        return Some(after(cuts().rev().find(|at| matches(pattern, before(*at))).unwrap_or(0)).to_owned());
    }
    if let Some(pattern) = operation.strip_prefix('#') {
        return Some(after(cuts().find(|at| matches(pattern, before(*at))).unwrap_or(0)).to_owned());
    }
    if let Some(pattern) = operation.strip_prefix("%%") {
        return Some(before(cuts().find(|at| matches(pattern, after(*at))).unwrap_or(text.len())).to_owned());
    }
    if let Some(pattern) = operation.strip_prefix('%') {
        let at = cuts().rev().find(|at| matches(pattern, after(*at)));
        return Some(before(at.unwrap_or(text.len())).to_owned());
    }
    if let Some(range) = operation.strip_prefix(':') {
        return piece_of(text, range);
    }
    match operation {
        "^^" => return text.is_ascii().then(|| text.to_ascii_uppercase()),
        ",," => return text.is_ascii().then(|| text.to_ascii_lowercase()),
        _ => {}
    }
    let is_all = operation.starts_with("//");
    let replaced = operation.strip_prefix("//").or_else(|| operation.strip_prefix('/'))?;
    let (wanted, with) = replaced.split_once('/').unwrap_or((replaced, ""));
    if wanted.is_empty() || wanted.starts_with(['#', '%']) || replaced.contains(['*', '?', '&']) {
        return None;
    }
    Some(if is_all { text.replace(wanted, with) } else { text.replacen(wanted, with, 1) })
}

/// Returns what `${x:offset:length}` leaves of a text of plain letters.
fn piece_of(text: &str, range: &str) -> Option<String> {
    let (offset, length) = range.split_once(':').map_or((range, None), |(at, length)| (at, Some(length)));
    let offset: usize = offset.parse().ok()?;
    let rest = text.get(offset.min(text.len())..).filter(|_| text.is_ascii())?;
    let end = length.map_or(Ok(rest.len()), str::parse).ok()?;
    rest.get(..end.min(rest.len())).map(str::to_owned)
}

/// Says whether a whole text fits a pattern of letters, `*` and `?`.
fn matches(pattern: &str, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let mut ends: Vec<bool> = std::iter::once(true).chain(text.iter().map(|_| false)).collect();
    for wanted in pattern.chars() {
        if wanted == '*' {
            let first = ends.iter().position(|end| *end).unwrap_or(usize::MAX);
            ends.iter_mut().enumerate().for_each(|(at, end)| *end = at >= first);
        } else {
            let step = |(end, found): (&bool, &char)| *end && (wanted == '?' || wanted == *found);
            ends = std::iter::once(false).chain(ends.iter().zip(&text).map(step)).collect();
        }
    }
    ends.last().is_some_and(|end| *end)
}

fn changed_shape(shape: &Shape, operation: &str) -> Option<Shape> {
    match operation {
        "##*/" => return shape.after_last_slash(),
        "%/*" => return shape.without_last(),
        _ => {}
    }
    if let Some(start) = operation.strip_prefix('#').filter(|start| !start.contains(['*', '?', '#'])) {
        return without_start(shape, start);
    }
    let end = operation.strip_prefix("%%").or_else(|| operation.strip_prefix('%'))?;
    let end = end.strip_prefix('*').unwrap_or(end);
    let is_fixed = !end.contains(['*', '?', '/']) && operation.strip_prefix('%') == Some(end);
    if is_fixed { without_end(shape, end) } else { None }
}

/// Takes a fixed beginning away, if it is there.
fn without_start(shape: &Shape, start: &str) -> Option<Shape> {
    let Some(ShapePiece::Text(first)) = shape.pieces().first() else { return None };
    match first.strip_prefix(start) {
        Some(rest) => shape.with_first(rest),
        // It may only be longer than the text that is known.
        None => (!start.starts_with(first.as_str())).then(|| shape.clone()),
    }
}

/// Takes a fixed ending away, if it is there.
pub(super) fn without_end(shape: &Shape, end: &str) -> Option<Shape> {
    let (last, before) = shape.pieces().split_last()?;
    match last {
        ShapePiece::Text(text) => match text.strip_suffix(end) {
            Some(rest) => shape.with_last(&[ShapePiece::Text(rest.to_owned())]),
            None => (!end.ends_with(text.as_str())).then(|| shape.clone()),
        },
        // A name that a pattern of the shell finds does not begin with a dot, so that something is left of it.
        ShapePiece::Of(TextKind::Name(pattern)) if pattern.len() > end.len() && pattern.ends_with(end) => {
            let rest = pattern.strip_suffix(end)?.to_owned();
            shape.with_last(&[ShapePiece::Of(TextKind::Name(rest))])
        }
        ShapePiece::Of(TextKind::Name(_)) => shape.with_last(&[ShapePiece::Of(TextKind::Wild)]),
        ShapePiece::Of(TextKind::Below(_)) => {
            // The place where a search starts may be what was found, and have that ending itself.
            let is_start_kept = matches!(before, [.., ShapePiece::Text(start)]
                if !start.ends_with(end) && !end.ends_with(start.as_str()));
            is_start_kept
                .then(|| shape.with_last(&[ShapePiece::Of(TextKind::Below("*".to_owned()))]))
                .flatten()
        }
        ShapePiece::Of(TextKind::Inside(pattern)) if before.is_empty() => {
            let rest = pattern.strip_suffix(end).filter(|rest| !rest.is_empty())?;
            shape.with_last(&[ShapePiece::Of(TextKind::Inside(rest.to_owned()))])
        }
        ShapePiece::Of(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_as_bash_cuts_them() {
        for (text, operation, expected) in [
            ("src/a.test.ts", "%.ts", "src/a.test"),
            ("src/a.test.ts", "%%.*", "src/a"),
            ("src/a.test.ts", "##*/", "a.test.ts"),
            ("src/a.test.ts", "#*.", "test.ts"),
            ("src/a.test.ts", "##*.", "ts"),
            ("src/a.test.ts", "%/*", "src"),
            ("src/a.test.ts", "/a/b", "src/b.test.ts"),
            ("aXaX", "//a/", "XX"),
            ("aB", "^^", "AB"),
            ("aB", ",,", "ab"),
            ("abcd", ":0:2", "ab"),
            ("abcd", ":2", "cd"),
            ("ab", ":3:1", ""),
        ] {
            assert_eq!(changed_text(text, operation).as_deref(), Some(expected), "{text} {operation}");
        }
    }
}
