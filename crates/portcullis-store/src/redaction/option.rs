//! Passwords after the short options of known programs: `mysql -pSECRET`, `curl -u user:SECRET`.

use super::forms::{OPTIONS, PROGRAMS, SecretOption};
use super::text::{RedactedText, is_stop};
use super::{SecretSpan, piped, value};

/// How long a secret in quotes may be.
const LONGEST: usize = 512;

/// Finds secrets after short options.
pub(super) fn find(text: RedactedText<'_>, spans: &mut Vec<SecretSpan>) {
    let (mut program, mut is_login): (&[u8], bool) = (b"", false);
    let mut place = 0;
    while place < text.len() {
        let blank = text.blank(place);
        let is_break = text.line_break(place) > 0 || matches!(text.at(place), b';' | b'|' | b'&' | b'(');
        if is_break {
            (program, is_login) = (b"", false);
        }
        if blank > 0 || is_break || is_edge(text, place) {
            place += blank.max(1);
            continue;
        }
        let end = end_of_word(text, place);
        let word = text.part(place, end);
        let found = read_option(text, place, end, program, is_login);
        let own = word.rsplit(|byte| *byte == b'/').next().unwrap_or(word);
        if PROGRAMS.binary_search_by(|name| name.as_bytes().cmp(own)).is_ok() {
            (program, is_login) = (own, false);
            piped::find(text, place, end, own, spans);
        }
        is_login = is_login || word == b"login";
        place = found.map_or(end, |span| span.end).max(place + 1);
        spans.extend(found);
    }
}

fn read_option(
    text: RedactedText<'_>,
    place: usize,
    end: usize,
    program: &[u8],
    is_login: bool,
) -> Option<SecretSpan> {
    if program.is_empty() {
        return None;
    }
    let word = text.part(place, end);
    let of_program = OPTIONS.iter().filter(|(names, ..)| names.iter().any(|name| name.as_bytes() == program));
    of_program.into_iter().find_map(|(_, option, takes)| {
        if !word.starts_with(option.as_bytes()) && !is_cluster(word, option) {
            return None;
        }
        let glued = if is_cluster(word, option) { end } else { place + option.len() };
        let is_glued = glued < end || matches!(text.at(glued), b'"' | b'\'');
        let start = match takes {
            SecretOption::Glued | SecretOption::Prefix if !is_glued => return None,
            SecretOption::NextAlone if is_glued => return None,
            SecretOption::NextOfLogin if !is_login => return None,
            _ if is_glued => glued + usize::from(option.starts_with("--") && text.at(glued) == b'='),
            _ => text.after_spaces(glued),
        };
        read_secret(text, start, *takes)
    })
}

/// Says whether a word is several options of one letter, the last of which is this one.
fn is_cluster(word: &[u8], option: &str) -> bool {
    let letters = word.strip_prefix(b"-").unwrap_or_default();
    option.len() == 2
        && (2..6).contains(&letters.len())
        && letters.iter().all(u8::is_ascii_alphabetic)
        && letters.last() == option.as_bytes().last()
        && letters.first() != option.as_bytes().last()
}

fn read_secret(text: RedactedText<'_>, start: usize, takes: SecretOption) -> Option<SecretSpan> {
    let quote = text.at(start);
    let is_quoted = matches!(quote, b'"' | b'\'');
    let start = start + usize::from(is_quoted);
    let close = text.run(start, LONGEST, |byte| byte != quote && byte != b'\n');
    let end = if is_quoted && text.at(close) == quote { close } else { end_of_word(text, start) };
    let start = match takes {
        SecretOption::After(mark) => {
            let place = text.run(start, end.saturating_sub(start), |byte| byte != mark);
            if place >= end || text.has(place, b"://") {
                return None;
            }
            place + 1
        }
        SecretOption::Cookie if !text.part(start, end).contains(&b'=') => return None,
        _ => start,
    };
    let bytes = text.part(start, end);
    let is_option = bytes.starts_with(b"-") && !matches!(takes, SecretOption::After(_)) && !is_quoted;
    let is_secret = !bytes.is_empty() && !is_option && !value::is_mark(bytes) && !value::is_reference(bytes);
    let kind = if takes == SecretOption::Cookie { "cookie" } else { "password" };
    is_secret.then_some(SecretSpan { start, end, kind })
}

pub(super) fn end_of_word(text: RedactedText<'_>, start: usize) -> usize {
    let mut end = start;
    while end < text.len() && !is_edge(text, end) && text.blank(end) == 0 {
        end += 1;
    }
    end
}

/// Says whether a word ends at a place because of a quote, an escaped one too, or a separator.
fn is_edge(text: RedactedText<'_>, place: usize) -> bool {
    is_stop(text.at(place)) || (text.at(place) == b'\\' && matches!(text.at(place + 1), b'"' | b'\'' | b'\\'))
}
