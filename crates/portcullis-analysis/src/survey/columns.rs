//! Lines in columns: what `git cherry`, `grep -n` or `nl` write, and what `cut`, `awk` and `read` take out of it.
//!
//! The table is in `outputs` in `data/lists/programs.toml`. Only single columns are followed, never the line as a whole: what stands
//! behind the listed columns may be anything.

use super::variables::KnownValue;
use crate::argument::Argument;
use crate::lists::programs::outputs::{COLUMN_OPTIONS, COLUMNS};
use crate::shape::{Shape, TextKind};
use crate::standard_input::{ColumnSeparator, LineColumns, LineCount, StandardInput};

/// Letters of `grep` behind one dash that leave the number of the line at its beginning.
const PLAIN_SEARCH: &str = "nEFGPiwxaosvUyI";

/// Returns the columns that a command of the table writes.
pub(super) fn written(name: &str, operands: &[Argument]) -> Option<StandardInput> {
    let is_listed = |row: &str| {
        let mut words = row.split('/');
        words.next() == Some(name)
            && words.all(|wanted| operands.iter().any(|word| word.fixed() == Some(wanted)))
    };
    let (_, format) = COLUMNS.iter().find(|(row, _)| is_listed(row))?;
    let (_, plain) = COLUMN_OPTIONS.iter().find(|(program, _)| *program == name)?;
    if operands.iter().any(|word| may_change_columns(word, plain)) {
        return None;
    }
    let (separator, rest) = format.split_first()?;
    let separator =
        if *separator == "space" { ColumnSeparator::Letter(' ') } else { ColumnSeparator::Blanks };
    let mut kinds = Vec::new();
    for (number, kind) in rest.iter().filter_map(|column| column.split_once(':')) {
        kinds.resize(number.parse::<usize>().ok()?.checked_sub(1)?, None);
        kinds.push(kind_of(kind));
    }
    Some(StandardInput::Columns(LineColumns {
        separator,
        kinds,
        count: LineCount::Many,
        may_be_blank: false,
    }))
}

/// Says whether a word may be an option that is not known to leave the columns as they are.
fn may_change_columns(word: &Argument, plain: &[&str]) -> bool {
    let Some(text) = word.fixed() else { return may_be_option(word) };
    let name = text.split('=').next().unwrap_or_default();
    let is_listed = |option: &str| plain.contains(&option);
    let is_cluster = || {
        let letters = text.strip_prefix('-').unwrap_or_default();
        letters.chars().all(|letter| letter.is_ascii_digit() || is_listed(&format!("-{letter}")))
    };
    word.is_option() && text != "--" && !is_listed(name) && !is_listed(text) && !is_cluster()
}

fn kind_of(name: &str) -> Option<TextKind> {
    match name {
        "digits" => Some(TextKind::Digits),
        "word" => Some(TextKind::Word),
        "revision" => Some(TextKind::Revision),
        "inside" => Some(TextKind::Inside("*".to_owned())),
        _ => None,
    }
}

/// Returns what `grep -n` writes where it searches one file or its input, so that no name stands before the number.
pub(super) fn numbered(operands: &[Argument]) -> Option<StandardInput> {
    let (mut has_number, mut has_pattern, mut others) = (false, false, 0_usize);
    let mut words = operands.iter();
    while let Some(word) = words.next() {
        match word.fixed() {
            Some("-e" | "--regexp") => has_pattern = words.next().is_some(),
            Some("-m" | "--max-count") => _ = words.next()?.fixed()?,
            Some("--line-number") => has_number = true,
            Some("--") => {}
            Some(text) if text.starts_with("--") => return None,
            Some(text) if word.is_option() => {
                let letters = text.trim_start_matches('-');
                if !letters.chars().all(|letter| PLAIN_SEARCH.contains(letter)) {
                    return None;
                }
                has_number |= letters.contains('n');
            }
            Some(_) => others += 1,
            None if word.is_one_word() && !may_be_option(word) => others += 1,
            None => return None,
        }
    }
    let files = if has_pattern { others } else { others.checked_sub(1)? };
    let columns = LineColumns {
        separator: ColumnSeparator::Letter(':'),
        kinds: vec![Some(TextKind::Digits)],
        count: LineCount::Many,
        may_be_blank: false,
    };
    (has_number && files < 2).then_some(StandardInput::Columns(columns))
}

fn may_be_option(word: &Argument) -> bool {
    word.as_shape().is_none_or(|shape| shape.may_be_option())
}

/// Returns what is taken out of lines in columns: the lines of one column.
pub(super) fn taken(name: &str, operands: &[Argument], stdin: &StandardInput) -> Option<StandardInput> {
    if let (true, Some(count)) = (is_awk(name), counted(operands)) {
        return Some(lines(TextKind::Digits, count));
    }
    let StandardInput::Columns(columns) = stdin else { return None };
    let (separator, number) = match name {
        "cut" => cut_at(operands)?,
        "sed" => (ColumnSeparator::Letter(first_column(operands)?), 1),
        name if is_awk(name) => printed_column(operands)?,
        _ => return None,
    };
    let kind = columns.column(separator, number)?;
    let may_be_none = columns.count != LineCount::Many && name != "cut" && name != "sed";
    let count = if may_be_none { LineCount::AtMostOne } else { columns.count };
    let blank = columns.may_be_blank.then(|| Shape::text(""));
    let shapes = std::iter::once(Shape::of(kind)).chain(blank).collect();
    Some(StandardInput::Lines { shapes, count })
}

fn lines(kind: TextKind, count: LineCount) -> StandardInput {
    StandardInput::Lines { shapes: vec![Shape::of(kind)], count }
}

fn is_awk(name: &str) -> bool {
    matches!(name, "awk" | "gawk" | "mawk" | "nawk")
}

/// Returns separator and number of the one column that `cut` leaves.
fn cut_at(operands: &[Argument]) -> Option<(ColumnSeparator, usize)> {
    let (mut separator, mut number) = ('\t', None);
    let mut words = operands.iter();
    while let Some(word) = words.next() {
        let text = word.fixed()?;
        let mut value = |short: &str, long: &str| match text.strip_prefix(long) {
            Some(value) => Some(value),
            None if text == short => words.next()?.fixed(),
            None => text.strip_prefix(short),
        };
        if let Some(value) = value("-d", "--delimiter=") {
            separator = value.parse().ok()?;
        } else if let Some(value) = value("-f", "--fields=") {
            number = Some(value.parse().ok()?);
        } else {
            return None;
        }
    }
    Some((ColumnSeparator::Letter(separator), number?))
}

/// Returns the letter from which on `sed 's/:.*//'` removes.
fn first_column(operands: &[Argument]) -> Option<char> {
    let [script] = operands else { return None };
    let removed = script.fixed()?.strip_prefix("s/")?.strip_suffix("//")?;
    removed
        .strip_suffix('$')
        .unwrap_or(removed)
        .strip_suffix(".*")?
        .parse()
        .ok()
        .filter(|letter| *letter == ':')
}

/// Returns separator and number of the one column that an awk program prints.
fn printed_column(operands: &[Argument]) -> Option<(ColumnSeparator, usize)> {
    let (separator, program) = match operands {
        [program] => (ColumnSeparator::Blanks, program),
        [option, program] => (letter_of(option.fixed()?.strip_prefix("-F")?)?, program),
        [option, value, program] if option.fixed() == Some("-F") => (letter_of(value.fixed()?)?, program),
        _ => return None,
    };
    let (_, action) = plain_action(program.fixed()?)?;
    let number = action.strip_prefix("print")?.trim_start().strip_prefix('$')?.parse().ok()?;
    Some((separator, number))
}

fn letter_of(text: &str) -> Option<ColumnSeparator> {
    // Other letters may be patterns.
    matches!(text, ":" | "," | ";").then(|| text.parse().ok().map(ColumnSeparator::Letter))?
}

/// Returns how many numbers an awk program prints that counts lines; it may be given files.
fn counted(operands: &[Argument]) -> Option<LineCount> {
    let program = operands.first()?.fixed()?;
    let (pattern, action) = plain_action(program)?;
    let counts = action.strip_prefix("print")?.trim() == "NR";
    counts.then_some(if pattern == "END" { LineCount::One } else { LineCount::Many })
}

/// Splits a program of one pattern and one action.
fn plain_action(program: &str) -> Option<(&str, &str)> {
    let (pattern, action) = program.trim().strip_suffix('}')?.split_once('{')?;
    let action = action.trim().trim_end_matches(';');
    let action = action.strip_suffix("exit").map_or(action, |rest| rest.trim_end().trim_end_matches(';'));
    let is_plain =
        !action.contains(['{', '}', ';', ',', '"', '(', '\n']) && !pattern.contains(['=', '{', '}']);
    let is_comparison = pattern.trim().starts_with("NR==");
    (is_plain || is_comparison && !action.contains(['{', '}', ';', ',', '"', '(']))
        .then_some((pattern.trim(), action))
}

/// Returns what `read` gives each of its variables.
pub(super) fn read_into(
    columns: &LineColumns,
    separator: Option<ColumnSeparator>,
    names: usize,
) -> Vec<Option<Vec<KnownValue>>> {
    if names == 1 {
        let line = LineColumns { count: LineCount::One, ..columns.clone() };
        return vec![Some(vec![KnownValue::Columns(line)])];
    }
    let column = |number: usize| {
        let kind = columns.column(separator?, number)?;
        let value = KnownValue::of(Shape::of(kind), LineCount::One);
        let blank = columns.may_be_blank.then(|| KnownValue::text(""));
        // The last variable gets the rest of the line.
        (number < names).then(|| std::iter::once(value).chain(blank).collect())
    };
    (1..=names).map(column).collect()
}
