//! The trace that a caller is in, as the header `traceparent` of W3C Trace Context says it.

use axum::http::HeaderMap;

/// The name of the header.
const HEADER: &str = "traceparent";

/// What a caller said of its own span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceParent {
    /// The trace; not zero.
    pub(super) trace: [u8; 16],
    /// The caller's span; not zero.
    pub(super) span: [u8; 8],
    /// Whether the caller keeps the trace.
    pub(super) is_sampled: bool,
}

impl TraceParent {
    /// Reads the header. One that is malformed, or comes twice, is none.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(HEADER).iter();
        let value = values.next()?.to_str().ok()?;
        if values.next().is_some() { None } else { Self::parse(value) }
    }

    fn parse(text: &str) -> Option<Self> {
        let (known, rest) = text.trim().split_at_checked(55)?;
        let mut parts = known.split('-');
        let version: [u8; 1] = hex(parts.next()?)?;
        let trace = hex(parts.next()?)?;
        let span = hex(parts.next()?)?;
        let [flags] = hex(parts.next()?)?;
        let is_well_formed = match version {
            [0] => rest.is_empty(),
            [0xff] => false,
            // A later version may say more behind what we know.
            _ => rest.is_empty() || rest.starts_with('-'),
        };
        let is_meant = trace != [0; 16] && span != [0; 8];
        (is_well_formed && is_meant && parts.next().is_none()).then_some(Self {
            trace,
            span,
            is_sampled: flags & 1 == 1,
        })
    }
}

/// Reads so many bytes in lower-case hexadecimal digits, and nothing else.
fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? * 16 + digit(*low)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_header_says_the_trace_the_span_and_whether_it_is_kept() {
        let parent = TraceParent::parse(GOOD).unwrap();
        assert_eq!(parent.trace[0..2], [0x0a, 0xf7]);
        assert_eq!(parent.span, [0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31]);
        assert!(parent.is_sampled);
        let dropped = TraceParent::parse(&GOOD.replace("-01", "-02")).unwrap();
        assert!(!dropped.is_sampled);
        assert_eq!(TraceParent::parse(&format!("{}-more", GOOD.replacen("00", "cc", 1))), Some(parent));
    }

    #[test]
    fn what_is_malformed_is_no_parent() {
        let long = format!("{GOOD}-more");
        let upper = GOOD.to_uppercase();
        let future = GOOD.replacen("00", "ff", 1);
        let joined = format!("{}more", GOOD.replacen("00", "01", 1));
        for text in [
            "",
            "00",
            &long,
            &upper,
            &future,
            &joined,
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319cb-7ad6b7169203331-01",
            "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01",
            "00-0af7651916cd43dd8448eb211c80319\u{e9}-b7ad6b7169203331-1",
        ] {
            assert_eq!(TraceParent::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_header_that_comes_twice_is_no_parent() {
        let mut headers = HeaderMap::new();
        headers.append(HEADER, GOOD.parse().unwrap());
        assert!(TraceParent::of(&headers).is_some());
        headers.append(HEADER, GOOD.parse().unwrap());
        assert_eq!(TraceParent::of(&headers), None);
    }
}
