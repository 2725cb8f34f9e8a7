//! Hosts that only answer from inside: the machine itself, private networks, cloud metadata.

use crate::lists::hosts::{METADATA, MIRRORS};

/// Ends of names that only a network around the machine knows.
const INTERNAL_ENDS: &[&str] = &[
    ".cluster.local",
    ".corp",
    ".home",
    ".home.arpa",
    ".internal",
    ".intranet",
    ".lan",
    ".localdomain",
    ".private",
    ".svc",
];

/// Says whether a host is the machine itself.
pub fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host.ends_with(".localhost")
        || host == "::1"
        || host == "0.0.0.0"
        || host
            .strip_prefix("127.")
            .is_some_and(|rest| rest.split('.').all(|part| part.parse::<u8>().is_ok()))
}

/// Says whether a host hands out cloud credentials, in any spelling of its address.
pub fn is_metadata(host: &str) -> bool {
    let is_spelled_out = || {
        let address = host.parse::<std::net::Ipv6Addr>();
        address.is_ok_and(|address| METADATA.contains(&address.to_string().as_str()))
    };
    METADATA.contains(&host) || number_of(host) == Some(0xA9FE_A9FE) || host.contains(':') && is_spelled_out()
}

/// Says whether a host is reached only from inside a network that is not public.
pub fn is_internal_host(host: &str) -> bool {
    let is_private = match number_of(host) {
        None => false,
        Some(number) => {
            let [first, second, ..] = number.to_be_bytes();
            first == 10
                || (first == 172 && (16..32).contains(&second))
                || (first, second) == (192, 168)
                || (first, second) == (169, 254)
                || (first == 100 && (64..128).contains(&second))
        }
    };
    is_private || is_metadata(host) || INTERNAL_ENDS.iter().any(|end| host.ends_with(end))
}

/// Says whether a host has a name without a dot, which only the network around knows.
pub fn is_one_label(host: &str) -> bool {
    !host.is_empty() && !host.contains(['.', ':']) && !is_loopback(host)
}

/// Reads an IPv4 address in any of the spellings that programs take: dotted, decimal, octal, hexadecimal, within an
/// address of IPv6, or as a name that answers with it.
fn number_of(host: &str) -> Option<u32> {
    if host.contains(':') {
        return embedded(host);
    }
    match MIRRORS.iter().find_map(|mirror| host.strip_suffix(mirror)) {
        Some(address) => {
            let dotted = address.replace('-', ".");
            let parts: Vec<&str> = dotted.split('.').collect();
            dotted_number(&parts.get(parts.len().saturating_sub(4)..).unwrap_or_default().join("."))
        }
        None => dotted_number(host),
    }
}

/// Reads the IPv4 address that an address of IPv6 stands for: `::ffff:10.0.0.1`, `64:ff9b::a00:1`.
fn embedded(host: &str) -> Option<u32> {
    let address: std::net::Ipv6Addr = host.split('%').next()?.parse().ok()?;
    let translated = matches!(address.segments(), [0x64, 0xff9b, ..]);
    let [.., a, b, c, d] = address.octets();
    let is_mapped = address.to_ipv4().is_some() && !address.is_loopback() && !address.is_unspecified();
    (translated || is_mapped).then(|| u32::from_be_bytes([a, b, c, d]))
}

fn dotted_number(host: &str) -> Option<u32> {
    let part = |text: &str| {
        let lower = text.to_ascii_lowercase();
        match lower.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None if lower.len() > 1 && lower.starts_with('0') => u32::from_str_radix(&lower, 8).ok(),
            None => lower.parse().ok(),
        }
    };
    let parts: Vec<u32> = host.split('.').map(part).collect::<Option<_>>()?;
    let (last, before) = parts.split_last()?;
    if before.len() > 3 || before.iter().any(|part| *part > 255) {
        return None;
    }
    let mut number: u32 = 0;
    for part in before {
        number = (number << 8) | part;
    }
    let bits = 8 * (4 - u32::try_from(before.len()).ok()?);
    if bits == 32 { Some(*last) } else { (*last < 1 << bits).then(|| (number << bits) | last) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_recognised_in_every_spelling() {
        for host in ["169.254.169.254", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376", "169.254.43518"] {
            assert!(is_metadata(host), "{host}");
        }
        for host in
            ["::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "64:ff9b::a9fe:a9fe", "fd00:0ec2:0:0:0:0:0:254"]
        {
            assert!(is_metadata(host), "{host}");
        }
        for host in ["169.254.169.254.nip.io", "x.169-254-169-254.sslip.io", "a.b.169.254.169.254.nip.io"] {
            assert!(is_metadata(host), "{host}");
        }
        for host in ["::1", "::", "2001:db8::1", "nip.io", "x.nip.io", "fe80::1%eth0"] {
            assert!(!is_metadata(host), "{host}");
        }
        for host in ["169.254.169.253", "example.com", "1.2.3.4.5", "256.1.1.1", ""] {
            assert!(!is_metadata(host), "{host}");
        }
    }

    #[test]
    fn private_networks_are_internal_and_public_ones_are_not() {
        for host in ["10.1.2.3", "172.16.0.1", "192.168.0.1", "db.internal", "100.64.0.1"] {
            assert!(is_internal_host(host), "{host}");
        }
        for host in ["8.8.8.8", "172.32.0.1", "example.com", "11.0.0.1"] {
            assert!(!is_internal_host(host), "{host}");
        }
        assert!(is_loopback("127.0.0.1") && is_loopback("localhost") && !is_loopback("128.0.0.1"));
    }
}
