//! Finding and reading every source, strongest first, and handing the layers to the merge.
//!
//! Each existing file is read once. Trust is only looked up when something in the repository depends on it.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use portcullis_core::rule::Behavior;
use portcullis_core::{Origin, Policy, Source};

use crate::auto_mode::AutoMode;
use crate::disk::{MAXIMUM_SIZE, plain, read_text};
use crate::extract::{Input, extract, given};
use crate::keys::{Key, KeyId};
use crate::layer::{Ignored, Layer, Setting, SettingValue};
use crate::location::{Locations, Owner, SettingsFile};
use crate::merge::merge;
use crate::problem::{Problem, Severity};
use crate::trust::{Trust, TrustedBy, find_trust};

/// What the caller brings beside files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadOptions {
    /// The value of `--settings`: a file, or JSON text when it begins with `{`.
    pub settings: Option<String>,
    /// Rules given as command-line arguments.
    pub arguments: Vec<(Behavior, String)>,
    /// Rules granted in this session.
    pub session: Vec<(Behavior, String)>,
    /// Rules granted by a slash command or skill.
    pub command: Vec<(Behavior, String)>,
    /// Whether the workspace is trusted.
    pub trust: TrustQuestion,
}

/// How trust in the workspace is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrustQuestion {
    /// The stores are asked, if anything depends on it.
    #[default]
    Look,
    /// The caller says that it is trusted.
    Trusted,
    /// The caller says that it is not.
    Untrusted,
}

/// Everything that came of loading.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What the pipeline needs.
    pub policy: Policy,
    /// What the classifier needs.
    pub auto_mode: AutoMode,
    /// What is wrong, file by file.
    pub problems: Vec<Problem>,
    /// What settings say that is not used.
    pub ignored: Vec<Ignored>,
    /// Every place that was looked at.
    pub documents: Vec<Document>,
    /// Which value of each key is in force, and who says so.
    pub effective: Vec<Effective>,
    /// Whether the workspace is trusted; `None` if nothing depends on it.
    pub trust: Option<Trust>,
    /// Whether managed settings could not be read in full. Then bypass and auto mode are off, and nothing outside
    /// managed settings widens: no allow rules, no additional directories, no `acceptEdits` by default, no sandbox
    /// auto-allow, no lifted safety checks.
    pub broken_managed: bool,
}

impl Loaded {
    /// Returns the worst severity of all problems.
    pub fn worst(&self) -> Option<Severity> {
        self.problems.iter().map(|problem| problem.severity).max()
    }
}

/// A place that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The source it belongs to.
    pub source: Source,
    /// Whose file it is.
    pub owner: Owner,
    /// The file, or the option the text was given with.
    pub name: Arc<str>,
    /// What was found.
    pub state: DocumentState,
    /// How many of its rules compiled.
    pub rules: usize,
}

/// What was found at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentState {
    /// Nothing.
    Missing,
    /// Settings, perhaps with entries that were skipped.
    Read,
    /// Something that is not settings; at most its restrictions count.
    Broken,
}

/// The value of a key that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    /// The key.
    pub key: &'static Key,
    /// Its value as text.
    pub value: String,
    /// Who says so; `None` for the default.
    pub origin: Option<Origin>,
}

/// Loads all sources and makes a policy of them. Never fails: what cannot be read is a problem and never widens.
pub fn load(locations: &Locations, options: &LoadOptions) -> Loaded {
    let mut loader = Loader { locations, layers: Vec::new(), documents: Vec::new() };
    for source in Source::ALL {
        match source {
            Source::Policy => loader.managed(),
            Source::Flag => loader.flag(options.settings.as_deref()),
            Source::Argument => loader.given(source, "command-line argument", &options.arguments),
            Source::Session => loader.given(source, "session", &options.session),
            Source::Command => loader.given(source, "command", &options.command),
            Source::Local | Source::Project | Source::User => {
                for file in locations.files(source) {
                    loader.file(&file);
                }
            }
        }
    }
    merge(loader.layers, loader.documents, || look_up_trust(locations, options.trust))
}

fn look_up_trust(locations: &Locations, question: TrustQuestion) -> (Trust, Option<Problem>) {
    match question {
        TrustQuestion::Trusted => (Trust::Trusted(TrustedBy::Caller), None),
        TrustQuestion::Untrusted => (Trust::Untrusted, None),
        TrustQuestion::Look => match find_trust(locations) {
            Ok(trust) => (trust, None),
            Err(error) => {
                let mut problem = Problem::new(Severity::Warning, error.to_string());
                problem.hint = error.hint().map(str::to_owned);
                (Trust::Untrusted, Some(problem))
            }
        },
    }
}

struct Loader<'load> {
    locations: &'load Locations,
    layers: Vec<Layer>,
    documents: Vec<Document>,
}

impl Loader<'_> {
    fn managed(&mut self) {
        for file in self.locations.files(Source::Policy) {
            self.file(&file);
            let directory = file.path.with_extension("d");
            match list_drop_ins(&directory) {
                Ok(paths) => {
                    for path in paths {
                        self.file(&SettingsFile { path, ..file.clone() });
                    }
                }
                Err(error) => {
                    let name: Arc<str> = Arc::from(directory.to_string_lossy());
                    let message = format!("the directory cannot be listed: {}", plain(&error));
                    let problem = Problem::new(Severity::Error, message).in_file(&name);
                    self.broken(Source::Policy, file.owner, name, problem);
                }
            }
        }
    }

    fn flag(&mut self, settings: Option<&str>) {
        let Some(settings) = settings else { return };
        if settings.trim_start().starts_with('{') {
            let name = Arc::from("--settings");
            self.text(Source::Flag, Owner::Portcullis, &name, None, None, settings);
            return;
        }
        let path = self.locations.cwd.join(settings);
        let base = path.parent().map(Path::to_path_buf);
        let file = SettingsFile { source: Source::Flag, owner: Owner::Portcullis, path, base };
        if !self.file(&file) {
            let name: Arc<str> = Arc::from(file.path.to_string_lossy());
            let problem = Problem::new(Severity::Error, "there is no such settings file").in_file(&name);
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
                self.documents.push(Document {
                    source: file.source,
                    owner: file.owner,
                    name,
                    state,
                    rules: 0,
                });
                return false;
            }
            Err(unreadable) => {
                let mut problem = Problem::new(Severity::Error, unreadable.message).in_file(&name);
                problem.hint = unreadable.hint.map(str::to_owned);
                self.broken(file.source, file.owner, name, problem);
            }
        }
        true
    }

    fn text(
        &mut self,
        source: Source,
        owner: Owner,
        name: &Arc<str>,
        path: Option<&Path>,
        base: Option<&Arc<str>>,
        text: &str,
    ) {
        let mut layer = extract(Input {
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
        let is_broken = layer.problems.iter().any(|problem| problem.severity == Severity::Error);
        let state = if is_broken { DocumentState::Broken } else { DocumentState::Read };
        self.documents.push(Document {
            source,
            owner,
            name: Arc::clone(name),
            state,
            rules: layer.rules.len(),
        });
        self.layers.push(layer);
    }

    fn broken(&mut self, source: Source, owner: Owner, name: Arc<str>, problem: Problem) {
        let mut layer = Layer::new(source);
        layer.damaged = true;
        layer.problems.push(problem);
        // The file may have held a stricter mode than weaker sources do.
        if let Some(key) = Key::of(KeyId::DefaultMode) {
            let origin = Origin { file: Some(Arc::clone(&name)), ..Origin::bare(source) };
            layer.settings.push(Setting { key, value: SettingValue::Mode(None), origin });
        }
        self.layers.push(layer);
        self.documents.push(Document { source, owner, name, state: DocumentState::Broken, rules: 0 });
    }
}

/// Takes out of a problem what it says of the text: a repository can link its settings to any file of the user's, and a
/// report must not carry that file's contents to whoever reads it.
fn conceal(problem: Problem) -> Problem {
    let mut concealed = problem.without_excerpt();
    if concealed.severity == Severity::Error {
        "the file this leads to, outside the repository, is not a settings file"
            .clone_into(&mut concealed.message);
    }
    concealed
}

/// Lists the drop-in files of a managed directory in alphabetical order.
fn list_drop_ins(directory: &Path) -> io::Result<Vec<std::path::PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let is_visible = path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.'));
        if is_visible && path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
