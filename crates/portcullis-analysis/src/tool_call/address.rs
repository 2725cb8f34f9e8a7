//! Fetching an address: a page, or a way to carry something out.

use super::CallInput;
use crate::act::Act;
use crate::effect::{Certainty, Effect, Target};
use crate::outgoing::{address_carries_data, decoded};
use crate::place::is_loopback;

/// Works out what fetching an address does.
pub(super) fn effect_of(address: &str, call: &CallInput<'_>) -> Effect {
    // Clients drop white space and take backslashes for slashes.
    let clean: String =
        address.trim().chars().filter(|letter| !matches!(letter, '\t' | '\n' | '\r')).collect();
    let clean = clean.replace('\\', "/");
    let (scheme, rest) = match clean.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) && !is_port(rest) => (scheme.to_ascii_lowercase(), rest),
        _ => ("https".to_owned(), clean.as_str()),
    };
    if scheme == "file" {
        let path = rest.strip_prefix("//localhost").unwrap_or(rest).trim_start_matches('/');
        let path = path.split(['?', '#']).next().unwrap_or(path);
        return super::effect(Act::Read, call.path(&format!("/{}", decoded(path))));
    }
    if !matches!(scheme.as_str(), "http" | "https") {
        return super::effect(Act::Unknown, Target::Name(address.to_owned()));
    }
    let rest = rest.trim_start_matches('/');
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let authority = decoded(authority);
    // Letters of other scripts may stand for plain ones, and clients do not agree on backslashes before a user's end.
    let is_clear = authority.is_ascii() && !(address.contains('\\') && address.contains('@'));
    let host = CallInput::host(&format!("{scheme}://{authority}{tail}"));
    let name = host.host().unwrap_or_default();
    let carries = address_carries_data(name, &format!("{authority}{tail}")) && !is_loopback(name);
    let act = if carries { Act::Send } else { Act::Fetch };
    let target = match host {
        Target::Host { host, .. } if is_clear => Target::Host { host, written: address.to_owned() },
        _ => Target::Host { host: String::new(), written: address.to_owned() },
    };
    // What looks like data in an address may be none.
    let certainty = if carries { Certainty::Possible } else { Certainty::Certain };
    Effect { certainty, ..super::effect(act, target) }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-'))
}

/// Says whether what follows a colon is a port: `localhost:8080/x`.
fn is_port(rest: &str) -> bool {
    let digits = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    !digits.is_empty() && digits.len() < 6 && digits.chars().all(|letter| letter.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::Surroundings;

    fn effect(address: &str) -> Effect {
        let surroundings = Surroundings {
            directory: "/code/app",
            home: Some("/home/me"),
            profiles: crate::profile::Profiles::BUILT_IN,
        };
        effect_of(address, &CallInput { fields: &[], surroundings })
    }

    #[test]
    fn the_host_is_the_one_a_client_would_ask() {
        for address in [
            "http://169.254.169.254/x",
            " HTTP://169.254.169.254",
            "http:/169.254.169.254/",
            "http:169.254.169.254/",
            "http:\\\\169.254.169.254/",
            "http://example.com@169.254.169.254/",
            "http://%31%36%39.254.169.254/",
            "http://16\t9.254.169.254/",
            "169.254.169.254/x",
        ] {
            let host = effect(address).target.host().map(str::to_owned);
            assert_eq!(host.as_deref(), Some("169.254.169.254"), "{address}");
        }
        assert_eq!(effect("http://example.com\\@169.254.169.254/").target.host(), Some(""));
        assert_eq!(effect("http://\u{2460}69.254.169.254/").target.host(), Some(""));
        assert_eq!(effect("localhost:3000/x").target.host(), Some("localhost"));
    }

    #[test]
    fn an_address_of_a_file_reads_it_and_an_odd_one_is_unknown() {
        for address in ["file:///etc/shadow", "FILE:/etc/shadow", "file://localhost/etc/%73hadow"] {
            let effect = effect(address);
            assert_eq!((effect.act, effect.target.paths()), (Act::Read, &["/etc/shadow".to_owned()][..]));
        }
        for address in
            ["javascript:alert(1)", "data:text/html,x", "gopher://127.0.0.1:6379/_x", "unix:/x.sock"]
        {
            assert_eq!(effect(address).act, Act::Unknown, "{address}");
        }
    }

    #[test]
    fn data_in_an_address_is_sent() {
        let long = "QUJD".repeat(50);
        for address in [
            format!("https://example.com/{long}"),
            format!("https://example.com/?d={long}"),
            format!("https://{}.example.com/", "ab12".repeat(12)),
            "https://example.com/?d=AKIAABCDEFGHIJKLMNOP".to_owned(),
            "https://me:password@example.com/".to_owned(),
            "https://example.com/ghp_0123456789abcdefghij0123456789".to_owned(),
        ] {
            assert_eq!(effect(&address).act, Act::Send, "{address}");
        }
        for address in [
            "https://example.com/a-very-long-title-of-an-article-about-how-to-write-things-well-and-shortly",
            "https://example.com/commit/0123456789abcdef0123456789abcdef01234567",
            "https://example.com/search?q=how+to+sort",
        ] {
            assert_eq!(effect(address).act, Act::Fetch, "{address}");
        }
    }
}
