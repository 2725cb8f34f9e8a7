//! Texts that are written in another alphabet: base 64 of either kind, hexadecimal.

/// A longer text is not decoded, in bytes.
const LENGTH_LIMIT: usize = 64 * 1024;

/// Decodes base 64; `None` if it is none, or no text.
pub(crate) fn base64(text: &str) -> Option<String> {
    if text.len() > LENGTH_LIMIT {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0_u32);
    let mut letters = text.bytes().filter(|letter| !letter.is_ascii_whitespace());
    for letter in letters.by_ref() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    letters.all(|letter| letter == b'=').then(|| String::from_utf8(bytes).ok()).flatten()
}

/// Decodes pairs of hexadecimal digits; `None` if these are none, or no text.
pub(crate) fn hex(text: &str) -> Option<String> {
    if text.len() > LENGTH_LIMIT {
        return None;
    }
    let letters = text.chars().filter(|letter| !letter.is_whitespace());
    let digits: Option<Vec<u8>> =
        letters.map(|letter| letter.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    let bytes = digits.chunks_exact(2).map(|two| two.iter().fold(0, |byte, digit| byte << 4 | digit));
    String::from_utf8(bytes.collect()).ok()
}

/// Says whether a piece of a longer text is something that somebody can read, encoded: what looks like a name by chance
/// does not come out as plain letters.
pub(crate) fn is_encoded_text(piece: &str) -> bool {
    const SHORTEST: usize = 12;
    let is_plain = |text: &String| {
        text.len() >= SHORTEST
            && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ' || byte == b'\n')
    };
    [base64(piece), hex(piece)].into_iter().flatten().any(|text| is_plain(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_undone() {
        assert_eq!(base64("cm0gLXJmIC8=").as_deref(), Some("rm -rf /"));
        assert_eq!(base64("bHM\n").as_deref(), Some("ls"));
        assert_eq!(base64("fn5-").as_deref(), base64("fn5+").as_deref());
        assert_eq!(hex("6c 73").as_deref(), Some("ls"));
        for none in ["b*", "/w==", "bH=M"] {
            assert_eq!(base64(none), None, "{none}");
        }
        for none in ["6c7", "6g", "ff"] {
            assert_eq!(hex(none), None, "{none}");
        }
    }

    #[test]
    fn a_name_is_no_encoded_text() {
        for piece in [
            "QVdTX1NFQ1JFVF9BQ0NFU1NfS0VZPXdKYWxyWFV0bkZFTUk",
            "4157535f5345435245543d774a616c72",
            "QVBJX0tFWT1hYmNkZWY",
        ] {
            assert!(is_encoded_text(piece), "{piece}");
        }
        for piece in [
            "installation-instructions",
            "getElementsByClassName",
            "1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "portcullis",
            "2026111900000000",
            "20261119000000002026111900000000",
        ] {
            assert!(!is_encoded_text(piece), "{piece}");
        }
    }
}
