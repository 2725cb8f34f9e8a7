//! The steps by name and order.

use std::fmt;

use super::run::{Run, StepResult};
use super::steps;

/// Names one step of the pipeline, in the order they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepId {
    /// Session aborted.
    A0,
    /// Tool-wide deny rule.
    A1,
    /// Content or parameter deny rule.
    A2,
    /// Tool-wide ask rule.
    A3,
    /// The tool's own check.
    A4,
    /// Tool that requires user interaction.
    A5,
    /// Content ask rule.
    A6,
    /// Safety check.
    A7,
    /// Bypass mode.
    A8,
    /// Allow rule or read-only proof.
    A9,
    /// Nothing decided.
    A10,
    /// The mode turns an ask.
    A11,
}

impl StepId {
    /// Returns the id used in traces and JSON: `A0` to `A11`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::A0 => "A0",
            Self::A1 => "A1",
            Self::A2 => "A2",
            Self::A3 => "A3",
            Self::A4 => "A4",
            Self::A5 => "A5",
            Self::A6 => "A6",
            Self::A7 => "A7",
            Self::A8 => "A8",
            Self::A9 => "A9",
            Self::A10 => "A10",
            Self::A11 => "A11",
        }
    }

    /// Returns what the step is called.
    pub fn name(self) -> &'static str {
        STEPS.iter().find(|step| step.id == self).map_or("", |step| step.name)
    }
}

impl fmt::Display for StepId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One step: its name, what it is for, and the function that runs it.
#[derive(Clone, Copy)]
pub struct StepInfo {
    /// Its id.
    pub id: StepId,
    /// What it is called.
    pub name: &'static str,
    /// What it can answer, in one line.
    pub result: &'static str,
    pub(super) run: for<'r, 'a> fn(&'r mut Run<'a>) -> StepResult,
}

impl fmt::Debug for StepInfo {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StepInfo")
            .field("id", &self.id)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Every step, in order.
pub const STEPS: &[StepInfo] = &[
    StepInfo {
        id: StepId::A0,
        name: "session aborted",
        result: "an error, never a verdict",
        run: steps::aborted::run,
    },
    StepInfo { id: StepId::A1, name: "tool-wide deny rule", result: "deny", run: steps::tool_deny::run },
    StepInfo { id: StepId::A2, name: "content deny rule", result: "deny", run: steps::content_deny::run },
    StepInfo { id: StepId::A3, name: "tool-wide ask rule", result: "ask", run: steps::tool_ask::run },
    StepInfo {
        id: StepId::A4,
        name: "the tool's own check",
        result: "deny, ask or pass",
        run: steps::tool_check::run,
    },
    StepInfo {
        id: StepId::A5,
        name: "interaction required",
        result: "ask; no mode lifts it",
        run: steps::interaction::run,
    },
    StepInfo {
        id: StepId::A6,
        name: "content ask rule",
        result: "ask; no mode lifts it",
        run: steps::content_ask::run,
    },
    StepInfo {
        id: StepId::A7,
        name: "safety check",
        result: "ask; no mode lifts it",
        run: steps::safety::run,
    },
    StepInfo { id: StepId::A8, name: "bypass mode", result: "allow", run: steps::bypass::run },
    StepInfo {
        id: StepId::A9,
        name: "allow rule, or a call that only looks",
        result: "allow",
        run: steps::allow::run,
    },
    StepInfo { id: StepId::A10, name: "nothing decided", result: "becomes ask", run: steps::unsettled::run },
    StepInfo {
        id: StepId::A11,
        name: "the mode decides",
        result: "allow, deny or ask",
        run: steps::mode::run,
    },
];
