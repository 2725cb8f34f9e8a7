//! Requests of a program: whether an address is only read or something is sent there.

use super::CodeReader;
use super::chain::GroupSpan;
use super::options::{OptionPart, option_of};
use super::value::CodeValue;
use crate::act::Act;
use crate::code::CodeTarget;
use crate::outgoing::is_plain_header;

/// Options of a request that say how it is made.
const PLAIN_OPTIONS: &[&str] = &[
    "agent",
    "allow_redirects",
    "cache",
    "cafile",
    "capath",
    "context",
    "credentials",
    "decompress",
    "encoding",
    "follow_redirects",
    "host",
    "hostname",
    "http2",
    "maxRedirects",
    "mode",
    "next",
    "origin_req_host",
    "path",
    "port",
    "protocol",
    "proxies",
    "redirect",
    "responseType",
    "retry",
    "signal",
    "stream",
    "timeout",
    "unverifiable",
    "url",
    "validateStatus",
    "verify",
];

/// Members of a request or a client that say what is sent.
const CARRYING_MEMBERS: &[&str] = &["auth", "body", "cookies", "data", "headers", "method", "params"];

impl CodeReader<'_> {
    /// Tells a request that sends data from one that fetches.
    pub(super) fn request(&mut self, place: usize, own: Option<&str>, arguments: Option<GroupSpan>) {
        let hosts = match own {
            Some(own) => vec![CodeTarget::Host(own.to_owned())],
            None => self.hosts(arguments, place),
        };
        let sends = arguments.is_none_or(|arguments| self.sends(arguments, place));
        let act = if sends { Act::Send } else { Act::Fetch };
        self.signs.carries |= act == Act::Fetch && self.is_computed(arguments);
        for host in hosts {
            self.out.add(act, host);
        }
    }

    /// Says whether a request has a body, another method than the one that only fetches, or something nobody knows.
    fn sends(&self, arguments: GroupSpan, address: usize) -> bool {
        let mut place = 0;
        self.cutter().split(arguments).into_iter().any(|part| match option_of(self.cutter(), part) {
            OptionPart::Named(name, value) => self.is_sent(&name, value),
            OptionPart::Spread(span) => self.options_send(span),
            OptionPart::Unclear => true,
            OptionPart::Positional => {
                let is_address = place == address;
                place += 1;
                let is_quiet = |value: &CodeValue| {
                    matches!(value, CodeValue::Own | CodeValue::Plain(_))
                        || is_address && !matches!(value, CodeValue::Kind("table", _))
                };
                !self.evaluator.values(part).iter().all(is_quiet) && self.options_send(part)
            }
        })
    }

    fn options_send(&self, span: GroupSpan) -> bool {
        self.options_of(span)
            .into_iter()
            .any(|option| option.is_none_or(|(name, value)| self.is_sent(&name, value)))
    }

    /// Says whether one option makes a request carry something.
    fn is_sent(&self, name: &str, value: GroupSpan) -> bool {
        let values = || self.evaluator.values(value);
        let is_nothing = |value: &CodeValue| matches!(value, CodeValue::Plain(plain) if matches!(plain.as_str(), "None" | "null" | "undefined" | "nil"));
        match name {
            "method" => !values().iter().all(|value| {
                matches!(value, CodeValue::Text(method) if matches!(method.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS"))
            }),
            "headers" => self.options_of(value).into_iter().any(|header| {
                header.is_none_or(|(name, value)| match self.evaluator.values(value).as_slice() {
                    [CodeValue::Text(text)] => !is_plain_header(&name, text),
                    _ => true,
                })
            }),
            "params" | "searchParams" | "query" => self.options_of(value).into_iter().any(|pair| {
                pair.is_none_or(|(_, value)| {
                    !matches!(self.evaluator.values(value).as_slice(), [CodeValue::Text(_) | CodeValue::Plain(_)])
                })
            }),
            name => PLAIN_OPTIONS.binary_search(&name).is_err() && !values().iter().all(is_nothing),
        }
    }

    /// Reads a member of a request or of a client by which it is made to carry something.
    pub(super) fn read_request_member(&mut self, value: &CodeValue, name: &str) {
        if let CodeValue::Kind("url" | "client" | "request", own) = value
            && CARRYING_MEMBERS.contains(&name)
        {
            let host = own.clone().map_or(CodeTarget::SomeHost, CodeTarget::Host);
            self.out.add(Act::Send, host);
        }
    }
}
