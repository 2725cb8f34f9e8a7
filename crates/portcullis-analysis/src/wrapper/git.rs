//! Commands that `git` runs: aliases, hooks in configuration values, `rebase --exec`, `bisect run`, filters.

use super::{Unwrapped, WrappedPart};
use crate::argument::Argument;
use crate::global_options;
use crate::lists::programs::git::{RUN_KEYS, RUNNING};
use crate::option::values;

/// Finds what `git` would run besides itself.
pub(super) fn peel(rest: &[Argument]) -> Option<Unwrapped> {
    let mut parts: Vec<WrappedPart> = Vec::new();
    let mut words = rest.iter();
    let mut verb = None;
    while let Some(word) = words.next() {
        if !word.is_option() {
            verb = Some(word);
            break;
        }
        if let Some(setting) = word.text.strip_prefix("--config-env=") {
            parts.extend(from_environment(setting));
        } else if global_options::find("git").is_some_and(|options| options.takes_value(word)) {
            let value = words.next();
            match word.text.as_str() {
                "-c" => parts.extend(value.and_then(setting)),
                "--config-env" => parts.extend(value.and_then(|value| from_environment(&value.text))),
                _ => {}
            }
        }
    }
    let rest = words.as_slice();
    if let Some(verb) = verb {
        parts.extend(of_subcommand(&verb.text, rest));
    }
    (!parts.is_empty()).then(|| Unwrapped::changing(parts))
}

/// Reads `git-push origin` as `git push origin`.
pub(super) fn peel_dashed(name: &str, program: &Argument, rest: &[Argument]) -> Option<Unwrapped> {
    let verb = name.strip_prefix("git-").filter(|verb| !verb.is_empty())?;
    let mut words = vec![program.piece("git"), program.piece(verb)];
    words.extend(rest.iter().cloned());
    Some(Unwrapped::changing(vec![WrappedPart::Command(words)]))
}

/// Finds what a subcommand runs by its options or operands.
fn of_subcommand(verb: &str, rest: &[Argument]) -> Vec<WrappedPart> {
    let text = |value: Argument| WrappedPart::Text(vec![value]);
    if let Some((_, options)) = RUNNING.iter().find(|(name, _)| *name == verb) {
        let mut parts: Vec<WrappedPart> = values(rest, options).into_iter().map(text).collect();
        if verb == "clone" {
            parts.extend(values(rest, &["-c", "--config"]).iter().filter_map(setting));
        }
        return parts;
    }
    let after = |name: &str| {
        let place = rest.iter().position(|word| word.text == name)?;
        let words = rest.get(place + 1..).unwrap_or_default().iter().skip_while(|word| word.is_option());
        Some(words.cloned().collect::<Vec<_>>()).filter(|words| !words.is_empty())
    };
    match verb {
        "bisect" => after("run").map(WrappedPart::Command).into_iter().collect(),
        "submodule" => after("foreach").map(WrappedPart::Text).into_iter().collect(),
        "config" => {
            let operands: Vec<&Argument> =
                rest.iter().filter(|word| !word.is_option() && word.text != "set").collect();
            match operands.as_slice() {
                [key, value, ..] => run_setting(&key.text, value).into_iter().collect(),
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// Reads `key=VARIABLE` of `git --config-env`.
fn from_environment(setting: &str) -> Option<WrappedPart> {
    let key = setting.split('=').next()?.to_ascii_lowercase();
    (is_run(&key) || is_wide(&key)).then_some(WrappedPart::Unknown("what git runs comes from a variable"))
}

/// Says whether git runs the value of a key.
fn is_run(key: &str) -> bool {
    key.starts_with("alias.") || key.starts_with("pager.") || RUN_KEYS.iter().any(|end| key.ends_with(end))
}

/// Says whether a key brings in more configuration or programs from elsewhere.
fn is_wide(key: &str) -> bool {
    key.starts_with("include") || key == "core.hookspath"
}

/// Reads `key=value` of `git -c`.
fn setting(word: &Argument) -> Option<WrappedPart> {
    let (key, value) = word.text.split_once('=')?;
    run_setting(key, &word.piece(value))
}

/// Returns what a configuration value makes git run.
fn run_setting(key: &str, value: &Argument) -> Option<WrappedPart> {
    let key = key.to_ascii_lowercase();
    let command = value.text.strip_prefix('!');
    if key.starts_with("alias.") {
        let text = command.map_or_else(|| format!("git {}", value.text), str::to_owned);
        return Some(WrappedPart::Text(vec![value.piece(&text)]));
    }
    if is_wide(&key) {
        return Some(WrappedPart::Unknown("what git runs comes from files it is pointed to"));
    }
    is_run(&key).then(|| WrappedPart::Text(vec![value.piece(command.unwrap_or(&value.text))]))
}
