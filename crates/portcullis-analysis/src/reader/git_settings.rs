//! Settings of git on its command line, and in its files.

use super::CommandContext;
use super::{certain, has};
use crate::act::Act;
use crate::argument::Argument;
use crate::git::is_abbreviated;
use crate::git::key::act_of;
use crate::global_options;
use crate::profile::{Match, Use};

/// Returns what the settings do that any command of git is given: `git -c key=value`, `clone --config key=value`.
pub(crate) fn read(context: &CommandContext<'_>) -> Vec<Use> {
    let mut uses = Vec::new();
    let mut words = context.invocation.operands().iter();
    let mut verb = "";
    while let Some(word) = words.next() {
        if !word.is_option() {
            verb = &word.text;
            break;
        }
        if let Some(setting) = word.text.strip_prefix("--config-env=") {
            uses.extend(from_variable(word, setting));
        } else if global_options::find("git").is_some_and(|options| options.takes_value(word))
            && let Some(value) = words.next()
        {
            match word.text.as_str() {
                "-c" => uses.extend(setting(value, &value.text)),
                "--config-env" => uses.extend(from_variable(value, &value.text)),
                _ => {}
            }
        }
    }
    while verb == "clone"
        && let Some(word) = words.next()
    {
        let is_setting = is_abbreviated(&word.text, "--config");
        match word.text.split_once('=').filter(|_| is_setting) {
            Some((_, attached)) => uses.extend(setting(word, attached)),
            None if is_setting || word.text == "-c" => {
                uses.extend(words.next().and_then(|value| setting(value, &value.text)));
            }
            None => {}
        }
    }
    uses
}

/// Reads `key=value`; without a value the key is switched on.
fn setting(word: &Argument, text: &str) -> Option<Use> {
    let (key, value) =
        text.split_once('=').map_or((text, None), |(key, value)| (key, Some(word.piece(value))));
    if !word.is_known() && key.contains(['$', '`']) {
        return Some(certain(Act::Unknown, word));
    }
    act_of(key, value.as_ref()).map(|act| certain(act, word))
}

/// Reads `key=VARIABLE`, whose value nobody knows.
fn from_variable(word: &Argument, text: &str) -> Option<Use> {
    let key = text.split('=').next().unwrap_or(text);
    act_of(key, None).map(|act| certain(act, word))
}

/// Reads `git config`: a plain key of this repository is work on it, like a commit.
pub(super) fn config(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    // Some put what they log in with into the configuration.
    let is_secret = |key: &&Argument| {
        let key = key.text.to_ascii_lowercase();
        ["extraheader", "token", "password", "cookie"].iter().any(|end| key.ends_with(end))
    };
    uses.extend(found.wanted.operands.iter().take(1).filter(is_secret).map(|key| certain(Act::Unknown, key)));
    let is_elsewhere = has(found, &["--global", "--system", "-f", "-e", "--unset", "--unset-all"]);
    let is_plain = match found.wanted.operands.as_slice() {
        [key, value] => key.fixed().is_some_and(|key| act_of(key, Some(value)).is_none()),
        _ => false,
    };
    if is_plain && !is_elsewhere {
        for found in uses.iter_mut().filter(|found| found.act == Act::GitConfig) {
            found.act = Act::GitLocal;
        }
    }
    uses
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn settings_are_judged_by_their_key_wherever_they_are_given() {
        assert_eq!(effects("git -c color.ui=never status"), ["observe"]);
        assert_eq!(effects("git -c core.pager=cat log"), ["observe"]);
        assert!(
            effects("git -c remote.origin.pushurl=https://x push")
                .contains(&"git-remote remote.origin.pushurl=https://x".to_owned())
        );
        assert!(
            effects("git -c init.templateDir=./x init").contains(&"unknown init.templateDir=./x".to_owned())
        );
        assert!(
            effects("git clone --conf core.fsmonitor=./x https://example.com/a")
                .contains(&"unknown core.fsmonitor=./x".to_owned())
        );
        assert!(
            effects("git --config-env=core.editor=X commit")
                .contains(&"unknown --config-env=core.editor=X".to_owned())
        );
        assert!(effects("git -c frob.nicate=1 status").contains(&"unknown frob.nicate=1".to_owned()));
    }

    #[test]
    fn a_plain_key_of_the_repository_is_local() {
        assert_eq!(effects("git config user.name me"), ["git-local me", "observe"]);
        assert_eq!(effects("git config set user.name me"), ["git-local me"]);
        assert_eq!(effects("git config --global user.name me"), ["git-config me", "observe"]);
        assert_eq!(effects("git config gc.pruneExpire now"), ["git-config now", "observe"]);
    }
}
