//! Where a rule is written to, and what an edit looks like afterwards.

use std::fmt::Write as _;

use clap::Args;
use portcullis_core::rule::Behavior;
use portcullis_core::{Source, visible};
use portcullis_settings::{EditReport, LineSide, RuleDestination, SettingsOwner};

use crate::value_parser::{behavior_parser, source_parser};
use portcullis_output::terminal::{DIM, Painted, style_of};

/// Which rules are written or taken out, and where.
#[derive(Debug, Args)]
pub(super) struct EditArgs {
    /// What the rules do
    #[arg(value_name = "BEHAVIOR", value_parser = behavior_parser())]
    pub(super) behavior: Behavior,
    /// The rules as they are written
    #[arg(required = true, value_name = "RULE")]
    pub(super) rules: Vec<String>,
    #[command(flatten)]
    pub(super) target: TargetArgs,
}

/// The flags that choose a settings file.
#[derive(Debug, Args)]
pub(super) struct TargetArgs {
    /// Whose settings
    #[arg(long, value_name = "SOURCE", default_value = "user", value_parser = source_parser())]
    source: Source,
    /// Use Claude Code's settings file instead of our own
    #[arg(long)]
    claude: bool,
    /// The directory whose project settings are meant
    #[arg(long, value_name = "DIR")]
    pub(super) cwd: Option<String>,
}

impl TargetArgs {
    /// Returns where rules go.
    pub(super) fn destination(&self) -> RuleDestination {
        let owner = if self.claude { SettingsOwner::ClaudeCode } else { SettingsOwner::Portcullis };
        RuleDestination { source: self.source, owner }
    }
}

/// Describes an edit: the file and the lines that differ.
pub(crate) fn describe(report: &EditReport, unchanged: &str) -> String {
    let file = report.file.display().to_string();
    let mut out = format!("{}\n", visible(&file));
    if !report.changed {
        let _ = writeln!(out, "  {}", Painted(DIM, unchanged));
    }
    for line in &report.lines {
        let (sign, style) = match line.side {
            LineSide::Before => ('-', style_of(portcullis_core::Decision::Deny)),
            LineSide::After => ('+', style_of(portcullis_core::Decision::Allow)),
        };
        let changed = Painted(style, format_args!("{sign}{}", visible(&line.text)));
        let _ = writeln!(out, "  {} {changed}", Painted(DIM, format_args!("{:>4}", line.number)));
    }
    out
}
