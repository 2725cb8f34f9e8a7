//! Texts that a program makes of others: joined paths, base 64, hexadecimal.

use super::value::{ANY_NAME, CodeValue};

/// How long a decoded text may be.
const LENGTH_LIMIT: usize = 64 * 1024;

/// Joins paths; one that begins at the root replaces what stands before it. `None` if any is unknown.
pub(super) fn join_paths(values: &[CodeValue]) -> Option<String> {
    let mut path = String::new();
    for value in values {
        let part = match value {
            CodeValue::Text(part) | CodeValue::Kind("path", Some(part)) => part.as_str(),
            CodeValue::Kind("name", _) => ANY_NAME,
            _ => return None,
        };
        if part.starts_with('/') || path.is_empty() {
            part.clone_into(&mut path);
        } else {
            if !path.ends_with('/') {
                path.push('/');
            }
            path.push_str(part);
        }
    }
    (!values.is_empty()).then_some(path)
}

/// Decodes base 64 of either alphabet.
pub(super) fn base64(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut bits = 0_u32;
    let mut count = 0_u32;
    for letter in
        text.bytes().take(LENGTH_LIMIT).filter(|letter| !letter.is_ascii_whitespace() && *letter != b'=')
    {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).unwrap_or(0));
            bits &= (1 << count) - 1;
        }
    }
    String::from_utf8(bytes).ok()
}

/// Decodes pairs of hexadecimal digits.
pub(super) fn hex(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut high = None;
    for letter in text.chars().take(LENGTH_LIMIT).filter(|letter| !letter.is_whitespace()) {
        let digit = u8::try_from(letter.to_digit(16)?).ok()?;
        match high.take() {
            None => high = Some(digit),
            Some(first) => bytes.push(first * 16 + digit),
        }
    }
    String::from_utf8(bytes).ok()
}
