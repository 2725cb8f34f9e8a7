//! Whether a failed request is sent again, and when. No clock and no chance here: both are given.

use std::time::Duration;

use super::{FaultKind, ModelFault, RetryAdvice};

/// How often a request is sent again at most.
pub const MOST_RETRIES: u32 = 2;

const FIRST_DELAY: f64 = 0.5;
const LONGEST_DELAY: f64 = 8.0;

/// Returns how long to wait before the request is sent again, or `None` if it is not.
///
/// `attempt` counts the retries made so far, so it is 0 after the first failure. `jitter` is a number from 0 to 1 by
/// chance, so that many clients that failed together do not come back together. A delay that would use up the remaining
/// time is no delay: nothing could be sent after it.
pub fn next_delay(fault: &ModelFault, attempt: u32, remaining: Duration, jitter: f64) -> Option<Duration> {
    if attempt >= MOST_RETRIES || !can_pass(&fault.kind) {
        return None;
    }
    let delay = match fault.retry {
        RetryAdvice::No => return None,
        RetryAdvice::After(delay) => delay,
        RetryAdvice::Backoff => backoff(attempt, jitter),
    };
    Some(delay).filter(|delay| *delay < remaining)
}

fn backoff(attempt: u32, jitter: f64) -> Duration {
    let jitter = if jitter.is_finite() { jitter.clamp(0.0, 1.0) } else { 0.0 };
    let doubled = FIRST_DELAY * 2.0_f64.powi(i32::try_from(attempt).unwrap_or(i32::MAX));
    Duration::from_secs_f64(doubled.min(LONGEST_DELAY) * (1.0 - 0.25 * jitter))
}

/// Says whether a failure of this kind can pass by waiting, whatever else is said of it.
fn can_pass(kind: &FaultKind) -> bool {
    !matches!(kind, FaultKind::SpendLimit | FaultKind::Aborted | FaultKind::BreakerOpen | FaultKind::NoKey)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const LONG: Duration = Duration::from_mins(10);

    fn fault(kind: FaultKind, retry: RetryAdvice) -> ModelFault {
        ModelFault::new(kind, "it failed", retry)
    }

    #[test]
    fn delays_grow_and_jitter_shortens_them_by_a_quarter_at_most() {
        let server = fault(FaultKind::Server, RetryAdvice::Backoff);
        for (attempt, jitter, millis) in [(0, 0.0, 500), (0, 1.0, 375), (1, 0.0, 1000), (1, 0.5, 875)] {
            let delay = next_delay(&server, attempt, LONG, jitter);
            assert_eq!(delay, Some(Duration::from_millis(millis)), "attempt {attempt}, jitter {jitter}");
        }
        assert_eq!(backoff(3, 0.0), Duration::from_secs(4));
        assert_eq!(backoff(9, 0.0), Duration::from_secs(8));
        assert_eq!(backoff(u32::MAX, 0.0), Duration::from_secs(8));
    }

    #[test]
    fn a_jitter_out_of_range_stays_within_it() {
        for (jitter, millis) in [(f64::NAN, 500), (f64::INFINITY, 500), (-7.0, 500), (9.0, 375)] {
            assert_eq!(backoff(0, jitter), Duration::from_millis(millis), "{jitter}");
        }
    }

    #[test]
    fn there_are_two_retries_at_most() {
        let limited = fault(FaultKind::RateLimited, RetryAdvice::After(Duration::from_secs(1)));
        assert!(next_delay(&limited, 1, LONG, 0.0).is_some());
        for attempt in [2, 3, u32::MAX] {
            assert_eq!(next_delay(&limited, attempt, LONG, 0.0), None);
        }
    }

    #[test]
    fn the_time_a_provider_names_is_obeyed_if_it_fits() {
        let limited = fault(FaultKind::RateLimited, RetryAdvice::After(Duration::from_secs(3)));
        let obeyed = next_delay(&limited, 0, Duration::from_secs(4), 1.0);
        assert_eq!(obeyed, Some(Duration::from_secs(3)));
        assert_eq!(next_delay(&limited, 0, Duration::from_secs(3), 1.0), None);
        assert_eq!(next_delay(&limited, 0, Duration::ZERO, 1.0), None);
    }

    #[test]
    fn a_delay_that_does_not_fit_is_none() {
        let server = fault(FaultKind::Server, RetryAdvice::Backoff);
        assert_eq!(next_delay(&server, 0, Duration::from_millis(500), 0.0), None);
        assert!(next_delay(&server, 0, Duration::from_millis(501), 0.0).is_some());
    }

    #[test]
    fn what_waiting_cannot_mend_is_never_repeated() {
        for kind in [FaultKind::SpendLimit, FaultKind::Aborted, FaultKind::BreakerOpen, FaultKind::NoKey] {
            for retry in [RetryAdvice::Backoff, RetryAdvice::After(Duration::ZERO), RetryAdvice::No] {
                assert_eq!(next_delay(&fault(kind.clone(), retry), 0, LONG, 0.0), None, "{kind:?}");
            }
        }
        assert_eq!(next_delay(&fault(FaultKind::Server, RetryAdvice::No), 0, LONG, 0.0), None);
    }
}
