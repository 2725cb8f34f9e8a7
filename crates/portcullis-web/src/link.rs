//! Addresses of our own pages, with what stands in them encoded.

use std::fmt::Write as _;

/// Encodes a text as one segment of a path or one value of a query: only letters, digits and `-_.~` stay.
pub fn segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // A segment of dots alone would be a step in the path.
    let is_dots = !text.is_empty() && text.bytes().all(|byte| byte == b'.');
    for byte in text.bytes() {
        match byte {
            b'.' if is_dots => out.push_str("%2E"),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            // Writing to a `String` cannot fail.
            _ => _ = write!(out, "%{byte:02X}"),
        }
    }
    out
}

/// Makes an address of a path and the values of its query; empty values are left out.
pub fn link(path: &str, query: &[(&str, &str)]) -> String {
    let mut out = path.to_owned();
    let mut sign = '?';
    for (name, value) in query.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = write!(out, "{sign}{name}={}", segment(value));
        sign = '&';
    }
    out
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn nothing_leaves_its_place() {
        assert_eq!(segment("a/b?c#d e\"é"), "a%2Fb%3Fc%23d%20e%22%C3%A9");
        assert_eq!([segment(".."), segment("a..b")], ["%2E%2E", "a..b"]);
        assert_eq!(
            link("/decisions", &[("tool", "a&b=c"), ("host", ""), ("text", "x")]),
            "/decisions?tool=a%26b%3Dc&text=x"
        );
    }
}
