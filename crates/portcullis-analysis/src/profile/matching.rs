//! What a profile says of a command: acts, and the words they are done to.

use super::words::{Words, is_sharp};
use super::{Flag, FlagValue, Form, Profile, Role, Slot, Twist};
use crate::act::Act;
use crate::argument::Argument;
use crate::effect::Certainty;

/// What a profile says of one command.
#[derive(Debug)]
pub struct Match<'a> {
    /// The innermost form that was reached.
    pub form: Form<'a>,
    /// The subcommands that were taken, in order.
    pub path: Vec<&'a str>,
    /// What is done, to which word.
    pub uses: Vec<Use>,
    /// What the reader of the form must look at: operands and options in their order.
    pub wanted: Wanted<'a>,
}

/// Words for code that reads what a table cannot.
#[derive(Debug, Default)]
pub struct Wanted<'a> {
    /// The operands of the innermost form.
    pub operands: Vec<Argument>,
    /// The listed options by their first spelling, with their values.
    pub options: Vec<(&'a str, Option<Argument>)>,
}

/// One act on one word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// What is done.
    pub act: Act,
    /// What it is done to, if to something.
    pub word: Option<Argument>,
    /// How sure it is.
    pub certainty: Certainty,
}

impl Use {
    fn certain(act: Act, word: Option<Argument>) -> Self {
        Self { act, word, certainty: Certainty::Certain }
    }
}

/// Reads the words after a program's name by its profile.
pub fn read<'a>(profile: Profile<'a>, words: &'a [Argument]) -> Match<'a> {
    let sorted = Words::sort(profile.form, words);
    let form = sorted.innermost();
    let mut uses = if asks_for_help(&sorted, words) { Vec::new() } else { uses_of(&sorted) };
    let mut dry =
        sorted.flags.iter().filter(|(flag, ..)| flag.twist == Twist::Dry).map(|(flag, ..)| *flag).peekable();
    if dry.peek().is_some() {
        // A trial does nothing at all; an option that asks a question leaves what other options do.
        let kept = if dry.any(is_trial) { Vec::new() } else { sharp_acts(&sorted) };
        uses.retain(|found| found.act.is_observing());
        uses.extend(kept);
    }
    let options = sorted
        .flags
        .iter()
        .filter_map(|(flag, value, _)| flag.spellings().next().map(|spelling| (spelling, value.clone())));
    let wanted = Wanted {
        options: options.collect(),
        operands: sorted.operands.iter().map(|word| (*word).clone()).collect(),
    };
    Match { form, path: sorted.path, uses, wanted }
}

/// Spellings of options that make everything a trial, whatever other options say.
const TRIALS: &[&str] = &[
    "-n",
    "-h",
    "-V",
    "-v",
    "--dry-run",
    "--dryrun",
    "--help",
    "--just-print",
    "--noop",
    "--no-act",
    "--pretend",
    "--recon",
    "--simulate",
    "--test",
    "--version",
    "--what-if",
    "-WhatIf",
    "-dry-run",
    "-help",
    "-n=true",
    "/?",
];

fn is_trial(flag: Flag<'_>) -> bool {
    flag.spellings().any(|spelling| TRIALS.contains(&spelling) || spelling.contains("dry"))
}

/// Returns the acts that options name by themselves.
fn sharp_acts(sorted: &Words<'_>) -> Vec<Use> {
    let acting = sorted.flags.iter().filter(|(flag, ..)| flag.twist == Twist::None);
    acting.flat_map(|(flag, value, _)| flag.acts().map(|act| Use::certain(act, value.clone()))).collect()
}

/// Says whether nothing but help or the version is asked for.
fn asks_for_help(sorted: &Words<'_>, words: &[Argument]) -> bool {
    let asks = |word: &Argument| matches!(word.fixed(), Some("--help" | "--version"));
    // Code of the project runs before it shows its help.
    let runs_project = sorted.innermost().does().any(|act| act == Act::RunProject);
    !runs_project
        && words.split_last().is_some_and(|(last, before)| asks(last) && before.len() == sorted.path.len())
}

fn uses_of(sorted: &Words<'_>) -> Vec<Use> {
    let form = sorted.innermost();
    let mut uses = Vec::new();
    let mut targets: Vec<Argument> = Vec::new();
    let mut dropped = 0;
    let mut instead: Option<Vec<Act>> = None;
    for (flag, value, _) in &sorted.flags {
        flag_uses(*flag, value.as_ref(), &mut uses, &mut targets);
        dropped += usize::from(flag.twist == Twist::Drop);
        if flag.twist == Twist::Instead {
            instead.get_or_insert_default().extend(flag.acts());
        }
    }
    let slots = form.operands();
    let slots = slots.get(dropped.min(1)..).unwrap_or_default();
    let is_sub_missing = form.has_subcommands() && !form.has_operands();
    for (at, operand) in sorted.operands.iter().enumerate() {
        if operand.is_appended() {
            // It stands for any number of words, so that it may take every place that is left.
            for slot in slots.iter().skip(at + 1) {
                role_uses(slot.role, operand, &mut uses, &mut targets);
            }
        }
        match slot_for(slots, at, sorted.operands.len()) {
            Some(slot) => role_uses(slot.role, operand, &mut uses, &mut targets),
            None if is_sub_missing && at > 0 => {}
            None => uses.push(Use::certain(Act::Unknown, Some((*operand).clone()))),
        }
    }
    for act in instead.unwrap_or_else(|| form.does().collect()) {
        if targets.is_empty() {
            uses.push(Use::certain(act, None));
        }
        uses.extend(targets.iter().map(|word| Use::certain(act, Some(word.clone()))));
    }
    uses.extend(sorted.strangers.iter().map(|word| Use::certain(Act::Unknown, Some((*word).clone()))));
    if is_loose(sorted) {
        uses.extend(sorted.loose.iter().map(|word| Use {
            act: Act::Unknown,
            word: Some((*word).clone()),
            certainty: Certainty::Possible,
        }));
    }
    uses
}

/// Says whether a word that turned out to be an option could change what is done.
fn is_loose(sorted: &Words<'_>) -> bool {
    let is_strict = !sorted.innermost().other_options_are_harmless;
    is_strict || sorted.innermost().options().any(is_sharp)
}

fn flag_uses(flag: Flag<'_>, value: Option<&Argument>, uses: &mut Vec<Use>, targets: &mut Vec<Argument>) {
    let role = match flag.value {
        FlagValue::None => None,
        FlagValue::Required(role) | FlagValue::Attached(role) => Some(role),
    };
    if let (Some(role), Some(value)) = (role, value) {
        role_uses(role, value, uses, targets);
    }
    if flag.twist != Twist::Instead {
        uses.extend(flag.acts().map(|act| Use::certain(act, value.cloned())));
    }
}

fn role_uses(role: Role, word: &Argument, uses: &mut Vec<Use>, targets: &mut Vec<Argument>) {
    match role {
        Role::Text | Role::Command => {}
        // What runs in a process substitution is listed on its own.
        Role::Act(act) if word.is_process() && (act.is_observing() || act == Act::Write) => {}
        // Standard input or output.
        Role::Act(act) if word.text == "-" && (act.is_observing() || act == Act::Write) => {}
        Role::Target => targets.push(word.clone()),
        Role::Data => {
            let file =
                word.text.split_once('@').filter(|(before, _)| before.is_empty() || before.ends_with('='));
            if let Some((_, file)) = file.filter(|(_, file)| *file != "-") {
                uses.push(Use::certain(Act::Read, Some(word.piece(file))));
            }
        }
        Role::Act(act) => uses.push(Use::certain(act, Some(word.clone()))),
    }
}

/// Finds the place of an operand: fixed places at the front, fixed ones at the back, any number between.
fn slot_for(slots: &[Slot], at: usize, count: usize) -> Option<Slot> {
    let Some(many) = slots.iter().position(|slot| slot.is_many) else {
        return slots.get(at).copied();
    };
    if at < many {
        return slots.get(at).copied();
    }
    let back = slots.len() - many - 1;
    let from_end = count - at;
    if from_end <= back.min(count - many) {
        slots.get(slots.len() - from_end).copied()
    } else {
        slots.get(many).copied()
    }
}
