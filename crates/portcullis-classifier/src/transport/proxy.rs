//! The way through a proxy, and which hosts do without one.

use std::fmt;
use std::net::IpAddr;

use super::address::{BaseUrl, HostName, split_port};

/// A proxy that tunnels encrypted connections (`CONNECT`), with the hosts that are reached without it.
#[derive(Clone)]
pub struct TunnelProxy {
    inner: ureq::Proxy,
    exceptions: Vec<ProxyException>,
}

/// A host, or hosts, reached without the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ProxyException {
    Everything,
    Network { address: IpAddr, bits: u8 },
    Domain { name: String, port: Option<u16> },
}

impl TunnelProxy {
    /// Reads the address of a proxy, `[http://|https://][USER:PASSWORD@]HOST[:PORT]`, and the hosts that do without it:
    /// `*` for all, a domain with everything below it, an address, or a network such as `10.0.0.0/8`. Entries may be
    /// joined by commas; those that mean nothing are left out.
    pub fn parse(address: &str, no_proxy: &[String]) -> Result<TunnelProxy, String> {
        let address = address.trim();
        if let Some((scheme, _)) = address.split_once("://")
            && !scheme.eq_ignore_ascii_case("http")
            && !scheme.eq_ignore_ascii_case("https")
        {
            return Err("the proxy must be an http or https proxy, others are not supported".to_owned());
        }
        let is_plain = |byte: u8| byte.is_ascii_graphic();
        let inner = Some(address)
            .filter(|address| !address.is_empty() && address.bytes().all(is_plain))
            .and_then(|address| ureq::Proxy::new(address).ok())
            .filter(|proxy| !proxy.host().is_empty())
            .ok_or("the address of the proxy is not of the form http://HOST:PORT")?;
        let entries = no_proxy.iter().flat_map(|entry| entry.split([',', ' ', '\t']));
        Ok(TunnelProxy { inner, exceptions: entries.filter_map(ProxyException::parse).collect() })
    }

    /// Says whether requests to an address go through the proxy. Those to this machine never do.
    pub fn serves(&self, base: &BaseUrl) -> bool {
        let Ok(host) = HostName::parse(base.host()) else {
            return true;
        };
        !base.is_loopback() && !self.exceptions.iter().any(|entry| entry.covers(&host, base.port()))
    }

    /// Returns what the client takes.
    pub(super) fn client(&self) -> ureq::Proxy {
        self.inner.clone()
    }
}

impl fmt::Debug for TunnelProxy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may hold a password.
        write!(out, "Proxy({}:{})", self.inner.host(), self.inner.port())
    }
}

impl ProxyException {
    fn parse(entry: &str) -> Option<ProxyException> {
        let entry = entry.trim();
        if entry == "*" {
            return Some(ProxyException::Everything);
        }
        if let Some((address, bits)) = entry.split_once('/') {
            let address: IpAddr = address.parse().ok()?;
            let widest = if address.is_ipv4() { 32 } else { 128 };
            let bits = bits.parse().ok().filter(|bits| *bits <= widest)?;
            return Some(ProxyException::Network { address, bits });
        }
        if let Ok(address) = entry.parse::<IpAddr>() {
            let bits = if address.is_ipv4() { 32 } else { 128 };
            return Some(ProxyException::Network { address, bits });
        }
        let (name, port) = split_port(entry.strip_prefix('*').unwrap_or(entry)).ok()?;
        match HostName::parse(name.strip_prefix('.').unwrap_or(name)).ok()? {
            HostName::Address(address) => {
                let bits = if address.is_ipv4() { 32 } else { 128 };
                Some(ProxyException::Network { address, bits }).filter(|_| port.is_none())
            }
            HostName::Name(name) => Some(ProxyException::Domain { name, port }),
        }
    }

    fn covers(&self, host: &HostName, port: u16) -> bool {
        match (self, host) {
            (ProxyException::Everything, _) => true,
            (ProxyException::Network { address, bits }, HostName::Address(host)) => {
                is_within(*host, *address, *bits)
            }
            (ProxyException::Domain { name, port: only }, HostName::Name(host)) => {
                let is_below = host.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with('.'));
                (host == name || is_below) && only.is_none_or(|only| only == port)
            }
            (ProxyException::Network { .. }, HostName::Name(_))
            | (ProxyException::Domain { .. }, HostName::Address(_)) => false,
        }
    }
}

/// Says whether two addresses share their first bits.
fn is_within(host: IpAddr, network: IpAddr, bits: u8) -> bool {
    let bits = u32::from(bits);
    match (host, network) {
        (IpAddr::V4(host), IpAddr::V4(network)) => {
            let rest = 32_u32.saturating_sub(bits);
            (host.to_bits() ^ network.to_bits()).checked_shr(rest).unwrap_or(0) == 0
        }
        (IpAddr::V6(host), IpAddr::V6(network)) => {
            let rest = 128_u32.saturating_sub(bits);
            (host.to_bits() ^ network.to_bits()).checked_shr(rest).unwrap_or(0) == 0
        }
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn serves(no_proxy: &str, base: &str) -> bool {
        let proxy = TunnelProxy::parse("http://proxy.example:3128", &[no_proxy.to_owned()]).unwrap();
        proxy.serves(&BaseUrl::parse(base).unwrap())
    }

    #[test]
    fn this_machine_is_never_reached_through_a_proxy() {
        for base in ["http://127.0.0.1:1", "https://127.0.0.1", "http://localhost", "https://[::1]:8443"] {
            assert!(!serves("", base), "{base}");
        }
        assert!(serves("", "https://a.example"));
    }

    #[test]
    fn a_list_of_exceptions_goes_by_whole_labels_networks_and_ports() {
        for (list, base, expected) in [
            ("*", "https://a.example", false),
            ("a.example", "https://a.example", false),
            ("A.Example", "https://a.example", false),
            ("a.example", "https://b.a.example", false),
            (".a.example", "https://b.a.example", false),
            (".a.example", "https://a.example", false),
            ("*.a.example", "https://b.a.example", false),
            ("a.example", "https://nota.example", true),
            ("example", "https://a.example", false),
            ("a.example:443", "https://a.example", false),
            ("a.example:8443", "https://a.example", true),
            ("10.0.0.0/8", "https://10.9.8.7", false),
            ("10.0.0.0/8", "https://11.0.0.1", true),
            ("10.1.2.3", "https://10.1.2.3", false),
            ("10.1.2.3", "https://10.1.2.4", true),
            ("0.0.0.0/0", "https://10.1.2.4", false),
            ("2001:db8::/32", "https://[2001:db8::5]", false),
            ("2001:db8::/32", "https://[2001:db9::5]", true),
            ("[2001:db8::5]", "https://[2001:db8::5]", false),
            ("x.example,  a.example ,", "https://a.example", false),
            ("", "https://a.example", true),
            (",,//,10.0.0.0/99,a.example:x", "https://a.example", true),
        ] {
            assert_eq!(serves(list, base), expected, "{list:?} {base}");
        }
    }

    #[test]
    fn a_proxy_that_is_none_is_refused_without_repeating_it() {
        for address in [
            "",
            "socks5://a:1",
            "ftp://me:hunter2@a",
            "http://",
            "http://me:hunter2@",
            "a b",
            "http://a\r\nb",
        ] {
            let complaint = TunnelProxy::parse(address, &[]).expect_err(address);
            assert!(!complaint.contains("hunter2"), "{complaint}");
        }
        assert!(TunnelProxy::parse("proxy.example:8080", &[]).is_ok());
    }

    #[test]
    fn the_password_of_a_proxy_is_not_shown() {
        let proxy = TunnelProxy::parse("http://me:hunter2@proxy.example:3128", &[]).unwrap();
        assert_eq!(format!("{proxy:?}"), "Proxy(proxy.example:3128)");
    }
}
