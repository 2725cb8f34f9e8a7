//! The settings a command works with: the flags that choose them, where they are, what was loaded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_core::rule::{Behavior, Rule};
use portcullis_core::{Context, Mode, Origin, Person, Policy, Source, path};
use portcullis_settings::{
    DocumentState, LoadOptions, LoadedSettings, ProblemSeverity, SettingsEnvironment, SettingsLocations,
    TrustQuestion, load, load_given,
};

use portcullis_store::{DocumentKey, Grant, GrantContext, Store, set_custom_forms};

use crate::Failure;
use crate::clock::now_ms;
use crate::env_vars;
use crate::own_locations::own_locations;

/// The directory a call runs in where the answer must not depend on this machine.
const NEUTRAL_PROJECT: &str = "/workspace/project";
/// The home directory where the answer must not depend on this machine.
const NEUTRAL_HOME: &str = "/home/user";

/// The flags that choose settings.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct SettingsFlags {
    /// The directory the call runs in, and whose project settings count
    #[cfg_attr(feature = "clap", arg(long, value_name = "DIR"))]
    pub cwd: Option<String>,
    /// A further settings file, or settings as JSON
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE|JSON"))]
    pub settings: Option<String>,
    /// A further allow rule
    #[cfg_attr(feature = "clap", arg(long, value_name = "RULE"))]
    pub allow: Vec<String>,
    /// A further ask rule
    #[cfg_attr(feature = "clap", arg(long, value_name = "RULE"))]
    pub ask: Vec<String>,
    /// A further deny rule
    #[cfg_attr(feature = "clap", arg(long, value_name = "RULE"))]
    pub deny: Vec<String>,
}

/// Loaded settings and the directory they were loaded for.
#[derive(Debug)]
pub struct SessionSettings {
    /// Where settings and state are.
    pub locations: SettingsLocations,
    /// What was loaded.
    pub loaded: LoadedSettings,
    /// What a person granted for a while and whose use is noted.
    pub limited: Vec<Grant>,
    cwd: String,
    project: String,
    store: Option<Store>,
}

impl SessionSettings {
    /// Loads the settings for the directory the flags name, which must be there.
    pub fn open(arguments: &SettingsFlags) -> Result<Self, Failure> {
        Self::load(&arguments.load_options()?, &named_directory(arguments.cwd.as_deref())?, None)
    }

    /// Loads the settings for a directory below the one the flags name; it need not be there.
    pub fn open_in(arguments: &SettingsFlags, directory: &str) -> Result<Self, Failure> {
        let base = text(&named_directory(arguments.cwd.as_deref())?)?;
        Self::load(&arguments.load_options()?, Path::new(&path::join(&base, directory)), None)
    }

    /// Loads the settings for a host's call in `cwd` that belongs to a session in `project`.
    ///
    /// What the project forbids holds wherever the session has moved to; what it allows holds inside it.
    pub fn open_for_hook(
        arguments: &SettingsFlags,
        cwd: &str,
        project: Option<PathBuf>,
    ) -> Result<Self, Failure> {
        Self::open_with(arguments, cwd, project, None)
    }

    /// Loads the settings as [`Self::open_for_hook`] does, with what a person granted in the session or the workspace.
    pub fn open_for_session(
        arguments: &SettingsFlags,
        cwd: &str,
        project: Option<PathBuf>,
        session_id: &str,
    ) -> Result<Self, Failure> {
        Self::open_with(arguments, cwd, project, Some(session_id))
    }

    fn open_with(
        arguments: &SettingsFlags,
        cwd: &str,
        project: Option<PathBuf>,
        session_id: Option<&str>,
    ) -> Result<Self, Failure> {
        let mut plan = SettingsPlan::new(arguments, cwd, project)?;
        if let (Some(id), Some(store)) = (session_id, plan.locations.state.clone().map(Store::new)) {
            plan.add_grants(&store, id);
        }
        plan.load()
    }

    /// Makes a session of the flags alone, the same on every machine: no settings file is looked for, the home is a
    /// made-up one, and so is the directory unless the flags name it. It need not be there.
    pub fn open_neutral_in(arguments: &SettingsFlags, directory: &str) -> Result<Self, Failure> {
        let base = text(&absolute_path(arguments.cwd.as_deref().unwrap_or(NEUTRAL_PROJECT))?)?;
        let cwd = PathBuf::from(path::join(&base, directory));
        let environment =
            SettingsEnvironment { home: Some(PathBuf::from(NEUTRAL_HOME)), ..SettingsEnvironment::default() };
        let locations = SettingsLocations::new(environment, &cwd);
        let loaded = load_given(&locations, &arguments.load_options()?);
        Self::of(locations, loaded, &cwd)
    }

    fn load(options: &LoadOptions, cwd: &Path, project: Option<PathBuf>) -> Result<Self, Failure> {
        let locations = SettingsLocations::new(environment(project)?, cwd);
        refuse_steered(&locations)?;
        let loaded = load(&locations, options);
        Self::of(locations, loaded, cwd)
    }

    fn of(locations: SettingsLocations, loaded: LoadedSettings, cwd: &Path) -> Result<Self, Failure> {
        set_custom_forms(loaded.secret_forms.clone());
        refuse_broken_flag(&loaded)?;
        let (cwd, project) = (text(cwd)?, text(&locations.project)?);
        let store = locations.state.clone().map(Store::new);
        Ok(Self { cwd, project, locations, loaded, limited: Vec::new(), store })
    }

    /// Returns the policy.
    pub fn policy(&self) -> &Policy {
        &self.loaded.policy
    }

    /// Returns where what outlives a process is kept; `None` without a home.
    pub fn store(&self) -> Option<Store> {
        self.store.clone()
    }

    /// Keeps things in a store that is open already.
    #[must_use]
    pub fn with_store(self, store: Store) -> Self {
        Self { store: Some(store), ..self }
    }

    /// Makes the context of a call; without a mode the settings' own counts.
    pub fn context(&self, mode: Option<Mode>, person: Person, added: &[String]) -> Context {
        let mode = mode.or(self.policy().default_mode).unwrap_or(Mode::Default);
        let mut context = Context::new(mode, &self.cwd);
        context.project.clone_from(&self.project);
        context.home = self.locations.home.as_ref().and_then(|home| home.to_str()).map(str::to_owned);
        context.added_directories = added.iter().map(|directory| path::join(&self.cwd, directory)).collect();
        context.person = person;
        context.profiles = Arc::clone(&self.loaded.profiles);
        context.locations = own_locations(&self.locations, &self.loaded);
        context
    }

    /// Returns what must not go unsaid where nobody reads standard error: that a settings file is broken.
    pub fn notice(&self) -> Option<String> {
        let mut broken =
            self.loaded.problems.iter().filter(|problem| problem.severity == ProblemSeverity::Error);
        let problem = broken.next()?;
        let file = problem.file.as_deref().unwrap_or("settings");
        let more = match broken.count() {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        Some(format!("{file}: {}{more}; see `portcullis settings show`", problem.message))
    }
}

/// Which settings are about to be loaded, before a settings file is looked at.
#[derive(Debug, Clone)]
pub struct SettingsPlan {
    /// Where settings and state are.
    pub locations: SettingsLocations,
    /// What is loaded beside the files.
    pub options: LoadOptions,
    /// What a person granted for a while and whose use is noted.
    limited: Vec<Grant>,
    cwd: PathBuf,
}

impl SettingsPlan {
    /// Plans for a host's call in `cwd` that belongs to a session in `project`.
    pub fn new(arguments: &SettingsFlags, cwd: &str, project: Option<PathBuf>) -> Result<Self, Failure> {
        let cwd = PathBuf::from(path::normalize(cwd));
        let mut options = arguments.load_options()?;
        let project = match project.filter(|project| project.is_dir()) {
            Some(project) => Some(PathBuf::from(path::normalize(&text(&project)?))),
            None => None,
        };
        if project.as_deref().is_some_and(|project| !is_inside(&cwd, project)) {
            options.trust = TrustQuestion::Untrusted;
        }
        let locations = SettingsLocations::new(environment(project)?, &cwd);
        refuse_steered(&locations)?;
        Ok(Self { locations, options, limited: Vec::new(), cwd })
    }

    /// Adds what a person granted for a while. Where that cannot be read, what it forbids is lost, and nothing is allowed
    /// in its place.
    pub fn add_grants(&mut self, store: &Store, session_id: &str) {
        let workspace = self.locations.workspace().to_string_lossy();
        let place = GrantContext { session: session_id, workspace: &workspace, now_ms: now_ms() };
        match store.grants().holding(&place) {
            Ok(grants) => self.take(grants),
            Err(error) => {
                let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
                let file = store.backend().document_place(&DocumentKey::Grants).display().to_string();
                self.options.lost = Some((file, format!("{error}{hint}")));
            }
        }
    }

    fn take(&mut self, mut grants: Vec<Grant>) {
        for grant in &grants {
            // A word that nobody knows allows nothing.
            let behavior = match grant.behavior.as_str() {
                "allow" => Behavior::Allow,
                "ask" => Behavior::Ask,
                _ => Behavior::Deny,
            };
            self.options.session.push((behavior, grant.rule.clone()));
        }
        grants.retain(|grant| grant.is_limited() && grant.behavior == "allow");
        self.limited = grants;
    }

    /// Says whether somebody granted something that counts here, or that cannot be known.
    pub fn has_grants(&self) -> bool {
        !self.options.session.is_empty() || self.options.lost.is_some()
    }

    /// Loads them.
    pub fn load(self) -> Result<SessionSettings, Failure> {
        let loaded = load(&self.locations, &self.options);
        let session = SessionSettings::of(self.locations, loaded, &self.cwd)?;
        Ok(SessionSettings { limited: self.limited, ..session })
    }
}

impl SettingsFlags {
    /// Makes the options that loading takes; a rule that cannot work is refused rather than skipped.
    fn load_options(&self) -> Result<LoadOptions, Failure> {
        let lists =
            [(Behavior::Allow, &self.allow), (Behavior::Ask, &self.ask), (Behavior::Deny, &self.deny)];
        let given =
            lists.iter().flat_map(|(behavior, rules)| rules.iter().map(|rule| (*behavior, rule.clone())));
        let arguments: Vec<(Behavior, String)> = given.collect();
        for (behavior, text) in &arguments {
            compile(text, *behavior)?;
        }
        let settings = self.settings.as_deref().map(absolute_settings).transpose()?;
        Ok(LoadOptions { settings, arguments, trust: TrustQuestion::Look, ..LoadOptions::default() })
    }
}

/// Compiles a rule given on the command line.
pub fn compile(text: &str, behavior: Behavior) -> Result<Rule, Failure> {
    Rule::compile(text, behavior, Origin::bare(Source::Argument)).map_err(|problem| {
        let failure = Failure::usage(format!("the rule `{text}` cannot work: {}", problem.message));
        match problem.hint {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    })
}

/// Works out where settings are for a directory, or for the current one.
pub fn locations(cwd: Option<&str>) -> Result<SettingsLocations, Failure> {
    Ok(SettingsLocations::new(environment(None)?, &named_directory(cwd)?))
}

fn environment(project: Option<PathBuf>) -> Result<SettingsEnvironment, Failure> {
    Ok(SettingsEnvironment {
        home: env_vars::home()?,
        xdg_config_home: env_vars::directory(env_vars::XDG_CONFIG_HOME),
        xdg_state_home: env_vars::directory(env_vars::XDG_STATE_HOME),
        claude_config_dir: env_vars::claude_config()?,
        // Whoever can set a variable must not be able to choose the managed settings.
        managed: None,
        project,
    })
}

/// A repository may set variables for what runs in it. One that leads settings or state into the repository itself would
/// let it write the user's rules, approvals and trust.
fn refuse_steered(locations: &SettingsLocations) -> Result<(), Failure> {
    let workspace = locations.workspace();
    let real = |directory: &Path| {
        // What a real path lies in is real itself.
        let is_real = locations.real_project.starts_with(directory);
        let known = if is_real { None } else { directory.canonicalize().ok() };
        known.unwrap_or_else(|| directory.to_path_buf())
    };
    let home = locations.home.as_deref().map(real);
    let is_home_inside = home.as_ref().is_some_and(|home| home.starts_with(workspace));
    let is_home_below = is_home_inside && home.as_deref() != Some(workspace);
    let is_home_claimed =
        is_home_inside && !is_home_below && !locations.home.as_deref().is_some_and(is_account_home);
    // Whoever does not know where the repository lies can still say “here”.
    let is_home_here =
        is_home_inside && locations.home.as_deref().is_some_and(|home| home.starts_with("/proc"));
    let chosen = [
        (env_vars::XDG_CONFIG_HOME, &locations.config),
        (env_vars::XDG_STATE_HOME, &locations.state),
        (env_vars::CLAUDE_CONFIG_DIR, &locations.claude),
    ];
    let leads_in = |(variable, directory): &(&str, &Option<PathBuf>)| {
        let directory = directory.as_deref().filter(|_| env_vars::directory(variable).is_some());
        directory.is_some_and(|directory| real(directory).starts_with(workspace))
    };
    let is_repository = locations.repository.is_some();
    let variable = if is_home_here || is_repository && (is_home_below || is_home_claimed) {
        env_vars::HOME
    } else if let Some((variable, _)) = chosen.iter().find(|chosen| !is_home_inside && leads_in(chosen)) {
        variable
    } else {
        return Ok(());
    };
    let place = workspace.display();
    let message = format!(
        "the variable `{variable}` leads into the repository `{place}`, which may not hold your settings"
    );
    Err(Failure::usage(message).with_hint("set it to a directory outside of the repository, or unset it"))
}

/// Says whether a directory is somebody's home: where homes are, or one that the user database names. Whoever keeps their
/// home in version control works in a repository that holds their settings.
fn is_account_home(home: &Path) -> bool {
    let is_among_homes = home
        .parent()
        .is_some_and(|parent| ["/home", "/Users"].iter().any(|homes| parent == Path::new(homes)));
    let is_named = || {
        let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        accounts.lines().any(|line| line.split(':').nth(5).is_some_and(|named| Path::new(named) == home))
    };
    is_among_homes || is_named()
}

/// Says whether a directory lies in another one, as it is written or with links resolved.
fn is_inside(directory: &Path, outer: &Path) -> bool {
    let really = || Some(directory.canonicalize().ok()?.starts_with(outer.canonicalize().ok()?));
    directory.starts_with(outer) || really().unwrap_or(false)
}

/// A file that was named on the command line and cannot be read is an error: the restrictions in it would be lost.
fn refuse_broken_flag(loaded: &LoadedSettings) -> Result<(), Failure> {
    let is_broken = |document: &&portcullis_settings::SettingsDocument| {
        document.source == Source::Flag && document.state == DocumentState::Broken
    };
    let Some(document) = loaded.documents.iter().find(is_broken) else { return Ok(()) };
    let problem = loaded.problems.iter().find(|problem| problem.file.as_ref() == Some(&document.name));
    let detail = problem.map_or("it could not be read", |problem| problem.message.as_str());
    let place = problem.and_then(|problem| problem.place.as_ref());
    let place = place.map_or_else(String::new, |place| format!(":{}:{}", place.line, place.column));
    Err(Failure::usage(match &*document.name {
        "--settings" => format!("--settings: {detail}"),
        file => format!("--settings `{file}{place}`: {detail}"),
    }))
}

fn absolute_settings(settings: &str) -> Result<String, Failure> {
    if settings.trim_start().starts_with('{') {
        return Ok(settings.to_owned());
    }
    text(&absolute_path(settings)?)
}

fn named_directory(cwd: Option<&str>) -> Result<PathBuf, Failure> {
    let Some(named) = cwd else { return current_directory() };
    let directory = absolute_path(named)?;
    if directory.is_dir() {
        Ok(directory)
    } else {
        Err(Failure::usage(format!("there is no directory `{named}`")))
    }
}

/// Makes a path absolute, from the current directory where it must be.
pub fn absolute_path(named: &str) -> Result<PathBuf, Failure> {
    let base = if named.starts_with('/') { "/".to_owned() } else { text(&current_directory()?)? };
    Ok(PathBuf::from(path::join(&base, named)))
}

fn current_directory() -> Result<PathBuf, Failure> {
    std::env::current_dir()
        .map_err(|error| Failure::internal(format!("the current directory is not known: {error}")))
}

fn text(path: &Path) -> Result<String, Failure> {
    let name =
        path.to_str().ok_or_else(|| Failure::usage(format!("`{}` is not valid UTF-8", path.display())))?;
    Ok(name.to_owned())
}
