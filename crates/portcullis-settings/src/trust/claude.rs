//! What Claude Code remembers: `projects["<path>"].hasTrustDialogAccepted` in its global file, which is only read.

use std::path::Path;

use crate::disk::read_text;
use crate::json::{self, JsonNode, JsonValue};

/// The file also holds histories and may be large; a larger one than this says nothing.
const MAXIMUM_SIZE: u64 = 32 * 1024 * 1024;

/// Says whether the trust dialog was accepted for a directory. A file that cannot be read says no.
pub(super) fn trusts(file: &Path, workspace: &Path) -> bool {
    let (Ok(Some(text)), Some(workspace)) = (read_text(file, MAXIMUM_SIZE), workspace.to_str()) else {
        return false;
    };
    let reading = json::read(&text);
    if reading.mistake.is_some() {
        return false;
    }
    reading
        .root
        .as_ref()
        .and_then(|root| find_member(root, "projects"))
        .and_then(|projects| find_member(projects, workspace))
        .and_then(|project| find_member(project, "hasTrustDialogAccepted"))
        .is_some_and(|accepted| accepted.value == JsonValue::Bool(true))
}

/// Finds a member; of repeated ones the last, as every JSON reader does.
fn find_member<'node, 'text>(node: &'node JsonNode<'text>, name: &str) -> Option<&'node JsonNode<'text>> {
    let JsonValue::Object(members) = &node.value else { return None };
    members.iter().rev().find(|member| member.name == name).map(|member| &member.node)
}
