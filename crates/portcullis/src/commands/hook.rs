//! `portcullis hook`: the flags of the hook, for help and completions. The hook itself is `portcullis-hook`, which is taken
//! before the command line is parsed.

use std::ffi::OsString;

use clap::Args;
use portcullis_hosts::Host;

/// Answer an agent's hook: its JSON on standard input, ours on standard output
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis hook claude < input.json
  portcullis hook codex --headless < input.json

`portcullis init` registers it with the agents that are installed.

Exit codes: 0 the answer is on standard output, 2 blocked because of a failure.
Amp goes by the exit code alone: 0 allow, 1 ask, 2 reject.")]
pub(crate) struct HookArgs {
    /// The agent: claude, codex, gemini, opencode, cursor, copilot, qwen, droid, crush, amp, kimi, pi, cline,
    /// generic
    #[arg(value_parser = Host::ALL.map(Host::name), hide_possible_values = true)]
    host: String,
    /// A settings file, or settings as JSON
    #[arg(long, value_name = "FILE|JSON")]
    settings: Option<String>,
    /// Nobody can be asked: what would be asked is denied, and too many denials end the run
    #[arg(long)]
    headless: bool,
}

impl HookArgs {
    /// Returns the words they were made of.
    pub(crate) fn into_words(self) -> Vec<OsString> {
        let settings = self.settings.map(|settings| ["--settings".to_owned(), settings]);
        let headless = self.headless.then(|| "--headless".to_owned());
        let words = std::iter::once(self.host).chain(settings.into_iter().flatten()).chain(headless);
        words.map(OsString::from).collect()
    }
}
