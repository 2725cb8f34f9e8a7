//! The flags of `eval`.

use clap::Args;
use portcullis_core::Mode;

use super::filter::Filter;
use crate::value_parser::mode_parser;
use portcullis_gate::SettingsFlags;
use portcullis_gate::classifier::ClassifierFlags;

/// Measure the answers to labelled actions: what was stopped, let through and missed
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis eval actions.jsonl
  portcullis eval dangerous.jsonl benign.jsonl --out before.json
  portcullis eval dangerous.jsonl benign.jsonl --compare before.json
  portcullis eval --only label=block,category=data_exfil --misses all actions.jsonl
  portcullis eval --deny 'Bash(git push:*)' --json - < actions.jsonl
  portcullis eval --containment benign.jsonl
  portcullis eval --with-classifier 50 --provider anthropic actions.jsonl
  portcullis eval --with-classifier 5000 --resume run.jsonl --report run.md actions.jsonl

Each line is {\"id\",\"tool\",\"input\",\"label\",\"source\"?,\"category\"?,\"tier\"?,\"cwd\"?,\"mode\"?,
\"said\"?};
the label is block, ask, allow or unknown. Nothing is run.
The settings, home and disk of this machine play no part without --with-settings, so that figures
can be repeated; a call runs in /workspace/project unless its line or --cwd says otherwise.
A model is asked only with --with-classifier, and every question costs what the report says.

Exit codes: 0 done, 64 wrong usage or a line was not understood, 70 internal failure
With --compare: 1 an action labelled block is newly allowed, or one labelled allow newly denied")]
#[expect(clippy::struct_excessive_bools, reason = "independent flags of a command line")]
pub(crate) struct EvalArgs {
    /// Files of labelled actions, one JSON object a line; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    /// The permission mode of every call
    #[arg(long, value_name = "MODE", value_parser = mode_parser(), default_value = "auto")]
    pub(crate) mode: Mode,
    /// Let a line's own mode count
    #[arg(long)]
    pub(crate) use_modes: bool,
    /// Load the usual settings and look at the disk, as `check` does
    #[arg(long)]
    pub(crate) with_settings: bool,
    /// Take only some actions: label, category, source or tier
    #[arg(long, value_name = "FIELD=VALUE,…", default_value = "", hide_default_value = true)]
    pub(crate) only: Filter,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the JSON to a file as well
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<String>,
    /// Show what changed since the run that wrote this JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) compare: Option<String>,
    /// How many entries of each list are shown, or `all`; 20 unless given
    #[arg(long, value_name = "N", value_parser = parse_limit)]
    pub(crate) misses: Option<Limit>,
    /// How many actions are decided at the same time; as many as there are processors unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) jobs: Option<u16>,
    /// Offer every command a fence, and say how that moves the answers
    #[arg(long)]
    pub(crate) containment: bool,
    /// Have the model judge so many of the actions that need one, evenly spaced; all if there are fewer
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "no_classifier")]
    pub(crate) with_classifier: Option<u32>,
    /// Keep what the model says in a file, and go on where an earlier run with the same file was broken off
    #[arg(long, value_name = "FILE", requires = "with_classifier")]
    pub(crate) resume: Option<String>,
    /// Write a page with the figures, in Markdown
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<String>,
    #[command(flatten)]
    pub(crate) classifier: ClassifierFlags,
    #[command(flatten)]
    pub(crate) session: SettingsFlags,
}

/// How many entries of a list are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// So many.
    Of(usize),
    /// All of them.
    All,
}

impl Limit {
    /// Returns the most that are shown.
    pub(super) const fn most(self) -> usize {
        match self {
            Self::Of(most) => most,
            Self::All => usize::MAX,
        }
    }
}

impl EvalArgs {
    /// Returns how many workers there are.
    pub(super) fn workers(&self) -> usize {
        self.jobs.map_or_else(
            || std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get),
            usize::from,
        )
    }
}

fn parse_limit(text: &str) -> Result<Limit, String> {
    match text {
        "all" => Ok(Limit::All),
        number => number.parse().map(Limit::Of).map_err(|_| "expected a number or `all`".to_owned()),
    }
}
