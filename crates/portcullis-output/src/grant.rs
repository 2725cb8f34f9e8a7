//! A grant as JSON.

use portcullis_store::{Grant, GrantScope};
use serde_json::{Value, json};

/// Writes a grant for programs.
pub fn grant_json(grant: &Grant) -> Value {
    let (session, workspace) = match &grant.scope {
        GrantScope::Session(name) => (Some(name), None),
        GrantScope::Workspace(directory) => (None, Some(directory)),
    };
    json!({
        "id": grant.id,
        "behavior": grant.behavior,
        "rule": grant.rule,
        "session": session,
        "workspace": workspace,
        "grantedAtMs": grant.granted_at_ms,
        "expiresAtMs": grant.expires_at_ms,
        "usesLeft": grant.uses_left,
        "plan": grant.plan,
    })
}
