//! What a static judgement says of a call: what is found, what is fine, what is left open.

use crate::allowances::{self, Allowance};
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{self, Found};

/// What the analysis makes of a call.
#[derive(Debug, Clone, Default)]
pub struct Assessment {
    /// What is found, the worst first.
    pub findings: Vec<Found>,
    /// Effects that no allowance covers.
    pub open: Vec<Effect>,
    /// The allowances that cover the others, without repetition.
    pub allowances: Vec<&'static Allowance>,
}

impl Assessment {
    /// Says whether every effect is known and harmless.
    pub fn is_harmless(&self) -> bool {
        self.findings.is_empty() && self.open.is_empty()
    }
}

/// Judges a call by what it would do.
pub fn assess(case: Case<'_>) -> Assessment {
    let mut assessment = Assessment { findings: findings::find(case), ..Assessment::default() };
    assessment.findings.retain(|found| !is_cleared(case, found));
    for effect in case.effects {
        match allowances::covering(case, effect) {
            Some(allowance) => {
                if !assessment.allowances.iter().any(|known| known.code == allowance.code) {
                    assessment.allowances.push(allowance);
                }
            }
            None => assessment.open.push(effect.clone()),
        }
    }
    assessment
}

fn is_cleared(case: Case<'_>, found: &Found) -> bool {
    let Some(effect) = found.sighting.effect.and_then(|place| case.effects.get(place)) else {
        return false;
    };
    allowances::ALLOWANCES
        .iter()
        .any(|allowance| allowance.clears.contains(&found.finding.code) && (allowance.covers)(case, effect))
}
