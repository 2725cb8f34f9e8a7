//! A question that another process puts. Which call it is about can be proven; what else it claims of the call cannot, and
//! is worked out here, so that nobody can make a call look milder than it is.

use std::path::PathBuf;
use std::time::Duration;

use portcullis_core::{Decision, Mode, Person};
use portcullis_gate::Failure;
use portcullis_gate::audit::{self, RecordContext};
use portcullis_gate::gate::{PendingQuestion, explanation};
use portcullis_gate::judge::{JudgedCall, Trial, recorded_call};
use portcullis_gate::session_settings::{SettingsFlags, SettingsPlan};
use portcullis_hosts::HostDecision;
use portcullis_store::DeniedCall;
use portcullis_store::audit::Entry;

/// Makes the question of the call itself and of what the session kept of it. A question with another input, or whose
/// scripts changed since, is refused. Models are asked nothing here, so what they said is left out.
pub(super) fn proven(
    asked: PendingQuestion,
    denied: &DeniedCall,
    arguments: &SettingsFlags,
) -> Result<PendingQuestion, Failure> {
    let question = &asked.question;
    let call = recorded_call(question).ok_or_else(another_call)?;
    let mode =
        Mode::find(&question.mode).ok_or_else(|| Failure::usage("the mode of the question is not known"))?;
    let session =
        SettingsPlan::new(arguments, &question.cwd, asked.project.as_ref().map(PathBuf::from))?.load()?;
    let trial = Trial::new(&session, call, Some(mode), Person::Absent)?;
    if !denied.is_of(&question.tool, &trial.identity(), &question.cwd) {
        return Err(another_call());
    }
    let told = explanation(trial.explanation(&session));
    let judged = JudgedCall {
        verdict: trial.verdict,
        case: trial.case,
        denial: Some(denied.id.clone()),
        exchanges: Vec::new(),
        problems: Vec::new(),
    };
    let record = RecordContext {
        host: &question.host,
        event: &question.event,
        session: &asked.session,
        agent: question.agent.as_deref(),
        call_id: question.call_id.as_deref(),
        said: HostDecision::Deny,
        elapsed: Duration::from_micros(question.micros),
    };
    let question = Entry {
        // What has been allowed since then passes when it is tried again, and was a question when it was put.
        decision: judged.verdict.decision.max(Decision::Ask).as_str().to_owned(),
        reason: denied.reason.clone(),
        code: Some(denied.code.clone()).filter(|code| !code.is_empty()),
        ..audit::entry(&record, judged.case.call(), &judged)
    };
    Ok(PendingQuestion { question, explanation: Some(told), ..asked })
}

/// Makes the refusal of a question that is not about the call an answer would lift.
pub(super) fn another_call() -> Failure {
    Failure::usage("the question is not of the call that was denied")
}
