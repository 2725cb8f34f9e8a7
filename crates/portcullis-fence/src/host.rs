//! Hosts that a fenced command may reach, by name.
//!
//! Names are compared as whole labels in lower case. What is no plain name (an empty or long label, a null byte, anything
//! but letters, digits, `-` and `_`) is no host at all: a name that one side cuts short and the other does not is a hole.

use std::fmt;
#[cfg(target_os = "linux")]
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::FenceError;
#[cfg(target_os = "linux")]
use crate::public_address::is_public;

/// The ports that are meant where none is named: those of the web.
const WEB_PORTS: [u16; 2] = [443, 80];

/// A host that may be reached: `NAME`, `NAME:PORT`, `ADDRESS` or `ADDRESS:PORT`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AllowedHost {
    target: HostTarget,
    port: Option<u16>,
}

/// What a host is known by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HostTarget {
    /// A name, which is looked up outside the fence when a connection is made.
    Name(HostName),
    /// An address, also of a private range: it was named, and names may lead to it.
    Address(Ipv4Addr),
}

/// A name in lower case without a period at its end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct HostName(String);

impl HostName {
    /// Makes a name of its labels; nothing if that is no name of a host.
    pub(crate) fn from_labels<'label>(labels: impl IntoIterator<Item = &'label [u8]>) -> Option<Self> {
        let mut name = String::new();
        for label in labels {
            let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
            if label.is_empty() || label.len() > 63 || !label.iter().all(is_plain) {
                return None;
            }
            if !name.is_empty() {
                name.push('.');
            }
            name.extend(label.iter().map(|byte| char::from(byte.to_ascii_lowercase())));
        }
        (!name.is_empty() && name.len() <= 253).then_some(Self(name))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Says whether it is this machine, which inside the fence is the fence.
    pub(crate) fn is_localhost(&self) -> bool {
        self.0 == "localhost" || self.0.ends_with(".localhost")
    }
}

impl AllowedHost {
    pub(crate) fn target(&self) -> &HostTarget {
        &self.target
    }

    /// Says whether it is an address that leads back into this machine or into a network that only this machine reaches.
    /// What a name leads to is looked at when it is reached.
    #[cfg(target_os = "linux")]
    pub fn is_private_address(&self) -> bool {
        matches!(&self.target, HostTarget::Address(address) if !is_public(IpAddr::V4(*address)))
    }

    /// Returns the ports that may be reached.
    pub(crate) fn ports(&self) -> &[u16] {
        self.port.as_ref().map_or(&WEB_PORTS, std::slice::from_ref)
    }
}

impl FromStr for AllowedHost {
    type Err = FenceError;

    fn from_str(text: &str) -> Result<Self, FenceError> {
        let wrong = || FenceError::Policy(format!("`{text}` is no host, `NAME` or `NAME:PORT`"));
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => {
                (host, Some(port.parse().ok().filter(|port| *port != 0).ok_or_else(wrong)?))
            }
            None => (text, None),
        };
        if let Ok(address) = host.parse() {
            return Ok(Self { target: HostTarget::Address(address), port });
        }
        let host = host.strip_suffix('.').unwrap_or(host);
        let name = HostName::from_labels(host.split('.').map(str::as_bytes)).ok_or_else(wrong)?;
        let last = name.as_str().rsplit('.').next().unwrap_or_default();
        // Programs read numbers in many ways as an address, and none of them is a name.
        if name.is_localhost() || last.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(wrong());
        }
        Ok(Self { target: HostTarget::Name(name), port })
    }
}

impl fmt::Display for AllowedHost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            HostTarget::Name(name) => formatter.write_str(name.as_str())?,
            HostTarget::Address(address) => write!(formatter, "{address}")?,
        }
        self.port.map_or(Ok(()), |port| write!(formatter, ":{port}"))
    }
}

impl TryFrom<String> for AllowedHost {
    type Error = FenceError;

    fn try_from(text: String) -> Result<Self, FenceError> {
        text.parse()
    }
}

impl From<AllowedHost> for String {
    fn from(host: AllowedHost) -> Self {
        host.to_string()
    }
}

/// A host that something inside the fence wanted to reach.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HostAttempt {
    /// The name or the address.
    pub host: String,
    /// The port, once there was a connection.
    pub port: Option<u16>,
    /// What came of it.
    pub result: AttemptResult,
}

/// What came of an attempt to reach a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AttemptResult {
    /// It was connected.
    Reached,
    /// It is not on the list. Nothing was sent for it, not even the question for its address.
    NotListed,
    /// It is on the list, but its name leads to an address of this machine or of a private network that is not.
    PrivateAddress,
    /// It is on the list and could not be reached.
    Unreachable,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_or_an_address_with_or_without_a_port() {
        for (text, shown, ports) in [
            ("Example.ORG", "example.org", &[443, 80][..]),
            ("example.org.", "example.org", &[443, 80]),
            ("a.example.org:8443", "a.example.org:8443", &[8443]),
            ("build-box:22", "build-box:22", &[22]),
            ("10.0.0.5:5432", "10.0.0.5:5432", &[5432]),
        ] {
            let host: AllowedHost = text.parse().expect(text);
            assert_eq!((host.to_string().as_str(), host.ports()), (shown, ports));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_address_of_no_public_network_is_private() {
        for (text, is_private) in [
            ("10.0.0.5", true),
            ("127.0.0.1:4873", true),
            ("0.0.0.0:80", true),
            ("169.254.169.254", true),
            ("1.1.1.1", false),
            ("registry.example", false),
        ] {
            assert_eq!(text.parse::<AllowedHost>().expect(text).is_private_address(), is_private, "{text}");
        }
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_no_host() {
        let long = "x".repeat(64);
        for text in [
            "",
            ".",
            "a..b",
            ".a",
            "a b",
            "evil\0.example.org",
            "*.example.org",
            "https://example.org",
            "a/b",
            "example.org:",
            "example.org:0",
            "example.org:99999",
            "[::1]:80",
            "::1",
            "2130706433",
            "0x7f.1",
            "127.1",
            "1.2.3.4.5",
            "localhost",
            "x.localhost:80",
            "user@example.org",
            "exämple.org",
            &long,
        ] {
            assert!(text.parse::<AllowedHost>().is_err(), "{text:?}");
        }
    }
}
