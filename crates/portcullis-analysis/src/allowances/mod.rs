//! Allowances: what a call may do without anybody being asked, one file a kind.
//!
//! A call runs when nothing is found in it and every effect of it is covered by an allowance.

mod declared_dependencies;
mod feature_branch_push;
mod local_operations;
mod read_only;
mod standard_credentials;
mod test_artefacts;
mod toolchain_bootstrap;

use crate::case::Case;
use crate::effect::Effect;
use crate::findings::ExampleCall;

/// One kind of thing that is fine.
#[derive(Debug)]
pub struct Allowance {
    /// Its code, `PA` and two digits.
    pub code: &'static str,
    /// Its name, as in the file name, with dashes.
    pub name: &'static str,
    /// What it allows, a few words.
    pub title: &'static str,
    /// The codes of the findings it clears where it covers the effect they are about.
    pub clears: &'static [&'static str],
    /// Examples whose every effect is covered, by this allowance or others.
    pub hits: &'static [ExampleCall],
    /// Examples that look alike and are not covered.
    pub misses: &'static [ExampleCall],
    /// Says whether it covers an effect.
    pub covers: fn(Case<'_>, &Effect) -> bool,
}

/// Every allowance, in the order of their codes.
pub static ALLOWANCES: &[&Allowance] = &[
    &read_only::ALLOWANCE,
    &local_operations::ALLOWANCE,
    &declared_dependencies::ALLOWANCE,
    &test_artefacts::ALLOWANCE,
    &toolchain_bootstrap::ALLOWANCE,
    &standard_credentials::ALLOWANCE,
    &feature_branch_push::ALLOWANCE,
];

/// Returns the first allowance that covers an effect.
pub fn covering(case: Case<'_>, effect: &Effect) -> Option<&'static Allowance> {
    ALLOWANCES.iter().copied().find(|allowance| (allowance.covers)(case, effect))
}
