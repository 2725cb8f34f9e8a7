//! Where a provider is reached: an address that cannot leak the key to anyone else.
//!
//! INVARIANT: what is sent to a [`BaseUrl`] is either encrypted or stays on this machine.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const LONGEST: usize = 2048;

/// The address below which a provider's paths lie: `https://HOST[:PORT][/PATH]`, or `http` on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    text: String,
    host: String,
    port: u16,
    is_https: bool,
    is_loopback: bool,
}

impl BaseUrl {
    /// Reads an address. What is wrong with it is said without repeating it, since it may hold a password.
    pub fn parse(text: &str) -> Result<BaseUrl, String> {
        let text = text.trim();
        check_characters(text)?;
        let (scheme, rest) =
            text.split_once("://").ok_or("the base URL has no scheme, write https://HOST")?;
        let is_https = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return Err("the base URL must begin with https://".to_owned()),
        };
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        if authority.contains('@') {
            return Err(
                "the base URL holds a user name or a password, give the key by a variable or a command"
                    .to_owned(),
            );
        }
        let (host, port) = split_port(authority)?;
        let host = HostName::parse(host)?;
        let is_loopback = host.is_loopback();
        if !is_https && !is_loopback {
            return Err(format!(
                "the base URL may use http only on this machine (127.0.0.1, ::1, localhost), use https for {host}"
            ));
        }
        let usual = if is_https { 443 } else { 80 };
        let port = port.unwrap_or(usual);
        let scheme = if is_https { "https" } else { "http" };
        let place = if port == usual { host.to_string() } else { format!("{host}:{port}") };
        let text = format!("{scheme}://{place}{}", check_path(path)?);
        Ok(BaseUrl { text, host: host.to_string(), port, is_https, is_loopback })
    }

    /// Returns the address without a final `/`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the host in lower case, an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port, the usual one of the scheme if none was named.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Says whether the connection is encrypted.
    pub fn is_https(&self) -> bool {
        self.is_https
    }

    /// Says whether the address is on this machine.
    pub fn is_loopback(&self) -> bool {
        self.is_loopback
    }

    /// Says whether another address is of the same server: scheme, host and port, whatever the path.
    pub fn has_origin_of(&self, other: &Self) -> bool {
        (self.is_https, &self.host, self.port) == (other.is_https, &other.host, other.port)
    }

    /// Returns the address of a path below. The path cannot change the host: it must begin with `/`.
    pub fn endpoint(&self, path: &str) -> Result<String, String> {
        let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'#' && byte != b'\\';
        if !path.starts_with('/') || !path.bytes().all(is_plain) {
            return Err("the path of the request must begin with / and hold only printable ASCII".to_owned());
        }
        Ok(format!("{}{path}", self.text))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

fn check_characters(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("the base URL is empty, write https://HOST".to_owned());
    }
    if text.len() > LONGEST {
        return Err(format!("the base URL is longer than {LONGEST} characters"));
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("the base URL holds a space or a character outside of ASCII".to_owned());
    }
    if text.contains(['?', '#']) {
        return Err("the base URL must end with its path, without ? and #".to_owned());
    }
    Ok(())
}

fn check_path(path: &str) -> Result<&str, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@%/".contains(&byte);
    if !path.bytes().all(is_plain) {
        return Err("the path of the base URL holds a character that must be percent-encoded".to_owned());
    }
    if path.split('/').any(|segment| segment == "." || segment == "..") {
        return Err("the path of the base URL holds . or .. as a segment, write it out".to_owned());
    }
    Ok(path.trim_end_matches('/'))
}

/// Splits `HOST[:PORT]`, where an IPv6 address stands in brackets.
pub(super) fn split_port(authority: &str) -> Result<(&str, Option<u16>), String> {
    let after = authority.rfind(']').map_or(0, |at| at + 1);
    let (host, port) = match authority.get(after..).and_then(|rest| rest.rfind(':')) {
        Some(at) => authority.split_at(after + at),
        None => (authority, ""),
    };
    let Some(digits) = port.strip_prefix(':') else {
        return Ok((host, None));
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse() {
        Ok(port) if is_number && port != 0 => Ok((host, Some(port))),
        _ => Err("the port of the address is not a number from 1 to 65535".to_owned()),
    }
}

/// A host as an address or a name in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HostName {
    Address(IpAddr),
    Name(String),
}

impl HostName {
    /// Reads a host. Spellings that the system would take for an address and we would not are refused.
    pub(super) fn parse(text: &str) -> Result<HostName, String> {
        let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        if let Some(inner) = inner {
            let address =
                inner.parse::<Ipv6Addr>().map_err(|_| "the host in brackets is not an IPv6 address")?;
            return Ok(HostName::Address(address.into()));
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Ok(HostName::Address(address.into()));
        }
        let name = text.to_ascii_lowercase();
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_number = last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit());
        if name.len() > 253 || is_number || !name.split('.').all(is_label) {
            return Err("the host of the address is neither a name nor an address".to_owned());
        }
        Ok(HostName::Name(name))
    }

    fn is_loopback(&self) -> bool {
        match self {
            HostName::Address(address) => address.is_loopback(),
            HostName::Name(name) => name == "localhost",
        }
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostName::Address(IpAddr::V4(address)) => address.fmt(out),
            HostName::Address(IpAddr::V6(address)) => write!(out, "[{address}]"),
            HostName::Name(name) => name.fmt(out),
        }
    }
}

fn is_label(label: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=63).contains(&label.len())
        && label.bytes().all(is_plain)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn an_address_is_kept_without_its_final_slash() {
        for (given, kept) in [
            ("https://api.anthropic.com", "https://api.anthropic.com"),
            ("https://api.anthropic.com/", "https://api.anthropic.com"),
            (" HTTPS://Gateway.Example.COM:8443/team/a//\n", "https://gateway.example.com:8443/team/a"),
            ("https://bedrock.eu.example.com/anthropic", "https://bedrock.eu.example.com/anthropic"),
            ("https://a.example:443/v1", "https://a.example/v1"),
            ("http://127.0.0.1:11434", "http://127.0.0.1:11434"),
            ("http://127.8.9.10/x", "http://127.8.9.10/x"),
            ("http://localhost:80", "http://localhost"),
            ("http://LOCALHOST:8080/v1/", "http://localhost:8080/v1"),
            ("http://[::1]:8080", "http://[::1]:8080"),
            ("http://[0:0:0:0:0:0:0:1]", "http://[::1]"),
            ("https://10.0.0.5", "https://10.0.0.5"),
            ("https://[2001:db8::1]/x", "https://[2001:db8::1]/x"),
            ("https://my_gateway/x", "https://my_gateway/x"),
        ] {
            assert_eq!(BaseUrl::parse(given).as_ref().map(BaseUrl::as_str), Ok(kept), "{given}");
        }
    }

    #[test]
    fn what_is_no_safe_address_is_refused() {
        for given in [
            "",
            "   ",
            "api.anthropic.com",
            "ftp://a.example",
            "file:///etc/passwd",
            "http://api.anthropic.com",
            "http://10.0.0.1",
            "http://128.0.0.1",
            "http://localhost.example.com",
            "http://127.0.0.1.example.com",
            "http://[::ffff:127.0.0.1]",
            "http://[::2]",
            "http://127.1",
            "http://2130706433",
            "http://0x7f.0x1",
            "http://localhost@evil.example",
            "https://user:secret@a.example",
            "https://user@a.example/",
            "https://a.example?key=1",
            "https://a.example/#x",
            "https://a.example/a b",
            "https://a.example/\u{e9}",
            "https://b\u{fc}cher.example",
            "https://a.example\\@evil.example",
            "https://a.example/x\\y",
            "https://a.example/../x",
            "https://a.example/./x",
            "https://",
            "https:///x",
            "https://:443",
            "https://a.example:",
            "https://a.example:0",
            "https://a.example:+80",
            "https://a.example:65536",
            "https://a.example:80:80",
            "https://a..example",
            "https://a.example.",
            "https://-a.example",
            "https://[::1",
            "https://::1",
            "https://[zz]",
            "https://a\r\nhost: b",
        ] {
            assert!(BaseUrl::parse(given).is_err(), "{given:?} was taken");
        }
        assert!(BaseUrl::parse(&format!("https://a.example/{}", "x".repeat(3000))).is_err());
    }

    #[test]
    fn a_complaint_does_not_repeat_a_password() {
        for given in ["https://me:hunter2@a.example", "https:/me:hunter2@a", "https://a.example?key=hunter2"]
        {
            let complaint = BaseUrl::parse(given).unwrap_err();
            assert!(!complaint.contains("hunter2"), "{complaint}");
        }
    }

    #[test]
    fn the_parts_of_an_address_can_be_asked_for() {
        let remote = BaseUrl::parse("https://A.example/x").unwrap();
        assert_eq!((remote.host(), remote.port()), ("a.example", 443));
        assert!(remote.is_https() && !remote.is_loopback());
        let near = BaseUrl::parse("http://[::1]:9").unwrap();
        assert_eq!((near.host(), near.port()), ("[::1]", 9));
        assert!(!near.is_https() && near.is_loopback());
    }

    #[test]
    fn a_path_cannot_change_the_host() {
        let base = BaseUrl::parse("https://a.example/v").unwrap();
        assert_eq!(base.endpoint("/v1/messages").as_deref(), Ok("https://a.example/v/v1/messages"));
        for path in [".evil.example/", "@evil.example/", "", ":81/", "/a b", "/a\r\nx: y", "/a#b", "/\\x"] {
            assert!(base.endpoint(path).is_err(), "{path:?} was taken");
        }
    }
}
