//! The tool `approve`: what Claude Code calls where it would ask its user.
//!
//! | verdict | answer |
//! |---|---|
//! | allow | `{"behavior":"allow","updatedInput":…}`, the input as it came |
//! | ask | a denial that says how a person allows it: nobody can be asked on this road |
//! | deny, any failure | `{"behavior":"deny","message":…}` |

use portcullis_core::ToolCall;
use portcullis_hosts::json::parse_input;
use portcullis_hosts::{BlockingReply, HookCall, HookMoment, HostAnswer, HostDecision};
use serde_json::{Map, Value, json};

use super::{HOST, McpToolContext};
use crate::flags::print_notice;
use portcullis_gate::gate::{HostGate, UNATTENDED};
use portcullis_gate::judge::ConfiguredConsultants;

/// The one moment at which a client asks.
static MOMENT: HookMoment = HookMoment {
    event: "permission_prompt_tool",
    capabilities: UNATTENDED,
    blocking: BlockingReply { stdout: "", stderr: "", exit_code: 70 },
};

/// Answers whether a call may run, as the text that Claude Code reads. `request_id` is the call's id where the arguments
/// name none.
pub(super) fn approve(
    tools: &McpToolContext,
    arguments: Map<String, Value>,
    request_id: Option<String>,
) -> String {
    let (answer, input) = match read(tools, arguments, request_id) {
        Ok((asked, input)) => {
            let session = tools.gate.session();
            let gate = HostGate {
                arguments: &session,
                host: HOST,
                format: None,
                known: None,
                consultants: Some(&ConfiguredConsultants),
                before_asking: &|time| time,
                withdrawal: None,
            };
            (gate.answer_or_block(&asked), Some(input))
        }
        Err(message) => (HostAnswer::failure(&message), None),
    };
    print_notice(&answer);
    write(&answer, input.as_ref())
}

/// Denies a call that could not be judged.
pub(super) fn blocked(message: &str) -> String {
    write(&HostAnswer::failure(message), None)
}

/// Makes the call. The input that is judged is read from the very value that is handed back.
fn read(
    tools: &McpToolContext,
    mut arguments: Map<String, Value>,
    request_id: Option<String>,
) -> Result<(HookCall, Map<String, Value>), String> {
    let tool = match arguments.remove("tool_name") {
        Some(Value::String(tool)) if !tool.trim().is_empty() => tool,
        _ => return Err("`tool_name` names no tool".to_owned()),
    };
    let Some(Value::Object(input)) = arguments.remove("input") else {
        return Err("`input` is no object".to_owned());
    };
    let text = serde_json::to_vec(&input).map_err(|error| error.to_string())?;
    let call = ToolCall::new(&tool, parse_input(&text).map_err(|error| error.to_string())?);
    let call_id = arguments.get("tool_use_id").and_then(Value::as_str).map(str::to_owned).or(request_id);
    let asked = HookCall {
        moment: &MOMENT,
        calls: vec![call],
        mode: tools.gate.mode,
        person: Some(tools.gate.person()),
        session: tools.place.clone(),
        call_id,
        rewritable: None,
    };
    Ok((asked, input))
}

/// Writes an answer; it allows only what it can hand back.
fn write(answer: &HostAnswer, input: Option<&Map<String, Value>>) -> String {
    let object = match (answer.said, input) {
        (HostDecision::Allow, Some(input)) => json!({"behavior": "allow", "updatedInput": input}),
        _ if answer.ends_run => json!({"behavior": "deny", "message": answer.reason, "interrupt": true}),
        _ => json!({"behavior": "deny", "message": answer.reason}),
    };
    object.to_string()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn only_an_allow_allows() {
        let input: Map<String, Value> =
            [("b".to_owned(), json!(1)), ("a".to_owned(), json!("\u{202e}"))].into_iter().collect();
        for said in [HostDecision::Ask, HostDecision::Deny, HostDecision::Silence] {
            let answer = HostAnswer {
                said,
                reason: "no".to_owned(),
                notice: None,
                ends_run: false,
                changed_input: None,
            };
            assert_eq!(write(&answer, Some(&input)), r#"{"behavior":"deny","message":"no"}"#);
        }
        let answer = HostAnswer {
            said: HostDecision::Deny,
            reason: "no".to_owned(),
            notice: None,
            ends_run: true,
            changed_input: None,
        };
        assert_eq!(write(&answer, None), r#"{"behavior":"deny","message":"no","interrupt":true}"#);
        let answer = HostAnswer {
            said: HostDecision::Allow,
            reason: String::new(),
            notice: None,
            ends_run: false,
            changed_input: None,
        };
        let written: Value = serde_json::from_str(&write(&answer, Some(&input))).unwrap();
        assert_eq!(written, json!({"behavior": "allow", "updatedInput": input}));
    }
}
