//! Secrets that a command is given on standard input: `echo SECRET | sudo -S`, `chpasswd <<< user:SECRET`.

use super::forms::PIPED;
use super::option::end_of_word;
use super::text::{RedactedText, is_stop};
use super::{SecretSpan, value};

/// How far before a pipe its command may begin, and how long a command is read on.
const FARTHEST: usize = 512;

/// How far behind a pipe its program may stand.
const NEAREST: usize = 64;

/// How many lines of a here-document are read.
const MOST_LINES: usize = 64;

/// Answers to questions, which are given to programs as secrets are.
const ANSWERS: [&[u8]; 6] = [b"y", b"Y", b"yes", b"n", b"no", b"N"];

/// Finds what a program whose name stands at a place is given, if it reads a secret.
pub(super) fn find(
    text: RedactedText<'_>,
    place: usize,
    end: usize,
    program: &[u8],
    spans: &mut Vec<SecretSpan>,
) {
    let reads = PIPED.iter().find(|piped| piped.programs.iter().any(|name| name.as_bytes() == program));
    let Some(piped) = reads else { return };
    let command_end = text.run(end, FARTHEST, |byte| !matches!(byte, b'\n' | b'|' | b';'));
    if !has_word(text.part(end, command_end), piped.words) {
        return;
    }
    let before = given_before(text, place);
    let after = given_after(text, end, command_end, piped.mark.is_some());
    for (start, end) in before.into_iter().chain(after) {
        spans.extend(secret(text, start, end, piped.mark));
    }
}

/// Says whether one of the words stands in a command; an option of one letter may stand among others.
fn has_word(command: &[u8], words: &str) -> bool {
    let is_there = |wanted: &str| {
        let wanted = wanted.as_bytes();
        command.split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'\\' | b'"' | b'\'')).any(|word| {
            let letters = word.strip_prefix(b"-").filter(|letters| !letters.starts_with(b"-"));
            let is_cluster = match (wanted, letters) {
                ([b'-', letter], Some(letters)) => letters.len() < 6 && letters.contains(letter),
                _ => false,
            };
            word == wanted || is_cluster
        })
    };
    words.is_empty() || words.split(' ').any(is_there)
}

/// Returns what `echo` or `printf` writes into the pipe before a program.
fn given_before(text: RedactedText<'_>, place: usize) -> Option<(usize, usize)> {
    let pipe = pipe_before(text, place)?;
    let near = (1..FARTHEST.min(pipe + 1)).map(|distance| pipe - distance);
    let writes = |start: &usize| {
        let begins =
            |name: &[u8]| text.has(*start, name) && matches!(text.at(*start + name.len()), b' ' | b'\t');
        (begins(b"echo") || begins(b"printf")) && text.is_start(*start)
    };
    // The line break in the format of `printf` is one of its own.
    let ends_line = |place: usize| match text.line_break(place) {
        0 => false,
        length => !matches!(text.at(place + length), b'"' | b'\''),
    };
    let start = near.take_while(|start| !ends_line(*start)).find(writes)?;
    let mut argument = text.after_spaces(end_of_word(text, start));
    // Options of `echo`, and the format of `printf`.
    for _ in 0..4 {
        let quote = text.at(argument);
        let is_quoted = matches!(quote, b'"' | b'\'');
        let open = argument + usize::from(is_quoted);
        if !matches!(text.at(open), b'-' | b'%') {
            break;
        }
        let end = if is_quoted {
            text.run(open, FARTHEST, |byte| byte != quote && byte != b'\n') + 1
        } else {
            end_of_word(text, open)
        };
        argument = text.after_spaces(end.max(argument + 1));
    }
    (argument < pipe).then_some((argument, pipe))
}

/// Returns the pipe into a command whose program stands at a place; other programs, such as `sudo`, may start it.
fn pipe_before(text: RedactedText<'_>, place: usize) -> Option<usize> {
    let is_word = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'\t' | b'-' | b'_' | b'=' | b'/' | b'.')
    };
    let near = (1..=NEAREST.min(place)).map(|distance| place - distance);
    let pipe = near.into_iter().find(|place| !is_word(text.at(*place)))?;
    (text.at(pipe) == b'|' && text.before(pipe, 1) != b'|').then_some(pipe)
}

/// Returns what a here-string or a here-document gives to a command. Only where every line is a secret is more than the
/// first one taken: the rest is for whatever runs.
fn given_after(text: RedactedText<'_>, end: usize, command_end: usize, is_list: bool) -> Vec<(usize, usize)> {
    let redirect = (end..command_end).find(|place| text.has(*place, b"<<"));
    let Some(redirect) = redirect else { return Vec::new() };
    if text.has(redirect, b"<<<") {
        let start = text.after_spaces(redirect + 3);
        let quote = text.at(start);
        let stop = if matches!(quote, b'"' | b'\'') {
            text.run(start + 1, FARTHEST, |byte| byte != quote && byte != b'\n') + 1
        } else {
            end_of_word(text, start)
        };
        return vec![(start, stop)];
    }
    let word = text.run(redirect + 2, 4, |byte| matches!(byte, b'-' | b'"' | b'\'' | b' ' | b'\\'));
    let word_end = text.run(word, 64, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let mut place = text.run(word_end, FARTHEST, |byte| !matches!(byte, b'\n' | b'\\'));
    let mut lines = Vec::new();
    for _ in 0..if is_list { MOST_LINES } else { 1 } {
        let line_break = text.line_break(place);
        let start = place + line_break;
        if line_break == 0 || word_end == word {
            break;
        }
        let mut stop = start;
        while stop < start + FARTHEST && stop < text.len() && text.line_break(stop) == 0 {
            stop += 1;
        }
        if text.part(start, stop) == text.part(word, word_end) {
            break;
        }
        lines.push((start, stop));
        place = stop;
    }
    lines
}

/// Takes the quotes and what is no secret off what a program is given.
fn secret(text: RedactedText<'_>, start: usize, end: usize, mark: Option<u8>) -> Option<SecretSpan> {
    let is_edge = |byte: u8| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'\\');
    let (mut start, mut end) = (start, end);
    while end > start && is_edge(text.before(end, 1)) {
        end -= 1;
    }
    while start < end && is_edge(text.at(start)) {
        start += 1;
    }
    if let Some(mark) = mark {
        start = text.run(start, end - start, |byte| byte != mark) + 1;
    }
    let bytes = text.part(start, end);
    let is_command = bytes.iter().any(|byte| is_stop(*byte) && !matches!(byte, b'"' | b'\''));
    let is_secret = start < end
        && !is_command
        && !ANSWERS.contains(&bytes)
        && !value::is_mark(bytes)
        && !value::is_reference(bytes);
    is_secret.then_some(SecretSpan { start, end, kind: "password" })
}
