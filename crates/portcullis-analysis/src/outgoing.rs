//! What a request carries besides its question: data in an address, in a header, in the name of a host.
//!
//! A host that everybody knows gives nothing on to whoever could be waiting for it; to all others an address is only
//! plain as long as nothing in it looks like data.

use crate::encoded_text::is_encoded_text;
use crate::lists::hosts::PUBLIC;

/// The longest query that is taken for a question and not for data.
const LONGEST_QUERY: usize = 512;

/// Parameters that carry a secret.
const SECRET_PARAMETERS: &[&str] = &[
    "access_token",
    "api_key",
    "apikey",
    "auth",
    "credentials",
    "key",
    "passwd",
    "password",
    "pwd",
    "secret",
    "token",
];

/// Beginnings of well-known credentials.
const SECRET_STARTS: &[&str] = &[
    "AKIA",
    "ASIA",
    "AIza",
    "eyJhbGciOi",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "npm_",
    "pypi-",
    "sk-ant-",
    "sk-proj-",
    "sk_live_",
    "xoxb-",
    "xoxp-",
];

/// Ends of names that stand for secrets, as variables are written.
const SECRET_NAMES: &[&str] = &[
    "ACCESS_KEY",
    "API_KEY",
    "AUTH_TOKEN",
    "CREDENTIALS",
    "PASSWD",
    "PASSWORD",
    "PRIVATE_KEY",
    "SECRET",
    "SECRET_KEY",
    "TOKEN",
];

/// How long one unbroken piece of an address may be before it is taken for data.
const LONGEST_PIECE: usize = 160;

/// The same for a host that not everybody knows: pieces of a path, and values of a query.
const LONGEST_STRANGE_PIECE: usize = 64;
const LONGEST_STRANGE_VALUE: usize = 24;

/// How long a value of letters and digits may be before it is taken for a password rather than a name.
const LONGEST_PLAIN_VALUE: usize = 3;

/// How long one label of a host may be before it is taken for data.
const LONGEST_LABEL: usize = 40;

/// The same for a label of letters and digits, and for one that has capitals besides: people write hosts in small letters.
const LONGEST_MIXED_LABEL: usize = 24;
const LONGEST_MIXED_CAPITALS: usize = 9;

/// Says whether a host is one of those that everybody fetches from, and that hand nothing on.
pub(crate) fn is_public_host(host: &str) -> bool {
    PUBLIC.iter().any(|listed| {
        host.strip_suffix(listed).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    })
}

/// Labels that hosts of a service are usually called by.
const USUAL_LABELS: &[&str] = &[
    "account",
    "accounts",
    "admin",
    "api",
    "app",
    "apps",
    "assets",
    "auth",
    "beta",
    "blog",
    "cache",
    "cdn",
    "cloud",
    "community",
    "console",
    "dashboard",
    "data",
    "db",
    "demo",
    "dev",
    "developer",
    "developers",
    "dl",
    "docs",
    "download",
    "downloads",
    "edge",
    "eu",
    "files",
    "forum",
    "ftp",
    "gateway",
    "git",
    "help",
    "id",
    "imap",
    "img",
    "info",
    "internal",
    "login",
    "m",
    "mail",
    "media",
    "mirror",
    "mx",
    "news",
    "ns",
    "ns1",
    "ns2",
    "packages",
    "pkg",
    "portal",
    "preview",
    "prod",
    "production",
    "proxy",
    "qa",
    "registry",
    "repo",
    "secure",
    "shop",
    "smtp",
    "sso",
    "stage",
    "staging",
    "static",
    "status",
    "store",
    "support",
    "test",
    "us",
    "v1",
    "v2",
    "vpn",
    "web",
    "wiki",
    "whois",
    "ws",
    "www",
];

/// Says whether the name of a host may carry data to whoever answers for it: a label that no service is called by.
pub(crate) fn name_carries_data(host: &str) -> bool {
    let labels: Vec<&str> = host.trim_end_matches('.').split('.').collect();
    let own = labels.len().saturating_sub(2);
    let is_number = labels.iter().all(|label| label.chars().all(|letter| letter.is_ascii_digit()));
    let is_country = labels.last().is_some_and(|last| last.len() == 2);
    let is_usual = |label: &&str| USUAL_LABELS.contains(label) || label.len() <= 3 && is_country;
    !is_public_host(host) && !is_number && !labels.iter().take(own).all(is_usual)
}

/// Says whether an address carries more than a question; `host` is the one it names.
pub(crate) fn address_carries_data(host: &str, address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    let is_strange = carries_strange_data(tail)
        || user.is_some_and(|user| user != "git")
        || authority.split(['.', '@', ':']).any(is_token_label);
    carries_data(authority, tail) || !is_public_host(host) && is_strange
}

/// Says whether a label of a host looks like a key or encoded text rather than a name.
fn is_token_label(label: &str) -> bool {
    let has_capitals = label.contains(|letter: char| letter.is_ascii_uppercase());
    let longest = if has_capitals { LONGEST_MIXED_CAPITALS } else { LONGEST_MIXED_LABEL };
    label.len() > longest && is_mixed(label)
}

/// Says whether a text has letters and digits.
fn is_mixed(text: &str) -> bool {
    text.contains(|letter: char| letter.is_ascii_digit())
        && text.contains(|letter: char| letter.is_ascii_alphabetic())
}

/// Says whether the parts of an address carry data: a long query, encoded text, a secret by its name or form.
pub(crate) fn carries_data(authority: &str, tail: &str) -> bool {
    let names_secret = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        SECRET_PARAMETERS.contains(&name.to_ascii_lowercase().as_str()) && value.len() > 8
    };
    let query = tail.split_once('?').map(|(_, query)| query).unwrap_or_default();
    let is_break = |letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '+' | '=' | '_');
    let plain = decoded(tail);
    query.len() > LONGEST_QUERY
        || tail.split(is_break).any(is_encoded_text)
        || query.split(['&', ';']).any(names_secret)
        || tail.split(is_break).any(|piece| piece.len() > LONGEST_PIECE)
        || authority.split(['.', '@', ':']).any(|label| label.len() > LONGEST_LABEL)
        || holds_secret(authority)
        || holds_secret(&plain)
        || authority.split_once('@').is_some_and(|(user, _)| user.contains(':'))
}

/// Says whether an address of a host that not everybody knows holds what may be data.
fn carries_strange_data(tail: &str) -> bool {
    let (path, query) = tail.split_once('?').unwrap_or((tail, ""));
    let is_break = |letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '+' | '=' | '_');
    let is_data = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or(("", pair));
        let value = decoded(value);
        let is_secret = SECRET_PARAMETERS.contains(&name.to_ascii_lowercase().as_str()) && value.len() > 3;
        let is_word = value.contains([' ', ',', '/']) || is_version(&value);
        let is_long = value.len() > LONGEST_STRANGE_VALUE && !is_word;
        let is_odd = value.len() > LONGEST_PLAIN_VALUE && !is_word && is_mixed(&value);
        is_secret || is_long || is_odd || value.contains(['=', ':', '{', '\n', '@'])
    };
    names_secret(&decoded(tail))
        || path.split(is_break).any(|piece| piece.len() > LONGEST_STRANGE_PIECE)
        || query.split(['&', ';']).any(is_data)
}

/// Says whether a text names a variable that holds a secret: `DB_PASSWORD`.
pub(crate) fn names_secret(text: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.split(|letter| !is_part(letter)).any(|word| {
        word.contains('_')
            && !word.contains(|letter: char| letter.is_ascii_lowercase())
            && SECRET_NAMES.iter().any(|end| word.ends_with(end))
    })
}

/// Says whether a text holds what looks like a well-known credential.
pub(crate) fn holds_secret(text: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    text.split(|letter| !is_part(letter))
        .any(|word| word.len() > 16 && SECRET_STARTS.iter().any(|start| word.starts_with(start)))
}

/// Says whether words for a search engine give something away: a secret with its value, or a machine inside.
pub(crate) fn is_telling(text: &str) -> bool {
    let is_inside = |word: &str| {
        let host = word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
        host.contains('.') && crate::place::is_internal_host(host) && !crate::place::is_metadata(host)
    };
    holds_secret(text)
        || text.split_whitespace().any(is_key_like)
        || names_secret(text) && text.contains(['=', ':'])
        || text.split_whitespace().any(is_inside)
        || text
            .split_whitespace()
            .any(|word| word.len() > LONGEST_STRANGE_PIECE && !word.contains(['/', '.']))
}

/// Says whether a word is as long and mixed as keys are, and unlike names that people give.
fn is_key_like(word: &str) -> bool {
    let has = |is: fn(&char) -> bool| word.chars().any(|letter| is(&letter));
    let is_of_key = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/' | '=');
    // Names of classes and files have slashes too.
    let is_path = word.contains('/') && !word.contains(['+', '=']);
    word.len() > LONGEST_LABEL
        && !is_path
        && word.chars().all(is_of_key)
        && has(char::is_ascii_lowercase)
        && has(char::is_ascii_uppercase)
        && has(char::is_ascii_digit)
}

/// Headers that say how an answer is wanted.
const PLAIN_HEADERS: &[&str] = &[
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "dnt",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "origin",
    "pragma",
    "range",
    "te",
    "upgrade-insecure-requests",
    "x-github-api-version",
    "x-requested-with",
];

/// Says whether a header of a request says how the answer is wanted and carries nothing else.
pub(crate) fn is_plain_header(name: &str, value: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    let value = value.trim();
    let is_short = value.len() <= 128 && !holds_secret(value) && !names_secret(value);
    is_short
        && match name.as_str() {
            "accept" | "content-type" => value.contains('/'),
            "user-agent" => is_plain_agent(value),
            "referer" => is_plain_referer(value),
            _ if name.ends_with("-version") => is_version(value),
            _ => PLAIN_HEADERS.contains(&name.as_str()) && value.len() <= 64 && !value.contains('@'),
        }
}

/// Says whether a text is a version: a date or numbers with dots.
fn is_version(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | '-' | 'v'))
}

/// Says whether a text is a name that a client gives itself: `curl/8.5`, `Mozilla/5.0 (…)`.
pub(crate) fn is_plain_agent(text: &str) -> bool {
    let (name, rest) = text.split_once('/').unwrap_or((text, ""));
    let is_name = name.len() < 32
        && name.chars().all(|letter| letter.is_ascii_alphabetic() || matches!(letter, '-' | '_' | '.'));
    let is_numbered = rest.starts_with(|letter: char| letter.is_ascii_digit());
    !text.contains('=') && !holds_secret(text) && is_name && (is_numbered || rest.is_empty())
}

/// Says whether a text is the address of a page without data in it.
pub(crate) fn is_plain_referer(text: &str) -> bool {
    let is_page = text.starts_with("https://") || text.starts_with("http://");
    is_page && !address_carries_data("", text)
}

/// Undoes `%41`; what is no such escape stays.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        let byte = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(b'%'));
        rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_plain_if_it_says_how_the_answer_is_wanted() {
        for (name, value) in [
            ("Accept", "application/vnd.github+json"),
            ("Content-Type", "application/json; charset=utf-8"),
            ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64)"),
            ("user-agent", "my-app/1.2"),
            ("Accept-Language", "en-US,en;q=0.9"),
            ("X-GitHub-Api-Version", "2022-11-28"),
            ("Range", "bytes=0-1023"),
        ] {
            assert!(is_plain_header(name, value), "{name}: {value}");
        }
        for (name, value) in [
            ("X-Data", "blue42"),
            ("Cookie", "s=blue42"),
            ("Accept", "blue42"),
            ("User-Agent", "NAME=blue42"),
            ("Referer", "blue42"),
            ("Authorization", "Bearer blue42"),
        ] {
            assert!(!is_plain_header(name, value), "{name}: {value}");
        }
    }

    #[test]
    fn an_address_of_a_strange_host_is_plain_as_long_as_nothing_in_it_looks_like_data() {
        for address in [
            "https://shop.example/products?page=2&sort=name",
            "https://shop.example/v1.2.3/app-linux-amd64.tar.gz",
            "https://shop.example/search?q=how+to+sort+a+list",
        ] {
            assert!(!address_carries_data("shop.example", address), "{address}");
        }
        for address in [
            "https://shop.example/?d=DB_PASSWORD%3Dblue42",
            "https://shop.example/APP_SECRET/blue42",
            "https://shop.example/?d=aGVsbG8gd29ybGQgdGhpcyBpcyBkYXRh",
            "https://shop.example/?token=blue42",
        ] {
            assert!(address_carries_data("shop.example", address), "{address}");
        }
    }

    #[test]
    fn words_for_a_search_may_hold_a_key() {
        assert!(is_telling("decode MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"));
        assert!(!is_telling("commit 2b6f1c0a9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a rust 1.95 error E0599"));
    }

    #[test]
    fn a_label_that_no_person_would_write_is_data() {
        for host in [
            "pk-live-9fQx71TzB2.x.example",
            "4d7920736563726574206b657920.x.example",
            "Mfrgg2Lom9x.t.example",
        ] {
            assert!(address_carries_data(host, &format!("https://{host}/")), "{host}");
        }
        for host in
            ["d1a2b3c4e5f6g7.cdn.example", "app-git-fix-42.preview.example", "Docs.Example", "s3.eu.example"]
        {
            assert!(!address_carries_data(host, &format!("https://{host}/")), "{host}");
        }
    }
}
