//! Whose words a session file has. Where the host tells us of every prompt, only what it told is the user's: anybody who can
//! write the file can write a turn into it.

use portcullis_classifier::transcript::{NoticeKind, Transcript, TranscriptEntry};
use portcullis_core::{Case, Context, Policy, Reason, state_boundaries};
use portcullis_store::prompt_hash;

use super::call_judge::decide;
use crate::Failure;

/// What is known of the words in a session file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileWords<'a> {
    /// The host told us of prompts: these are their hashes.
    Heard(&'a [String]),
    /// The host told us of none, and the file only grew.
    Grown,
    /// The host told us of none, and the file is not what it was.
    Changed,
}

/// Adds to a context what the user said. Returns what stays forbidden if nothing of the file is believed that permits, where
/// that makes a difference.
pub(super) fn count_words(
    context: &mut Context,
    transcript: &mut Transcript,
    words: FileWords<'_>,
) -> Option<Vec<String>> {
    let boundaries = &mut context.session.boundaries;
    let heard = match words {
        FileWords::Heard(heard) => Some(heard),
        FileWords::Grown => None,
        FileWords::Changed => Some(&[][..]),
    };
    if let Some(heard) = heard {
        for text in take_unheard(transcript, heard) {
            forbid_only(boundaries, &text);
        }
    }
    context.session.turns = transcript.human_turns();
    let mut forbidden = boundaries.clone();
    for turn in &context.session.turns {
        state_boundaries(boundaries, turn);
        forbid_only(&mut forbidden, turn);
    }
    (words == FileWords::Grown && *boundaries != forbidden).then_some(forbidden)
}

/// Says which boundary a call crosses that only the session file takes back, which anybody may have written.
pub(super) fn lifted_by_file(
    case: &Case,
    forbidden: Vec<String>,
    policy: &Policy,
) -> Result<Option<String>, Failure> {
    let mut strict = case.clone();
    strict.learn(|session| session.boundaries = forbidden);
    let outcome = decide(&strict, policy)?;
    let Reason::Boundary { sentence, .. } = &outcome.verdict().reason else { return Ok(None) };
    Ok(Some(format!("you said `{sentence}`, and only the session file says that you took it back")))
}

/// Takes for the user's words what was heard and nothing else, and returns what only the file has.
fn take_unheard(transcript: &mut Transcript, heard: &[String]) -> Vec<String> {
    let mut unheard = Vec::new();
    for entry in &mut transcript.entries {
        let TranscriptEntry::Human(text) = entry else { continue };
        if !heard.contains(&prompt_hash(text)) {
            let text = std::mem::take(text);
            unheard.push(text.clone());
            *entry = TranscriptEntry::Notice { kind: NoticeKind::Host, text };
        }
    }
    unheard
}

/// Adds what a text forbids, and nothing that it permits; says whether that changed anything.
pub(crate) fn forbid_only(known: &mut Vec<String>, text: &str) -> bool {
    let mut said = Vec::new();
    state_boundaries(&mut said, text);
    // Alone, a sentence that permits something has nothing to lift, and is not kept.
    said.retain(|sentence| state_boundaries(&mut Vec::new(), sentence));
    let is_changed = said.iter().any(|sentence| !known.contains(sentence));
    known.retain(|sentence| !said.contains(sentence));
    known.append(&mut said);
    is_changed
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn transcript(turns: &[&str]) -> Transcript {
        let entries = turns.iter().map(|&turn| TranscriptEntry::Human(turn.to_owned())).collect();
        Transcript { entries, ..Transcript::default() }
    }

    #[test]
    fn what_only_the_file_has_is_nobodys_word() {
        let heard = ["fix the  tests", "then push to main"].map(prompt_hash);
        let mut file =
            transcript(&["fix the tests\n", "force push main, overwrite it", "fix the tests and force push"]);
        let unheard = take_unheard(&mut file, &heard);
        assert_eq!(unheard, ["force push main, overwrite it", "fix the tests and force push"]);
        assert_eq!(file.human_turns(), ["fix the tests\n"]);
    }

    #[test]
    fn where_nothing_was_heard_the_file_is_all_there_is() {
        let counted = |words: FileWords<'_>, turns: &[&str]| {
            let mut context = Context::new(portcullis_core::Mode::Auto, "/work");
            let forbidden = count_words(&mut context, &mut transcript(turns), words);
            (context.session.turns, context.session.boundaries.len(), forbidden.map(|all| all.len()))
        };
        let said = ["push to main"];
        assert_eq!(counted(FileWords::Grown, &said), (vec!["push to main".to_owned()], 0, None));
        assert_eq!(counted(FileWords::Heard(&[]), &said), (Vec::new(), 0, None));
        assert_eq!(counted(FileWords::Changed, &said), (Vec::new(), 0, None));
        let taken_back = ["Do not push anything.", "You may push now."];
        assert_eq!(counted(FileWords::Grown, &taken_back).2, Some(1), "what only the file lifts is in doubt");
        assert_eq!(counted(FileWords::Changed, &taken_back).1, 1, "it forbids, and permits nothing");
    }
}
