//! The network of the fence: a loopback of its own, and a count of who wanted more.

use std::fs;
use std::io;
use std::net::Ipv4Addr;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with,
};

use crate::error::FenceError;

/// The message that switches the first interface on: a header of 16 bytes and an interface of 16.
const LINK_UP: [u8; 32] = link_up();

const fn link_up() -> [u8; 32] {
    let mut message = [0; 32];
    message[0] = 32; // length
    message[4] = 16; // RTM_NEWLINK
    message[6] = 1 | 4; // NLM_F_REQUEST | NLM_F_ACK
    message[8] = 1; // sequence
    message[20] = 1; // interface 1 is always the loopback
    message[24] = 1; // IFF_UP is set …
    message[28] = 1; // … and is all that changes
    message
}

/// Switches the loopback on.
pub(super) fn switch_on() -> Result<(), FenceError> {
    request(&LINK_UP).map_err(|error| FenceError::set_up("switch its loopback on", &error))
}

/// Gives the loopback an address, and with it all of the block that it lies in.
pub(super) fn add_address(address: Ipv4Addr, prefix: u8) -> io::Result<()> {
    let mut message = vec![40, 0, 0, 0, 20, 0]; // length and RTM_NEWADDR
    message.extend((1_u16 | 4 | 0x400 | 0x200).to_ne_bytes()); // a request with an answer, for something new
    message.extend([1, 0, 0, 0, 0, 0, 0, 0]); // sequence and sender
    message.extend([2, prefix, 0, 254, 1, 0, 0, 0]); // version 4, scope of the host, interface 1
    for attribute in [2, 1] {
        // IFA_LOCAL and IFA_ADDRESS
        message.extend([8, 0, attribute, 0]);
        message.extend(address.octets());
    }
    request(&message)
}

/// Asks the kernel for a change of the network, and waits for its answer.
fn request(message: &[u8]) -> io::Result<()> {
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddrNetlink::new(0, 0))?;
    send(&socket, message, SendFlags::empty())?;
    let mut answer = [0_u8; 256];
    let (_, length) = recv(&socket, &mut answer, RecvFlags::empty())?;
    match answer.get(..length).and_then(error_of) {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(code.saturating_neg())),
        None => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// An answer is a header and the number of an error, negative.
fn error_of(answer: &[u8]) -> Option<i32> {
    let code = answer.get(16..20)?;
    Some(i32::from_ne_bytes(code.try_into().ok()?))
}

/// Returns how often something asked for a way to an address that is not in the fence. What cannot be read counts as none.
pub(super) fn refused_connections() -> u64 {
    let v4 = fs::read_to_string("/proc/net/snmp").unwrap_or_default();
    let v6 = fs::read_to_string("/proc/net/snmp6").unwrap_or_default();
    let in_table = column(&v4, "Ip:", "OutNoRoutes").unwrap_or(0);
    let in_list = v6.lines().find_map(|line| line.strip_prefix("Ip6OutNoRoutes"));
    in_table + in_list.and_then(|rest| rest.trim().parse::<u64>().ok()).unwrap_or(0)
}

/// Two lines begin with the same word: names and then numbers.
fn column(text: &str, start: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|line| line.starts_with(start));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let at = names.split_whitespace().position(|word| word == name)?;
    numbers.split_whitespace().nth(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_found_by_its_name() {
        let text = "Ip: Forwarding OutNoRoutes\nIp: 1 7\nIcmp: a\nIcmp: 2\n";
        assert_eq!(column(text, "Ip:", "OutNoRoutes"), Some(7));
        assert_eq!(column(text, "Ip:", "Missing"), None);
    }
}
