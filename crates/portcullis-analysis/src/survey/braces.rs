//! Brace lists: the words that `{a,b}` stands for, where every piece is written out.

use portcullis_shell::ast::{Word, WordPart};

use crate::argument::Knowledge;

/// A word that stands for more others than this stays what it is.
const MOST_WORDS: usize = 64;

/// Words that become longer than this all in all stay what they are.
const MOST_LETTERS: usize = 4_096;

/// A letter of a word.
#[derive(Debug, Clone, Copy)]
struct BraceLetter {
    value: char,
    is_quoted: bool,
    is_glob: bool,
}

/// Returns the words a brace list stands for, each with what is known of it; `None` if that is not plain to see.
pub(super) fn expand(word: &Word) -> Option<Vec<(String, Knowledge)>> {
    let letters = letters(word)?;
    let mut words: Vec<Vec<BraceLetter>> = vec![Vec::new()];
    let mut rest = letters.as_slice();
    while let Some((first, after)) = rest.split_first() {
        if first.is_quoted || !matches!(first.value, '{' | '}') {
            for word in &mut words {
                word.push(*first);
            }
            rest = after;
            continue;
        }
        let (choices, after) = choices(rest)?;
        words = words
            .iter()
            .flat_map(|word| choices.iter().map(move |choice| [word.as_slice(), choice.as_slice()].concat()))
            .take(MOST_WORDS + 1)
            .collect();
        if words.len() > MOST_WORDS || words.iter().map(Vec::len).sum::<usize>() > MOST_LETTERS {
            return None;
        }
        rest = after;
    }
    // An empty word vanishes, unless it is quoted, which cannot be told any more.
    if word.traits.quoted && words.iter().any(Vec::is_empty) {
        return None;
    }
    Some(words.iter().filter(|word| !word.is_empty()).map(|word| read(word)).collect())
}

/// Returns the letters of a word that holds nothing but text.
fn letters(word: &Word) -> Option<Vec<BraceLetter>> {
    let mut letters = Vec::new();
    for part in &word.parts {
        let (text, is_quoted, is_glob) = match part {
            WordPart::Literal { text, .. } => (text, false, false),
            WordPart::Glob { text, .. } => (text, false, true),
            WordPart::Escaped { text, .. } | WordPart::Single { text, .. } | WordPart::AnsiC { text, .. } => {
                (text, true, false)
            }
            WordPart::Double { parts, .. } => match parts.as_slice() {
                [WordPart::Literal { text, .. }] => (text, true, false),
                _ => return None,
            },
            _ => return None,
        };
        letters.extend(text.chars().map(|value| BraceLetter { value, is_quoted, is_glob }));
    }
    (letters.len() <= MOST_LETTERS).then_some(letters)
}

/// Splits a list that begins here at its commas; returns what follows it too.
fn choices(letters: &[BraceLetter]) -> Option<(Vec<Vec<BraceLetter>>, &[BraceLetter])> {
    let (open, inside) = letters.split_first()?;
    let is = |letter: &BraceLetter, wanted: char| !letter.is_quoted && letter.value == wanted;
    let end = inside.iter().position(|letter| is(letter, '}') || is(letter, '{'))?;
    let content = inside.get(..end)?;
    let (close, after) = inside.get(end..)?.split_first()?;
    if !(is(open, '{') && is(close, '}')) {
        return None;
    }
    if content.iter().any(|letter| is(letter, ',')) {
        let pieces = content.split(|letter| is(letter, ','));
        return Some((pieces.map(<[BraceLetter]>::to_vec).collect(), after));
    }
    range(content).map(|words| (words, after))
}

/// Returns the words of `1..5` or `a..e`.
fn range(content: &[BraceLetter]) -> Option<Vec<Vec<BraceLetter>>> {
    let text: String = content.iter().map(|letter| letter.value).collect();
    let (first, last) = text.split_once("..").filter(|_| content.iter().all(|letter| !letter.is_quoted))?;
    let plain = |text: String| -> Vec<BraceLetter> {
        text.chars().map(|value| BraceLetter { value, is_quoted: false, is_glob: false }).collect()
    };
    let is_padded = |text: &str| text.len() > 1 && text.starts_with(['0', '-', '+']);
    if is_padded(first) || is_padded(last) {
        return None;
    }
    if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
        let count = usize::try_from(first.abs_diff(last)).ok()?;
        if count >= MOST_WORDS {
            return None;
        }
        let up = (first.min(last)..=first.max(last)).map(|number| plain(number.to_string()));
        return Some(if first <= last { up.collect() } else { up.rev().collect() });
    }
    let letter =
        |text: &str| Some(text.chars().next()?).filter(|one| text.len() == 1 && one.is_ascii_lowercase());
    let (first, last) = (letter(first)?, letter(last)?);
    (first <= last).then(|| (first..=last).map(|one| plain(one.to_string())).collect())
}

fn read(word: &[BraceLetter]) -> (String, Knowledge) {
    let text = word.iter().map(|letter| letter.value).collect();
    let has_tilde = word.first().is_some_and(|first| !first.is_quoted && first.value == '~')
        || word.windows(2).any(
            |two| matches!(two, [before, tilde] if matches!(before.value, '=' | ':') && tilde.value == '~'),
        );
    let knowledge = if word.iter().any(|letter| letter.is_glob) {
        Knowledge::Glob
    } else if has_tilde {
        Knowledge::Tilde
    } else {
        Knowledge::Fixed
    };
    (text, knowledge)
}

#[cfg(test)]
mod tests {
    use portcullis_shell::ast::CommandKind;

    use super::*;

    fn expanded(text: &str) -> Option<Vec<String>> {
        let script = portcullis_shell::parse(text);
        let CommandKind::Simple(simple) = &script.body.items[0].pipelines[0].1.stages[0].kind else {
            panic!("{text}");
        };
        expand(&simple.words[0]).map(|words| words.into_iter().map(|(text, _)| text).collect())
    }

    #[test]
    fn a_plain_list_becomes_its_words() {
        for (text, expected) in [
            ("{rm,-rf,/etc}", Some(vec!["rm", "-rf", "/etc"])),
            ("a{b,c}d", Some(vec!["abd", "acd"])),
            ("{a,b}{c,d}", Some(vec!["ac", "ad", "bc", "bd"])),
            ("{'r'm,\"x y\"}", Some(vec!["rm", "x y"])),
            ("{a,}", Some(vec!["a"])),
            ("x{a,}", Some(vec!["xa", "x"])),
            ("{a\\,b,c}", Some(vec!["a,b", "c"])),
            ("{'',a}", None),
            ("{{a,b},c}", None),
            ("{a,b}}", None),
            ("{a,$x}", None),
            ("{1..3}", Some(vec!["1", "2", "3"])),
            ("x{c..a}", None),
            ("{01..03}", None),
            ("{1..100}", None),
            ("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", None),
        ] {
            let expected = expected.map(|words| words.into_iter().map(str::to_owned).collect());
            assert_eq!(expanded(text), expected, "{text}");
        }
    }
}
