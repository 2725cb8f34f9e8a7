//! What programs write line by line, where every line is of a known shape: lists of files, numbers, commits, temporary files.
//!
//! The table is `outputs` in `data/lists/programs.toml`. Programs whose lines depend on their operands (`find`, `fd`, `rg -l`, `ls`,
//! `mktemp`, `basename`) are read here. Names with blanks in them count as one word each.

use super::columns;
use super::find_names::found_by_find;
use crate::argument::Argument;
use crate::lists::programs::outputs::{ODD, PASSING, PRINTED};
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
        "rg" => many(found_by_search(operands, &["-l", "--files", "--files-with-matches"], false)?),
        "grep" | "egrep"
            if has(operands, &["-l", "-L", "--files-with-matches"]) || lists_in_cluster(operands) =>
        {
            many(found_by_search(operands, &[], true)?)
        }
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
        "grep" | "egrep" | "fgrep" if numbers(operands) => columns::numbered(operands),
        "grep" | "egrep" | "fgrep" if columns::found_count(operands).is_some() => {
            columns::found_count(operands)
        }
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

/// Says whether letters behind one dash make `grep` write the names of files.
fn lists_in_cluster(operands: &[Argument]) -> bool {
    let is_cluster = |word: &Argument| {
        word.is_option() && !word.text.starts_with("--") && word.text.contains('l') && word.fixed().is_some()
    };
    operands.iter().any(is_cluster)
}

/// Says whether `grep` is asked for the numbers of lines.
fn numbers(operands: &[Argument]) -> bool {
    let in_cluster =
        |word: &Argument| word.is_option() && !word.text.starts_with("--") && word.text.contains('n');
    has(operands, &["--line-number"]) || operands.iter().any(in_cluster)
}

/// Says whether a word makes a program of the table write something else than the table says.
fn is_odd(name: &str, word: &Argument) -> bool {
    let odd = ODD.iter().find(|(program, _)| *program == name).map_or(&[] as &[&str], |(_, odd)| odd);
    let option = word.text.split('=').next().unwrap_or_default();
    let climbs = word.text.starts_with('/') || word.text.split('/').any(|part| part == "..");
    word.is_option() && (odd.contains(&option) && !PRINTED.iter().any(|(row, _)| row.ends_with(&word.text)))
        || !word.is_option() && climbs
        || word.fixed().is_none() && word.shape().is_none_or(Shape::may_be_option)
}

/// Looks a command up in the table.
fn printed(name: &str, operands: &[Argument]) -> Option<StandardInput> {
    let is_listed = |row: &str| {
        let rest = row.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let is_given = |wanted| operands.iter().any(|word| word.fixed() == Some(wanted));
        rest.is_some_and(|rest| rest.split('/').skip(1).all(is_given))
    };
    if name == "date" && is_plain_date(operands) {
        return Some(StandardInput::Lines { shapes: vec![Shape::of(TextKind::Word)], count: LineCount::One });
    }
    let (_, kind) = PRINTED.iter().find(|(row, _)| is_listed(row))?;
    if operands.iter().any(|word| is_odd(name, word)) {
        return None;
    }
    let (kind, is_many) = match *kind {
        "digits" => (TextKind::Digits, matches!(name, "seq" | "pgrep" | "jobs" | "lsof")),
        "word" => (TextKind::Word, matches!(name, "docker" | "podman")),
        "revision" => {
            let lists = ["log", "rev-list", "branch", "for-each-ref", "tag"];
            let is_one = has(operands, &["-1", "--show-current"]);
            (TextKind::Revision, !is_one && has(operands, &lists))
        }
        _ => match narrowed(name, operands) {
            Some(shapes) => return many(shapes),
            None => (TextKind::Inside(EVERYTHING.to_owned()), true),
        },
    };
    let count = if is_many { LineCount::Many } else { LineCount::One };
    Some(StandardInput::Lines { shapes: vec![Shape::of(kind)], count })
}

/// Returns what git lists of the paths it is told; `None` if it is told none, or one that is not known.
fn narrowed(name: &str, operands: &[Argument]) -> Option<Vec<Shape>> {
    let (verb, rest) = operands.split_first().filter(|_| name == "git")?;
    let told = match rest.iter().position(|word| word.text == "--") {
        Some(at) => rest.get(at + 1..)?,
        None if verb.text == "ls-files" => rest,
        // Without the two dashes a word may also be a commit.
        None => return None,
    };
    let told = told.iter().filter(|word| !word.is_option());
    let shapes: Vec<Shape> = told.map(|word| below_pathspec(word.fixed()?)).collect::<Option<_>>()?;
    (!shapes.is_empty()).then_some(shapes)
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
    let (_, odd) = PASSING.iter().find(|(program, _)| *program == name)?;
    let (StandardInput::Lines { count, .. } | StandardInput::Columns(LineColumns { count, .. })) = stdin
    else {
        return None;
    };
    let is_odd = |word: &Argument| {
        let option = word.text.split('=').next().unwrap_or_default();
        let is_cluster = word.is_option() && !word.text.starts_with("--");
        let has_letter = |odd: &&str| {
            odd.len() == 2 && odd.strip_prefix('-').is_some_and(|letter| word.text.contains(letter))
        };
        word.is_option() && (odd.contains(&option) || is_cluster && odd.iter().any(has_letter))
            || word.fixed().is_none() && word.shape().is_none()
    };
    let is_search = name.ends_with("grep");
    let plain = operands.iter().filter(|word| !word.is_option() && !is_number(word)).count();
    let has_files = plain > usize::from(is_search && !has(operands, &["-e"]));
    let is_one = matches!(name, "head" | "tail") && has(operands, &["-1", "-n1"]) || ends_in_one(operands);
    let count = match count {
        LineCount::One if !is_search => LineCount::One,
        LineCount::Many if !is_one => LineCount::Many,
        LineCount::One | LineCount::AtMostOne | LineCount::Many => LineCount::AtMostOne,
    };
    if has_files || operands.iter().any(is_odd) {
        return None;
    }
    match stdin {
        StandardInput::Lines { shapes, .. } => Some(StandardInput::Lines { shapes: shapes.clone(), count }),
        StandardInput::Columns(columns) => {
            Some(StandardInput::Columns(LineColumns { count, ..columns.clone() }))
        }
        _ => None,
    }
}

fn is_number(word: &Argument) -> bool {
    word.text.chars().all(|letter| letter.is_ascii_digit())
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

/// Options of `fd` with a value in the next word.
const FD_VALUED: &[&str] = &[
    "-t",
    "--type",
    "-E",
    "--exclude",
    "-d",
    "--max-depth",
    "--min-depth",
    "-S",
    "--size",
    "-j",
    "-c",
    "--color",
];

/// Options of `fd` that change what is written or where it searches.
const FD_ODD: &[&str] = &[
    "-a",
    "--absolute-path",
    "-x",
    "-X",
    "--exec",
    "--exec-batch",
    "-l",
    "--list-details",
    "--base-directory",
    "--search-path",
    "--format",
];

/// Returns what `fd` finds.
pub(super) fn found_by_fd(operands: &[Argument]) -> Option<Vec<Shape>> {
    let mut places = Vec::new();
    let mut pattern = EVERYTHING.to_owned();
    let mut is_glob = false;
    let mut words = operands.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-x" | "-X" | "--exec" | "--exec-batch" => break,
            text if FD_ODD.contains(&text) => return None,
            "-e" | "--extension" => {
                pattern = format!("*.{}", words.next()?.fixed()?.trim_start_matches('.'));
            }
            "-g" | "--glob" => is_glob = true,
            text if FD_VALUED.contains(&text) => _ = words.next(),
            text if text.starts_with('-') => {}
            _ => places.push(word),
        }
    }
    if is_glob
        && let Some(glob) = places.first().and_then(|word| word.fixed()).filter(|glob| !glob.contains('/'))
    {
        glob.clone_into(&mut pattern);
    }
    let places = places.get(1..).unwrap_or_default();
    if places.is_empty() {
        return Some(vec![Shape::of(TextKind::Inside(pattern))]);
    }
    places.iter().map(|place| below(&place.as_shape()?, &pattern, true)).collect()
}

/// Options of searches with a value in the next word.
const SEARCH_VALUED: &[&str] =
    &["-A", "-B", "-C", "-m", "-t", "-T", "--type", "-j", "--max-count", "-d", "--max-depth", "--sort"];

/// Returns the files that `rg -l` and `grep -l` write.
fn found_by_search(operands: &[Argument], listing: &[&str], is_grep: bool) -> Option<Vec<Shape>> {
    let in_cluster =
        |word: &Argument| word.is_option() && !word.text.starts_with("--") && word.text.contains('l');
    if !listing.is_empty() && !has(operands, listing) && !operands.iter().any(in_cluster) {
        return None;
    }
    let mut places = Vec::new();
    let mut pattern = EVERYTHING.to_owned();
    let mut has_pattern = has(operands, &["--files"]);
    let mut is_odd = false;
    let mut descends = !is_grep;
    let mut words = operands.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-e" | "-f" | "--regexp" | "--file" => {
                has_pattern = true;
                words.next();
            }
            "-g" | "--glob" => {
                let glob = words.next()?.fixed()?;
                if !glob.starts_with('!') && !glob.contains(['/', '{']) {
                    glob.clone_into(&mut pattern);
                }
            }
            "-c" | "--count" | "--json" | "-o" | "--heading" | "-0" | "--null" if !is_grep => return None,
            text if SEARCH_VALUED.contains(&text) => _ = words.next(),
            text if text.starts_with("--") => is_odd |= !text.contains('='),
            text if text.len() > 1 && text.starts_with('-') => descends |= text.contains(['r', 'R']),
            _ => places.push(word),
        }
    }
    let places = places.get(usize::from(!has_pattern)..).unwrap_or_default();
    let mut shapes: Vec<Shape> = Vec::new();
    for place in places {
        shapes.push(below(&place.as_shape()?, &pattern, true)?);
    }
    if descends && (is_odd || places.is_empty()) {
        shapes.push(Shape::of(TextKind::Inside(pattern)));
    }
    (!shapes.is_empty()).then_some(shapes)
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
