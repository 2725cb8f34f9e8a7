//! The settings a command works with: the flags that choose them, where they are, what was loaded.

use std::path::{Path, PathBuf};

use clap::Args;
use portcullis_core::rule::{Behavior, Rule};
use portcullis_core::{Context, Mode, Origin, Person, Policy, Source, path};
use portcullis_settings::{
    DocumentState, Environment, LoadOptions, Loaded, Locations, Severity, TrustQuestion, load,
};

use crate::env_vars;
use crate::failure::Failure;
use crate::terminal::{DIM, Painted, print_error};

/// The flags that choose settings.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SessionArgs {
    /// The directory the call runs in, and whose project settings count
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<String>,
    /// A further settings file, or settings as JSON
    #[arg(long, value_name = "FILE|JSON")]
    pub(crate) settings: Option<String>,
    /// A further allow rule
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// A further ask rule
    #[arg(long, value_name = "RULE")]
    pub(crate) ask: Vec<String>,
    /// A further deny rule
    #[arg(long, value_name = "RULE")]
    pub(crate) deny: Vec<String>,
}

/// Loaded settings and the directory they were loaded for.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) locations: Locations,
    pub(crate) loaded: Loaded,
    cwd: String,
    project: String,
}

impl Session {
    /// Loads the settings for the directory the flags name, which must be there.
    pub(crate) fn open(arguments: &SessionArgs) -> Result<Self, Failure> {
        Self::load(arguments, &named_directory(arguments.cwd.as_deref())?, None)
    }

    /// Loads the settings for a directory below the one the flags name; it need not be there.
    pub(crate) fn open_in(arguments: &SessionArgs, directory: &str) -> Result<Self, Failure> {
        let base = text(&named_directory(arguments.cwd.as_deref())?)?;
        Self::load(arguments, Path::new(&path::join(&base, directory)), None)
    }

    /// Loads the settings for a host's call in `cwd` that belongs to a session in `project`.
    pub(crate) fn open_for_hook(
        arguments: &SessionArgs,
        cwd: &str,
        project: Option<PathBuf>,
    ) -> Result<Self, Failure> {
        Self::load(arguments, Path::new(&path::normalize(cwd)), project)
    }

    fn load(arguments: &SessionArgs, cwd: &Path, project: Option<PathBuf>) -> Result<Self, Failure> {
        let options = arguments.load_options()?;
        let locations = Locations::new(environment(project), cwd);
        let loaded = load(&locations, &options);
        refuse_broken_flag(&loaded)?;
        Ok(Self { cwd: text(cwd)?, project: text(&locations.project)?, locations, loaded })
    }

    /// Returns the policy.
    pub(crate) fn policy(&self) -> &Policy {
        &self.loaded.policy
    }

    /// Makes the context of a call; without a mode the settings' own counts.
    pub(crate) fn context(&self, mode: Option<Mode>, person: Person, added: &[String]) -> Context {
        let mode = mode.or(self.policy().default_mode).unwrap_or(Mode::Default);
        let mut context = Context::new(mode, &self.cwd);
        context.project.clone_from(&self.project);
        context.home = self.locations.home.as_ref().and_then(|home| home.to_str()).map(str::to_owned);
        context.added_directories = added.iter().map(|directory| path::join(&self.cwd, directory)).collect();
        context.person = person;
        context
    }

    /// Says on standard error what is wrong with the settings and that some are not used; never fatal.
    pub(crate) fn warn(&self) {
        self.warn_of_problems();
        let ignored = self.loaded.ignored.len();
        if ignored > 0 {
            let text = format!("note: settings not used: {ignored}; see `portcullis settings show`");
            print_error(&format!("{}\n\n", Painted(DIM, text)));
        }
    }

    /// Says on standard error what is wrong with the settings; never fatal.
    pub(crate) fn warn_of_problems(&self) {
        for problem in self.loaded.problems.iter().filter(|problem| problem.severity >= Severity::Warning) {
            print_error(&format!("{problem}\n\n"));
        }
    }
}

impl SessionArgs {
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
pub(crate) fn compile(text: &str, behavior: Behavior) -> Result<Rule, Failure> {
    Rule::compile(text, behavior, Origin::bare(Source::Argument)).map_err(|problem| {
        let failure = Failure::usage(format!("the rule `{text}` cannot work: {}", problem.message));
        match problem.hint {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    })
}

/// Works out where settings are for a directory, or for the current one.
pub(crate) fn locations(cwd: Option<&str>) -> Result<Locations, Failure> {
    Ok(Locations::new(environment(None), &named_directory(cwd)?))
}

/// Returns the project of the session a hook runs in, as Claude Code tells it.
pub(crate) fn claude_project() -> Option<PathBuf> {
    env_vars::directory(env_vars::CLAUDE_PROJECT_DIR)
}

fn environment(project: Option<PathBuf>) -> Environment {
    Environment {
        home: env_vars::directory(env_vars::HOME),
        xdg_config_home: env_vars::directory(env_vars::XDG_CONFIG_HOME),
        xdg_state_home: env_vars::directory(env_vars::XDG_STATE_HOME),
        claude_config_dir: env_vars::directory(env_vars::CLAUDE_CONFIG_DIR),
        // Whoever can set a variable must not be able to choose the managed settings.
        managed: None,
        project,
    }
}

/// A file that was named on the command line and cannot be read is an error: the restrictions in it would be lost.
fn refuse_broken_flag(loaded: &Loaded) -> Result<(), Failure> {
    let is_broken = |document: &&portcullis_settings::Document| {
        document.source == Source::Flag && document.state == DocumentState::Broken
    };
    let Some(document) = loaded.documents.iter().find(is_broken) else { return Ok(()) };
    let problem = loaded.problems.iter().find(|problem| problem.file.as_ref() == Some(&document.name));
    let detail = problem.map_or("it could not be read", |problem| problem.message.as_str());
    Err(Failure::usage(format!("--settings `{}`: {detail}", document.name)))
}

fn absolute_settings(settings: &str) -> Result<String, Failure> {
    if settings.trim_start().starts_with('{') {
        return Ok(settings.to_owned());
    }
    text(&current_directory()?.join(settings))
}

fn named_directory(cwd: Option<&str>) -> Result<PathBuf, Failure> {
    let current = current_directory()?;
    let Some(named) = cwd else { return Ok(current) };
    let directory = PathBuf::from(path::join(&text(&current)?, named));
    if directory.is_dir() {
        Ok(directory)
    } else {
        Err(Failure::usage(format!("there is no directory `{named}`")))
    }
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
