//! Who is asked where rules and proofs do not decide: the model that settings choose, and hooks of settings.
//!
//! They stand behind a trait because a hook process hardly ever needs them: the small program is built without, and turns
//! into the full one.

use std::time::Duration;

use portcullis_classifier::protocol::ModelExchange;
use portcullis_classifier::transcript::{Transcript, TranscriptEntry};
use portcullis_classifier::transport::CancelFlag;
use portcullis_core::{Case, Context, Pending, PendingAnswer};

use super::call_judge::{CallJudge, SessionHistory};
use super::session_file::add_results;
use crate::classifier::{Keeping, ModelUse, Resting, VoteStanding, assemble, cast, has_classifier, keep};
use crate::clock::now_ms;
use crate::permission_hooks::{self, Question};
use crate::presence;

/// How long an answer may take beyond the judgement itself, on a machine that is busy.
const MARGIN: Duration = Duration::from_secs(10);

/// A call that somebody is asked about.
#[derive(Debug)]
pub struct ConsultedCall<'a> {
    /// What it is judged with.
    pub judge: &'a CallJudge<'a>,
    /// The call, and what is known of it.
    pub case: &'a Case,
    /// The decision so far.
    pub pending: &'a Pending,
    /// What happened in the session.
    pub transcript: &'a Transcript,
    /// Where that is written.
    pub history: &'a SessionHistory,
}

/// Those who are asked.
pub trait Consultants {
    /// Asks the model. With none, nobody answers; with one that cannot be asked, nothing is allowed. What was said is added
    /// to `exchanges`.
    fn ask_classifier(
        &self,
        call: &ConsultedCall<'_>,
        exchanges: &mut Vec<ModelExchange>,
        problems: &mut Vec<String>,
    ) -> PendingAnswer;

    /// Asks the hooks that answer when nobody is there.
    fn ask_hooks(&self, call: &ConsultedCall<'_>, problems: &mut Vec<String>) -> PendingAnswer;
}

/// Nobody: every question stays unanswered.
pub(crate) struct Nobody;

impl Consultants for Nobody {
    fn ask_classifier(
        &self,
        _: &ConsultedCall<'_>,
        _: &mut Vec<ModelExchange>,
        _: &mut Vec<String>,
    ) -> PendingAnswer {
        PendingAnswer::None
    }

    fn ask_hooks(&self, _: &ConsultedCall<'_>, _: &mut Vec<String>) -> PendingAnswer {
        PendingAnswer::None
    }
}

/// Those who are asked by a command that anybody may run. An agent could have settings of its own named by variables, and so
/// run what they name for a hook or for a key.
pub fn consultants_of_command() -> &'static dyn Consultants {
    if presence::is_agents_process() { &Withheld } else { &ConfiguredConsultants }
}

/// Those who are there and are not asked, because an agent runs the command.
struct Withheld;

impl Consultants for Withheld {
    fn ask_classifier(
        &self,
        call: &ConsultedCall<'_>,
        _: &mut Vec<ModelExchange>,
        problems: &mut Vec<String>,
    ) -> PendingAnswer {
        if has_classifier(&call.judge.session.loaded, call.judge.arguments) {
            problems.push("an agent runs this command, so the model was not asked".to_owned());
        }
        PendingAnswer::None
    }

    fn ask_hooks(&self, call: &ConsultedCall<'_>, problems: &mut Vec<String>) -> PendingAnswer {
        if !call.judge.session.loaded.permission_hooks.is_empty() {
            problems.push("an agent runs this command, so no hook was asked".to_owned());
        }
        PendingAnswer::None
    }
}

/// The model and the hooks that settings name.
#[derive(Debug, Clone, Copy)]
pub struct ConfiguredConsultants;

/// The same for a run that tries them out: a model that failed lately is asked nevertheless, and failing here it is not
/// left alone by those who work.
#[derive(Debug, Clone, Copy)]
pub struct TriedConsultants;

impl Consultants for ConfiguredConsultants {
    fn ask_classifier(
        &self,
        call: &ConsultedCall<'_>,
        exchanges: &mut Vec<ModelExchange>,
        problems: &mut Vec<String>,
    ) -> PendingAnswer {
        ask_model(call, ModelUse::Work, exchanges, problems)
    }

    fn ask_hooks(&self, call: &ConsultedCall<'_>, problems: &mut Vec<String>) -> PendingAnswer {
        ask_permission_hooks(call, problems)
    }
}

impl Consultants for TriedConsultants {
    fn ask_classifier(
        &self,
        call: &ConsultedCall<'_>,
        exchanges: &mut Vec<ModelExchange>,
        problems: &mut Vec<String>,
    ) -> PendingAnswer {
        ask_model(call, ModelUse::Test, exchanges, problems)
    }

    fn ask_hooks(&self, call: &ConsultedCall<'_>, problems: &mut Vec<String>) -> PendingAnswer {
        ask_permission_hooks(call, problems)
    }
}

fn ask_model(
    call: &ConsultedCall<'_>,
    model_use: ModelUse,
    exchanges: &mut Vec<ModelExchange>,
    problems: &mut Vec<String>,
) -> PendingAnswer {
    let ConsultedCall { judge, case, pending, transcript, history } = *call;
    let loaded = &judge.session.loaded;
    if !has_classifier(loaded, judge.arguments) {
        return PendingAnswer::None;
    }
    let resting = match model_use {
        ModelUse::Work => Resting::Honoured(now_ms()),
        ModelUse::Test => Resting::Ignored,
    };
    let mut setup = match assemble(judge.session, judge.arguments, judge.store.as_ref(), resting) {
        Ok(setup) => setup,
        Err(detail) => {
            let detail = format!("the classifier cannot be used ({detail})");
            return PendingAnswer::Unavailable { detail, on_failure: loaded.classifier.on_failure };
        }
    };
    let findings = &pending.question().findings;
    let mut transcript = with_boundaries(transcript, case.context());
    add_results(&mut transcript, history);
    let prompt = match setup.recipe.prompt(judge.session, case, findings, &transcript) {
        Ok(prompt) => prompt,
        Err(detail) => return PendingAnswer::TooLong { detail },
    };
    let _ = (judge.before_asking)(setup.judge.timeout + MARGIN);
    let ruling = setup.judge.judge(&prompt, &CancelFlag::new());
    if let Some(store) = &judge.store {
        let session = judge.session_id.as_deref().unwrap_or_default();
        let keeping = Keeping { store, session, setup: &setup, model_use };
        problems.extend(keep(&keeping, &ruling.exchanges, &ruling.learned));
    }
    // A run that tries a model out wants its word, whatever it is worth.
    let answer = match model_use {
        ModelUse::Work => cast(&setup, &ruling, judge.store.as_ref()),
        ModelUse::Test => ruling.answer(setup.on_failure),
    };
    exchanges.extend(ruling.exchanges.into_iter().map(|exchange| {
        let endpoint = setup.judge.endpoints.get(exchange.endpoint);
        let standing = endpoint.map(|endpoint| VoteStanding::of(&setup, endpoint, judge.store.as_ref()));
        ModelExchange {
            prompt_version: setup.recipe.version(),
            self_test: standing.map_or("", |standing| standing.as_str()),
            ..exchange
        }
    }));
    answer
}

fn ask_permission_hooks(call: &ConsultedCall<'_>, problems: &mut Vec<String>) -> PendingAnswer {
    let ConsultedCall { judge, case, pending, history, .. } = *call;
    let hooks = &judge.session.loaded.permission_hooks;
    let question = Question {
        call: case.call(),
        context: case.context(),
        verdict: pending.question(),
        session: judge.session_id.as_deref().unwrap_or_default(),
        transcript: history.file.as_deref().and_then(|file| file.to_str()),
    };
    let longest = permission_hooks::longest(hooks, case.call().tool());
    let there_is = (judge.before_asking)(longest + MARGIN);
    // Whoever watches over this process must not end it first: the programs it started would go on.
    let time = there_is.saturating_sub(MARGIN);
    let (answer, wrong) = permission_hooks::ask(hooks, &question, time);
    problems.extend(wrong);
    answer
}

/// Puts what the user forbade, and permitted again, before everything else: a session that was shortened may have lost
/// it. It is one entry, because the first words of a user stay however long the session is.
fn with_boundaries(transcript: &Transcript, context: &Context) -> Transcript {
    let mut transcript = transcript.clone();
    let sentences = &context.session.boundaries;
    if !sentences.is_empty() {
        let said = format!("[said earlier in this session, oldest first]\n{}", sentences.join("\n"));
        transcript.entries.insert(0, TranscriptEntry::Human(said));
    }
    transcript
}
