//! Splits the command line of a Windows process into words, as programs do: blanks separate, double quotes
//! join.

/// Returns the words of a command line without their quotes.
pub(super) fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut is_word = false;
    let mut is_quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&'"') => {
                word.push('"');
                is_word = true;
                letters.next();
            }
            '"' => {
                is_quoted = !is_quoted;
                is_word = true;
            }
            letter if letter.is_whitespace() && !is_quoted => {
                if is_word {
                    words.push(std::mem::take(&mut word));
                }
                is_word = false;
            }
            letter => {
                word.push(letter);
                is_word = true;
            }
        }
    }
    if is_word {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_join_and_are_removed() {
        assert_eq!(
            split(r#""C:\Program Files\x.exe" /c "a b" \"q\""#),
            [r"C:\Program Files\x.exe", "/c", "a b", "\"q\""]
        );
        assert_eq!(split("  "), Vec::<String>::new());
    }
}
