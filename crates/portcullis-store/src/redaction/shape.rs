//! Secrets that are known by their own look: the keys and tokens of providers, and addresses that are keys themselves.

use std::sync::LazyLock;

use super::Span;
use super::text::{Text, is_key_byte};

/// What the part after the prefix is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    /// Letters and digits.
    Plain,
    /// Letters, digits, `_` and `-`.
    Key,
    /// The same and `.`.
    Dotted,
    /// Capital letters and digits.
    Capitals,
    /// Hexadecimal digits.
    Hex,
    /// The path of an address.
    Path,
}

impl Body {
    const fn has(self, byte: u8) -> bool {
        match self {
            Self::Plain => byte.is_ascii_alphanumeric(),
            Self::Key => is_key_byte(byte),
            Self::Dotted => is_key_byte(byte) || byte == b'.',
            Self::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Path => is_key_byte(byte) || matches!(byte, b'/' | b'.' | b'@' | b'%'),
        }
    }
}

/// Where a prefix counts, and what more is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Anywhere: nothing else looks like it.
    Anywhere,
    /// Where a word begins.
    Start,
    /// Where a word begins, with a digit early on or with 32 bytes that belong.
    StartMixed,
    /// Where a word begins, with exactly so many bytes after it.
    Exact,
    /// Anywhere, and the prefix itself stays.
    After,
}

/// One look: prefix, body, how many bytes of it at least, where it counts, what it is called.
type Shape = (&'static str, Body, usize, Place, &'static str);

/// A longer prefix stands before a shorter one that begins the same.
const SHAPES: &[Shape] = &[
    ("sk-ant-", Body::Key, 16, Place::Anywhere, "anthropic-key"),
    ("sk-proj-", Body::Key, 20, Place::Anywhere, "openai-key"),
    ("sk-svcacct-", Body::Key, 20, Place::Anywhere, "openai-key"),
    ("sk-admin-", Body::Key, 20, Place::StartMixed, "openai-key"),
    ("sk-or-v1-", Body::Hex, 32, Place::Anywhere, "openrouter-key"),
    ("sk-", Body::Plain, 20, Place::StartMixed, "openai-key"),
    ("AIza", Body::Key, 30, Place::Anywhere, "google-key"),
    ("GOCSPX-", Body::Key, 20, Place::Anywhere, "google-secret"),
    ("ya29.", Body::Key, 20, Place::Start, "google-token"),
    ("1//0", Body::Key, 40, Place::Start, "google-token"),
    ("AKIA", Body::Capitals, 16, Place::Exact, "aws-key-id"),
    ("ASIA", Body::Capitals, 16, Place::Exact, "aws-key-id"),
    ("ABIA", Body::Capitals, 16, Place::Exact, "aws-key-id"),
    ("ACCA", Body::Capitals, 16, Place::Exact, "aws-key-id"),
    ("ghp_", Body::Plain, 30, Place::Anywhere, "github-token"),
    ("gho_", Body::Plain, 30, Place::Anywhere, "github-token"),
    ("ghu_", Body::Plain, 30, Place::Anywhere, "github-token"),
    ("ghs_", Body::Plain, 30, Place::Anywhere, "github-token"),
    ("ghr_", Body::Plain, 30, Place::Anywhere, "github-token"),
    ("github_pat_", Body::Key, 20, Place::Anywhere, "github-token"),
    ("glpat-", Body::Dotted, 16, Place::Anywhere, "gitlab-token"),
    ("glptt-", Body::Key, 20, Place::Start, "gitlab-token"),
    ("gldt-", Body::Key, 20, Place::Start, "gitlab-token"),
    ("glrt-", Body::Dotted, 20, Place::Start, "gitlab-token"),
    ("glcbt-", Body::Key, 20, Place::Start, "gitlab-token"),
    ("glsa_", Body::Key, 32, Place::Start, "grafana-token"),
    ("glc_eyJ", Body::Key, 32, Place::Start, "grafana-token"),
    ("xoxa-", Body::Key, 10, Place::Start, "slack-token"),
    ("xoxb-", Body::Key, 10, Place::Start, "slack-token"),
    ("xoxc-", Body::Key, 10, Place::Start, "slack-token"),
    ("xoxd-", Body::Key, 10, Place::Start, "slack-token"),
    ("xoxe-", Body::Key, 10, Place::Start, "slack-token"),
    ("xoxe.", Body::Dotted, 10, Place::Start, "slack-token"),
    ("xoxo-", Body::Key, 10, Place::Start, "slack-token"),
    ("xoxp-", Body::Key, 10, Place::Start, "slack-token"),
    ("xoxr-", Body::Key, 10, Place::Start, "slack-token"),
    ("xoxs-", Body::Key, 10, Place::Start, "slack-token"),
    ("xapp-", Body::Key, 20, Place::StartMixed, "slack-token"),
    ("hooks.slack.com/services/", Body::Path, 12, Place::After, "webhook"),
    ("hooks.slack.com/workflows/", Body::Path, 12, Place::After, "webhook"),
    ("hooks.slack.com/triggers/", Body::Path, 12, Place::After, "webhook"),
    ("discord.com/api/webhooks/", Body::Path, 20, Place::After, "webhook"),
    ("discordapp.com/api/webhooks/", Body::Path, 20, Place::After, "webhook"),
    ("webhook.office.com/webhookb2/", Body::Path, 20, Place::After, "webhook"),
    ("npm_", Body::Plain, 30, Place::Anywhere, "npm-token"),
    ("pypi-", Body::Key, 50, Place::StartMixed, "pypi-token"),
    ("rubygems_", Body::Hex, 32, Place::Start, "rubygems-token"),
    ("dckr_pat_", Body::Key, 20, Place::Start, "docker-token"),
    ("hf_", Body::Plain, 30, Place::Start, "huggingface-token"),
    ("gsk_", Body::Plain, 32, Place::Start, "groq-key"),
    ("xai-", Body::Plain, 32, Place::Start, "xai-key"),
    ("pplx-", Body::Plain, 32, Place::Start, "perplexity-key"),
    ("nvapi-", Body::Key, 32, Place::Start, "nvidia-key"),
    ("r8_", Body::Plain, 32, Place::Start, "replicate-token"),
    ("sk_live_", Body::Plain, 16, Place::Anywhere, "stripe-key"),
    ("sk_test_", Body::Plain, 16, Place::Anywhere, "stripe-key"),
    ("rk_live_", Body::Plain, 16, Place::Anywhere, "stripe-key"),
    ("rk_test_", Body::Plain, 16, Place::Anywhere, "stripe-key"),
    ("whsec_", Body::Plain, 20, Place::Start, "webhook-secret"),
    ("sq0csp-", Body::Key, 20, Place::Start, "square-secret"),
    ("sq0atp-", Body::Key, 20, Place::Start, "square-token"),
    ("dop_v1_", Body::Hex, 32, Place::Start, "digitalocean-token"),
    ("doo_v1_", Body::Hex, 32, Place::Start, "digitalocean-token"),
    ("dor_v1_", Body::Hex, 32, Place::Start, "digitalocean-token"),
    ("shpat_", Body::Hex, 32, Place::Start, "shopify-token"),
    ("shpca_", Body::Hex, 32, Place::Start, "shopify-token"),
    ("shppa_", Body::Hex, 32, Place::Start, "shopify-token"),
    ("shpss_", Body::Hex, 32, Place::Start, "shopify-secret"),
    ("sbp_", Body::Hex, 40, Place::Start, "supabase-token"),
    ("sntrys_", Body::Key, 32, Place::Start, "sentry-token"),
    ("lin_api_", Body::Plain, 32, Place::Start, "linear-key"),
    ("figd_", Body::Key, 32, Place::StartMixed, "figma-token"),
    ("tskey-", Body::Key, 20, Place::StartMixed, "tailscale-key"),
    ("hvs.", Body::Key, 24, Place::Start, "vault-token"),
    ("hvb.", Body::Key, 24, Place::Start, "vault-token"),
    ("ATATT3", Body::Key, 32, Place::Start, "atlassian-token"),
    ("NRAK-", Body::Capitals, 27, Place::Start, "newrelic-key"),
    ("PMAK-", Body::Key, 40, Place::Start, "postman-key"),
    ("dapi", Body::Hex, 32, Place::Exact, "databricks-token"),
    ("SK", Body::Hex, 32, Place::Exact, "twilio-key"),
    ("key-", Body::Hex, 32, Place::Exact, "mailgun-key"),
    ("cio", Body::Plain, 32, Place::Exact, "cargo-token"),
    ("AGE-SECRET-KEY-1", Body::Capitals, 40, Place::Start, "age-key"),
];

/// For each byte that a prefix may begin with, the bytes that may come next: most places are passed over at once.
struct Likely([u128; 128]);

impl Likely {
    fn new() -> Self {
        let mut next = [0; 128];
        for (prefix, ..) in SHAPES {
            if let Some([first, second]) = prefix.as_bytes().first_chunk()
                && let Some(mask) = next.get_mut(usize::from(*first))
            {
                *mask |= 1 << (second & 127);
            }
        }
        Self(next)
    }

    fn has(&self, first: u8, second: u8) -> bool {
        self.0.get(usize::from(first)).is_some_and(|mask| second < 128 && mask >> second & 1 == 1)
    }
}

/// Finds what is known by its look.
pub(super) fn find(text: Text<'_>, spans: &mut Vec<Span>) {
    static LIKELY: LazyLock<Likely> = LazyLock::new(Likely::new);
    let likely: &Likely = &LIKELY;
    let mut place = 0;
    while place < text.len() {
        let byte = text.at(place);
        let found = if likely.has(byte, text.at(place + 1)) { find_shape(text, place) } else { None };
        let found = found.or_else(|| match byte {
            b'e' => find_jwt(text, place),
            b'S' => find_sendgrid(text, place),
            b'0'..=b'9' => find_telegram(text, place),
            _ => None,
        });
        place = found.map_or(place + 1, |span| span.end);
        spans.extend(found);
    }
}

fn find_shape(text: Text<'_>, start: usize) -> Option<Span> {
    SHAPES.iter().find_map(|shape| read_shape(text, start, shape))
}

fn read_shape(text: Text<'_>, start: usize, shape: &Shape) -> Option<Span> {
    let &(prefix, body, least, place, kind) = shape;
    if !text.has(start, prefix.as_bytes()) {
        return None;
    }
    let first = start + prefix.len();
    // At most so many bytes are read in vain.
    let enough = text.run(first, least + 1, |byte| body.has(byte));
    if enough < first + least {
        return None;
    }
    if !matches!(place, Place::Anywhere | Place::After) && !text.is_start(start) {
        return None;
    }
    match place {
        Place::Exact if enough > first + least || is_key_byte(text.at(enough)) => return None,
        Place::Exact => return Some(Span { start, end: enough, kind }),
        Place::StartMixed => {
            let early = text.run(first, 32, |byte| body.has(byte));
            if early < first + 32 && !text.part(first, early).iter().any(u8::is_ascii_digit) {
                return None;
            }
        }
        Place::Anywhere | Place::Start | Place::After => {}
    }
    let end = text.run(enough, usize::MAX, |byte| body.has(byte) || is_key_byte(byte));
    let start = if place == Place::After { first } else { start };
    Some(Span { start, end, kind })
}

/// Reads a JSON web token: three or more parts with dots between them, the first of them an encoded object.
fn find_jwt(text: Text<'_>, start: usize) -> Option<Span> {
    if !text.has(start, b"eyJ") || is_key_byte(text.before(start, 1)) && !text.is_after_escape(start) {
        return None;
    }
    let head = text.run(start, usize::MAX, is_key_byte);
    if head < start + 12 || text.at(head) != b'.' {
        return None;
    }
    let middle = text.run(head + 1, usize::MAX, is_key_byte);
    if text.at(middle) != b'.' {
        return None;
    }
    let end = text.run(middle, usize::MAX, |byte| is_key_byte(byte) || byte == b'.');
    // A dot at the end may be one of a sentence, or stand before a signature that is missing.
    (end > head + 12).then_some(Span { start, end, kind: "jwt" })
}

/// Reads a `SendGrid` key: `SG.`, 22 bytes, a dot, 43 bytes.
fn find_sendgrid(text: Text<'_>, start: usize) -> Option<Span> {
    if !text.has(start, b"SG.") || !text.is_start(start) {
        return None;
    }
    let first = text.run(start + 3, 64, is_key_byte);
    let second = text.run(first + 1, 64, is_key_byte);
    let is_key = first >= start + 19 && text.at(first) == b'.' && second >= first + 17;
    is_key.then_some(Span { start, end: text.run(second, usize::MAX, is_key_byte), kind: "sendgrid-key" })
}

/// Reads a Telegram bot token: the number of the bot, a colon, `AA` and 33 bytes.
fn find_telegram(text: Text<'_>, start: usize) -> Option<Span> {
    let digits = text.run(start, 11, |byte| byte.is_ascii_digit());
    if digits < start + 8 || !text.has(digits, b":AA") || text.before(start, 1).is_ascii_digit() {
        return None;
    }
    let end = text.run(digits + 1, 36, is_key_byte);
    (end >= digits + 34).then_some(Span { start, end, kind: "telegram-token" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_of_every_prefix_are_looked_for_and_no_others() {
        let likely = Likely::new();
        let mut pairs = std::collections::BTreeSet::new();
        for (prefix, ..) in SHAPES {
            let [first, second] = prefix.as_bytes().first_chunk().unwrap();
            assert!(prefix.is_ascii() && likely.has(*first, *second), "{prefix}");
            pairs.insert((*first, *second));
        }
        let all = (0..=255).flat_map(|first| (0..=255).map(move |second| (first, second)));
        assert_eq!(all.filter(|(first, second)| likely.has(*first, *second)).count(), pairs.len());
    }

    #[test]
    fn no_prefix_hides_behind_a_shorter_one() {
        for (index, (prefix, ..)) in SHAPES.iter().enumerate() {
            let earlier = SHAPES.iter().take(index).find(|(other, ..)| prefix.starts_with(other));
            assert_eq!(earlier, None, "{prefix}");
        }
    }
}
