//! A call judged by the settings and files of now, for whoever wants to know: no model, hook or person is asked, nothing is
//! counted and nothing is recorded.

use portcullis_core::{
    CallExplanation, Case, Context, EffectReport, Mode, Person, RuleExplanation, ToolCall, Verdict,
};
use portcullis_hosts::json::parse_input;
use portcullis_store::audit::Entry;
use portcullis_world::World;

use super::call_judge::identity;
use super::decide::{judge, prepare};
use crate::Failure;
use crate::session_settings::SessionSettings;

/// A call, and what today's settings say to it.
#[derive(Debug)]
pub struct Trial {
    /// The verdict, as far as it needs nobody.
    pub verdict: Verdict,
    /// What it was given on.
    pub case: Case,
}

impl Trial {
    /// Judges a call; without a mode in that of the settings.
    pub fn new(
        session: &SessionSettings,
        call: ToolCall,
        mode: Option<Mode>,
        person: Person,
    ) -> Result<Self, Failure> {
        Self::in_context(session, call, session.context(mode, person, &[]), &mut World::default())
    }

    /// Judges a call in a context of its own, with what the disk said to others.
    pub(crate) fn in_context(
        session: &SessionSettings,
        call: ToolCall,
        context: Context,
        world: &mut World,
    ) -> Result<Self, Failure> {
        let policy = session.policy();
        let case = prepare(policy, call, context, world);
        Ok(Self { verdict: judge(policy, &case)?, case })
    }

    /// Judges the call of a record in the mode of then. What happened in its session is not looked at.
    pub fn of_record(session: &SessionSettings, entry: &Entry) -> Result<Self, Failure> {
        let call = recorded_call(entry).ok_or_else(|| {
            Failure::usage("the call is too long to be kept whole, so it cannot be judged again")
        })?;
        let person = if entry.headless { Person::Absent } else { Person::Present };
        Self::new(session, call, Mode::find(&entry.mode), person)
    }

    /// Returns the call.
    pub fn call(&self) -> &ToolCall {
        self.case.call()
    }

    /// Returns what the call is known by, with the scripts it runs.
    pub fn identity(&self) -> String {
        identity(&self.case)
    }

    /// Lists what the call would do.
    pub fn effects(&self) -> Vec<EffectReport> {
        self.case.effect_reports()
    }

    /// Says what each rule says to the call.
    pub fn rules(&self, session: &SessionSettings) -> Vec<RuleExplanation> {
        self.case.explain_rules(session.policy())
    }

    /// Explains the call to a person.
    pub fn explanation(&self, session: &SessionSettings) -> CallExplanation {
        self.case.explain(session.policy())
    }
}

/// Returns the call of a record, with its secrets blacked out; `None` if it was too long to be kept whole.
pub fn recorded_call(entry: &Entry) -> Option<ToolCall> {
    Some(ToolCall::new(&entry.tool, parse_input(entry.input.as_bytes()).ok()?))
}
