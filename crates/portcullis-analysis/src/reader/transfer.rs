//! `curl`, `wget` and `http`: whether an address is read or something is sent there.

use super::CommandContext;
use super::{certain, download, has};
use crate::act::Access;
use crate::act::Act;
use crate::argument::Argument;
use crate::effect::{Certainty, target};
use crate::outgoing::{
    address_carries_data, is_plain_agent, is_plain_header, is_plain_referer, is_public_host,
};
use crate::place::is_loopback;
use crate::profile::{Match, Use};

/// Options that send something, by their first spelling.
const SENDING: &[&str] = &[
    "-d",
    "--data-binary",
    "--data-raw",
    "--data-urlencode",
    "--json",
    "-F",
    "--form-string",
    "-T",
    "--post-data",
    "--post-file",
    "--body-data",
    "--body-file",
    "--raw",
];

/// Options that name the method.
const METHOD: &[&str] = &["-X", "--request", "--method"];

/// Methods that only read.
const READING: &[&str] = &["GET", "HEAD", "OPTIONS", "TRACE"];

/// Turns fetches into sending where the options or operands say so.
pub(super) fn read(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if found.is_idle {
        return uses;
    }
    let named = found.wanted.options.iter().find(|(option, _)| METHOD.contains(option));
    let method = named.and_then(|(_, value)| value.as_ref());
    let is_http = matches!(context.invocation.program_name(), Some("http" | "https" | "xh" | "xhs"));
    let (operands, spoken) = if is_http { of_http(&found.wanted.operands) } else { (Vec::new(), None) };
    if is_http {
        // Operands are read here; an option that nobody listed stays unknown.
        let is_among = |word: &Argument| found.wanted.operands.iter().any(|other| other.text == word.text);
        let is_operand = |used: &Use| used.word.as_ref().is_some_and(is_among);
        uses.retain(|used| !matches!(used.act, Act::Fetch | Act::Unknown) || !is_operand(used));
        uses.extend(operands.iter().map(|address| certain(Act::Fetch, address)));
        let files = found.wanted.operands.iter().skip(1).filter_map(file_of_item);
        uses.extend(files.map(|file| certain(Act::Read, &file)));
    }
    // `-G` puts the data into the address, but a file there is sent all the same.
    let named_files: Vec<&Argument> = values(found, &["--data-urlencode", "--url-query"])
        .filter(|word| !word.text.starts_with('@') && is_from_file(&word.text))
        .collect();
    uses.extend(named_files.iter().map(|word| certain(Act::Unknown, word)));
    let takes_file = |word: &Argument| is_from_file(&word.text);
    let is_put_in_address = has(found, &["-G"]) && !values(found, SENDING).any(takes_file);
    uses.extend(odd(found));
    uses.extend(download::left_files(context, found));
    let is_telling = tells_something(found) || is_http && items_tell(&found.wanted.operands);
    let is_sent = has(found, SENDING) && !is_put_in_address;
    let says_so = method.map(|word| word.text.as_str()).or(spoken.as_deref());
    let changes = says_so.is_some_and(|method| !READING.contains(&method.to_ascii_uppercase().as_str()));
    let is_fed = is_http && context.invocation.redirections.iter().any(|to| to.access == Access::Read);
    if is_sent || changes || is_fed || values(found, &["--url-query"]).any(takes_file) {
        for found in uses.iter_mut().filter(|found| found.act == Act::Fetch) {
            found.act = Act::Send;
        }
    }
    for found in uses.iter_mut().filter(|found| found.act == Act::Fetch) {
        let Some(word) = &found.word else { continue };
        // What is said beside the address matters where nobody knows who hears it.
        let host = target::host_in(&word.text).unwrap_or_default();
        if is_telling && !is_loopback(&host) && !is_public_host(&host) {
            found.act = Act::Send;
            found.certainty = Certainty::Possible;
            continue;
        }
        found.act = act_of_scheme(&word.text);
        if found.act == Act::Read {
            found.word = Some(word.piece(file_of(&word.text)));
        }
    }
    uses
}

/// Returns what an address stands for by its scheme: a file is read, and odd protocols say what they are told.
fn act_of_scheme(address: &str) -> Act {
    let scheme = address.split_once(':').map(|(scheme, rest)| (scheme.to_ascii_lowercase(), rest));
    match scheme {
        Some((scheme, _)) if scheme == "file" => Act::Read,
        Some((scheme, rest)) if rest.starts_with("//") => match scheme.as_str() {
            "http" | "https" | "ftp" | "ftps" => Act::Fetch,
            _ if scheme.chars().all(|letter| letter.is_ascii_alphabetic()) => Act::Connect,
            _ => Act::Fetch,
        },
        _ => Act::Fetch,
    }
}

/// Returns the path in the address of a file: `file:/x`, `FILE://host/x`.
fn file_of(address: &str) -> &str {
    let rest = address.split_once(':').map_or(address, |(_, rest)| rest);
    let after_host = rest.strip_prefix("//").and_then(|rest| rest.find('/').and_then(|at| rest.get(at..)));
    after_host.unwrap_or(rest)
}

/// Options that say who is asking.
const IDENTITIES: &[&str] =
    &["-u", "--oauth2-bearer", "-U", "--netrc-file", "--password", "--http-password", "--auth"];

/// Says whether a request tells the host more than what is wanted: headers, cookies, names, data in the address.
fn tells_something(found: &Match<'_>) -> bool {
    // What is only known at run time is looked at elsewhere.
    let is_header = |word: &Argument| {
        let plain = word.text.split_once(':').is_some_and(|(name, value)| is_plain_header(name, value));
        plain || !word.is_known()
    };
    let is_pair =
        |word: &Argument| !word.is_known() || !address_carries_data("", &format!("/?{}", word.text));
    !values(found, &["-H", "--header", "--proxy-header"]).all(is_header)
        || !values(found, &["-A", "--user-agent"]).all(|word| is_plain_agent(&word.text))
        || !values(found, &["-e", "--referer"]).all(|word| is_plain_referer(&word.text))
        || values(found, &["-b"]).any(|word| word.text.contains('='))
        || has(found, IDENTITIES)
        || !values(found, &["--url-query"]).chain(values(found, SENDING)).all(is_pair)
}

/// Returns the file that an item of `http` is taken from: `@a`, `name@a`, `name=@a`, `name:=@a`.
fn file_of_item(item: &Argument) -> Option<Argument> {
    let (_, rest) = item.text.split_at_checked(item.text.find([':', '=', '@'])?)?;
    let named = rest.trim_start_matches([':', '=']).strip_prefix('@');
    // A mark behind a backslash is none.
    let is_escaped = item.text.contains('\\');
    let file = if is_escaped { item.text.split_once('@').map(|(_, file)| file) } else { named };
    file.map(|file| item.piece(file.split(";type=").next().unwrap_or(file)))
}

/// Says whether items of `http` after the address tell the host something: headers and parameters.
fn items_tell(operands: &[Argument]) -> bool {
    operands.iter().skip(1).any(|item| match item.text.split_once("==") {
        Some((_, value)) => address_carries_data("", &format!("/?q={value}")),
        None => item.text.split_once(':').is_some_and(|(name, value)| {
            !name.starts_with("http")
                && !name.contains('.')
                && !name.is_empty()
                && !is_plain_header(name, value)
        }),
    })
}

/// Finds values that name files in ways of their own: cookies of a file, and an output in the format.
fn odd(found: &Match<'_>) -> Vec<Use> {
    let cookies = values(found, &["-b"]).filter(|word| !word.text.contains('='));
    let formats = values(found, &["-w"]).filter(|word| word.text.contains("%output{"));
    cookies
        .map(|word| certain(Act::Read, word))
        .chain(formats.map(|word| certain(Act::Unknown, word)))
        .collect()
}

fn values<'a>(found: &'a Match<'_>, options: &'a [&str]) -> impl Iterator<Item = &'a Argument> {
    let named = found.wanted.options.iter().filter(|(option, _)| options.contains(option));
    named.filter_map(|(_, value)| value.as_ref())
}

/// Says whether data is taken from a file: `@file`, `name@file`.
fn is_from_file(data: &str) -> bool {
    data.split_once('@').is_some_and(|(name, _)| !name.contains(['=', ' ', '{', '"']))
}

/// Reads the operands of `http`: a method, an address, items that are sent.
fn of_http(operands: &[Argument]) -> (Vec<Argument>, Option<String>) {
    let is_method = |word: &&Argument| {
        word.text.len() < 8
            && !word.text.is_empty()
            && word.text.chars().all(|letter| letter.is_ascii_uppercase())
    };
    let method = operands.first().filter(is_method);
    let rest = operands.get(usize::from(method.is_some())..).unwrap_or_default();
    let Some((address, items)) = rest.split_first() else {
        return (Vec::new(), None);
    };
    let is_sent = |item: &&Argument| !item.text.contains("==") && item.text.contains(['=', '@']);
    let said = method.map(|word| word.text.clone());
    let implied = items.iter().find(is_sent).map(|_| "POST".to_owned());
    // A bare port is one of this machine.
    let is_port = |rest: &&str| rest.starts_with(|first: char| first.is_ascii_digit());
    let port = address.text.strip_prefix(':').filter(is_port);
    let whole = port.map_or_else(|| address.clone(), |rest| address.piece(&format!("localhost:{rest}")));
    (vec![whole], said.or(implied))
}
