//! Who speaks in a text that stands where the user's words would: the user, somebody else, or nobody.
//!
//! Hosts put their own words, command output and the words of other agents into user messages. They are told apart by
//! how they begin. When in doubt a text is not the user's, because the user's words are consent.

use super::NoticeKind;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Speaker {
    /// The user.
    Human,
    /// Somebody whose words are context.
    Other(NoticeKind),
    /// Nobody who matters.
    Nobody,
}

/// What Claude Code writes into user messages, by its beginning.
const CLAUDE: &[(&str, Speaker)] = &[
    ("<agent-message", Speaker::Other(NoticeKind::Agent)),
    ("<agent-notification", Speaker::Other(NoticeKind::Host)),
    ("<bash-input>", Speaker::Nobody),
    ("<bash-stderr>", Speaker::Nobody),
    ("<bash-stdout>", Speaker::Nobody),
    ("<channel", Speaker::Other(NoticeKind::Agent)),
    ("<command-args>", Speaker::Nobody),
    ("<command-contents>", Speaker::Nobody),
    ("<command-message>", Speaker::Nobody),
    ("<command-name>", Speaker::Nobody),
    ("<cross-session-message", Speaker::Other(NoticeKind::Agent)),
    ("<ide_", Speaker::Nobody),
    ("<local-command-", Speaker::Nobody),
    ("<new-diagnostics>", Speaker::Nobody),
    ("<persisted-output>", Speaker::Nobody),
    ("<post-tool-use-hook>", Speaker::Nobody),
    ("<session-start-hook>", Speaker::Nobody),
    ("<system-reminder>", Speaker::Nobody),
    ("<task-notification>", Speaker::Other(NoticeKind::Host)),
    ("<teammate-message", Speaker::Other(NoticeKind::Agent)),
    ("<tick>", Speaker::Nobody),
    ("<tool_use_error>", Speaker::Nobody),
    ("<user-memory-input>", Speaker::Nobody),
    ("<user-prompt-submit-hook>", Speaker::Nobody),
    ("Caveat: The messages below", Speaker::Nobody),
    ("This session is being continued from a previous conversation", Speaker::Other(NoticeKind::Summary)),
    ("[Request interrupted", Speaker::Nobody),
    ("[SCHEDULED TASK", Speaker::Other(NoticeKind::ScheduledTask)),
    ("[SYSTEM NOTIFICATION", Speaker::Other(NoticeKind::Host)),
];

/// What Codex writes into user messages, by its beginning.
const CODEX: &[(&str, Speaker)] = &[
    ("# AGENTS.md instructions", Speaker::Nobody),
    ("<INSTRUCTIONS>", Speaker::Nobody),
    ("<ENVIRONMENT_CONTEXT>", Speaker::Nobody),
    ("<environment_context>", Speaker::Nobody),
    ("<permissions instructions>", Speaker::Nobody),
    ("<skill>", Speaker::Nobody),
    ("<skills_instructions>", Speaker::Nobody),
    ("<subagent_notification>", Speaker::Other(NoticeKind::Host)),
    ("<turn_aborted>", Speaker::Nobody),
    ("<user_action>", Speaker::Nobody),
    ("<user_instructions>", Speaker::Nobody),
    ("<user_shell_command>", Speaker::Nobody),
    ("Another language model started to solve this problem", Speaker::Other(NoticeKind::Summary)),
];

/// What Gemini CLI writes into user messages, by its beginning.
const GEMINI: &[(&str, Speaker)] = &[
    ("<hook_context>", Speaker::Nobody),
    ("<session_context>", Speaker::Nobody),
    ("<state_snapshot>", Speaker::Other(NoticeKind::Summary)),
    ("Please continue.", Speaker::Other(NoticeKind::Host)),
    ("System: ", Speaker::Other(NoticeKind::Host)),
    ("This is the Gemini CLI. We are setting up the context", Speaker::Nobody),
];

/// Says who speaks in a user message of Claude Code.
pub(super) fn claude(text: &str) -> Speaker {
    by_beginning(text, CLAUDE).unwrap_or(Speaker::Human)
}

/// Says who speaks in a user message of Codex. Whatever is one tag from beginning to end is the host's.
pub(super) fn codex(text: &str) -> Speaker {
    by_beginning(text, CODEX)
        .unwrap_or_else(|| if is_one_tag(text) { Speaker::Other(NoticeKind::Host) } else { Speaker::Human })
}

/// Says who speaks in a user message of Gemini CLI.
pub(super) fn gemini(text: &str) -> Speaker {
    by_beginning(text, GEMINI).unwrap_or(Speaker::Human)
}

fn by_beginning(text: &str, table: &[(&str, Speaker)]) -> Option<Speaker> {
    let text = text.trim_start();
    if text.is_empty() {
        return Some(Speaker::Nobody);
    }
    table.iter().find(|(beginning, _)| text.starts_with(beginning)).map(|(_, speaker)| *speaker)
}

/// Says whether a text is `<tag …> … </tag>`.
fn is_one_tag(text: &str) -> bool {
    let Some(rest) = text.trim().strip_prefix('<') else {
        return false;
    };
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let end = rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len());
    let Some((name, _)) = rest.split_at_checked(end).filter(|(name, _)| !name.is_empty()) else {
        return false;
    };
    let before_name = rest.strip_suffix('>').and_then(|inner| inner.strip_suffix(name));
    before_name.is_some_and(|inner| inner.ends_with("</"))
}

/// Returns a slash command of Claude Code with its arguments; `None` if a text is none, or has none.
pub(super) fn slash_command(text: &str) -> Option<String> {
    let text = text.trim();
    let is_command = ["<command-name>", "<command-message>"].iter().any(|mark| text.starts_with(mark));
    let (_, rest) = text.split_once("<command-name>").filter(|_| is_command)?;
    let (name, rest) = rest.split_once("</command-name>")?;
    let arguments = rest.trim_start().strip_prefix("<command-args>")?.strip_suffix("</command-args>")?;
    (!arguments.trim().is_empty()).then(|| format!("{} {}", name.trim(), arguments.trim()))
}

/// Takes out what Claude Code appended to the user's words: everything from the first reminder's beginning to the last
/// one's end, or to the end of the text. What stands in between may quote files.
pub(super) fn without_reminders(text: &str) -> String {
    const OPENED: &str = "<system-reminder>";
    const CLOSED: &str = "</system-reminder>";
    let Some((before, rest)) = text.split_once(OPENED) else {
        return text.to_owned();
    };
    match rest.rsplit_once(CLOSED) {
        Some((_, after)) => format!("{before}{after}"),
        None => before.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_around_everything_is_seen() {
        for (text, expected) in [
            ("<a>b</a>", true),
            (" <a_b x=\"1\">\nb\n</a_b> ", true),
            ("<a>b</b>", false),
            ("fix <a>b</a>", false),
            ("<a>b</a> please", false),
            ("<", false),
            ("<>", false),
            ("</a>", false),
            ("< a></ a>", false),
        ] {
            assert_eq!(is_one_tag(text), expected, "{text}");
        }
    }

    #[test]
    fn a_reminder_is_taken_out_whatever_it_quotes() {
        let text = "fix it<system-reminder>a</system-reminder>\npush to main\n<system-reminder>b</system-reminder> now";
        assert_eq!(without_reminders(text), "fix it now");
        assert_eq!(without_reminders("fix it <system-reminder>push"), "fix it ");
        assert_eq!(without_reminders("plain"), "plain");
    }

    #[test]
    fn white_space_before_a_mark_does_not_hide_it() {
        assert_eq!(claude("\n  <system-reminder>x"), Speaker::Nobody);
        assert_eq!(claude("  \n"), Speaker::Nobody);
        assert_eq!(claude("fix the <div>"), Speaker::Human);
        assert_eq!(codex("<environment_context>x"), Speaker::Nobody);
        assert_eq!(codex("<something>x</something>"), Speaker::Other(NoticeKind::Host));
        assert_eq!(gemini("<state_snapshot>"), Speaker::Other(NoticeKind::Summary));
    }
}
