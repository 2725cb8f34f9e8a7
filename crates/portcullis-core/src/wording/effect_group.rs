//! Effects merged into what a person would call one thing: the same act, in the same circumstance, on several targets.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_analysis::effect::{Act, Certainty, Effect, Target, Weight};

use super::circumstance::Circumstance;
use super::quote::quote;

/// Several effects of one act.
#[derive(Debug)]
pub(crate) struct EffectGroup<'a> {
    pub(crate) act: Act,
    pub(crate) circumstance: Circumstance,
    certainty: Certainty,
    /// What it is done to, each once, as it is written.
    targets: Vec<&'a str>,
}

/// Targets that are described rather than named.
const UNKNOWN_FILES: &str = "files that are only known when it runs";
const FOUND_FILES: &str = "the files that are found";
const UNKNOWN_HOST: &str = "a host that is only known when it runs";

/// How long the target of a single effect may be, in characters.
const LONGEST_TARGET: usize = 80;

/// How much of the targets is said.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Detail {
    /// How many are named.
    pub(crate) count: usize,
    /// How long each may be, in characters.
    pub(crate) length: usize,
}

/// Merges effects, in the order in which their acts first appear. The tool itself is no target worth naming.
pub(crate) fn merge<'a>(
    tool: &str,
    effects: impl Iterator<Item = (&'a Effect, Circumstance)>,
) -> Vec<EffectGroup<'a>> {
    let mut groups: Vec<EffectGroup<'a>> = Vec::new();
    let mut places: BTreeMap<(Act, Certainty, Circumstance), usize> = BTreeMap::new();
    let mut seen: BTreeSet<(usize, &str)> = BTreeSet::new();
    let effects: Vec<(&Effect, Circumstance)> = effects.collect();
    let certain: BTreeSet<(Act, &str)> = effects
        .iter()
        .filter(|(effect, _)| effect.certainty == Certainty::Certain)
        .map(|(effect, _)| (effect.act, name_of(&effect.target)))
        .collect();
    for (effect, circumstance) in effects {
        let certainty = effect.certainty;
        if certainty == Certainty::Possible && certain.contains(&(effect.act, name_of(&effect.target))) {
            continue;
        }
        let place = *places.entry((effect.act, certainty, circumstance.clone())).or_insert(groups.len());
        if place == groups.len() {
            groups.push(EffectGroup { act: effect.act, circumstance, certainty, targets: Vec::new() });
        }
        let target = name_of(&effect.target);
        if let Some(group) = groups.get_mut(place)
            && !target.is_empty()
            && target != tool
            && seen.insert((place, target))
        {
            group.targets.push(target);
        }
    }
    groups
}

/// Says what one effect does, as a clause: “removes `a` with everything below”.
pub(crate) fn clause_of(effect: &Effect) -> String {
    clause(effect.act, name_of(&effect.target), effect.certainty)
}

/// Says what an effect does that was kept by the name of its act and its target. An act of another version of this program
/// speaks for itself.
pub fn effect_clause(act: &str, target: &str, is_certain: bool) -> String {
    let certainty = if is_certain { Certainty::Certain } else { Certainty::Possible };
    match Act::find(act) {
        Some(act) => clause(act, target, certainty),
        None => format!("{act} {}", quote(target, LONGEST_TARGET)),
    }
}

fn clause(act: Act, target: &str, certainty: Certainty) -> String {
    let targets = if target.is_empty() { Vec::new() } else { vec![target] };
    let group = EffectGroup { act, circumstance: Circumstance::default(), certainty, targets };
    group.clause(Detail { count: 1, length: LONGEST_TARGET })
}

/// Returns what a target is called.
pub(crate) fn name_of(target: &Target) -> &str {
    match (target.written().trim(), target) {
        ("" | "…", Target::Path(_)) => UNKNOWN_FILES,
        ("{}", Target::Path(_)) => FOUND_FILES,
        ("", Target::Host { host, .. }) if host.is_empty() => UNKNOWN_HOST,
        ("", Target::Host { host, .. }) => host,
        (written, _) => written,
    }
}

impl EffectGroup<'_> {
    /// Says whether it tells nothing beside other groups.
    pub(crate) fn is_idle(&self) -> bool {
        self.act == Act::Observe && self.targets.is_empty()
    }

    /// Says whether it is known to do something without it being known what or to what.
    pub(crate) fn is_blank(&self) -> bool {
        self.act == Act::Unknown && self.targets.is_empty()
    }

    /// Returns how much it weighs.
    pub(crate) fn weight(&self) -> Weight {
        self.act.weight()
    }

    /// Returns what is done as a clause: “reads `a` and `b`”.
    pub(crate) fn clause(&self, detail: Detail) -> String {
        let perhaps = if self.certainty == Certainty::Possible { "perhaps " } else { "" };
        let targets = self.targets(detail);
        let clause = self.act.clause().trim_end_matches(':');
        if targets.is_empty() {
            return format!("{perhaps}{}", clause_alone(self.act));
        }
        match self.act {
            Act::DeleteTree => format!("{perhaps}removes {targets} with everything below"),
            Act::Unknown if self.targets.len() == 1 => {
                format!("{perhaps}runs {targets}, and what that does is not known")
            }
            Act::Unknown => format!("{perhaps}runs {targets}, and what these do is not known"),
            Act::GitPush => format!("{perhaps}pushes commits to {}", self.named(detail).join(", ")),
            act if takes_object(act) => format!("{perhaps}{clause} {targets}"),
            _ => format!("{perhaps}{clause} ({targets})"),
        }
    }

    fn targets(&self, detail: Detail) -> String {
        enumerate(&self.named(detail))
    }

    /// Names the targets; of more than wanted, the rest is counted.
    fn named(&self, detail: Detail) -> Vec<String> {
        let name = |target: &&str| match *target {
            described @ (UNKNOWN_FILES | FOUND_FILES | UNKNOWN_HOST) => described.to_owned(),
            "." | "./" if self.act == Act::Delete => format!("files below {}", quote(target, detail.length)),
            written => quote(written, detail.length),
        };
        let mut named: Vec<String> = self.targets.iter().take(detail.count).map(name).collect();
        let more = self.targets.len().saturating_sub(detail.count);
        if more > 0 {
            named.push(format!("{more} more"));
        }
        named
    }
}

/// Joins parts as a person would: “a, b and c”.
pub(crate) fn enumerate(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// Says whether the clause of an act is followed by what it is done to.
fn takes_object(act: Act) -> bool {
    matches!(
        act,
        Act::Read
            | Act::List
            | Act::Fetch
            | Act::Write
            | Act::Delete
            | Act::Move
            | Act::SetMode
            | Act::Link
            | Act::Wipe
            | Act::Execute
            | Act::Send
            | Act::Connect
            | Act::Listen
    )
}

/// Returns the clause of an act whose target is not named.
fn clause_alone(act: Act) -> &'static str {
    match act {
        Act::Read => "reads what it is given",
        Act::List => "looks at the names and attributes of files",
        Act::Fetch => "fetches something",
        Act::Write => "writes files",
        Act::Delete => "removes files",
        Act::DeleteTree => "removes directories with everything below",
        Act::Move => "moves files away",
        Act::SetMode => "changes permissions or owner of files",
        Act::Link => "makes a link",
        Act::Wipe => "overwrites files beyond recovery",
        Act::Execute => "runs a program or script",
        Act::Send => "sends data to another machine",
        Act::Connect => "opens a connection to another machine",
        Act::Listen => "accepts connections",
        Act::Unknown => "does something that is not known",
        act => act.clause().trim_end_matches(':'),
    }
}
