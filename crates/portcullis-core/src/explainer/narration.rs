//! What a call does, told in the order of its commands.

use std::collections::BTreeSet;

use portcullis_analysis::effect::{Act, Effect, Target, Weight};
use portcullis_analysis::profile::Profile;
use portcullis_analysis::{Argument, Invocation, Survey, base_name};

use super::LONGEST_EXPLANATION;
use crate::case::Case;
use crate::tool::ToolKind;
use crate::wording::{
    Circumstance, Circumstances, Detail, EffectGroup, LONGEST_QUOTE, capital, clause_of, enumerate, merge,
    prose, quote,
};

/// How many groups are told; of more, the lighter ones are only counted.
const MOST_GROUPS: usize = 5;

/// How much of the targets is told: less, if more does not fit.
const DETAILS: &[Detail] = &[
    Detail { count: 4, length: 80 },
    Detail { count: 2, length: 60 },
    Detail { count: 1, length: 40 },
    Detail { count: 1, length: 16 },
];

/// How much of the targets is told where only one group is.
const BRIEF: Detail = Detail { count: 2, length: 60 };

/// Tells what a call does.
pub(super) fn of(case: &Case) -> String {
    let story = CallNarration::of(case);
    let mut told = String::new();
    for detail in DETAILS {
        told = story.tell(*detail);
        if told.chars().count() <= LONGEST_EXPLANATION {
            break;
        }
    }
    told
}

/// Tells what some effects of a call do, as a clause with its subject.
pub(super) fn in_brief<'a>(case: &'a Case, effects: &[&'a Effect]) -> String {
    let mut parts = NarratedEffects::of(case, effects.iter().copied());
    let left = keep_heaviest(&mut parts.groups, 2);
    let mut clauses: Vec<String> = parts.groups.iter().map(|group| group.clause(BRIEF)).collect();
    if left > 0 {
        clauses.push(format!("does {left} more things"));
    }
    let circumstance = parts.groups.first().map(|group| group.circumstance.words()).unwrap_or_default();
    match (clauses.is_empty(), parts.gaps.first()) {
        (true, Some(gap)) => gap.clone(),
        (true, None) => String::new(),
        (false, _) => format!("{circumstance}it {}", enumerate(&clauses)),
    }
}

/// Tells what a script does that a call runs, as a clause.
pub(super) fn of_script(effect: &Effect) -> String {
    match (effect.act, &effect.target) {
        (Act::Unknown, Target::Name(what)) => format!("it is not known {}", prose(what, "")),
        _ => format!("a script that it runs {}", clause_of(effect)),
    }
}

/// Effects told apart: what is done, and what is not known.
struct NarratedEffects<'a> {
    groups: Vec<EffectGroup<'a>>,
    /// What is not known, each a clause that is said once.
    gaps: Vec<String>,
    /// The effects behind both.
    effects: Vec<&'a Effect>,
}

impl<'a> NarratedEffects<'a> {
    fn of(case: &'a Case, effects: impl Iterator<Item = &'a Effect>) -> Self {
        let circumstances = Circumstances::of(case.survey(), case.effects());
        let mut effects: Vec<&Effect> = effects.collect();
        if !effects.iter().all(|effect| circumstances.tell(effect)) {
            effects.retain(|effect| !circumstances.tell(effect));
        }
        // What a command reads is told before what it changes.
        effects.sort_by_key(|effect| (effect.invocation.unwrap_or(usize::MAX), effect.act.weight()));
        let (unknown, known): (Vec<&Effect>, Vec<&Effect>) =
            effects.iter().copied().partition(|effect| is_gap(case.survey(), effect));
        let mut groups =
            merge(case.call().tool(), known.iter().map(|effect| (*effect, circumstances.of_effect(effect))));
        if groups.len() > 1 {
            groups.retain(|group| !group.is_idle());
        }
        if !unknown.is_empty() {
            groups.retain(|group| !group.is_blank());
        }
        Self { groups, gaps: gaps_of(case, &unknown), effects }
    }
}

/// Says what is not known, the clearest first.
fn gaps_of(case: &Case, effects: &[&Effect]) -> Vec<String> {
    let mut all: Vec<(Clarity, String)> = effects.iter().map(|effect| gap_clause(case, effect)).collect();
    all.sort_by_key(|(clarity, _)| *clarity);
    let mut seen = BTreeSet::new();
    all.retain(|(_, clause)| seen.insert(clause.clone()));
    all.into_iter().map(|(_, clause)| clause).collect()
}

/// How well a clause says what is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Clarity {
    /// The words are named that are only known when it runs.
    Words,
    /// The part is named that is not known.
    Part,
    /// It is said why.
    Why,
}

struct CallNarration<'a> {
    case: &'a Case,
    parts: NarratedEffects<'a>,
    /// How many groups are only counted.
    left: usize,
    /// The one command that does everything, with what is known of its program.
    lead: Option<(&'a Invocation, Profile<'a>)>,
}

impl<'a> CallNarration<'a> {
    fn of(case: &'a Case) -> Self {
        let mut parts = NarratedEffects::of(case, case.effects().iter());
        let left = keep_heaviest(&mut parts.groups, MOST_GROUPS);
        let is_shell = matches!(case.call().kind(), ToolKind::Shell | ToolKind::PowerShell);
        let lead = if is_shell { lead_of(case, &parts.effects) } else { None };
        Self { case, parts, left, lead }
    }

    fn tell(&self, detail: Detail) -> String {
        let mut sentences = self.group_sentences(detail);
        if let Some(gap) = self.parts.gaps.first() {
            let more = match self.parts.gaps.len() - 1 {
                0 => String::new(),
                1 => "; one more part is not known".to_owned(),
                more => format!("; {more} more parts are not known"),
            };
            sentences.push(format!("{}{more}.", capital(gap)));
        }
        if sentences.is_empty() {
            return "It does nothing that is seen outside the shell.".to_owned();
        }
        sentences.join(" ")
    }

    /// Makes a sentence for each circumstance.
    fn group_sentences(&self, detail: Detail) -> Vec<String> {
        let mut sentences: Vec<(&Circumstance, Vec<String>)> = Vec::new();
        for group in &self.parts.groups {
            let clause = group.clause(detail);
            match sentences.iter_mut().find(|(circumstance, _)| **circumstance == group.circumstance) {
                Some((_, clauses)) => clauses.push(clause),
                None => sentences.push((&group.circumstance, vec![clause])),
            }
        }
        if let (true, Some((_, clauses))) = (self.left > 0, sentences.last_mut()) {
            clauses.push(format!("does {} more things", self.left));
        }
        sentences.iter().map(|(circumstance, clauses)| self.sentence(circumstance, clauses)).collect()
    }

    fn sentence(&self, circumstance: &Circumstance, clauses: &[String]) -> String {
        let words = circumstance.words();
        let clauses = enumerate(clauses);
        let sentence = match self.lead {
            Some((command, profile)) => format!("{words}{}.", self.led(command, profile, &clauses)),
            None => format!("{words}{} {clauses}.", self.doer()),
        };
        capital(&sentence)
    }

    /// Makes the sentence of a call that is one command: what its program is for, and what it does here.
    fn led(&self, command: &Invocation, profile: Profile<'_>, clauses: &str) -> String {
        let program = command.program().map_or("", |program| base_name(program.as_written()));
        let is_idle = matches!(self.parts.groups.as_slice(), [only] if only.is_idle());
        let summary = profile.summary;
        if let Some(name) = subcommand_of(command, profile) {
            let name = quote(&format!("{program} {name}"), LONGEST_QUOTE);
            return if is_idle {
                format!("{name} only looks and changes nothing")
            } else {
                format!("{name} {clauses}")
            };
        }
        let name = quote(program, LONGEST_QUOTE);
        let verb = |text: &str| text.split(' ').next().map(str::to_owned);
        match is_idle {
            true => format!("{name} {summary} and changes nothing"),
            false if verb(summary) == verb(clauses) => format!("{name} {clauses}"),
            false => format!("{name} {summary}: it {clauses}"),
        }
    }

    /// Returns who does it: the tool, if it is no shell.
    fn doer(&self) -> String {
        let call = self.case.call();
        match call.kind() {
            ToolKind::Shell | ToolKind::PowerShell => "it".to_owned(),
            ToolKind::Mcp => mcp_name(call.tool()),
            _ => format!("the tool {}", quote(call.tool(), 60)),
        }
    }
}

/// Describes a tool of an MCP server.
fn mcp_name(tool: &str) -> String {
    match tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        Some((server, name)) => format!("the tool {} of the server {}", quote(name, 60), quote(server, 60)),
        None => format!("the tool {}", quote(tool, 60)),
    }
}

/// Keeps the heaviest groups in their order, and returns how many are left out.
fn keep_heaviest(groups: &mut Vec<EffectGroup<'_>>, most: usize) -> usize {
    let mut order: Vec<(std::cmp::Reverse<Weight>, usize)> =
        groups.iter().enumerate().map(|(place, group)| (std::cmp::Reverse(group.weight()), place)).collect();
    order.sort_unstable();
    let left = groups.len().saturating_sub(most);
    let last = order.get(most).copied();
    let mut place = 0;
    groups.retain(|group| {
        let own = (std::cmp::Reverse(group.weight()), place);
        place += 1;
        last.is_none_or(|last| own < last)
    });
    left
}

/// Says whether an effect stands for a part that could not be read, rather than for a program nobody knows.
fn is_gap(survey: &Survey, effect: &Effect) -> bool {
    let is_program = |name: &str| {
        let command = effect.invocation.and_then(|place| survey.invocations.get(place));
        command.is_some_and(|command| command.program_name() == Some(name))
    };
    effect.act == Act::Unknown && matches!(&effect.target, Target::Name(name) if !is_program(name))
}

/// Says what is not known, as a clause.
fn gap_clause(case: &Case, gap: &Effect) -> (Clarity, String) {
    let why = gap.target.written();
    if gap.word.is_some() || why == case.call().tool() {
        return (Clarity::Part, format!("what {} does is not known", quote(why, 80)));
    }
    let words = case.call().command().map(|command| gap.span.of(command)).unwrap_or_default();
    if why.contains("only known at run time") && !words.is_empty() {
        return (Clarity::Words, format!("what {} runs is only known when it runs", quote(words, 80)));
    }
    (Clarity::Why, format!("part of it is not understood: {}", prose(why, "")))
}

/// Returns the subcommand that a command names, if its program has any.
fn subcommand_of<'a>(command: &Invocation, profile: Profile<'a>) -> Option<&'a str> {
    let mut words = command.operands().iter().filter_map(Argument::fixed);
    words.find_map(|word| profile.form.subcommands().map(|(name, _)| name).find(|name| *name == word))
}

/// Finds the one command that all effects come from, if its program is known.
fn lead_of<'a>(case: &'a Case, effects: &[&Effect]) -> Option<(&'a Invocation, Profile<'a>)> {
    let mut effects = effects.iter();
    let place = effects.next()?.invocation?;
    if !effects.all(|effect| effect.invocation == Some(place)) {
        return None;
    }
    let command = case.survey().invocations.get(place)?;
    let name = command.program_name()?;
    let profiles = &case.context().profiles;
    let profile = match case.call().kind() {
        ToolKind::PowerShell => profiles.find_cmdlet(name),
        _ => profiles.find(name),
    };
    profile.map(|profile| (command, profile))
}
