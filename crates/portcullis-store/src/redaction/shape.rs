//! Secrets that are known by their own look: the keys and tokens of providers, and addresses that are keys themselves.

use super::SecretSpan;
use super::text::{RedactedText, is_key_byte};

/// What the part after the prefix is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenBody {
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

impl TokenBody {
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
enum PrefixPlace {
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
type TokenShape = (&'static str, TokenBody, usize, PrefixPlace, &'static str);

/// A longer prefix stands before a shorter one that begins the same.
const SHAPES: &[TokenShape] = &[
    ("sk-ant-", TokenBody::Key, 16, PrefixPlace::Anywhere, "anthropic-key"),
    ("sk-proj-", TokenBody::Key, 20, PrefixPlace::Anywhere, "openai-key"),
    ("sk-svcacct-", TokenBody::Key, 20, PrefixPlace::Anywhere, "openai-key"),
    ("sk-admin-", TokenBody::Key, 20, PrefixPlace::StartMixed, "openai-key"),
    ("sk-or-v1-", TokenBody::Hex, 32, PrefixPlace::Anywhere, "openrouter-key"),
    ("sk-", TokenBody::Plain, 20, PrefixPlace::StartMixed, "openai-key"),
    ("AIza", TokenBody::Key, 30, PrefixPlace::Anywhere, "google-key"),
    ("GOCSPX-", TokenBody::Key, 20, PrefixPlace::Anywhere, "google-secret"),
    ("ya29.", TokenBody::Key, 20, PrefixPlace::Start, "google-token"),
    ("1//0", TokenBody::Key, 40, PrefixPlace::Start, "google-token"),
    ("AKIA", TokenBody::Capitals, 16, PrefixPlace::Exact, "aws-key-id"),
    ("ASIA", TokenBody::Capitals, 16, PrefixPlace::Exact, "aws-key-id"),
    ("ABIA", TokenBody::Capitals, 16, PrefixPlace::Exact, "aws-key-id"),
    ("ACCA", TokenBody::Capitals, 16, PrefixPlace::Exact, "aws-key-id"),
    ("ghp_", TokenBody::Plain, 30, PrefixPlace::Anywhere, "github-token"),
    ("gho_", TokenBody::Plain, 30, PrefixPlace::Anywhere, "github-token"),
    ("ghu_", TokenBody::Plain, 30, PrefixPlace::Anywhere, "github-token"),
    ("ghs_", TokenBody::Plain, 30, PrefixPlace::Anywhere, "github-token"),
    ("ghr_", TokenBody::Plain, 30, PrefixPlace::Anywhere, "github-token"),
    ("github_pat_", TokenBody::Key, 20, PrefixPlace::Anywhere, "github-token"),
    ("glpat-", TokenBody::Dotted, 16, PrefixPlace::Anywhere, "gitlab-token"),
    ("glptt-", TokenBody::Key, 20, PrefixPlace::Start, "gitlab-token"),
    ("gldt-", TokenBody::Key, 20, PrefixPlace::Start, "gitlab-token"),
    ("glrt-", TokenBody::Dotted, 20, PrefixPlace::Start, "gitlab-token"),
    ("glcbt-", TokenBody::Key, 20, PrefixPlace::Start, "gitlab-token"),
    ("glsa_", TokenBody::Key, 32, PrefixPlace::Start, "grafana-token"),
    ("glc_eyJ", TokenBody::Key, 32, PrefixPlace::Start, "grafana-token"),
    ("xoxa-", TokenBody::Key, 10, PrefixPlace::Start, "slack-token"),
    ("xoxb-", TokenBody::Key, 10, PrefixPlace::Start, "slack-token"),
    ("xoxc-", TokenBody::Key, 10, PrefixPlace::Start, "slack-token"),
    ("xoxd-", TokenBody::Key, 10, PrefixPlace::Start, "slack-token"),
    ("xoxe-", TokenBody::Key, 10, PrefixPlace::Start, "slack-token"),
    ("xoxe.", TokenBody::Dotted, 10, PrefixPlace::Start, "slack-token"),
    ("xoxo-", TokenBody::Key, 10, PrefixPlace::Start, "slack-token"),
    ("xoxp-", TokenBody::Key, 10, PrefixPlace::Start, "slack-token"),
    ("xoxr-", TokenBody::Key, 10, PrefixPlace::Start, "slack-token"),
    ("xoxs-", TokenBody::Key, 10, PrefixPlace::Start, "slack-token"),
    ("xapp-", TokenBody::Key, 20, PrefixPlace::StartMixed, "slack-token"),
    ("hooks.slack.com/services/", TokenBody::Path, 12, PrefixPlace::After, "webhook"),
    ("hooks.slack.com/workflows/", TokenBody::Path, 12, PrefixPlace::After, "webhook"),
    ("hooks.slack.com/triggers/", TokenBody::Path, 12, PrefixPlace::After, "webhook"),
    ("discord.com/api/webhooks/", TokenBody::Path, 20, PrefixPlace::After, "webhook"),
    ("discordapp.com/api/webhooks/", TokenBody::Path, 20, PrefixPlace::After, "webhook"),
    ("webhook.office.com/webhookb2/", TokenBody::Path, 20, PrefixPlace::After, "webhook"),
    ("npm_", TokenBody::Plain, 30, PrefixPlace::Anywhere, "npm-token"),
    ("pypi-", TokenBody::Key, 50, PrefixPlace::StartMixed, "pypi-token"),
    ("rubygems_", TokenBody::Hex, 32, PrefixPlace::Start, "rubygems-token"),
    ("dckr_pat_", TokenBody::Key, 20, PrefixPlace::Start, "docker-token"),
    ("hf_", TokenBody::Plain, 30, PrefixPlace::Start, "huggingface-token"),
    ("gsk_", TokenBody::Plain, 32, PrefixPlace::Start, "groq-key"),
    ("xai-", TokenBody::Plain, 32, PrefixPlace::Start, "xai-key"),
    ("pplx-", TokenBody::Plain, 32, PrefixPlace::Start, "perplexity-key"),
    ("nvapi-", TokenBody::Key, 32, PrefixPlace::Start, "nvidia-key"),
    ("r8_", TokenBody::Plain, 32, PrefixPlace::Start, "replicate-token"),
    ("sk_live_", TokenBody::Plain, 16, PrefixPlace::Anywhere, "stripe-key"),
    ("sk_test_", TokenBody::Plain, 16, PrefixPlace::Anywhere, "stripe-key"),
    ("rk_live_", TokenBody::Plain, 16, PrefixPlace::Anywhere, "stripe-key"),
    ("rk_test_", TokenBody::Plain, 16, PrefixPlace::Anywhere, "stripe-key"),
    ("whsec_", TokenBody::Plain, 20, PrefixPlace::Start, "webhook-secret"),
    ("sq0csp-", TokenBody::Key, 20, PrefixPlace::Start, "square-secret"),
    ("sq0atp-", TokenBody::Key, 20, PrefixPlace::Start, "square-token"),
    ("dop_v1_", TokenBody::Hex, 32, PrefixPlace::Start, "digitalocean-token"),
    ("doo_v1_", TokenBody::Hex, 32, PrefixPlace::Start, "digitalocean-token"),
    ("dor_v1_", TokenBody::Hex, 32, PrefixPlace::Start, "digitalocean-token"),
    ("shpat_", TokenBody::Hex, 32, PrefixPlace::Start, "shopify-token"),
    ("shpca_", TokenBody::Hex, 32, PrefixPlace::Start, "shopify-token"),
    ("shppa_", TokenBody::Hex, 32, PrefixPlace::Start, "shopify-token"),
    ("shpss_", TokenBody::Hex, 32, PrefixPlace::Start, "shopify-secret"),
    ("sbp_", TokenBody::Hex, 40, PrefixPlace::Start, "supabase-token"),
    ("sntrys_", TokenBody::Key, 32, PrefixPlace::Start, "sentry-token"),
    ("lin_api_", TokenBody::Plain, 32, PrefixPlace::Start, "linear-key"),
    ("figd_", TokenBody::Key, 32, PrefixPlace::StartMixed, "figma-token"),
    ("tskey-", TokenBody::Key, 20, PrefixPlace::StartMixed, "tailscale-key"),
    ("hvs.", TokenBody::Key, 24, PrefixPlace::Start, "vault-token"),
    ("hvb.", TokenBody::Key, 24, PrefixPlace::Start, "vault-token"),
    ("ATATT3", TokenBody::Key, 32, PrefixPlace::Start, "atlassian-token"),
    ("NRAK-", TokenBody::Capitals, 27, PrefixPlace::Start, "newrelic-key"),
    ("PMAK-", TokenBody::Key, 40, PrefixPlace::Start, "postman-key"),
    ("dapi", TokenBody::Hex, 32, PrefixPlace::Exact, "databricks-token"),
    ("SK", TokenBody::Hex, 32, PrefixPlace::Exact, "twilio-key"),
    ("key-", TokenBody::Hex, 32, PrefixPlace::Exact, "mailgun-key"),
    ("cio", TokenBody::Plain, 32, PrefixPlace::Exact, "cargo-token"),
    ("AGE-SECRET-KEY-1", TokenBody::Capitals, 40, PrefixPlace::Start, "age-key"),
];

/// For each byte that a prefix may begin with, the bytes that may come next: most places are passed over at once.
struct PrefixBytes([u128; 128]);

/// Made when the program is built, so that no hook makes it.
static LIKELY: PrefixBytes = PrefixBytes::new();

impl PrefixBytes {
    #[expect(
        clippy::indexing_slicing,
        reason = "the compiler runs this, and every prefix is text with two bytes"
    )]
    const fn new() -> Self {
        let mut next = [0; 128];
        let mut index = 0;
        while index < SHAPES.len() {
            let prefix = SHAPES[index].0.as_bytes();
            next[prefix[0] as usize] |= 1 << (prefix[1] & 127);
            index += 1;
        }
        Self(next)
    }

    fn has(&self, first: u8, second: u8) -> bool {
        self.0.get(usize::from(first)).is_some_and(|mask| second < 128 && mask >> second & 1 == 1)
    }
}

/// Finds what is known by its look.
pub(super) fn find(text: RedactedText<'_>, spans: &mut Vec<SecretSpan>) {
    let mut place = 0;
    while place < text.len() {
        let byte = text.at(place);
        let found = if LIKELY.has(byte, text.at(place + 1)) { find_shape(text, place) } else { None };
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

fn find_shape(text: RedactedText<'_>, start: usize) -> Option<SecretSpan> {
    SHAPES.iter().find_map(|shape| read_shape(text, start, shape))
}

fn read_shape(text: RedactedText<'_>, start: usize, shape: &TokenShape) -> Option<SecretSpan> {
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
    if !matches!(place, PrefixPlace::Anywhere | PrefixPlace::After) && !text.is_start(start) {
        return None;
    }
    match place {
        PrefixPlace::Exact if enough > first + least || is_key_byte(text.at(enough)) => return None,
        PrefixPlace::Exact => return Some(SecretSpan { start, end: enough, kind }),
        PrefixPlace::StartMixed => {
            let early = text.run(first, 32, |byte| body.has(byte));
            if early < first + 32 && !text.part(first, early).iter().any(u8::is_ascii_digit) {
                return None;
            }
        }
        PrefixPlace::Anywhere | PrefixPlace::Start | PrefixPlace::After => {}
    }
    let end = text.run(enough, usize::MAX, |byte| body.has(byte) || is_key_byte(byte));
    let start = if place == PrefixPlace::After { first } else { start };
    Some(SecretSpan { start, end, kind })
}

/// Reads a JSON web token: three or more parts with dots between them, the first of them an encoded object.
fn find_jwt(text: RedactedText<'_>, start: usize) -> Option<SecretSpan> {
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
    (end > head + 12).then_some(SecretSpan { start, end, kind: "jwt" })
}

/// Reads a `SendGrid` key: `SG.`, 22 bytes, a dot, 43 bytes.
fn find_sendgrid(text: RedactedText<'_>, start: usize) -> Option<SecretSpan> {
    if !text.has(start, b"SG.") || !text.is_start(start) {
        return None;
    }
    let first = text.run(start + 3, 64, is_key_byte);
    let second = text.run(first + 1, 64, is_key_byte);
    let is_key = first >= start + 19 && text.at(first) == b'.' && second >= first + 17;
    is_key.then_some(SecretSpan {
        start,
        end: text.run(second, usize::MAX, is_key_byte),
        kind: "sendgrid-key",
    })
}

/// Reads a Telegram bot token: the number of the bot, a colon, `AA` and 33 bytes.
fn find_telegram(text: RedactedText<'_>, start: usize) -> Option<SecretSpan> {
    let digits = text.run(start, 11, |byte| byte.is_ascii_digit());
    if digits < start + 8 || !text.has(digits, b":AA") || text.before(start, 1).is_ascii_digit() {
        return None;
    }
    let end = text.run(digits + 1, 36, is_key_byte);
    (end >= digits + 34).then_some(SecretSpan { start, end, kind: "telegram-token" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_of_every_prefix_are_looked_for_and_no_others() {
        let likely = PrefixBytes::new();
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
