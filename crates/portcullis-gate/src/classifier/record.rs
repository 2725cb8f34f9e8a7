//! What is kept of talks with models: costs and latencies, what was learned, who failed, and dumps (spec D15, D18).

use portcullis_classifier::protocol::{ExchangeOutcome, ModelExchange};
use portcullis_classifier::transport::{CircuitBreaker, FaultKind};
use portcullis_store::{DumpDirectory, ModelCallOutcome, ModelCallRecord, Store, redact, redact_json};
use serde_json::{Value, json};

use super::assemble::Setup;
use crate::clock::now_ms;

/// Where it is kept, and of which judge.
#[derive(Debug)]
pub struct Keeping<'a> {
    /// The store.
    pub store: &'a Store,
    /// The host's id of the session; may be empty.
    pub session: &'a str,
    /// The judge that was asked.
    pub setup: &'a Setup,
    /// What it was asked for.
    pub model_use: ModelUse,
}

/// What a model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelUse {
    /// Work that waits for the answer: a provider that fails at it is left alone for a while.
    Work,
    /// A test that a person watches: its failures are no reason to leave anybody alone.
    Test,
}

/// Keeps what was said, and returns what could not be kept. None of it changes a verdict.
pub fn keep(keeping: &Keeping<'_>, exchanges: &[ModelExchange], learned: &[(String, String)]) -> Vec<String> {
    let mut problems = Vec::new();
    // Whoever is left alone was not asked, and why is known.
    let is_resting = ExchangeOutcome::Fault(FaultKind::BreakerOpen);
    for exchange in exchanges.iter().filter(|exchange| exchange.outcome != is_resting) {
        if exchange.attempts > 0
            && let Err(error) = keeping.store.append_call(&record(keeping.session, exchange))
        {
            problems.push(error.to_string());
        }
        let is_failure = exchange.is_fault();
        if keeping.setup.dumps || is_failure {
            let folder = if keeping.setup.dumps { "dumps" } else { "errors" };
            let dumps =
                DumpDirectory::new(keeping.store.root().join(folder), DumpDirectory::DEFAULT_CAP_BYTES);
            let name = format!("{:013}-{}-{}.json", now_ms(), exchange.talk.as_str(), std::process::id());
            if let Err(error) = dumps.write(&name, &dump(keeping.session, exchange)) {
                problems.push(error.to_string());
            }
        }
    }
    for (endpoint, parameter) in learned {
        if let Err(error) = keeping.store.learn(endpoint, parameter) {
            problems.push(error.to_string());
        }
    }
    problems.extend(update_breakers(keeping, exchanges));
    problems.extend(note_answers(keeping, exchanges));
    problems
}

/// Notes which servers of one's own answered, so that the next call does not wait as if they had to load a model.
fn note_answers(keeping: &Keeping<'_>, exchanges: &[ModelExchange]) -> Vec<String> {
    let endpoints = keeping.setup.judge.endpoints.iter().enumerate();
    let answered = endpoints.filter(|(position, endpoint)| {
        let is_answered = |exchange: &ModelExchange| {
            exchange.endpoint == *position && exchange.status.is_some() && !exchange.is_outage()
        };
        endpoint.is_near() && exchanges.iter().any(is_answered)
    });
    let noted = answered.map(|(_, endpoint)| keeping.store.note_answer(&endpoint.name(), now_ms()));
    noted.filter_map(|noted| noted.err().map(|error| error.to_string())).collect()
}

fn update_breakers(keeping: &Keeping<'_>, exchanges: &[ModelExchange]) -> Vec<String> {
    let mut problems = Vec::new();
    for (position, endpoint) in keeping.setup.judge.endpoints.iter().enumerate() {
        let name = &endpoint.name();
        let is_own = |exchange: &&ModelExchange| exchange.endpoint == position && exchange.attempts > 0;
        let Some(last) = exchanges.iter().rfind(is_own) else { continue };
        let known = keeping.store.breaker(name);
        let is_counted = keeping.model_use == ModelUse::Work;
        if (last.is_outage() && !is_counted) || (!last.is_outage() && known.failures == 0) {
            continue;
        }
        let updated = keeping.store.update_breaker(name, |state| {
            let mut breaker = CircuitBreaker {
                failures: state.failures,
                open_until: Some(state.open_until_ms).filter(|until| *until > 0),
            };
            if last.is_outage() {
                breaker.after_outage(now_ms());
            } else {
                breaker.after_success();
            }
            state.failures = breaker.failures;
            state.open_until_ms = breaker.open_until.unwrap_or_default();
        });
        if let Err(error) = updated {
            problems.push(error.to_string());
        }
    }
    problems
}

fn record(session: &str, exchange: &ModelExchange) -> ModelCallRecord {
    let ModelExchange { talk, provider, model, usage, cost, elapsed, attempts, .. } = exchange;
    ModelCallRecord {
        at_ms: now_ms(),
        session: session.to_owned(),
        provider: provider.as_str().to_owned(),
        model: model.clone(),
        stage: talk.as_str().to_owned(),
        outcome: match &exchange.outcome {
            ExchangeOutcome::Allow => ModelCallOutcome::Allow,
            ExchangeOutcome::Answer => ModelCallOutcome::Answer,
            ExchangeOutcome::Block => ModelCallOutcome::Block,
            ExchangeOutcome::Unclear => ModelCallOutcome::Unparseable,
            ExchangeOutcome::Fault(kind) => ModelCallOutcome::Fault(kind.phrase().to_owned()),
        },
        input: usage.input,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
        output: usage.output,
        cost_usd: *cost,
        latency_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        attempts: *attempts,
    }
}

/// Writes an exchange with nothing secret in it.
fn dump(session: &str, exchange: &ModelExchange) -> String {
    let response = match serde_json::from_str::<Value>(&exchange.response) {
        Ok(value) => redact_json(&value),
        Err(_) => Value::String(redact(&exchange.response).into_owned()),
    };
    let value = json!({
        "session": session,
        "talk": exchange.talk.as_str(),
        "provider": exchange.provider.as_str(),
        "model": exchange.model,
        "outcome": exchange.outcome.as_str(),
        "attempts": exchange.attempts,
        "elapsed_ms": u64::try_from(exchange.elapsed.as_millis()).unwrap_or(u64::MAX),
        "cost_usd": exchange.cost,
        "usage": {
            "input": exchange.usage.input,
            "cache_read": exchange.usage.cache_read,
            "cache_write": exchange.usage.cache_write,
            "output": exchange.usage.output,
        },
        "status": exchange.status,
        "request": redact_json(&exchange.request),
        "response": response,
    });
    format!("{value:#}\n")
}
