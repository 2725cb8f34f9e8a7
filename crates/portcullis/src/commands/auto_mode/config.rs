//! `portcullis auto-mode config`: the rules in force, and which model is asked how.

use clap::Args;
use portcullis_classifier::KeySource;
use portcullis_classifier::model::VerdictShape;
use portcullis_classifier::protocol::ModelEndpoint;
use portcullis_settings::LoadedSettings;
use serde_json::{Map, Value, json};

use super::defaults::lists;
use crate::commands::settings::value_json;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::classifier::{
    ClassifierFlags, Resting, VoteStanding, assemble, has_classifier, model_table, sections,
};
use portcullis_gate::{SessionSettings, SettingsFlags};
use portcullis_output::settings_notes;
use portcullis_output::terminal::{print, printable};

/// Print the rules in force and the model that is asked, as JSON
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis auto-mode config
  portcullis auto-mode config --settings team.json

No key is shown, and no program that prints one is started.
`key` names the variable and tells whether it is set, or names the program.

Exit codes: 0 done, 1 the classifier cannot be used, 64 wrong usage")]
pub(crate) struct ConfigArgs {
    #[command(flatten)]
    session: SettingsFlags,
    #[command(flatten)]
    classifier: ClassifierFlags,
}

pub(super) fn run(arguments: &ConfigArgs) -> Result<ExitCode, Failure> {
    let session = SessionSettings::open(&arguments.session)?;
    settings_notes::warn(&session);
    let sections = sections(&session.loaded.auto_mode);
    let (model, problem) = describe(&session, &arguments.classifier);
    let is_usable = problem.is_none();
    let mut problems: Vec<String> = sections.problems().to_vec();
    problems.extend(problem);
    let config = json!({"autoMode": lists(&sections, None), "classifier": model, "problems": problems});
    print(&printable(&format!("{config:#}\n")))?;
    Ok(if is_usable { ExitCode::Success } else { ExitCode::Findings })
}

/// Describes the model that is asked, and why it cannot be if it cannot.
fn describe(session: &SessionSettings, arguments: &ClassifierFlags) -> (Value, Option<String>) {
    let loaded = &session.loaded;
    if !has_classifier(loaded, arguments) {
        return (json!({"endpoints": [], "settings": settings(loaded)}), None);
    }
    let store = session.store();
    let (endpoints, problem) = match assemble(session, arguments, store.as_ref(), Resting::Ignored) {
        Ok(setup) => {
            let describe = |endpoint: &ModelEndpoint| {
                let standing = VoteStanding::of(&setup, endpoint, store.as_ref());
                endpoint_json(endpoint, setup.judge.shape, &standing)
            };
            (setup.judge.endpoints.iter().map(describe).collect(), None)
        }
        Err(problem) => (Vec::new(), Some(problem)),
    };
    let table = model_table(&loaded.classifier).ok();
    let as_of = table.map(|table| table.as_of().to_owned());
    let described = json!({"endpoints": endpoints, "settings": settings(loaded), "modelFactsAsOf": as_of});
    (described, problem)
}

fn endpoint_json(endpoint: &ModelEndpoint, shape: Option<VerdictShape>, standing: &VoteStanding) -> Value {
    let model = &endpoint.model;
    let prices = model.prices.as_ref().map(|prices| {
        json!({
            "input": prices.input,
            "cacheRead": prices.cache_read,
            "cacheWrite": prices.cache_write,
            "output": prices.output,
        })
    });
    json!({
        "provider": model.provider.as_str(),
        "model": model.id,
        "baseUrl": endpoint.connection.base().as_str(),
        "key": key_json(&endpoint.key),
        "verdict": model.shape_for(shape).as_str(),
        "selfTest": {"result": standing.as_str(), "mayAllow": standing.may_allow()},
        "switchedOff": model.retires,
        "pricesUsdPerMillion": prices,
    })
}

/// Says where a key comes from, and never the key.
fn key_json(source: &KeySource) -> Value {
    match source {
        KeySource::Variable { name, value } => {
            let is_set = value.as_deref().is_some_and(|value| !value.trim().is_empty());
            json!({"variable": name, "isSet": is_set})
        }
        KeySource::Command(words) => json!({"command": words.first()}),
        KeySource::None => Value::Null,
    }
}

/// Returns what settings say of the classifier, key by key.
fn settings(loaded: &LoadedSettings) -> Value {
    let own = loaded.effective.iter().filter_map(|effective| {
        let name = effective.key.path.strip_prefix("classifier.")?;
        Some((name.to_owned(), value_json(effective.key, effective.value.as_deref())))
    });
    Value::Object(own.collect::<Map<_, _>>())
}
