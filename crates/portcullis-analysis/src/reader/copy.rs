//! `cp`, `mv`, `ln` and `install`: what they read, move away, link to and write.

use super::CommandContext;
use super::mode::gives_rights;
use super::{certain, certain_here, has, possible};
use crate::act::Act;
use crate::argument::Argument;
use crate::effect::Certainty;
use crate::effect::target::path_of;
use crate::invocation::base_name;
use crate::path::{self, is_inside};
use crate::profile::{Match, Use};

/// So many bytes of names inside the destination are made; beyond that nobody knows them.
const MOST_NAMES: usize = 1024 * 1024;

/// Reads `cp`.
pub(super) fn copy(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    files(context, found, Act::Read)
}

/// Reads `mv`.
pub(super) fn rename(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    files(context, found, Act::Move)
}

/// Reads `ln`. With one operand the link is made in the working directory.
pub(super) fn link(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = files(context, found, Act::Link);
    if let [only] = found.wanted.operands.as_slice()
        && !has(found, &["-t"])
    {
        uses = unlisted(found);
        uses.push(certain(Act::Link, only));
        uses.extend(certain_here(context, Act::Write));
    } else if has(found, &["-s"]) && !has(found, &["-r"]) {
        seen_from_link(found, &mut uses);
    }
    uses
}

/// Puts the place that a symbolic link leads to, seen from where it lies, in place of the word that names it.
fn seen_from_link(found: &Match<'_>, uses: &mut Vec<Use>) {
    let named = found.wanted.options.iter().rev().find(|(option, _)| *option == "-t");
    let directory = named.and_then(|(_, value)| value.as_ref());
    let Some(written) = directory.or_else(|| found.wanted.operands.last()).and_then(Argument::fixed) else {
        return;
    };
    // The last word is the link, or the directory that it is made in.
    let beside = directory.is_none().then(|| path::join(written, ".."));
    let places: Vec<String> = beside.into_iter().chain([written.to_owned()]).collect();
    let mut led = Vec::new();
    uses.retain(|used| {
        let target = used.word.as_ref().filter(|_| used.act == Act::Link);
        let relative = target.and_then(Argument::fixed).filter(|text| !text.starts_with(['/', '~']));
        let Some((word, text)) = target.zip(relative) else { return true };
        led.extend(places.iter().map(|place| certain(Act::Link, &word.piece(&path::join(place, text)))));
        false
    });
    uses.extend(led);
}

/// Reads `install`, which also makes directories and sets modes.
pub(super) fn install(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = if has(found, &["-d"]) {
        let mut uses = unlisted(found);
        uses.extend(found.wanted.operands.iter().map(|directory| certain(Act::Write, directory)));
        uses
    } else {
        files(context, found, Act::Read)
    };
    let modes = found
        .wanted
        .options
        .iter()
        .filter(|(option, _)| *option == "-m")
        .filter_map(|(_, mode)| mode.as_ref());
    if modes.into_iter().any(gives_rights) {
        let written: Vec<Argument> = uses
            .iter()
            .filter(|found| found.act == Act::Write && found.certainty == Certainty::Certain)
            .filter_map(|found| found.word.clone())
            .collect();
        uses.extend(written.iter().map(|file| certain(Act::Grant, file)));
    }
    uses
}

/// What the tables say of options; a word that may turn out to be one is a file nobody knows already.
fn unlisted(found: &Match<'_>) -> Vec<Use> {
    found.uses.iter().filter(|found| found.certainty == Certainty::Certain).cloned().collect()
}

/// Returns the sources and the destination, unless `-t` names it.
fn files(context: &CommandContext<'_>, found: &Match<'_>, from: Act) -> Vec<Use> {
    let mut uses = unlisted(found);
    if found.is_idle {
        return uses;
    }
    for (option, value) in &found.wanted.options {
        // A suffix with a slash in it moves the copy that is kept elsewhere.
        if let ("-S", Some(suffix)) = (*option, value)
            && (suffix.text.contains('/') || !suffix.is_known())
        {
            uses.push(certain(Act::Write, &suffix.clone().unbounded()));
        }
    }
    let named = found.wanted.options.iter().rev().find(|(option, _)| *option == "-t");
    let named = named.and_then(|(_, directory)| directory.clone());
    let mut sources = found.wanted.operands.clone();
    let Some(destination) = named.or_else(|| sources.pop()) else {
        return uses;
    };
    if !has(found, &["-T"]) {
        let longest = MOST_NAMES / destination.text.len().max(1);
        let files = sources.iter().take(longest).filter_map(|source| inside(&destination, source));
        uses.extend(files.map(|file| possible(Act::Write, &file)));
        if sources.len() > longest {
            let unknown = destination.clone().unbounded();
            uses.push(possible(Act::Write, &unknown));
        }
    }
    if from == Act::Read {
        // Hidden files are among what is copied, settings and hooks too, and nobody knows their names.
        let is_over = has(found, &["-T"]) || sources.iter().any(|source| is_content(&source.text));
        uses.extend(
            (is_over && is_around(context, &destination)).then(|| possible(Act::Unknown, &destination)),
        );
    }
    uses.push(certain(Act::Write, &destination));
    uses.extend(sources.iter().map(|source| certain(from, source)));
    uses
}

/// Says whether a source stands for all that is in a directory: `vendor/.`, and `vendor/` on some systems.
fn is_content(source: &str) -> bool {
    source.ends_with('/') || matches!(base_name(source), "." | "..")
}

/// Says whether a destination is the directory the command runs in, or one around it.
fn is_around(context: &CommandContext<'_>, destination: &Argument) -> bool {
    let directories = &context.invocation.directories;
    let target = path_of(destination, directories, context.home);
    let here = directories.alternatives().unwrap_or_default();
    target.paths.iter().any(|path| here.iter().any(|directory| is_inside(directory, path)))
}

/// Returns the file that results if the destination is a directory.
fn inside(destination: &Argument, source: &Argument) -> Option<Argument> {
    if source.shape().is_some() || destination.shape().is_some() {
        let shape = source.as_shape().and_then(|source| source.file_name());
        let shape = destination.as_shape().zip(shape).and_then(|(place, name)| place.in_directory(&name));
        return Some(destination.clone().bounded(shape, true));
    }
    let name = base_name(source.text.trim_end_matches('/'));
    let text = format!("{}/{name}", destination.text.trim_end_matches('/'));
    let knowledge = destination.knowledge.max(source.knowledge);
    let is_name = !matches!(name, "" | "." | "..");
    is_name.then(|| Argument {
        text,
        source: Some(destination.as_written().to_owned()),
        knowledge,
        span: destination.span,
        bound: None,
    })
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn the_last_operand_is_written_unless_an_option_names_the_directory() {
        assert_eq!(effects("cp -r a b out"), ["read a", "read b", "write out"]);
        assert_eq!(effects("cp -t out a b"), ["read a", "read b", "write out"]);
        assert_eq!(effects("mv a b"), ["move a", "write b"]);
        assert_eq!(effects("mv --target-directory=out a"), ["move a", "write out"]);
        assert_eq!(effects("mv --target=out a"), ["move a", "unknown --target=out", "write out"]);
        assert_eq!(effects("ln -sf /etc/hosts x"), ["link /etc/hosts", "write x"]);
        assert_eq!(effects("ln -s ../lib/x"), ["link ../lib/x", "write ."]);
    }

    #[test]
    fn a_tree_that_is_copied_over_the_directory_it_runs_in_may_hold_anything() {
        assert_eq!(effects("cp -r vendor/. ."), ["read vendor/.", "unknown .", "write ."]);
        assert_eq!(
            effects("cp -rT vendor /code/app"),
            ["read vendor", "unknown /code/app", "write /code/app"]
        );
        assert_eq!(effects("cp -a x/./ ../app"), ["read x/./", "unknown ../app", "write ../app"]);
        assert_eq!(effects("cp -r build/. dist"), ["read build/.", "write dist"]);
        assert_eq!(effects("cp -r vendor/ ."), ["read vendor/", "unknown .", "write ."]);
        assert_eq!(effects("cp -r vendor ."), ["read vendor", "write ."]);
    }

    #[test]
    fn a_suffix_with_a_slash_writes_nobody_knows_where() {
        assert_eq!(effects("cp -b -S/../../x a b"), ["read a", "write /../../x", "write b"]);
    }

    #[test]
    fn install_makes_directories_and_may_give_rights() {
        assert_eq!(effects("install -d out/bin"), ["write out/bin"]);
        assert_eq!(effects("install -m 755 a b"), ["read a", "write b"]);
        assert_eq!(effects("install -m 4755 a b"), ["grant b", "read a", "write b"]);
    }
}
