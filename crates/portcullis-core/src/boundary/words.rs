//! A sentence in words, with commas and dashes as words of their own.

/// One word of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SentenceWord {
    /// As it is written, without quotes and punctuation around it.
    pub(super) written: String,
    /// In lower case, with plain apostrophes.
    pub(super) lower: String,
    /// Whether it stands in quotes or backticks, so that it is a name.
    pub(super) is_quoted: bool,
}

impl SentenceWord {
    fn new(written: &str, is_quoted: bool) -> Self {
        Self { written: written.to_owned(), lower: written.to_lowercase(), is_quoted }
    }

    /// Says whether it is one of some words.
    pub(super) fn is_one_of(&self, words: &[&str]) -> bool {
        !self.is_quoted && words.contains(&self.lower.as_str())
    }
}

/// Several words that stand for one.
const JOINED: &[(&str, &str)] = &[
    ("do not", "don't"),
    ("must not", "mustn't"),
    ("hold off", "avoid"),
    ("keep from", "avoid"),
    ("back off", "avoid"),
    ("lay off", "avoid"),
    ("not allowed", "mustn't"),
    ("should not", "shouldn't"),
    ("may not", "mustn't"),
    ("can not", "cannot"),
    ("force push", "force-push"),
    ("force pushes", "force-pushes"),
    ("force pushing", "force-pushing"),
    ("pull request", "pr"),
    ("pull requests", "prs"),
    ("merge request", "pr"),
    ("merge requests", "prs"),
    ("roll out", "deploy"),
    ("rolling out", "deploying"),
    ("mess with", "touch"),
    ("messing with", "touching"),
    ("write to", "write"),
    ("writing to", "writing"),
];

/// Reads the words of a sentence.
pub(super) fn words(sentence: &str) -> Vec<SentenceWord> {
    const QUOTES: &[char] = &['`', '"', '\'', '“', '”', '‘', '*', '_'];
    const MARKS: &[char] = &[',', '.', ':', ';', '!', '?', ')', '('];
    let plain = sentence.replace('\u{2019}', "'");
    let mut all = Vec::new();
    for piece in plain.split_whitespace() {
        let bare = piece.trim_start_matches('(').trim_end_matches(MARKS);
        let inner = bare.trim_matches(QUOTES);
        let is_quoted = inner.len() + 1 < bare.len() && bare.starts_with(['`', '"', '\'', '“']);
        if piece.starts_with('(') {
            all.push(SentenceWord::new(",", false));
        }
        if matches!(piece, "-" | "--" | "–" | "—") {
            all.push(SentenceWord::new(",", false));
        } else if !inner.is_empty() {
            // A name may begin with an underscore.
            let name = if is_quoted { inner } else { bare.trim_matches(['`', '"', '“', '”', '*']) };
            all.push(SentenceWord::new(name, is_quoted));
        }
        if piece.ends_with([',', ':', ')']) {
            all.push(SentenceWord::new(",", false));
        }
    }
    joined(all)
}

/// Puts together what only means something together.
fn joined(words: Vec<SentenceWord>) -> Vec<SentenceWord> {
    let mut all: Vec<SentenceWord> = Vec::with_capacity(words.len());
    for word in words {
        let pair = all.last().map(|last| format!("{} {}", last.lower, word.lower));
        let known = JOINED.iter().find(|(several, _)| pair.as_deref() == Some(several));
        match (known, all.last_mut()) {
            (Some((_, one)), Some(last)) if !word.is_quoted && !last.is_quoted => {
                *last = SentenceWord::new(one, false);
            }
            _ => all.push(word),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_quotes_and_pairs_are_seen() {
        let shown = |sentence: &str| {
            let shown = words(sentence)
                .into_iter()
                .map(|word| if word.is_quoted { format!("<{}>", word.written) } else { word.lower });
            shown.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown("Please do NOT touch `infra`, ok"), "please don't touch <infra> , ok");
        assert_eq!(shown("don\u{2019}t force push (ever)"), "don't force-push , ever ,");
        assert_eq!(shown("leave src/a.rs: it — stays"), "leave src/a.rs , it , stays");
        assert_eq!(shown("__tests__ and .env"), "__tests__ and .env");
    }
}
