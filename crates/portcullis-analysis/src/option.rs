//! Values of options among the words of a command.

use crate::argument::Argument;

/// Returns the values of these options, attached, after `=`, in the next word, or after a cluster.
pub(crate) fn values(rest: &[Argument], options: &[&str]) -> Vec<Argument> {
    let mut found = Vec::new();
    for (place, word) in rest.iter().enumerate() {
        let next = rest.get(place + 1);
        for option in options {
            found.extend(value(word, next, option));
        }
    }
    found
}

fn value(word: &Argument, next: Option<&Argument>, option: &str) -> Option<Argument> {
    let text = word.text.as_str();
    if text == option {
        return next.cloned();
    }
    let attached = text.strip_prefix(option);
    if option.len() > 2 {
        return attached.and_then(|attached| attached.strip_prefix('=')).map(|value| word.piece(value));
    }
    if let Some(attached) = attached {
        return Some(word.piece(attached));
    }
    let is_cluster = text.starts_with('-') && !text.starts_with("--");
    let letter = option.strip_prefix('-').unwrap_or(option);
    (is_cluster && text.ends_with(letter)).then(|| next.cloned()).flatten()
}
