//! What brace lists stand for, and what a shell pattern could name.

pub(crate) use portcullis_analysis::path::may_name;
pub use portcullis_analysis::path::may_name_component;

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
}
