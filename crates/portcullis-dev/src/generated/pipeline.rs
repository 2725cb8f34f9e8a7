//! The pages of the pipeline's steps and of the modes, from their tables.

use std::fmt::Write as _;

use portcullis_core::{MODES, STEPS};

use super::{NOTICE, cell};

pub(super) fn steps_page() -> String {
    let mut page = format!(
        "{NOTICE}\n\n# Steps\n\nThe decision pipeline, in the order the steps run.\n\
         Every step leaves a line in the trace, and the verdict names the step that decided it.\n\n\
         | step | name | result |\n|---|---|---|\n"
    );
    for step in STEPS {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| {} | {} | {} |", step.id.as_str(), cell(step.name), cell(step.result));
    }
    page.push_str(
        "\nWhere nobody is there, what would ask at A11 is denied.\n\
         Before that, [hooks](../guides/headless.md) are asked, and if a daemon runs the call waits for [a person \
         elsewhere](../guides/approvals.md), whose approval or rule the verdict names.\n",
    );
    page
}

pub(super) fn modes_page() -> String {
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
