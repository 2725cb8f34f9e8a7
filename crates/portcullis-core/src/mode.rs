//! The permission modes as one table (spec B).

use std::fmt;

/// A permission mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Asks for everything that is not settled.
    Default,
    /// Read-only until the plan is approved.
    Plan,
    /// File edits in the working directories run.
    AcceptEdits,
    /// A classifier answers instead of a person.
    Auto,
    /// What would be asked is denied.
    DontAsk,
    /// What is not stopped by a rule or a safety check runs.
    BypassPermissions,
}

/// What a mode looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModeInfo {
    /// The mode that the row is about.
    pub mode: Mode,
    /// The name in settings and on the command line.
    pub name: &'static str,
    /// Other spellings of the name.
    pub aliases: &'static [&'static str],
    /// The title shown to people.
    pub title: &'static str,
    /// The symbol shown in a status line.
    pub symbol: &'static str,
    /// The role of the colour in a theme, not the colour itself.
    pub color: &'static str,
    /// The name reported to hosts.
    pub external: &'static str,
    /// What runs without asking, in one line.
    pub summary: &'static str,
}

/// Every mode, in the order people meet them.
pub const MODES: [ModeInfo; 6] = [
    ModeInfo {
        mode: Mode::Default,
        name: "default",
        aliases: &["manual"],
        title: "Default",
        symbol: "",
        color: "text",
        external: "default",
        summary: "reads in the working directories and read-only commands run; the rest asks",
    },
    ModeInfo {
        mode: Mode::Plan,
        name: "plan",
        aliases: &[],
        title: "Plan Mode",
        symbol: "⏸",
        color: "planMode",
        external: "plan",
        summary: "read-only until the plan is approved",
    },
    ModeInfo {
        mode: Mode::AcceptEdits,
        name: "acceptEdits",
        aliases: &[],
        title: "Accept edits",
        symbol: "⏵⏵",
        color: "autoAccept",
        external: "acceptEdits",
        summary: "as default, and file edits and mkdir, touch, rm, rmdir, mv, cp, sed in the working directories run",
    },
    ModeInfo {
        mode: Mode::Auto,
        name: "auto",
        aliases: &[],
        title: "Auto mode",
        symbol: "⏵⏵",
        color: "warning",
        external: "default",
        summary: "a classifier answers what rules and the analysis leave open",
    },
    ModeInfo {
        mode: Mode::DontAsk,
        name: "dontAsk",
        aliases: &[],
        title: "Don't Ask",
        symbol: "⏵⏵",
        color: "error",
        external: "dontAsk",
        summary: "what would ask is denied",
    },
    ModeInfo {
        mode: Mode::BypassPermissions,
        name: "bypassPermissions",
        aliases: &[],
        title: "Bypass Permissions",
        symbol: "⏵⏵",
        color: "error",
        external: "bypassPermissions",
        summary: "everything runs that no deny rule, content ask rule or safety check stops",
    },
];

impl Mode {
    /// Finds a mode by its name or an alias.
    pub fn find(name: &str) -> Option<Self> {
        MODES.iter().find(|info| info.name == name || info.aliases.contains(&name)).map(|info| info.mode)
    }

    /// Returns its row in the table.
    pub const fn info(self) -> &'static ModeInfo {
        const TABLE: &[ModeInfo; 6] = &MODES;
        match self {
            Self::Default => &TABLE[0],
            Self::Plan => &TABLE[1],
            Self::AcceptEdits => &TABLE[2],
            Self::Auto => &TABLE[3],
            Self::DontAsk => &TABLE[4],
            Self::BypassPermissions => &TABLE[5],
        }
    }

    /// Returns its name in settings.
    pub const fn as_str(self) -> &'static str {
        self.info().name
    }

    /// Says whether a repository may not choose it for the user (spec B, C12).
    pub const fn is_risky(self) -> bool {
        matches!(self, Self::Auto | Self::BypassPermissions)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_has_one_row_and_is_found_by_each_of_its_names() {
        for info in &MODES {
            assert_eq!(info.mode.info(), info);
            for name in std::iter::once(&info.name).chain(info.aliases) {
                assert_eq!(Mode::find(name), Some(info.mode), "{name}");
            }
        }
        assert_eq!(Mode::find("yolo"), None);
    }

    #[test]
    fn auto_reports_itself_to_hosts_as_default() {
        assert_eq!(Mode::Auto.info().external, "default");
    }
}
