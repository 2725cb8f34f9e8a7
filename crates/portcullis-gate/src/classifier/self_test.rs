//! Running the self-test: every shipped action is put to a model as if an agent were about to do it, and nothing is run.

use std::time::{Duration, Instant};

use portcullis_classifier::estimate_tokens;
use portcullis_classifier::prompt::Prompt;
use portcullis_classifier::protocol::{
    AuxiliaryRequest, Classification, ClassifierVerdict, ExchangePurpose, ModelEndpoint, ModelExchange,
    StagePlan,
};
use portcullis_classifier::provider::TokenUsage;
use portcullis_classifier::selftest::{ActionKind, SelfTestAction, SelfTestScore, self_test_actions};
use portcullis_classifier::transport::{CancelFlag, FaultKind};
use portcullis_store::{SelfTestRecord, Store};

use super::assemble::Setup;
use super::record::{Keeping, ModelUse, keep};
use super::vote::{keep_self_test, vote_key};
use crate::clock::now_ms;

/// How many actions in a row may get no answer before the test ends.
const MOST_FAILURES: usize = 3;

/// How many in a row may take too long: a slow model is no judge either, and this tells so, but it did answer.
const MOST_TIMEOUTS: usize = 12;

/// What a careful look says, in tokens, for the estimate.
const CAREFUL_ANSWER: u64 = 300;

/// What judging actions will cost, said before it starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgingEstimate {
    /// How many actions there are.
    pub actions: usize,
    /// How many requests at most.
    pub requests: usize,
    /// The tokens of a request.
    pub tokens: usize,
    /// What all of them cost at most, in dollars, if the prices are known.
    pub cost: Option<f64>,
}

impl JudgingEstimate {
    /// Says what so many actions cost at most, where the longest request has so many tokens: every action is looked at as
    /// often as the stages want, and nothing is read from a cache.
    fn new(setup: &Setup, actions: usize, tokens: usize) -> Self {
        let looks = if setup.judge.stages == StagePlan::Both { 2 } else { 1 };
        let requests = actions.saturating_mul(looks);
        let each = TokenUsage {
            input: u64::try_from(tokens).unwrap_or(u64::MAX),
            output: CAREFUL_ANSWER,
            ..TokenUsage::default()
        };
        let model = setup.judge.endpoints.first().map(|endpoint| &endpoint.model);
        #[expect(clippy::cast_precision_loss, reason = "a count that fits")]
        let cost = model.and_then(|model| model.cost(&each)).map(|each| each * requests as f64);
        Self { actions, requests, tokens, cost }
    }

    /// Says it of actions of which the longest has so many tokens beside the prompt.
    pub fn of_actions(setup: &Setup, actions: usize, longest: usize) -> Self {
        Self::new(setup, actions, estimate_tokens(&setup.recipe.fixed_text()).saturating_add(longest))
    }
}

/// What became of one action.
#[derive(Debug)]
pub struct SelfTestRow {
    /// The action.
    pub action: SelfTestAction,
    /// What the model said.
    pub outcome: ClassifierVerdict,
    /// Whether that is right.
    pub is_right: bool,
}

/// How a model did.
#[derive(Debug)]
pub struct SelfTestReport {
    /// The score.
    pub score: SelfTestScore,
    /// Every action.
    pub rows: Vec<SelfTestRow>,
    /// How many actions there were to ask about: more than were, where it was clear before that the model fails.
    pub actions: usize,
    /// Every request, that of the warm-up included.
    pub exchanges: Vec<ModelExchange>,
    /// How long it took to load, where a server of this machine had to.
    pub warm_up: Option<Duration>,
    /// How long all of it took.
    pub elapsed: Duration,
    /// What could not be kept.
    pub problems: Vec<String>,
}

/// The test of one model of a judge.
#[derive(Debug)]
pub struct SelfTest<'a> {
    setup: &'a mut Setup,
    store: Option<&'a Store>,
    prompts: Vec<(SelfTestAction, Prompt)>,
}

impl<'a> SelfTest<'a> {
    /// Prepares the test of the only model of a judge.
    pub fn new(setup: &'a mut Setup, store: Option<&'a Store>) -> Result<Self, String> {
        let prompt = |action: SelfTestAction| {
            let prompt = setup.recipe.self_test_prompt(&action)?;
            Ok((action, prompt))
        };
        let prompts = self_test_actions().into_iter().map(prompt).collect::<Result<Vec<_>, String>>()?;
        Ok(Self { setup, store, prompts })
    }

    /// Says what it will cost at most: every action looked at twice, and nothing read from a cache.
    pub fn estimate(&self) -> JudgingEstimate {
        let longest = self.prompts.iter().map(|(_, prompt)| tokens(prompt)).max().unwrap_or_default();
        JudgingEstimate::new(self.setup, self.prompts.len(), longest)
    }

    /// Runs it, and keeps the result. Unless all actions are wanted, it ends as soon as it is clear that the model fails.
    /// `watch` is told how many actions are done. An error says why there is no result.
    pub fn run(mut self, wants_all: bool, watch: &mut dyn FnMut(usize)) -> Result<SelfTestReport, String> {
        let whole = self.whole();
        let started = Instant::now();
        let mut report = SelfTestReport {
            score: SelfTestScore::default(),
            rows: Vec::new(),
            actions: self.prompts.len(),
            exchanges: Vec::new(),
            warm_up: None,
            elapsed: Duration::ZERO,
            problems: Vec::new(),
        };
        self.warm_up(&mut report)?;
        self.setup.judge.timeout = self.setup.usual_time;
        let mut failures = 0;
        for (done, (action, prompt)) in std::mem::take(&mut self.prompts).into_iter().enumerate() {
            watch(done);
            let Classification { outcome, exchanges, learned } =
                self.setup.judge.judge(&prompt, &CancelFlag::new());
            self.keep(&exchanges, &learned, &mut report.problems);
            report.exchanges.extend(exchanges);
            failures = match &outcome {
                ClassifierVerdict::Failed(fault) => {
                    let most = if is_slowness(&outcome) { MOST_TIMEOUTS } else { MOST_FAILURES };
                    if failures + 1 >= most {
                        return Err(format!("{}: {}", fault.kind.phrase(), fault.message));
                    }
                    failures + 1
                }
                _ => 0,
            };
            let is_allowed = matches!(outcome, ClassifierVerdict::Allow { .. });
            let is_right = report.score.add(action.kind, is_allowed);
            report.rows.push(SelfTestRow { action, outcome, is_right });
            let is_lost = |kind| report.score.kind(kind).wrong > whole.bar(kind);
            if !wants_all && ActionKind::ALL.into_iter().any(is_lost) {
                break;
            }
        }
        report.elapsed = started.elapsed();
        self.conclude(&mut report)?;
        Ok(report)
    }

    /// Returns the score of a model that gets everything right, which says where the bar is.
    fn whole(&self) -> SelfTestScore {
        let mut score = SelfTestScore::default();
        for (action, _) in &self.prompts {
            score.add(action.kind, !action.kind.is_danger());
        }
        score
    }

    fn endpoint(&self) -> Option<&ModelEndpoint> {
        self.setup.judge.endpoints.first()
    }

    /// Has a server of this machine load its model and read what all requests begin with.
    fn warm_up(&mut self, report: &mut SelfTestReport) -> Result<(), String> {
        let is_near = self.endpoint().is_some_and(ModelEndpoint::is_near);
        let Some((_, prompt)) = self.prompts.first().filter(|_| is_near) else { return Ok(()) };
        let started = Instant::now();
        let errand = AuxiliaryRequest {
            talk: ExchangePurpose::WarmUp,
            prompt,
            suffix: "Answer with the word ok.\n",
            max_tokens: 1,
            spec: None,
        };
        let asked = self.setup.judge.run_errand(errand, &CancelFlag::new());
        self.keep(&asked.exchanges, &asked.learned, &mut report.problems);
        report.exchanges.extend(asked.exchanges);
        report.warm_up = Some(started.elapsed());
        match asked.answered {
            // One token is all it may say.
            Err(fault) if !matches!(fault.kind, FaultKind::Truncated | FaultKind::Empty) => {
                Err(format!("{}: {}", fault.kind.phrase(), fault.message))
            }
            _ => Ok(()),
        }
    }

    fn keep(&self, exchanges: &[ModelExchange], learned: &[(String, String)], problems: &mut Vec<String>) {
        if let Some(store) = self.store {
            let keeping = Keeping { store, session: "", setup: self.setup, model_use: ModelUse::Test };
            problems.extend(keep(&keeping, exchanges, learned));
        }
    }

    /// Keeps the result. A model that could not be asked about something has none; one that took too long has, since such
    /// a call is not run.
    fn conclude(&self, report: &mut SelfTestReport) -> Result<(), String> {
        let failed = report.rows.iter().find_map(|row| match &row.outcome {
            ClassifierVerdict::Failed(fault) if !is_slowness(&row.outcome) => {
                Some(format!("{}: {}", fault.kind.phrase(), fault.message))
            }
            _ => None,
        });
        if let Some(failed) = failed {
            return Err(failed);
        }
        let (Some(store), Some(endpoint)) = (self.store, self.endpoint()) else { return Ok(()) };
        let of_kind = |kind| {
            let counted = report.score.kind(kind);
            (counted.total, counted.wrong)
        };
        let record = SelfTestRecord {
            at_ms: now_ms(),
            model: format!("{} {}", endpoint.model.provider, endpoint.model.id),
            prompt: self.setup.recipe.version(),
            passed: report.score.is_passed(),
            hard: of_kind(ActionKind::Hard),
            soft: of_kind(ActionKind::Soft),
            ordinary: of_kind(ActionKind::Ordinary),
            accepted_ms: None,
        };
        keep_self_test(self.setup, endpoint, store, &record)
    }
}

/// Notes that a person lets the only model of a judge decide although it failed the test.
pub fn accept_risk(setup: &Setup, store: &Store) -> Result<(), String> {
    let endpoint = setup.judge.endpoints.first().ok_or("no model is configured")?;
    let record =
        store.self_test(&vote_key(setup, endpoint)).ok_or("it was not tested with these settings")?;
    let accepted = SelfTestRecord { accepted_ms: Some(now_ms()), ..record };
    keep_self_test(setup, endpoint, store, &accepted)
}

fn is_slowness(outcome: &ClassifierVerdict) -> bool {
    matches!(outcome, ClassifierVerdict::Failed(fault) if fault.kind == FaultKind::Timeout)
}

fn tokens(prompt: &Prompt) -> usize {
    let Prompt { system, session, history, action, facts } = prompt;
    let texts = [system, session, action, facts].into_iter().chain(history);
    texts.map(|text| estimate_tokens(text)).sum()
}
