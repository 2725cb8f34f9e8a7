//! The escapes of `$'…'`.
//!
//! The result is cut at a NUL, as bash does. What does not make UTF-8 text is refused: the tree holds strings, and a
//! text that is nearly the one the program gets would be worse than none.

use std::iter::Peekable;
use std::str::Chars;

/// Decodes what stands between `$'` and `'`; `None` if the result cannot be told.
pub(crate) fn decode(raw: &str) -> Option<String> {
    let mut bytes: Vec<u8> = Vec::with_capacity(raw.len());
    let mut characters = raw.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\\' {
            escape(&mut characters, &mut bytes)?;
        } else {
            push(character, &mut bytes);
        }
    }
    if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
        bytes.truncate(end);
    }
    String::from_utf8(bytes).ok()
}

fn push(character: char, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

fn escape(characters: &mut Peekable<Chars<'_>>, bytes: &mut Vec<u8>) -> Option<()> {
    let Some(selector) = characters.next() else {
        bytes.push(b'\\');
        return Some(());
    };
    match selector {
        'a' => bytes.push(7),
        'b' => bytes.push(8),
        'e' | 'E' => bytes.push(27),
        'f' => bytes.push(12),
        'n' => bytes.push(b'\n'),
        'r' => bytes.push(b'\r'),
        't' => bytes.push(b'\t'),
        'v' => bytes.push(11),
        '\\' | '\'' | '"' | '?' => push(selector, bytes),
        '0'..='7' => bytes.push(octal(selector, characters)),
        'x' => hexadecimal(characters, bytes),
        'u' => unicode(characters, bytes, selector, 4)?,
        'U' => unicode(characters, bytes, selector, 8)?,
        'c' => control(characters, bytes)?,
        other => {
            bytes.push(b'\\');
            push(other, bytes);
        }
    }
    Some(())
}

fn octal(first: char, characters: &mut Peekable<Chars<'_>>) -> u8 {
    let mut value = first.to_digit(8).unwrap_or_default();
    for _ in 0..2 {
        let Some(digit) = characters.peek().and_then(|next| next.to_digit(8)) else { break };
        value = value * 8 + digit;
        characters.next();
    }
    low_byte(value)
}

/// `\xHH` or `\x{H…}`, of which the last two digits count.
fn hexadecimal(characters: &mut Peekable<Chars<'_>>, bytes: &mut Vec<u8>) {
    let braced = characters.next_if_eq(&'{').is_some();
    let most = if braced { usize::MAX } else { 2 };
    let mut value = 0_u32;
    let mut count = 0;
    while count < most {
        let Some(digit) = characters.peek().and_then(|next| next.to_digit(16)) else { break };
        value = (value * 16 + digit) & 0xff;
        count += 1;
        characters.next();
    }
    if braced {
        characters.next_if_eq(&'}');
    } else if count == 0 {
        bytes.extend_from_slice(b"\\x");
        return;
    }
    bytes.push(low_byte(value));
}

fn unicode(
    characters: &mut Peekable<Chars<'_>>,
    bytes: &mut Vec<u8>,
    selector: char,
    most: usize,
) -> Option<()> {
    let mut value = 0_u32;
    let mut count = 0;
    while count < most {
        let Some(digit) = characters.peek().and_then(|next| next.to_digit(16)) else { break };
        value = value.checked_mul(16)?.checked_add(digit)?;
        count += 1;
        characters.next();
    }
    if count == 0 {
        bytes.push(b'\\');
        push(selector, bytes);
    } else {
        push(char::from_u32(value)?, bytes);
    }
    Some(())
}

fn control(characters: &mut Peekable<Chars<'_>>, bytes: &mut Vec<u8>) -> Option<()> {
    let subject = characters.next().filter(char::is_ascii)?;
    if subject == '\\' {
        characters.next_if_eq(&'\\');
    }
    let code = low_byte(u32::from(subject.to_ascii_uppercase()));
    bytes.push(if subject == '?' { 0x7f } else { code & 0x1f });
    Some(())
}

fn low_byte(value: u32) -> u8 {
    u8::try_from(value & 0xff).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn each_escape_stands_for_what_bash_makes_of_it() {
        let table: &[(&str, Option<&str>)] = &[
            ("plain", Some("plain")),
            (r"a\nb\tc", Some("a\nb\tc")),
            (r"\x72\x6d", Some("rm")),
            (r"\x{72}m", Some("rm")),
            (r"\162\155", Some("rm")),
            (r"\u0072\U0000006d", Some("rm")),
            (r"\xzz", Some(r"\xzz")),
            (r"\uzz", Some(r"\uzz")),
            (r"it\'s", Some("it's")),
            (r"\z", Some(r"\z")),
            (r"cut\0off", Some("cut")),
            (r"cut\x00off", Some("cut")),
            (r"\ca\c?", Some("\u{1}\u{7f}")),
            (r"\xc3\xa9", Some("é")),
            (r"\xff", None),
            (r"\udc00", None),
            (r"\U00110000", None),
            (r"\e[0m", Some("\u{1b}[0m")),
        ];
        for (raw, expected) in table {
            assert_eq!(decode(raw).as_deref(), *expected, "{raw}");
        }
    }
}
