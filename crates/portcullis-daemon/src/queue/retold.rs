//! A question that another process puts. Which call it is about can be proven; what else it says of the call cannot, and is
//! worked out anew, so that nobody can make a call look milder than it is.

use std::path::PathBuf;
use std::time::Duration;

use portcullis_core::{Decision, Mode, Person, ToolCall, decide, explain};
use portcullis_hosts::Said;
use portcullis_hosts::json::parse_input;
use portcullis_store::DeniedCall;
use portcullis_store::audit::Entry;
use portcullis_world::World;

use portcullis_gate::Failure;
use portcullis_gate::audit::{self, Asked};
use portcullis_gate::gate::{PendingQuestion, explanation};
use portcullis_gate::judge::prepare;
use portcullis_gate::judge::{JudgedCall, identity};
use portcullis_gate::session_settings::{SettingsFlags, SettingsPlan};

/// Says anew what is asked, by the call itself and by what the session kept of it. A question with another input, or whose
/// scripts changed since, is refused. Models are asked nothing here, so what they said is left out.
pub(super) fn retold(
    asked: PendingQuestion,
    denied: &DeniedCall,
    arguments: &SettingsFlags,
) -> Result<PendingQuestion, Failure> {
    let question = &asked.question;
    let input = parse_input(question.input.as_bytes()).map_err(|_| another_call())?;
    let call = ToolCall::new(&question.tool, input);
    let mode =
        Mode::find(&question.mode).ok_or_else(|| Failure::usage("the mode of the question is not known"))?;
    let session =
        SettingsPlan::new(arguments, &question.cwd, asked.project.as_ref().map(PathBuf::from))?.load()?;
    let (policy, context) = (session.policy(), session.context(Some(mode), Person::Absent, &[]));
    let (request, facts) = prepare(policy, call.clone(), context.clone(), &mut World::default());
    if !denied.is_of(&question.tool, &identity(&request, &facts), &question.cwd) {
        return Err(another_call());
    }
    let outcome = decide(policy, &request, &facts).map_err(|error| Failure::internal(error.to_string()))?;
    let verdict = outcome.into_verdict();
    let told = explanation(explain(policy, &request, &facts));
    let judged = JudgedCall {
        verdict,
        context,
        denial: Some(denied.id.clone()),
        exchanges: Vec::new(),
        problems: Vec::new(),
    };
    let record = Asked {
        host: &question.host,
        event: &question.event,
        session: &asked.session,
        agent: question.agent.as_deref(),
        call_id: question.call_id.as_deref(),
        said: Said::Deny,
        elapsed: Duration::from_micros(question.micros),
    };
    let question = Entry {
        // What has been allowed since then passes when it is tried again, and was a question when it was put.
        decision: judged.verdict.decision.max(Decision::Ask).as_str().to_owned(),
        reason: denied.reason.clone(),
        code: Some(denied.code.clone()).filter(|code| !code.is_empty()),
        ..audit::entry(&record, &call, &judged)
    };
    Ok(PendingQuestion { question, explanation: Some(told), ..asked })
}

/// Makes the refusal of a question that is not about the call an answer would lift.
pub(super) fn another_call() -> Failure {
    Failure::usage("the question is not of the call that was denied")
}
