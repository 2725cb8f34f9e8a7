//! What programs write line by line, where every line is of a known shape: lists of files, numbers, commits, temporary files.
//!
//! The table is `outputs` in `data/lists/programs.toml`. A closed world: an option that it does not list makes a program write
//! something else. Programs whose lines depend on their operands (`ls`, `mktemp`, `basename`) are read here, searches in
//! `find_names`. Names with blanks in them count as one word each.

use super::columns;
use super::find_names::{found_by_fd, found_by_find, found_by_search};
use crate::argument::Argument;
use crate::lists::programs::outputs::{PASSING, PLAIN, PRINTED};
use crate::profile::{Spelled, spelled_out};
use crate::shape::{Shape, TextKind};
use crate::standard_input::{LineColumns, LineCount, StandardInput};

/// A list of more different shapes than this is not followed.
pub(super) const MOST_SHAPES: usize = 8;

/// A pattern that names everything.
pub(super) const EVERYTHING: &str = "*";

/// Returns the lines that a command writes.
pub(super) fn lines_of(
    name: &str,
    operands: &[Argument],
    stdin: &StandardInput,
    place: Option<&str>,
    home: Option<&str>,
) -> Option<StandardInput> {
    let one = |shape: Shape| Some(StandardInput::Lines { shapes: vec![shape], count: LineCount::One });
    match name {
        "find" | "gfind" | "bfs" => many(found_by_find(operands, home)?),
        "fd" | "fdfind" => many(found_by_fd(operands)?),
        "rg" => many(found_by_search(name, operands)?),
        "ls" => many(names_listed(operands)?),
        "mktemp" => one(made(operands)?),
        "basename" => one(base_of(operands)?),
        "dirname" => match operands {
            [only] => one(only.as_shape().filter(|shape| !shape.may_be_negative())?.directory()?),
            _ => None,
        },
        "wc" if operands.iter().all(|word| matches!(word.fixed(), Some("-l" | "-c" | "-w" | "-m"))) => {
            // A file that is not there leaves nothing to count, and nothing is written.
            let count = match stdin {
                StandardInput::Nothing | StandardInput::Unknown => LineCount::AtMostOne,
                _ => LineCount::One,
            };
            let shapes = vec![Shape::of(TextKind::Digits)];
            (operands.len() == 1).then_some(StandardInput::Lines { shapes, count })
        }
        "git" if is_branch(operands) => one(Shape::of(TextKind::Branch)),
        "git"
            if has(operands, &["rev-parse"])
                && has(operands, &["--show-toplevel"])
                && operands.len() == 2 =>
        {
            // The repository around the directory is taken for the project.
            one(Shape::text(place?))
        }
        "git" if is_plain_revision(operands) => one(Shape::of(TextKind::Revision)),
        "grep" | "egrep" | "fgrep" => match found_by_search(name, operands) {
            Some(found) => many(found),
            None if numbers(operands) => columns::numbered(operands),
            None => columns::found_count(operands).or_else(|| passed(name, operands, stdin)),
        },
        _ => printed(name, operands)
            .or_else(|| columns::written(name, operands))
            .or_else(|| columns::taken(name, operands, stdin))
            .or_else(|| passed(name, operands, stdin)),
    }
}

fn many(shapes: Vec<Shape>) -> Option<StandardInput> {
    let is_short = !shapes.is_empty() && shapes.len() <= MOST_SHAPES;
    is_short.then_some(StandardInput::Lines { shapes, count: LineCount::Many })
}

fn has(operands: &[Argument], words: &[&str]) -> bool {
    operands.iter().any(|word| words.contains(&word.text.as_str()))
}

/// Says whether `grep` is asked for the numbers of lines.
fn numbers(operands: &[Argument]) -> bool {
    let in_cluster =
        |word: &Argument| word.is_option() && !word.text.starts_with("--") && word.text.contains('n');
    has(operands, &["--line-number"]) || operands.iter().any(in_cluster)
}

/// Says whether a row of a table, `git/log/--format=%H`, is what a command spells: its subcommands and operands stand in
/// front, its options somewhere.
pub(super) fn fits(row: &str, name: &str, spelled: &Spelled<'_>) -> bool {
    let Some(rest) = row.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/')) else {
        return false;
    };
    let (options, words): (Vec<&str>, Vec<&str>) =
        rest.split('/').skip(1).partition(|part| part.starts_with('-'));
    let subcommands = spelled.subcommands.iter().flat_map(|path| path.split(' ')).map(Some);
    let mut given = subcommands.chain(spelled.operands.iter().map(|word| word.fixed()));
    words.iter().all(|word| given.next() == Some(Some(word)))
        && options.iter().all(|wanted| spelled.options.iter().any(|option| is_option(wanted, option)))
}

/// Says whether an option is the one that a row names, with the value that it names.
fn is_option(wanted: &str, (name, value): &(String, Option<Argument>)) -> bool {
    match (wanted.split_once('='), value) {
        (None, None) => wanted == name,
        (Some((wanted, text)), Some(value)) => wanted == name && value.fixed() == Some(text),
        _ => false,
    }
}

/// Says whether a command that fits a row has no option with which its lines may be others than the row says.
pub(super) fn is_plain(row: &str, spelled: &Spelled<'_>) -> bool {
    let key = row.split("/-").next().unwrap_or(row);
    let key = key.split("/+").next().unwrap_or(key);
    let is_listed = |option: &(String, Option<Argument>)| has_plain(key, &option.0);
    let own: Vec<&str> = row.split('/').filter(|part| part.starts_with('-')).collect();
    spelled
        .options
        .iter()
        .all(|option| is_listed(option) || own.iter().any(|wanted| is_option(wanted, option)))
}

/// Says whether the table lists an option of a program, or of a subcommand, as one that leaves its lines as they are.
pub(super) fn has_plain(key: &str, option: &str) -> bool {
    PLAIN.iter().any(|(listed, plain)| *listed == key && plain.contains(&option))
}

/// Looks a command up in the table.
pub(crate) fn printed(name: &str, operands: &[Argument]) -> Option<StandardInput> {
    if name == "date" && is_plain_date(operands) {
        return Some(StandardInput::Lines { shapes: vec![Shape::of(TextKind::Word)], count: LineCount::One });
    }
    let rows = || PRINTED.iter().filter(|(row, _)| row.split('/').next() == Some(name));
    rows().next()?;
    let spelled = spelled_out(name, operands)?;
    let (_, kind) = rows().find(|(row, _)| fits(row, name, &spelled) && is_plain(row, &spelled))?;
    let (kind, is_many) = match *kind {
        "digits" => (TextKind::Digits, matches!(name, "seq" | "pgrep" | "jobs" | "lsof")),
        "word" => (TextKind::Word, matches!(name, "docker" | "podman")),
        "revision" => {
            let lists = ["log", "rev-list", "branch", "for-each-ref", "tag"];
            let is_one = has(operands, &["-1", "--show-current"]);
            (TextKind::Revision, !is_one && has(operands, &lists))
        }
        _ => return many(paths_listed(&spelled, operands)?),
    };
    let count = if is_many { LineCount::Many } else { LineCount::One };
    Some(StandardInput::Lines { shapes: vec![Shape::of(kind)], count })
}

/// Returns the paths that git lists: those it is told, or any below the directory or the root of the repository.
fn paths_listed(spelled: &Spelled<'_>, operands: &[Argument]) -> Option<Vec<Shape>> {
    // A colon begins a path from the root of the repository, which is written from here: `../x`.
    let climbs =
        |word: &&Argument| word.text.starts_with(['/', ':']) || word.text.split('/').any(|part| part == "..");
    // What `git show` is given may be a file or a tag, of which it writes what stands in them.
    let is_commit = |word: &&Argument| {
        word.fixed().is_some_and(|name| {
            let rest = name.strip_prefix("HEAD").or_else(|| name.strip_prefix('@'));
            rest.is_some_and(|rest| {
                rest.chars().all(|letter| letter.is_ascii_digit() || "~^".contains(letter))
            })
        })
    };
    let shows = spelled.subcommands.first() == Some(&"show");
    if spelled.operands.iter().any(climbs) || shows && !spelled.operands.iter().all(is_commit) {
        return None;
    }
    let told = match operands.iter().position(|word| word.text == "--") {
        Some(at) => operands.get(at + 1..)?.iter().collect(),
        None if spelled.subcommands.first() == Some(&"ls-files") => spelled.operands.clone(),
        // Without the two dashes a word may also be a commit.
        None => Vec::new(),
    };
    let shapes: Option<Vec<Shape>> = told.iter().map(|word| below_pathspec(word.fixed()?)).collect();
    let anything = || vec![Shape::of(TextKind::Inside(EVERYTHING.to_owned()))];
    Some(shapes.filter(|shapes| !shapes.is_empty()).unwrap_or_else(anything))
}

/// Returns what a path of git's own kind names: its wildcards stand for slashes too.
fn below_pathspec(path: &str) -> Option<Shape> {
    let is_odd = path.starts_with([':', '/', '-', '~']) || path.contains(['[', '?', '\\', '{']);
    let climbs = path.split('/').any(|part| part == "..");
    if is_odd || climbs {
        return None;
    }
    let Some(wild) = path.find('*') else {
        return below(&Shape::text(path), EVERYTHING, true);
    };
    let (start, pattern) = match path.get(..wild)?.rfind('/') {
        Some(slash) => (path.get(..slash), path.get(slash + 1..)?),
        None => (None, path),
    };
    // What stands before the last wildcard may be anywhere in the path.
    let name = pattern.rsplit('/').next().filter(|name| name.starts_with('*')).unwrap_or(EVERYTHING);
    match start {
        Some(start) => below(&Shape::text(start), name, false),
        None => Some(Shape::of(TextKind::Inside(name.to_owned()))),
    }
}

/// Says whether a date is written in a format that begins with a letter or digit and has no slash.
fn is_plain_date(operands: &[Argument]) -> bool {
    let is_format = |word: &Argument| {
        let format = word.fixed().and_then(|text| text.strip_prefix('+'));
        format.is_some_and(|format| {
            let begins = format.starts_with(|letter: char| letter == '%' || letter.is_ascii_alphanumeric());
            begins
                && !format.contains(['/', '\n'])
                && !["%D", "%x", "%n", "%t", "%-", "%_"].iter().any(|odd| format.contains(odd))
        })
    };
    let is_known = |word: &Argument| {
        matches!(word.fixed(), Some("-u" | "--utc" | "-I" | "-Iseconds")) || is_format(word)
    };
    operands.iter().all(is_known)
}

/// Says whether git is asked for the branch that is checked out.
fn is_branch(operands: &[Argument]) -> bool {
    let words: Vec<&str> = operands.iter().map(|word| word.text.as_str()).collect();
    matches!(words.as_slice(), ["branch", "--show-current"] | ["rev-parse", "--abbrev-ref", "HEAD" | "@"])
}

/// Says whether `git rev-parse` is asked for commits and nothing else.
fn is_plain_revision(operands: &[Argument]) -> bool {
    let Some((verb, rest)) = operands.split_first() else { return false };
    let is_plain = |word: &Argument| match word.fixed() {
        Some(text) if text.starts_with('-') => {
            matches!(text, "--verify" | "--short" | "--abbrev-ref" | "-q" | "--quiet")
                || text.starts_with("--short=")
        }
        Some(text) => {
            text.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '@')
                && !text.contains("..")
        }
        None => word.shape().is_some_and(|shape| shape.is_plain() && !shape.may_be_option()),
    };
    verb.text == "rev-parse" && !rest.is_empty() && rest.iter().all(is_plain)
}

/// Returns the lines of a program that leaves some of them out.
fn passed(name: &str, operands: &[Argument], stdin: &StandardInput) -> Option<StandardInput> {
    let (StandardInput::Lines { count, .. } | StandardInput::Columns(LineColumns { count, .. })) = stdin
    else {
        return None;
    };
    if !PASSING.contains(&name) {
        return None;
    }
    let spelled = spelled_out(name, operands)?;
    let is_search = name.ends_with("grep");
    let key = if is_search { "grep" } else { name };
    let has_pattern = spelled.options.iter().any(|(option, _)| is_pattern(option));
    let has_files = spelled.operands.len() > usize::from(is_search && !has_pattern);
    if has_files || !spelled.options.iter().all(|(option, _)| has_plain(key, option)) {
        return None;
    }
    let is_one = matches!(name, "head" | "tail") && has(operands, &["-1", "-n1"]) || ends_in_one(operands);
    let count = match count {
        LineCount::One if !is_search => LineCount::One,
        LineCount::Many if !is_one => LineCount::Many,
        LineCount::One | LineCount::AtMostOne | LineCount::Many => LineCount::AtMostOne,
    };
    match stdin {
        StandardInput::Lines { shapes, .. } => Some(StandardInput::Lines { shapes: shapes.clone(), count }),
        StandardInput::Columns(columns) => {
            Some(StandardInput::Columns(LineColumns { count, ..columns.clone() }))
        }
        _ => None,
    }
}

/// Says whether an option of a search gives it what to search for, so that no operand does.
pub(super) fn is_pattern(option: &str) -> bool {
    matches!(option, "-e" | "-f" | "--regexp" | "--file")
}

/// Says whether `-n 1` asks for one line.
fn ends_in_one(operands: &[Argument]) -> bool {
    operands.windows(2).any(|two| matches!(two, [option, count] if option.text == "-n" && count.text == "1"))
}

/// Returns what a search below a directory finds, by the pattern of names.
pub(super) fn below(start: &Shape, pattern: &str, has_start: bool) -> Option<Shape> {
    let start = match start.as_text() {
        Some(text) => Shape::text(text.trim_end_matches('/')),
        None => start.without_end_slash()?,
    };
    if has_start {
        start.join(&Shape::of(TextKind::Below(pattern.to_owned())))
    } else {
        start.in_directory(&Shape::of(TextKind::Inside(pattern.to_owned())))
    }
}

/// Returns the names that `ls` writes.
fn names_listed(operands: &[Argument]) -> Option<Vec<Shape>> {
    let is_plain = |word: &&Argument| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        word.fixed().is_some() && letters.chars().all(|letter| "1AUdcrtuSvX".contains(letter))
    };
    let (options, places): (Vec<&Argument>, Vec<&Argument>) =
        operands.iter().partition(|word| word.is_option());
    if !options.iter().all(is_plain) {
        return None;
    }
    let name = || Shape::of(TextKind::Name(EVERYTHING.to_owned()));
    let is_itself = options.iter().any(|word| word.text.contains('d'));
    let is_file = |word: &Argument| {
        word.text.rsplit('/').next().is_some_and(|last| last.contains("*.") || last.contains('.'))
    };
    match places.as_slice() {
        [] => Some(vec![name()]),
        [only] if only.fixed().is_some() && !is_itself => Some(vec![name(), only.as_shape()?]),
        all if is_itself || all.iter().all(|word| is_file(word)) => {
            all.iter().map(|word| word.as_shape()).collect()
        }
        _ => None,
    }
}

/// Returns the file or directory that `mktemp` makes.
fn made(operands: &[Argument]) -> Option<Shape> {
    let mut directory = None;
    let mut template = None;
    let mut words = operands.iter();
    while let Some(word) = words.next() {
        match word.fixed()? {
            "-d" | "-q" | "--directory" | "--quiet" => {}
            "-p" => directory = Some(words.next()?.fixed()?),
            "-t" => directory = Some("/tmp"),
            "-dt" => directory = Some("/tmp"),
            text if text.starts_with("--tmpdir=") => directory = text.strip_prefix("--tmpdir="),
            text if text.starts_with("--suffix=") && !text.contains('/') => {}
            text if text.starts_with('-') => return None,
            text => template = Some(text),
        }
    }
    let path = match (directory, template) {
        (None, None) => "/tmp/tmp.XXXX".to_owned(),
        (None, Some(template)) => template.to_owned(),
        (Some(directory), template) => format!("{directory}/{}", template.unwrap_or("tmp.XXXX")),
    };
    let start = path.trim_end_matches(|letter: char| letter != 'X').trim_end_matches('X');
    // Without a template a name is appended on some systems.
    let start = if start.is_empty() { path.as_str() } else { start };
    Shape::text(start).join(&Shape::of(TextKind::Word))
}

/// Returns what `basename` leaves.
fn base_of(operands: &[Argument]) -> Option<Shape> {
    let operands: Vec<&Argument> = operands.iter().filter(|word| word.text != "--").collect();
    match operands.as_slice() {
        [only] if !only.is_option() => only.as_shape().filter(|shape| !shape.may_be_negative())?.file_name(),
        [file, end] if !file.is_option() => {
            let name = file.as_shape().filter(|shape| !shape.may_be_negative())?.file_name()?;
            super::parameter::without_end(&name, end.fixed()?)
        }
        _ => None,
    }
}
