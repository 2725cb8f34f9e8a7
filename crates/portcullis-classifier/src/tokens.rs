//! Tokens: what calls of models used, and how many a text may be, guessed high: loading a real tokenizer costs a hundred times a decision.

/// Estimates the tokens of a text: three ASCII characters each, or one of any other kind.
pub fn estimate_tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    // The first byte of any other character is the only one of it from 0xc0 on.
    let others = text.bytes().filter(|byte| *byte >= 0xc0).count();
    ascii.div_ceil(3) + others
}

/// Tokens of one call. The three kinds of input do not overlap, whatever the provider counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenUsage {
    /// Of the prompt, neither read from a cache nor written to it.
    pub input: u64,
    /// Of the prompt, read from the cache.
    pub cache_read: u64,
    /// Of the prompt, written to the cache.
    pub cache_write: u64,
    /// Of the answer, thoughts included.
    pub output: u64,
}

impl TokenUsage {
    /// Adds the tokens of another call.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            output: self.output.saturating_add(other.output),
        }
    }
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
