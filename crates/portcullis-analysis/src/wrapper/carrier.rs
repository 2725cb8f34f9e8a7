//! Programs that run shell text which stands in an option or operand among others.

use super::{Unwrapped, WrappedPart};
use crate::argument::{Argument, Knowledge};
use crate::lists::programs::carriers::{AFTER_DASHES, APPENDING, CARRIERS};
use crate::option::values;

/// Programs whose every operand may be a command line.
const BY_OPERAND: &[&str] = &["tmux", "concurrently", "hyperfine", "sops"];

/// Options of `hyperfine` whose next words are no commands: names, parameters and files of results, with their number.
const PLAIN_VALUES: &[(&str, usize)] = &[
    ("--command-name", 1),
    ("--export-csv", 1),
    ("--export-json", 1),
    ("--export-markdown", 1),
    ("--parameter-list", 2),
    ("--parameter-scan", 3),
    ("-L", 2),
    ("-P", 3),
    ("-n", 1),
];

/// More commands of `hyperfine` than these are not made of its parameters.
const MOST_COMMANDS: usize = 64;

/// Programs whose command may begin at any of their operands.
const ANYWHERE: &[&str] = &["bwrap", "cmd", "dotenv", "envchain", "faketime", "sg", "with-contenv"];

/// Programs that run what follows one of these options.
const AFTER_MARK: &[(&str, &[&str])] = &[("gdb", &["--args", "-args"]), ("nix", &["-c", "--command"])];

/// So many operands are tried.
const MOST_BEGINNINGS: usize = 12;

/// Programs with the options of `ssh`, and those whose value names a program.
const SSH: &[&str] = &["autossh", "scp", "sftp", "ssh"];
const SSH_COMMANDS: &[&str] = &["proxycommand", "localcommand", "remotecommand", "knownhostscommand"];

/// Finds the shell text in the arguments of a program.
pub(super) fn peel(name: &str, rest: &[Argument]) -> Option<Unwrapped> {
    let mut parts: Vec<WrappedPart> = Vec::new();
    if let Some((_, options)) = CARRIERS.iter().find(|(listed, _)| *listed == name) {
        let own = if name == "npx" { own_words(rest) } else { rest };
        let values = values(own, options).into_iter();
        let appends = APPENDING.contains(&name);
        let texts = values.map(|value| match value.text.strip_prefix("exec=") {
            Some(action) => value.piece(action),
            None if appends => value.piece(&format!("{} $_", value.text)),
            None => value,
        });
        parts.extend(texts.map(|text| WrappedPart::Text(vec![text])));
    }
    if SSH.contains(&name) {
        parts.extend(values(rest, &["-o"]).iter().filter_map(ssh_command));
    }
    // Of `lerna` only one subcommand runs what follows; others run scripts of the project.
    let may_be_exec = |word: &Argument| word.fixed().is_none_or(|text| text == "exec");
    if BY_OPERAND.contains(&name) || name == "lerna" && rest.iter().any(may_be_exec) {
        // A number is the value of an option.
        let is_number = |word: &Argument| word.text.chars().all(|letter| letter.is_ascii_digit());
        // Behind the dashes `hyperfine` reads no more options.
        let end = rest.iter().position(|word| name == "hyperfine" && word.text == "--").unwrap_or(rest.len());
        let (own, behind) = rest.split_at(end);
        let operands = beside_values(name, own).filter(|word| !word.is_option() && !is_number(word));
        let operands = operands.chain(behind.get(1..).unwrap_or_default());
        parts.extend(operands.map(|word| WrappedPart::Text(vec![word.clone()])));
    }
    if name == "hyperfine" {
        fill_parameters(rest, &mut parts);
    }
    if ANYWHERE.contains(&name) {
        let places = rest.iter().enumerate().filter(|(_, word)| !word.is_option());
        parts.extend(places.take(MOST_BEGINNINGS).map(|(place, word)| {
            let words = rest.get(place..).unwrap_or_default().to_vec();
            if word.text.contains(' ') { WrappedPart::Text(words) } else { WrappedPart::Command(words) }
        }));
    }
    if AFTER_DASHES.contains(&name)
        && let Some(place) = rest.iter().position(|word| word.text == "--")
    {
        parts.push(WrappedPart::Command(rest.get(place + 1..).unwrap_or_default().to_vec()));
    }
    if let Some((_, marks)) = AFTER_MARK.iter().find(|(listed, _)| *listed == name)
        && let Some(place) = rest.iter().position(|word| marks.contains(&word.text.as_str()))
    {
        parts.push(WrappedPart::Command(rest.get(place + 1..).unwrap_or_default().to_vec()));
    }
    // It runs its commands where it is itself.
    let here = rest.first().filter(|_| name == "hyperfine").map(|first| Argument {
        knowledge: Knowledge::Fixed,
        bound: None,
        ..first.piece(".")
    });
    (!parts.is_empty()).then(|| Unwrapped { directory: here, ..Unwrapped::changing(parts) })
}

/// Returns the words of a program without those that are plain values of its options.
fn beside_values<'a>(name: &str, rest: &'a [Argument]) -> impl Iterator<Item = &'a Argument> {
    let plain_values = if name == "hyperfine" { PLAIN_VALUES } else { &[] };
    let mut values = 0;
    rest.iter().filter(move |word| {
        let is_value = values > 0;
        let taken = plain_values.iter().find(|(option, _)| word.fixed() == Some(*option));
        values = if is_value { values - 1 } else { taken.map_or(0, |(_, count)| *count) };
        !is_value || word.fixed().is_none()
    })
}

/// Puts the parameters of `hyperfine` into its commands, as it does itself: `-L dir a,b 'ls {dir}'`.
fn fill_parameters(rest: &[Argument], parts: &mut Vec<WrappedPart>) {
    let holds = |word: &Argument| word.text.contains('{');
    if !parts.iter().any(|part| matches!(part, WrappedPart::Text(words) if words.iter().any(holds))) {
        return;
    }
    let parameters = parameters(rest);
    if parameters.as_ref().is_some_and(Vec::is_empty) {
        return;
    }
    let filled = |word: &Argument| {
        let mut texts = vec![word.fixed()?.to_owned()];
        for (name, values) in parameters.as_ref()? {
            let place = format!("{{{name}}}");
            if texts.iter().any(|text| text.contains(&place)) {
                let fill = |text: String| -> Vec<String> {
                    values.iter().map(|value| text.replace(&place, value)).collect()
                };
                texts = texts.into_iter().flat_map(fill).take(MOST_COMMANDS + 1).collect();
            }
        }
        (texts.len() <= MOST_COMMANDS).then_some(texts)
    };
    let mut all = Vec::new();
    for part in parts.drain(..) {
        let WrappedPart::Text(words) = &part else {
            all.push(part);
            continue;
        };
        let [word] = words.as_slice() else {
            all.push(part);
            continue;
        };
        if !holds(word) {
            all.push(part);
        } else if let Some(texts) = filled(word) {
            all.extend(texts.iter().map(|text| WrappedPart::Text(vec![word.piece(text)])));
        } else {
            all.push(part);
            all.push(WrappedPart::Unknown("what is put into the command is not known"));
        }
    }
    *parts = all;
}

/// Returns the parameters of `hyperfine` and their values; `None` if these are not all known.
fn parameters(rest: &[Argument]) -> Option<Vec<(String, Vec<String>)>> {
    let mut found = Vec::new();
    let mut has_step = false;
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        // However it goes on, it is no option.
        if word.fixed().is_none() && word.text.starts_with(|letter: char| letter.is_ascii_alphanumeric()) {
            continue;
        }
        match word.fixed()? {
            "--" => break,
            "-L" | "--parameter-list" => {
                let (name, list) = (words.next()?.fixed()?, words.next()?.fixed()?);
                if list.contains(['\\', '{']) {
                    return None;
                }
                found.push((name.to_owned(), list.split(',').map(str::to_owned).collect(), false));
            }
            "-P" | "--parameter-scan" => {
                let name = words.next()?.fixed()?;
                let first: i64 = words.next()?.fixed()?.parse().ok()?;
                let last: i64 = words.next()?.fixed()?.parse().ok()?;
                let count = usize::try_from(last.checked_sub(first)?).ok()?;
                if count >= MOST_COMMANDS {
                    return None;
                }
                found.push((
                    name.to_owned(),
                    (first..=last).map(|number| number.to_string()).collect(),
                    true,
                ));
            }
            text if text.starts_with("--parameter") => return None,
            text if text.starts_with("--") => {}
            text if text.starts_with('-') && text.contains(['L', 'P']) => return None,
            text => has_step |= text.starts_with('-') && text.contains('D'),
        }
    }
    // The steps of a scan may be parts of a number.
    let is_stepped = has_step && found.iter().any(|(_, _, is_scan)| *is_scan);
    (!is_stepped).then(|| found.into_iter().map(|(name, values, _)| (name, values)).collect())
}

/// Returns the words of `npx` before the program that it starts, whose options are its own; all of them if an option may
/// take the next word.
fn own_words(rest: &[Argument]) -> &[Argument] {
    const SWITCHES: &[&str] =
        &["-q", "-y", "--no", "--no-install", "--offline", "--prefer-offline", "--quiet", "--yes"];
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        match word.fixed() {
            Some("-p" | "--package") => at += 2,
            Some(text) if SWITCHES.contains(&text) || text.starts_with("--package=") => at += 1,
            Some(text) if !text.starts_with('-') => return rest.get(..at).unwrap_or(rest),
            _ => return rest,
        }
    }
    rest
}

/// Returns the command in an option of `ssh` such as `ProxyCommand=…`.
fn ssh_command(option: &Argument) -> Option<WrappedPart> {
    let (key, command) = option.text.split_once(['=', ' '])?;
    SSH_COMMANDS
        .contains(&key.trim().to_ascii_lowercase().as_str())
        .then(|| WrappedPart::Text(vec![option.piece(command.trim_start_matches(['=', ' ']))]))
}
