//! A tool call: what an agent is about to do.

use crate::input::ToolInput;
use crate::tool::{ToolKind, canonical_name, kind_of};

/// One call of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    tool: String,
    input: ToolInput,
}

impl ToolCall {
    /// Makes a call; a legacy tool name becomes today's.
    pub fn new(tool: &str, input: ToolInput) -> Self {
        Self { tool: canonical_name(tool).to_owned(), input }
    }

    /// Makes a Bash call.
    pub fn bash(command: &str) -> Self {
        Self::new("Bash", ToolInput::of_text("command", command))
    }

    /// Returns the canonical name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the input.
    pub fn input(&self) -> &ToolInput {
        &self.input
    }

    /// Returns the kind of the tool.
    pub fn kind(&self) -> ToolKind {
        kind_of(&self.tool)
    }

    /// Returns the command line of a shell tool.
    pub fn command(&self) -> Option<&str> {
        self.input.text("command")
    }
}
