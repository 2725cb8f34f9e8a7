//! Ids that nobody else has.

use std::fmt::Write as _;

use ring::rand::{SecureRandom as _, SystemRandom};

/// Makes an id that nobody has: 128 random bits. `None` if the system gives none.
pub fn new_id() -> Option<String> {
    let mut bytes = [0_u8; 16];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(hex(&bytes))
}

/// Writes bytes as hexadecimal digits in lower case.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Says whether a text is an id of a question.
pub fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
