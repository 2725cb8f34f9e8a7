//! One call of a past session through today's policy.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use portcullis_core::rule::{Behavior, LintContext, LintKind, Rule, lint};
use portcullis_core::tool::find_tool;
use portcullis_core::{Case, Context, Decision, Mode, Origin, Person, Source, ToolCall, Verdict, path};
use portcullis_hosts::json::write_input;

use super::arguments::ReplayArgs;
use super::history::History;
use super::tally::Answer;
use portcullis_gate::Failure;
use portcullis_gate::judge::{LocalVerdict, judge_locally};
use portcullis_gate::session_settings::{SessionSettings, SettingsFlags, absolute_path};
use portcullis_world::World;

/// The most directories whose settings are kept.
const MOST_PLACES: usize = 64;
/// The most rules of policies that are kept to try suggestions with.
const MOST_TRIED_RULES: usize = 100_000;
/// The most policies that are kept for that.
const MOST_TRIED: usize = 128;
/// The most calls for which is kept what would let them run.
const MOST_REMEDIES: usize = 2_000;
/// The longest call for which that is kept, in bytes.
const LONGEST_KEPT: usize = 2_048;
/// The most rules whose lints are kept.
const MOST_LINTED: usize = 10_000;

/// What a past call is judged in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The directory it runs in.
    pub(super) cwd: String,
    /// The directory its session began in.
    pub(super) project: String,
}

/// What today's policy says about a call.
pub(super) struct Judged {
    pub(super) answer: Answer,
    pub(super) mode: Mode,
    pub(super) verdict: Verdict,
    /// What would let it run if it is asked about.
    pub(super) remedy: Remedy,
    /// What the other policy says, if there is one.
    pub(super) other: Option<Answer>,
    /// Which of the calls it is about.
    pub(super) call: usize,
}

/// What would let a call run instead of being asked about.
#[derive(Debug, Clone, Default)]
pub(super) struct Remedy {
    /// Rules, if there are any.
    pub(super) rules: Option<Vec<String>>,
    /// Whether it would run in accept-edits mode.
    pub(super) is_run_by_edits: bool,
}

/// Judges calls, with settings and lookups of its own.
pub(super) struct Judge<'a> {
    arguments: &'a ReplayArgs,
    today: Policies,
    other: Option<Policies>,
    world: World,
    linted: BTreeMap<String, bool>,
    /// By the place, the mode and the call, where the past plays no part.
    remedies: BTreeMap<(Place, Mode, String), Remedy>,
}

/// A call in the place and mode it was made in.
#[derive(Clone, Copy)]
struct Made<'a> {
    call: &'a ToolCall,
    mode: Option<Mode>,
    place: &'a Place,
    history: &'a History,
}

/// A decision and what it was made of.
struct Decided {
    answer: Answer,
    mode: Mode,
    verdict: Verdict,
    case: Case,
}

impl<'a> Judge<'a> {
    /// Makes a judge; settings are loaded when they are needed.
    pub(super) fn new(arguments: &'a ReplayArgs) -> Self {
        let policies = |session| Policies::new(session, arguments.neutral);
        Self {
            arguments,
            today: policies(arguments.session.clone()),
            other: arguments.compared().map(policies),
            world: World::default(),
            linted: BTreeMap::new(),
            remedies: BTreeMap::new(),
        }
    }

    /// Judges what one call of a host amounts to; the worst counts, as in a hook.
    pub(super) fn judge(
        &mut self,
        calls: &[ToolCall],
        recorded: Option<Mode>,
        place: &Place,
        history: &mut History,
    ) -> Result<Judged, String> {
        let chosen = self.arguments.mode.or(recorded);
        let mut other = None;
        let mut all: Vec<Decided> = Vec::with_capacity(calls.len());
        for call in calls {
            let made = Made { call, mode: chosen, place, history };
            all.push(decide_with_past(&*self.today.find(place)?, made, &mut self.world)?);
            if let Some(policies) = &mut self.other {
                let decided = decide_with_past(&*policies.find(place)?, made, &mut self.world)?;
                other = other.max(Some(decided.answer));
            }
        }
        let worst = all
            .iter()
            .enumerate()
            .reduce(|worst, next| if next.1.answer > worst.1.answer { next } else { worst });
        let (index, decided) = worst.ok_or("the call amounts to nothing")?;
        let call = calls.get(index).filter(|_| decided.answer == Answer::Ask);
        let made = call.map(|call| Made { call, mode: chosen, place, history });
        let remedy = made.map(|made| self.remedy(decided, made)).unwrap_or_default();
        let judged = Judged {
            answer: decided.answer,
            mode: decided.mode,
            verdict: decided.verdict.clone(),
            remedy,
            other,
            call: index,
        };
        if self.keeps_history() {
            for decided in &all {
                history.note(&decided.case);
            }
        }
        Ok(judged)
    }

    /// Notes what a call may have written that is not judged.
    pub(super) fn pass(&self, calls: &[ToolCall], place: &Place, history: &mut History) {
        for call in calls.iter().filter(|_| self.keeps_history()) {
            let context = Context::new(Mode::Auto, &place.cwd);
            history.note(&Case::new(call.clone(), context));
        }
    }

    /// Says whether what a session wrote may ever be looked at.
    fn keeps_history(&self) -> bool {
        self.arguments.mode.is_none_or(looks_back)
    }

    /// Finds what would let a call run. The most annoying prompts come often, so what was found is kept.
    fn remedy(&mut self, decided: &Decided, made: Made<'_>) -> Remedy {
        let mut text = made.call.tool().to_owned();
        write_input(&mut text, made.call.input());
        let has_past = looks_back(decided.mode) || !made.history.boundaries().is_empty();
        let is_kept = !has_past && text.len() <= LONGEST_KEPT;
        let key = (made.place.clone(), decided.mode, text);
        if let Some(known) = self.remedies.get(&key).filter(|_| is_kept) {
            return known.clone();
        }
        let remedy = Remedy {
            rules: self.rules_for(decided, made),
            is_run_by_edits: self.is_run_by_edits(decided, made),
        };
        if is_kept {
            if self.remedies.len() >= MOST_REMEDIES {
                self.remedies.clear();
            }
            self.remedies.insert(key, remedy.clone());
        }
        remedy
    }

    fn is_run_by_edits(&mut self, decided: &Decided, made: Made<'_>) -> bool {
        let made = Made { mode: Some(Mode::AcceptEdits), ..made };
        decided.mode == Mode::Default
            && self.today.find(made.place).is_ok_and(|session| {
                decide_with_past(&session, made, &mut self.world)
                    .is_ok_and(|other| other.answer == Answer::Allow)
            })
    }

    /// Finds the rules that would let a call run; the core itself says whether they would. A prompt about something the
    /// analysis found is worth having.
    fn rules_for(&mut self, decided: &Decided, made: Made<'_>) -> Option<Vec<String>> {
        if decided.verdict.findings.iter().any(|found| !found.is_requested) {
            return None;
        }
        let suggestions = decided.verdict.suggestions.iter();
        let allowing = suggestions.filter(|suggestion| suggestion.behavior == Behavior::Allow);
        let mut rules: Vec<String> =
            allowing.map(|suggestion| widened(&suggestion.rule, &made.place.project)).collect();
        rules.sort();
        rules.dedup();
        if rules.is_empty() || !rules.iter().all(|rule| self.is_sound(rule)) {
            return None;
        }
        let session = self.today.with_rules(made.place, &rules)?;
        let tried = decide_with_past(&session, made, &mut self.world).ok()?;
        (tried.answer == Answer::Allow).then_some(rules)
    }

    /// Says whether the lints find nothing dangerous about an allow rule.
    fn is_sound(&mut self, text: &str) -> bool {
        if let Some(is_sound) = self.linted.get(text) {
            return *is_sound;
        }
        let compiled = Rule::compile(text, Behavior::Allow, Origin::bare(Source::User));
        let is_sound = compiled.is_ok_and(|rule| {
            // Whoever wrote the session chose the name of a tool nobody knows; it may be a shell in disguise.
            let is_known = rule.text.content.is_some()
                || rule.text.tool.starts_with("mcp__")
                || find_tool(&rule.text.tool).is_some();
            let is_bad =
                |kind| matches!(kind, LintKind::Dangerous | LintKind::OverBroad | LintKind::EarlyWildcard);
            is_known && !lint(&[rule], &LintContext::default()).iter().any(|lint| is_bad(lint.kind))
        });
        if self.linted.len() >= MOST_LINTED {
            self.linted.clear();
        }
        self.linted.insert(text.to_owned(), is_sound);
        is_sound
    }
}

const fn looks_back(mode: Mode) -> bool {
    matches!(mode, Mode::Auto | Mode::Plan)
}

/// Makes a rule for one file that is written into one for its directory, if that lies inside the project and is not
/// hidden.
fn widened(rule: &str, project: &str) -> String {
    let file = rule.strip_prefix("Edit(/").and_then(|rest| rest.strip_suffix(')'));
    let directory = file.filter(|file| file.starts_with('/')).and_then(path::parent);
    let directory = directory.filter(|directory| {
        let below = path::relative_to(directory, project).filter(|_| path::is_inside(directory, project));
        directory != project
            && below.is_some_and(|below| !path::components(&below).any(|part| part.starts_with('.')))
    });
    directory.map_or_else(|| rule.to_owned(), |directory| format!("Edit(/{directory}/**)"))
}

/// Decides a call, and once more with the past of its session where that may change the answer.
fn decide_with_past(opened: &Opened, made: Made<'_>, world: &mut World) -> Result<Decided, String> {
    let mut context = opened.session.context(made.mode, Person::Present, &[]);
    context.session.boundaries = made.history.boundaries().to_vec();
    let policy = opened.session.policy();
    let mut case = Case::new(made.call.clone(), context);
    case.look_up(policy, |questions| world.answer_below(opened.root.as_deref(), questions));
    let first = decide_once(opened, case)?;
    let is_open =
        first.answer != Answer::Allow || first.case.may_use_session_files() || first.case.asks_strangers();
    if !looks_back(first.mode) || !is_open {
        return Ok(first);
    }
    let mut case = first.case;
    case.learn(|session| *session = made.history.session());
    case.answer(world.answer_below(opened.root.as_deref(), case.questions(policy)));
    decide_once(opened, case)
}

fn decide_once(opened: &Opened, case: Case) -> Result<Decided, String> {
    let LocalVerdict { verdict, needs_model } =
        judge_locally(opened.session.policy(), &case).map_err(|failure| failure.message)?;
    let answer = match verdict.decision {
        Decision::Allow => Answer::Allow,
        Decision::Ask | Decision::Deny if needs_model => Answer::Model,
        // A replayed call is offered no fence.
        Decision::Contained | Decision::Ask => Answer::Ask,
        Decision::Deny => Answer::Deny,
    };
    Ok(Decided { answer, mode: case.context().mode, verdict, case })
}

/// Settings that were loaded for a place.
pub(super) struct Opened {
    pub(super) session: SessionSettings,
    /// The directory below which the disk of today plays a part, if it is still there.
    root: Option<String>,
}

/// One policy in many places.
pub(super) struct Policies {
    arguments: SettingsFlags,
    is_neutral: bool,
    opened: BTreeMap<Place, Result<Rc<Opened>, String>>,
    tried: BTreeMap<(Place, Vec<String>), Option<Rc<Opened>>>,
}

impl Policies {
    /// Makes the policy of flags.
    pub(super) fn new(arguments: SettingsFlags, is_neutral: bool) -> Self {
        Self { arguments, is_neutral, opened: BTreeMap::new(), tried: BTreeMap::new() }
    }

    /// Loads the settings for a place.
    pub(super) fn open(&self, place: &Place) -> Result<Opened, Failure> {
        self.open_with(&self.arguments, place)
    }

    fn open_with(&self, arguments: &SettingsFlags, place: &Place) -> Result<Opened, Failure> {
        if self.is_neutral {
            let session = SessionSettings::open_neutral_in(arguments, &place.cwd)?;
            return Ok(Opened { session, root: None });
        }
        let project = PathBuf::from(&place.project);
        let session = SessionSettings::open_for_hook(arguments, &place.cwd, Some(project))?;
        let root = if path::is_inside(&place.cwd, &place.project) { &place.project } else { &place.cwd };
        let root = Some(root.clone()).filter(|root| Path::new(root).is_dir());
        Ok(Opened { session, root })
    }

    fn find(&mut self, place: &Place) -> Result<Rc<Opened>, String> {
        if let Some(opened) = self.opened.get(place) {
            return opened.clone();
        }
        if self.opened.len() >= MOST_PLACES {
            self.opened.clear();
        }
        let opened = self.open(place).map(Rc::new).map_err(|failure| failure.message);
        self.opened.insert(place.clone(), opened.clone());
        opened
    }

    /// Loads the settings with further allow rules; `None` if that cannot be done.
    fn with_rules(&mut self, place: &Place, rules: &[String]) -> Option<Rc<Opened>> {
        let key = (place.clone(), rules.to_vec());
        if let Some(known) = self.tried.get(&key) {
            return known.clone();
        }
        let mut arguments = self.arguments.clone();
        arguments.allow.extend_from_slice(rules);
        let opened = self.open_with(&arguments, place).ok().map(Rc::new);
        let size = opened.as_ref().map_or(0, |opened| opened.session.policy().rules.rules().len());
        if self.tried.len() >= (MOST_TRIED_RULES / (size + 1)).clamp(1, MOST_TRIED) {
            self.tried.clear();
        }
        self.tried.insert(key, opened.clone());
        opened
    }
}

/// Returns where calls are made whose record does not tell.
pub(super) fn usual_place(arguments: &ReplayArgs) -> Result<String, Failure> {
    if arguments.neutral && arguments.session.cwd.is_none() {
        return Ok(String::new());
    }
    let directory = absolute_path(arguments.session.cwd.as_deref().unwrap_or_default())?;
    let text = directory.to_str().map(str::to_owned);
    text.ok_or_else(|| Failure::usage(format!("`{}` is not valid UTF-8", directory.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_for_a_file_of_the_project_becomes_one_for_its_directory() {
        let table = [
            ("Edit(//p/src/a.rs)", "Edit(//p/src/**)"),
            ("Edit(//p/a.rs)", "Edit(//p/a.rs)"),
            ("Edit(//p/.github/a.yml)", "Edit(//p/.github/a.yml)"),
            ("Edit(//q/src/a.rs)", "Edit(//q/src/a.rs)"),
            ("Edit(//px/src/a.rs)", "Edit(//px/src/a.rs)"),
            ("Read(//p/src/**)", "Read(//p/src/**)"),
            ("Bash(npm test *)", "Bash(npm test *)"),
        ];
        for (rule, expected) in table {
            assert_eq!(widened(rule, "/p"), expected, "{rule}");
        }
    }
}
