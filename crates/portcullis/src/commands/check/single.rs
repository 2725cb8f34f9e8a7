//! One call, answered for a person or as one JSON object.

use std::time::Instant;

use portcullis_core::{CallExplanation, ToolCall};
use portcullis_settings::ExplainerSetting;

use super::arguments::CheckArgs;
use super::remedy;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::SessionSettings;
use portcullis_gate::classifier::explain_by_model;
use portcullis_gate::judge::JudgedCall;
use portcullis_gate::presence::is_agents_process;
use portcullis_output::human::{self, TraceDetail};
use portcullis_output::settings_notes;
use portcullis_output::terminal::{print, print_notes};
use portcullis_output::{exchange, explanation, judged};
use portcullis_world::World;

/// Answers one call.
pub(crate) fn run(arguments: &CheckArgs) -> Result<ExitCode, Failure> {
    let call = arguments.call()?;
    let session = SessionSettings::open(&arguments.session)?;
    settings_notes::warn(&session);
    let mut context = session.context(arguments.mode, arguments.person(), &arguments.add_dir);
    arguments.tell(&mut context);
    let mut world = World::default();
    let start = Instant::now();
    let judged = arguments.road(&session).judge(&call, context, &arguments.past()?, &mut world)?;
    let elapsed = start.elapsed();
    print_notes(&judged.problems);
    let mut notes = Vec::new();
    let explained = explained(arguments, &session, &call, &judged, &mut notes);
    print_notes(&notes);
    let text = if arguments.form.json {
        as_json(&judged, elapsed.as_micros(), explained.as_ref())
    } else {
        let detail = if arguments.form.trace { TraceDetail::Every } else { TraceDetail::Spoken };
        let remedies = remedies(&session, &judged);
        let explained = explained.as_ref().map(explanation::for_people).unwrap_or_default();
        let models: Vec<String> = judged.exchanges.iter().map(exchange::line).collect();
        human::verdict(&call, &judged.verdict, detail, &models, &remedies) + &explained
    };
    print(&text)?;
    Ok(judged.verdict.decision.into())
}

fn remedies(session: &SessionSettings, judged: &JudgedCall) -> Vec<String> {
    let mut lines = remedy::remedies(session, &judged.case, &judged.verdict);
    lines.extend(judged.denial.as_ref().map(|id| format!("portcullis allow --id {id}")));
    lines
}

/// Explains the call, if that is asked for and not switched off: by a model where flags or settings say so, and
/// offline where that model fails, which is noted.
pub(super) fn explained(
    arguments: &CheckArgs,
    session: &SessionSettings,
    call: &ToolCall,
    judged: &JudgedCall,
    notes: &mut Vec<String>,
) -> Option<CallExplanation> {
    let by = match (arguments.explain.as_deref()?, session.loaded.explainer) {
        ("settings", chosen) => chosen,
        ("model", _) => ExplainerSetting::Model,
        _ => ExplainerSetting::Offline,
    };
    if by == ExplainerSetting::Off {
        return None;
    }
    let offline = judged.case.explain(session.policy());
    if by == ExplainerSetting::Offline {
        return Some(offline);
    }
    if is_agents_process() {
        notes.push("an agent runs this command, so the model was not asked".to_owned());
        return Some(offline);
    }
    let turns = &judged.case.context().session.turns;
    let store = session.store();
    let model = &arguments.classifier;
    let told = explain_by_model(session, model, store.as_ref(), call, turns, &offline, notes);
    Some(told.unwrap_or_else(|problem| {
        notes.push(format!("the model did not explain it ({problem}), so this is the offline explanation"));
        offline
    }))
}

fn as_json(judged: &JudgedCall, elapsed_us: u128, explained: Option<&CallExplanation>) -> String {
    let mut line = String::from("{");
    judged::write_fields(&mut line, judged, elapsed_us, explained);
    line.push_str("}\n");
    line
}
