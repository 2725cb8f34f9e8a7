//! Runs a case: settings to a policy, the call decided by it, and the verdict against the expectation.

use anyhow::{Context as _, Result};
use portcullis_core::{Policy, ToolCall, ToolInput, Value, Verdict};

use super::parse::{CallText, SpecCase, SpecState};
use super::policy::build_policy;

/// Runs cases one after the other; the policy is kept as long as the settings stay the same.
#[derive(Debug, Default)]
pub struct Runner {
    last: Option<(SpecState, Policy)>,
}

impl Runner {
    /// Runs a case and says in which way the verdict differs from what is expected; `None` if it does not.
    pub fn run(&mut self, case: &SpecCase) -> Result<Option<String>> {
        let policy = self.policy(&case.state)?;
        let mut context = case.state.session.context.clone();
        if !case.state.session.has_mode
            && let Some(mode) = policy.default_mode
        {
            context.mode = mode;
        }
        let call = match &case.call {
            CallText::Bash(command) => ToolCall::bash(command),
            CallText::Tool { name, input } => ToolCall::new(name, parse_input(input)?),
        };
        let mut judged = portcullis_core::Case::new(call, context);
        judged.look_up(policy, |questions| case.state.session.answer(questions));
        let verdict = match judged.decide(policy) {
            Ok(outcome) => outcome.into_verdict(),
            Err(aborted) => return Ok(Some(format!("no verdict: {aborted}"))),
        };
        Ok(difference(case, &verdict))
    }

    fn policy(&mut self, state: &SpecState) -> Result<&Policy> {
        if self.last.as_ref().is_none_or(|(last, _)| last != state) {
            self.last = Some((state.clone(), build_policy(state)?));
        }
        self.last.as_ref().map(|(_, policy)| policy).context("the policy was just built")
    }
}

fn difference(case: &SpecCase, verdict: &Verdict) -> Option<String> {
    let expected = &case.expected;
    let rule = verdict.reason.rule().map(|rule| rule.text.clone());
    let is_same = verdict.decision == expected.decision
        && verdict.step.as_str() == expected.step
        && (expected.rule.is_none() || expected.rule == rule)
        && expected.kind.as_ref().is_none_or(|kind| kind == verdict.reason.kind());
    if is_same {
        return None;
    }
    let detail = match (&expected.rule, &expected.kind) {
        (Some(rule), _) => format!(" {rule}"),
        (None, Some(kind)) => format!(" [{kind}]"),
        (None, None) => String::new(),
    };
    Some(format!(
        "expected {} {}{detail}, got {} {}{} [{}]: {}",
        expected.decision,
        expected.step,
        verdict.decision,
        verdict.step.as_str(),
        rule.map(|text| format!(" {text}")).unwrap_or_default(),
        verdict.reason.kind(),
        verdict.reason.message(),
    ))
}

fn parse_input(text: &str) -> Result<ToolInput> {
    let json: serde_json::Value =
        serde_json::from_str(text).with_context(|| format!("cannot read `{text}`"))?;
    let object = json.as_object().with_context(|| format!("`{text}` is not an object"))?;
    Ok(object.iter().map(|(name, value)| (name.clone(), to_value(value))).collect())
}

fn to_value(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(flag) => Value::Bool(*flag),
        serde_json::Value::Number(number) => Value::Number(number.to_string()),
        serde_json::Value::String(text) => Value::Text(text.clone()),
        serde_json::Value::Array(items) => Value::List(items.iter().map(to_value).collect()),
        serde_json::Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), to_value(value))).collect())
        }
    }
}
