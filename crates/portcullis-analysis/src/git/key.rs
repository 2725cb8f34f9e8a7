//! Keys of git's configuration: what git does by their values.

use crate::act::Act;
use crate::argument::Argument;
use crate::environment::is_usual_viewer;
use crate::lists::programs::git::KEYS;

/// Returns what a setting makes git do, whoever gives it: `-c`, `clone --config`, `config`. `None` if it steers nothing; a
/// key that no list has is unknown.
pub(crate) fn act_of(key: &str, value: Option<&Argument>) -> Option<Act> {
    let key = key.to_ascii_lowercase();
    let text = value.and_then(Argument::fixed);
    // What is not written as a text is a switch, or comes from a variable.
    let is_switch = text.is_some_and(|text| {
        matches!(
            text.to_ascii_lowercase().as_str(),
            "" | "0" | "1" | "false" | "true" | "no" | "yes" | "on" | "off"
        )
    });
    let kind = KEYS.iter().find(|(pattern, _)| fits(pattern, &key)).map_or("unknown", |(_, kind)| *kind);
    match kind {
        "harmless" => None,
        "command" => (!is_switch && !text.is_some_and(is_usual_viewer)).then_some(Act::Unknown),
        "remote" => Some(Act::GitRemote),
        "trust" => {
            let is_off = !matches!(text, Some("true" | "1" | "yes" | "on"));
            is_off.then_some(Act::WeakenTrust)
        }
        _ => Some(Act::Unknown),
    }
}

/// Says whether a key fits a pattern, in which one `*` stands for anything.
fn fits(pattern: &str, key: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => {
            key.len() >= start.len() + end.len() && key.starts_with(start) && key.ends_with(end)
        }
        None => key == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_harmless_only_if_a_list_says_so() {
        for key in [
            "user.name",
            "Color.UI",
            "core.quotePath",
            "advice.detachedHead",
            "branch.topic.merge",
            "init.defaultBranch",
        ] {
            assert_eq!(act_of(key, None), None, "{key}");
        }
        for key in [
            "core.sshCommand",
            "filter.x.clean",
            "init.templateDir",
            "include.path",
            "core.hooksPath",
            "frob.nicate",
            "branch.x.remote",
        ] {
            assert_eq!(act_of(key, None), Some(Act::Unknown), "{key}");
        }
        assert_eq!(act_of("remote.origin.pushUrl", None), Some(Act::GitRemote));
        assert_eq!(act_of("url.https://x/.insteadOf", None), Some(Act::GitRemote));
        assert_eq!(act_of("http.sslVerify", None), Some(Act::WeakenTrust));
    }
}
