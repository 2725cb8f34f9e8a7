//! Flags that several commands share.

use clap::Args;
use portcullis_core::{Mode, Person};
use portcullis_gate::SettingsFlags;
use portcullis_hosts::HostAnswer;
use portcullis_output::terminal::print_notes;

use crate::value_parser::mode_parser;

/// The flags of a command that judges call after call for a program.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct GateArgs {
    /// A settings file, or settings as JSON
    #[arg(long, value_name = "FILE|JSON")]
    settings: Option<String>,
    /// The permission mode; settings say which if this does not
    #[arg(long, value_name = "MODE", value_parser = mode_parser())]
    pub(crate) mode: Option<Mode>,
    /// Nobody can be asked: what would be asked is denied, and too many denials end the run
    #[arg(long)]
    pub(crate) headless: bool,
}

impl GateArgs {
    /// Returns the flags that choose settings.
    pub(crate) fn session(&self) -> SettingsFlags {
        SettingsFlags { settings: self.settings.clone(), ..SettingsFlags::default() }
    }

    /// Says whether somebody can be asked.
    pub(crate) fn person(&self) -> Person {
        if self.headless { Person::Absent } else { Person::Present }
    }
}

/// Says on standard error what the user should know. It names us already where a host shows it, so that is left out.
pub(crate) fn print_notice(answer: &HostAnswer) {
    let notice = answer.notice.as_deref();
    print_notes(notice.map(|notice| notice.strip_prefix("portcullis: ").unwrap_or(notice)));
}
