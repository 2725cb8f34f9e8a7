//! Answers questions for addresses inside the fence, so that none ever leaves: a listed name gets an address of the fence,
//! any other one does not exist.

use std::net::Ipv4Addr;

use crate::host::HostName;

/// Kinds of records and answers, as the protocol numbers them.
const ADDRESS: u16 = 1;
const NO_SUCH_NAME: u8 = 3;
const NOT_IMPLEMENTED: u8 = 4;

/// Beginning of a message: number, flags, and four counts.
const HEADER: usize = 12;

/// A question for a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NameQuestion<'message> {
    message: &'message [u8],
    /// Where the question ends.
    end: usize,
    kind: u16,
    /// The name as it was asked, for people.
    pub(super) text: String,
    /// The name, if it is one.
    pub(super) name: Option<HostName>,
}

impl<'message> NameQuestion<'message> {
    /// Reads a message; nothing if it is not one plain question.
    pub(super) fn read(message: &'message [u8]) -> Option<Self> {
        let is_question = message.get(2)? & 0xf8 == 0;
        if !is_question || message.get(4..6)? != [0, 1] {
            return None;
        }
        let mut labels = Vec::new();
        let mut at = HEADER;
        loop {
            let length = usize::from(*message.get(at)?);
            if length > 63 {
                return None;
            }
            at += 1;
            if length == 0 {
                break;
            }
            labels.push(message.get(at..at + length)?);
            at += length;
        }
        let kind = u16::from_be_bytes(message.get(at..at + 2)?.try_into().ok()?);
        message.get(at..at + 4)?;
        let text = labels.iter().map(|label| label.escape_ascii().to_string()).collect::<Vec<_>>().join(".");
        let name = HostName::from_labels(labels);
        Some(Self { message, end: at + 4, kind, text, name })
    }

    /// Says whether it asks for the name of an address.
    pub(super) fn is_reverse(&self) -> bool {
        self.name.as_ref().is_some_and(|name| name.as_str().rsplit('.').next() == Some("arpa"))
    }

    /// Returns the answer that there is no such name.
    pub(super) fn no_such_name(&self) -> Vec<u8> {
        self.answer(NO_SUCH_NAME, None)
    }

    /// Returns the answer that it has this address, and nothing else that could be asked for.
    pub(super) fn address(&self, address: Ipv4Addr) -> Vec<u8> {
        self.answer(0, (self.kind == ADDRESS).then_some(address))
    }

    fn answer(&self, code: u8, address: Option<Ipv4Addr>) -> Vec<u8> {
        let mut answer = self.message.get(..self.end).unwrap_or_default().to_vec();
        let wants_recursion = self.message.get(2).map_or(0, |flags| flags & 1);
        let count = u8::from(address.is_some());
        // An answer with authority, and the counts of one question, perhaps one answer, and nothing else.
        let head = [0x84 | wants_recursion, 0x80 | code, 0, 1, 0, count, 0, 0, 0, 0];
        if let Some(place) = answer.get_mut(2..HEADER) {
            place.copy_from_slice(&head);
        }
        if let Some(address) = address {
            // The name that stands in the question, an address of the internet, for a minute.
            answer.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
            answer.extend(address.octets());
        }
        answer
    }
}

/// Returns the answer to a message that is no plain question; nothing if it is too short for one.
pub(super) fn not_understood(message: &[u8]) -> Option<Vec<u8>> {
    let mut answer = message.get(..2)?.to_vec();
    answer.extend([0x80, NOT_IMPLEMENTED, 0, 0, 0, 0, 0, 0, 0, 0]);
    Some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(labels: &[&[u8]], kind: u16) -> Vec<u8> {
        let mut message = vec![7, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in labels {
            message.push(u8::try_from(label.len()).expect("a label"));
            message.extend(*label);
        }
        message.push(0);
        message.extend(kind.to_be_bytes());
        message.extend([0, 1]);
        message
    }

    #[test]
    fn a_question_is_answered() {
        let message = question(&[b"Example", b"org"], 1);
        let asked = NameQuestion::read(&message).expect("a question");
        assert_eq!(
            (asked.text.as_str(), asked.name.as_ref().map(HostName::as_str)),
            ("Example.org", Some("example.org"))
        );
        let answer = asked.address(Ipv4Addr::new(198, 18, 0, 2));
        assert_eq!(answer.get(..8), Some(&[7, 9, 0x85, 0x80, 0, 1, 0, 1][..]));
        assert!(answer.ends_with(&[0, 4, 198, 18, 0, 2]));
        assert_eq!(asked.no_such_name().get(3), Some(&0x83));
        // Another kind of record of the same name is not there, and the name is.
        let message = question(&[b"example", b"org"], 28);
        let answer = NameQuestion::read(&message).expect("a question").address(Ipv4Addr::LOCALHOST);
        assert_eq!((answer.get(3), answer.get(7)), (Some(&0x80), Some(&0)));
    }

    #[test]
    fn what_is_no_name_is_shown_and_never_a_host() {
        let message = question(&[b"evil\0", b"example", b"org"], 1);
        let asked = NameQuestion::read(&message).expect("a question");
        assert_eq!((asked.text.as_str(), asked.name), ("evil\\x00.example.org", None));
    }

    #[test]
    fn no_message_makes_it_stumble() {
        let whole = question(&[b"example", b"org"], 1);
        for end in 0..whole.len() {
            assert_eq!(whole.get(..end).and_then(NameQuestion::read), None, "{end}");
        }
        for seed in 0..2_000_u32 {
            let mut bytes = whole.clone();
            for (index, byte) in bytes.iter_mut().enumerate() {
                let noise = seed.wrapping_mul(2_654_435_761).rotate_left(u32::try_from(index).unwrap_or(0));
                if noise % 5 == 0 {
                    *byte = noise.to_be_bytes()[0];
                }
            }
            if let Some(asked) = NameQuestion::read(&bytes) {
                assert!(asked.no_such_name().len() >= HEADER);
            }
            let _ = not_understood(&bytes);
        }
    }
}
