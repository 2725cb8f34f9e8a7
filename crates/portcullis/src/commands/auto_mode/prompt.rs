//! `portcullis auto-mode prompt`: what the model would be told, word for word.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use portcullis_classifier::model::VerdictShape;
use portcullis_classifier::prompt::Prompt;
use portcullis_classifier::protocol::{
    ClassifierJudge, JudgeStage, ModelEndpoint, StagePlan, VerdictMark, answer_spec, last_words, stage_shape,
};
use portcullis_core::{Mode, Person, visible};

use crate::commands::check::make_call;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::classifier::{ClassifierFlags, Resting, assemble, has_classifier, sections, templates};
use portcullis_gate::judge::{SessionHistory, show_prompt};
use portcullis_gate::{SessionSettings, SettingsFlags};
use portcullis_output::settings_notes;
use portcullis_output::terminal::{BOLD, Painted, print, print_notes};
use portcullis_world::World;

/// Print what the model would be told: the system prompt, or all of it for a command
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis auto-mode prompt
  portcullis auto-mode prompt --said 'ship it' 'npm publish'
  portcullis auto-mode prompt --transcript session.jsonl 'npm publish'

Nothing is sent, and no model is needed; without one the last words are left out.

Exit codes: 0 done, 64 wrong usage")]
pub(crate) struct PromptArgs {
    /// The tool that is called
    #[arg(long, value_name = "NAME", default_value = "Bash")]
    tool: String,
    /// The tool's input as a JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "command")]
    input: Option<String>,
    /// What the user said before, as a human turn; may be given again
    #[arg(long, value_name = "TEXT")]
    said: Vec<String>,
    /// A session file of Claude Code, Codex or Gemini CLI, or our own JSONL
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
    #[command(flatten)]
    session: SettingsFlags,
    #[command(flatten)]
    classifier: ClassifierFlags,
    /// The command of a shell tool, or what another tool is about
    #[arg(trailing_var_arg = true)]
    command: Vec<String>,
}

pub(super) fn run(arguments: &PromptArgs) -> Result<ExitCode, Failure> {
    let session = SessionSettings::open(&arguments.session)?;
    settings_notes::warn(&session);
    if arguments.command.is_empty() && arguments.input.is_none() {
        let templates = templates(&session.loaded.classifier).map_err(Failure::usage)?;
        print(&templates.fill(&sections(&session.loaded.auto_mode)))?;
        return Ok(ExitCode::Success);
    }
    let call = make_call(&arguments.tool, arguments.input.as_deref(), &arguments.command)?;
    let mut context = session.context(Some(Mode::Auto), Person::Present, &[]);
    context.session.turns.clone_from(&arguments.said);
    let past = SessionHistory { file: arguments.transcript.clone(), ..SessionHistory::default() };
    let prompt = show_prompt(&session, &call, context, &past, &mut World::default())?;
    let mut out = text(&prompt);
    if has_classifier(&session.loaded, &arguments.classifier) {
        // What was learned of a model may change the form of its answer.
        let store = session.store();
        let setup = assemble(&session, &arguments.classifier, store.as_ref(), Resting::Ignored);
        out.push_str(&closing(&setup.map_err(Failure::usage)?.judge, &VerdictMark::of(&prompt)));
    } else {
        print_notes(["no model is configured, so the last words, which depend on the model, are not shown"]);
    }
    print(&out)?;
    Ok(ExitCode::Success)
}

/// Writes the parts of a prompt one after the other, in the order the model gets them.
fn text(prompt: &Prompt) -> String {
    let mut out = String::new();
    let parts = [
        ("system", &prompt.system),
        ("session", &prompt.session),
        ("transcript", &format!("<transcript>\n{}", prompt.history.concat())),
        ("action", &format!("{}\n</transcript>", prompt.action.trim_end())),
        ("facts", &prompt.facts),
    ];
    for (title, text) in parts {
        write_part(&mut out, title, text);
    }
    out
}

/// Writes what each model is told last in each stage, and how its answer is described to it.
fn closing(judge: &ClassifierJudge, mark: &VerdictMark) -> String {
    let stages: &[JudgeStage] = match judge.stages {
        StagePlan::Both => &[JudgeStage::Fast, JudgeStage::Thinking],
        StagePlan::Fast => &[JudgeStage::Fast],
        StagePlan::Thinking => &[JudgeStage::Thinking],
    };
    let mut out = String::new();
    for ModelEndpoint { model, .. } in &judge.endpoints {
        let id = visible(&model.id);
        for stage in stages {
            let shape = stage_shape(model, *stage, judge.stages, model.shape_for(judge.shape));
            let title = format!("last words of the {} stage ({id})", stage.as_str());
            write_part(&mut out, &title, &last_words(model, *stage, judge.stages, shape, mark));
            if matches!(shape, VerdictShape::Tool | VerdictShape::Schema) {
                let spec = answer_spec(model, *stage, judge.stages, mark);
                let text = format!("{}: {}\n{:#}", spec.name, spec.description, spec.schema);
                write_part(
                    &mut out,
                    &format!("answer of the {} stage as a {} ({id})", stage.as_str(), shape.as_str()),
                    &text,
                );
            }
        }
    }
    out
}

fn write_part(out: &mut String, title: &str, text: &str) {
    if !text.is_empty() {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{}\n{}\n", Painted(BOLD, format_args!("── {title} ──")), text.trim_end());
    }
}
