//! Another command for a host to run in place of the one it asked about.

use portcullis_core::{ToolCall, ToolInput, Value};

/// The input of a host's call, of which an answer may replace the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewritableInput {
    input: ToolInput,
    field: &'static str,
}

impl RewritableInput {
    /// Returns the input if its command is exactly what is judged: nothing beside it, and in the directory of the session.
    /// Where the host's call amounts to anything else, another command would not do what was judged.
    pub(crate) fn of(input: ToolInput, field: &'static str, calls: &[ToolCall]) -> Option<Self> {
        let is_judged = match calls {
            [call] => {
                call.tool() == "Bash" && call.command().is_some() && call.command() == input.text(field)
            }
            _ => false,
        };
        is_judged.then_some(Self { input, field })
    }

    /// Returns the command that the host would run.
    pub fn command(&self) -> &str {
        self.input.text(self.field).unwrap_or_default()
    }

    /// Returns the input with another command; everything else stays as the host gave it.
    pub fn with_command(&self, command: &str) -> ToolInput {
        let others = self.input.fields().filter(|(name, _)| *name != self.field);
        let others = others.map(|(name, value)| (name.to_owned(), value.clone()));
        others.chain([(self.field.to_owned(), Value::Text(command.to_owned()))]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_command_that_is_judged_can_be_replaced() {
        let input = ToolInput::of_text("command", "make");
        let of = |calls: &[ToolCall]| RewritableInput::of(input.clone(), "command", calls);
        assert_eq!(
            of(&[ToolCall::bash("make")]).map(|input| input.command().to_owned()),
            Some("make".to_owned())
        );
        for calls in [
            vec![],
            vec![ToolCall::bash("cd /x\nmake")],
            vec![ToolCall::bash("make"), ToolCall::bash("make")],
            vec![ToolCall::new("PowerShell", input.clone())],
        ] {
            assert_eq!(of(&calls), None, "{calls:?}");
        }
    }

    #[test]
    fn everything_but_the_command_stays() {
        let input: ToolInput = [
            ("command".to_owned(), Value::Text("make".to_owned())),
            ("timeout".to_owned(), Value::Number("9".to_owned())),
        ]
        .into_iter()
        .collect();
        let changed =
            RewritableInput::of(input, "command", &[ToolCall::bash("make")]).unwrap().with_command("x");
        let fields: Vec<_> = changed.fields().collect();
        let expected =
            [("command", &Value::Text("x".to_owned())), ("timeout", &Value::Number("9".to_owned()))];
        assert_eq!(fields, expected);
    }
}
