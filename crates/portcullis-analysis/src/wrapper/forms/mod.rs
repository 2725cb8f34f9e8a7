//! The wrappers by name, and how their arguments are laid out.

mod runners;
mod wrappers;

use super::layout::Layout;
use crate::invocation::Wrapping;

pub(super) use runners::RUNNERS;
pub(super) use wrappers::WRAPPERS;

const PLAIN: Layout = Layout {
    name: "",
    subcommand: None,
    flags: "",
    valued: "",
    attached: "",
    flags_long: &[],
    valued_long: &[],
    operands: 0,
    assigns: false,
    text: &[],
    directory: &[],
    joins: false,
    starts_shell: false,
    wrapping: Wrapping::Changing,
};

/// Operands stand anywhere, and no command follows them.
const ALL: usize = usize::MAX;

const fn transparent(name: &'static str, flags: &'static str, valued: &'static str) -> Layout {
    Layout { name, flags, valued, wrapping: Wrapping::Transparent, ..PLAIN }
}

const fn changing(name: &'static str, flags: &'static str, valued: &'static str) -> Layout {
    Layout { name, flags, valued, ..PLAIN }
}

/// A wrapper whose command follows so many operands.
const fn after(operands: usize, layout: Layout) -> Layout {
    Layout { operands, ..layout }
}

/// A wrapper that starts a shell if no command is given.
const fn shell(layout: Layout) -> Layout {
    Layout { starts_shell: true, ..layout }
}

const fn runner(name: &'static str, subcommand: &'static str) -> Layout {
    Layout { name, subcommand: Some(subcommand), ..PLAIN }
}

pub(super) const XARGS: Layout = Layout {
    flags_long: &[
        "null",
        "no-run-if-empty",
        "interactive",
        "verbose",
        "exit",
        "open-tty",
        "show-limits",
        "replace",
        "max-lines",
        "eof",
    ],
    valued_long: &["max-args", "max-procs", "max-chars", "delimiter", "arg-file", "process-slot-var"],
    attached: "ile",
    ..changing("xargs", "0rtpxo", "nPLsIdaEJRS")
};

pub(super) const PARALLEL: Layout = Layout {
    flags_long: &[
        "will-cite",
        "bar",
        "eta",
        "progress",
        "dry-run",
        "keep-order",
        "pipe",
        "null",
        "tag",
        "ungroup",
    ],
    valued_long: &["jobs", "colsep", "arg-file", "joblog", "sshlogin", "delay", "timeout", "retries", "halt"],
    attached: "il",
    ..changing("parallel", "0kqXmrtuvx", "jPNnLaICSds")
};
