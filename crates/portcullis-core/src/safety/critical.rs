//! Critical removals: `rm` of the root, the home, the workspace or their parents, also behind a variable.

use portcullis_analysis::{Argument, Invocation, Knowledge, Naming};
use portcullis_shell::Span;

use super::variable::VariableValues;
use crate::case::{CaseView, EffectSource};
use crate::path::{components, is_inside, join, normalize};
use crate::path_use::{expand_home, fixed_beginning};
use crate::pattern::{alternatives, may_name};

use super::removal::{Removal, removals};

/// Names directly under the root that an empty variable before them would reach.
const TOP_LEVEL: &[&str] = &[
    "Applications",
    "Library",
    "System",
    "Users",
    "Volumes",
    "bin",
    "boot",
    "data",
    "dev",
    "etc",
    "home",
    "lib",
    "lib64",
    "media",
    "mnt",
    "opt",
    "private",
    "proc",
    "root",
    "view",
    "sbin",
    "srv",
    "sys",
    "tmp",
    "usr",
    "var",
];

/// Finds a removal whose loss cannot be made good, in the call or in a script that it runs; returns the target as a
/// question names it.
pub(crate) fn find_critical_removal(view: &CaseView<'_>) -> Option<(String, Span)> {
    let by_effect = view.sources().find_map(|source| {
        let (subject, span) = removed_by(view, source)?;
        Some(match source.script {
            None => (subject, span),
            Some(script) => (format!("{}: {subject}", script.name()), Span::default()),
        })
    });
    by_effect.or_else(|| removed_in_text(view)).or_else(|| view.judgement().critical_removal())
}

fn removed_by<'a>(view: &CaseView<'a>, source: &EffectSource<'a>) -> Option<(String, Span)> {
    let mut values = None;
    removals(source).find_map(|removal| match removal {
        Removal::Word { invocation, word } => {
            let values = values.get_or_insert_with(|| VariableValues::of(view, source.survey));
            is_critical(view, values, invocation, &word).then(|| (word.as_written().to_owned(), word.span))
        }
        Removal::Path(path_use) => {
            let mut paths = path_use.known_variants().iter();
            let is_critical = paths.any(|path| is_critical_path(view, path));
            is_critical.then(|| (path_use.shown().to_owned(), path_use.span))
        }
    })
}

/// Words by which programs of any language remove something, and beginnings of such words.
const REMOVING: &[&str] = &["del", "rd", "rm"];
const REMOVING_STEMS: &[&str] =
    &["delete", "erase", "remove", "rimraf", "rmdir", "rmtree", "trash", "unlink"];

fn is_removing(name: &str) -> bool {
    name.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|part| {
        let part = part.to_ascii_lowercase();
        REMOVING.contains(&part.as_str()) || REMOVING_STEMS.iter().any(|stem| part.starts_with(stem))
    })
}

/// Finds the name of something critical inside code that nobody reads and that removes something.
fn removed_in_text(view: &CaseView<'_>) -> Option<(String, Span)> {
    let all = view.case.subject.shell()?.possible_files();
    all.iter().find_map(|files| {
        let inside = || files.iter().filter(|file| file.naming == Naming::Text);
        let is_removal = inside().any(|file| is_removing(&file.target.written));
        let mut named =
            inside().filter(|_| is_removal).filter(|file| file.target.written.starts_with(['/', '~']));
        let file = named.find(|file| file.target.paths.iter().any(|path| is_critical_path(view, path)))?;
        Some((file.target.written.clone(), file.span))
    })
}

fn is_critical(
    view: &CaseView<'_>,
    values: &VariableValues<'_>,
    invocation: &Invocation,
    target: &Argument,
) -> bool {
    match target.knowledge {
        Knowledge::Fixed | Knowledge::Tilde => is_critical_text(view, invocation, &target.text),
        Knowledge::Glob => is_critical_pattern(view, invocation, &target.text),
        Knowledge::Dynamic => {
            let patterns = target.patterns();
            let mut readings = values.readings(&target.text);
            if patterns.is_some() {
                // What an expansion alone may be is told by the patterns.
                readings.retain(|text| !text.starts_with(['$', '`']) || !after_expansion(text).is_empty());
            }
            patterns.iter().flatten().any(|pattern| is_critical_pattern(view, invocation, pattern))
                || readings.iter().any(|text| is_critical_reading(view, invocation, text))
        }
    }
}

/// Says whether a text with its known variables filled in is critical.
fn is_critical_reading(view: &CaseView<'_>, invocation: &Invocation, text: &str) -> bool {
    if text.contains(['$', '`']) {
        return is_critical_expansion(view, invocation, text);
    }
    is_critical_pattern(view, invocation, text)
        || alternatives(text).iter().any(|text| is_critical_pattern(view, invocation, text))
}

/// Says whether a path as the program receives it is critical.
fn is_critical_text(view: &CaseView<'_>, invocation: &Invocation, text: &str) -> bool {
    let home = view.case.context().home.as_deref();
    let expanded = expand_home(text, home);
    if text.starts_with('~') && expanded.is_none() {
        // Somebody's home directory, whoever that is.
        return !text.trim_end_matches('/').contains('/');
    }
    let text = expanded.as_deref().unwrap_or(text);
    if text.chars().all(|letter| letter == '\\') {
        return true;
    }
    if text.starts_with('/') {
        return is_critical_path(view, &normalize(text));
    }
    match invocation.directories.alternatives() {
        Some(directories) => {
            directories.iter().any(|directory| is_critical_path(view, &join(directory, text)))
        }
        None => text.split('/').all(|component| matches!(component, "" | "." | "..")),
    }
}

/// A pattern that takes everything in a directory is as bad as the directory.
fn is_critical_pattern(view: &CaseView<'_>, invocation: &Invocation, text: &str) -> bool {
    let mut fixed = text.trim_end_matches('/');
    let mut takes_all = false;
    while let Some((parent, last)) = split_last(fixed) {
        if !matches!(last, "*" | ".*" | "**" | "{*,.*}" | "{,.}*" | ".[!.]*" | "?*" | "*.*") {
            break;
        }
        takes_all = true;
        fixed = parent;
    }
    if !takes_all {
        let is_pattern = text.contains(['*', '?', '[']);
        return if is_pattern {
            may_be_critical(view, invocation, text)
        } else {
            is_critical_text(view, invocation, text)
        };
    }
    is_critical_text(
        view,
        invocation,
        if fixed.is_empty() && text.starts_with('/') {
            "/"
        } else if fixed.is_empty() {
            "."
        } else {
            fixed
        },
    )
}

/// Says whether a pattern that does not take everything could name something critical.
fn may_be_critical(view: &CaseView<'_>, invocation: &Invocation, text: &str) -> bool {
    let fixed = fixed_beginning(text);
    if text.get(fixed.len()..).unwrap_or_default().split('/').any(|component| component == "..") {
        return true;
    }
    let context = view.case.context();
    let is_critical = |pattern: &str| {
        let above = context.home.iter().chain(&view.roots).flat_map(|path| ancestors(path));
        components(pattern).count() <= 1 || above.into_iter().any(|path| may_name(pattern, path))
    };
    let expanded = expand_home(text, context.home.as_deref());
    let text = expanded.as_deref().unwrap_or(text);
    if text.starts_with('/') {
        return is_critical(&normalize(text));
    }
    let directories = invocation.directories.alternatives().unwrap_or_default();
    directories.iter().any(|directory| is_critical(&join(directory, text)))
}

/// Returns a path and every directory above it but the root.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| {
        path.rsplit_once('/').map(|(parent, _)| parent).filter(|parent| !parent.is_empty())
    })
}

fn split_last(text: &str) -> Option<(&str, &str)> {
    if text.is_empty() {
        return None;
    }
    Some(text.rsplit_once('/').unwrap_or(("", text)))
}

/// The root, its children, the home, the working directories and everything above them.
fn is_critical_path(view: &CaseView<'_>, path: &str) -> bool {
    let depth = path.split('/').filter(|component| !component.is_empty()).count();
    let home = view.case.context().home.as_deref();
    depth <= 1
        || home.is_some_and(|home| is_inside(home, path))
        || view.roots.iter().any(|root| is_inside(root, path))
}

/// A target that would be critical if an unknown expansion in it turned out empty.
fn is_critical_expansion(view: &CaseView<'_>, invocation: &Invocation, text: &str) -> bool {
    let Some(at) = text.find(['$', '`']) else {
        return false;
    };
    let before = text.get(..at).unwrap_or_default();
    let after = text.get(at..).unwrap_or_default();
    if is_checked(after) {
        return false;
    }
    let is_substitution = after.starts_with("$(") || after.starts_with('`');
    let tail = after_expansion(after);
    if !before.is_empty() {
        return before.ends_with('/')
            && tail.trim_matches('/').is_empty()
            && is_critical_text(view, invocation, before);
    }
    if tail.is_empty() {
        return is_substitution && is_recursive(invocation);
    }
    let inner = tail.trim_start_matches('/').trim_end_matches('/');
    tail.starts_with('/') && (matches!(inner, "" | "*" | ".*") || TOP_LEVEL.contains(&inner))
}

/// Says whether a text begins with an expansion that stops the command if it is empty: `${x:?}`.
fn is_checked(text: &str) -> bool {
    text.strip_prefix("${")
        .and_then(|rest| rest.split_once('}'))
        .is_some_and(|(inside, _)| inside.contains(":?"))
}

/// Returns what follows the expansion a text begins with.
fn after_expansion(text: &str) -> &str {
    let end = if text.starts_with("${") {
        text.find('}').map(|at| at + 1)
    } else if text.starts_with("$(") {
        text.rfind(')').map(|at| at + 1)
    } else if text.starts_with('`') {
        text.rfind('`').map(|at| at + 1)
    } else {
        let name = text.trim_start_matches('$');
        let length = name.find(|letter: char| !letter.is_ascii_alphanumeric() && !"_@#".contains(letter));
        length.map(|length| text.len() - name.len() + length)
    };
    end.and_then(|end| text.get(end..)).unwrap_or_default()
}

fn is_recursive(invocation: &Invocation) -> bool {
    invocation.operands().iter().any(|argument| {
        argument.text == "--recursive"
            || (argument.is_option()
                && !argument.text.starts_with("--")
                && argument.text.contains(['r', 'R']))
    })
}
