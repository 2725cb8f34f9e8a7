//! A change as the call that would make it, so that the same rules and findings can say about it.

use std::fs;
use std::path::Path;

use portcullis_core::{ToolCall, ToolInput, Value, is_rebuilt};
use portcullis_fence::{ChangeKind, ChangedEntry, LayerChange};
use portcullis_hosts::shell_joined;

/// The longest content that is read: scripts are shorter, and what is longer is judged by its path.
const LONGEST_CONTENT: u64 = 64 << 10;

/// What judging a change takes.
#[derive(Debug)]
pub(super) enum ChangeCall {
    /// A call that would make the same change.
    Call(ToolCall),
    /// Nothing: it makes no difference to anybody.
    NoneNeeded,
    /// No call can name it.
    Unreadable,
}

/// Returns the call that would make a change. What git keeps for itself is judged by its protected names alone: it writes
/// there whatever it is asked to do.
pub(super) fn change_call(workspace: &Path, upper: &Path, change: &LayerChange) -> ChangeCall {
    let is_gits = change.path.iter().skip_while(|part| *part != ".git").count() > 1;
    let is_gone = change.kind == ChangeKind::Removed;
    if is_gits || change.entry == ChangedEntry::Directory && !is_gone {
        return ChangeCall::NoneNeeded;
    }
    let Some(path) = workspace.join(&change.path).to_str().map(str::to_owned) else {
        return ChangeCall::Unreadable;
    };
    // Below the workspace: it may lie in a directory that is built by another project.
    let is_built = change.path.to_str().is_some_and(is_rebuilt);
    match change.entry {
        _ if is_gone && is_built => ChangeCall::NoneNeeded,
        ChangedEntry::Directory => {
            ChangeCall::Call(ToolCall::bash(&shell_joined(["rm", "-rf", "--", &path])))
        }
        _ if is_gone => ChangeCall::Call(ToolCall::bash(&shell_joined(["rm", "-f", "--", &path]))),
        ChangedEntry::Link => match fs::read_link(upper.join(&change.path)) {
            Ok(target) => match target.to_str() {
                Some(target) => {
                    ChangeCall::Call(ToolCall::bash(&shell_joined(["ln", "-s", "--", target, &path])))
                }
                None => ChangeCall::Unreadable,
            },
            Err(_) => ChangeCall::Unreadable,
        },
        ChangedEntry::File | ChangedEntry::Special => {
            let text = Value::Text(content(&upper.join(&change.path)).unwrap_or_default());
            let fields = [("file_path".to_owned(), Value::Text(path)), ("content".to_owned(), text)];
            ChangeCall::Call(ToolCall::new("Write", ToolInput::from_iter(fields)))
        }
    }
}

/// Returns what stands in a file, if it is a short text. A link is not followed.
fn content(file: &Path) -> Option<String> {
    let found = fs::symlink_metadata(file).ok()?;
    let is_short = found.is_file() && found.len() <= LONGEST_CONTENT;
    is_short.then(|| fs::read_to_string(file).ok()).flatten()
}
