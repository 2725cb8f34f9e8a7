//! Values as pages word them.

use std::fmt::Write as _;

use portcullis_store::audit::Record;
use portcullis_store::audit::index::SeenSession;
use portcullis_store::{AnswerScope, ApprovalRequest, ApprovalState, Grant, GrantScope};
use portcullis_web::views::{ApprovalRow, DecisionRow, FormChoice, GrantView, SessionRow, TimeView, Tone};
use portcullis_web::{VisibleText, segment};

use portcullis_output::{calendar, record};

/// The longest text in a list, in characters.
pub(super) const LONGEST_IN_LIST: usize = 300;
/// The longest id of a session in a list.
pub(super) const LONGEST_SESSION: usize = 18;

/// Words a moment.
pub(super) fn moment(at_ms: u64) -> TimeView {
    TimeView { at_ms, utc: format!("{} UTC", calendar::time(at_ms)) }
}

/// Returns the page of a session; empty if it has no id.
pub(super) fn session_link(id: &str) -> String {
    if id.is_empty() { String::new() } else { format!("/sessions/{}", segment(id)) }
}

/// Words a decision for a list.
pub(super) fn decision_row(record: &Record) -> DecisionRow {
    let entry = &record.entry;
    DecisionRow {
        id: record.id.clone(),
        when: moment(entry.at_ms),
        decision: VisibleText::from(entry.decision.as_str()),
        tone: Tone::of(&entry.decision),
        told: (entry.said != entry.decision).then(|| VisibleText::from(record::answered(entry))),
        tool: VisibleText::from(entry.tool.as_str()),
        summary: VisibleText::cut(&entry.summary, LONGEST_IN_LIST),
        reason: VisibleText::cut(&entry.reason, LONGEST_IN_LIST),
        host: VisibleText::from(entry.host.as_str()),
        step: VisibleText::from(entry.step.as_str()),
        session: VisibleText::cut(&entry.session, LONGEST_SESSION),
        session_link: session_link(&entry.session),
    }
}

/// Words a question for a list.
pub(super) fn approval_row(approval: &ApprovalRequest) -> ApprovalRow {
    let asked = &approval.question;
    ApprovalRow {
        id: approval.id.clone(),
        state: approval.state.as_str(),
        tone: Tone::of(approval.state.as_str()),
        when: moment(approval.created_at_ms),
        until: moment(approval.expires_at_ms),
        tool: VisibleText::from(asked.tool.as_str()),
        summary: VisibleText::cut(&asked.summary, LONGEST_IN_LIST),
        reason: VisibleText::cut(&asked.reason, LONGEST_IN_LIST),
        level: approval
            .explanation
            .as_ref()
            .map(|told| VisibleText::from(told.level.as_str()))
            .unwrap_or_default(),
        cwd: VisibleText::from(asked.cwd.as_str()),
        host: VisibleText::from(asked.host.as_str()),
        session: VisibleText::cut(&asked.session, LONGEST_SESSION),
        session_link: session_link(&asked.session),
        answered: VisibleText::from(answered(approval)),
    }
}

/// Says who answered, and what; nothing while it waits.
pub(super) fn answered(approval: &ApprovalRequest) -> String {
    match (&approval.answer, approval.state) {
        (_, ApprovalState::Open) => String::new(),
        (Some(answer), state) => {
            let how_long = match (answer.is_allowed, answer.scope) {
                (true, AnswerScope::Session) => " for the session",
                (true, AnswerScope::Always) => " from now on",
                _ => "",
            };
            let state = super::capital(state.as_str());
            format!("{state}{how_long} by {} ({})", answer.by, answer.via)
        }
        (None, _) => "Nobody answered in time".to_owned(),
    }
}

/// Words a session for a list.
pub(super) fn session_row(seen: &SeenSession) -> SessionRow {
    let name = if seen.session.is_empty() { "(no session)" } else { &seen.session };
    SessionRow {
        name: VisibleText::cut(name, 80),
        link: if seen.session.is_empty() { "/decisions".to_owned() } else { session_link(&seen.session) },
        host: VisibleText::from(seen.host.as_str()),
        cwd: VisibleText::from(seen.cwd.as_str()),
        mode: VisibleText::from(seen.mode.as_str()),
        first: moment(seen.first_ms),
        last: moment(seen.last_ms),
        allow: seen.allow,
        ask: seen.ask,
        deny: seen.deny,
    }
}

/// Words a grant.
pub(super) fn grant_view(grant: &Grant) -> GrantView {
    let mut terms = match &grant.scope {
        GrantScope::Session(_) => "in this session".to_owned(),
        GrantScope::Workspace(directory) => format!("in {directory}"),
    };
    // Writing to a `String` cannot fail.
    if let Some(uses) = grant.uses_left {
        let _ = write!(terms, ", {} left", portcullis_output::human::counted(uses, "use"));
    }
    if let Some(plan) = grant.plan {
        let _ = write!(terms, ", for plan {plan}");
    }
    GrantView {
        id: segment(&grant.id),
        behavior: VisibleText::from(grant.behavior.as_str()),
        tone: Tone::of(&grant.behavior),
        rule: VisibleText::from(grant.rule.as_str()),
        terms: VisibleText::from(terms),
        until: moment(grant.expires_at_ms),
    }
}

/// Makes a choice.
pub(super) fn choice(value: &str, label: impl Into<VisibleText>, chosen: &str) -> FormChoice {
    FormChoice { value: value.to_owned(), label: label.into(), is_chosen: value == chosen }
}
