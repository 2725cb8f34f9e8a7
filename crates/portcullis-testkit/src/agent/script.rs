//! What a scripted agent does: turns, each with words and calls of tools, and those of its subagent.

use serde_json::Value;

/// What stands before a label in the id of a call.
const ID_PREFIX: &str = "scripted_";

/// What the model of an agent says, turn by turn. When the turns are used up it says that it is done.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentScript {
    turns: Vec<AgentTurn>,
    subagent: Option<SubagentScript>,
}

#[derive(Debug, Clone, PartialEq)]
struct SubagentScript {
    mark: String,
    turns: Vec<AgentTurn>,
}

/// One answer of the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentTurn {
    /// What it says.
    pub text: Option<String>,
    /// The tools it calls, all at once.
    pub calls: Vec<AgentCall>,
    /// Whether it comes only when the subagent has ended, for agents that do not wait for theirs.
    pub is_after_subagent: bool,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentCall {
    /// What tests call it; it becomes its id, so no two calls of a script share one.
    pub label: String,
    /// The tool, as the client names it.
    pub tool: String,
    /// The group of tools it belongs to, for clients that have groups.
    pub namespace: Option<String>,
    /// What the tool gets.
    pub input: AgentCallInput,
}

/// What a tool gets.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentCallInput {
    /// Named fields.
    Fields(Value),
    /// Text, for tools that take nothing else.
    Text(String),
}

impl AgentScript {
    /// Makes a script of turns.
    pub const fn new(turns: Vec<AgentTurn>) -> Self {
        Self { turns, subagent: None }
    }

    /// Adds what a subagent says. It is known by a mark in what it is asked to do.
    #[must_use]
    pub fn with_subagent(mut self, mark: &str, turns: Vec<AgentTurn>) -> Self {
        self.subagent = Some(SubagentScript { mark: mark.to_owned(), turns });
        self
    }

    /// Returns the turns of the agent that was asked to do this: the subagent's if its mark is in it.
    pub(super) fn turns_for(&self, said_by_user: &str) -> (bool, &[AgentTurn]) {
        match &self.subagent {
            Some(subagent) if said_by_user.contains(&subagent.mark) => (true, &subagent.turns),
            _ => (false, &self.turns),
        }
    }
}

impl AgentTurn {
    /// Returns the labels of its calls.
    pub fn labels(&self) -> impl Iterator<Item = String> + '_ {
        self.calls.iter().map(|call| call.label.clone())
    }

    /// Makes a turn that only says something.
    pub fn say(text: &str) -> Self {
        Self { text: Some(text.to_owned()), ..Self::default() }
    }

    /// Makes a turn that calls one tool.
    pub fn call(call: AgentCall) -> Self {
        Self { calls: vec![call], ..Self::default() }
    }

    /// Makes it come only when the subagent has ended.
    #[must_use]
    pub const fn after_subagent(mut self) -> Self {
        self.is_after_subagent = true;
        self
    }
}

impl AgentCall {
    /// Makes a call with named fields.
    pub fn new(label: &str, tool: &str, input: Value) -> Self {
        Self {
            label: label.to_owned(),
            tool: tool.to_owned(),
            namespace: None,
            input: AgentCallInput::Fields(input),
        }
    }

    /// Makes a call of a tool that takes text.
    pub fn with_text(label: &str, tool: &str, text: &str) -> Self {
        let input = AgentCallInput::Text(text.to_owned());
        Self { label: label.to_owned(), tool: tool.to_owned(), namespace: None, input }
    }

    /// Puts the tool into a group.
    #[must_use]
    pub fn within(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// Returns the id it has on the wire.
    pub(super) fn id(&self) -> String {
        id_of(&self.label)
    }

    /// Returns the input as JSON; text is a string.
    pub(super) fn input_value(&self) -> Value {
        match &self.input {
            AgentCallInput::Fields(fields) => fields.clone(),
            AgentCallInput::Text(text) => Value::from(text.as_str()),
        }
    }
}

/// Returns the id of the call with a label. No id is a part of another: some clients put something around it.
pub(super) fn id_of(label: &str) -> String {
    format!("{ID_PREFIX}{label}_0")
}

/// Returns the turn that comes next: the first with a call that no result is there for, or that calls nothing.
pub(super) fn next_turn<'t>(turns: &'t [AgentTurn], answered: &[String]) -> Option<&'t AgentTurn> {
    let is_over = |turn: &AgentTurn| {
        let is_answered = |call: &AgentCall| answered.iter().any(|id| id.contains(&call.id()));
        !turn.calls.is_empty() && turn.calls.iter().all(is_answered)
    };
    turns.iter().find(|turn| !is_over(turn))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_next_turn_is_the_first_that_has_no_result_yet() {
        let call = |label: &str| AgentCall::new(label, "Bash", json!({}));
        let both = AgentTurn { calls: vec![call("b"), call("c")], ..AgentTurn::default() };
        let turns = [AgentTurn::call(call("a")), both.clone(), AgentTurn::say("bye")];
        assert_eq!(next_turn(&turns, &[]), turns.first());
        assert_eq!(next_turn(&turns, &[id_of("a"), id_of("b")]), Some(&both));
        assert_eq!(next_turn(&turns, &["a", "b", "c"].map(id_of)), turns.last());
        assert_eq!(next_turn(&turns[..1], &[id_of("a")]), None);
    }

    #[test]
    fn a_subagent_is_known_by_what_it_is_asked() {
        let script =
            AgentScript::new(vec![AgentTurn::say("main")]).with_subagent("MARK", vec![AgentTurn::say("sub")]);
        assert_eq!(script.turns_for("please MARK it"), (true, &[AgentTurn::say("sub")][..]));
        assert_eq!(script.turns_for("please do it"), (false, &[AgentTurn::say("main")][..]));
    }
}
