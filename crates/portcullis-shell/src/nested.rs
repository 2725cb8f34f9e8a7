//! The commands hidden in words: the bodies of the substitutions among a word's parts.

use crate::ast::{List, Part};

/// Calls `visit` for the body of every command or process substitution in `parts`.
///
/// Descends into double quotes, parameter expansions and arithmetic, but not into the bodies themselves: a visitor
/// that wants everything calls this again for the words it finds there.
pub fn nested_lists<'a>(parts: &'a [Part], visit: &mut impl FnMut(&'a List)) {
    for part in parts {
        match part {
            Part::Command { body, .. } | Part::Process { body, .. } => visit(body),
            Part::Double { parts, .. } | Part::Parameter { parts, .. } | Part::Arithmetic { parts, .. } => {
                nested_lists(parts, visit);
            }
            Part::Literal { .. }
            | Part::Escaped { .. }
            | Part::Single { .. }
            | Part::AnsiC { .. }
            | Part::Glob { .. } => {}
        }
    }
}
