//! `portcullis explain`: what a finding or an allowance is about, and what all of them are.

mod entry;
mod list;
mod pages;
mod plain;

use clap::Args;

use self::entry::Entry;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::terminal::print;

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
    let text = match &arguments.code {
        Some(code) => {
            let entry = Entry::find(code).ok_or_else(|| unknown(code))?;
            if arguments.json { format!("{}\n", entry.to_json()) } else { plain::text(entry.page()) }
        }
        None if arguments.json => list::as_json(),
        None => list::as_text(),
    };
    print(&text)?;
    Ok(ExitCode::Success)
}

/// Returns what explains a code, as plain text with its heading; `None` if there is no such code.
pub(crate) fn plain_page(code: &str) -> Option<(&'static str, String)> {
    let entry = Entry::find(code)?;
    let text = plain::text(entry.page());
    Some((entry.code(), anstream::adapter::strip_str(&text).to_string()))
}

fn unknown(code: &str) -> Failure {
    let failure = Failure::usage(format!("there is no finding or allowance `{code}`"));
    match Entry::find_closest(code) {
        Some(entry) => failure.with_hint(format!("did you mean `{}` ({})?", entry.code(), entry.name())),
        None => failure.with_hint("`portcullis explain` lists all codes"),
    }
}
