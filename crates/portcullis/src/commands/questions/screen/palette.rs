//! The styles of the full screen. Without colours, weight and words say the same.

use ratatui::style::{Color, Modifier, Style};

/// What stands out.
pub(super) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
/// What is there for completeness.
pub(super) const DIM: Style = Style::new().add_modifier(Modifier::DIM);
/// What the cursor is on.
pub(super) const CURSOR: Style = Style::new().add_modifier(Modifier::REVERSED);
/// The words that decided.
pub(super) const DECIDING: Style = BOLD.add_modifier(Modifier::UNDERLINED);

/// The styles that may have colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Palette {
    /// Whether there are colours.
    pub(super) is_coloured: bool,
}

impl Palette {
    /// A problem.
    pub(super) fn warning(self) -> Style {
        self.coloured(Color::Yellow)
    }

    /// The level of a risk: `LOW`, `MEDIUM`, `HIGH`.
    pub(super) fn level(self, level: &str) -> Style {
        match level {
            "HIGH" => self.coloured(Color::Red),
            "MEDIUM" => self.coloured(Color::Yellow),
            "LOW" => self.coloured(Color::Green),
            _ => DIM,
        }
    }

    fn coloured(self, colour: Color) -> Style {
        if self.is_coloured { BOLD.fg(colour) } else { BOLD }
    }
}
