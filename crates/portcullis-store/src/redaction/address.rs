//! Passwords in addresses: `scheme://user:password@host`.

use super::text::{RedactedText, is_key_byte};
use super::{SecretSpan, value};

/// How long a password in an address may be.
const LONGEST_PASSWORD: usize = 512;

/// How many `@` a password may hold.
const MOST_SIGNS: u32 = 8;

/// Finds the passwords of addresses.
pub(super) fn find(text: RedactedText<'_>, spans: &mut Vec<SecretSpan>) {
    let mut ahead = AddressAhead { text, end: 0, at: None };
    let mut place = 0;
    while place < text.len() {
        if !text.has(place, b"://") {
            place += 1;
            continue;
        }
        place += 3;
        if let Some(span) = read(text, place, &mut ahead) {
            place = span.end;
            spans.push(span);
        }
    }
}

fn read(text: RedactedText<'_>, start: usize, ahead: &mut AddressAhead<'_>) -> Option<SecretSpan> {
    let colon = text.run(start, usize::MAX, |byte| byte != b':' && byte != b'@' && !is_end(byte));
    match text.at(colon) {
        b'@' => {
            let user = text.part(start, colon);
            (user.len() >= 20 && value::is_random(user)).then_some(SecretSpan {
                start,
                end: colon,
                kind: "url-user",
            })
        }
        b':' => {
            let start = colon + 1;
            // A port is no password, whatever the path says. Anything else may hold bytes that should be escaped.
            let port = text.run(start, 8, |byte| byte.is_ascii_digit());
            if is_end(text.at(port)) {
                return None;
            }
            let at = ahead.last_at(start)?;
            // A tag and the digest of an image are no password and host.
            if at > start + LONGEST_PASSWORD || text.has(at + 1, b"sha256:") {
                return None;
            }
            let password = text.part(start, at);
            (!password.is_empty() && !value::is_mark(password) && !value::is_reference(password))
                .then_some(SecretSpan { start, end: at, kind: "url-password" })
        }
        _ => None,
    }
}

/// Says whether a byte ends the part of an address that names who asks and where.
const fn is_end(byte: u8) -> bool {
    matches!(byte, b'/' | b'?' | b'#' | b'\\') || is_outside(byte)
}

/// Says whether a byte ends an address.
const fn is_outside(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | 0)
}

/// Where the address that is being read ends, and the `@` of it. Read once for all that begin inside.
struct AddressAhead<'a> {
    text: RedactedText<'a>,
    end: usize,
    at: Option<usize>,
}

impl AddressAhead<'_> {
    /// Returns where the password that begins at a place ends: at the last `@` before the next `/` that a host follows,
    /// or at the next `@` if only one comes.
    fn last_at(&mut self, start: usize) -> Option<usize> {
        if self.end <= start {
            self.end = self.text.run(start, usize::MAX, |byte| !is_outside(byte));
            self.at = None;
        } else if self.at.is_none() {
            return None;
        }
        if self.at.is_none_or(|at| at < start) {
            let next = self.text.run(start, self.end - start, |byte| byte != b'@');
            self.at = (next < self.end).then_some(next);
        }
        let mut last = self.at?;
        // A password may hold `@` itself; then another one follows before anything that cannot be a host.
        for _ in 0..MOST_SIGNS {
            let host = self.text.run(last + 1, 256, |byte| is_key_byte(byte) || byte == b'.');
            if self.text.at(host) == b'@' && host > last + 1 { last = host } else { break }
        }
        Some(last)
    }
}
