//! Any bytes as a session file, of whichever host: nothing panics, and what is rendered cannot end its quotation.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_classifier::transcript::{Form, Style, read, render};
use portcullis_core::ToolCall;

fuzz_target!(|bytes: &[u8]| {
    let transcript = read(bytes, None);
    for form in [Form::Jsonl, Form::Text, Form::Compact] {
        let style = Style { form, ..Style::default() };
        let Ok(rendered) = render(&transcript, &ToolCall::bash("frobnicate"), &style) else { continue };
        for block in &rendered.history {
            assert!(!block.contains('<') && block.ends_with('\n'), "{block}");
        }
    }
});
