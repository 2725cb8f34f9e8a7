//! The names this daemon answers to. A page of somebody else's reaches the loopback interface under a name of their own,
//! and gives itself away by it.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;
use axum::http::header::{HOST, HeaderName, ORIGIN};
use axum::http::uri::Authority;

/// The names and addresses of the daemon, and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    /// Lower case, with the port where it is not the usual one.
    own: Vec<String>,
    /// Names that stand before the daemon, at a port and with a scheme of their own.
    allowed: Vec<String>,
    is_secure: bool,
    url: Option<String>,
}

impl Site {
    /// Names a daemon that listens at an address, or at none, and answers to further names.
    pub(crate) fn new(address: Option<SocketAddr>, is_secure: bool, allowed: &[String]) -> Self {
        let scheme = if is_secure { "https" } else { "http" };
        let usual_port = if is_secure { 443 } else { 80 };
        let mut own = Vec::new();
        let port = address.map_or(usual_port, |address| address.port());
        let mut add = |name: &str| {
            own.push(format!("{name}:{port}"));
            if port == usual_port {
                own.push(name.to_owned());
            }
        };
        let ip = address.map(|address| address.ip());
        if ip.is_some_and(|ip| ip.is_loopback() || ip.is_unspecified()) {
            ["127.0.0.1", "localhost", "[::1]"].into_iter().for_each(&mut add);
        }
        if let Some(address) = address.filter(|address| !address.ip().is_unspecified()) {
            add(&host_of(address));
        }
        let allowed: Vec<String> = allowed.iter().map(|name| name.to_ascii_lowercase()).collect();
        for name in &allowed {
            add(name);
        }
        let url = address.map(|address| match allowed.first() {
            Some(name) if address.ip().is_unspecified() => format!("{scheme}://{name}:{port}"),
            _ if address.ip().is_unspecified() => format!("{scheme}://127.0.0.1:{port}"),
            _ => format!("{scheme}://{}:{port}", host_of(address)),
        });
        Self { own, allowed, is_secure, url }
    }

    /// Returns where the pages are, without a final slash; `None` if the daemon listens at the unix socket alone.
    pub(crate) fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// Says whether what is said is encrypted.
    pub(crate) const fn is_secure(&self) -> bool {
        self.is_secure
    }

    /// Returns the one name that a request was sent to, if it is one of ours.
    pub(super) fn named(&self, headers: &HeaderMap, authority: Option<&Authority>) -> Option<String> {
        let host = only(headers, &HOST)??.to_ascii_lowercase();
        let is_same = authority.is_none_or(|authority| authority.as_str().eq_ignore_ascii_case(&host));
        let is_ours = self.own.contains(&host) || self.allowed.contains(&host);
        (is_same && is_ours).then_some(host)
    }

    /// Says whether a request comes from a page of ours, or from no page at all.
    pub(super) fn is_own_page(&self, headers: &HeaderMap, host: Option<&str>) -> bool {
        match only(headers, &ORIGIN) {
            Some(None) => true,
            None => false,
            Some(Some(origin)) => {
                let Some(host) = host else { return false };
                let from = |scheme: &str| {
                    let rest = origin.strip_prefix(scheme).and_then(|rest| rest.strip_prefix("://"));
                    rest.is_some_and(|rest| rest.eq_ignore_ascii_case(host))
                };
                // Whatever stands before the daemon may encrypt where the daemon does not.
                let is_before = self.allowed.iter().any(|name| name == host);
                from("https") && (self.is_secure || is_before) || from("http") && !self.is_secure
            }
        }
    }
}

fn host_of(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    }
}

/// Returns the value of a header that may stand there once: `None` if there are several or it is no text.
#[expect(clippy::option_option, reason = "missing and doubtful are different answers")]
pub(super) fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Option<&'a str>> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else { return Some(None) };
    if values.next().is_some() {
        return None;
    }
    first.to_str().ok().map(Some)
}

/// Says whether a name leads to this very machine. A browser keeps what it is told about such a name for every server on
/// it, whoever runs it.
pub(crate) fn is_loopback_name(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, _)) => name,
        None => host.split(':').next().unwrap_or_default(),
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn site(address: &str, is_secure: bool, allowed: &[&str]) -> Site {
        let allowed: Vec<String> = allowed.iter().map(|&name| name.to_owned()).collect();
        Site::new(Some(address.parse().unwrap()), is_secure, &allowed)
    }

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    fn is_named(site: &Site, host: &'static str) -> bool {
        site.named(&headers(&[("host", host)]), None).is_some()
    }

    #[test]
    fn only_own_names_are_answered_to() {
        let site = site("127.0.0.1:7317", false, &["gate.example"]);
        for host in ["127.0.0.1:7317", "localhost:7317", "LOCALHOST:7317", "[::1]:7317", "gate.example"] {
            assert!(is_named(&site, host), "{host}");
        }
        let wrong = [
            "evil.example:7317",
            "127.0.0.1",
            "127.0.0.1:80",
            "localhost",
            "localhost:7318",
            "localhost.evil.example:7317",
            "0.0.0.0:7317",
            "user@127.0.0.1:7317",
            "127.0.0.1:7317:7317",
            "",
        ];
        for host in wrong {
            assert!(!is_named(&site, host), "{host}");
        }
    }

    #[test]
    fn a_name_is_told_once_and_the_same() {
        let site = site("127.0.0.1:7317", false, &[]);
        let own = ("host", "127.0.0.1:7317");
        assert!(site.named(&headers(&[]), None).is_none());
        assert!(site.named(&headers(&[own, own]), None).is_none());
        let authority = |text: &'static str| Authority::from_static(text);
        assert!(site.named(&headers(&[own]), Some(&authority("127.0.0.1:7317"))).is_some());
        assert!(site.named(&headers(&[own]), Some(&authority("evil.example"))).is_none());
    }

    #[test]
    fn an_address_outside_of_loopback_has_no_loopback_names() {
        let site = site("192.0.2.7:443", true, &[]);
        assert!(is_named(&site, "192.0.2.7") && is_named(&site, "192.0.2.7:443"));
        assert!(!is_named(&site, "127.0.0.1:443") && !is_named(&site, "localhost"));
        assert_eq!(site.url(), Some("https://192.0.2.7:443"));
    }

    #[test]
    fn a_page_is_ours_if_it_has_our_scheme_and_the_name_that_was_asked() {
        let plain = site("127.0.0.1:7317", false, &["gate.example"]);
        let is_own =
            |site: &Site, origin, host| site.is_own_page(&headers(&[("origin", origin)]), Some(host));
        assert!(plain.is_own_page(&headers(&[]), Some("127.0.0.1:7317")));
        assert!(is_own(&plain, "http://127.0.0.1:7317", "127.0.0.1:7317"));
        assert!(is_own(&plain, "https://gate.example", "gate.example"));
        for origin in ["null", "", "http://localhost:7317", "https://127.0.0.1:7317", "http://127.0.0.1:3000"]
        {
            assert!(!is_own(&plain, origin, "127.0.0.1:7317"), "{origin}");
        }
        let secure = site("192.0.2.7:8443", true, &[]);
        assert!(is_own(&secure, "https://192.0.2.7:8443", "192.0.2.7:8443"));
        assert!(!is_own(&secure, "http://192.0.2.7:8443", "192.0.2.7:8443"));
        let origin = ("origin", "http://127.0.0.1:7317");
        assert!(!plain.is_own_page(&headers(&[origin, origin]), Some("127.0.0.1:7317")));
    }

    #[test]
    fn names_of_this_machine_are_known() {
        for name in [
            "localhost",
            "LOCALHOST:7317",
            "app.localhost",
            "127.0.0.1:1",
            "127.8.9.1",
            "[::1]:7317",
            "localhost.",
        ] {
            assert!(is_loopback_name(name), "{name}");
        }
        for name in ["gate.lan", "localhost.evil.test", "10.0.0.1:1", "[2001:db8::1]", "", "1"] {
            assert!(!is_loopback_name(name), "{name}");
        }
    }
}
