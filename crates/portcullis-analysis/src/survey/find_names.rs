//! What searches for files find, as far as they name it: `find`, `fd`, and `rg -l` and `grep -l`.

use super::listing::{EVERYTHING, MOST_SHAPES, below, has_plain, is_pattern};
use crate::argument::{Argument, Knowledge};
use crate::profile::{Spelled, spelled_out};
use crate::shape::{Shape, TextKind};

/// Returns what `find` writes or hands on: everything below its starting points with a name that its tests let through.
pub(crate) fn found_by_find(operands: &[Argument], home: Option<&str>) -> Option<Vec<Shape>> {
    let is_global = |word: &Argument| matches!(word.text.as_str(), "-H" | "-L" | "-P");
    let words: Vec<&Argument> = operands.iter().skip_while(|word| is_global(word)).collect();
    let (starts, tests) = starts_and_tests(&words)?;
    let patterns = names_tested(tests)?;
    let has_test = |test: &str, value: &str| {
        tests.windows(2).any(|two| matches!(two, [name, found] if name.text == test && found.text == value))
    };
    let is_file = has_test("-type", "f") || has_test("-mindepth", "1");
    let mut shapes = Vec::new();
    let here = [Shape::text(".")];
    let starts: Vec<Shape> = match starts {
        [] => here.to_vec(),
        _ => starts.iter().map(|start| start_of(start, home)).collect::<Option<_>>()?,
    };
    for start in &starts {
        let is_directory = start.as_text().is_some_and(|text| {
            text.ends_with('/') || text.rsplit('/').next().is_some_and(|last| matches!(last, "." | ".."))
        });
        for pattern in &patterns {
            shapes.push(below(start, pattern, !(is_file && is_directory))?);
        }
    }
    Some(shapes)
}

/// Says whether each thing that `find` finds is found by a name that the command spells out.
pub(crate) fn is_found_by_name(operands: &[Argument]) -> bool {
    let words: Vec<&Argument> = operands.iter().collect();
    let names = starts_and_tests(&words).and_then(|(_, tests)| names_tested(tests));
    names.is_some_and(|names| !names.iter().any(|name| name == EVERYTHING))
}

/// Tells the places to search in from the expression.
fn starts_and_tests<'a, 'b>(words: &'b [&'a Argument]) -> Option<(&'b [&'a Argument], &'b [&'a Argument])> {
    let begins =
        |word: &&Argument| word.text.starts_with('-') || matches!(word.text.as_str(), "!" | "(" | ",");
    let at = words.iter().position(begins).unwrap_or(words.len());
    words.split_at_checked(at)
}

/// Returns the shape of a place to search in.
fn start_of(word: &Argument, home: Option<&str>) -> Option<Shape> {
    match (word.knowledge, word.text.strip_prefix('~')) {
        (Knowledge::Tilde, Some(rest)) if rest.is_empty() || rest.starts_with('/') => {
            home.map(|home| Shape::text(&format!("{home}{rest}")))
        }
        (Knowledge::Tilde, _) => None,
        _ => word.as_shape(),
    }
}

/// Returns the patterns of names that tests let through; `None` if something else than names is written.
///
/// Each alternative must name what it finds, or what it finds is anything.
fn names_tested(tests: &[&Argument]) -> Option<Vec<String>> {
    const WRITING: &[&str] = &["-printf", "-ls", "-fls", "-fprintf", "-files0-from"];
    const ACTING: &[&str] = &["-print", "-print0", "-delete", "-exec", "-execdir", "-ok", "-okdir"];
    if tests.iter().any(|word| WRITING.contains(&word.text.as_str())) {
        return None;
    }
    let tests = without_commands(tests);
    let is_not = |word: &Argument| matches!(word.text.as_str(), "!" | "-not");
    let negates_group =
        tests.windows(2).any(|two| matches!(two, [not, group] if is_not(not) && group.text == "("));
    let has_action = |words: &[&Argument]| words.iter().any(|word| ACTING.contains(&word.text.as_str()));
    let acts = has_action(&tests);
    let mut names = Vec::new();
    let mut is_open = negates_group;
    for branch in tests.split(|word| matches!(word.text.as_str(), "-o" | "-or" | ",")) {
        // What is passed over is not found, where the other branches say what is to be done.
        if acts && !has_action(branch) && branch.last().is_some_and(|word| word.text == "-prune") {
            continue;
        }
        let before = names.len();
        for (at, word) in branch.iter().enumerate() {
            let is_negated =
                at.checked_sub(1).and_then(|before| branch.get(before)).is_some_and(|word| is_not(word));
            if word.text == "-name" && !is_negated {
                let pattern = branch.get(at + 1).and_then(|value| value.fixed());
                names.push(pattern.filter(|name| !name.contains(['/', '\\']))?.to_owned());
            }
        }
        is_open |= names.len() == before;
    }
    let is_known = !is_open && names.len() <= MOST_SHAPES;
    Some(if is_known { names } else { vec![EVERYTHING.to_owned()] })
}

/// Returns the tests and the names of the actions, without the words of the commands that are run for what is found.
fn without_commands<'a>(tests: &[&'a Argument]) -> Vec<&'a Argument> {
    let mut kept = Vec::new();
    let mut words = tests.iter().copied();
    while let Some(word) = words.next() {
        kept.push(word);
        if word.text.starts_with("-exec") || word.text.starts_with("-ok") {
            let mut is_after_place = false;
            for word in words.by_ref() {
                if word.text == ";" || (word.text == "+" && is_after_place) {
                    break;
                }
                is_after_place = word.text == "{}";
            }
        }
    }
    kept
}

/// Returns what `fd` finds.
pub(super) fn found_by_fd(operands: &[Argument]) -> Option<Vec<Shape>> {
    let is_command = |word: &Argument| matches!(word.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch");
    let end = operands.iter().position(is_command).unwrap_or(operands.len());
    // Behind the end of the command there may be more of the search.
    if operands.iter().rev().skip(1).any(|word| word.text == ";") {
        return None;
    }
    let spelled = spelled_out("fd", operands.get(..end)?)?;
    if !spelled.options.iter().all(|(option, _)| has_plain("fd", option)) {
        return None;
    }
    let mut pattern = EVERYTHING.to_owned();
    let matches_path = has_any(&spelled, &["-p", "--full-path"]);
    if has_any(&spelled, &["-g", "--glob"])
        && !matches_path
        && let Some(glob) = spelled.operands.first().and_then(|word| word.fixed())
        && !glob.contains('/')
    {
        glob.clone_into(&mut pattern);
    }
    let mut endings = values_of(&spelled, &["-e", "--extension"]);
    if let Some(ending) = endings.next() {
        pattern = format!("*.{}", ending?.trim_start_matches('.'));
    }
    if endings.next().is_some() {
        EVERYTHING.clone_into(&mut pattern);
    }
    let places = spelled.operands.get(1..).unwrap_or_default();
    if places.is_empty() {
        return Some(vec![Shape::of(TextKind::Inside(pattern))]);
    }
    places.iter().map(|place| below(&place.as_shape()?, &pattern, true)).collect()
}

/// Returns the files whose names `rg` and `grep` write where they are asked for nothing else.
pub(super) fn found_by_search(name: &str, operands: &[Argument]) -> Option<Vec<Shape>> {
    let spelled = spelled_out(name, operands)?;
    let key = if name == "rg" { "rg/-l" } else { "grep/-l" };
    let lists = ["-l", "--files", "--files-with-matches", "--files-without-match"];
    let is_plain = |option: &str| has_plain(key, option) || key == "grep/-l" && has_plain("grep", option);
    // To `rg` that letter says to follow links.
    let is_listing = has_any(&spelled, &lists) || name != "rg" && has_any(&spelled, &["-L"]);
    if !is_listing || !spelled.options.iter().all(|(option, _)| is_plain(option)) {
        return None;
    }
    let globs: Option<Vec<&str>> = values_of(&spelled, &["-g", "--glob"]).collect();
    let pattern = match globs?.as_slice() {
        [only] if !only.starts_with('!') && !only.contains(['/', '{']) => (*only).to_owned(),
        _ => EVERYTHING.to_owned(),
    };
    let has_pattern = spelled.options.iter().any(|(option, _)| is_pattern(option));
    let has_none = name == "rg" && has_any(&spelled, &["--files"]);
    let places = spelled.operands.get(usize::from(!has_pattern && !has_none)..).unwrap_or_default();
    if places.iter().any(|place| place.text == "-") {
        return None;
    }
    let recursive = ["-r", "-R", "--recursive", "--dereference-recursive"];
    if places.is_empty() {
        let descends = name == "rg" || has_any(&spelled, &recursive);
        return descends.then(|| vec![Shape::of(TextKind::Inside(pattern))]);
    }
    places.iter().map(|place| below(&place.as_shape()?, &pattern, true)).collect()
}

fn has_any(spelled: &Spelled<'_>, names: &[&str]) -> bool {
    spelled.options.iter().any(|(option, _)| names.contains(&option.as_str()))
}

/// Returns the values of an option as often as it is given; `None` for one that is not known.
fn values_of<'a>(spelled: &'a Spelled<'_>, names: &'a [&str]) -> impl Iterator<Item = Option<&'a str>> {
    let is_one = |(option, _): &&(String, Option<Argument>)| names.contains(&option.as_str());
    spelled.options.iter().filter(is_one).map(|(_, value)| value.as_ref().and_then(Argument::fixed))
}
