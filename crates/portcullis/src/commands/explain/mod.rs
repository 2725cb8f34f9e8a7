//! `portcullis explain`: what a finding or an allowance is about, and what all of them are.

mod list;

use clap::Args;

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_output::finding_page::{PageEntry, text};
use portcullis_output::terminal::print;

/// Explain a finding or an allowance, or list them all
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis explain
  portcullis explain PC007
  portcullis explain git-force-push
  portcullis explain PA02 --json")]
pub(crate) struct ExplainArgs {
    /// A code such as PC007, its number, or a name such as git-force-push
    code: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &ExplainArgs) -> Result<ExitCode, Failure> {
    let shown = match &arguments.code {
        Some(code) => {
            let entry = PageEntry::find(code).ok_or_else(|| unknown(code))?;
            if arguments.json { format!("{}\n", entry.to_json()) } else { text(entry.page()) }
        }
        None if arguments.json => list::as_json(),
        None => list::as_text(),
    };
    print(&shown)?;
    Ok(ExitCode::Success)
}

fn unknown(code: &str) -> Failure {
    let failure = Failure::usage(format!("there is no finding or allowance `{code}`"));
    match PageEntry::find_closest(code) {
        Some(entry) => failure.with_hint(format!("did you mean `{}` ({})?", entry.code(), entry.name())),
        None => failure.with_hint("`portcullis explain` lists all codes"),
    }
}
