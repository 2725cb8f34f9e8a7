//! The self-test (spec D14): labelled actions that show whether a model may decide, and the bar it must reach.
//!
//! The actions are data, `data/selftest.jsonl`, one a line: dangers of the hard kind, which nothing permits; other dangers;
//! and ordinary work. Some are the same action after other words of the user, and some hold words for the judge.

mod score;

use portcullis_core::ToolCall;
use portcullis_hosts::json::parse_input;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::prompt::PromptSession;
use crate::transcript::{Transcript, TranscriptEntry};
pub use score::{KindScore, SelfTestScore};

/// The actions as they are shipped; whoever wants to know whether they changed compares this text.
pub const SELF_TEST_DATA: &str = include_str!("../../data/selftest.jsonl");

/// Where the sessions of the actions take place.
const PROJECT: &str = "/home/ada/app";

/// The branch that is checked out there.
const BRANCH: &str = "feature/login";

/// How bad it would be to let an action run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActionKind {
    /// A danger that nothing permits.
    Hard,
    /// A danger that the user's words could permit, and do not.
    Soft,
    /// Work as it is done every day, or what the user asked for by name.
    Ordinary,
}

/// One labelled action.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfTestAction {
    /// What it is, in a few words.
    pub name: String,
    /// How bad it would be.
    pub kind: ActionKind,
    /// The rule it breaks, or the exception that covers it.
    pub rule: String,
    /// What the user said, oldest first.
    said: Vec<String>,
    /// Shell commands the agent ran since.
    #[serde(default)]
    before: Vec<String>,
    /// What a file of the repository tells agents.
    #[serde(default)]
    instructions: Option<String>,
    /// What joins it with the same action after other words.
    #[serde(default)]
    pub pair: Option<String>,
    tool: String,
    input: Value,
}

/// Returns every action of the self-test.
pub fn self_test_actions() -> Vec<SelfTestAction> {
    SELF_TEST_DATA.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

impl ActionKind {
    /// Every kind, the worst first.
    pub const ALL: [Self; 3] = [Self::Hard, Self::Soft, Self::Ordinary];

    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hard => "hard",
            Self::Soft => "soft",
            Self::Ordinary => "ordinary",
        }
    }

    /// Says whether it must be blocked.
    pub const fn is_danger(self) -> bool {
        matches!(self, Self::Hard | Self::Soft)
    }
}

impl SelfTestAction {
    /// Returns the call that is judged.
    pub fn call(&self) -> ToolCall {
        call_of(&self.tool, &self.input)
    }

    /// Returns what happened before: what the user said first, what the agent did, what the user said then.
    pub fn transcript(&self) -> Transcript {
        let mut said = self.said.iter().cloned().map(TranscriptEntry::Human);
        let first = said.next();
        let commands = self.before.iter().map(|command| TranscriptEntry::Call {
            id: None,
            call: call_of("Bash", &json!({"command": command})),
        });
        Transcript {
            entries: first.into_iter().chain(commands).chain(said).collect(),
            ..Transcript::default()
        }
    }

    /// Returns what holds for its session, the same for every machine.
    pub fn session(&self) -> PromptSession {
        let instructions = self.instructions.iter().map(|text| ("AGENTS.md".to_owned(), text.clone()));
        PromptSession {
            project: PROJECT.to_owned(),
            cwd: PROJECT.to_owned(),
            branch: Some(BRANCH.to_owned()),
            instructions: instructions.collect(),
            ..PromptSession::default()
        }
    }

    /// Returns what the user said last.
    pub fn last_words(&self) -> &str {
        self.said.last().map_or("", String::as_str)
    }
}

fn call_of(tool: &str, input: &Value) -> ToolCall {
    ToolCall::new(tool, parse_input(input.to_string().as_bytes()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use pretty_assertions::assert_eq;

    use super::*;
    use crate::prompt::{PromptList, PromptLists, label_of};

    #[test]
    fn every_line_is_an_action_with_a_name_of_its_own_and_a_rule_that_there_is() {
        let actions = self_test_actions();
        assert_eq!(actions.len(), SELF_TEST_DATA.lines().count());
        let names: BTreeSet<&str> = actions.iter().map(|action| action.name.as_str()).collect();
        assert_eq!(names.len(), actions.len());
        let lists = PromptLists::built_in();
        let exceptions = lists.list(PromptList::Allow).iter().map(|entry| label_of(entry));
        let labels: Vec<String> = lists.labels().into_iter().chain(exceptions).collect();
        for action in &actions {
            assert!(labels.contains(&action.rule), "{}: {}", action.name, action.rule);
            assert!(!action.said.is_empty() && !action.last_words().trim().is_empty(), "{}", action.name);
            assert!(!action.call().tool().is_empty(), "{}", action.name);
        }
    }

    #[test]
    fn there_are_enough_of_every_kind_and_two_thirds_are_dangers() {
        let actions = self_test_actions();
        let count = |kind| actions.iter().filter(|action| action.kind == kind).count();
        let (hard, soft, ordinary) =
            (count(ActionKind::Hard), count(ActionKind::Soft), count(ActionKind::Ordinary));
        assert!(
            actions.len() >= 60 && hard >= 12 && soft >= 30 && ordinary >= 20,
            "{hard} {soft} {ordinary}"
        );
        assert!((hard + soft) * 3 >= actions.len() * 2, "{hard} {soft} {ordinary}");
        let rules: BTreeSet<&str> = actions.iter().map(|action| action.rule.as_str()).collect();
        assert!(rules.len() >= 40, "{}", rules.len());
        assert!(actions.iter().filter(|action| action.instructions.is_some()).count() >= 2);
    }

    #[test]
    fn a_pair_is_one_action_that_is_fine_after_some_words_and_not_after_others() {
        let actions = self_test_actions();
        let mut pairs: BTreeMap<&str, Vec<&SelfTestAction>> = BTreeMap::new();
        for action in &actions {
            if let Some(pair) = &action.pair {
                pairs.entry(pair).or_default().push(action);
            }
        }
        assert!(pairs.len() >= 6, "{}", pairs.len());
        for (pair, members) in pairs {
            assert!(members.iter().all(|member| member.call() == members[0].call()), "{pair}");
            assert!(members.iter().any(|member| member.kind.is_danger()), "{pair}");
            assert!(members.iter().any(|member| !member.kind.is_danger()), "{pair}");
        }
    }
}
