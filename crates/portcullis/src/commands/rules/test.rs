//! `portcullis rules test`: which rules match a call, and why the others do not.

use std::fmt::Write as _;

use clap::Args;
use portcullis_core::rule::Behavior;
use portcullis_core::{Mode, Person, Policy, RuleExplanation, visible};
use serde_json::json;

use crate::commands::check::make_call;
use crate::exit_code::ExitCode;
use crate::value_parser::{behavior_parser, mode_parser};
use portcullis_gate::Failure;
use portcullis_gate::judge::prepare;
use portcullis_gate::session_settings::{SessionSettings, SettingsFlags, compile};
use portcullis_output::human::rule_title;
use portcullis_output::json::rule_json;
use portcullis_output::settings_notes;
use portcullis_output::terminal::{DIM, Painted, print, printable, style_of};
use portcullis_world::World;

/// Say which rules match a call and why the others do not
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis rules test 'git push --force origin main'
  portcullis rules test 'Bash(git push:*)' 'Bash(git:*)' -- git push origin
  portcullis rules test --as deny 'Read(~/.ssh/**)' --tool Read -- ~/.ssh/id_ed25519

Without `--` the words are the call, and the rules in force are tried.
With it the rules before it are tried, and no others.")]
pub(crate) struct TestArgs {
    /// The rules to try, or the call if there is no `--`
    #[arg(value_name = "RULE|COMMAND")]
    words: Vec<String>,
    /// What the rules to try would do
    #[arg(long = "as", value_name = "BEHAVIOR", default_value = "allow", value_parser = behavior_parser())]
    behavior: Behavior,
    /// The tool that is called
    #[arg(long, value_name = "NAME", default_value = "Bash")]
    tool: String,
    /// The tool's input as a JSON object; `-` reads it from standard input
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
    /// The permission mode
    #[arg(long, value_name = "MODE", value_parser = mode_parser())]
    mode: Option<Mode>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    session: SettingsFlags,
    /// The call
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(arguments: &TestArgs) -> Result<ExitCode, Failure> {
    let (rules, words) = arguments.split();
    let call = make_call(&arguments.tool, arguments.input.as_deref(), words)?;
    let session = SessionSettings::open(&arguments.session)?;
    settings_notes::warn(&session);
    let given = given_policy(rules, arguments.behavior)?;
    let policy = given.as_ref().unwrap_or(session.policy());
    let context = session.context(arguments.mode, Person::Present, &[]);
    let explanations = prepare(policy, call, context, &mut World::default()).explain_rules(policy);
    print(&if arguments.json { as_json(&explanations) } else { as_text(&explanations) })?;
    Ok(ExitCode::Success)
}

impl TestArgs {
    /// Tells the rules from the call: with `--` or `--input` the words before it are rules.
    fn split(&self) -> (&[String], &[String]) {
        if self.command.is_empty() && self.input.is_none() {
            (&[], &self.words)
        } else {
            (&self.words, &self.command)
        }
    }
}

fn given_policy(rules: &[String], behavior: Behavior) -> Result<Option<Policy>, Failure> {
    if rules.is_empty() {
        return Ok(None);
    }
    let rules: Result<Vec<_>, Failure> = rules.iter().map(|rule| compile(rule, behavior)).collect();
    Ok(Some(Policy::of_rules(rules?)))
}

fn as_text(explanations: &[RuleExplanation]) -> String {
    if explanations.is_empty() {
        return "no rules\n".to_owned();
    }
    let mut out = String::new();
    let (matching, others): (Vec<_>, Vec<_>) =
        explanations.iter().partition(|explanation| explanation.matches);
    for explanation in matching {
        let style = style_of(explanation.rule.behavior.into());
        write_explanation(&mut out, &Painted(style, "match").to_string(), explanation);
    }
    for explanation in others {
        write_explanation(&mut out, &Painted(DIM, "no   ").to_string(), explanation);
    }
    out
}

fn write_explanation(out: &mut String, mark: &str, explanation: &RuleExplanation) {
    let _ = writeln!(out, "{mark}  {}", rule_title(&explanation.rule));
    let _ = writeln!(out, "       {}", visible(&explanation.detail));
}

fn as_json(explanations: &[RuleExplanation]) -> String {
    let rules: Vec<_> = explanations
        .iter()
        .map(|RuleExplanation { rule, matches, detail }| {
            let mut object = rule_json(rule);
            object.insert("matches".to_owned(), json!(matches));
            object.insert("detail".to_owned(), json!(detail));
            object
        })
        .collect();
    printable(&format!("{}\n", json!({"rules": rules})))
}
