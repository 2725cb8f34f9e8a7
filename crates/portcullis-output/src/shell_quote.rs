//! Words to shell text: what a person typed as separate words, and commands to paste.

/// Joins words to one command line that a shell would split into the same words.
pub fn join(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
    quoted.join(" ")
}

/// Quotes a word, if a shell would not leave it as it is.
pub fn quote(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_./,:=@%+".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_only_when_they_must_be() {
        let table: &[(&[&str], &str)] = &[
            (&["git", "push", "--force"], "git push --force"),
            (&["echo", "a b", ""], "echo 'a b' ''"),
            (&["it's"], r"'it'\''s'"),
            (&["a;b", "$(x)", "*"], "'a;b' '$(x)' '*'"),
            (&["~/x", "naïve"], "'~/x' 'naïve'"),
        ];
        for (words, expected) in table {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(join(&words), *expected);
        }
    }
}
