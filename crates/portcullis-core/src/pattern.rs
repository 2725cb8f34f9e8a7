//! What brace lists stand for, and what a shell pattern could name.

use crate::path::components;

/// More alternatives than this are not written out.
const MOST: usize = 64;

/// Writes out brace lists: `a{b,c}` is `ab` and `ac`. What is nested or too much stays as it is.
pub(crate) fn alternatives(text: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![text.to_owned()];
    while let Some(text) = open.pop() {
        match split_list(&text) {
            Some((before, list, after)) if open.len() + done.len() < MOST => {
                open.extend(list.split(',').map(|item| format!("{before}{item}{after}")));
            }
            _ => done.push(text),
        }
    }
    done
}

/// Splits a text at its first list in braces that holds no other.
fn split_list(text: &str) -> Option<(&str, &str, &str)> {
    let (until, after) = text.split_once('}')?;
    let (before, list) = until.rsplit_once('{')?;
    (list.contains(',') && !before.ends_with('$')).then_some((before, list, after))
}

/// Says whether an absolute pattern could name this path.
pub(crate) fn may_name(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = components(pattern).collect();
    let path: Vec<&str> = components(path).collect();
    pattern.len() == path.len()
        && pattern.iter().zip(&path).all(|(pattern, name)| may_name_component(pattern, name))
}

/// Says whether a component of a shell pattern could name this file: its fixed beginning and end are compared, what
/// stands between may be anything.
pub fn may_name_component(pattern: &str, name: &str) -> bool {
    // What stands before a parenthesis belongs to it: `@(a|b)`.
    if pattern.contains('(') {
        return true;
    }
    let special = ['*', '?', '[', '(', '{'];
    let Some(first) = pattern.find(special) else {
        return pattern == name;
    };
    let last = pattern.rfind(['*', '?', ']', ')', '}']).unwrap_or(first);
    let before = pattern.get(..first).unwrap_or_default();
    let after = pattern.get(last + 1..).unwrap_or_default();
    name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brace_lists_are_written_out() {
        for (text, expected) in [
            ("a", vec!["a"]),
            ("a{b,c}", vec!["ac", "ab"]),
            ("{/usr,x}/y", vec!["x/y", "/usr/y"]),
            ("{a,{b,c}}", vec!["c", "a", "b", "a"]),
            ("${a,b}", vec!["${a,b}"]),
            ("{a}", vec!["{a}"]),
        ] {
            assert_eq!(alternatives(text), expected, "{text}");
        }
    }

    #[test]
    fn a_pattern_is_compared_by_its_fixed_ends() {
        for (pattern, path, may) in [
            ("/code/a*", "/code/app", true),
            ("/code/a?p", "/code/app", true),
            ("/code/[a]pp", "/code/app", true),
            ("/c*/app", "/code/app", true),
            ("/code/b*", "/code/app", false),
            ("/code/*.o", "/code/app", false),
            ("/code/*", "/code/app/x", false),
        ] {
            assert_eq!(may_name(pattern, path), may, "{pattern} {path}");
        }
    }
}
