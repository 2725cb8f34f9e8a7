//! Sending a request and waiting for its answer: deadlines, retries, proxies, certificates, and what can go wrong.
//!
//! ```text
//! WireRequest ──► Connection::send ──► RawResponse ──► provider
//!                   │ deadline, Cancel     or Fault ──► next_delay ──► again?
//!                   └ BaseUrl, Proxy, certificates         Breaker ──► at all?
//! ```
//!
//! INVARIANT: a request ends by its deadline, or when its caller gives up, whatever the other side does. Its key goes to
//! the address it is meant for and nowhere else: no redirect is followed, no message holds it.

mod address;
mod breaker;
mod cancel;
mod certificates;
mod connection;
mod failure;
mod proxy;
mod retry;

pub use crate::fault::{FaultKind, ModelFault, RetryAdvice};
pub use address::BaseUrl;
pub use breaker::{CircuitBreaker, OUTAGES_TO_OPEN};
pub use cancel::CancelFlag;
pub use connection::{ExchangeLimits, KeyPresentation, ProviderConnection, RawResponse};
pub use proxy::TunnelProxy;
pub use retry::{MOST_RETRIES, next_delay};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn all_kinds() -> Vec<FaultKind> {
        use FaultKind as K;
        vec![
            K::NoKey,
            K::BadRequest,
            K::Unsupported("temperature".to_owned()),
            K::Unauthorized,
            K::Forbidden,
            K::NotFound,
            K::TooLong,
            K::RateLimited,
            K::SpendLimit,
            K::Overloaded,
            K::Server,
            K::Timeout,
            K::Connection,
            K::Malformed,
            K::Refused,
            K::Truncated,
            K::Empty,
            K::Ambiguous,
            K::Aborted,
            K::BreakerOpen,
        ]
    }

    #[test]
    fn every_kind_has_a_short_phrase_of_its_own() {
        let kinds = all_kinds();
        let phrases: BTreeSet<&str> = kinds.iter().map(FaultKind::phrase).collect();
        assert_eq!(phrases.len(), kinds.len());
        for phrase in phrases {
            assert!((1..=32).contains(&phrase.len()) && !phrase.ends_with('.'), "{phrase}");
            assert_eq!(phrase, phrase.to_lowercase());
        }
    }

    #[test]
    fn only_what_time_may_mend_is_an_outage() {
        use FaultKind as K;
        let outages: Vec<FaultKind> = all_kinds().into_iter().filter(FaultKind::is_outage).collect();
        assert_eq!(outages, [K::RateLimited, K::Overloaded, K::Server, K::Timeout, K::Connection]);
    }
}
