//! Lines in columns: what `git cherry`, `grep -n` or `nl` write, and what `cut`, `awk` and `read` take out of it.
//!
//! The table is in `outputs` in `data/lists/programs.toml`. Only single columns are followed, never the line as a whole: what stands
//! behind the listed columns may be anything.

use super::listing::{fits, has_plain, is_plain};
use super::variables::KnownValue;
use crate::argument::Argument;
use crate::lists::programs::outputs::COLUMNS;
use crate::profile::{Spelled, spelled_out};
use crate::shape::{Shape, ShapePiece, TextKind};
use crate::standard_input::{ColumnSeparator, LineColumns, LineCount, StandardInput};

/// Letters of `grep` behind one dash that leave the number of the line at its beginning.
const PLAIN_SEARCH: &str = "nEFGPiwxaosvUyI";

/// Returns the columns that a command of the table writes.
pub(super) fn written(name: &str, operands: &[Argument]) -> Option<StandardInput> {
    if let Some(queried) = queried(name, operands) {
        return Some(queried);
    }
    let rows = || COLUMNS.iter().filter(|(row, _)| row.split('/').next() == Some(name));
    rows().next()?;
    let spelled = spelled_out(name, operands)?;
    if let Some(formatted) = formatted(&spelled).filter(|_| name == "git") {
        return Some(formatted);
    }
    let (_, format) = rows().find(|(row, _)| fits(row, name, &spelled) && is_plain(row, &spelled))?;
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
        is_whole: false,
    }))
}

/// Returns what `git log` writes in a format that begins with a commit.
fn formatted(spelled: &Spelled<'_>) -> Option<StandardInput> {
    let is_format = |option: &str| matches!(option, "--format" | "--pretty");
    let mut formats = spelled.options.iter().filter(|(option, _)| is_format(option));
    let (Some((_, Some(format))), None) = (formats.next(), formats.next()) else { return None };
    let mut options = spelled.options.iter();
    if spelled.subcommands != ["log"]
        || !options.all(|(option, _)| is_format(option) || has_plain("git/log", option))
    {
        return None;
    }
    // A date may be written over several lines.
    let is_one_line_date = |value: &Argument| value.fixed().is_some_and(|date| !date.contains('%'));
    let mut dates = spelled.options.iter().filter(|(option, _)| option == "--date");
    if !dates.all(|(_, value)| value.as_ref().is_some_and(is_one_line_date)) {
        return None;
    }
    let format = format.fixed()?;
    let format = format.strip_prefix("tformat:").or_else(|| format.strip_prefix("format:")).unwrap_or(format);
    let behind = format.strip_prefix("%h").or_else(|| format.strip_prefix("%H"))?;
    let letter = behind.chars().next().filter(|letter| " ,:;|".contains(*letter) && is_one_line(behind))?;
    Some(StandardInput::Columns(LineColumns {
        separator: ColumnSeparator::Letter(letter),
        kinds: vec![Some(TextKind::Revision)],
        count: LineCount::Many,
        may_be_blank: false,
        is_whole: false,
    }))
}

/// Says whether a format has nothing in it that may go over several lines, such as `%b`.
fn is_one_line(format: &str) -> bool {
    let mut pieces = format.split('%');
    let has_line_end = pieces.next().is_some_and(|piece| piece.contains('\n'));
    !has_line_end
        && pieces.all(|piece| ONE_LINE.iter().any(|name| piece.starts_with(name)) && !piece.contains('\n'))
}

/// What git writes of a commit on one line.
const ONE_LINE: [&str; 15] =
    ["H", "h", "s", "f", "an", "ae", "ad", "ar", "as", "at", "cd", "cr", "cs", "ct", "d"];

/// Returns what `uniq -c` makes of lines: how often each stands there, and the line.
fn counted_lines(operands: &[Argument], stdin: &StandardInput) -> Option<StandardInput> {
    let [option] = operands else { return None };
    if !matches!(option.fixed(), Some("-c" | "--count")) {
        return None;
    }
    let (kinds, is_whole) = match stdin {
        StandardInput::Lines { shapes, .. } => match shapes.as_slice() {
            [only] => (vec![kind_in(only)], kind_in(only).is_some_and(|kind| !may_hold_blanks(&kind))),
            _ => (Vec::new(), false),
        },
        StandardInput::Columns(columns) if columns.separator != ColumnSeparator::Letter(':') => {
            (columns.kinds.clone(), columns.is_whole)
        }
        _ => (Vec::new(), false),
    };
    Some(StandardInput::Columns(LineColumns {
        separator: ColumnSeparator::Blanks,
        kinds: std::iter::once(Some(TextKind::Digits)).chain(kinds).collect(),
        count: LineCount::Many,
        may_be_blank: false,
        is_whole,
    }))
}

/// Returns the kind that a shape is nothing but.
fn kind_in(shape: &Shape) -> Option<TextKind> {
    match shape.pieces() {
        [ShapePiece::Of(kind)] => Some(kind.clone()),
        _ => None,
    }
}

fn may_hold_blanks(kind: &TextKind) -> bool {
    !matches!(kind, TextKind::Digits | TextKind::Number | TextKind::Word | TextKind::Revision)
}

/// Returns how many lines `grep -c` finds in one file or its input.
pub(super) fn found_count(operands: &[Argument]) -> Option<StandardInput> {
    const PLAIN: &str = "cEFGPiwxvsy";
    let is_plain = |word: &&Argument| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        word.fixed().is_some() && letters.chars().all(|letter| PLAIN.contains(letter))
    };
    let (options, others): (Vec<&Argument>, Vec<&Argument>) =
        operands.iter().partition(|word| word.is_option());
    let is_counting = options.iter().any(|word| word.text.contains('c')) && options.iter().all(is_plain);
    let is_one = |word: &&Argument| word.fixed().is_some() || word.is_one_word() && !may_be_option(word);
    (is_counting && (1..=2).contains(&others.len()) && others.iter().all(is_one))
        .then(|| lines(TextKind::Digits, LineCount::AtMostOne))
}

/// Returns what a query of JSON writes that is a number whatever the data says: a length, or a field of `gh` that is one.
fn queried(name: &str, operands: &[Argument]) -> Option<StandardInput> {
    let words: Vec<&str> = operands.iter().map(Argument::fixed).collect::<Option<_>>()?;
    let value_of = |names: &[&str]| {
        let at = words.iter().position(|word| names.contains(word))?;
        words.get(at + 1).copied()
    };
    match name {
        "jq" | "gojq" | "jaq" => {
            let mut filters = words.iter().filter(|word| !matches!(**word, "-r" | "-e" | "-c" | "-M"));
            let filter = filters.next().filter(|filter| !filter.starts_with('-'))?;
            let path = filter.strip_suffix("length")?.trim_end();
            let path = path.strip_suffix('|').or_else(|| path.is_empty().then_some(path))?;
            let is_path =
                path.chars().all(|letter| letter.is_ascii_alphanumeric() || " ._[]".contains(letter));
            (is_path && !filters.any(|word| word.starts_with('-')))
                .then(|| lines(TextKind::Word, LineCount::Many))
        }
        "gh" => {
            let field = value_of(&["--json"]).filter(|field| matches!(*field, "number" | "databaseId"))?;
            let path = value_of(&["--jq", "-q"])?.strip_suffix(field)?;
            let count = if path.contains("[]") { LineCount::Many } else { LineCount::AtMostOne };
            matches!(path, "." | ".[0]." | ".[].").then(|| lines(TextKind::Digits, count))
        }
        "kubectl" | "oc" => {
            let query = value_of(&["-o", "--output"])
                .or_else(|| words.iter().find_map(|word| word.strip_prefix("-o")))?;
            let path = query.trim_start_matches('=').strip_prefix("jsonpath={")?.strip_suffix('}')?;
            let is_name =
                matches!(path, ".metadata.name" | ".items[0].metadata.name" | ".items[*].metadata.name");
            let count = if path.contains('*') { LineCount::Many } else { LineCount::AtMostOne };
            (is_name && words.first() == Some(&"get")).then(|| lines(TextKind::Word, count))
        }
        _ => None,
    }
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
        is_whole: false,
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
    if name == "uniq" {
        return counted_lines(operands, stdin);
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
    // Of a file that is not there nothing is written.
    let at_end = if operands.len() > 1 { LineCount::AtMostOne } else { LineCount::One };
    counts.then_some(if pattern == "END" { at_end } else { LineCount::Many })
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
    let is_last = |number: usize| number == names && !(columns.is_whole && number == columns.kinds.len());
    let column = |number: usize| {
        let kind = columns.column(separator?, number)?;
        let value = KnownValue::of(Shape::of(kind), LineCount::One);
        let blank = columns.may_be_blank.then(|| KnownValue::text(""));
        // The last variable gets the rest of the line.
        (!is_last(number)).then(|| std::iter::once(value).chain(blank).collect())
    };
    (1..=names).map(column).collect()
}
