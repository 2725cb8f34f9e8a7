//! What a finding saw in a call.

use portcullis_shell::Span;

use crate::case::Case;
use crate::effect::Effect;
use crate::invocation::Invocation;

/// Where a finding was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// The effect it is about, by its place among those of the call; `None` if it is another's, as of a script it runs.
    pub effect: Option<usize>,
    /// The words to be shown to a person; empty if they stand in no command.
    pub span: Span,
    /// What it is done to: a path, a branch, a host, a program.
    pub subject: String,
    /// One sentence for a person, lower case, no final period.
    pub sentence: String,
    /// Whether work on a project takes such a thing now and then: a person is asked about it, and it is not refused.
    pub is_ordinary: bool,
    /// Whether it is for a person alone to say yes to, and no model's.
    pub is_for_person: bool,
}

impl Sighting {
    /// Makes a sighting of an effect.
    pub(crate) fn of(case: Case<'_>, effect: &Effect, sentence: impl Into<String>) -> Self {
        // Effects that are equal in everything are one to whoever asks.
        let place = case.effects.iter().position(|other| other == effect);
        let subject = match effect.target.written() {
            // Where nothing is named, only the command itself says what is meant.
            "" => case.command(effect).map(Invocation::as_written).unwrap_or_default(),
            written => written.to_owned(),
        };
        Self {
            effect: place,
            span: effect.span,
            subject,
            sentence: sentence.into(),
            is_ordinary: false,
            is_for_person: false,
        }
    }

    /// Says of it whether work on a project takes such a thing now and then.
    pub(crate) fn ordinary_if(self, is_ordinary: bool) -> Self {
        Self { is_ordinary, ..self }
    }

    /// Says of it whether a person is asked about it, and nobody else.
    pub(crate) fn for_person_if(self, is_for_person: bool) -> Self {
        Self { is_ordinary: self.is_ordinary || is_for_person, is_for_person, ..self }
    }
}
