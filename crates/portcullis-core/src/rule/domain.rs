//! Host patterns of `WebFetch(domain:…)` rules, and the host of a URL (spec C6).

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{RuleProblem, Wildcard};

/// The longest host name there is.
const HOST_LIMIT: usize = 253;

/// A host pattern: `example.com`, `*.example.com`, `api-*.example.com`, `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainPattern {
    source: String,
    below: Below,
    // From the last label to the first.
    labels: Vec<Wildcard>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Below {
    /// The labels are the whole host.
    Nothing,
    /// One or more labels stand before them.
    Subdomains,
    /// There are no labels: every host.
    Everything,
}

impl DomainPattern {
    /// Reads the content of a `WebFetch` rule, `domain:` included.
    pub fn parse(content: &str) -> Result<Self, RuleProblem> {
        let domain = content
            .trim()
            .strip_prefix("domain")
            .map(str::trim_start)
            .and_then(|rest| rest.strip_prefix(':'));
        let Some(domain) = domain else {
            return Err(problem(content, "is not of the form `domain:host`", Some(suggestion_for(content))));
        };
        let host = domain.trim().to_ascii_lowercase();
        let host = host.strip_suffix('.').unwrap_or(&host);
        if host.contains("://") || host.contains('/') {
            return Err(problem(content, "names a URL instead of a host", Some(suggestion_for(domain))));
        }
        if let Some(address) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let address: Option<Ipv6Addr> = address.parse().ok();
            let address = address.ok_or_else(|| problem(content, "names no valid address", None))?;
            let address = format!("[{address}]");
            return Ok(Self::of_labels(&address, Below::Nothing, &[&address]));
        }
        if host == "*" {
            return Ok(Self::of_labels(host, Below::Everything, &[]));
        }
        let is_allowed = |character: char| is_host_character(character) || character == '*';
        if host.is_empty() || !host.chars().all(is_allowed) || host.split('.').any(str::is_empty) {
            let hint =
                "write the host alone, without port or path, and in its `xn--` form if it is not plain ASCII";
            return Err(problem(content, "names no valid host", Some(hint.to_owned())));
        }
        let (below, rest) = match host.strip_prefix("*.") {
            Some(rest) => (Below::Subdomains, rest),
            None => (Below::Nothing, host),
        };
        Ok(Self::of_labels(host, below, &rest.rsplit('.').collect::<Vec<_>>()))
    }

    fn of_labels(source: &str, below: Below, labels: &[&str]) -> Self {
        Self {
            source: source.to_owned(),
            below,
            labels: labels.iter().map(|label| Wildcard::new(label)).collect(),
        }
    }

    /// Returns the host pattern in lower case, without `domain:`.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Says whether the pattern matches every host.
    pub fn is_everything(&self) -> bool {
        self.below == Below::Everything
    }

    /// Says whether the pattern names one host.
    pub fn is_literal(&self) -> bool {
        !self.source.contains('*')
    }

    /// Says whether the pattern matches a host, which is given without a port; IPv6 addresses in brackets.
    pub fn matches(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let host = host.strip_suffix('.').unwrap_or(&host);
        let mut labels: Box<dyn Iterator<Item = &str>> =
            if host.starts_with('[') { Box::new(std::iter::once(host)) } else { Box::new(host.rsplit('.')) };
        let ends_right =
            self.labels.iter().all(|pattern| labels.next().is_some_and(|label| pattern.matches(label)));
        match self.below {
            Below::Everything => true,
            Below::Nothing => ends_right && labels.next().is_none(),
            Below::Subdomains => ends_right && labels.next().is_some_and(|label| !label.is_empty()),
        }
    }
}

const fn is_host_character(character: char) -> bool {
    matches!(character, 'a'..='z' | '0'..='9' | '-' | '_' | '.')
}

fn problem(content: &str, what: &str, hint: Option<String>) -> RuleProblem {
    RuleProblem { message: format!("the content `{content}` of a `WebFetch` rule {what}"), hint }
}

fn suggestion_for(text: &str) -> String {
    let text = text.trim();
    let host = host_of(text).or_else(|| host_of(&format!("https://{text}")));
    match host {
        Some(host) => format!("write `WebFetch(domain:{host})`"),
        None => "write `WebFetch(domain:example.com)`".to_owned(),
    }
}

/// Returns the host that a URL leads to, in lower case, without a final dot; IPv6 addresses in brackets.
///
/// Only `http` and `https` URLs have one. Where two readers of the URL could disagree about the host there is none.
pub(crate) fn host_of(url: &str) -> Option<String> {
    if url.chars().any(|character| character.is_control() || character.is_whitespace()) {
        return None;
    }
    let (scheme, rest) = url.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next()?;
    // Some readers end the authority at a backslash, others read on to the `@` behind it.
    if authority.contains('\\') {
        return None;
    }
    let place = match authority.split_once('@') {
        Some((_, place)) if place.contains('@') => return None,
        Some((_, place)) => place,
        None => authority,
    };
    if place.starts_with('[') { bracketed_host(place) } else { plain_host(place) }
}

fn bracketed_host(place: &str) -> Option<String> {
    let (address, port) = place.strip_prefix('[')?.split_once(']')?;
    let address: Ipv6Addr = address.parse().ok()?;
    let is_fine = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
    is_fine.then(|| format!("[{address}]"))
}

fn plain_host(place: &str) -> Option<String> {
    let (host, port) = place.split_once(':').unwrap_or((place, ""));
    let host = host.to_ascii_lowercase();
    let host = host.strip_suffix('.').unwrap_or(&host);
    let is_name = host.len() <= HOST_LIMIT
        && host.chars().all(is_host_character)
        && host.split('.').all(|label| !label.is_empty());
    (is_port(port) && is_name && !is_odd_number(host)).then(|| host.to_owned())
}

fn is_port(port: &str) -> bool {
    port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Says whether browsers would take a host for an IPv4 address although it is not spelled as one (`0x7f.1`).
fn is_odd_number(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit())
        || last.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    is_number && host.parse::<Ipv4Addr>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_matched_label_by_label() {
        for (pattern, host, expected) in [
            ("example.com", "example.com", true),
            ("example.com", "EXAMPLE.com", true),
            ("Example.COM.", "example.com", true),
            ("example.com", "example.com.", true),
            ("example.com", "www.example.com", false),
            ("example.com", "example.com.evil.org", false),
            ("example.com", "notexample.com", false),
            ("*.example.com", "www.example.com", true),
            ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", ".example.com", false),
            ("*.example.com", "evilexample.com", false),
            ("example.*", "example.org", true),
            ("example.*", "example.evil.com", false),
            ("api-*.example.com", "api-1.example.com", true),
            ("api-*.example.com", "api-1.x.example.com", false),
            ("a.*.com", "a.b.com", true),
            ("a.*.com", "a.b.c.com", false),
            ("*.*.com", "a.b.com", true),
            ("*.*.com", "b.com", false),
            ("*", "anything.at.all", true),
            ("*", "[::1]", true),
            ("[::1]", "[::1]", true),
            ("[0:0::1]", "[::1]", true),
            ("localhost", "localhost", true),
            ("127.0.0.1", "127.0.0.1", true),
        ] {
            let pattern_read = DomainPattern::parse(&format!("domain:{pattern}")).unwrap();
            assert_eq!(pattern_read.matches(host), expected, "{pattern} on {host}");
        }
    }

    #[test]
    fn content_that_is_no_host_pattern_is_a_problem_with_a_hint() {
        for (content, hint) in [
            ("example.com", Some("write `WebFetch(domain:example.com)`")),
            ("https://example.com/x", Some("write `WebFetch(domain:example.com)`")),
            ("domain:https://docs.rs/serde", Some("write `WebFetch(domain:docs.rs)`")),
            ("domain:docs.rs/serde", Some("write `WebFetch(domain:docs.rs)`")),
            ("!!", Some("write `WebFetch(domain:example.com)`")),
            ("domain:[1]", None),
        ] {
            assert_eq!(DomainPattern::parse(content).unwrap_err().hint.as_deref(), hint, "{content}");
        }
        for content in
            ["domain:", "domain:a..b", "domain:localhost:80", "domain:a b", "domain:bücher.de", "domain:a@b"]
        {
            assert!(DomainPattern::parse(content).is_err(), "{content}");
        }
        assert_eq!(DomainPattern::parse(" domain : x.org ").unwrap().as_str(), "x.org");
    }

    #[test]
    fn the_host_of_a_url_is_what_every_reader_would_connect_to_or_none() {
        for (url, host) in [
            ("https://example.com", Some("example.com")),
            ("HTTPS://Example.COM./a?b#c", Some("example.com")),
            ("http://example.com:8080/x", Some("example.com")),
            ("http://example.com:/x", Some("example.com")),
            ("https://user@example.com/", Some("example.com")),
            ("https://user:secret@example.com/", Some("example.com")),
            ("https://good.com@evil.com/", Some("evil.com")),
            ("https://good.com#@evil.com", Some("good.com")),
            ("https://good.com?@evil.com", Some("good.com")),
            ("https://good.com/@evil.com", Some("good.com")),
            ("https://good.com/a\\b", Some("good.com")),
            ("https://[::1]:80/", Some("[::1]")),
            ("https://[0:0:0:0:0:0:0:1]", Some("[::1]")),
            ("http://127.0.0.1/", Some("127.0.0.1")),
            ("https://xn--bcher-kva.de/", Some("xn--bcher-kva.de")),
            ("https://good.com\\@evil.com", None),
            ("https://a@good.com@evil.com", None),
            ("https:\\\\evil.com", None),
            ("https:/evil.com", None),
            ("https:///evil.com", None),
            ("https://", None),
            ("https://@", None),
            ("https://:80", None),
            ("https://good.com:80x", None),
            ("https://good.com:80:90", None),
            ("https://good.com:999999", None),
            ("https://good.com\t.evil.com", None),
            ("https://good.com\n@evil.com", None),
            (" https://good.com", None),
            ("https://good.com ", None),
            ("https://good%2ecom", None),
            ("https://bücher.de", None),
            ("https://good。com", None),
            ("https://a..b", None),
            ("https://[::1", None),
            ("https://[::1]x", None),
            ("https://[fe80::1%25eth0]/", None),
            ("http://2130706433/", None),
            ("http://0x7f.1/", None),
            ("http://127.1/", None),
            ("http://0177.0.0.1/", None),
            ("ftp://example.com", None),
            ("file:///etc/passwd", None),
            ("javascript:https://example.com", None),
            ("example.com/x", None),
            ("//example.com", None),
            ("", None),
        ] {
            assert_eq!(host_of(url).as_deref(), host, "{url:?}");
        }
        assert_eq!(host_of(&format!("https://{}.com", "a".repeat(300))), None);
    }
}
