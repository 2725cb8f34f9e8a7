//! A judgement of the daemon itself that is a question: put, waited for, judged again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::SubmittedCall;
use super::judge::judge;
use crate::Shared;
use portcullis_gate::Failure;
use portcullis_gate::gate::{HostJudgement, PendingQuestion, QuestionReply};

/// Puts a judgement that is a question to a person, and waits. Returns what became of it: on allow the call judged again, on
/// deny or time-out a denial; and the id of the question. A call that amounts to several may be asked about as often.
pub(super) async fn put_to_person(
    daemon: &Shared,
    submitted: &Arc<SubmittedCall>,
    judgement: HostJudgement,
    wait: Duration,
) -> Result<(HostJudgement, Option<String>), Failure> {
    let started = Instant::now();
    let (mut judgement, mut put) = (judgement, None);
    for _ in 0..submitted.asked.calls.len() {
        let asked = PendingQuestion::of(submitted.host, &submitted.asked, &judgement, started.elapsed());
        let Some(asked) = asked else { break };
        let asked = asked.explained(&judgement);
        let left = wait.saturating_sub(started.elapsed());
        let (approval, reply) = match daemon.queue.ask(asked, left).await {
            Ok(answered) => answered,
            // What cannot be asked stays denied.
            Err(failure) => return Ok((judgement.unasked(&failure.message), put)),
        };
        put = Some(approval.id.clone());
        match reply {
            QuestionReply::Allowed => judgement = judge(daemon, submitted, judgement.used_approvals).await?,
            QuestionReply::Denied { by, message } => return Ok((judgement.refused(&by, &message), put)),
            QuestionReply::Open | QuestionReply::Expired => {
                return Ok((judgement.unanswered(&approval.id, &reply), put));
            }
        }
    }
    Ok((judgement, put))
}
