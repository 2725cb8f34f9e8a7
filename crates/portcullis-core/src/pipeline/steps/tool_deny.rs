//! A1: a deny rule for the whole tool.

use portcullis_analysis::effect::Certainty;

use crate::decision::Decision;
use crate::pipeline::run::{PipelineRun, StepResult};
use crate::rule::{Behavior, Rule};
use crate::verdict::{Reason, RuleReference};

pub(in crate::pipeline) fn run(run: &mut PipelineRun<'_>) -> StepResult {
    match find_tool_rule(run, Behavior::Deny) {
        Some(rule) => StepResult::Settle {
            decision: Decision::Deny,
            reason: reason_of_tool_rule(rule),
            spans: Vec::new(),
        },
        None => StepResult::pass(),
    }
}

/// Finds a tool-wide rule; `Monitor` runs bash commands and obeys `Bash` too, and nothing keeps an agent from ending
/// a conversation.
pub(super) fn find_tool_rule<'a>(run: &PipelineRun<'a>, behavior: Behavior) -> Option<&'a Rule> {
    let rules = &run.view.policy.rules;
    match run.view.case.call().tool() {
        "EndConversation" => None,
        "Monitor" => rules.tool_wide(behavior, "Monitor").or_else(|| rules.tool_wide(behavior, "Bash")),
        tool => rules.tool_wide(behavior, tool),
    }
}

pub(super) fn reason_of_tool_rule(rule: &Rule) -> Reason {
    Reason::Rule { rule: RuleReference::from(rule), matched: String::new(), certainty: Certainty::Certain }
}
