//! Encodings that hide a text, where they can be undone by reading: base64, hex, letters that are swapped.

use crate::argument::Argument;
use crate::encoded_text;
use crate::standard_input::StandardInput;

/// A set of letters that is written longer than this is not read.
const LONGEST_SET: usize = 64;

/// A set of more letters than this is not read.
const MOST_LETTERS: usize = 256;

/// Undoes what a program makes of its input; `None` if it is no such program.
pub(super) fn decoded(name: &str, operands: &[Argument], stdin: &StandardInput) -> Option<StandardInput> {
    let words: Option<Vec<&str>> = operands.iter().map(Argument::fixed).collect();
    let how = words.and_then(|words| decoding(name, &words))?;
    let (StandardInput::Text(text) | StandardInput::Decoded(text)) = stdin else {
        return Some(StandardInput::Unknown);
    };
    let decoded = match how {
        TextEncoding::Base64 => encoded_text::base64(text).filter(|decoded| is_text(decoded)),
        TextEncoding::Hex => encoded_text::hex(text).filter(|decoded| is_text(decoded)),
        // What a letter is depends on the locale.
        TextEncoding::Reversed => text.is_ascii().then(|| reversed(text)),
        TextEncoding::Swapped(pairs) => Some(swapped(text, &pairs)),
    };
    Some(decoded.map_or(StandardInput::Unknown, StandardInput::Decoded))
}

enum TextEncoding {
    Base64,
    Hex,
    Reversed,
    /// Each letter becomes another one, or none.
    Swapped(Vec<(char, Option<char>)>),
}

fn decoding(name: &str, words: &[&str]) -> Option<TextEncoding> {
    let all = |known: &[&str]| words.iter().all(|word| known.contains(word));
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    match name {
        "base64" | "gbase64" => {
            let decode = ["-d", "-D", "--decode", "-di", "-id"];
            (has(&decode) && (all(&["-d", "-D", "--decode", "-di", "-id", "-i", "--ignore-garbage", "-"])))
                .then_some(TextEncoding::Base64)
        }
        "openssl" => {
            let is_base64 = words.first() == Some(&"base64") || has(&["-base64", "-a"]);
            (is_base64 && has(&["-d"]) && all(&["base64", "enc", "-base64", "-a", "-d", "-A"]))
                .then_some(TextEncoding::Base64)
        }
        "xxd" => {
            let is_reverse = has(&["-r", "-rp", "-pr", "-r -p"]);
            let is_plain = has(&["-p", "-ps", "-plain", "-rp", "-pr"]);
            (is_reverse && is_plain && all(&["-r", "-p", "-ps", "-plain", "-rp", "-pr", "-"]))
                .then_some(TextEncoding::Hex)
        }
        "rev" => words.is_empty().then_some(TextEncoding::Reversed),
        "tr" => pairs(words).map(TextEncoding::Swapped),
        _ => None,
    }
}

fn is_text(decoded: &str) -> bool {
    !decoded.contains('\0')
}

fn reversed(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| line.chars().rev().collect()).collect();
    lines.join("\n")
}

/// Reads the sets of a `tr`.
fn pairs(words: &[&str]) -> Option<Vec<(char, Option<char>)>> {
    match words {
        ["-d", set] => Some(set_of(set)?.into_iter().map(|letter| (letter, None)).collect()),
        [from, to] if !from.starts_with('-') => {
            let (from, to) = (set_of(from)?, set_of(to)?);
            (from.len() == to.len()).then(|| from.into_iter().zip(to.into_iter().map(Some)).collect())
        }
        _ => None,
    }
}

/// Returns the letters of a set, ranges written out; `None` for anything but plain letters.
fn set_of(set: &str) -> Option<Vec<char>> {
    if set == "\\n" {
        return Some(vec!['\n']);
    }
    if set.len() > LONGEST_SET || !set.is_ascii() || set.contains(['\\', '\n']) || has_class(set) {
        return None;
    }
    let mut letters = Vec::new();
    let mut rest = set.chars().peekable();
    while let Some(first) = rest.next() {
        let mut ahead = rest.clone();
        match (ahead.next(), ahead.next()) {
            (Some('-'), Some(last)) if first <= last => {
                letters.extend(first..=last);
                rest = ahead;
            }
            (Some('-'), Some(_)) => return None,
            _ => letters.push(first),
        }
    }
    (letters.len() <= MOST_LETTERS).then_some(letters)
}

/// Says whether a set holds `[:class:]`, `[=x=]` or `[x*3]`.
fn has_class(set: &str) -> bool {
    set.contains("[:") || set.contains("[=") || (set.contains('[') && set.contains('*'))
}

fn swapped(text: &str, pairs: &[(char, Option<char>)]) -> String {
    // The last pair of a letter counts, as in `tr`.
    let swap = |letter: char| {
        let found = pairs.iter().rev().find(|(from, _)| *from == letter);
        found.map_or(Some(letter), |(_, to)| *to)
    };
    text.chars().filter_map(swap).collect()
}

/// Undoes the escapes of `printf` and `echo -e`; also says whether any of them spelled a letter by its number.
pub(super) fn unescaped(text: &str, is_echo: bool) -> Option<(String, bool)> {
    let mut bytes: Vec<u8> = Vec::with_capacity(text.len());
    let mut is_encoded = false;
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(rest.get(..at)?.as_bytes());
        let after = rest.get(at + 1..)?;
        let letter = after.chars().next()?;
        let tail = after.get(letter.len_utf8()..)?;
        rest = tail;
        match letter {
            'n' => bytes.push(b'\n'),
            't' => bytes.push(b'\t'),
            'r' => bytes.push(b'\r'),
            'a' => bytes.push(7),
            'b' => bytes.push(8),
            'f' => bytes.push(12),
            'v' => bytes.push(11),
            'e' | 'E' => bytes.push(27),
            '\\' => bytes.push(b'\\'),
            '"' if !is_echo => bytes.push(b'"'),
            'x' => rest = number(tail, 16, 2, &mut bytes)?,
            '0' if is_echo => rest = number(tail, 8, 3, &mut bytes)?,
            '0'..='7' if !is_echo => rest = number(after, 8, 3, &mut bytes)?,
            _ => return None,
        }
        is_encoded |= letter == 'x' || letter.is_ascii_digit();
    }
    bytes.extend_from_slice(rest.as_bytes());
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))?;
    Some((text, is_encoded))
}

/// Reads the number of a letter; returns what follows it.
fn number<'t>(text: &'t str, base: u32, most: usize, bytes: &mut Vec<u8>) -> Option<&'t str> {
    let digits = text.chars().take(most).take_while(|letter| letter.is_digit(base)).count();
    let value = u32::from_str_radix(text.get(..digits)?, base).ok()?;
    bytes.push(u8::try_from(value).ok()?);
    text.get(digits..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_undone() {
        assert_eq!(reversed("x fr- mr\nsl"), "rm -rf x\nls");
        let rot13 = pairs(&["A-Za-z", "N-ZA-Mn-za-m"]).expect("plain sets");
        assert_eq!(swapped("ez -es /", &rot13), "rm -rf /");
        assert!(pairs(&["a-z", "x"]).is_none());
        assert!(pairs(&["[:lower:]", "[:upper:]"]).is_none());
        assert!(pairs(&["[a-z]", "[n-za-m]"]).is_some());
        assert_eq!(unescaped("\\x72\\155 a\\n", false), Some(("rm a\n".to_owned(), true)));
        assert_eq!(unescaped("\\0162\\x6d", true), Some(("rm".to_owned(), true)));
        assert_eq!(unescaped("a\\c", true), None);
        assert_eq!(unescaped("a\\", true), None);
    }
}
