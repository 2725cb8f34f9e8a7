//! Passwords after the short options of known programs: `mysql -pSECRET`, `curl -u user:SECRET`.

use super::text::{Text, is_stop};
use super::{Span, value};

/// How a program takes a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// In the same word as the option.
    Glued,
    /// In the next word or the same one.
    Next,
    /// As `Next`, after `login` only.
    NextOfLogin,
    /// In the next word alone: longer options begin with the same letter.
    NextAlone,
    /// In the next word or the same one, after this byte.
    After(u8),
    /// The word itself begins with the option.
    Prefix,
    /// As `Next`, if there is an equals sign in it: cookies, and no file that holds them.
    Cookie,
}

/// Programs, the option, how it takes the secret.
const OPTIONS: &[(&[&str], &str, Takes)] = &[
    (&["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mysqlcheck"], "-p", Takes::Glued),
    (&["mariadb", "mariadb-dump", "mariadb-admin", "7z", "7za", "7zr", "7zz"], "-p", Takes::Glued),
    (
        &["sshpass", "mongosh", "mongo", "mongodump", "mongorestore", "mongoexport", "mongoimport"],
        "-p",
        Takes::Next,
    ),
    (&["docker", "podman", "helm", "skopeo", "buildah", "nerdctl", "az", "oc"], "-p", Takes::NextOfLogin),
    (&["sqlcmd", "bcp", "zip", "unzip"], "-P", Takes::Next),
    (&["redis-cli"], "-a", Takes::Next),
    (&["ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami"], "-w", Takes::Next),
    (&["curl", "http", "https", "xh"], "-u", Takes::After(b':')),
    (&["curl"], "--user", Takes::After(b':')),
    (&["curl"], "-U", Takes::After(b':')),
    (&["curl"], "--proxy-user", Takes::After(b':')),
    (&["http", "https", "xh"], "-a", Takes::After(b':')),
    (&["curl"], "-b", Takes::Cookie),
    (&["openssl"], "pass:", Takes::Prefix),
    (&["openssl"], "-k", Takes::NextAlone),
    (&["openssl"], "-K", Takes::NextAlone),
    (&["smbclient", "rpcclient", "smbget", "net"], "-U", Takes::After(b'%')),
];

/// How long a secret in quotes may be.
const LONGEST: usize = 512;

/// Finds secrets after short options.
pub(super) fn find(text: Text<'_>, spans: &mut Vec<Span>) {
    let (mut program, mut is_login): (&[u8], bool) = (b"", false);
    let mut place = 0;
    while place < text.len() {
        let blank = text.blank(place);
        let is_break = text.line_break(place) > 0 || matches!(text.at(place), b';' | b'|' | b'&' | b'(');
        if is_break {
            (program, is_login) = (b"", false);
        }
        if blank > 0 || is_break || is_edge(text, place) {
            place += blank.max(1);
            continue;
        }
        let end = end_of_word(text, place);
        let word = text.part(place, end);
        let found = read_option(text, place, end, program, is_login);
        let own = word.rsplit(|byte| *byte == b'/').next().unwrap_or(word);
        if OPTIONS.iter().any(|(names, ..)| names.iter().any(|name| name.as_bytes() == own)) {
            (program, is_login) = (own, false);
        }
        is_login = is_login || word == b"login";
        place = found.map_or(end, |span| span.end).max(place + 1);
        spans.extend(found);
    }
}

fn read_option(text: Text<'_>, place: usize, end: usize, program: &[u8], is_login: bool) -> Option<Span> {
    if program.is_empty() {
        return None;
    }
    let word = text.part(place, end);
    let of_program = OPTIONS.iter().filter(|(names, ..)| names.iter().any(|name| name.as_bytes() == program));
    of_program.into_iter().find_map(|(_, option, takes)| {
        if !word.starts_with(option.as_bytes()) && !is_cluster(word, option) {
            return None;
        }
        let glued = if is_cluster(word, option) { end } else { place + option.len() };
        let is_glued = glued < end || matches!(text.at(glued), b'"' | b'\'');
        let start = match takes {
            Takes::Glued | Takes::Prefix if !is_glued => return None,
            Takes::NextAlone if is_glued => return None,
            Takes::NextOfLogin if !is_login => return None,
            _ if is_glued => glued + usize::from(option.starts_with("--") && text.at(glued) == b'='),
            _ => text.after_spaces(glued),
        };
        read_secret(text, start, *takes)
    })
}

/// Says whether a word is several options of one letter, the last of which is this one.
fn is_cluster(word: &[u8], option: &str) -> bool {
    let letters = word.strip_prefix(b"-").unwrap_or_default();
    option.len() == 2
        && (2..6).contains(&letters.len())
        && letters.iter().all(u8::is_ascii_alphabetic)
        && letters.last() == option.as_bytes().last()
        && letters.first() != option.as_bytes().last()
}

fn read_secret(text: Text<'_>, start: usize, takes: Takes) -> Option<Span> {
    let quote = text.at(start);
    let is_quoted = matches!(quote, b'"' | b'\'');
    let start = start + usize::from(is_quoted);
    let close = text.run(start, LONGEST, |byte| byte != quote && byte != b'\n');
    let end = if is_quoted && text.at(close) == quote { close } else { end_of_word(text, start) };
    let start = match takes {
        Takes::After(mark) => {
            let place = text.run(start, end.saturating_sub(start), |byte| byte != mark);
            if place >= end || text.has(place, b"://") {
                return None;
            }
            place + 1
        }
        Takes::Cookie if !text.part(start, end).contains(&b'=') => return None,
        _ => start,
    };
    let bytes = text.part(start, end);
    let is_option = bytes.starts_with(b"-") && !matches!(takes, Takes::After(_)) && !is_quoted;
    let is_secret = !bytes.is_empty() && !is_option && !value::is_mark(bytes) && !value::is_reference(bytes);
    let kind = if takes == Takes::Cookie { "cookie" } else { "password" };
    is_secret.then_some(Span { start, end, kind })
}

fn end_of_word(text: Text<'_>, start: usize) -> usize {
    let mut end = start;
    while end < text.len() && !is_edge(text, end) && text.blank(end) == 0 {
        end += 1;
    }
    end
}

/// Says whether a word ends at a place because of a quote, an escaped one too, or a separator.
fn is_edge(text: Text<'_>, place: usize) -> bool {
    is_stop(text.at(place)) || (text.at(place) == b'\\' && matches!(text.at(place + 1), b'"' | b'\'' | b'\\'))
}
