//! From settings, flags and environment to a judge that can be asked.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis_classifier::KeySource;
use portcullis_classifier::model::{KeyHeader, ModelInfo, ModelProvider, ModelTable, VerdictShape};
use portcullis_classifier::protocol::{ClassifierJudge, ModelEndpoint, StagePlan};
use portcullis_classifier::transport::{
    BaseUrl, CircuitBreaker, KeyPresentation, ProviderConnection, TunnelProxy,
};
use portcullis_core::FailureAction;
use portcullis_settings::{self as settings, ClassifierSettings, LoadedSettings, SettingsLocations};
use portcullis_store::Store;

use super::recipe::{Recipe, read_file};
use crate::env_vars;
use crate::session_settings::SessionSettings;

/// The flags that choose the model.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct ClassifierFlags {
    /// Judge without a model: rules, proofs and findings alone
    #[cfg_attr(feature = "clap", arg(long))]
    pub no_classifier: bool,
    /// The provider of the model that judges, instead of the one in the settings
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME", value_parser = ["anthropic", "openai", "chat", "ollama", "gemini"], conflicts_with = "no_classifier"))]
    pub provider: Option<String>,
}

/// A judge, and everything that goes into its prompt but the session.
#[derive(Debug)]
pub struct Setup {
    /// The endpoints in order, with their models.
    pub judge: ClassifierJudge,
    /// How its prompts are made.
    pub recipe: Recipe,
    /// What becomes of a call that no model could judge.
    pub on_failure: FailureAction,
    /// Whether requests and responses are written to a private directory.
    pub dumps: bool,
    /// How long a judgement may take once every server has loaded its model.
    pub(super) usual_time: Duration,
}

/// How long the first answer of a server on this machine may take while an agent waits: with what is kept free for a busy
/// machine it ends before every agent gives up its hook.
const FIRST_ANSWER: Duration = Duration::from_secs(70);

/// How long it may take where a person waits.
const FIRST_ANSWER_OF_TEST: Duration = Duration::from_mins(5);

/// How long a server is taken to keep its model at hand, in milliseconds: what Ollama does by itself.
const KEPT_WARM_MS: u64 = 5 * 60 * 1_000;

/// Whether providers that failed lately are left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resting {
    /// They are, at this time in unix milliseconds.
    Honoured(u64),
    /// They are asked nevertheless: a person wants to know.
    Ignored,
}

/// Says whether a model is to be asked at all.
pub fn has_classifier(loaded: &LoadedSettings, arguments: &ClassifierFlags) -> bool {
    let classifier = &loaded.classifier;
    let is_named = classifier.endpoint.provider.is_some() || arguments.provider.is_some();
    !arguments.no_classifier && (is_named || classifier.broken.is_some())
}

/// Makes the judge that settings and flags name, with what the store knows of models. An error says why nobody can be
/// asked.
pub fn assemble(
    session: &SessionSettings,
    arguments: &ClassifierFlags,
    store: Option<&Store>,
    resting: Resting,
) -> Result<Setup, String> {
    let loaded = &session.loaded;
    let classifier = &loaded.classifier;
    if let Some(broken) = &classifier.broken {
        return Err(broken.clone());
    }
    let first = chosen_endpoint(classifier, arguments)?;
    let table = model_table(classifier)?;
    let recipe = Recipe::of(&session.loaded)?;
    let fallback = classifier.fallback.as_ref().filter(|_| arguments.provider.is_none());
    let mut endpoints = Vec::new();
    for (position, named) in std::iter::once(&first).chain(fallback).enumerate() {
        let may_name_model = position == 0 && !classifier.is_managed;
        let chosen = may_name_model.then(env_vars::classifier_model).flatten();
        let mut endpoint = endpoint(named, chosen, classifier, &table, &session.locations)?;
        if let Some(store) = store {
            recall(&mut endpoint, store, resting);
        }
        endpoints.push(endpoint);
    }
    let usual = Duration::from_secs(classifier.timeout_seconds.into());
    let first =
        |endpoint| if classifier.has_own_timeout { usual } else { first_time(endpoint, store, resting) };
    let timeout = endpoints.iter().map(|endpoint| usual.max(first(endpoint))).max();
    Ok(Setup {
        judge: ClassifierJudge {
            endpoints,
            stages: match classifier.stages {
                settings::StageSetting::Both => StagePlan::Both,
                settings::StageSetting::Fast => StagePlan::Fast,
                settings::StageSetting::Thinking => StagePlan::Thinking,
            },
            shape: shape(classifier.verdict),
            threshold: classifier.severity_threshold,
            labels: recipe.labels(),
            timeout: timeout.unwrap_or(usual),
        },
        recipe,
        on_failure: classifier.on_failure,
        dumps: classifier.dump,
        usual_time: usual,
    })
}

/// Reads the table of models, with the user's own rows.
pub fn model_table(classifier: &ClassifierSettings) -> Result<ModelTable, String> {
    match &classifier.models_file {
        None => Ok(ModelTable::built_in()),
        Some(path) => ModelTable::with_overrides(&read_file(path)?)
            .map_err(|error| format!("`{}`: {error}", path.display())),
    }
}

fn chosen_endpoint(
    classifier: &ClassifierSettings,
    arguments: &ClassifierFlags,
) -> Result<settings::EndpointSettings, String> {
    let named = &classifier.endpoint;
    match &arguments.provider {
        None => Ok(named.clone()),
        Some(provider) if named.provider.as_ref() == Some(provider) => Ok(named.clone()),
        Some(_) if classifier.is_managed => Err("managed settings choose the provider".to_owned()),
        Some(provider) => Ok(settings::EndpointSettings {
            provider: Some(provider.clone()),
            ..settings::EndpointSettings::default()
        }),
    }
}

fn endpoint(
    named: &settings::EndpointSettings,
    chosen: Option<String>,
    classifier: &ClassifierSettings,
    table: &ModelTable,
    locations: &SettingsLocations,
) -> Result<ModelEndpoint, String> {
    let provider: ModelProvider = named.provider.as_deref().unwrap_or_default().parse()?;
    let model = model(provider, named, chosen, table)?;
    let address = named.base_url.as_deref().or_else(|| provider.default_base_url()).ok_or_else(|| {
        format!("the provider `{provider}` has no address of its own; set `classifier.baseUrl`")
    })?;
    let base = BaseUrl::parse(address)?;
    let key = key_source(provider, named, locations)?;
    let auth = match (named.auth, provider.key_header(), &key) {
        (_, _, KeySource::None) => KeyPresentation::None,
        (settings::KeyAuth::Bearer, ..) | (_, KeyHeader::Bearer, _) => KeyPresentation::Bearer,
        (settings::KeyAuth::Key, KeyHeader::Named(header), _) => KeyPresentation::Header(header),
    };
    let connection =
        ProviderConnection::new(base).with_proxy(proxy(classifier)?).with_ca_file(classifier.ca_file.clone());
    Ok(ModelEndpoint { model, connection, auth, key, is_resting: false })
}

/// Adds to an endpoint what the store knows of it.
fn recall(endpoint: &mut ModelEndpoint, store: &Store, resting: Resting) {
    let name = endpoint.name();
    for parameter in store.learned().refused.get(&name).into_iter().flatten() {
        endpoint.model.drop_parameter(parameter);
    }
    if let Resting::Honoured(now_ms) = resting {
        let state = store.breaker(&name);
        let breaker = CircuitBreaker { failures: state.failures, open_until: Some(state.open_until_ms) };
        endpoint.is_resting = breaker.is_open(now_ms);
    }
}

/// Returns how long the next answer of an endpoint may take at least. A server on this machine that has not answered
/// lately loads its model first, and reads the whole prompt at the pace of this machine.
fn first_time(endpoint: &ModelEndpoint, store: Option<&Store>, resting: Resting) -> Duration {
    let is_warm = |now_ms: u64| {
        let last = store.and_then(|store| store.last_answer(&endpoint.name()));
        last.is_some_and(|last| now_ms.abs_diff(last) < KEPT_WARM_MS)
    };
    match resting {
        _ if !endpoint.is_near() => Duration::ZERO,
        Resting::Honoured(now_ms) if is_warm(now_ms) => Duration::ZERO,
        Resting::Honoured(_) => FIRST_ANSWER,
        Resting::Ignored => FIRST_ANSWER_OF_TEST,
    }
}

/// Chooses the model: environment, settings, the provider's default (spec D14).
fn model(
    provider: ModelProvider,
    named: &settings::EndpointSettings,
    chosen: Option<String>,
    table: &ModelTable,
) -> Result<ModelInfo, String> {
    if let Some(chosen) = chosen {
        // Whoever can set a variable may choose among models that are known, not bring a judge of their own.
        let is_known = |model: &ModelInfo| model.provider == provider && model.id == chosen && chosen != "*";
        let is_known = table.models().iter().any(is_known);
        let is_same = named.model.as_ref() == Some(&chosen);
        return if is_known || is_same {
            Ok(table.find(provider, &chosen))
        } else {
            let variable = env_vars::CLASSIFIER_MODEL;
            Err(format!("the variable {variable} names `{chosen}`, which is no known model of `{provider}`"))
        };
    }
    let id = named.model.as_deref().or_else(|| table.default_model(provider)).ok_or_else(|| {
        format!("the provider `{provider}` has no model of its own; set `classifier.model`")
    })?;
    Ok(table.find(provider, id))
}

fn key_source(
    provider: ModelProvider,
    named: &settings::EndpointSettings,
    locations: &SettingsLocations,
) -> Result<KeySource, String> {
    if let [program, arguments @ ..] = named.key_command.as_slice() {
        let program = if program.contains('/') {
            program.clone()
        } else {
            find_program(program, &env_vars::path(), &workspace(locations))?
        };
        return Ok(KeySource::Command(std::iter::once(program).chain(arguments.iter().cloned()).collect()));
    }
    Ok(match named.key_variable.as_deref().or_else(|| provider.default_key_variable()) {
        Some(name) => KeySource::Variable { name: name.to_owned(), value: env_vars::key(name) },
        None => KeySource::None,
    })
}

/// Returns the directories that a repository, or an agent at work in it, writes to: links resolved.
fn workspace(locations: &SettingsLocations) -> Vec<PathBuf> {
    let SettingsLocations { cwd, project, real_project, repository, .. } = locations;
    let repository = repository.iter().flat_map(|repository| [&repository.checkout, &repository.main]);
    let directories = [cwd, project, real_project].into_iter().chain(repository);
    directories.map(|directory| directory.canonicalize().unwrap_or_else(|_| directory.clone())).collect()
}

/// Finds the program that prints the key. A repository can steer where programs are looked for, so what lies in the
/// workspace, or leads there, is passed over.
fn find_program(name: &str, path: &[PathBuf], workspace: &[PathBuf]) -> Result<String, String> {
    let is_outside = |place: &Path| !workspace.iter().any(|directory| place.starts_with(directory));
    let is_usable = |file: &PathBuf| {
        let is_program =
            fs::metadata(file).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0);
        let directory = file.parent().and_then(|parent| parent.canonicalize().ok());
        is_program
            && is_outside(file)
            && directory.is_some_and(|directory| is_outside(&directory))
            && file.canonicalize().is_ok_and(|file| is_outside(&file))
    };
    let places = path.iter().filter(|directory| directory.is_absolute());
    let found = places.map(|directory| directory.join(name)).find(is_usable);
    found.and_then(|file| file.to_str().map(str::to_owned)).ok_or_else(|| {
        format!("no program `{name}` for the key outside of this workspace; name it by its whole path in `keyCommand`")
    })
}

fn proxy(classifier: &ClassifierSettings) -> Result<Option<TunnelProxy>, String> {
    let (address, exceptions) = match &classifier.proxy {
        Some(address) => (Some(address.clone()), Vec::new()),
        None => (env_vars::proxy(), env_vars::no_proxy()),
    };
    address.map(|address| TunnelProxy::parse(&address, &exceptions)).transpose()
}

const fn shape(form: settings::VerdictForm) -> Option<VerdictShape> {
    match form {
        settings::VerdictForm::Auto => None,
        settings::VerdictForm::Block => Some(VerdictShape::Block),
        settings::VerdictForm::Severity => Some(VerdictShape::Severity),
        settings::VerdictForm::Tool => Some(VerdictShape::Tool),
        settings::VerdictForm::Schema => Some(VerdictShape::Schema),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn named(provider: &str) -> settings::EndpointSettings {
        let base_url = Some("https://gateway.example".to_owned());
        settings::EndpointSettings {
            provider: Some(provider.to_owned()),
            base_url,
            ..settings::EndpointSettings::default()
        }
    }

    fn choose(provider: Option<&str>, is_managed: bool) -> Result<settings::EndpointSettings, String> {
        let classifier =
            ClassifierSettings { endpoint: named("openai"), is_managed, ..ClassifierSettings::default() };
        let arguments = ClassifierFlags { provider: provider.map(str::to_owned), no_classifier: false };
        chosen_endpoint(&classifier, &arguments)
    }

    #[test]
    fn a_flag_names_another_provider_with_nothing_of_the_first_unless_settings_are_managed() {
        let bare = settings::EndpointSettings {
            provider: Some("ollama".to_owned()),
            ..settings::EndpointSettings::default()
        };
        assert_eq!(choose(Some("ollama"), false), Ok(bare));
        assert_eq!(choose(Some("ollama"), true), Err("managed settings choose the provider".to_owned()));
        for is_managed in [false, true] {
            assert_eq!(choose(None, is_managed), Ok(named("openai")));
            assert_eq!(choose(Some("openai"), is_managed), Ok(named("openai")));
        }
    }

    #[test]
    fn the_environment_names_known_models_and_the_one_of_the_settings() {
        let table = ModelTable::built_in();
        let mut own = named("openai");
        own.model = Some("house-model".to_owned());
        let find = |chosen: Option<&str>, named: &settings::EndpointSettings| {
            model(ModelProvider::OpenAi, named, chosen.map(str::to_owned), &table).map(|model| model.id)
        };
        let usual = table.default_model(ModelProvider::OpenAi).unwrap();
        assert_eq!(find(None, &named("openai")), Ok(usual.to_owned()));
        assert_eq!(find(None, &own), Ok("house-model".to_owned()));
        assert_eq!(find(Some(usual), &own), Ok(usual.to_owned()));
        assert_eq!(find(Some("house-model"), &own), Ok("house-model".to_owned()));
        for (chosen, named) in [("house-model", named("openai")), ("claude-haiku-5-5", own)] {
            let error = find(Some(chosen), &named).unwrap_err();
            assert!(error.contains(&format!("`{chosen}`, which is no known model of `openai`")), "{error}");
        }
    }

    #[test]
    fn a_program_is_found_at_the_first_absolute_place_outside_of_the_workspace() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let place = |name: &str, mode: u32| {
            let place = root.join(name);
            fs::create_dir_all(&place).unwrap();
            let file = place.join("print-key");
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            place
        };
        let (inside, plain, first, second) =
            (place("app/bin", 0o755), place("plain", 0o644), place("a", 0o755), place("b", 0o755));
        fs::create_dir_all(root.join("folder/print-key")).unwrap();
        let workspace = [root.join("app")];
        let find = |path: &[PathBuf]| find_program("print-key", path, &workspace);
        let path =
            [inside.clone(), "b".into(), PathBuf::new(), plain, root.join("folder"), root.join("missing")];
        assert!(find(&path).unwrap_err().contains("no program `print-key`"));
        let found = find(&[path.as_slice(), &[first.clone(), second]].concat()).unwrap();
        assert_eq!(Path::new(&found), first.join("print-key"));
        assert!(find(&[root.join("a/../app/bin")]).is_err(), "a way into the workspace");
        std::os::unix::fs::symlink(&first, inside.join("out")).unwrap();
        assert!(find(&[inside.join("out")]).is_err(), "the workspace can turn the link");
        assert!(find_program("print-key", &[first], &[root]).is_err(), "all of it is the workspace");
    }
}
