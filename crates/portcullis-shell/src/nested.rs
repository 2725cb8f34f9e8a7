//! The commands hidden in words: the bodies of the substitutions among a word's parts.

use crate::ast::{List, WordPart};

/// Calls `visit` for the body of every command or process substitution in `parts`.
///
/// Descends into double quotes, parameter expansions and arithmetic, but not into the bodies themselves: a visitor
/// that wants everything calls this again for the words it finds there.
pub fn nested_lists<'a>(parts: &'a [WordPart], visit: &mut impl FnMut(&'a List)) {
    for part in parts {
        match part {
            WordPart::Command { body, .. } | WordPart::Process { body, .. } => visit(body),
            WordPart::Double { parts, .. }
            | WordPart::Parameter { parts, .. }
            | WordPart::Arithmetic { parts, .. } => {
                nested_lists(parts, visit);
            }
            WordPart::Literal { .. }
            | WordPart::Escaped { .. }
            | WordPart::Single { .. }
            | WordPart::AnsiC { .. }
            | WordPart::Glob { .. } => {}
        }
    }
}
