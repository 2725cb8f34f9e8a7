//! Reading a script. What is wrong is said with its place and how to mend it.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use super::fields::{ScriptFields, below, kind_of, wrong};
use super::{
    EchoedPart, ModelScript, RequestMatch, ScriptRule, ScriptStep, ScriptedAnswer, ScriptedVerdict,
    ServerFault, WordJudge,
};
use crate::wire::{ReportedTokens, RequestedStage, StopReason, WireProtocol};

/// The longest wait a script may ask for: ten minutes.
const LONGEST_WAIT_MS: u64 = 600_000;

/// The fields that each are an answer.
const ANSWERS: &[&str] =
    &["say", "tool", "json", "allow", "block", "blocks", "echo", "judge", "status", "raw", "fault"];

/// The fields that surround an answer.
const SURROUNDINGS: &[&str] =
    &["delay_ms", "thinking", "stop", "usage", "headers", "error", "body", "ms", "bytes"];

const STOPS: &[(&str, StopReason)] = &[
    ("end_turn", StopReason::EndTurn),
    ("stop_sequence", StopReason::StopSequence),
    ("max_tokens", StopReason::MaxTokens),
    ("refusal", StopReason::Refusal),
];

const ECHOES: &[(&str, EchoedPart)] = &[
    ("last_message", EchoedPart::LastMessage),
    ("everything", EchoedPart::Everything),
    ("action", EchoedPart::Action),
    ("action_raw", EchoedPart::ActionRaw),
    ("system", EchoedPart::System),
];

const FAULTS: &[(&str, ServerFault)] = &[
    ("close", ServerFault::Close),
    ("silent", ServerFault::Silent),
    ("headers_then_silent", ServerFault::HeadersThenSilent),
    ("slow_drip", ServerFault::SlowDrip { every: Duration::from_millis(100) }),
    ("truncated_json", ServerFault::TruncatedJson),
    ("wrong_content_type", ServerFault::WrongContentType),
    ("huge_body", ServerFault::HugeBody { bytes: None }),
    ("reset", ServerFault::Reset),
    ("garbage", ServerFault::Garbage),
    ("empty_body", ServerFault::EmptyBody),
    ("two_verdicts", ServerFault::TwoVerdicts),
    ("verdict_in_thinking", ServerFault::VerdictInThinking),
];

/// Why a script cannot be used: what is wrong, where, and what to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptError {
    /// Where: a path such as `steps[2].fault`; empty for the whole.
    pub place: String,
    /// What is wrong and how to mend it.
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.as_str() {
            "" => write!(f, "the script: {}", self.message),
            place => write!(f, "the script at {place}: {}", self.message),
        }
    }
}

impl std::error::Error for ScriptError {}

/// Reads a script from JSON text.
pub(super) fn read_text(text: &str) -> Result<ModelScript, ScriptError> {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => read_script(&value),
        Err(error) => Err(wrong("", format!("not JSON: {error}; write a list of steps or an object"))),
    }
}

/// Reads a script: a list of steps, or an object with `steps`, `rules` and `default`.
pub(super) fn read_script(value: &Value) -> Result<ModelScript, ScriptError> {
    let script = match value {
        Value::Array(steps) => ModelScript { steps: read_steps(steps)?, ..ModelScript::default() },
        Value::Object(_) => {
            let fields = ScriptFields::of(value, "")?.only(&["steps", "rules", "default"])?;
            let mut script = ModelScript::default();
            for (index, rule) in fields.list("rules")?.unwrap_or_default().iter().enumerate() {
                script.rules.push(read_rule(rule, &format!("rules[{index}]"))?);
            }
            script.steps = read_steps(fields.list("steps")?.unwrap_or_default())?;
            script.default = fields.get("default").map(|step| read_step(step, "default")).transpose()?;
            script
        }
        other => {
            let message = format!("{} stands here; write a list of steps or an object", kind_of(other));
            return Err(wrong("", message));
        }
    };
    if script.steps.is_empty() && script.rules.is_empty() && script.default.is_none() {
        return Err(wrong("", "it has no answer; write one such as [{\"allow\": true}]"));
    }
    Ok(script)
}

fn read_steps(steps: &[Value]) -> Result<Vec<ScriptStep>, ScriptError> {
    steps.iter().enumerate().map(|(index, step)| read_step(step, &format!("steps[{index}]"))).collect()
}

fn read_rule(value: &Value, place: &str) -> Result<ScriptRule, ScriptError> {
    let fields = ScriptFields::of(value, place)?.only(&["when", "answer"])?;
    let (Some(when), Some(answer)) = (fields.get("when"), fields.get("answer")) else {
        return Err(wrong(place, "a rule has both `when` and `answer`; write both"));
    };
    let answer = read_step(answer, &below(place, "answer"))?;
    let place = below(place, "when");
    let known = ["action", "text", "path", "model", "header", "wire", "stage"];
    let fields = ScriptFields::of(when, &place)?.only(&known)?;
    let wires = WireProtocol::ALL.map(|wire| (wire.as_str(), wire));
    let stages = [("fast", RequestedStage::Fast), ("thinking", RequestedStage::Thinking)];
    let when = RequestMatch {
        action: fields.text("action")?,
        text: fields.text("text")?,
        path: fields.text("path")?,
        model: fields.text("model")?,
        headers: fields.pairs("header")?,
        wire: fields.choice("wire", "wire", &wires)?,
        stage: fields.choice("stage", "stage", &stages)?,
    };
    Ok(ScriptRule { when, answer })
}

fn read_step(value: &Value, place: &str) -> Result<ScriptStep, ScriptError> {
    let known: Vec<&str> = ANSWERS.iter().chain(SURROUNDINGS).copied().collect();
    let fields = ScriptFields::of(value, place)?.only(&known)?;
    let given: Vec<&str> = ANSWERS.iter().copied().filter(|name| fields.has(name)).collect();
    let kind = match given.as_slice() {
        [one] => *one,
        [] => {
            return Err(wrong(place, format!("a step without an answer; add one of {}", ANSWERS.join(", "))));
        }
        [first, second, ..] => {
            return Err(wrong(place, format!("both `{first}` and `{second}`; keep one answer a step")));
        }
    };
    check_company(fields, kind)?;
    let delay = fields.number("delay_ms", 0, LONGEST_WAIT_MS)?.unwrap_or(0);
    Ok(ScriptStep {
        answer: read_answer(fields, kind)?,
        delay: Duration::from_millis(delay),
        thinking: fields.text("thinking")?,
        stop: fields.choice("stop", "stop", STOPS)?,
        usage: read_usage(fields)?,
        headers: read_headers(fields)?,
    })
}

/// Refuses fields that mean nothing beside an answer, because whoever wrote them expects something of them.
fn check_company(fields: ScriptFields<'_>, kind: &str) -> Result<(), ScriptError> {
    let is_reply = !matches!(kind, "status" | "raw" | "fault");
    let fault = fields.text("fault").ok().flatten().unwrap_or_default();
    let company = [
        ("error", kind == "status", "`status`"),
        ("body", kind == "raw", "`raw`"),
        ("ms", fault == "slow_drip", "the fault `slow_drip`"),
        ("bytes", fault == "huge_body", "the fault `huge_body`"),
        ("thinking", is_reply, "an answer of a model"),
        ("stop", is_reply, "an answer of a model"),
        ("usage", is_reply, "an answer of a model"),
        ("headers", kind != "fault", "an answer that is no fault"),
    ];
    match company.iter().find(|(name, is_at_home, _)| fields.has(name) && !is_at_home) {
        None => Ok(()),
        Some((name, _, home)) => {
            Err(wrong(fields.place, format!("`{name}` only goes with {home}; take it out")))
        }
    }
}

fn read_answer(fields: ScriptFields<'_>, kind: &str) -> Result<ScriptedAnswer, ScriptError> {
    let place = below(fields.place, kind);
    Ok(match kind {
        "say" => ScriptedAnswer::Say(fields.text("say")?.unwrap_or_default()),
        "tool" => read_tool(fields, &place)?,
        "json" => ScriptedAnswer::Json(fields.get("json").cloned().unwrap_or_default()),
        "allow" | "block" => ScriptedAnswer::Verdict(read_verdict(fields, kind, &place)?),
        "blocks" => ScriptedAnswer::Blocks(fields.list("blocks")?.unwrap_or_default().to_vec()),
        "echo" => {
            ScriptedAnswer::Echo(fields.choice("echo", "echo", ECHOES)?.unwrap_or(EchoedPart::Everything))
        }
        "judge" => ScriptedAnswer::Judge(read_judge(fields, &place)?),
        "status" => ScriptedAnswer::Error {
            status: read_status(fields, "status")?,
            details: fields.object("error")?.cloned().unwrap_or_else(Map::new),
        },
        "raw" => ScriptedAnswer::Raw {
            status: read_status(fields, "raw")?,
            body: match fields.get("body") {
                None => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            },
        },
        _ => ScriptedAnswer::Fault(read_fault(fields)?),
    })
}

fn read_status(fields: ScriptFields<'_>, name: &str) -> Result<u16, ScriptError> {
    let status = fields.number(name, 200, 599)?.unwrap_or(500);
    Ok(u16::try_from(status).unwrap_or(500))
}

fn read_tool(fields: ScriptFields<'_>, place: &str) -> Result<ScriptedAnswer, ScriptError> {
    let tool =
        ScriptFields::of(fields.get("tool").unwrap_or(&Value::Null), place)?.only(&["name", "input"])?;
    let Some(name) = tool.text("name")? else {
        return Err(wrong(place, "a tool without a name; add `name`, such as classify_result"));
    };
    let input = tool.get("input").cloned().unwrap_or_else(|| Value::Object(Map::new()));
    Ok(ScriptedAnswer::Tool { name, input })
}

/// Reads `true`, or an object that says more.
fn read_verdict(fields: ScriptFields<'_>, kind: &str, place: &str) -> Result<ScriptedVerdict, ScriptError> {
    let is_block = kind == "block";
    let mut verdict = if is_block {
        ScriptedVerdict::block("Scripted", "the script blocks this")
    } else {
        ScriptedVerdict::allow()
    };
    let value = fields.get(kind).unwrap_or(&Value::Null);
    if value == &Value::Bool(true) {
        return Ok(verdict);
    }
    if !value.is_object() {
        let opposite = if is_block { "allow" } else { "block" };
        let message = format!(
            "{} stands here; write true or an object, or use `{opposite}` for the other verdict",
            kind_of(value)
        );
        return Err(wrong(place, message));
    }
    let known: &[&str] = if is_block { &["category", "reason", "severity"] } else { &["reason", "severity"] };
    let more = ScriptFields::of(value, place)?.only(known)?;
    if let Some(category) = more.text("category")? {
        verdict.category = category;
    }
    if let Some(reason) = more.text("reason")? {
        verdict.reason = reason;
    }
    if let Some(severity) = more.number("severity", 0, 100)? {
        verdict.severity = u8::try_from(severity).unwrap_or(100);
    }
    Ok(verdict)
}

fn read_judge(fields: ScriptFields<'_>, place: &str) -> Result<WordJudge, ScriptError> {
    let judge = ScriptFields::of(fields.get("judge").unwrap_or(&Value::Null), place)?
        .only(&["block_if", "category"])?;
    let block_if = judge.words("block_if")?;
    if block_if.is_empty() {
        return Err(wrong(place, "no words to block; add `block_if` with a list of them"));
    }
    let category = judge.text("category")?.unwrap_or_else(|| "Scripted".into());
    Ok(WordJudge { block_if, category })
}

fn read_fault(fields: ScriptFields<'_>) -> Result<ServerFault, ScriptError> {
    let fault = fields.choice("fault", "fault", FAULTS)?.unwrap_or(ServerFault::Close);
    Ok(match fault {
        ServerFault::SlowDrip { every } => {
            let every = fields.number("ms", 1, LONGEST_WAIT_MS)?.map_or(every, Duration::from_millis);
            ServerFault::SlowDrip { every }
        }
        ServerFault::HugeBody { .. } => ServerFault::HugeBody { bytes: fields.number("bytes", 0, u64::MAX)? },
        other => other,
    })
}

fn read_usage(fields: ScriptFields<'_>) -> Result<Option<ReportedTokens>, ScriptError> {
    let Some(value) = fields.get("usage") else { return Ok(None) };
    let place = below(fields.place, "usage");
    let known = ["input", "cache_read", "cache_write", "output", "thinking"];
    let usage = ScriptFields::of(value, &place)?.only(&known)?;
    let count = |name| usage.number(name, 0, u64::MAX).map(Option::unwrap_or_default);
    Ok(Some(ReportedTokens {
        input: count("input")?,
        cache_read: count("cache_read")?,
        cache_write: count("cache_write")?,
        output: count("output")?,
        thinking: count("thinking")?,
    }))
}

fn read_headers(fields: ScriptFields<'_>) -> Result<Vec<(String, String)>, ScriptError> {
    let headers = fields.pairs("headers")?;
    for (name, value) in &headers {
        let place = below(&below(fields.place, "headers"), name);
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(wrong(&place, "not the name of a header; use letters, digits and hyphens"));
        }
        let framing = ["content-length", "transfer-encoding", "connection"];
        if framing.iter().any(|framing| name.eq_ignore_ascii_case(framing)) {
            return Err(wrong(&place, "the server sets this header itself; take it out"));
        }
        if !value.bytes().all(|byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f)) {
            return Err(wrong(&place, "a header has no control characters; take them out"));
        }
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn error(text: &str) -> String {
        ModelScript::from_json(text).unwrap_err().to_string()
    }

    #[test]
    fn a_list_is_its_steps() {
        let script = ModelScript::from_json(r#"[{"allow": true}, {"say": "x", "delay_ms": 5}]"#).unwrap();
        assert_eq!(script.steps[0], ScriptStep::from(ScriptedAnswer::Verdict(ScriptedVerdict::allow())));
        assert_eq!(script.steps[1].delay, Duration::from_millis(5));
    }

    #[test]
    fn the_last_step_repeats_unless_there_is_a_default() {
        let script = ModelScript::from_json(r#"[{"say": "1"}, {"say": "2"}]"#).unwrap();
        let said = |script: &ModelScript, used| match &script.step_at(used).unwrap().answer {
            ScriptedAnswer::Say(text) => text.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!([0, 1, 2, 9].map(|used| said(&script, used)), ["1", "2", "2", "2"]);
        let script = ModelScript::from_json(r#"{"steps": [{"say": "1"}], "default": {"say": "d"}}"#).unwrap();
        assert_eq!([0, 1, 2].map(|used| said(&script, used)), ["1", "d", "d"]);
    }

    #[test]
    fn every_kind_of_answer_is_read() {
        let script = ModelScript::from_json(
            r#"{
                "rules": [{"when": {"action": "rm", "text": "t", "path": "/v1", "model": "m", "wire": "chat",
                                    "stage": "fast", "header": {"x-a": "b"}},
                           "answer": {"block": {"category": "C", "reason": "R", "severity": 70}}}],
                "steps": [
                    {"say": "<block>no", "stop": "stop_sequence", "thinking": "hm"},
                    {"tool": {"name": "classify_result", "input": {"should_block": true}}},
                    {"json": {"a": 1}, "usage": {"input": 1, "output": 2, "cache_read": 3, "cache_write": 4}},
                    {"blocks": [{"type": "text", "text": "x"}]},
                    {"echo": "action_raw"},
                    {"judge": {"block_if": ["rm -rf"]}},
                    {"status": 429, "error": {"type": "rate_limit_error"}, "headers": {"retry-after": "1"}},
                    {"raw": 200, "body": {"odd": true}},
                    {"fault": "slow_drip", "ms": 7},
                    {"fault": "huge_body", "bytes": 9}
                ],
                "default": {"allow": {"severity": 1}}
            }"#,
        )
        .unwrap();
        assert_eq!(script.rules.len() + script.steps.len(), 11);
        assert_eq!(
            script.steps[8].answer,
            ScriptedAnswer::Fault(ServerFault::SlowDrip { every: Duration::from_millis(7) })
        );
        assert_eq!(script.steps[9].answer, ScriptedAnswer::Fault(ServerFault::HugeBody { bytes: Some(9) }));
        assert_eq!(
            script.steps[7].answer,
            ScriptedAnswer::Raw { status: 200, body: "{\"odd\":true}".into() }
        );
        let when = &script.rules[0].when;
        assert_eq!((when.wire, when.stage), (Some(WireProtocol::Chat), Some(RequestedStage::Fast)));
        assert_eq!(script.steps[2].usage.unwrap().whole_input(), 8);
    }

    #[test]
    fn every_fault_has_its_name() {
        for (name, fault) in FAULTS {
            let script = ModelScript::from_json(&format!(r#"[{{"fault": "{name}"}}]"#)).unwrap();
            assert_eq!(script.steps[0].answer, ScriptedAnswer::Fault(*fault));
        }
    }

    fn check(table: &[(&str, &str)]) {
        for (text, message) in table {
            assert_eq!(error(text), *message, "{text}");
        }
    }

    #[test]
    fn a_wrong_script_is_told_what_where_and_how() {
        check(&[
            (
                "nonsense",
                "the script: not JSON: expected ident at line 1 column 2; write a list of steps or an object",
            ),
            ("7", "the script: a number stands here; write a list of steps or an object"),
            ("[]", "the script: it has no answer; write one such as [{\"allow\": true}]"),
            (r#"{"step": []}"#, "the script: unknown field `step`; did you mean `steps`?"),
            (r#"[{"sya": "x"}]"#, "the script at steps[0]: unknown field `sya`; did you mean `say`?"),
            (
                r#"[{"say": "x"}, {"fault": "slowdrip"}]"#,
                "the script at steps[1].fault: unknown fault `slowdrip`; did you mean `slow_drip`?",
            ),
            (
                r#"[{"echo": "nothing"}]"#,
                "the script at steps[0].echo: unknown echo `nothing`; use one of last_message, everything, action, \
                 action_raw, system",
            ),
            (
                r#"[{"say": "x", "stop": "refused"}]"#,
                "the script at steps[0].stop: unknown stop `refused`; did you mean `refusal`?",
            ),
            (r#"[{"say": 1}]"#, "the script at steps[0].say: a number stands here; write a string"),
            (
                r#"[{"say": "x", "allow": true}]"#,
                "the script at steps[0]: both `say` and `allow`; keep one answer a step",
            ),
            (
                r#"[{"delay_ms": 1}]"#,
                "the script at steps[0]: a step without an answer; add one of say, tool, json, allow, block, blocks, \
                 echo, judge, status, raw, fault",
            ),
            (
                r#"[{"allow": false}]"#,
                "the script at steps[0].allow: a boolean stands here; write true or an object, or use `block` for the \
                 other verdict",
            ),
            (
                r#"[{"allow": true, "ms": 5}]"#,
                "the script at steps[0]: `ms` only goes with the fault `slow_drip`; take it out",
            ),
            (
                r#"[{"fault": "close", "thinking": "x"}]"#,
                "the script at steps[0]: `thinking` only goes with an answer of a model; take it out",
            ),
            (
                r#"[{"say": "x", "delay_ms": 1e9}]"#,
                "the script at steps[0].delay_ms: `1000000000.0` is not a whole number from 0 to 600000",
            ),
        ]);
    }

    #[test]
    fn wrong_parts_of_an_answer_and_of_rules_are_told_too() {
        check(&[
            (
                r#"[{"status": 42}]"#,
                "the script at steps[0].status: `42` is not a whole number from 200 to 599",
            ),
            (
                r#"[{"tool": {"input": {}}}]"#,
                "the script at steps[0].tool: a tool without a name; add `name`, such as classify_result",
            ),
            (
                r#"[{"judge": {}}]"#,
                "the script at steps[0].judge: no words to block; add `block_if` with a list of them",
            ),
            (
                r#"[{"judge": {"block_if": [""]}}]"#,
                "the script at steps[0].judge.block_if[0]: `\"\"` stands here; write a string that is not empty",
            ),
            (
                r#"[{"status": 429, "headers": {"a\r\nb": "c"}}]"#,
                "the script at steps[0].headers.a\\r\\nb: not the name of a header; use letters, digits and hyphens",
            ),
            (
                r#"[{"status": 429, "headers": {"a": "c\r\nd"}}]"#,
                "the script at steps[0].headers.a: a header has no control characters; take them out",
            ),
            (
                r#"[{"allow": true, "headers": {"Content-Length": "1"}}]"#,
                "the script at steps[0].headers.Content-Length: the server sets this header itself; take it out",
            ),
            (
                r#"{"rules": [{"when": {}}]}"#,
                "the script at rules[0]: a rule has both `when` and `answer`; write both",
            ),
            (
                r#"{"rules": [{"when": {"stage": "slow"}, "answer": {"allow": true}}]}"#,
                "the script at rules[0].when.stage: unknown stage `slow`; use one of fast, thinking",
            ),
            (
                r#"{"rules": [{"when": {"actoin": "x"}, "answer": {"allow": true}}]}"#,
                "the script at rules[0].when: unknown field `actoin`; did you mean `action`?",
            ),
            (
                r#"{"default": {"say": "x", "usage": {"inputs": 1}}}"#,
                "the script at default.usage: unknown field `inputs`; did you mean `input`?",
            ),
        ]);
    }

    #[test]
    fn a_script_is_read_by_serde_too() {
        let script: ModelScript = serde_json::from_str(r#"[{"allow": true}]"#).unwrap();
        assert_eq!(script.steps.len(), 1);
        let error = serde_json::from_str::<ModelScript>(r#"[{"alow": true}]"#).unwrap_err();
        assert!(error.to_string().contains("did you mean `allow`?"), "{error}");
    }
}
