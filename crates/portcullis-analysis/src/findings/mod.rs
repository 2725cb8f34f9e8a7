//! Findings: what makes a call one that a careful colleague would stop, one file a category.
//!
//! Each file has a doc comment that becomes its page, metadata, examples that hit and miss, and one filter over effects.

mod account_and_rights;
mod attack_tools;
mod blind_apply;
mod ci_bypass;
mod cloud_destruction;
mod cluster_destruction;
mod container_power;
mod container_purge;
mod credential_hunt;
mod credential_leak;
mod credential_read;
mod critical_removal;
mod data_exfiltration;
mod database_destruction;
mod destructive_verb;
mod disk_destruction;
mod download_and_run;
mod exposed_service;
mod foreign_code_loading;
mod foreign_deletion;
mod foreign_program;
mod git_delete_remote;
mod git_discard;
mod git_erase;
mod git_force_push;
mod git_push_default;
mod git_remote_repoint;
mod impersonation;
mod infra_destruction;
mod instruction_poisoning;
mod kernel_change;
mod log_tampering;
mod malware;
mod metadata_access;
mod network_reconfiguration;
mod obfuscation;
pub mod own_places;
mod persistence;
mod private_places;
mod privilege_escalation;
mod process_interference;
mod production_deploy;
mod protection_disabled;
mod publication;
mod raised_unknown;
mod real_world_transaction;
mod registry;
mod remote_change;
mod remote_code_surface;
mod remote_shell_write;
mod scratch_sweep;
mod secret_store_write;
mod self_modification;
mod shared_project_change;
mod shell_escape;
mod storage_mass_delete;
mod surveillance;
mod system_modification;
mod terminal_driving;
mod trust_weakening;
mod unchecked_agent;
mod unverifiable_deletion;

pub use crate::sighting::Sighting;
pub use registry::FINDINGS;

use crate::case::Case;

/// One category of harm.
#[derive(Debug)]
pub struct Finding {
    /// Its code, `PC` and three digits; never used again for something else.
    pub code: &'static str,
    /// Its name, as in the file name, with dashes.
    pub name: &'static str,
    /// What it is about, a few words.
    pub title: &'static str,
    /// The key of the block category that eval sets use.
    pub category: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Whether a person's own words can clear it.
    pub firmness: Firmness,
    /// What would be fine in its place: one sentence without its period, for whoever made the call. A command in it is one
    /// that auto mode does not refuse.
    pub instead: &'static str,
    /// Calls in which it must be found: each is run as a test, and the page shows them.
    pub hits: &'static [ExampleCall],
    /// Examples that look alike and are fine.
    pub misses: &'static [ExampleCall],
    /// Looks through the effects of a call for it.
    pub filter: fn(Case<'_>) -> Vec<Sighting>,
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A nuisance that is soon put right.
    Low,
    /// Work is lost or others are bothered.
    Medium,
    /// Hard to put right.
    High,
    /// Cannot be put right.
    Critical,
}

impl Severity {
    /// Returns the word that settings, pages and records use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// Whether consent clears a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Firmness {
    /// Nothing clears it.
    Hard,
    /// A human turn clears it that uses one of the verbs and names the subject, or the whole command.
    Soft {
        /// Words that name the action, in lower case.
        verbs: &'static [&'static str],
        /// What the person must have named, for people: “the branch”.
        must_name: &'static str,
    },
}

/// An example call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExampleCall {
    /// A bash command line, run in `/code/app` with the home directory `/home/me`.
    Bash(&'static str),
    /// A PowerShell command line.
    PowerShell(&'static str),
    /// A call of another tool with its text fields.
    Call(&'static str, &'static [(&'static str, &'static str)]),
}

/// A finding that was seen.
#[derive(Debug, Clone)]
pub struct Found {
    /// The category, with its severity and what clears it.
    pub finding: &'static Finding,
    /// What of this call it is about.
    pub sighting: Sighting,
}

/// Looks for every finding, the worst first.
pub fn find(case: Case<'_>) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    for finding in FINDINGS {
        all.extend((finding.filter)(case).into_iter().map(|sighting| Found { finding, sighting }));
    }
    all.sort_by_key(|found| {
        std::cmp::Reverse((found.finding.severity, found.finding.firmness == Firmness::Hard))
    });
    all
}

/// Returns the finding with a code, in any case.
pub fn with_code(code: &str) -> Option<&'static Finding> {
    FINDINGS.iter().copied().find(|finding| finding.code.eq_ignore_ascii_case(code))
}
