//! What a scripted server answers: rules, then steps in order, then what is left.

mod fields;
mod parse;
mod step;

use serde_json::Value;

pub use parse::ScriptError;
pub use step::{EchoedPart, ScriptStep, ScriptedAnswer, ScriptedVerdict, ServerFault, WordJudge};

use crate::wire::{RequestedStage, WireProtocol};

/// A script. Rules are looked at first and the first that fits answers; then the steps answer one request each; when
/// they are used up the default answers, or else the last step again.
#[derive(Debug, Clone, Default, PartialEq, serde::Deserialize)]
#[serde(try_from = "Value")]
pub struct ModelScript {
    /// Answers to particular requests.
    pub rules: Vec<ScriptRule>,
    /// Answers in order.
    pub steps: Vec<ScriptStep>,
    /// The answer when there is no other.
    pub default: Option<ScriptStep>,
}

/// An answer to requests of a kind.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptRule {
    /// Which requests.
    pub when: RequestMatch,
    /// The answer.
    pub answer: ScriptStep,
}

/// What a request must be like. Everything that is given must hold; nothing given holds always.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestMatch {
    /// Stands in the action, as it is quoted or decoded.
    pub action: Option<String>,
    /// Stands anywhere in the system prompt or the messages.
    pub text: Option<String>,
    /// Stands in the path.
    pub path: Option<String>,
    /// Stands in the name of the model.
    pub model: Option<String>,
    /// Names of headers, each with what must stand in it.
    pub headers: Vec<(String, String)>,
    /// Is the wire.
    pub wire: Option<WireProtocol>,
    /// Is the stage.
    pub stage: Option<RequestedStage>,
}

impl ModelScript {
    /// Makes a script that gives these answers in order and then the last of them again.
    pub fn of(steps: impl IntoIterator<Item = ScriptStep>) -> Self {
        Self { steps: steps.into_iter().collect(), ..Self::default() }
    }

    /// Makes a script that always gives this answer.
    pub fn always(answer: impl Into<ScriptStep>) -> Self {
        Self { default: Some(answer.into()), ..Self::default() }
    }

    /// Adds a rule.
    #[must_use]
    pub fn with_rule(mut self, when: RequestMatch, answer: impl Into<ScriptStep>) -> Self {
        self.rules.push(ScriptRule { when, answer: answer.into() });
        self
    }

    /// Reads a script from JSON text.
    pub fn from_json(text: &str) -> Result<Self, ScriptError> {
        parse::read_text(text)
    }

    /// Reads a script from a JSON value.
    pub fn from_value(value: &Value) -> Result<Self, ScriptError> {
        parse::read_script(value)
    }

    /// Returns the step for the request that is `used` steps into the list, if no rule answers.
    pub(crate) fn step_at(&self, used: usize) -> Option<&ScriptStep> {
        self.steps.get(used).or(self.default.as_ref()).or(self.steps.last())
    }
}

impl TryFrom<Value> for ModelScript {
    type Error = ScriptError;

    fn try_from(value: Value) -> Result<Self, ScriptError> {
        Self::from_value(&value)
    }
}
