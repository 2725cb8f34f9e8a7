//! The words of a statement outside of quotes.

/// One word of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SqlWord {
    /// A bare word in upper case, and as it is written.
    Bare(String, String),
    /// A quoted name.
    Quoted(String),
    /// A quoted text.
    Text(String),
    /// A number.
    Number(String),
    /// Any other letter.
    Mark(char),
}

impl SqlWord {
    /// Says whether it is this keyword.
    pub(super) fn is(&self, keyword: &str) -> bool {
        matches!(self, Self::Bare(word, _) if word == keyword)
    }

    /// Returns the bare word in upper case.
    pub(super) fn bare(&self) -> Option<&str> {
        match self {
            Self::Bare(word, _) => Some(word),
            _ => None,
        }
    }

    /// Returns what it names.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Bare(_, name) | Self::Quoted(name) | Self::Text(name) => Some(name),
            _ => None,
        }
    }
}

/// Splits a statement without comments into words.
pub(super) fn split(text: &str) -> Vec<SqlWord> {
    let letters: Vec<char> = text.chars().collect();
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(letter) = letters.get(at).copied() {
        let rest = letters.get(at..).unwrap_or(&[]);
        if letter.is_whitespace() {
            at += 1;
        } else if letter == '\'' || letter == '"' || letter == '`' {
            let (text, length) = quoted(rest, letter);
            words.push(if letter == '\'' { SqlWord::Text(text) } else { SqlWord::Quoted(text) });
            at += length;
        } else if let Some((text, length)) = dollar_quoted(rest) {
            words.push(SqlWord::Text(text));
            at += length;
        } else if letter.is_alphabetic() || letter == '_' {
            let word: String = rest
                .iter()
                .take_while(|letter| letter.is_alphanumeric() || **letter == '_' || **letter == '$')
                .collect();
            at += word.chars().count();
            words.push(SqlWord::Bare(word.to_uppercase(), word));
        } else if letter.is_ascii_digit() {
            let number: String =
                rest.iter().take_while(|letter| letter.is_alphanumeric() || **letter == '.').collect();
            at += number.chars().count();
            words.push(SqlWord::Number(number));
        } else {
            words.push(SqlWord::Mark(letter));
            at += 1;
        }
        join_texts(&mut words);
    }
    words
}

/// Makes two texts at the end that are put together, `'a' || 'b'`, one.
fn join_texts(words: &mut Vec<SqlWord>) {
    if let [.., SqlWord::Text(first), SqlWord::Mark('|'), SqlWord::Mark('|'), SqlWord::Text(second)] =
        words.as_slice()
    {
        let joined = SqlWord::Text(format!("{first}{second}"));
        words.truncate(words.len() - 4);
        words.push(joined);
    }
}

/// Reads a quoted text and says how long it is with its quotes.
fn quoted(letters: &[char], quote: char) -> (String, usize) {
    let mut text = String::new();
    let mut at = 1;
    while let Some(letter) = letters.get(at).copied() {
        at += 1;
        if letter == quote {
            if letters.get(at) != Some(&quote) {
                break;
            }
            at += 1;
        } else if letter == '\\' && quote != '`' {
            text.push(letter);
            text.extend(letters.get(at));
            at += 1;
            continue;
        }
        text.push(letter);
    }
    (text, at)
}

fn dollar_quoted(letters: &[char]) -> Option<(String, usize)> {
    if letters.first() != Some(&'$') {
        return None;
    }
    let tag: Vec<char> = letters
        .iter()
        .skip(1)
        .take(64)
        .take_while(|letter| letter.is_alphanumeric() || **letter == '_')
        .copied()
        .collect();
    let length = tag.len() + 2;
    if letters.get(length - 1) != Some(&'$') || tag.first().is_some_and(char::is_ascii_digit) {
        return None;
    }
    let mark = letters.get(..length)?;
    let body = letters.get(length..)?;
    let end = body.windows(length).position(|window| window == mark)?;
    Some((body.iter().take(end).collect(), end + 2 * length))
}

/// Returns how deep brackets and `CASE` nest.
pub(super) fn depth(words: &[SqlWord]) -> usize {
    let mut depth = 0_usize;
    let mut deepest = 0;
    for word in words {
        match word {
            SqlWord::Mark('(' | '[' | '{') => depth += 1,
            SqlWord::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            SqlWord::Bare(word, _) if word == "CASE" => depth += 1,
            SqlWord::Bare(word, _) if word == "END" => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Returns how many operators there are.
pub(super) fn operators(words: &[SqlWord]) -> usize {
    let is_operator = |word: &&SqlWord| match word {
        SqlWord::Mark(letter) => !",().".contains(*letter),
        SqlWord::Bare(word, _) => matches!(
            word.as_str(),
            "AND"
                | "OR"
                | "NOT"
                | "LIKE"
                | "IN"
                | "IS"
                | "UNION"
                | "JOIN"
                | "INTERSECT"
                | "EXCEPT"
                | "COLLATE"
                | "SELECT"
        ),
        _ => false,
    };
    words.iter().filter(is_operator).count()
}
