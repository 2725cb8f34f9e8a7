//! Base64 and the byte encodings PowerShell's encoded commands use.

/// Decodes Base64, blanks and missing padding allowed; `None` if it is none.
pub(super) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut held: u32 = 0;
    let mut bits = 0_u32;
    for letter in text.chars().filter(|letter| !letter.is_whitespace()) {
        if letter == '=' {
            break;
        }
        held = (held << 6 | sextet(letter)?) & 0x00ff_ffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xff).ok()?);
        }
    }
    (!bytes.is_empty()).then_some(bytes)
}

fn sextet(letter: char) -> Option<u32> {
    let code = u32::from(letter);
    match letter {
        'A'..='Z' => Some(code - u32::from('A')),
        'a'..='z' => Some(code - u32::from('a') + 26),
        '0'..='9' => Some(code - u32::from('0') + 52),
        '+' | '-' => Some(62),
        '/' | '_' => Some(63),
        _ => None,
    }
}

/// Reads bytes as UTF-16, low byte first.
pub(super) fn utf16(bytes: &[u8]) -> String {
    let units: Vec<u16> = bytes
        .chunks(2)
        .map(|pair| {
            let low = pair.first().copied().unwrap_or_default();
            let high = pair.get(1).copied().unwrap_or_default();
            u16::from_le_bytes([low, high])
        })
        .collect();
    String::from_utf16_lossy(&units)
}

/// Reads the value of `-EncodedCommand`.
pub(super) fn decode_command(text: &str) -> Option<String> {
    decode_base64(text).map(|bytes| utf16(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoded_command_is_read_with_and_without_padding() {
        assert_eq!(decode_command("bABzAA==").as_deref(), Some("ls"));
        assert_eq!(decode_command("bABz AA").as_deref(), Some("ls"));
    }

    #[test]
    fn what_is_not_base64_is_not_decoded() {
        assert_eq!(decode_command("a*b"), None);
        assert_eq!(decode_command(""), None);
    }
}
