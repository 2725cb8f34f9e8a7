//! A circuit breaker: a provider that fails again and again is left alone for a while. No clock here: the time is given.

/// How many outages in a row open the breaker.
pub const OUTAGES_TO_OPEN: u32 = 3;

const FIRST_PAUSE_MS: u64 = 30_000;
const LONGEST_PAUSE_MS: u64 = 300_000;

/// How a provider did lately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CircuitBreaker {
    /// How many outages there were in a row.
    pub failures: u32,
    /// Until when it is not asked, in milliseconds since 1970.
    pub open_until: Option<u64>,
}

impl CircuitBreaker {
    /// Says whether the provider is not to be asked now. A pause longer than any that is ever made does not count: the
    /// clock was changed since, or the record was.
    pub fn is_open(&self, now_ms: u64) -> bool {
        self.open_until.is_some_and(|until| until > now_ms && until - now_ms <= LONGEST_PAUSE_MS)
    }

    /// Returns what is left of the pause, in milliseconds; 0 if the provider may be asked.
    pub fn pause_left(&self, now_ms: u64) -> u64 {
        let until = self.open_until.filter(|_| self.is_open(now_ms));
        until.map_or(0, |until| until.saturating_sub(now_ms))
    }

    /// Forgets all outages: the provider answered.
    pub fn after_success(&mut self) {
        *self = CircuitBreaker::default();
    }

    /// Counts an outage. The third in a row opens the breaker for 30 seconds; when they are over a request is let through
    /// again, and if that one fails too the pause is twice as long, up to five minutes. Requests that were under way when
    /// the breaker opened do not count.
    pub fn after_outage(&mut self, now_ms: u64) {
        if self.is_open(now_ms) {
            return;
        }
        self.failures = self.failures.saturating_add(1);
        let doublings = self.failures.checked_sub(OUTAGES_TO_OPEN);
        self.open_until = doublings.map(|doublings| now_ms.saturating_add(pause_ms(doublings)));
    }
}

fn pause_ms(doublings: u32) -> u64 {
    let factor = 1_u64.checked_shl(doublings.min(32)).unwrap_or(u64::MAX);
    FIRST_PAUSE_MS.saturating_mul(factor).min(LONGEST_PAUSE_MS)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_third_outage_in_a_row_opens_it_for_half_a_minute() {
        let mut breaker = CircuitBreaker::default();
        for now in [10, 20] {
            breaker.after_outage(now);
            assert!(!breaker.is_open(now));
        }
        breaker.after_outage(1000);
        assert!(breaker.is_open(1000) && breaker.is_open(30_999));
        assert_eq!(breaker.pause_left(1000), 30_000);
        assert!(!breaker.is_open(31_000));
        assert_eq!(breaker.pause_left(31_000), 0);
    }

    #[test]
    fn a_success_in_between_starts_the_count_again() {
        let mut breaker = CircuitBreaker::default();
        breaker.after_outage(1);
        breaker.after_outage(2);
        breaker.after_success();
        breaker.after_outage(3);
        breaker.after_outage(4);
        assert!(!breaker.is_open(4));
        assert_eq!(breaker.failures, 2);
    }

    #[test]
    fn each_failed_trial_doubles_the_pause_up_to_five_minutes() {
        let mut breaker = CircuitBreaker { failures: 2, open_until: None };
        let mut now = 0;
        for pause in [30_000, 60_000, 120_000, 240_000, 300_000, 300_000, 300_000] {
            breaker.after_outage(now);
            assert_eq!(breaker.pause_left(now), pause);
            now += pause;
            assert!(!breaker.is_open(now), "a trial is let through after {pause}");
        }
        breaker.after_success();
        assert_eq!(breaker, CircuitBreaker::default());
    }

    #[test]
    fn requests_under_way_when_it_opened_do_not_lengthen_the_pause() {
        let mut breaker = CircuitBreaker { failures: 2, open_until: None };
        breaker.after_outage(0);
        let opened = breaker;
        for now in [1, 2, 29_999] {
            breaker.after_outage(now);
        }
        assert_eq!(breaker, opened);
    }

    #[test]
    fn a_pause_nobody_made_is_not_kept() {
        let forged = CircuitBreaker { failures: 3, open_until: Some(u64::MAX) };
        assert!(!forged.is_open(0));
        let turned_back = CircuitBreaker { failures: 3, open_until: Some(1_000_000) };
        assert!(!turned_back.is_open(5));
        assert!(turned_back.is_open(900_000));
    }

    #[test]
    fn no_number_makes_it_overflow() {
        for failures in [0, 2, 3, 40, u32::MAX] {
            for open_until in [None, Some(0), Some(u64::MAX)] {
                for now in [0, 1, u64::MAX] {
                    let mut breaker = CircuitBreaker { failures, open_until };
                    breaker.after_outage(now);
                    assert!(breaker.failures >= failures);
                    assert!(breaker.pause_left(now) <= LONGEST_PAUSE_MS);
                }
            }
        }
    }
}
