//! What is kept of a prompt for the rest of a session.

use super::crossing::lifts;
use super::reading::{SentenceMeaning, read};
use crate::consent;

/// How many sentences are kept, the newest.
const MOST_SENTENCES: usize = 50;
/// A longer sentence is cut, in bytes.
const LONGEST_SENTENCE: usize = 400;
/// No more of a prompt is read, in bytes.
const LONGEST_PROMPT: usize = 256 * 1024;
/// How many sentences of one prompt are kept, so that a document in it does not push out what was said before.
const MOST_OF_PROMPT: usize = 10;
/// In a longer prompt nothing is permitted, in bytes: most of it is likely somebody else's.
const LONGEST_PERMISSION: usize = 1_000;

/// Adds to the sentences that a session is held to what a prompt forbids, and what it permits again. Says whether that
/// changed them.
///
/// The prompt must be the user's own words. What is quoted in it, in a block or behind `>`, is somebody else's.
pub fn state_boundaries(known: &mut Vec<String>, prompt: &str) -> bool {
    let prompt = prompt.get(..prompt.floor_char_boundary(LONGEST_PROMPT)).unwrap_or_default();
    let before = known.clone();
    let plain = consent::own_sentences(&plain_lines(prompt));
    let mut kept = 0;
    for sentence in consent::own_sentences(prompt) {
        let sentence = cut(sentence.trim());
        let is_kept = match read(sentence) {
            SentenceMeaning::Forbids(_) | SentenceMeaning::Warns => true,
            SentenceMeaning::Permits(_) if prompt.len() > LONGEST_PERMISSION => false,
            SentenceMeaning::Permits(_) if !plain.iter().any(|own| cut(own.trim()) == sentence) => false,
            SentenceMeaning::Permits(permitted) => known.iter().any(|earlier| match read(earlier) {
                SentenceMeaning::Forbids(forbidden) => lifts(&permitted, &forbidden),
                SentenceMeaning::Warns | SentenceMeaning::Permits(_) | SentenceMeaning::Nothing => false,
            }),
            SentenceMeaning::Nothing => false,
        };
        if is_kept && kept < MOST_OF_PROMPT {
            kept += 1;
            // Said again, it counts from now on.
            known.retain(|earlier| earlier != sentence);
            known.push(sentence.to_owned());
        }
    }
    known.drain(..known.len().saturating_sub(MOST_SENTENCES));
    *known != before
}

/// Leaves out what may be somebody else's though no fence says so: lines that are set in like code, and what a host or a
/// paste puts in tags. What is forbidden there holds; nothing there permits.
fn plain_lines(prompt: &str) -> String {
    let mut plain = String::new();
    let mut tag: Option<&str> = None;
    for line in prompt.lines() {
        let opened = tag.or_else(|| opened_tag(line));
        if let Some(name) = opened {
            tag = Some(name).filter(|name| !line.contains(&format!("</{name}>")));
        } else if !line.starts_with("    ") && !line.starts_with('\t') {
            plain.push_str(line);
            plain.push('\n');
        }
    }
    plain
}

/// Returns the name of the tag that a line begins with.
fn opened_tag(line: &str) -> Option<&str> {
    let name =
        line.trim_start().strip_prefix('<')?.split(|letter: char| letter == '>' || letter.is_whitespace());
    let name = name.into_iter().next()?;
    let is_name = name.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | ':'));
    is_name.then_some(name)
}

fn cut(sentence: &str) -> &str {
    sentence.get(..sentence.floor_char_boundary(LONGEST_SENTENCE)).unwrap_or_default()
}
