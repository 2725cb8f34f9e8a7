//! What becomes of a row when a model turns out to refuse something it promises.

use super::{LimitField, ModelInfo, ModelProvider, ThinkingOff, VerdictShape};

/// Room for thoughts that cannot be left, in tokens (spec D6).
const THINKING_ROOM: u32 = 2_048;

/// Fields of requests that only help, so that a request without them asks the same. `effort` is Anthropic's.
///
/// `store` is not among them: a provider that keeps what it is sent unless told otherwise must always be told.
pub(super) const OPTIONAL_FIELDS: &[&str] =
    &["effort", "keep_alive", "parallel_tool_calls", "prompt_cache_key", "safetySettings"];

/// Fields that carry the question; of what is below them, only marks may go.
const QUESTION_FIELDS: &[&str] =
    &["contents", "input", "instructions", "messages", "model", "system", "systemInstruction"];

impl ModelInfo {
    /// Returns the shape to ask in: the wanted one if the model takes it, or the next that it takes.
    pub fn shape_for(&self, wanted: Option<VerdictShape>) -> VerdictShape {
        match wanted.unwrap_or(self.shape) {
            VerdictShape::Tool if self.forced_tool => VerdictShape::Tool,
            VerdictShape::Tool | VerdictShape::Schema if self.schema => VerdictShape::Schema,
            VerdictShape::Tool | VerdictShape::Schema | VerdictShape::Block => VerdictShape::Block,
            VerdictShape::Severity => VerdictShape::Severity,
        }
    }

    /// Says whether it is known to think before every answer.
    pub const fn always_thinks(&self) -> bool {
        matches!(self.thinking_off, ThinkingOff::Always | ThinkingOff::BetweenTools)
    }

    /// Says whether a prompt of so many tokens and the answer to it have room in the model's window.
    pub fn has_room(&self, prompt_tokens: usize, max_tokens: u32) -> bool {
        let answer = u64::from(max_tokens) + u64::from(self.padding);
        let prompt = u64::try_from(prompt_tokens).unwrap_or(u64::MAX);
        prompt.saturating_add(answer) <= u64::from(self.context)
    }

    /// Changes the row so that the next request leaves out a parameter the provider refused; says whether anything
    /// changed. What carries the question itself is never left out.
    pub fn drop_parameter(&mut self, name: &str) -> bool {
        let mut segments = name.split(['.', '[', ']', '/']).filter(|segment| !segment.is_empty());
        let is_question = segments.clone().next().is_some_and(|first| QUESTION_FIELDS.contains(&first));
        if is_question {
            return segments.any(|segment| segment == "cache_control") && self.least_cached.take().is_some();
        }
        let mut from_last = segments.collect::<Vec<_>>().into_iter().rev();
        from_last.find_map(|segment| self.drop_segment(segment)).unwrap_or(false)
    }

    /// Handles one part of a parameter's path; `None` if the part means nothing here.
    fn drop_segment(&mut self, segment: &str) -> Option<bool> {
        let plain: String = segment
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|letter| letter.to_ascii_lowercase())
            .collect();
        Some(match plain.as_str() {
            "temperature" => std::mem::take(&mut self.temperature),
            "stop" | "stopsequences" => std::mem::take(&mut self.stop),
            "tools" | "toolchoice" | "toolconfig" | "functioncallingconfig" | "functiondeclarations" => {
                std::mem::take(&mut self.forced_tool)
            }
            "format" | "responseformat" | "jsonschema" | "responsejsonschema" | "responseschema"
            | "responsemimetype" | "structuredoutputs" | "strict" | "text" => {
                std::mem::take(&mut self.schema)
            }
            "outputconfig" => {
                let has_schema = std::mem::take(&mut self.schema);
                self.relent(RefusedThinking::Effort) || has_schema
            }
            "think" | "thinking" | "thinkingconfig" | "thinkinglevel" | "thinkingbudget"
            | "chattemplatekwargs" => self.relent(RefusedThinking::Thinking),
            "effort" | "reasoningeffort" => self.relent(RefusedThinking::Effort),
            "reasoning" => self.relent(RefusedThinking::Reasoning),
            "cachecontrol" => self.least_cached.take().is_some(),
            "maxtokens" => self.switch_limit(LimitField::MaxTokens),
            "maxcompletiontokens" => self.switch_limit(LimitField::MaxCompletionTokens),
            _ => return self.drop_optional(segment),
        })
    }

    /// Settles for the next weaker way to keep the model from thinking, and leaves room for thoughts.
    fn relent(&mut self, refused: RefusedThinking) -> bool {
        use ThinkingOff::{Always, BetweenTools, Disabled, EffortNone, Never};
        let next = match (self.provider, self.thinking_off, refused) {
            (_, Never, _) => return false,
            (ModelProvider::Anthropic, Disabled | BetweenTools, RefusedThinking::Thinking) => Always,
            (ModelProvider::Anthropic, state, RefusedThinking::Effort | RefusedThinking::Reasoning) => {
                // Noted even where it is not sent yet, so that the order of refusals does not matter.
                return self.leave_out("effort") && state == Always;
            }
            (ModelProvider::Anthropic, Always, RefusedThinking::Thinking) => return false,
            (ModelProvider::OpenAi | ModelProvider::Chat, EffortNone, RefusedThinking::Effort) => Always,
            (_, Disabled | BetweenTools | EffortNone | Always, _) => Never,
        };
        self.thinking_off = next;
        self.padding = self.padding.max(THINKING_ROOM);
        true
    }

    fn switch_limit(&mut self, refused: LimitField) -> bool {
        if self.provider != ModelProvider::Chat || self.limit_field != refused {
            return false;
        }
        self.limit_field = match refused {
            LimitField::MaxTokens => LimitField::MaxCompletionTokens,
            LimitField::MaxCompletionTokens => LimitField::MaxTokens,
        };
        true
    }

    fn drop_optional(&mut self, name: &str) -> Option<bool> {
        OPTIONAL_FIELDS.contains(&name).then(|| self.leave_out(name))
    }

    /// Leaves out a field from now on; says whether it was not left out already.
    fn leave_out(&mut self, name: &str) -> bool {
        let is_new = !self.leave_out.iter().any(|known| known == name);
        if is_new {
            self.leave_out.push(name.to_owned());
            self.leave_out.sort();
        }
        is_new
    }
}

/// What was refused of the ways to keep a model from thinking.
#[derive(Clone, Copy)]
enum RefusedThinking {
    /// The switch.
    Thinking,
    /// The effort named.
    Effort,
    /// Any word on efforts.
    Reasoning,
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::model::ModelTable;

    fn model(provider: ModelProvider, id: &str) -> ModelInfo {
        ModelTable::built_in().find(provider, id)
    }

    #[test]
    fn a_shape_that_is_refused_falls_to_the_next() {
        let mut model = model(ModelProvider::Anthropic, "claude-haiku-5-5");
        assert_eq!(model.shape_for(None), VerdictShape::Block);
        assert_eq!(model.shape_for(Some(VerdictShape::Tool)), VerdictShape::Tool);
        assert!(model.drop_parameter("tool_choice"));
        assert_eq!(model.shape_for(Some(VerdictShape::Tool)), VerdictShape::Schema);
        assert!(model.drop_parameter("output_config.format"));
        assert_eq!(model.shape_for(Some(VerdictShape::Tool)), VerdictShape::Block);
        assert_eq!(model.shape_for(Some(VerdictShape::Schema)), VerdictShape::Block);
        assert_eq!(model.shape_for(Some(VerdictShape::Severity)), VerdictShape::Severity);
        model.shape = VerdictShape::Schema;
        assert_eq!(model.shape_for(None), VerdictShape::Block);
    }

    #[test]
    fn each_refused_parameter_changes_its_own_part_of_the_row_once() {
        for (provider, id, names) in [
            (
                ModelProvider::Anthropic,
                "claude-haiku-4-5",
                &["temperature", "stop_sequences", "tools.0.strict"][..],
            ),
            (
                ModelProvider::Anthropic,
                "claude-haiku-5-5",
                &["messages.1.content.0.cache_control", "tool_choice.type"],
            ),
            (
                ModelProvider::OpenAi,
                "gpt-6-luna",
                &["text.format.schema", "prompt_cache_key", "parallel_tool_calls"],
            ),
            (ModelProvider::Chat, "x", &["response_format", "stop", "temperature", "max_tokens"]),
            (ModelProvider::Ollama, "x", &["think", "format", "options.stop"]),
            (
                ModelProvider::Gemini,
                "x",
                &["generation_config.response_json_schema", "stopSequences", "safetySettings"],
            ),
        ] {
            let mut model = model(provider, id);
            for name in names {
                let before = model.clone();
                assert!(model.drop_parameter(name), "{name}");
                assert_ne!(model, before, "{name}");
                let once = model.clone();
                assert!(!model.drop_parameter(name), "{name}");
                assert_eq!(model, once, "{name}");
            }
        }
    }

    #[test]
    fn thinking_that_cannot_be_switched_off_gets_room_and_the_lowest_effort() {
        let mut haiku = model(ModelProvider::Anthropic, "claude-haiku-5-5");
        assert!(haiku.drop_parameter("thinking.type.disabled"));
        assert_eq!((haiku.thinking_off, haiku.padding), (ThinkingOff::Always, 2_048));
        assert!(!haiku.drop_parameter("thinking"));
        assert!(haiku.drop_parameter("output_config.effort"));
        assert_eq!((haiku.thinking_off, haiku.padding), (ThinkingOff::Always, 2_048));
        assert_eq!(haiku.leave_out, ["effort"]);
        assert!(haiku.schema && !haiku.drop_parameter("effort"));

        let mut luna = model(ModelProvider::OpenAi, "gpt-6-luna");
        assert!(luna.drop_parameter("reasoning.effort"));
        assert_eq!((luna.thinking_off, luna.padding), (ThinkingOff::Always, 2_048));
        assert!(luna.drop_parameter("reasoning"));
        assert_eq!(luna.thinking_off, ThinkingOff::Never);

        let mut local = model(ModelProvider::Ollama, "llama3");
        assert!(local.drop_parameter("think"));
        assert_eq!(local.thinking_off, ThinkingOff::Never);
    }

    #[test]
    fn what_was_refused_can_be_remembered_in_any_order() {
        const NAMES: &[&str] = &[
            "temperature",
            "stop",
            "tool_choice",
            "thinking.type.disabled",
            "output_config",
            "output_config.effort",
            "reasoning",
            "reasoning.effort",
            "response_format",
            "cache_control",
            "max_tokens",
            "prompt_cache_key",
            "parallel_tool_calls",
            "safetySettings",
        ];
        for row in ModelTable::built_in().models() {
            for left in NAMES {
                for right in NAMES {
                    let (mut forth, mut back) = (row.clone(), row.clone());
                    forth.drop_parameter(left);
                    forth.drop_parameter(right);
                    back.drop_parameter(right);
                    back.drop_parameter(left);
                    assert_eq!(forth, back, "{} {left} {right}", row.id);
                }
            }
        }
    }

    #[test]
    fn what_carries_the_question_is_never_dropped() {
        for provider in ModelProvider::ALL {
            let mut model = model(provider, "x");
            let before = model.clone();
            let names = [
                "messages",
                "system",
                "input",
                "instructions",
                "contents",
                "model",
                "store",
                "messages.0.content.0.text",
                "input[0].content[0].format",
                "",
                ".",
                "[0]",
                "\u{202e}",
            ];
            for name in names {
                assert!(!model.drop_parameter(name), "{name}");
            }
            assert_eq!(model, before);
        }
    }

    #[test]
    fn a_prompt_has_room_only_together_with_its_answer() {
        let model = model(ModelProvider::Ollama, "x");
        assert!(model.has_room(32_768 - 2_048 - 64, 64));
        assert!(!model.has_room(32_768 - 2_048 - 63, 64));
        assert!(!model.has_room(usize::MAX, u32::MAX));
    }
}
