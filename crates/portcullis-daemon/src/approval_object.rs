//! The JSON object of an approval: the same for whoever lists, waits, watches or is posted to.

use portcullis_gate::gate::explanation_object;
use portcullis_gate::record_json::entry_object;
use portcullis_store::ApprovalRequest;
use serde_json::{Value, json};

/// Makes the object of an approval.
pub(crate) fn approval_object(approval: &ApprovalRequest) -> Value {
    let answer = approval.answer.as_ref().map(|answer| {
        json!({
            "decision": if answer.is_allowed { "allow" } else { "deny" },
            "scope": answer.scope,
            "rule": answer.rule,
            "message": answer.message,
            "by": answer.by,
            "via": answer.via,
            "atMs": answer.at_ms,
        })
    });
    json!({
        "id": approval.id,
        "sequence": approval.sequence,
        "state": approval.state.as_str(),
        "createdAtMs": approval.created_at_ms,
        "expiresAtMs": approval.expires_at_ms,
        "session": approval.session,
        "denial": approval.denial,
        "question": entry_object(&approval.question),
        "explanation": approval.explanation.as_ref().map(explanation_object),
        "answer": answer,
        "isApplied": approval.is_applied,
    })
}
