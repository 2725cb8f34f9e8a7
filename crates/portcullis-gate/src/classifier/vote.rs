//! Whether a model's word alone lets a call run: it must have passed the self-test with the prompt and the settings of now.
//!
//! INVARIANT: a result counts for the very model, address, prompt, settings and test it was got with. Whatever of them
//! changes, the model is untested.

use std::fmt::Write as _;

use portcullis_classifier::protocol::{Classification, ClassifierVerdict, ModelEndpoint};
use portcullis_classifier::selftest::SELF_TEST_DATA;
use portcullis_core::{FailureAction, PendingAnswer, SELF_TEST_COMMAND, visible};
use portcullis_store::{SelfTestRecord, Store};
use ring::digest::{Context, SHA256};

use super::assemble::Setup;

/// What a model may do with a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VoteStanding {
    /// It passed the self-test.
    Passed(SelfTestRecord),
    /// It did not, and a person lets it decide nevertheless.
    Accepted(SelfTestRecord),
    /// It has not been tested, and is one that big agents use as such a judge, asked at its provider's own address.
    Vouched,
    /// It has not been tested.
    Untested,
    /// It was tested and let too much run, or blocked too much.
    Failed(SelfTestRecord),
}

impl VoteStanding {
    /// Says how a model of a judge stands.
    pub fn of(setup: &Setup, endpoint: &ModelEndpoint, store: Option<&Store>) -> Self {
        let record = store.and_then(|store| store.self_test(&vote_key(setup, endpoint)));
        match record {
            Some(record) if record.passed => Self::Passed(record),
            Some(record) if record.accepted_ms.is_some() => Self::Accepted(record),
            Some(record) => Self::Failed(record),
            None if endpoint.model.decides_untested && endpoint.is_at_provider() => Self::Vouched,
            None => Self::Untested,
        }
    }

    /// Says whether its word alone lets a call run.
    pub const fn may_allow(&self) -> bool {
        matches!(self, Self::Passed(_) | Self::Accepted(_) | Self::Vouched)
    }

    /// Returns it in a word or two, for records.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Passed(_) => "passed",
            Self::Accepted(_) => "failed, accepted by a person",
            Self::Vouched => "not tested, known",
            Self::Untested => "not tested",
            Self::Failed(_) => "failed",
        }
    }

    /// Says why its word does not do, and what to do, in one clause; `None` if it does.
    pub fn objection(&self, model: &str) -> Option<String> {
        let model = visible(model);
        let why = match self {
            Self::Passed(_) | Self::Accepted(_) | Self::Vouched => return None,
            Self::Untested => format!("`{model}` has not passed the self-test with these settings"),
            Self::Failed(record) => {
                let ((_, hard), (_, soft), (_, blocked)) = (record.hard, record.soft, record.ordinary);
                let let_run = hard.saturating_add(soft);
                let actions = if let_run == 1 { "action" } else { "actions" };
                format!(
                    "`{model}` failed the self-test: it let {let_run} dangerous {actions} run and blocked {blocked} ordinary"
                )
            }
        };
        Some(format!("{why}, so it may deny and not allow; a person runs `{SELF_TEST_COMMAND}`"))
    }
}

/// Returns what a judgement means for a call: the model's verdict, unless it is an allow that the model may not give. Then
/// a person decides, and where none is there the call is denied.
pub(crate) fn cast(setup: &Setup, ruling: &Classification, store: Option<&Store>) -> PendingAnswer {
    let answer = ruling.answer(setup.on_failure);
    let ClassifierVerdict::Allow { .. } = ruling.outcome else { return answer };
    let position = ruling.exchanges.last().map(|exchange| exchange.endpoint);
    let endpoint = position.and_then(|position| setup.judge.endpoints.get(position));
    let objection = match endpoint {
        Some(endpoint) => VoteStanding::of(setup, endpoint, store).objection(&endpoint.model.id),
        None => Some("it is not known which model allowed it".to_owned()),
    };
    match objection {
        None => answer,
        Some(detail) => PendingAnswer::Unavailable { detail, on_failure: FailureAction::Ask },
    }
}

/// Keeps how a model of a judge did in the self-test.
pub fn keep_self_test(
    setup: &Setup,
    endpoint: &ModelEndpoint,
    store: &Store,
    record: &SelfTestRecord,
) -> Result<(), String> {
    store.keep_self_test(&vote_key(setup, endpoint), record).map_err(|error| error.to_string())
}

/// Returns what tells a model with its prompt, its settings and the test from every other.
pub(super) fn vote_key(setup: &Setup, endpoint: &ModelEndpoint) -> String {
    digest(&[endpoint.name(), settings_text(setup), setup.recipe.fixed_text(), SELF_TEST_DATA.to_owned()])
}

/// Returns what tells a judge with its models, its prompt and its settings from every other.
pub fn judge_key(setup: &Setup) -> String {
    let models: Vec<String> = setup.judge.endpoints.iter().map(ModelEndpoint::name).collect();
    digest(&[
        models.join("\n"),
        settings_text(setup),
        setup.recipe.fixed_text(),
        format!("{:?}", setup.on_failure),
    ])
}

fn settings_text(setup: &Setup) -> String {
    let judge = &setup.judge;
    format!("{:?} {:?} {}", judge.stages, judge.shape, judge.threshold)
}

fn digest(parts: &[String]) -> String {
    let mut context = Context::new(&SHA256);
    for part in parts {
        // The length keeps one part from passing for the end of another.
        context.update(&part.len().to_le_bytes());
        context.update(part.as_bytes());
    }
    let mut key = String::new();
    for byte in context.finish().as_ref() {
        // Writing to a String cannot fail.
        let _ = write!(key, "{byte:02x}");
    }
    key
}
