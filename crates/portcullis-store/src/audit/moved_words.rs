//! Where words of a command stand after its secrets were blacked out.

use serde::Deserialize;

use super::entry::SpanEntry;
use crate::redaction::redact_moving;

/// Finds words of a command again in what is kept of it.
#[derive(Debug)]
pub(super) enum MovedWords {
    /// The command is kept as it was.
    Unmoved,
    /// Parts of it were blacked out: this is how it was.
    Redacted(String),
    /// It is not kept as a whole, so that nothing in it can be pointed at.
    Lost,
}

/// The input of a tool that runs a command.
#[derive(Deserialize)]
struct CommandInput {
    command: String,
}

impl MovedWords {
    /// Compares the input of a call, as JSON text, with what is kept of it.
    pub(super) fn new(input: &str, kept: &str) -> Self {
        if input == kept {
            return Self::Unmoved;
        }
        let command = |text: &str| serde_json::from_str::<CommandInput>(text).ok().map(|input| input.command);
        match (command(input), command(kept)) {
            // The same must come of the command alone: else nobody knows what was put where.
            (Some(command), Some(kept)) if redact_moving(&command, &mut []) == kept => {
                Self::Redacted(command)
            }
            _ => Self::Lost,
        }
    }

    /// Returns where words stand now.
    pub(super) fn moved(&self, span: SpanEntry) -> Option<SpanEntry> {
        match self {
            Self::Unmoved => Some(span),
            Self::Redacted(command) => {
                let mut places = [usize::try_from(span.0).ok()?, usize::try_from(span.1).ok()?];
                redact_moving(command, &mut places);
                let [start, end] = places;
                SpanEntry::new(start, end)
            }
            Self::Lost => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

    /// Returns the words that stand in what is kept where `words` stood in the command.
    fn moved(command: &str, words: &str) -> Option<String> {
        let start = command.find(words).unwrap();
        let kept = redact_moving(command, &mut []).into_owned();
        let input = |command: &str| serde_json::json!({ "command": command }).to_string();
        let span = SpanEntry::new(start, start + words.len()).unwrap();
        let SpanEntry(start, end) = MovedWords::new(&input(command), &input(&kept)).moved(span)?;
        kept.get(start as usize..end as usize).map(str::to_owned)
    }

    #[test]
    fn words_are_found_again_beside_what_was_blacked_out() {
        let command = format!("TOKEN={SECRET} deploy --to \"prod\" {SECRET} && rm -rf build");
        assert_eq!(moved(&command, "deploy").as_deref(), Some("deploy"));
        assert_eq!(moved(&command, "rm -rf build").as_deref(), Some("rm -rf build"));
        let around = format!("{SECRET} && rm");
        let hidden = moved(&command, &around).unwrap();
        assert!(hidden.starts_with("[redacted:") && hidden.ends_with("] && rm"), "{hidden}");
        assert!(moved(&command, "klmnop").unwrap().starts_with("[redacted:"));
    }

    #[test]
    fn words_of_a_call_that_was_cut_are_nowhere() {
        let cut = MovedWords::new(r#"{"command":"make all"}"#, r#"{"command":"mak…"#);
        assert_eq!(cut.moved(SpanEntry(0, 4)), None);
    }
}
