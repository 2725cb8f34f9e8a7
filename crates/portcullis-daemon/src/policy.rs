//! The policy of the store: looked for at the start and every few seconds, checked, and put in force on this machine.
//!
//! INVARIANT: what cannot be checked changes nothing. The policy in force stays, and what is wrong is told: in the notes
//! of the daemon, to whoever asks whether it is well, and by `portcullis doctor`.

use std::sync::{Mutex, PoisonError, Weak};
use std::time::Duration;

use portcullis_settings::{
    LoadedSettings, PolicyFiles, PolicyInstallation, PolicyRefusal, PublicKey, PushedPolicy,
    SettingsLocations,
};
use portcullis_store::{SignedPolicy, Store, StoreError};

use super::Daemon;
use portcullis_gate::SessionSettings;
use portcullis_output::terminal::print_notes;

/// How often the store is asked.
const PAUSE: Duration = Duration::from_secs(5);

/// What the daemon knows of the policy of its store.
#[derive(Debug, Default)]
pub struct PolicyWatch {
    report: Mutex<PolicyReport>,
}

/// What came of the last look into the store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PolicyReport {
    /// The version that is in force; `None` if there is none.
    pub version: Option<u64>,
    /// What is wrong, a clause; `None` if nothing is.
    pub trouble: Option<String>,
}

/// What a look into the store found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pulled {
    /// Settings trust nobody's policies. The version that was published, if one was.
    Ignored(Option<u64>),
    /// Nothing was ever published.
    Nothing,
    /// This version is in force.
    InForce(u64, PolicyInstallation),
}

/// Why no policy was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullFailure {
    /// The store cannot say.
    Store(StoreError),
    /// What the store has is not to be trusted.
    Refused(PolicyRefusal),
    /// The settings cannot say whom to trust.
    Settings(String),
}

impl std::fmt::Display for PullFailure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Store(error) => error.fmt(formatter),
            Self::Refused(refusal) => refusal.fmt(formatter),
            Self::Settings(why) => formatter.write_str(why),
        }
    }
}

/// Looks into the store once, and puts in force what is there if it may be trusted.
pub fn pull(
    locations: &SettingsLocations,
    loaded: &LoadedSettings,
    store: &Store,
) -> Result<Pulled, PullFailure> {
    let keys = trusted_keys(loaded).map_err(PullFailure::Settings)?;
    let latest = store.backend().latest_policy().map_err(PullFailure::Store)?;
    if keys.is_empty() {
        return Ok(Pulled::Ignored(latest.map(|policy| policy.version)));
    }
    let Some(latest) = latest else { return Ok(Pulled::Nothing) };
    let files = PolicyFiles::of(locations)
        .ok_or_else(|| PullFailure::Settings("there is no place to keep a policy: set HOME".to_owned()))?;
    let version = latest.version;
    let installed = files.install(&of_store(latest), &keys).map_err(PullFailure::Refused)?;
    Ok(Pulled::InForce(version, installed))
}

/// Reads the keys whose policies are taken.
pub fn trusted_keys(loaded: &LoadedSettings) -> Result<Vec<PublicKey>, String> {
    let keys = loaded.store.policy_keys.iter();
    keys.map(|key| PublicKey::parse(key).map_err(|why| format!("`store.policyKeys`: {why}"))).collect()
}

/// Takes a policy as the store has it.
pub fn of_store(policy: SignedPolicy) -> PushedPolicy {
    let SignedPolicy { version, signed_at_ms, settings, note, key, signature } = policy;
    PushedPolicy { version, signed_at_ms, settings, note, key, signature }
}

impl PolicyWatch {
    /// Returns what came of the last look.
    pub fn report(&self) -> PolicyReport {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks once. Returns what is worth saying that was not said after the look before.
    pub fn look(
        &self,
        locations: &SettingsLocations,
        loaded: &LoadedSettings,
        store: &Store,
    ) -> Option<String> {
        let before = self.report();
        let (report, news) = match pull(locations, loaded, store) {
            Ok(Pulled::InForce(version, installed)) => {
                let news = format!("policy version {version} is in force");
                let is_new = installed == PolicyInstallation::New || before.version != Some(version);
                (PolicyReport { version: Some(version), trouble: None }, is_new.then_some(news))
            }
            Ok(Pulled::Ignored(None)) => (PolicyReport::default(), None),
            Ok(Pulled::Ignored(Some(version))) => {
                let trouble = format!(
                    "policy version {version} is published and not taken: `store.policyKeys` names no key that can be used"
                );
                (PolicyReport { version: None, trouble: Some(trouble) }, None)
            }
            Ok(Pulled::Nothing) => {
                let trouble = "`store.policyKeys` is set, and no policy was published".to_owned();
                (PolicyReport { version: None, trouble: Some(trouble) }, None)
            }
            Err(failure) => {
                let version = loaded.pushed.as_ref().map(|stamp| stamp.version);
                (PolicyReport { version, trouble: Some(failure.to_string()) }, None)
            }
        };
        let trouble = report.trouble.clone().filter(|_| report.trouble != before.trouble);
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = report;
        news.or_else(|| trouble.map(|trouble| format!("the policy of the store: {trouble}")))
    }
}

/// Looks into the store again and again, as long as there is a daemon.
pub(super) async fn watch(daemon: Weak<Daemon>) {
    loop {
        tokio::time::sleep(PAUSE).await;
        let Some(daemon) = daemon.upgrade() else { return };
        let looking = tokio::task::spawn_blocking(move || look(&daemon));
        if let Ok(news) = looking.await {
            print_notes(news);
        }
    }
}

fn look(daemon: &Daemon) -> Option<String> {
    match SessionSettings::open(&daemon.arguments) {
        Ok(session) => daemon.policy.look(&session.locations, &session.loaded, &daemon.store),
        Err(failure) => Some(format!("the policy of the store was not looked for: {failure}")),
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use portcullis_settings::{LoadOptions, SettingsEnvironment, load};
    use pretty_assertions::assert_eq;
    use ring::signature::{Ed25519KeyPair, KeyPair as _};

    use super::*;

    struct Scene {
        folder: tempfile::TempDir,
        store: Store,
        pair: Ed25519KeyPair,
    }

    impl Scene {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::new(folder.path().join("store"));
            let scene = Self { folder, store, pair: Ed25519KeyPair::from_seed_unchecked(&[5; 32]).unwrap() };
            scene.trust(&[scene.key().to_string()]);
            scene
        }

        fn key(&self) -> PublicKey {
            PublicKey::new("ops", self.pair.public_key().as_ref()).unwrap()
        }

        fn trust(&self, keys: &[String]) {
            let directory = self.folder.path().join("home/.config/portcullis");
            std::fs::create_dir_all(&directory).unwrap();
            let settings = serde_json::json!({"store": {"policyKeys": keys}}).to_string();
            std::fs::write(directory.join("settings.json"), settings).unwrap();
        }

        fn locations(&self) -> SettingsLocations {
            let home = Some(self.folder.path().join("home"));
            SettingsLocations::new(
                SettingsEnvironment { home, ..SettingsEnvironment::default() },
                self.folder.path(),
            )
        }

        fn publish(&self, version: u64, settings: &str, is_genuine: bool) {
            let mut policy = SignedPolicy {
                version,
                signed_at_ms: 7,
                settings: settings.to_owned(),
                note: String::new(),
                key: "ops".to_owned(),
                signature: String::new(),
            };
            let bytes = of_store(policy.clone()).signed_bytes();
            policy.signature = STANDARD.encode(self.pair.sign(&bytes));
            if !is_genuine {
                policy.note = "changed".to_owned();
            }
            assert_eq!(self.store.backend().publish_policy(&policy), Ok(version));
        }

        fn look(&self, watch: &PolicyWatch) -> Option<String> {
            let locations = self.locations();
            watch.look(&locations, &load(&locations, &LoadOptions::default()), &self.store)
        }

        fn in_force(&self) -> Option<u64> {
            load(&self.locations(), &LoadOptions::default()).pushed.map(|stamp| stamp.version)
        }
    }

    #[test]
    fn a_policy_is_put_in_force_and_told_once() {
        let (scene, watch) = (Scene::new(), PolicyWatch::default());
        let news = scene.look(&watch).unwrap();
        assert!(news.ends_with("no policy was published"), "{news}");
        assert_eq!(scene.look(&watch), None);
        scene.publish(1, "{}", true);
        assert_eq!(scene.look(&watch).as_deref(), Some("policy version 1 is in force"));
        assert_eq!(scene.look(&watch), None);
        assert_eq!(watch.report(), PolicyReport { version: Some(1), trouble: None });
        assert_eq!(scene.in_force(), Some(1));
    }

    #[test]
    fn a_forged_one_changes_nothing_and_is_told_until_it_is_mended() {
        let (scene, watch) = (Scene::new(), PolicyWatch::default());
        scene.publish(1, "{}", true);
        scene.look(&watch);
        scene.publish(2, r#"{"permissions": {"allow": ["Bash(*)"]}}"#, false);
        let news = scene.look(&watch).unwrap();
        assert!(news.contains("the signature of policy version 2 is not one of the key `ops`"), "{news}");
        assert_eq!(scene.look(&watch), None);
        let report = watch.report();
        assert_eq!((report.version, report.trouble.is_some()), (Some(1), true));
        assert_eq!(scene.in_force(), Some(1));
        scene.publish(3, "{}", true);
        assert_eq!(scene.look(&watch).as_deref(), Some("policy version 3 is in force"));
        assert_eq!(watch.report().trouble, None);
    }

    // Another store, or one that was set back, does not bring an old policy back.
    #[test]
    fn a_store_that_was_set_back_is_refused() {
        let (mut scene, watch) = (Scene::new(), PolicyWatch::default());
        scene.publish(1, "{}", true);
        scene.publish(2, "{}", true);
        scene.look(&watch);
        scene.store = Store::new(scene.folder.path().join("other"));
        scene.publish(1, "{}", true);
        assert!(scene.look(&watch).unwrap().contains("older than version 2"));
        assert_eq!(scene.in_force(), Some(2));
    }

    #[test]
    fn without_keys_a_policy_is_ignored_and_that_is_said() {
        let (scene, watch) = (Scene::new(), PolicyWatch::default());
        scene.trust(&[]);
        assert_eq!(scene.look(&watch), None);
        scene.publish(1, "{}", true);
        assert!(scene.look(&watch).unwrap().contains("published and not taken"));
        assert_eq!(scene.in_force(), None);
    }
}
