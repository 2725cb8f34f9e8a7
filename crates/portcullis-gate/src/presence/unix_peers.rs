//! Which unix socket is connected to which, as the kernel tells everybody.

use std::collections::BTreeMap;
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, netlink, recv, send, socket};

/// The kind of a message that asks for sockets, and of one that tells of one.
const SOCKETS: u16 = 20;
/// The kind of the message after the last one.
const DONE: u16 = 3;
/// A request for everything that there is.
const REQUEST_ALL: u16 = 0x301;
/// The family of unix sockets.
const UNIX: u8 = 1;
/// What is to be told of each: its peer.
const SHOW_PEER: u32 = 4;
/// The kind of the attribute with the number of the peer.
const PEER: u16 = 2;
/// The length of the head of a message, and of what stands before the attributes of a socket.
const HEAD: usize = 16;
/// The length of the head of an attribute.
const ATTRIBUTE: usize = 4;
/// So many pieces of an answer are read.
const MOST_PIECES: usize = 4_096;
/// How long a piece may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// Returns the peer of every connected socket by its number; `None` where the kernel does not tell.
pub(super) fn read() -> Option<BTreeMap<u32, u32>> {
    let kernel = socket(AddressFamily::NETLINK, SocketType::RAW, Some(netlink::SOCK_DIAG)).ok()?;
    set_socket_timeout(&kernel, Timeout::Recv, Some(PATIENCE)).ok()?;
    send(&kernel, &request(), SendFlags::empty()).ok()?;
    let (mut peers, mut piece) = (BTreeMap::new(), vec![0; 1 << 16]);
    for _ in 0..MOST_PIECES {
        let (length, _) = recv(&kernel, piece.as_mut_slice(), RecvFlags::empty()).ok()?;
        if read_piece(piece.get(..length)?, &mut peers)? {
            return Some(peers);
        }
    }
    None
}

fn request() -> Vec<u8> {
    let mut body = vec![UNIX, 0, 0, 0];
    // In every state, whatever its number.
    for word in [u32::MAX, 0, SHOW_PEER, u32::MAX, u32::MAX] {
        body.extend(word.to_ne_bytes());
    }
    let length = u32::try_from(HEAD + body.len()).unwrap_or_default();
    let mut message = Vec::from(length.to_ne_bytes());
    message.extend([SOCKETS.to_ne_bytes(), REQUEST_ALL.to_ne_bytes()].concat());
    message.extend([0; 8]);
    message.extend(body);
    message
}

/// Reads the messages of a piece; says whether the last one is among them. `None` for what is no answer.
fn read_piece(mut piece: &[u8], peers: &mut BTreeMap<u32, u32>) -> Option<bool> {
    while !piece.is_empty() {
        let length = usize::try_from(number(piece, 0)?).ok()?;
        let message = piece.get(..length)?;
        match short(message, 4)? {
            DONE => return Some(true),
            SOCKETS => {
                let own = number(message, HEAD + 4)?;
                peers.extend(peer(message.get(2 * HEAD..)?).map(|peer| (own, peer)));
            }
            _ => return None,
        }
        piece = piece.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some(false)
}

fn peer(mut attributes: &[u8]) -> Option<u32> {
    loop {
        let (length, kind) = (usize::from(short(attributes, 0)?), short(attributes, 2)?);
        if kind == PEER {
            return number(attributes, ATTRIBUTE);
        }
        attributes = attributes.get(length.max(ATTRIBUTE).next_multiple_of(4)..)?;
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;
    use std::os::unix::net::UnixStream;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_ends_of_a_connection_know_each_other() {
        let (one, other) = UnixStream::pair().unwrap();
        let [one, other] =
            [&one, &other].map(|end| u32::try_from(rustix::fs::fstat(end.as_fd()).unwrap().st_ino).unwrap());
        let peers = read().unwrap();
        assert_eq!((peers.get(&one), peers.get(&other)), (Some(&other), Some(&one)));
    }

    #[test]
    fn what_is_no_answer_is_no_knowledge() {
        let mut peers = BTreeMap::new();
        assert_eq!(read_piece(&[], &mut peers), Some(false));
        for wrong in
            [&[1_u8, 2][..], &[0; 16], &[16, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[255; 64]]
        {
            assert_eq!(read_piece(wrong, &mut peers), None, "{wrong:?}");
        }
        assert!(peers.is_empty());
    }
}
