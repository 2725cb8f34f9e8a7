//! A line of the trail: what links it to the one before it, and the entry.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::entry::Entry;
use crate::hash::sha256;

/// The longest line, its end included.
pub const MOST_LINE: usize = 64 * 1024;

/// What the first line of a chain names as the one before it.
pub const BEGINNING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The digits of an id: Crockford's, which sort like the numbers they stand for.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// How many digits an id has.
const ID_LENGTH: usize = 26;

/// A decision as it stands in the trail.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its number; the first is 1.
    pub number: u64,
    /// What it is known by: sorts by time, and no other has it.
    pub id: String,
    /// The hash of the line before it.
    pub previous: String,
    /// The hash of its own line.
    pub hash: String,
    /// What was decided.
    pub entry: Entry,
}

impl Record {
    /// Reads a line without its end; `None` if it is no record.
    pub fn read(line: &[u8]) -> Option<Self> {
        let header = Header::read(line)?;
        let entry = serde_json::from_slice(line).ok()?;
        Some(Self { number: header.n, id: header.id, previous: header.prev, hash: sha256(line), entry })
    }
}

/// What links a line to the one before it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Header {
    /// The number of the line.
    pub(super) n: u64,
    /// The id of the line.
    pub(super) id: String,
    /// The hash of the record before it.
    pub(super) prev: String,
    /// The hash of what stands between both and is no record, if something does.
    #[serde(default)]
    pub(super) torn: Option<String>,
    /// When the decision was made. It is a field of the entry.
    pub(super) at_ms: u64,
}

impl Header {
    /// Reads the header of a line; `None` if the line is no record. A line that was cut short is no JSON, so it is none.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        if line.len() >= MOST_LINE || !line.starts_with(b"{\"n\":") {
            return None;
        }
        serde_json::from_slice(line).ok()
    }

    /// Says whether a line is the beginning of a record with this number, after a record with this hash: what a writer
    /// leaves that is killed before the end. Nothing that is whole is one. A power cut may leave zeros in the place of what
    /// was not yet on the disk.
    pub(super) fn is_cut(line: &[u8], number: u64, previous: &str) -> bool {
        let length = line.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let is_zeros = length == 0 && !line.is_empty();
        let line = line.get(..length).unwrap_or_default();
        // A number that ends with its dot is no number, and one that is cut may be one.
        let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e' | b'E');
        let whole = line.iter().rposition(|byte| !is_number(byte)).map_or(0, |last| last + 1);
        let is_unfinished = || {
            let read = serde_json::from_slice::<IgnoredAny>(line.get(..whole).unwrap_or_default());
            read.is_err_and(|error| error.is_eof())
        };
        is_zeros || (!line.is_empty() && is_unfinished() && begins_record(line, number, previous))
    }

    /// Makes the line of an entry, whose JSON is `body`, without its end.
    pub(super) fn line(&self, body: &str) -> Vec<u8> {
        let Self { n, id, prev, torn, .. } = self;
        let torn = torn.as_ref().map(|hash| format!(r#""torn":"{hash}","#)).unwrap_or_default();
        let fields = body.strip_prefix('{').unwrap_or(body);
        format!("{{\"n\":{n},\"id\":\"{id}\",\"prev\":\"{prev}\",{torn}{fields}").into_bytes()
    }
}

/// Says whether a line is a record of this number and after this hash, as far as the line goes.
fn begins_record(line: &[u8], number: u64, previous: &str) -> bool {
    let Some(rest) = after_shared(line, &format!("{{\"n\":{number},\"id\":\"")) else { return false };
    let digits = rest.iter().take(ID_LENGTH).take_while(|byte| DIGITS.contains(byte)).count();
    let rest = rest.get(digits..).unwrap_or_default();
    (digits == ID_LENGTH || rest.is_empty())
        && after_shared(rest, &format!("\",\"prev\":\"{previous}\",")).is_some()
}

/// Returns what comes after a text, of which the line may be only the beginning; `None` if the line begins otherwise.
fn after_shared<'a>(line: &'a [u8], text: &str) -> Option<&'a [u8]> {
    line.strip_prefix(text.as_bytes()).or_else(|| text.as_bytes().starts_with(line).then_some(b""))
}

/// How much of a line is not the entry's own.
pub(super) const HEADER_BYTES: usize = 256;

/// Makes an id: 48 bits of time, 40 of the number, so that ids sort as records do, and 40 of what is in no other trail,
/// the hash before it.
pub(super) fn make_id(at_ms: u64, previous: &str, number: u64) -> String {
    let unique = sha256(format!("{previous} {number} {}", std::process::id()));
    let unique = u128::from_str_radix(unique.get(..10).unwrap_or_default(), 16).unwrap_or_default();
    let bits =
        (u128::from(at_ms & 0xffff_ffff_ffff) << 80) | (u128::from(number & 0xff_ffff_ffff) << 40) | unique;
    let digit = |place: u32| {
        let value = usize::try_from((bits >> (place * 5)) & 31).unwrap_or_default();
        char::from(DIGITS.get(value).copied().unwrap_or(b'0'))
    };
    (0..26).rev().map(digit).collect()
}

/// Returns the number of the record with an id; `None` if it is none of ours.
pub fn number_of_id(id: &str) -> Option<u64> {
    let digit = |byte: u8| DIGITS.iter().position(|known| *known == byte);
    let mut bits: u128 = 0;
    for byte in id.bytes() {
        bits = bits.checked_mul(32)? | u128::try_from(digit(byte)?).ok()?;
    }
    (id.len() == ID_LENGTH).then_some(u64::try_from(bits >> 40 & 0xff_ffff_ffff).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn an_id_sorts_by_time_and_differs_with_what_comes_before() {
        let id = |at_ms, previous| make_id(at_ms, previous, 1);
        let now = 1_800_000_000_000;
        assert_eq!(id(now, "a").len(), 26);
        assert!(id(now, "a") < id(now + 1, "a"));
        assert!(id(0, "a").starts_with("0000000000"));
        assert_ne!(id(now, "a"), id(now, "b"));
        assert_eq!(id(now, "a").get(..10), id(now, "b").get(..10));
        assert!(make_id(now, "b", 99) < make_id(now, "a", 100), "ids of one millisecond do not sort");
    }

    #[test]
    fn a_line_that_was_cut_anywhere_is_no_record() {
        let header = Header {
            n: 3,
            id: "X".to_owned(),
            prev: BEGINNING.to_owned(),
            torn: Some("ab".to_owned()),
            at_ms: 1,
        };
        let line = header.line(r#"{"at_ms":1,"host":"{}"}"#);
        assert_eq!(Header::read(&line), Some(header));
        for end in 0..line.len() {
            assert_eq!(Header::read(&line[..end]), None, "{end}");
        }
    }

    #[test]
    fn an_id_tells_its_number() {
        for number in [1, 7, 40_000, (1 << 40) - 1] {
            assert_eq!(number_of_id(&make_id(1_763_000_000_000, BEGINNING, number)), Some(number));
        }
        for other in ["", "x", "01KA3V", "!!!!!!!!!!!!!!!!!!!!!!!!!!"] {
            assert_eq!(number_of_id(other), None, "{other}");
        }
    }

    #[test]
    fn every_beginning_of_a_record_may_be_torn_and_nothing_else() {
        let hash = sha256("before");
        let header = Header { n: 12, id: make_id(1, &hash, 12), prev: hash.clone(), torn: None, at_ms: 1 };
        let line = header.line(r#"{"at_ms":1,"host":"é\" {}","list":[1,{"a":true,"b":-1.5e-7}]}"#);
        for end in 1..line.len() {
            let cut = &line[..end];
            assert!(Header::is_cut(cut, 12, &hash), "{end}");
            assert!(Header::is_cut(&[cut, &[0; 9]].concat(), 12, &hash), "{end}");
            // After `{"n":1` the number may go on.
            assert!(end <= 6 || !Header::is_cut(cut, 13, &hash), "{end}");
            let goes_on = end <= line.iter().position(|byte| *byte == b'p').unwrap() + 8;
            assert!(goes_on || !Header::is_cut(cut, 12, BEGINNING), "{end}");
        }
        for other in ["", " ", "x", "{}", "hello", "{\"n\":12}", "[", "{\"N\":12", "{\"n\":12,\"id\":\"é"] {
            assert!(!Header::is_cut(other.as_bytes(), 12, &hash), "{other}");
        }
        assert!(!Header::is_cut(&line, 12, &hash), "it is whole");
    }
}
