//! How many tokens a text may be, guessed high: loading a real tokenizer costs a hundred times a decision.

/// Estimates the tokens of a text: three ASCII characters each, or one of any other kind.
pub fn estimate_tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    // The first byte of any other character is the only one of it from 0xc0 on.
    let others = text.bytes().filter(|byte| *byte >= 0xc0).count();
    ascii.div_ceil(3) + others
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_grows_with_the_text_and_counts_foreign_letters_dear() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(estimate_tokens("cargo test"), 4);
        assert_eq!(estimate_tokens("日本"), 2);
    }
}
