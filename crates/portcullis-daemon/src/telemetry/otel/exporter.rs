//! Deliveries to a collector: again after a while if it is busy or away, given up if it is away for long.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use portcullis_classifier::provider::WireRequest;
use portcullis_classifier::transport::{
    CancelFlag, ExchangeLimits, ModelFault, ProviderConnection, RawResponse, RetryAdvice,
};
use serde_json::Value;

use super::config::{Config, Target};

/// How long it takes from the first attempt until a delivery is given up.
const PATIENCE: Duration = Duration::from_mins(1);

/// The first pause between two attempts; each one is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest pause, whatever the collector asks for.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How much of an answer is read: collectors have little to say.
const MOST_ANSWER: usize = 64 * 1024;

/// Brings requests to one address.
#[derive(Debug)]
pub(super) struct OtlpExporter {
    connection: ProviderConnection,
    path: String,
    headers: Vec<(Cow<'static, str>, String)>,
    timeout: Duration,
    cancel: CancelFlag,
}

/// Why a delivery did not arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Refusal {
    /// What happened, without anything secret.
    message: String,
    /// How long to wait before the next attempt, if there may be one; zero if it is up to us.
    pause: Option<Duration>,
}

impl OtlpExporter {
    /// Makes one that gives up what is under way when `cancel` says so.
    pub(super) fn new(target: &Target, config: &Config, cancel: CancelFlag) -> Self {
        let limits = ExchangeLimits { body: MOST_ANSWER, ..ExchangeLimits::default() };
        let connection =
            ProviderConnection::new(target.base.clone()).with_proxy(config.proxy.clone()).with_limits(limits);
        let headers = config.headers.0.iter().map(|(name, value)| (name.clone().into(), value.clone()));
        Self {
            connection,
            path: target.path.clone(),
            headers: headers.collect(),
            timeout: config.timeout,
            cancel,
        }
    }

    /// Delivers a request. `wait` waits and says whether the end has not come; `closing` is until when there is time if it
    /// has. Returns what happened if it did not arrive.
    pub(super) fn deliver(
        &self,
        body: Value,
        wait: &dyn Fn(Duration) -> bool,
        closing: &dyn Fn() -> Option<Instant>,
    ) -> Result<(), String> {
        let request = WireRequest { path: self.path.clone(), headers: self.headers.clone(), body };
        let started = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            let end = closing();
            let deadline = Instant::now() + self.timeout;
            let deadline = end.map_or(deadline, |end| end.min(deadline));
            let refusal = match self.connection.send(&request, deadline, &self.cancel) {
                Ok(response) => match judge(&response) {
                    None => return Ok(()),
                    Some(refusal) => refusal,
                },
                Err(fault) => of_fault(&fault),
            };
            // At the end there is time for one attempt, not for waiting.
            let Some(wished) = refusal.pause.filter(|_| end.is_none()) else { return Err(refusal.message) };
            let next = wished.max(pause).min(LONGEST_PAUSE);
            if started.elapsed() + next > PATIENCE {
                return Err(refusal.message);
            }
            wait(next);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// Says why a response is a refusal; `None` if the delivery arrived.
fn judge(response: &RawResponse) -> Option<Refusal> {
    let status = response.status;
    if (200..300).contains(&status) {
        return None;
    }
    let message = format!("the collector answers with status {status}");
    let may_pass = matches!(status, 429 | 502 | 503 | 504);
    let header = response.headers.iter().find(|(name, _)| name == "retry-after");
    let wished = header.and_then(|(_, value)| value.trim().parse().ok()).map(Duration::from_secs);
    Some(Refusal { message, pause: may_pass.then(|| wished.unwrap_or_default()) })
}

fn of_fault(fault: &ModelFault) -> Refusal {
    let pause = match fault.retry {
        RetryAdvice::No => None,
        RetryAdvice::Backoff => Some(Duration::ZERO),
        RetryAdvice::After(time) => Some(time),
    };
    Refusal { message: fault.message.clone(), pause }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn only_what_can_pass_is_tried_again() {
        let pause = |status: u16, after: Option<&str>| {
            let headers = after.map(|after| ("retry-after".to_owned(), after.to_owned()));
            let headers = headers.into_iter().collect();
            judge(&RawResponse { status, headers, body: Vec::new(), elapsed: Duration::ZERO })
                .map(|refusal| refusal.pause)
        };
        assert_eq!([200, 202].map(|status| pause(status, None)), [None, None]);
        assert_eq!([400, 401, 404, 413, 500].map(|status| pause(status, None)), [Some(None); 5]);
        assert_eq!(pause(503, None), Some(Some(Duration::ZERO)));
        assert_eq!(pause(429, Some("7")), Some(Some(Duration::from_secs(7))));
        assert_eq!(pause(429, Some("tomorrow")), Some(Some(Duration::ZERO)));
    }
}
