//! Lexer and parser: no panic, tokens concatenate to the text, spans lie inside it, steps stay linear.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_shell::{Limits, parse_counted};

fuzz_target!(|text: &str| {
    let (script, steps) = parse_counted(text, Limits::default());
    assert!(steps <= 16 * text.len() + 4096, "{steps} steps for {} bytes", text.len());
    let mut end = 0;
    for token in &script.tokens {
        let range = token.span.range();
        assert_eq!(range.start, end, "tokens have a gap or overlap");
        assert!(text.get(range.clone()).is_some(), "a token does not lie in the text");
        end = range.end;
    }
    assert_eq!(end, text.len(), "the tokens end before the text does");
    for error in &script.errors {
        assert!(text.get(error.span.range()).is_some(), "an error does not lie in the text");
    }
    assert_eq!(script.is_clear(), script.errors.is_empty());
});
