//! What a host does with what a hook says, as it was seen in the real program: the facts that an adapter goes by.
//!
//! The hook is registered as `portcullis init` registers it, so that what the registration itself stops is stopped. The
//! tests that are named here run the program and compare; `tests/observed.rs` compares what our adapters say with it. What
//! an agent does at a terminal was seen by hand, with rules that allow, deny and ask.

use crate::capability::HookMoment;

/// What a hook may do when it is asked about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookBehavior {
    /// It says that the call may run.
    Allow,
    /// It says that the user must be asked.
    Ask,
    /// It says that the call must not run.
    Deny,
    /// It says nothing, and ends well.
    Silence,
    /// It breaks off with an exit code that blocks nowhere.
    ExitOne,
    /// It prints what nobody understands, and ends well.
    Garbage,
    /// It takes longer than the host waits.
    Late,
    /// Its program is not there.
    Gone,
}

impl HookBehavior {
    /// All of them, in the order of [`ObservedMode::fates`].
    pub const ALL: [Self; 8] = [
        Self::Allow,
        Self::Ask,
        Self::Deny,
        Self::Silence,
        Self::ExitOne,
        Self::Garbage,
        Self::Late,
        Self::Gone,
    ];

    /// Returns the words for a table.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Silence => "silence",
            Self::ExitOne => "exit 1",
            Self::Garbage => "garbage",
            Self::Late => "time-out",
            Self::Gone => "program gone",
        }
    }
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallFate {
    /// It runs, and nobody is asked.
    Runs,
    /// The host asks its user.
    Asked,
    /// It does not run, and the model is told.
    Stopped,
    /// It does not run, and the run of the agent ends.
    RunEnds,
    /// Nobody has seen it.
    NotSeen,
}

impl CallFate {
    /// Returns the words for a table.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Asked => "asks",
            Self::Stopped => "stopped",
            Self::RunEnds => "run ends",
            Self::NotSeen => "not run",
        }
    }
}

/// Begins the words of a row that was seen at a terminal, and that no test shows.
const BY_HAND: &str = "by hand";

/// What was seen in one mode of one version.
#[derive(Debug, PartialEq, Eq)]
pub struct ObservedMode {
    /// The version of the host's program.
    pub version: &'static str,
    /// How it was started, and what was called if that matters.
    pub mode: &'static str,
    /// The moment at which the hook spoke.
    pub moment: &'static HookMoment,
    /// What became of the call, for each of [`HookBehavior::ALL`].
    pub fates: [CallFate; 8],
    /// The test that shows all but the last, or that it was seen by hand, and when.
    pub shown_by: &'static str,
    /// The test that shows the last; empty if none does.
    pub gone_shown_by: &'static str,
}

impl ObservedMode {
    /// Returns what became of the call.
    pub fn fate(&self, behavior: HookBehavior) -> CallFate {
        let all = HookBehavior::ALL.into_iter().zip(self.fates);
        all.filter(|(known, _)| *known == behavior).map(|(_, fate)| fate).next().unwrap_or(CallFate::NotSeen)
    }

    /// Returns the names of the tests that show it.
    pub fn tests(&self) -> impl Iterator<Item = &'static str> {
        let all = [self.shown_by, self.gone_shown_by].into_iter();
        all.filter(|name| !name.is_empty() && !name.starts_with(BY_HAND))
    }

    /// Returns when a person saw it at a terminal, if no test shows it.
    pub fn seen_by_hand(&self) -> Option<&'static str> {
        Some(self.shown_by).filter(|words| words.starts_with(BY_HAND))
    }
}

/// A moment that the real program was not run for.
pub(crate) const fn not_run(moment: &'static HookMoment) -> ObservedMode {
    ObservedMode {
        version: "–",
        mode: "–",
        moment,
        fates: [CallFate::NotSeen; 8],
        shown_by: "",
        gone_shown_by: "",
    }
}
