//! A ruling of the daemon itself that is a question: put, waited for, judged again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Brought, Shared, rule};
use portcullis_gate::Failure;
use portcullis_gate::gate::Ruling;
use portcullis_gate::gate::{PendingQuestion, QuestionReply};

/// Puts a ruling that is a question to a person, and waits. Returns what became of it: on allow the call judged again, on
/// deny or time-out a denial; and the id of the question. A call that amounts to several may be asked about as often.
pub(super) async fn put_to_person(
    daemon: &Shared,
    brought: &Arc<Brought>,
    ruling: Ruling,
    wait: Duration,
) -> Result<(Ruling, Option<String>), Failure> {
    let started = Instant::now();
    let (mut ruling, mut put) = (ruling, None);
    for _ in 0..brought.asked.calls.len() {
        let asked = PendingQuestion::of(brought.host, &brought.asked, &ruling, started.elapsed());
        let Some(asked) = asked else { break };
        let asked = asked.explained(&ruling);
        let left = wait.saturating_sub(started.elapsed());
        let (approval, reply) = match daemon.queue.ask(asked, left).await {
            Ok(answered) => answered,
            // What cannot be asked stays denied.
            Err(failure) => return Ok((ruling.unasked(&failure.message), put)),
        };
        put = Some(approval.id.clone());
        match reply {
            QuestionReply::Allowed => ruling = rule(daemon, brought, ruling.passed).await?,
            QuestionReply::Denied { by, message } => return Ok((ruling.refused(&by, &message), put)),
            QuestionReply::Open | QuestionReply::Expired => {
                return Ok((ruling.unanswered(&approval.id, &reply), put));
            }
        }
    }
    Ok((ruling, put))
}
