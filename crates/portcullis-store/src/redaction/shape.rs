//! Secrets that are known by their own look: the keys and tokens of providers, and addresses that are keys themselves.

use portcullis_core::secret_form::SecretBytes;

use super::forms::{TOKENS, TokenForm, TokenLook, TokenPart, TokenPlace};
use super::text::{RedactedText, is_key_byte};
use super::{SecretSpan, value};

/// How many bytes of a class are read where more parts follow.
const LONGEST_PART: usize = 512;

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
        while index < TOKENS.len() {
            let prefix = TOKENS[index].text.as_bytes();
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
        let found = if LIKELY.has(byte, text.at(place + 1)) { find_token(text, place) } else { None };
        let found = found.or_else(|| match byte {
            b'e' => find_jwt(text, place),
            b'M' | b'N' | b'O' => find_discord(text, place),
            _ => None,
        });
        place = found.map_or(place + 1, |span| span.end);
        spans.extend(found);
    }
}

/// Looks through the forms whose text begins with the two bytes that stand there; they stand side by side.
fn find_token(text: RedactedText<'_>, place: usize) -> Option<SecretSpan> {
    let pair = [text.at(place), text.at(place + 1)];
    let begins = |form: &TokenForm| form.text.as_bytes().first_chunk().copied().unwrap_or_default();
    let first = TOKENS.partition_point(|form| begins(form) < pair);
    let same = TOKENS.get(first..).unwrap_or_default().iter().take_while(|form| begins(form) == pair);
    same.into_iter().find_map(|form| read_token(text, place, form))
}

/// Reads a token whose text stands at a place.
fn read_token(text: RedactedText<'_>, place: usize, form: &TokenForm) -> Option<SecretSpan> {
    if !text.has(place, form.text.as_bytes()) {
        return None;
    }
    let first = place + form.text.len();
    let end = read_parts(text, first, form.rest)?;
    let start = match form.before {
        Some((class, count)) => start_before(text, place, class, count)?,
        None => place,
    };
    if form.place == TokenPlace::Start && !text.is_start(start) {
        return None;
    }
    let looks_so = match form.look {
        TokenLook::Any => true,
        TokenLook::Mixed => has_early_digit(text, first, form.rest),
        TokenLook::Random => value::is_random(text.part(start, end)),
    };
    if !looks_so {
        return None;
    }
    Some(SecretSpan { start: if form.keeps_text { first } else { start }, end, kind: form.kind })
}

/// Returns where bytes of a class begin of which exactly so many stand before a place.
fn start_before(text: RedactedText<'_>, place: usize, class: SecretBytes, count: usize) -> Option<usize> {
    let is_all = (1..=count).all(|distance| class.has(text.before(place, distance)));
    let start = place.checked_sub(count)?;
    (is_all && (!class.has(text.before(start, 1)) || text.is_after_escape(start))).then_some(start)
}

/// Reads the parts of a token and returns where it ends. At most so many bytes are read in vain.
fn read_parts(text: RedactedText<'_>, start: usize, parts: &[TokenPart]) -> Option<usize> {
    let mut place = start;
    for (index, part) in parts.iter().enumerate() {
        let is_last = index + 1 == parts.len();
        place = match *part {
            TokenPart::Text(expected) if text.has(place, expected.as_bytes()) => place + expected.len(),
            TokenPart::Text(_) => return None,
            TokenPart::Bytes(class, least, is_exact) => {
                let most = if is_exact || is_last { least + usize::from(is_last) } else { LONGEST_PART };
                let end = text.run(place, most, |byte| class.has(byte));
                let is_longer = is_last && is_exact && (end > place + least || is_key_byte(text.at(end)));
                if end < place + least || is_longer {
                    return None;
                }
                let goes_on = |byte: u8| class.has(byte) || is_key_byte(byte);
                if is_last && !is_exact { text.run(end, usize::MAX, goes_on) } else { end }
            }
        };
    }
    Some(place)
}

/// Says whether a digit comes early on, or so many bytes that no word is so long.
fn has_early_digit(text: RedactedText<'_>, first: usize, parts: &[TokenPart]) -> bool {
    let Some(TokenPart::Bytes(class, ..)) = parts.first() else { return true };
    let early = text.run(first, 32, |byte| class.has(byte));
    early >= first + 32 || text.part(first, early).iter().any(u8::is_ascii_digit)
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

/// Reads the token of a Discord bot: its number in base64, a time, a signature.
fn find_discord(text: RedactedText<'_>, start: usize) -> Option<SecretSpan> {
    let number = text.run(start, 30, is_key_byte);
    if !(start + 23..start + 29).contains(&number) || text.at(number) != b'.' || !text.is_start(start) {
        return None;
    }
    let time = text.run(number + 1, 8, is_key_byte);
    let end = text.run(time + 1, 40, is_key_byte);
    let is_token = (number + 7..number + 9).contains(&time) && text.at(time) == b'.' && end >= time + 28;
    is_token.then_some(SecretSpan { start, end, kind: "discord-token" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_of_every_prefix_are_looked_for_and_no_others() {
        let likely = PrefixBytes::new();
        let mut pairs = std::collections::BTreeSet::new();
        for form in TOKENS {
            let [first, second] = form.text.as_bytes().first_chunk().unwrap();
            assert!(form.text.is_ascii() && likely.has(*first, *second), "{}", form.text);
            pairs.insert((*first, *second));
        }
        let all = (0..=255).flat_map(|first| (0..=255).map(move |second| (first, second)));
        assert_eq!(all.filter(|(first, second)| likely.has(*first, *second)).count(), pairs.len());
    }

    #[test]
    fn no_text_hides_behind_a_shorter_one() {
        for (index, form) in TOKENS.iter().enumerate() {
            let hides = |other: &&TokenForm| form.text != other.text && form.text.starts_with(other.text);
            let earlier = TOKENS.iter().take(index).find(hides);
            assert!(earlier.is_none(), "{}", form.text);
        }
    }

    /// Returns how many forms are compared with a text that holds no token.
    fn compared(line: &str) -> usize {
        let bytes = line.as_bytes();
        let pairs = bytes.windows(2).map(|pair| pair.first_chunk::<2>().unwrap());
        pairs.map(|pair| TOKENS.iter().filter(|form| form.text.as_bytes().starts_with(pair)).count()).sum()
    }

    #[test]
    fn an_ordinary_line_is_compared_with_few_forms() {
        let lines = [
            "cargo test --workspace --all-features -- --test-threads=4 && git diff --stat origin/main",
            "git commit -am 'Read the settings once for every session and keep them while files are unchanged'",
            "npm run build && node scripts/check-size.js dist/main.js --limit 200kb",
            "docker compose -f docker-compose.dev.yml up -d --build api worker && docker compose logs -f api",
            "find src -name '*.ts' -not -path '*/node_modules/*' | xargs grep -n 'export default'",
            "python3 -m pytest tests/unit -k 'parser and not slow' --maxfail=1 -q",
            "kubectl -n staging get pods -o wide | awk '{print $1, $3}' | sort | uniq -c",
            "the quick brown fox jumps over the lazy dog, and nobody asks why it would do that again",
        ];
        for line in lines {
            // When the forms stood in one list that was tried from its top, each likely place cost 88 comparisons.
            let before = 88 * line.as_bytes().windows(2).filter(|pair| LIKELY.has(pair[0], pair[1])).count();
            assert!(compared(line) * 10 <= before.max(10), "{line}: {} of {before}", compared(line));
            assert!(compared(line) <= line.len() / 2, "{line}: {}", compared(line));
        }
    }
}
