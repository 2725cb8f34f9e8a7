//! Clauses of a reason that depend on more than its kind.

use portcullis_analysis::effect::Certainty;

use crate::context::RecalledCommand;
use crate::mode::Mode;
use crate::rule::Behavior;

/// So much of what the user said is quoted in a reason, in bytes.
const LONGEST_SAID: usize = 200;

/// Says which parts of a call no rule covers.
/// Says what a call does that is not known to be harmless, if that was looked at, and which parts of it no rule covers.
pub(crate) fn unsettled_message(doubt: &str, parts: &[String]) -> String {
    let consequence = if doubt.is_empty() { String::new() } else { format!("{doubt}; ") };
    let texts: Vec<String> = parts.iter().take(5).map(|part| format!("`{part}`")).collect();
    let more = match parts.len().saturating_sub(5) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let uncovered = if parts.is_empty() { "it".to_owned() } else { texts.join(", ") };
    format!("{consequence}no rule covers {uncovered}{more}")
}

pub(crate) fn requested_message(code: &str, sentence: &str, said: &str) -> String {
    let said = said.get(..said.floor_char_boundary(LONGEST_SAID)).unwrap_or(said);
    format!("{code}: {sentence}; you said “{said}”")
}

pub(crate) fn rule_message(
    (text, behavior): (&str, Behavior),
    matched: &str,
    certainty: Certainty,
) -> String {
    let verb = match certainty {
        Certainty::Certain => "matches",
        Certainty::Possible => "may match",
    };
    match matched {
        "" if certainty == Certainty::Certain => {
            format!("the {behavior} rule `{text}` names the tool")
        }
        "" => format!("the {behavior} rule `{text}` {verb}"),
        matched => format!("the {behavior} rule `{text}` {verb} `{matched}`"),
    }
}

/// Names the commands, each with the day of the yes.
pub(crate) fn remembered_message(commands: &[RecalledCommand]) -> String {
    let named: Vec<String> =
        commands.iter().map(|command| format!("`{}` here on {}", command.title, command.day)).collect();
    format!("you allowed {}", named.join(", "))
}

pub(crate) fn mode_message(mode: Mode) -> String {
    match mode {
        Mode::Plan => "nothing is changed while planning".to_owned(),
        Mode::DontAsk => "it would need a person, and this mode does not ask".to_owned(),
        Mode::AcceptEdits => "this mode lets files in the working directories be edited".to_owned(),
        Mode::Auto => "auto mode runs edits in the working directories and harmless tools".to_owned(),
        Mode::BypassPermissions => "bypass mode allows what no rule or safety check stops".to_owned(),
        Mode::Default => "the default mode decides".to_owned(),
    }
}
