//! The flags of `replay`.

use clap::Args;
use portcullis_core::Mode;

use crate::value_parser::{mode_parser, since, until};
use portcullis_gate::SettingsFlags;
use portcullis_output::calendar;

/// Run past sessions through today's policy, and find the rules that end its prompts
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis replay
  portcullis replay ~/.claude/projects/-home-me-app --since 30d
  portcullis replay --mode auto --html report.html
  portcullis replay --compare new-settings.json session.jsonl
  portcullis replay --neutral --settings policy.json --json sessions/

Without a FILE, the sessions of Claude Code, Codex and Gemini CLI are taken from where these keep them.
Nothing that is read is run, no model is asked, and nothing is written but the file of --html.
A call is judged in the directory its record names; --cwd is for those whose record names none.

Exit codes: 0 done, 64 wrong usage or a FILE could not be read, 70 internal failure")]
pub(crate) struct ReplayArgs {
    /// Session files, or directories to look for them in
    #[arg(value_name = "FILE|DIR")]
    pub(super) paths: Vec<String>,
    /// The permission mode of every call; the one on record unless given, else that of the settings
    #[arg(long, value_name = "MODE", value_parser = mode_parser())]
    pub(super) mode: Option<Mode>,
    /// Take only calls since then: 30m, 12h, 7d, 2w, or a date
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub(super) since: Option<u64>,
    /// Take only calls up to then, a date with its whole day
    #[arg(long, value_name = "TIME", value_parser = until)]
    pub(super) until: Option<u64>,
    /// Show which answers would change with these settings in place of --settings
    #[arg(long, value_name = "FILE|JSON")]
    pub(super) compare: Option<String>,
    /// Leave out the settings, home and disk of this machine
    #[arg(long)]
    pub(super) neutral: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Write the report to a file as well, as one HTML page
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<String>,
    /// How many entries of each list are shown
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(super) limit: u16,
    /// How many files are read at the same time; as many as there are processors unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    #[command(flatten)]
    pub(super) session: SettingsFlags,
}

impl ReplayArgs {
    /// The flags of a look at what a mode would have said to the calls since a time.
    pub(super) fn of_preview(mode: Mode, since: u64) -> Self {
        Self {
            paths: Vec::new(),
            mode: Some(mode),
            since: Some(since),
            until: None,
            compare: None,
            neutral: false,
            json: false,
            html: None,
            limit: 20,
            jobs: None,
            session: SettingsFlags::default(),
        }
    }

    /// Returns how many workers there are.
    pub(super) fn workers(&self) -> usize {
        self.jobs.map_or_else(
            || std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get),
            usize::from,
        )
    }

    /// Returns the flags of the policy that is compared with.
    pub(super) fn compared(&self) -> Option<SettingsFlags> {
        let settings = self.compare.clone()?;
        Some(SettingsFlags { settings: Some(settings), ..self.session.clone() })
    }

    /// Says whether a call of this time is taken; one without a time only if no time was asked for.
    pub(super) fn takes(&self, time: Option<&str>) -> bool {
        if self.since.is_none() && self.until.is_none() {
            return true;
        }
        let Some(time) = time.and_then(calendar::parse) else { return false };
        self.since.is_none_or(|since| time >= since) && self.until.is_none_or(|until| time < until)
    }
}
