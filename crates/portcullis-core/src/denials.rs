//! How often auto mode may say no before a person must look (spec D12).

/// The denials of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Denials {
    /// Since the last call that was allowed.
    pub in_a_row: u32,
    /// Since the session began, or since this very limit was last reached.
    pub in_total: u32,
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DenialLimit {
    /// Too many, one after the other.
    InARow,
    /// Too many, all told.
    InTotal,
}

impl Denials {
    /// So many, one after the other, and a person must look.
    pub const MOST_IN_A_ROW: u32 = 3;
    /// So many in total, and a person must look.
    pub const MOST_IN_TOTAL: u32 = 20;

    /// Counts a call that was allowed, by whomever.
    #[must_use]
    pub const fn after_allow(self) -> Self {
        Self { in_a_row: 0, ..self }
    }

    /// Counts a denial, and says which limit it reached. The total begins anew when its own limit is reached by a denial
    /// that a person may lift, since only then somebody looks; the run goes on until something is allowed.
    #[must_use]
    pub const fn after_denial(self, is_liftable: bool) -> (Self, Option<DenialLimit>) {
        let in_a_row = self.in_a_row.saturating_add(1);
        let in_total = self.in_total.saturating_add(1);
        if in_total >= Self::MOST_IN_TOTAL {
            let in_total = if is_liftable { 0 } else { in_total };
            (Self { in_a_row, in_total }, Some(DenialLimit::InTotal))
        } else if in_a_row >= Self::MOST_IN_A_ROW {
            (Self { in_a_row, in_total }, Some(DenialLimit::InARow))
        } else {
            (Self { in_a_row, in_total }, None)
        }
    }
}

impl DenialLimit {
    /// Says what was reached, in one clause.
    pub fn message(self) -> String {
        match self {
            Self::InARow => {
                format!("{} actions in a row were denied, so a person must look", Denials::MOST_IN_A_ROW)
            }
            Self::InTotal => {
                format!(
                    "{} actions of this session were denied, so a person must look",
                    Denials::MOST_IN_TOTAL
                )
            }
        }
    }
}

/// What becomes of a run without a person that reached a limit of denials (spec D12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LimitAction {
    /// The run ends: an agent that is denied again and again costs money and gets nowhere.
    #[default]
    Abort,
    /// The call is denied, and the run goes on.
    Deny,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_denial_in_a_row_reaches_a_limit_and_so_does_every_further_one() {
        let mut denials = Denials::default();
        let mut limits = Vec::new();
        for _ in 0..5 {
            let (next, limit) = denials.after_denial(true);
            denials = next;
            limits.push(limit);
        }
        let in_a_row = Some(DenialLimit::InARow);
        assert_eq!(limits, [None, None, in_a_row, in_a_row, in_a_row]);
    }

    #[test]
    fn an_allow_ends_the_run_and_keeps_the_total() {
        let denials = Denials { in_a_row: 2, in_total: 7 }.after_allow();
        assert_eq!(denials, Denials { in_a_row: 0, in_total: 7 });
        assert_eq!(denials.after_denial(true), (Denials { in_a_row: 1, in_total: 8 }, None));
    }

    #[test]
    fn the_twentieth_denial_reaches_the_total_and_begins_it_anew() {
        let mut denials = Denials::default();
        let mut reached = 0;
        for _ in 0..40 {
            let (next, limit) = denials.after_allow().after_denial(true);
            denials = next;
            reached += u32::from(limit == Some(DenialLimit::InTotal));
        }
        assert_eq!((reached, denials.in_total), (2, 0));
    }

    #[test]
    fn a_denial_nobody_may_lift_does_not_begin_the_total_anew() {
        let at_the_end = Denials { in_a_row: 0, in_total: 19 };
        let (after, limit) = at_the_end.after_denial(false);
        assert_eq!((after.in_total, limit), (20, Some(DenialLimit::InTotal)));
        let (after, limit) = after.after_denial(true);
        assert_eq!((after.in_total, limit), (0, Some(DenialLimit::InTotal)));
    }
}
