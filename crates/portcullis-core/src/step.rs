//! The steps of the pipeline by name and order (spec A); `pipeline` says what each of them does.

use std::fmt;

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

/// What a step is called and what it is for.
#[derive(Debug, Clone, Copy)]
pub struct StepInfo {
    /// The id that traces name.
    pub id: StepId,
    /// The title that people read.
    pub name: &'static str,
    /// What it can answer, in one line.
    pub result: &'static str,
}

const fn step(id: StepId, name: &'static str, result: &'static str) -> StepInfo {
    StepInfo { id, name, result }
}

/// Every step, in order.
pub const STEPS: &[StepInfo] = &[
    step(StepId::A0, "session aborted", "an error, never a verdict"),
    step(StepId::A1, "tool-wide deny rule", "deny"),
    step(StepId::A2, "content deny rule", "deny"),
    step(StepId::A3, "tool-wide ask rule", "ask"),
    step(StepId::A4, "the tool's own check", "deny, ask or pass"),
    step(StepId::A5, "interaction required", "ask; no mode lifts it"),
    step(StepId::A6, "content ask rule", "ask; no mode lifts it"),
    step(StepId::A7, "safety check", "ask; no mode lifts it"),
    step(StepId::A8, "bypass mode", "allow"),
    step(StepId::A9, "allow rule, a call that only looks, or an earlier yes", "allow"),
    step(StepId::A10, "nothing decided", "becomes ask"),
    step(StepId::A11, "the mode decides", "allow, deny or ask"),
];
