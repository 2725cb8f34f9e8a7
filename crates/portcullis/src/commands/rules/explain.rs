//! `portcullis rules explain`: how the text of a rule is read.

use std::fmt::Write as _;

use clap::Args;
use portcullis_core::rule::{Behavior, Rule};
use portcullis_core::visible;
use serde_json::json;

use super::explanation::Explanation;
use crate::exit_code::ExitCode;
use crate::value_parser::behavior_parser;
use portcullis_gate::Failure;
use portcullis_gate::session_settings::compile;
use portcullis_output::terminal::{BOLD, DIM, Painted, print, printable};

/// Say how a rule is read, what it matches and what it does not
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis rules explain 'Bash(npm run:*)'
  portcullis rules explain --as deny 'Read(~/.ssh/**)'
  portcullis rules explain 'mcp__github'")]
pub(crate) struct ExplainArgs {
    /// The rule
    rule: String,
    /// What the rule does
    #[arg(long = "as", value_name = "BEHAVIOR", default_value = "allow", value_parser = behavior_parser())]
    behavior: Behavior,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &ExplainArgs) -> Result<ExitCode, Failure> {
    let rule = compile(&arguments.rule, arguments.behavior).map_err(|failure| {
        let restrains =
            arguments.behavior == Behavior::Allow && compile(&arguments.rule, Behavior::Deny).is_ok();
        if restrains { failure.with_hint("read it as a deny or ask rule: add `--as deny`") } else { failure }
    })?;
    let explanation = Explanation::of(&rule);
    print(&if arguments.json { as_json(&rule, &explanation) } else { as_text(&rule, &explanation) })?;
    Ok(ExitCode::Success)
}

fn as_text(rule: &Rule, explanation: &Explanation) -> String {
    let mut out = String::new();
    let text = rule.text.to_string();
    let _ = writeln!(out, "{}  {}", Painted(BOLD, visible(&text)), explanation.shape);
    for sentence in &explanation.meaning {
        let _ = writeln!(out, "  {}", visible(sentence));
    }
    for (title, examples) in [("matches", &explanation.hits), ("does not match", &explanation.misses)] {
        if !examples.is_empty() {
            let _ = writeln!(out, "\n  {}", Painted(DIM, title));
        }
        for example in examples {
            let _ = writeln!(out, "    {}", visible(example));
        }
    }
    out
}

fn as_json(rule: &Rule, explanation: &Explanation) -> String {
    let object = json!({
        "text": rule.source_text,
        "canonical": rule.text.to_string(),
        "behavior": rule.behavior.as_str(),
        "tool": rule.text.tool,
        "content": rule.text.content,
        "shape": explanation.shape,
        "meaning": explanation.meaning,
        "matches": explanation.hits,
        "misses": explanation.misses,
    });
    printable(&format!("{object}\n"))
}
