//! Using what a person granted: a grant that a call needs is counted under its lock before the call is allowed.
//!
//! Which grants a call needs is found by leaving them out: one without which the call is still allowed is not used.

use std::borrow::Cow;

use portcullis_core::rule::Behavior;
use portcullis_core::{Decision, Outcome, Policy, RuleSet, Source};
use portcullis_store::{Grant, GrantUse};

use super::call_judge::{CallJudge, Try};
use crate::Failure;
use crate::clock::now_ms;

impl CallJudge<'_> {
    /// Counts the grants that an allowed call needs. If one is gone, the call is decided again without it.
    pub(super) fn spend(
        &self,
        mut tried: Try,
        policy: &mut Cow<'_, Policy>,
        problems: &mut Vec<String>,
    ) -> Result<Try, Failure> {
        let mut limited: Vec<&Grant> = self.session.limited.iter().collect();
        while !limited.is_empty() && is_allowed(&tried.outcome) {
            let needed = needed(&tried, policy, &limited)?;
            if needed.is_empty() {
                break;
            }
            let gone = match self.take_uses(&needed) {
                Ok(GrantUse::All) => break,
                Ok(GrantUse::Gone(gone)) => gone,
                Err(problem) => {
                    problems.push(problem);
                    needed
                }
            };
            for grant in limited.extract_if(.., |grant| gone.contains(&grant.id)) {
                *policy = Cow::Owned(without(policy, grant));
            }
            tried.outcome = tried.decide(policy)?;
        }
        Ok(tried)
    }

    fn take_uses(&self, ids: &[String]) -> Result<GrantUse, String> {
        let store = self.store.as_ref().ok_or("there is nowhere to count the uses of a grant")?;
        store.grants().spend(ids, now_ms()).map_err(|error| error.to_string())
    }
}

fn is_allowed(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Settled(verdict) if verdict.decision == Decision::Allow)
}

/// Returns the ids of the grants without which the call would not be allowed.
fn needed(tried: &Try, policy: &Policy, limited: &[&Grant]) -> Result<Vec<String>, Failure> {
    let mut policy = policy.clone();
    let mut ids = Vec::new();
    for grant in limited {
        let fewer = without(&policy, grant);
        if is_allowed(&tried.decide(&fewer)?) {
            policy = fewer;
        } else {
            ids.push(grant.id.clone());
        }
    }
    Ok(ids)
}

/// Leaves out the rule of a grant: one of them, where several say the same.
fn without(policy: &Policy, grant: &Grant) -> Policy {
    let mut rules = policy.rules.rules().to_vec();
    let is_granted = |rule: &portcullis_core::rule::Rule| {
        rule.origin.source == Source::Session
            && rule.behavior == Behavior::Allow
            && rule.source_text == grant.rule
    };
    if let Some(place) = rules.iter().position(is_granted) {
        rules.remove(place);
    }
    Policy { rules: RuleSet::new(rules), ..policy.clone() }
}
