//! The page of modes, from the mode table.

use std::fmt::Write as _;

use portcullis_core::MODES;

use super::{NOTICE, cell};

pub(super) fn page() -> String {
    let mut page = format!(
        "{NOTICE}\n\n# Modes\n\n\
         | name | other names | title | symbol | colour | reported to hosts as | what runs without asking |\n\
         |---|---|---|---|---|---|---|\n"
    );
    for info in &MODES {
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} | {} | `{}` | {} |",
            info.name,
            info.aliases.iter().map(|alias| format!("`{alias}`")).collect::<Vec<_>>().join(", "),
            info.title,
            info.symbol,
            info.color,
            info.external,
            cell(info.summary),
        );
    }
    page.push_str("\nThe verdicts of each mode are in the [specification](../../specs/verdicts/modes.md).\n");
    page
}
