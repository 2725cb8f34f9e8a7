//! A sample of the actions that need a model, judged by the one that is configured.
//!
//! Which ones are asked about depends on all of them, so every action is held until the files are read.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::Duration;

use portcullis_core::Reason;
use portcullis_store::Store;
use ring::digest;

use super::action::{Action, parse_line};
use super::arguments::EvalArgs;
use super::evaluation::Evaluation;
use super::figures::{Answered, Figures};
use super::kept::KeptVerdicts;
use super::pairs::pairs;
use super::progress::Progress;
use super::worker::{context_of, opener, world_of};
use crate::commands::check::Sessions;
use portcullis_gate::classifier::{JudgingEstimate, Resting, assemble, has_classifier, judge_key};
use portcullis_gate::judge::{CallJudge, JudgedCall, SessionHistory, TriedConsultants};
use portcullis_gate::session_settings::locations;
use portcullis_gate::{Failure, hex};
use portcullis_output::exchange::dollars;
use portcullis_output::shorten::shorten;
use portcullis_output::terminal::print_notes;
use portcullis_world::World;

/// The most bytes of lines that are held.
const MOST_BYTES: usize = 256 << 20;
/// How many bytes a token has at least on average, for the estimate.
const BYTES_OF_TOKEN: usize = 3;
/// After so many actions in a row without a verdict the model is not asked again.
const MOST_FAILURES: usize = 5;
/// The most problems that are told.
const MOST_PROBLEMS: usize = 10;
/// The longest account of a failure, in characters.
const LONGEST_FAILURE: usize = 400;

/// Actions that are held until it is clear which of them the model judges.
pub(super) struct Sample<'a> {
    arguments: &'a EvalArgs,
    sessions: Sessions<'a>,
    /// Where calls are recorded: the user's own place, also where the settings are not.
    store: Option<Store>,
    most: usize,
    /// What tells the judge and what it goes by from others.
    judge: String,
    actions: Vec<Action>,
    /// The lines of those that need a model, with their places among the actions.
    lines: Vec<(usize, Vec<u8>)>,
    bytes: usize,
}

impl<'a> Sample<'a> {
    /// Makes a sample if the flags ask for one. That nobody can be asked is told at once.
    pub(super) fn wanted(arguments: &'a EvalArgs) -> Result<Option<Self>, Failure> {
        let Some(most) = arguments.with_classifier else {
            return match arguments.classifier.provider {
                Some(_) => Err(Failure::usage("--provider does nothing without --with-classifier")
                    .with_hint("say how many actions the model judges, as in --with-classifier 50")),
                None => Ok(None),
            };
        };
        let open_in = opener(arguments);
        let base = open_in(&arguments.session, "")?;
        if !has_classifier(&base.loaded, &arguments.classifier) {
            return Err(Failure::usage("--with-classifier: no model is configured").with_hint(
                "set `classifier.provider` with --settings, name one with --provider, or load yours with --with-settings",
            ));
        }
        let store = locations(None)?.state.map(Store::new);
        let setup = assemble(&base, &arguments.classifier, store.as_ref(), Resting::Ignored)
            .map_err(|problem| Failure::usage(format!("--with-classifier: {problem}")))?;
        // What the policy says is a part of every verdict, as the judge is.
        let EvalArgs { mode, use_modes, with_settings, session, .. } = arguments;
        let judge = format!(
            "{} {mode:?} {use_modes} {with_settings} {:?} {:?}",
            judge_key(&setup),
            session.cwd,
            base.policy()
        );
        Ok(Some(Self {
            arguments,
            judge,
            sessions: Sessions::new(&arguments.session, base, open_in),
            store,
            most: usize::try_from(most).unwrap_or(usize::MAX),
            actions: Vec::new(),
            lines: Vec::new(),
            bytes: 0,
        }))
    }

    /// Holds an action, and its line if it needs a model.
    pub(super) fn hold(&mut self, action: Action, line: &[u8]) -> Result<(), Failure> {
        if action.needs_model {
            self.bytes += line.len();
            if self.bytes > MOST_BYTES {
                let message = format!("the lines that need a model have more than {} MiB", MOST_BYTES >> 20);
                return Err(Failure::usage(message).with_hint("take fewer of them with --only"));
            }
            self.lines.push((self.actions.len(), line.to_vec()));
        }
        self.actions.push(action);
        Ok(())
    }

    /// Has the sample judged, and counts all actions.
    pub(super) fn judge(mut self, evaluation: &mut Evaluation) -> Result<(), Failure> {
        let chosen = spaced(self.lines.len(), self.most);
        let lines = std::mem::take(&mut self.lines);
        if !self.arguments.json {
            let longest =
                chosen.iter().filter_map(|index| lines.get(*index)).map(|(_, line)| line.len()).max();
            print_notes([self.announcement(chosen.len(), longest.unwrap_or_default())?]);
        }
        let mut run = Run {
            kept: self.arguments.resume.as_deref().map(KeptVerdicts::open).transpose()?,
            judge: self.judge,
            arguments: self.arguments,
            store: self.store,
            sessions: self.sessions,
            world: world_of(self.arguments),
            figures: Figures::default(),
            failures: 0,
            problems: BTreeSet::new(),
        };
        let mut progress = Progress::new(None, self.arguments.json);
        let mut outcome = Ok(());
        for (done, index) in chosen.iter().enumerate() {
            progress.show_judged(done, chosen.len());
            let Some((place, line)) = lines.get(*index) else { continue };
            let Some(action) = self.actions.get_mut(*place) else { continue };
            outcome = run.judge(action, line, chosen.len());
            if outcome.is_err() {
                break;
            }
        }
        progress.clear();
        run.complain();
        outcome?;
        run.figures.pairs = pairs(&self.actions);
        for action in self.actions {
            evaluation.add(action);
        }
        evaluation.model = Some(run.figures);
        Ok(())
    }

    /// Says what a run costs before it starts.
    fn announcement(&mut self, actions: usize, longest: usize) -> Result<String, Failure> {
        let base = self.sessions.find("").map_err(Failure::internal)?;
        let setup = assemble(base, &self.arguments.classifier, self.store.as_ref(), Resting::Ignored)
            .map_err(Failure::usage)?;
        let JudgingEstimate { requests, tokens, cost, .. } =
            JudgingEstimate::of_actions(&setup, actions, longest / BYTES_OF_TOKEN);
        let cost = cost.map_or_else(
            || "what that costs is not known".to_owned(),
            |cost| format!("at most {}", dollars(cost)),
        );
        Ok(format!(
            "asking the model about {actions} actions: at most {requests} requests of about {tokens} tokens each, {cost}"
        ))
    }
}

/// Returns places evenly spaced over `count` of them, `most` at most.
fn spaced(count: usize, most: usize) -> Vec<usize> {
    let wanted = count.min(most);
    (0..wanted).map(|index| index.saturating_mul(count) / wanted.max(1)).collect()
}

/// Judges one action after the other.
struct Run<'a> {
    arguments: &'a EvalArgs,
    judge: String,
    kept: Option<KeptVerdicts>,
    store: Option<Store>,
    sessions: Sessions<'a>,
    world: World,
    figures: Figures,
    /// How many actions in a row got no verdict.
    failures: usize,
    /// What could not be kept.
    problems: BTreeSet<String>,
}

impl Run<'_> {
    /// Asks the model about the action of a line; `sample` is how many it is to be asked about.
    fn judge(&mut self, action: &mut Action, line: &[u8], sample: usize) -> Result<(), Failure> {
        let key = self.key(line);
        if let Some(answered) = self.kept.as_ref().and_then(|kept| kept.recall(&key, action)) {
            self.figures.recall(&action.labels, &answered);
            return Ok(());
        }
        let line = parse_line(line, self.arguments.use_modes).map_err(Failure::internal)?;
        let session =
            self.sessions.find(line.call.cwd.as_deref().unwrap_or_default()).map_err(Failure::internal)?;
        let context = context_of(session, self.arguments, &line);
        let was_asked = Cell::new(false);
        let before_asking = |time: Duration| {
            was_asked.set(true);
            time
        };
        let road = CallJudge {
            session,
            arguments: &self.arguments.classifier,
            store: self.store.clone(),
            session_id: None,
            consultants: Some(&TriedConsultants),
            before_asking: &before_asking,
            fences: None,
        };
        let judged = road.judge(&line.call.call, context, &SessionHistory::default(), &mut self.world)?;
        self.problems.extend(judged.problems.iter().cloned());
        let is_unanswered = matches!(judged.verdict.reason, Reason::Unavailable { .. });
        if !was_asked.get() && !is_unanswered {
            // The disk says more than the files did; what they said is what is measured.
            self.figures.settled += 1;
            return Ok(());
        }
        action.take(&judged.verdict);
        let answered = Answered::of(&judged);
        self.figures.add(&action.labels, &answered);
        if let Some(kept) = &mut self.kept {
            kept.keep(&key, action, &answered)?;
        }
        self.failures = if answered.word.is_verdict() { 0 } else { self.failures + 1 };
        if self.failures < MOST_FAILURES {
            return Ok(());
        }
        let message = format!(
            "the model gave no verdict {MOST_FAILURES} times in a row, so the run ends after {} of {sample} actions: {}",
            self.figures.asked(),
            shorten(&account(&judged), LONGEST_FAILURE),
        );
        let hint = match &self.arguments.resume {
            Some(_) => {
                "run the same command again to go on; portcullis auto-mode test tells what the model says"
            }
            None => "see what it says with portcullis auto-mode test; with --resume FILE a run can go on",
        };
        Err(Failure::internal(message).with_hint(hint))
    }

    /// Returns what a verdict on a line is kept by.
    fn key(&self, line: &[u8]) -> String {
        let mut context = digest::Context::new(&digest::SHA256);
        // The length keeps the one from passing for a part of the other.
        context.update(&self.judge.len().to_le_bytes());
        context.update(self.judge.as_bytes());
        context.update(line.trim_ascii());
        hex(context.finish().as_ref())
    }

    /// Says on standard error what could not be kept.
    fn complain(&self) {
        print_notes(self.problems.iter().take(MOST_PROBLEMS));
    }
}

/// Says why there is no verdict.
fn account(judged: &JudgedCall) -> String {
    match (&judged.verdict.reason, judged.exchanges.last()) {
        (Reason::Unavailable { detail }, _) => detail.clone(),
        (_, Some(last)) => last.outcome.to_string(),
        (other, None) => other.message(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_evenly_spaced_and_takes_all_if_there_are_fewer() {
        assert_eq!(spaced(0, 3), Vec::<usize>::new());
        assert_eq!(spaced(2, 3), [0, 1]);
        assert_eq!(spaced(3, 3), [0, 1, 2]);
        assert_eq!(spaced(10, 3), [0, 3, 6]);
        assert_eq!(spaced(10, 4), [0, 2, 5, 7]);
        assert_eq!(spaced(1_000_000, 1), [0]);
    }
}
