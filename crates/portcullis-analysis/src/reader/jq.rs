//! `jq` and `yq`: a filter, then files.

use super::CommandContext;
use super::{certain, has, nameless, possible};
use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::lists::readers::jq::LONG_FLAGS;
use crate::profile::{Match, Use};

/// Options of `jq` with a name and a plain value.
const PAIRS: &[&str] = &["--arg", "--argjson"];

/// Options of `jq` with a name and a file.
const FILE_PAIRS: &[&str] = &["--argfile", "--rawfile", "--slurpfile"];

/// Words of filters of `yq` and its kin that run a program or open a file of their own choice.
const OPENING: &[&str] = &["import", "include", "readFile", "system"];

/// Reads the arguments of `jq`.
pub(super) fn jq(context: &CommandContext<'_>, _: &Match<'_>) -> Vec<Use> {
    let mut uses = Vec::new();
    let mut operands = Vec::new();
    let mut is_filter_named = false;
    let mut are_files = true;
    let mut words = context.invocation.operands().iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        match text {
            _ if !word.is_option() => {
                // What follows --args is data.
                if are_files || (operands.is_empty() && !is_filter_named) {
                    operands.push(word);
                }
            }
            "--" => {}
            "--args" | "--jsonargs" => are_files = false,
            "--indent" => _ = words.next(),
            "-f" | "--from-file" => is_filter_named = true,
            "-L" | "--library-path" => uses.extend(words.next().map(|place| certain(Act::LoadCode, place))),
            _ if PAIRS.contains(&text) => _ = words.nth(1),
            _ if FILE_PAIRS.contains(&text) => uses.extend(words.nth(1).map(|file| certain(Act::Read, file))),
            _ if LONG_FLAGS.contains(&text) => {}
            _ if text.starts_with("--") => uses.push(certain(Act::Unknown, word)),
            _ if text.starts_with("-L") => {
                let place = text.strip_prefix("-L").unwrap_or_default();
                uses.push(certain(Act::LoadCode, &word.piece(place)));
            }
            _ => {
                is_filter_named |= text.contains('f');
                let is_known = text.chars().skip(1).all(|letter| "nrjascCMSeRhVf01234567".contains(letter));
                uses.extend((!is_known).then(|| certain(Act::Unknown, word)));
            }
        }
    }
    let mut operands = operands.into_iter();
    if !is_filter_named {
        uses.extend(operands.next().and_then(filter_use));
    }
    uses.extend(operands.filter(|file| file.text != "-").map(|file| certain(Act::Read, file)));
    uses
}

/// A filter changes nothing, but it may read modules and the environment.
fn filter_use(filter: &Argument) -> Option<Use> {
    if ["import", "include"].iter().any(|word| has_word(&filter.text, word)) {
        return Some(certain(Act::Unknown, filter));
    }
    if filter.knowledge == Knowledge::Dynamic {
        return Some(possible(Act::Read, filter));
    }
    let shows = filter.text.contains("$ENV") || has_word(&filter.text, "env");
    shows.then(|| nameless(Act::Environment))
}

/// Says whether a text holds a word that is no part of another one and no field.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|after| after.chars().next());
        let is_part = |letter: Option<char>| {
            letter.is_some_and(|letter| letter.is_alphanumeric() || "._$\"'-".contains(letter))
        };
        let goes_on = after.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        !is_part(before) && !goes_on
    })
}

/// Reads the operands of `yq`: a filter and files, or one file alone.
pub(super) fn yq(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let is_in_place = has(found, &["-i"]);
    let mut operands: &[Argument] = &found.wanted.operands;
    if !has(found, &["--from-file"])
        && let [filter, files @ ..] = operands
        && (!files.is_empty() || !is_file(filter))
    {
        operands = files;
        let text = filter.text.as_str();
        if text.contains("load") || OPENING.iter().any(|word| has_word(text, word)) {
            uses.push(certain(Act::Unknown, filter));
        }
        if has_word(text, "env")
            || has_word(text, "strenv")
            || has_word(text, "envsubst")
            || text.contains("$ENV")
        {
            uses.push(nameless(Act::Environment));
        }
        if filter.knowledge == Knowledge::Dynamic {
            uses.push(possible(Act::Unknown, filter));
        }
    }
    // The names of the files it splits into come of an expression.
    let splits = found.wanted.options.iter().filter(|(option, _)| *option == "-s");
    let splits = splits.filter_map(|(_, value)| value.as_ref());
    uses.extend(splits.filter(|word| word.text.contains('/')).map(|word| certain(Act::Unknown, word)));
    for file in operands.iter().filter(|file| file.text != "-") {
        uses.push(certain(Act::Read, file));
        uses.extend(is_in_place.then(|| certain(Act::Write, file)));
    }
    uses
}

fn is_file(word: &Argument) -> bool {
    let text = word.text.as_str();
    [".yaml", ".yml", ".json", ".xml", ".toml", ".properties", ".csv"].iter().any(|end| text.ends_with(end))
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn the_filter_is_no_file_and_options_may_take_two_words() {
        assert_eq!(effects("jq .a x"), ["read x"]);
        assert_eq!(effects("jq -r --arg x y '.a[$x]' f"), ["read f"]);
        assert_eq!(effects("jq -n --slurpfile a b.json '$a'"), ["read b.json"]);
        assert_eq!(effects("jq -rf run.jq f"), ["read f", "read run.jq"]);
        assert!(effects("jq -n '$ARGS' --args a b").is_empty());
        assert_eq!(effects("jq '.env.x' f"), ["read f"]);
    }

    #[test]
    fn modules_and_the_environment_are_seen() {
        assert_eq!(
            effects("jq 'import \"/etc/x\" as $d; $d' f"),
            ["read f", "unknown import \"/etc/x\" as $d; $d"]
        );
        assert_eq!(effects("jq -L lib . f"), ["load-code lib", "read f"]);
        assert_eq!(effects("jq -n 'env'"), ["environment"]);
        assert_eq!(effects("jq -n '$ENV.HOME'"), ["environment"]);
    }

    #[test]
    fn yq_writes_in_place_if_told() {
        assert_eq!(effects("yq '.a' x.yaml"), ["read x.yaml"]);
        assert_eq!(effects("yq x.yaml"), ["read x.yaml"]);
        assert_eq!(effects("yq -i '.a = 1' x.yaml"), ["read x.yaml", "write x.yaml"]);
        assert_eq!(effects("yq e -i '.a = 1' x.yaml"), ["read x.yaml", "write x.yaml"]);
        assert_eq!(
            effects("yq 'import \"/etc/x\" as $d; $d' x.yaml"),
            ["read x.yaml", "unknown import \"/etc/x\" as $d; $d"]
        );
        assert_eq!(effects("yq '.include' x.yaml"), ["read x.yaml"]);
    }
}
