//! Differences of texts in the colours that people know from their tools.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use portcullis_gate::text_difference::{DifferenceKind, DifferenceLine};

use crate::terminal::{BOLD, DIM, Painted};

/// Writes a difference, line by line.
pub fn painted_difference(lines: &[DifferenceLine]) -> String {
    let mut out = String::new();
    for line in lines {
        let style = match line.kind {
            DifferenceKind::File => BOLD,
            DifferenceKind::Place | DifferenceKind::Note => DIM,
            DifferenceKind::Same => Style::new(),
            DifferenceKind::Removed => AnsiColor::Red.on_default(),
            DifferenceKind::Added => AnsiColor::Green.on_default(),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{}", Painted(style, &line.text));
    }
    out
}
