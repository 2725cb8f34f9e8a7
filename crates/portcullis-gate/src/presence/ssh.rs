//! Where an ssh session comes from. One from this very machine may be an agent's, which so gets a terminal that is not made
//! by anything it started.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::absence::Absence;
use super::known_programs::SSH_SERVERS;
use super::process_table::{Process, ProcessTable};

/// In which sshd says who is at the other end: their address and port, and ours.
const CONNECTION: &str = "SSH_CONNECTION";

/// Refuses an ssh session that comes from this machine, or does not say where it comes from. A line without a server for
/// ssh is none.
pub(super) fn check_origin(table: &dyn ProcessTable, line: &[Process]) -> Result<(), Absence> {
    let server = line.iter().position(|process| process.is_one_of(&SSH_SERVERS));
    // What the server started has the variable as the server set it; the server itself has none.
    let Some(started) = server.and_then(|at| at.checked_sub(1)) else { return Ok(()) };
    let said = line.get(started).and_then(|process| table.variable(process.pid, CONNECTION));
    let ends = said.as_deref().and_then(read_ends).ok_or(Absence::SshFromHere)?;
    let [client, server] = ends;
    let known = table.connections();
    let is_here = client.0.is_loopback() || client.0 == server.0 || known.contains(&written(client, server));
    let is_real = known.is_empty() || known.contains(&written(server, client));
    if is_here || !is_real || has_session_from_here(&known, server.1) {
        Err(Absence::SshFromHere)
    } else {
        Ok(())
    }
}

/// Says whether a process was started by an ssh session that came from another machine, and may have ended since.
pub(super) fn is_from_elsewhere(table: &dyn ProcessTable, process: &Process) -> bool {
    let said = table.variable(process.pid, CONNECTION);
    let ends = said.as_deref().and_then(read_ends);
    ends.is_some_and(|[client, server]| !client.0.is_loopback() && client.0 != server.0)
}

/// Says whether somebody on this machine has a session with its own server. What it runs may set the variable anew, to the
/// ends of another session that really comes from elsewhere, and which of the two is which nobody but root can tell.
fn has_session_from_here(known: &[String], server_port: u16) -> bool {
    let ends = known.iter().filter_map(|connection| read_ends(connection));
    ends.filter(|[_, remote]| remote.1 == server_port)
        .any(|[local, remote]| known.contains(&written(remote, local)))
}

/// Reads `CLIENT PORT SERVER PORT`.
fn read_ends(said: &str) -> Option<[(IpAddr, u16); 2]> {
    let words: Vec<&str> = said.split_whitespace().collect();
    let [client, client_port, server, server_port] = words.as_slice() else { return None };
    let end = |address: &str, port: &str| -> Option<(IpAddr, u16)> {
        let address = address.split('%').next()?.parse::<IpAddr>().ok()?;
        Some((address.to_canonical(), port.parse().ok()?))
    };
    Some([end(client, client_port)?, end(server, server_port)?])
}

fn written((from, from_port): (IpAddr, u16), (to, to_port): (IpAddr, u16)) -> String {
    format!("{from} {from_port} {to} {to_port}")
}

/// Reads a line of `/proc/net/tcp` or `tcp6`.
pub(super) fn parse_connection(line: &str) -> Option<String> {
    let mut fields = line.split_whitespace().skip(1);
    let (local, remote) = (parse_end(fields.next()?)?, parse_end(fields.next()?)?);
    Some(written(local, remote))
}

fn parse_end(text: &str) -> Option<(IpAddr, u16)> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    // Every four bytes are a number as this machine has them in memory.
    let mut bytes = Vec::new();
    for at in (0..address.len()).step_by(8) {
        let number = u32::from_str_radix(address.get(at..at + 8)?, 16).ok()?;
        bytes.extend(number.to_ne_bytes());
    }
    let address = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(short) => IpAddr::V4(Ipv4Addr::from(short)),
        Err(_) => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes.as_slice()).ok()?)),
    };
    Some((address.to_canonical(), port))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn connections_are_read_as_the_kernel_writes_them() {
        if cfg!(target_endian = "little") {
            let line =
                "   1: 0100007F:1CA5 0200007F:D431 01 00000000:00000000 00:00000000 00000000     0 0 1 1";
            assert_eq!(parse_connection(line).as_deref(), Some("127.0.0.1 7333 127.0.0.2 54321"));
            let mapped = "0000000000000000FFFF00000100007F:0016";
            assert_eq!(parse_end(mapped), Some((IpAddr::V4(Ipv4Addr::LOCALHOST), 22)));
        }
        for wrong in ["", "x", "0: 1 2", "0: 0100007F:1 zz:1"] {
            assert_eq!(parse_connection(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn both_ends_must_be_named() {
        assert!(read_ends("192.0.2.7 54321 192.0.2.1 22").is_some());
        assert!(read_ends("fe80::1%eth0 54321 fe80::2%eth0 22").is_some());
        for wrong in ["", "192.0.2.7 1 192.0.2.1", "a 1 b 2", "192.0.2.7 1 192.0.2.1 99999"] {
            assert_eq!(read_ends(wrong), None, "{wrong}");
        }
    }
}
