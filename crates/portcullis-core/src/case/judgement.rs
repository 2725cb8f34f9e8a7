//! The static judgement of a call: its effects with what the disk says of them, findings, consent (spec D3, D16, D17).

use std::collections::BTreeSet;

use portcullis_analysis::command_effects::Layout;
use portcullis_analysis::effect::{Act, Effect, ModuleUse, Target, classify};
use portcullis_analysis::findings::{Firmness, Found, Severity, own_places};
use portcullis_analysis::place::Scope;
use portcullis_analysis::script::{Entry, Script, scripts};
use portcullis_analysis::{
    Assessment, Background, Case as Assessed, Opacity, SYNTAX_ERROR, Survey, TOO_LONG, assess,
};
use portcullis_shell::Span;

use super::script::is_missing;
use super::view::CaseView;
use super::{declared_images, own_processes, own_scripts, session_files, unsaved};
use crate::consent::UserWords;
use crate::disk::DiskAnswer;
use crate::effect_report::EffectList;
use crate::path;
use crate::repository_config;
use crate::verdict::{FindingReport, Reason};

/// The most effects of one call that are judged; a call that does more is never proven harmless.
const MOST_EFFECTS: usize = 2_000;

/// Of a command line with more parts that nobody reads, all is looked at from there on.
const MOST_UNREAD: usize = 256;

/// The finding of what cannot be done without.
const CRITICAL_REMOVAL: &str = "PC001";

/// The finding of our own places.
const OWN_PLACES: &str = "PC063";

/// What the analysis makes of a call.
#[derive(Debug, Clone)]
pub(crate) struct Judgement {
    /// Findings that stand, the worst first.
    standing: Vec<Found>,
    /// Soft findings that the user seems to have asked for, the worst first.
    requested: Vec<RequestedFinding>,
    /// Effects nobody vouches for.
    open: Vec<Effect>,
    /// Such effects of scripts that it runs.
    open_inside: Vec<Effect>,
    /// What it does to our own places, which nothing lifts.
    trespass: Option<(Reason, Span)>,
    /// Whether it takes work away that nobody could bring back.
    loses_work: bool,
    allowances: Vec<&'static str>,
    /// Whether one of these effects shows a secret.
    shows_secrets: bool,
    /// What the findings are about.
    effects: EffectList,
}

impl Judgement {
    /// Judges a call by its effects and by what was looked up.
    pub(super) fn of(view: &CaseView<'_>) -> Self {
        let case = view.case;
        let grounds = AssessmentGrounds { scope: scope_of(view), background: background_of(view) };
        let mut effects: Vec<Effect> = view.own_source().effects.clone();
        classify(&mut effects, &grounds.scope);
        let too_many = effects.split_off(effects.len().min(MOST_EFFECTS));
        let Assessment { mut findings, mut open, allowances } =
            grounds.assess(case.call().tool(), &effects, case.survey());
        findings.extend(unjudged_trespasses(view, &grounds, &too_many));
        if !too_many.is_empty() {
            let why = Target::Name("the call does more than is followed".to_owned());
            open.push(Effect::of_call(Act::Unknown, why, Span::default()));
        }
        let mut open_inside = Vec::new();
        for inner in inside_scripts(view, &grounds) {
            findings.extend(inner.findings);
            open_inside.extend(inner.open);
        }
        open_inside.retain(|effect| !own_scripts::is_judged(view, &grounds.scope, effect));
        open.retain(|effect| !own_scripts::is_judged(view, &grounds.scope, effect));
        open.retain(|effect| !declared_images::is_declared(view, effect));
        open.extend(hidden_programs(view));
        open.extend(session_files::doubts(view, &grounds));
        let losses = unsaved::losses(view);
        let loses_work = !losses.is_empty();
        open.extend(losses);
        findings.extend(in_second_reading(view, &grounds));
        let trespass = findings.iter().find(|found| found.finding.code == OWN_PLACES).map(reason_of);
        findings.extend(in_written_script(view, &grounds));
        let command = case.call().command().unwrap_or_default();
        let turns = &case.context().session.turns;
        let (standing, requested) = sort_out(findings, turns, command, &effects);
        let is_clean = standing.is_empty() && requested.is_empty();
        let shows_secrets = open.iter().chain(&open_inside).any(|effect| effect.shows_secret(&grounds.scope));
        let effects = if is_clean { EffectList::default() } else { EffectList::of(case.effects()) };
        Self {
            standing,
            requested,
            open,
            open_inside,
            trespass,
            loses_work,
            effects,
            shows_secrets,
            allowances: allowances.iter().map(|allowance| allowance.name).collect(),
        }
    }

    /// Returns the reason to block, if something is found that nobody asked for.
    pub(crate) fn block(&self) -> Option<(Reason, Span)> {
        self.standing.first().map(reason_of)
    }

    /// Returns what the call does to our own places, if it does anything: nothing lifts that.
    pub(crate) fn trespass(&self) -> Option<(Reason, Span)> {
        self.trespass.clone()
    }

    /// Returns the reason to refuse, if something is found that nobody asked for and that is more than work on a project
    /// takes now and then.
    pub(crate) fn refusal(&self) -> Option<(Reason, Span)> {
        self.standing.iter().find(|found| !found.sighting.is_ordinary).map(reason_of)
    }

    /// Returns the reason to ask a person and no model, if something is found that is for a person to say yes to.
    pub(crate) fn personal(&self) -> Option<(Reason, Span)> {
        self.standing.iter().find(|found| found.sighting.is_for_person).map(reason_of)
    }

    /// Returns the reason to put a call to a judge or a person that the user seems to have asked for.
    pub(crate) fn request(&self) -> Option<(Reason, Span)> {
        let RequestedFinding { found, said } = self.requested.first()?;
        let reason = Reason::Requested {
            code: found.finding.code,
            category: found.finding.category,
            sentence: found.sighting.sentence.clone(),
            said: said.clone(),
        };
        Some((reason, found.sighting.span))
    }

    /// Returns what is removed and cannot be done without, if a finding names such a thing and nobody asked for it.
    pub(crate) fn critical_removal(&self) -> Option<(String, Span)> {
        let found = self.standing.iter().find(|found| found.finding.code == CRITICAL_REMOVAL)?;
        Some((found.sighting.subject.clone(), found.sighting.span))
    }

    /// Says whether something was found that nothing a person says clears.
    pub(crate) fn is_beyond_consent(&self) -> bool {
        self.standing.iter().any(|found| found.finding.firmness == Firmness::Hard)
    }

    /// Says whether it takes work away that nobody could bring back.
    pub(crate) fn loses_work(&self) -> bool {
        self.loses_work
    }

    /// Says whether a secret would be shown that nobody vouches for.
    pub(crate) fn shows_secrets(&self) -> bool {
        self.shows_secrets
    }

    /// Returns the effects that nobody vouches for, its own and those of scripts that it runs, if nothing else speaks
    /// against the call: nothing is found, no work is lost, no secret shown.
    pub(crate) fn open_alone(&self) -> Option<(&[Effect], &[Effect])> {
        let is_alone = self.standing.is_empty() && self.requested.is_empty();
        (is_alone && !self.loses_work && !self.shows_secrets).then(|| self.doubts())
    }

    /// Returns the effects that nobody vouches for, its own and those of scripts that it runs.
    pub(crate) fn doubts(&self) -> (&[Effect], &[Effect]) {
        (&self.open, &self.open_inside)
    }

    /// Returns the reason to allow, if every effect is known and harmless.
    pub(crate) fn proof(&self) -> Option<Reason> {
        let is_harmless = self.standing.is_empty() && self.requested.is_empty() && self.open.is_empty();
        let is_harmless = is_harmless && self.open_inside.is_empty();
        is_harmless.then(|| Reason::Harmless { allowances: self.allowances.clone() })
    }

    /// Returns what was found, what the user seems to have asked for last.
    pub(crate) fn reports(&self) -> Vec<FindingReport> {
        let report = |found: &Found, is_requested: bool| FindingReport {
            code: found.finding.code,
            title: found.finding.title,
            category: found.finding.category,
            severity: found.finding.severity,
            subject: found.sighting.subject.clone(),
            sentence: found.sighting.sentence.clone(),
            instead: found.finding.instead,
            must_name: must_name(found),
            is_requested,
            span: found.sighting.span,
            effect: found.sighting.effect.and_then(|effect| self.effects.place_of(effect)),
        };
        let standing = self.standing.iter().map(|found| report(found, false));
        standing.chain(self.requested.iter().map(|requested| report(&requested.found, true))).collect()
    }
}

fn reason_of(found: &Found) -> (Reason, Span) {
    let reason = Reason::Finding {
        code: found.finding.code,
        category: found.finding.category,
        sentence: found.sighting.sentence.clone(),
        must_name: must_name(found),
    };
    (reason, found.sighting.span)
}

/// A soft finding, and the sentence by which the user seems to have asked for it.
#[derive(Debug, Clone)]
struct RequestedFinding {
    found: Found,
    said: String,
}

/// Tells the findings that stand from those that the user seems to have asked for (spec D17).
///
/// Who asks for a command asks for all that is soft about it: “destroy staging” and its `-auto-approve`.
fn sort_out(
    findings: Vec<Found>,
    turns: &[String],
    command: &str,
    effects: &[Effect],
) -> (Vec<Found>, Vec<RequestedFinding>) {
    if findings.is_empty() || turns.is_empty() {
        return (findings, Vec::new());
    }
    let words = UserWords::of(turns, command);
    let command_of = |found: &Found| effects.get(found.sighting.effect?)?.invocation;
    let said: Vec<Option<String>> =
        findings.iter().map(|found| words.request_for(found).map(str::to_owned)).collect();
    let of_same_command = |found: &Found| {
        let command = command_of(found).filter(|_| found.finding.firmness != Firmness::Hard)?;
        let mut all = findings.iter().zip(&said);
        all.find_map(|(other, said)| said.clone().filter(|_| command_of(other) == Some(command)))
    };
    let requests: Vec<Option<String>> = findings
        .iter()
        .zip(&said)
        .map(|(found, said)| said.clone().or_else(|| of_same_command(found)))
        .collect();
    let (mut standing, mut requested) = (Vec::new(), Vec::new());
    for (found, said) in findings.into_iter().zip(requests) {
        match said {
            Some(said) => requested.push(RequestedFinding { found, said }),
            None => standing.push(found),
        }
    }
    (standing, requested)
}

/// What effects are judged by beside themselves.
pub(super) struct AssessmentGrounds {
    scope: Scope,
    background: Background,
}

impl AssessmentGrounds {
    fn assess(&self, tool: &str, effects: &[Effect], survey: &Survey) -> Assessment {
        assess(Assessed { tool, effects, survey, scope: &self.scope, background: &self.background })
    }

    /// Assesses shell text beside the command line of the call.
    pub(super) fn assess_text(&self, layout: &Layout) -> Assessment {
        self.assess("Bash", &layout.effects, &layout.survey)
    }
}

/// Finds what a call does to our own places behind what is judged: in effects that are too many, and in parts of the command
/// line that nobody reads. No mode and no rule lets either through.
fn unjudged_trespasses(view: &CaseView<'_>, grounds: &AssessmentGrounds, too_many: &[Effect]) -> Vec<Found> {
    let (call, survey) = (view.case.call(), view.case.survey());
    let AssessmentGrounds { scope, background } = grounds;
    let of = |effects| Assessed { tool: call.tool(), effects, survey, scope, background };
    let mut found: Vec<Found> =
        too_many.chunks(MOST_EFFECTS).flat_map(|part| own_places::in_effects(of(part))).collect();
    let command = call.command().unwrap_or_default();
    // Behind a mistake, and behind what is followed, anything may stand.
    let hides_rest = |opacity: &Opacity| opacity.why.starts_with(SYNTAX_ERROR) || opacity.why == TOO_LONG;
    let rest = survey.opacities.iter().position(hides_rest).unwrap_or(MOST_UNREAD);
    let (parts, behind) = survey.opacities.split_at_checked(rest).unwrap_or((&survey.opacities, &[]));
    let spans = parts.iter().map(|opacity| opacity.span);
    let behind = behind.iter().map(|opacity| opacity.span.start).min();
    let spans = spans.chain(behind.map(|start| Span::new(start, command.len())));
    let in_text = |span: Span| own_places::in_unread_text(of(&[]), span.of(command), span);
    found.extend(spans.filter_map(in_text));
    if let Some(cut) = survey.opacities.iter().find(|opacity| opacity.why == TOO_LONG) {
        found.push(own_places::behind_all(cut.span));
    }
    found
}

/// Judges what the scripts of the project do that a call runs.
///
/// What the project declares is its own business, as it stood before the session: only what is grave is named. A script
/// that the agent wrote in this session is judged like a command of its own.
fn inside_scripts(view: &CaseView<'_>, grounds: &AssessmentGrounds) -> Vec<Assessment> {
    let mut all = Vec::new();
    let unknown = |why: String| Assessment {
        open: vec![Effect::of_call(Act::Unknown, Target::Name(why), Span::default())],
        ..Assessment::default()
    };
    let mut missing = BTreeSet::new();
    for called in view.scripts() {
        let script = &called.script;
        // A module lies in one of its places, and the others do not matter.
        if matches!(script.entry, Entry::Module { .. }) && view.case.answers.is_absent(&script.file) {
            if is_missing(view, script) && missing.insert(script.name()) {
                all.push(unknown(format!("what `{}` is, which is no module of the project", script.name())));
            }
            continue;
        }
        let is_own = is_agents_own(view, &script.file);
        let layouts = view.case.readings(called);
        if layouts.is_empty() && is_missing(view, script) {
            all.push(unknown(format!("what `{}` does, which does not exist yet", script.name())));
        }
        // Where no reader understands all of it, the words that it holds must do.
        // Beside a temporary file lie those of others, so that what it brings in must be known.
        let has_gaps = view.is_in_project(&script.file) || layouts.iter().all(Option::is_none);
        let is_computation = is_own && has_gaps && session_files::is_computation(view, &script.file);
        if is_own && !is_computation && (layouts.is_empty() || layouts.iter().any(Option::is_none)) {
            let why = format!("what `{}` does, which may have been written in this session", script.name());
            all.push(unknown(why));
        }
        for layout in layouts.into_iter().flatten() {
            let mut inner = grounds.assess_text(layout);
            // What a script runs in turn is not read; the project's own may do so, the agent's may not.
            let nested = scripts(&layout.survey, &layout.effects);
            let is_module = |nested: &Script| matches!(nested.entry, Entry::Module { .. });
            // What a computation of the agent's own loads is held against it by the words of each file.
            let mut nested = nested.into_iter().filter(|nested| {
                view.is_in_project(&nested.file) && !(is_module(nested) && (is_computation || !is_own))
            });
            if let Some(nested) = nested.find(|nested| is_own || is_agents_own(view, &nested.file)) {
                let why = format!("what `{}` does, which `{}` runs", nested.name(), script.name());
                all.push(unknown(why));
            }
            if is_computation {
                inner.open.retain(|effect| !is_within_computation(effect));
            }
            if !is_own {
                inner.findings.retain(|found| found.finding.severity >= Severity::High);
                inner.open.clear();
            }
            for found in &mut inner.findings {
                outside_of_command(found, script);
            }
            all.push(inner);
        }
    }
    all
}

/// Says whether an effect of code is no more than its words say: a gap of the reader, a file that whoever runs it names, a
/// service it offers.
fn is_within_computation(effect: &Effect) -> bool {
    let is_nameless = effect.target.paths().is_empty();
    match effect.act {
        Act::Unknown | Act::Listen => true,
        Act::Execute => is_of_module(effect),
        Act::Read | Act::List | Act::Write => is_nameless,
        _ => false,
    }
}

/// Says whether an effect is that of loading a module by its name.
fn is_of_module(effect: &Effect) -> bool {
    matches!(&effect.target, Target::Path(path) if path.module != ModuleUse::None)
}

/// Says whether a script may be the agent's own: written in this session, or nobody knows what was.
pub(crate) fn is_agents_own(view: &CaseView<'_>, file: &str) -> bool {
    let session = &view.case.context().session;
    let leads = match view.case.answers.path(file) {
        Some(DiskAnswer::Leads(leads)) => leads.as_slice(),
        _ => &[],
    };
    let mut spellings = std::iter::once(file).chain(leads.iter().map(String::as_str));
    session.is_partial
        || view.case.fills(file)
        || spellings.any(|file| {
            let is_touched = |touched: &String| touched == file || path::is_inside(file, touched);
            session.written.contains_key(file) || session.touched.iter().any(is_touched)
        })
}

/// Returns an unknown effect for every command that settings of the repository make run something else as well.
fn hidden_programs(view: &CaseView<'_>) -> Vec<Effect> {
    let invocations = view.case.survey().invocations.iter();
    let hiding =
        invocations.filter(|invocation| repository_config::hides_program(invocation, &view.case.answers));
    let why = || "a program that settings of the repository name".to_owned();
    hiding.map(|invocation| Effect::of_call(Act::Unknown, Target::Name(why()), invocation.span)).collect()
}

/// Judges a script that is about to be written: what nothing clears is stopped before it can be run.
fn in_written_script(view: &CaseView<'_>, grounds: &AssessmentGrounds) -> Vec<Found> {
    let Some((script, layout)) = view.case.written_script() else {
        return Vec::new();
    };
    let mut findings = grounds.assess_text(layout).findings;
    findings.retain(|found| found.finding.firmness == Firmness::Hard);
    for found in &mut findings {
        outside_of_command(found, script);
    }
    findings
}

/// Judges a command line that no shell would take as it was likely meant.
///
/// Only what is found there counts. Such a line is never allowed for it.
fn in_second_reading(view: &CaseView<'_>, grounds: &AssessmentGrounds) -> Vec<Found> {
    let Some(layout) = view.case.as_meant() else {
        return Vec::new();
    };
    let mut findings = grounds.assess_text(layout).findings;
    for found in &mut findings {
        found.sighting.span = Span::default();
        found.sighting.effect = None;
    }
    findings
}

/// Says of a finding that its words stand in a script, not in the command.
fn outside_of_command(found: &mut Found, script: &Script) {
    found.sighting.span = Span::default();
    found.sighting.effect = None;
    found.sighting.sentence = format!("`{}`: {}", script.name(), found.sighting.sentence);
}

fn must_name(found: &Found) -> Option<&'static str> {
    match found.finding.firmness {
        Firmness::Hard => None,
        Firmness::Soft { must_name, .. } => Some(must_name),
    }
}

/// Returns the working directories with where they lead.
pub(crate) fn scope_of(view: &CaseView<'_>) -> Scope {
    let mut roots = view.roots.clone();
    for root in &view.roots {
        if let Some(DiskAnswer::Leads(leads)) = view.case.answers.path(root) {
            roots.extend(leads.iter().cloned());
        }
    }
    Scope { roots, home: view.case.context().home.clone() }
}

/// Returns what is known from before the call.
pub(crate) fn background_of(view: &CaseView<'_>) -> Background {
    let session = &view.case.context().session;
    let written: BTreeSet<String> = session.written.keys().cloned().collect();
    let invocations = view.case.survey().invocations.iter();
    let remotes = repository_config::remotes(invocations, &view.case.answers);
    let touched: BTreeSet<String> = session.touched.iter().chain(&session.filled).cloned().collect();
    let locations = view.case.context().locations.clone();
    Background {
        branch: view.branch(),
        written,
        touched,
        remotes,
        own_processes: own_processes::started_here(view),
        is_partial: session.is_partial,
        reads_secrets: session.reads_secrets,
        locations,
    }
}
