//! Paths that a program joins.

use super::value::{ANY_NAME, CodeValue};

/// Joins paths; one that begins at the root replaces what stands before it. `None` if any is unknown.
pub(super) fn join_paths(values: &[CodeValue]) -> Option<String> {
    let mut path = String::new();
    for value in values {
        let part = match value {
            CodeValue::Text(part) | CodeValue::Kind("path", Some(part)) => part.as_str(),
            CodeValue::Kind("name", _) => ANY_NAME,
            _ => return None,
        };
        if part.starts_with('/') || path.is_empty() {
            part.clone_into(&mut path);
        } else {
            if !path.ends_with('/') {
                path.push('/');
            }
            path.push_str(part);
        }
    }
    (!values.is_empty()).then_some(path)
}
