//! Which parameter a complaint refuses, so that it can be left out once and for all.

use super::complaint::ProviderError;

/// Labels that say outright that the parameter named beside them is the trouble.
const LABELS: &[&str] = &["unsupported_parameter", "unsupported_value", "unknown_parameter"];

/// Words a sentence has that refuses a parameter.
const REFUSALS: &[&str] = &[
    "not support",
    "unsupported",
    "not permitted",
    "not allowed",
    "not accept",
    "not enabled",
    "not available",
    "not compatible",
    "deprecated",
    "unknown parameter",
    "unknown name",
    "unrecognized",
    "unexpected",
    "cannot be used",
    "may not be",
    "may only",
    "only the default",
];

/// Ways to speak of a parameter without its name.
const PHRASES: &[(&str, &str)] = &[
    ("tool_choice forces tool use", "tool_choice"),
    ("does not support tools", "tools"),
    ("function calling", "tools"),
    ("tool use", "tools"),
    ("does not support thinking", "thinking"),
    ("thinking level", "thinkingLevel"),
    ("json mode", "responseJsonSchema"),
    ("structured output", "format"),
    ("stop sequences", "stop_sequences"),
];

/// Names of parameters that mean nothing else.
const NAMES: &[&str] = &[
    "cache_control",
    "chat_template_kwargs",
    "functionCallingConfig",
    "function_calling_config",
    "json_schema",
    "max_completion_tokens",
    "max_tokens",
    "output_config",
    "parallel_tool_calls",
    "prompt_cache_key",
    "reasoning_effort",
    "reasoning.effort",
    "responseJsonSchema",
    "response_json_schema",
    "responseMimeType",
    "response_mime_type",
    "response_format",
    "safetySettings",
    "safety_settings",
    "stopSequences",
    "stop_sequences",
    "temperature",
    "text.format",
    "thinking",
    "thinkingConfig",
    "thinking_config",
    "thinkingLevel",
    "thinking_level",
    "toolConfig",
    "tool_config",
    "tool_choice",
];

/// Names that are also words; they count in quotation marks alone.
const WORDS: &[&str] = &["effort", "format", "reasoning", "stop", "strict", "text", "think", "tools"];

/// Finds the parameter a complaint refuses, if it refuses one.
pub(super) fn find_parameter(complaint: &ProviderError) -> Option<String> {
    let sentence = complaint.message.to_ascii_lowercase();
    let is_outright = complaint.is_one_of(LABELS);
    if !is_outright && !REFUSALS.iter().any(|refusal| sentence.contains(refusal)) {
        return None;
    }
    let given = complaint.parameter.as_deref().filter(|name| is_path(name));
    if let Some(name) = given.filter(|name| is_outright || is_known(name)) {
        return Some(whole_or_value(complaint, &sentence, name));
    }
    let spoken =
        PHRASES.iter().find(|(phrase, _)| sentence.contains(phrase)).map(|(_, name)| (*name).to_owned());
    spoken.or_else(|| first_name(&complaint.message).map(|name| whole_or_value(complaint, &sentence, name)))
}

/// Tells a refused word on efforts from a refused effort: `reasoning` if any would be.
fn whole_or_value(complaint: &ProviderError, sentence: &str, name: &str) -> String {
    let is_effort = matches!(name, "reasoning_effort" | "reasoning.effort");
    let is_whole = complaint.is_one_of(&["unsupported_parameter", "unknown_parameter"])
        || ["unsupported parameter", "unknown parameter", "unrecognized"]
            .iter()
            .any(|words| sentence.contains(words));
    if is_effort && is_whole { "reasoning".to_owned() } else { name.to_owned() }
}

/// Returns the first name of a parameter in a sentence.
fn first_name(sentence: &str) -> Option<&str> {
    let is_inside = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.');
    let mut before = ' ';
    let mut rest = sentence;
    while let Some(start) = rest.find(is_inside) {
        let (gap, tail) = rest.split_at_checked(start)?;
        before = gap.chars().next_back().unwrap_or(before);
        let length = tail.find(|letter| !is_inside(letter)).unwrap_or(tail.len());
        let (word, after) = tail.split_at_checked(length)?;
        let name = word.trim_matches('.');
        let is_quoted = matches!(before, '\'' | '"' | '`' | '‘' | '“');
        if is_path(name) && (is_known(name) || (is_quoted && WORDS.contains(&name))) {
            return Some(name);
        }
        before = word.chars().next_back().unwrap_or(before);
        rest = after;
    }
    None
}

/// Says whether a name, or the first part of a path, is that of a parameter.
fn is_known(name: &str) -> bool {
    let is_below =
        |known: &str| name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let last = name.rsplit('.').next().unwrap_or_default();
    NAMES.iter().any(|known| is_below(known)) || NAMES.contains(&last)
}

fn is_path(name: &str) -> bool {
    let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'[' | b']');
    (1..=80).contains(&name.len()) && name.bytes().all(is_inside)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn find(message: &str, labels: &[&str], parameter: Option<&str>) -> Option<String> {
        find_parameter(&ProviderError {
            message: message.to_owned(),
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            parameter: parameter.map(str::to_owned),
            ..ProviderError::default()
        })
    }

    #[test]
    fn the_refused_parameter_is_found_in_the_words_of_each_provider() {
        for (message, expected) in [
            (
                "\"thinking.type.disabled\" is not supported for this model. Use \"output_config.effort\".",
                Some("thinking.type.disabled"),
            ),
            ("adaptive thinking is not supported on this model", Some("thinking")),
            ("`temperature` is deprecated for this model.", Some("temperature")),
            ("temperature: may only be set to 1", Some("temperature")),
            ("Thinking may not be enabled when tool_choice forces tool use.", Some("tool_choice")),
            ("tool_choice: forced tool use is not supported on this model", Some("tools")),
            ("output_config.format: Extra inputs are not permitted", Some("output_config.format")),
            (
                "messages.0.content.0.cache_control: Extra inputs are not permitted",
                Some("messages.0.content.0.cache_control"),
            ),
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some("max_tokens"),
            ),
            (
                "Unsupported value: 'reasoning_effort' does not support 'none' with this model.",
                Some("reasoning_effort"),
            ),
            (
                "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
                Some("reasoning"),
            ),
            ("Unrecognized request argument supplied: reasoning_effort", Some("reasoning")),
            ("Unsupported parameter: 'stop' is not supported with this model.", Some("stop")),
            ("\"gemma3\" does not support thinking", Some("thinking")),
            ("registry/gemma3 does not support tools", Some("tools")),
            (
                "Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config': Cannot find field.",
                Some("responseJsonSchema"),
            ),
            ("Thinking level MINIMAL is not supported for this model.", Some("thinkingLevel")),
            ("Function calling is not enabled for models/x", Some("tools")),
            ("This model does not support assistant message prefill", None),
            ("please stop: this is not supported in your format", None),
            ("max_tokens: 200000 > 128000", None),
            ("temperature is too high", None),
            ("", None),
        ] {
            assert_eq!(find(message, &[], None).as_deref(), expected, "{message}");
        }
    }

    #[test]
    fn a_parameter_named_beside_the_sentence_counts_if_it_is_refused() {
        assert_eq!(find("no", &["unsupported_parameter"], Some("top_k")).as_deref(), Some("top_k"));
        assert_eq!(
            find("no", &["unsupported_value"], Some("reasoning.effort")).as_deref(),
            Some("reasoning.effort")
        );
        assert_eq!(
            find("no", &["unsupported_parameter"], Some("reasoning.effort")).as_deref(),
            Some("reasoning")
        );
        assert_eq!(find("it is not supported", &[], Some("temperature")).as_deref(), Some("temperature"));
        assert_eq!(find("it is not supported", &[], Some("messages[1].content")), None);
        assert_eq!(find("no", &["invalid_value"], Some("temperature")), None);
        assert_eq!(find("no", &["unsupported_parameter"], Some("a b\n<c>")), None);
    }

    #[test]
    fn a_long_sentence_without_a_name_is_read_once() {
        let message = format!("not supported {}", "é. a' ".repeat(200_000));
        assert_eq!(find(&message, &[], None), None);
    }
}
