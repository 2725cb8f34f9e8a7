//! What is remembered as rules of a settings file, or as drafts of command profiles.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use portcullis_core::profile::Profiles;
use portcullis_settings::profile_draft::is_plain_name;
use serde_json::json;

use super::{KnownYes, text};

/// Returns a settings file with an allow rule for each command.
pub(super) fn rules(known: &[KnownYes]) -> String {
    let rules: BTreeSet<String> = known.iter().map(|(_, yes)| format!("Bash({})", text::rule(yes))).collect();
    format!("{:#}\n", json!({ "permissions": { "allow": rules } }))
}

/// What was seen of a program that nobody knows.
#[derive(Default)]
struct SeenProgram<'a> {
    /// Its subcommands, with the options that stood behind them and whether these have values.
    subcommands: BTreeMap<String, BTreeSet<(&'a str, bool)>>,
}

/// Returns a draft for each program without a profile. What it does stays unknown until somebody writes it down.
pub(super) fn profiles(known: &[KnownYes]) -> String {
    let mut programs: BTreeMap<&str, SeenProgram<'_>> = BTreeMap::new();
    for (_, yes) in known {
        if is_plain_name(&yes.program) && !Profiles::BUILT_IN.knows(&yes.program) {
            let seen = programs.entry(&yes.program).or_default();
            let options = seen.subcommands.entry(yes.subcommand.join(" ")).or_default();
            options.extend(yes.words.iter().filter(|word| word.starts_with('-')).map(|word| {
                word.split_once('=').map_or((word.as_str(), false), |(option, _)| (option, true))
            }));
        }
    }
    if programs.is_empty() {
        return "# every program that is remembered has a profile already\n".to_owned();
    }
    let drafts: Vec<String> = programs.iter().map(|(name, seen)| draft(name, seen)).collect();
    drafts.join("\n")
}

fn draft(name: &str, seen: &SeenProgram<'_>) -> String {
    let mut out = format!(
        "# Put this into a file of its own, and in the place of `unknown` what the program does.\nnames = [{name:?}]\nsummary = \"say what it is for\"\n"
    );
    for (subcommand, options) in &seen.subcommands {
        // Writing to a String cannot fail.
        if !subcommand.is_empty() {
            let _ = write!(out, "\n[sub.{subcommand:?}]\n");
        }
        out.push_str("does = [\"unknown\"]\noperands = [\"text*\"]\n");
        for (key, has_value) in [("switches", false), ("values", true)] {
            let names: Vec<&str> = options
                .iter()
                .filter(|(_, valued)| *valued == has_value)
                .map(|(option, _)| *option)
                .collect();
            if !names.is_empty() {
                let _ = writeln!(out, "{key} = {:?}", names.join(" "));
            }
        }
    }
    out
}
