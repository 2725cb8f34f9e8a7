//! Finding and reading every source, strongest first, and handing the layers to the merge.
//!
//! Each existing file is read once. Trust is only looked up when something in the repository depends on it.

use std::path::Path;
use std::sync::Arc;

use portcullis_core::rule::Behavior;
use portcullis_core::{Origin, Source};

use crate::disk::{MAXIMUM_SIZE, list_files, plain, read_text};
use crate::extract::{BROKEN_SETTINGS, SettingsText, extract, given};
use crate::keys::{KeyId, SettingsKey};
use crate::layer::{IgnoredReason, Setting, SettingValue, SettingsLayer};
use crate::loaded::{DocumentState, LoadOptions, LoadedSettings, SettingsDocument, TrustQuestion};
use crate::location::{SettingsFile, SettingsLocations, SettingsOwner};
use crate::merge::{is_on, merge};
use crate::problem::{ProblemSeverity, SettingsProblem};
use crate::profiles::ProfileLoader;
use crate::public_key::PublicKey;
use crate::pushed::{PolicyFiles, PolicyStamp, PushedPolicy};
use crate::trust::{TrustedBy, WorkspaceTrust, find_trust};

/// Loads all sources and makes a policy of them. Never fails: what cannot be read is a problem and never widens.
pub fn load(locations: &SettingsLocations, options: &LoadOptions) -> LoadedSettings {
    load_sources(locations, options, &Source::ALL)
}

/// Loads only what the caller brings, so that the same options make the same policy everywhere; no file is looked for
/// but the one they name.
pub fn load_given(locations: &SettingsLocations, options: &LoadOptions) -> LoadedSettings {
    load_sources(locations, options, &[Source::Flag, Source::Argument, Source::Session, Source::Command])
}

fn load_sources(locations: &SettingsLocations, options: &LoadOptions, sources: &[Source]) -> LoadedSettings {
    let mut loader = SettingsLoader { locations, layers: Vec::new(), documents: Vec::new() };
    for source in sources.iter().copied() {
        match source {
            Source::Policy => loader.managed(),
            Source::Flag => loader.flag(options.settings.as_deref()),
            Source::Argument => loader.given(source, "command-line argument", &options.arguments),
            Source::Session => {
                loader.given(source, "session", &options.session);
                if let Some((file, message)) = &options.lost {
                    let name: Arc<str> = Arc::from(file.as_str());
                    let problem =
                        SettingsProblem::new(ProblemSeverity::Error, message.as_str()).in_file(&name);
                    loader.broken(source, SettingsOwner::Portcullis, name, problem);
                }
            }
            Source::Command => loader.given(source, "command", &options.command),
            Source::Local | Source::Project | Source::User => {
                for file in locations.files(source) {
                    loader.file(&file);
                }
            }
        }
    }
    let pushed = if sources.contains(&Source::Policy) { loader.pushed() } else { None };
    let managed_only = is_on(&loader.layers, KeyId::ManagedRulesOnly);
    let look_up_trust = || look_up_trust(locations, options.trust);
    let mut settings = LoadedSettings { pushed, ..merge(loader.layers, loader.documents, look_up_trust) };
    if sources.contains(&Source::Policy) {
        ProfileLoader { locations, managed_only, look_up_trust }.load(&mut settings);
    }
    settings
}

fn look_up_trust(
    locations: &SettingsLocations,
    question: TrustQuestion,
) -> (WorkspaceTrust, Option<SettingsProblem>) {
    match question {
        TrustQuestion::Trusted => (WorkspaceTrust::Trusted(TrustedBy::Caller), None),
        TrustQuestion::Untrusted => (WorkspaceTrust::Untrusted, None),
        TrustQuestion::Look => match find_trust(locations) {
            Ok(trust) => (trust, None),
            Err(error) => {
                let mut problem = SettingsProblem::new(ProblemSeverity::Warning, error.to_string());
                problem.hint = error.hint().map(str::to_owned);
                (WorkspaceTrust::Untrusted, Some(problem))
            }
        },
    }
}

struct SettingsLoader<'load> {
    locations: &'load SettingsLocations,
    layers: Vec<SettingsLayer>,
    documents: Vec<SettingsDocument>,
}

impl SettingsLoader<'_> {
    fn managed(&mut self) {
        for file in self.locations.files(Source::Policy) {
            self.file(&file);
            let directory = file.path.with_extension("d");
            match list_files(&directory, "json") {
                Ok(paths) => {
                    for path in paths {
                        self.file(&SettingsFile { path, ..file.clone() });
                    }
                }
                Err(error) => {
                    let name: Arc<str> = Arc::from(directory.to_string_lossy());
                    let message = format!("the directory cannot be listed: {}", plain(&error));
                    let problem = SettingsProblem::new(ProblemSeverity::Error, message).in_file(&name);
                    self.broken(Source::Policy, file.owner, name, problem);
                }
            }
        }
    }

    /// Reads the policy of the store, once it is known whose are taken, as the weakest of the managed settings: files
    /// that an administrator put on this machine say which keys count.
    fn pushed(&mut self) -> Option<PolicyStamp> {
        let taken = match self.policy_keys()? {
            Ok(keys) => self.read_pushed(&keys),
            Err(message) => Err(message),
        };
        let stamp = match taken {
            Ok(policy) => {
                self.pushed_text(&policy);
                Some(policy.stamp())
            }
            Err(message) => {
                let name: Arc<str> = Arc::from("policy of the store");
                let hint = format!("see `portcullis policy pull`; {BROKEN_SETTINGS}");
                let problem =
                    SettingsProblem::new(ProblemSeverity::Error, message).in_file(&name).with_hint(hint);
                self.broken(Source::Policy, SettingsOwner::Portcullis, name, problem);
                None
            }
        };
        // Whatever was just added at the end belongs to the front.
        self.layers.rotate_right(1);
        self.documents.rotate_right(1);
        stamp
    }

    /// Returns the keys whose policies are taken, or why they are not known; `None` if no policy is expected.
    fn policy_keys(&mut self) -> Option<Result<Vec<PublicKey>, String>> {
        let is_managed = self
            .documents
            .iter()
            .any(|document| document.source == Source::Policy && document.state != DocumentState::Missing);
        if is_managed {
            self.ignore_policy_keys();
        }
        let settings = self.layers.iter().flat_map(|layer| &layer.settings);
        let mut named: Vec<&Setting> =
            settings.filter(|setting| setting.key.id == KeyId::StorePolicyKeys).collect();
        named.sort_by_key(|setting| std::cmp::Reverse(setting.origin.source));
        match &named.last()?.value {
            SettingValue::Words(keys) if keys.is_empty() => None,
            SettingValue::Words(keys) => {
                let keys: Result<_, _> = keys.iter().map(|key| PublicKey::parse(key)).collect();
                Some(keys.map_err(str::to_owned))
            }
            _ => Some(Err("`store.policyKeys` is wrong, so that no policy can be checked".to_owned())),
        }
    }

    /// Takes the keys of users out: whoever signs a policy writes managed settings, and those are there already.
    fn ignore_policy_keys(&mut self) {
        for layer in self.layers.iter_mut().filter(|layer| layer.source != Source::Policy) {
            layer.ignore_settings(|key| key.id == KeyId::StorePolicyKeys, IgnoredReason::ManagedPolicyKeys);
        }
    }

    fn read_pushed(&self, keys: &[PublicKey]) -> Result<PushedPolicy, String> {
        let files =
            PolicyFiles::of(self.locations).ok_or("there is no state directory to keep a policy in")?;
        match files.read(keys) {
            Ok(Some(policy)) => Ok(policy),
            Ok(None) => Err("`store.policyKeys` is set, and there is no policy yet".to_owned()),
            Err(refusal) => Err(refusal.to_string()),
        }
    }

    fn pushed_text(&mut self, policy: &PushedPolicy) {
        let name: Arc<str> = Arc::from(policy.stamp().name());
        let root: Arc<str> = Arc::from("/");
        let mut layer = extract(SettingsText {
            source: Source::Policy,
            owner: SettingsOwner::Portcullis,
            text: &policy.settings,
            label: &name,
            file: Some(&name),
            base: Some(&root),
            home: self.locations.home.as_deref(),
            project: &self.locations.project,
        });
        layer.ignore_settings(|key| key.parent() == Some("store"), IgnoredReason::PushedStore);
        self.add_layer(layer, SettingsOwner::Portcullis, &name);
    }

    fn flag(&mut self, settings: Option<&str>) {
        let Some(settings) = settings else { return };
        if settings.trim_start().starts_with('{') {
            let name = Arc::from("--settings");
            self.text(Source::Flag, SettingsOwner::Portcullis, &name, None, None, settings);
            return;
        }
        let path = self.locations.cwd.join(settings);
        let base = path.parent().map(Path::to_path_buf);
        let file = SettingsFile { source: Source::Flag, owner: SettingsOwner::Portcullis, path, base };
        if !self.file(&file) {
            let name: Arc<str> = Arc::from(file.path.to_string_lossy());
            let problem =
                SettingsProblem::new(ProblemSeverity::Error, "there is no such settings file").in_file(&name);
            self.documents.pop();
            self.broken(Source::Flag, file.owner, name, problem);
        }
    }

    fn given(&mut self, source: Source, label: &str, rules: &[(Behavior, String)]) {
        if !rules.is_empty() {
            self.layers.push(given(source, &Arc::from(label), rules));
        }
    }

    /// Reads a file; false if there is none.
    fn file(&mut self, file: &SettingsFile) -> bool {
        let name: Arc<str> = Arc::from(file.path.to_string_lossy());
        match read_text(&file.path, MAXIMUM_SIZE) {
            Ok(Some(text)) => {
                let base = file.base.as_ref().map(|base| Arc::from(base.to_string_lossy()));
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
                self.text(file.source, file.owner, &name, Some(&file.path), base.as_ref(), text);
            }
            Ok(None) => {
                let state = DocumentState::Missing;
                self.documents.push(SettingsDocument {
                    source: file.source,
                    owner: file.owner,
                    name,
                    state,
                    rules: 0,
                    programs: 0,
                });
                return false;
            }
            Err(unreadable) => {
                let mut problem =
                    SettingsProblem::new(ProblemSeverity::Error, unreadable.message).in_file(&name);
                problem.hint = Some(unreadable.hint.unwrap_or(BROKEN_SETTINGS).to_owned());
                self.broken(file.source, file.owner, name, problem);
            }
        }
        true
    }

    fn text(
        &mut self,
        source: Source,
        owner: SettingsOwner,
        name: &Arc<str>,
        path: Option<&Path>,
        base: Option<&Arc<str>>,
        text: &str,
    ) {
        let mut layer = extract(SettingsText {
            source,
            owner,
            text,
            label: name,
            file: path.map(|_| name),
            base,
            home: self.locations.home.as_deref(),
            project: &self.locations.project,
        });
        if let Some(path) = path
            && source.is_in_repository()
            && !layer.problems.is_empty()
            && !path.canonicalize().is_ok_and(|real| self.locations.is_inside_workspace(&real))
        {
            layer.problems = layer.problems.into_iter().map(conceal).collect();
        }
        self.add_layer(layer, owner, name);
    }

    fn add_layer(&mut self, layer: SettingsLayer, owner: SettingsOwner, name: &Arc<str>) {
        let is_broken = layer.problems.iter().any(|problem| problem.severity == ProblemSeverity::Error);
        let state = if is_broken { DocumentState::Broken } else { DocumentState::Read };
        let (source, rules) = (layer.source, layer.rules.len());
        self.documents.push(SettingsDocument {
            source,
            owner,
            name: Arc::clone(name),
            state,
            rules,
            programs: 0,
        });
        self.layers.push(layer);
    }

    fn broken(&mut self, source: Source, owner: SettingsOwner, name: Arc<str>, problem: SettingsProblem) {
        let mut layer = SettingsLayer::new(source);
        layer.damaged = true;
        layer.problems.push(problem);
        // The file may have held a stricter mode than weaker sources do.
        if let Some(key) = SettingsKey::of(KeyId::DefaultMode) {
            let origin = Origin { file: Some(Arc::clone(&name)), ..Origin::bare(source) };
            layer.settings.push(Setting { key, value: SettingValue::Mode(None), origin });
        }
        self.layers.push(layer);
        self.documents.push(SettingsDocument {
            source,
            owner,
            name,
            state: DocumentState::Broken,
            rules: 0,
            programs: 0,
        });
    }
}

/// Takes out of a problem what it says of the text: a repository can link its settings to any file of the user's, and a
/// report must not carry that file's contents to whoever reads it.
fn conceal(problem: SettingsProblem) -> SettingsProblem {
    let mut concealed = problem.without_excerpt();
    if concealed.severity == ProblemSeverity::Error {
        "the file this leads to, outside the repository, is not a settings file"
            .clone_into(&mut concealed.message);
    }
    concealed
}
