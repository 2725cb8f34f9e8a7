//! Turns as sentences and clauses: what is the user's own, where the command is repeated, what is quoted.

use super::words::{REFUSALS, REFUSING_SIGNS};

/// Returns the lines of a turn that stand in no block.
pub(super) fn own_lines(turn: &str) -> String {
    let mut is_block = false;
    let mut own = String::with_capacity(turn.len());
    for line in turn.lines() {
        let is_fence = is_fence(line);
        is_block ^= is_fence;
        if !is_block && !is_fence {
            own.push_str(line);
            own.push('\n');
        }
    }
    own
}

fn is_fence(line: &str) -> bool {
    ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence))
}

/// Returns the sentences of a turn, each with a mark where it repeats the command. Quotations are left out, and so are
/// blocks that nothing announces.
pub(super) fn sentences_of(turn: &str, command: &str) -> Vec<String> {
    sentences(&marked(turn, command))
}

/// Stands for the command where a turn repeats it, so that its own words and full stops are not taken for the user's.
pub(super) const REPEATED: char = '\u{1}';

/// Stands for what is quoted inside a sentence.
const QUOTED: char = '\u{2}';

/// Puts a mark in the place of every repetition of a command.
fn marked(turn: &str, command: &str) -> String {
    let turn = turn.replace([REPEATED, QUOTED], " ").replace('\u{2019}', "'");
    let mut marked = String::with_capacity(turn.len());
    let (mut is_block, mut is_announced) = (false, false);
    for line in turn.lines() {
        if is_fence(line) {
            is_block = !is_block;
            is_announced = marked.ends_with(':');
            continue;
        }
        let line = squeezed(line);
        if is_quoted(&line) || is_block && !is_announced {
            continue;
        }
        // What is announced belongs to what announces it: `never do this:`.
        marked.push(if marked.ends_with([':', ',']) { ' ' } else { '\n' });
        marked.push_str(&marked_line(&line, command));
    }
    marked
}

/// Says whether a line is somebody else's words or none at all: a quotation or a terminal.
fn is_quoted(line: &str) -> bool {
    line.is_empty() || [">", "$ ", "% ", "+ "].iter().any(|start| line.starts_with(start))
}

fn marked_line(line: &str, command: &str) -> String {
    const QUOTES: &[char] = &['`', '"', '\''];
    let mut result = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once(command).filter(|_| command.len() > 3) {
        let starts = before.is_empty() || before.ends_with([' ', ':', '(']) || before.ends_with(QUOTES);
        let end = after.trim_start_matches(QUOTES).trim_start_matches(['.', ',', ':', ';', '!', '?', ')']);
        // Another path or a further option would make it another command.
        let ends = end.is_empty() || end.starts_with(' ') && !after.starts_with(" -");
        result.push_str(before);
        if starts && ends {
            result.push(REPEATED);
        } else {
            result.push_str(command);
        }
        rest = after;
    }
    result.push_str(rest);
    result
}

/// Splits a turn into sentences. A line end is an end; a full stop only before white space.
fn sentences(turn: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut sentence = String::new();
    let mut letters = turn.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_before_blank = letters.peek().is_none_or(|next| next.is_whitespace());
        match letter {
            '\n' | ';' => all.push(std::mem::take(&mut sentence)),
            '.' | '!' if is_before_blank => all.push(std::mem::take(&mut sentence)),
            '?' if is_before_blank => {
                sentence.push('?');
                all.push(std::mem::take(&mut sentence));
            }
            other => sentence.push(other),
        }
    }
    all.push(sentence);
    all
}

/// Puts a mark in the place of what stands between quotation marks, unless it is the command.
pub(super) fn without_quotes(sentence: &str) -> String {
    let mut plain = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some(start) = rest.find(['`', '"', '\u{201c}']) {
        let (before, quoted) = rest.split_at(start);
        plain.push_str(before);
        let mark = quoted.chars().next().unwrap_or('"');
        let (inside, after) = quoted
            .get(mark.len_utf8()..)
            .and_then(|text| text.split_once(if mark == '\u{201c}' { '\u{201d}' } else { mark }))
            .unwrap_or((quoted, ""));
        plain.push(if inside.contains(REPEATED) { REPEATED } else { QUOTED });
        rest = after;
    }
    plain.push_str(rest);
    plain
}

/// Splits a sentence where another order may begin.
pub(super) fn clauses(sentence: &str) -> impl Iterator<Item = &str> {
    sentence
        .split(", ")
        .flat_map(|part| part.split(" and "))
        .flat_map(|part| part.split(" then "))
        .map(str::trim)
}

/// Says whether a sentence tells to do something; a word for the very action, such as `disable`, refuses nothing.
pub(super) fn is_instruction(sentence: &str, verbs: &[&str]) -> bool {
    let is_action = |word: &str| verbs.iter().any(|verb| has_words(verb, word));
    !sentence.ends_with('?')
        && !REFUSALS.iter().any(|word| has_words(sentence, word) && !is_action(word))
        && !REFUSING_SIGNS.iter().any(|sign| sentence.contains(sign))
}

/// Says whether words stand in a sentence, not as part of longer ones.
pub(super) fn has_words(sentence: &str, words: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '/' | '\'');
    sentence.match_indices(words).any(|(at, _)| {
        let before = sentence.get(..at).and_then(|text| text.chars().next_back());
        let after = sentence.get(at + words.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

pub(super) fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
