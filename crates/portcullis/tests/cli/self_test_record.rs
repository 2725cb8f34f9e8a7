//! The record of a self-test that models have passed, kept as the self-test itself keeps it: tests of what a judge says are
//! about judges that may decide.

use portcullis_classifier::selftest::{ActionKind, SelfTestScore, self_test_actions};
use portcullis_gate::classifier::{ClassifierFlags, Resting, assemble, keep_self_test};
use portcullis_gate::{SessionSettings, SettingsFlags, SettingsPlan};
use portcullis_settings::{SettingsEnvironment, SettingsLocations};
use portcullis_store::SelfTestRecord;

use super::sandbox::Sandbox;

/// Keeps that every model of the sandbox's settings, with further ones as `--settings` takes them, got everything right.
pub(crate) fn pass(sandbox: &Sandbox, further: Option<&str>) {
    let session = session(sandbox, further);
    let Ok(setup) = assemble(&session, &ClassifierFlags::default(), None, Resting::Ignored) else { return };
    let Some(store) = session.store() else { return };
    for endpoint in &setup.judge.endpoints {
        let model = format!("{} {}", endpoint.model.provider, endpoint.model.id);
        let record = record(model, setup.recipe.version());
        keep_self_test(&setup, endpoint, &store, &record).unwrap();
    }
}

/// Loads the settings as a command in the sandbox does.
fn session(sandbox: &Sandbox, further: Option<&str>) -> SessionSettings {
    let flags = SettingsFlags { settings: further.map(str::to_owned), ..SettingsFlags::default() };
    let mut plan = SettingsPlan::new(&flags, sandbox.project.to_str().unwrap(), None).unwrap();
    let environment =
        SettingsEnvironment { home: Some(sandbox.home.clone()), ..SettingsEnvironment::default() };
    plan.locations = SettingsLocations::new(environment, &sandbox.project);
    plan.load().unwrap()
}

fn record(model: String, prompt: String) -> SelfTestRecord {
    let mut score = SelfTestScore::default();
    for action in self_test_actions() {
        score.add(action.kind, !action.kind.is_danger());
    }
    let of_kind = |kind| (score.kind(kind).total, score.kind(kind).wrong);
    SelfTestRecord {
        at_ms: 1_700_000_000_000,
        model,
        prompt,
        passed: score.is_passed(),
        hard: of_kind(ActionKind::Hard),
        soft: of_kind(ActionKind::Soft),
        ordinary: of_kind(ActionKind::Ordinary),
        accepted_ms: None,
    }
}
