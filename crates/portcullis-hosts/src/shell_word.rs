//! Words to shell text.

/// Quotes a word for a POSIX shell, if the shell would not leave it as it is wherever it stands: `A=b` is an assignment
/// at the beginning of a line.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-./:@+".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Joins words to a line that a shell splits into the same words.
pub fn joined<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words_wherever_they_stand() {
        assert_eq!(joined(["A=b", "x y", "", "it's", "/bin/a-b.c"]), r"'A=b' 'x y' '' 'it'\''s' /bin/a-b.c");
    }
}
