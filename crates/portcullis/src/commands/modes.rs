//! `portcullis modes`: the permission modes and what each lets run.

use std::fmt::Write as _;

use clap::Args;
use portcullis_core::{MODES, ModeInfo};
use serde_json::json;

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_output::terminal::{BOLD, DIM, Painted, print};

/// List the permission modes
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis modes
  portcullis modes --json")]
pub(crate) struct ModesArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &ModesArgs) -> Result<ExitCode, Failure> {
    let text = if arguments.json { as_json() } else { as_table() };
    print(&text)?;
    Ok(ExitCode::Success)
}

fn as_table() -> String {
    let width = MODES.iter().map(|info| info.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for info in &MODES {
        let _ = write!(out, "{}  {}", Painted(BOLD, format_args!("{:<width$}", info.name)), info.summary);
        if !info.aliases.is_empty() {
            let _ = write!(out, " {}", Painted(DIM, format_args!("(also {})", info.aliases.join(", "))));
        }
        out.push('\n');
    }
    out
}

fn as_json() -> String {
    let modes: Vec<_> = MODES.iter().map(mode_json).collect();
    format!("{}\n", json!(modes))
}

fn mode_json(info: &ModeInfo) -> serde_json::Value {
    json!({
        "name": info.name,
        "aliases": info.aliases,
        "title": info.title,
        "symbol": info.symbol,
        "color": info.color,
        "external": info.external,
        "summary": info.summary,
    })
}
