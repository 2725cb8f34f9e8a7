//! What a profile says of a command: acts, and the words they are done to.

use portcullis_shell::Span;

use super::words::{Words, is_sharp};
use super::{Flag, FlagValue, Form, OtherOptions, Profile, Role, Slot, Twist};
use crate::act::Act;
use crate::argument::Argument;
use crate::effect::Certainty;
use crate::lists::programs::services::{CHANGING, LOOKING, SECRET};

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
    /// Whether it only shows its help, its version or what it would do.
    pub is_idle: bool,
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
    let asks = asks_for_help(&sorted, words);
    let mut uses = if asks { Vec::new() } else { uses_of(&sorted) };
    let trials: Vec<Flag<'_>> = trials(&sorted).collect();
    if !trials.is_empty() {
        // An option that asks a question leaves what other options do.
        let kept =
            if trials.iter().any(|flag| is_wholesale(*flag)) { Vec::new() } else { sharp_acts(&sorted) };
        let runs = !sorted.operands.is_empty();
        uses.retain(|found| outlasts_trial(found.act, runs));
        uses.extend(kept);
    }
    let is_idle = asks || !trials.is_empty();
    let options = sorted
        .flags
        .iter()
        .filter_map(|(flag, value, _)| flag.spellings().next().map(|spelling| (spelling, value.clone())));
    let wanted = Wanted {
        options: options.collect(),
        operands: sorted.operands.iter().map(|word| (*word).clone()).collect(),
    };
    Match { form, path: sorted.path, uses, wanted, is_idle }
}

/// Returns the options that make the command a trial: it shows what would be done, or its help.
///
/// Behind the word that is run, options are those of what runs: `go run x -h`.
fn trials<'a>(sorted: &Words<'a>) -> impl Iterator<Item = Flag<'a>> {
    let runs_operand = sorted.innermost().operands().iter().any(|slot| runs(slot.role));
    let end = sorted.operands.first().filter(|_| runs_operand).map_or(usize::MAX, |word| word.span.start);
    let dry =
        sorted.flags.iter().filter(move |(flag, _, word)| flag.twist == Twist::Dry && word.span.start < end);
    dry.map(|(flag, ..)| *flag)
}

/// Spellings of options that make everything a trial, whatever other options say.
const WHOLESALE: &[&str] = &[
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

fn is_wholesale(flag: Flag<'_>) -> bool {
    flag.spellings().any(|spelling| WHOLESALE.contains(&spelling) || spelling.contains("dry"))
}

/// Returns the acts that options name by themselves.
fn sharp_acts(sorted: &Words<'_>) -> Vec<Use> {
    let acting = sorted.flags.iter().filter(|(flag, ..)| flag.twist == Twist::None);
    acting.flat_map(|(flag, value, _)| flag.acts().map(|act| Use::certain(act, value.clone()))).collect()
}

fn runs(role: Role) -> bool {
    match role {
        Role::Text | Role::Target | Role::Data | Role::Key => false,
        Role::Command => true,
        Role::Act(act) => matches!(act, Act::Execute | Act::LoadCode | Act::Fetch | Act::InstallPackage),
    }
}

/// Says whether an act is done in a trial too: a program loads and runs what it needs to tell what it would do, and
/// what nobody knows may be anything. Code of the project runs if a word of the command may name it.
fn outlasts_trial(act: Act, has_operands: bool) -> bool {
    act.is_observing()
        || matches!(
            act,
            Act::Unknown
                | Act::LoadCode
                | Act::Execute
                | Act::Fetch
                | Act::InstallPackage
                | Act::WeakenTrust
                | Act::SecretRead
                | Act::SecretHunt
                | Act::Obfuscate
        )
        || act == Act::RunProject && has_operands
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
        if operand.is_appended() || operand.is_further() {
            // It stands for any number of words, so that it may take every place that is left.
            for slot in slots.iter().skip(at + 1) {
                role_uses(slot.role, operand, &mut uses, &mut targets);
            }
        }
        match slot_for(slots, at, sorted.operands.len()) {
            Some(slot) if slot.role == Role::Text && is_verb(sorted, operand) => {
                uses.push(Use::certain(Act::Unknown, Some((*operand).clone())));
            }
            Some(slot) => role_uses(slot.role, operand, &mut uses, &mut targets),
            None if is_sub_missing && at > 0 => {}
            None => uses.push(Use::certain(Act::Unknown, Some((*operand).clone()))),
        }
    }
    // Any name may stand for a pattern, and what it does without a verb nobody said.
    let is_bare = is_sub_missing && sorted.operands.is_empty() && form.does().next().is_none();
    if is_bare && sorted.path.last() == Some(&"*") {
        uses.push(Use::certain(Act::Unknown, None));
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
    forget_repeated(&mut uses);
    uses
}

/// Forgets what is done to the further words that a split word may become, where the same is done to that word.
fn forget_repeated(uses: &mut Vec<Use>) {
    let is_further =
        |found: &Use| found.word.as_ref().is_some_and(|word| word.is_appended() && word.bound.is_none());
    let first: Vec<(Act, Span)> = uses
        .iter()
        .filter(|found| !is_further(found))
        .filter_map(|found| Some((found.act, found.word.as_ref()?.span)))
        .collect();
    uses.retain(|found| {
        let place = found.word.as_ref().map(|word| (found.act, word.span));
        !is_further(found) || !place.is_some_and(|place| first.contains(&place))
    });
}

/// Says whether an operand of a subcommand that only looks is a verb that changes something: a table that names the
/// group names no such verb.
fn is_verb(sorted: &Words<'_>, operand: &Argument) -> bool {
    let looks = || sorted.innermost().does().all(|act| matches!(act, Act::Observe | Act::Query));
    let is_group = |name: &&str| {
        let last = name.rsplit([':', ' ']).next().unwrap_or(name);
        LOOKING.binary_search(&last).is_err() && !last.contains('*')
    };
    let verb = || {
        let mut parts = operand.text.split([':', '-', '_']);
        let is_listed = |part: Option<&str>| part.is_some_and(|part| CHANGING.binary_search(&part).is_ok());
        is_listed(parts.next()) || is_listed(parts.next_back())
    };
    sorted.path.last().is_some_and(is_group) && looks() && verb()
}

/// Says whether a word that turned out to be an option could change what is done.
fn is_loose(sorted: &Words<'_>) -> bool {
    let is_strict = sorted.innermost().other_options != OtherOptions::Harmless;
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
        Role::Key => {
            let act = if is_secret_name(&word.text) { Act::SecretRead } else { Act::Query };
            uses.push(Use::certain(act, Some(word.clone())));
        }
        Role::Act(act) => uses.push(Use::certain(act, Some(word.clone()))),
    }
}

/// Says whether a key, setting or column holds a secret, by its name.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET.iter().any(|part| name.contains(part))
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
