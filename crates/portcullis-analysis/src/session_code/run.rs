//! The commands of a line that run code of the project or are steered by its files, and which files these are.

use std::collections::{BTreeMap, BTreeSet};

use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::effect::Effect;
use crate::effect::target::path_of;
use crate::invocation::{Invocation, Survey};
use crate::lists::tool_files::{FETCHING, FILES, LOADING, MANIFESTS, TOOLS};
use crate::path;
use crate::place::any_ending;
use crate::profile;
use crate::reach::{self, OptionFront};

use super::kind::{FileKind, kind_of};

/// A tool is known by no less of its name: `Doxyfile` is of doxygen.
const SHORTEST_NAME: usize = 4;

/// A command that may use files of the project.
#[derive(Debug)]
pub struct CodeRun<'a> {
    /// Its place in the survey.
    pub index: usize,
    /// Its words.
    pub command: &'a Invocation,
    /// The names of files it uses; `None` if it may use any.
    files: Option<Vec<&'static str>>,
    /// Whether it runs code of the project; else only what it is told to load counts.
    is_running: bool,
    /// Whether it installs what manifests declare.
    pub installs: bool,
    /// The files and directories that its words and variables name, absolute, with whether they are loaded.
    named: Vec<(String, bool)>,
}

/// Lists the commands of a line that may use files of the project as code or settings.
pub fn code_runs<'a>(survey: &'a Survey, effects: &[Effect]) -> Vec<CodeRun<'a>> {
    let of_act = |acts: &[Act]| -> BTreeSet<usize> {
        let found = effects.iter().filter(|effect| acts.contains(&effect.act));
        found.filter_map(|effect| effect.invocation).collect()
    };
    let running = of_act(&[
        Act::RunProject,
        Act::InstallDeclared,
        Act::ContainerLocal,
        Act::Execute,
        Act::LoadCode,
        Act::InfraApply,
    ]);
    let installing = of_act(&[Act::InstallDeclared, Act::InstallPackage]);
    let mut inner: BTreeMap<usize, usize> = BTreeMap::new();
    for wrapped in &survey.invocations {
        if let Some((parent, program)) = wrapped.parent.zip(wrapped.arguments.first()) {
            let start = inner.entry(parent).or_insert(usize::MAX);
            *start = program.span.start.min(*start);
        }
    }
    let commands = survey.invocations.iter().enumerate();
    let run = |(index, command): (usize, &'a Invocation)| {
        let tool = command.program_name().unwrap_or_default();
        let is_running = running.contains(&index) || is_loading_code(tool);
        let named = named_paths(command, is_running, inner.get(&index).copied().unwrap_or(usize::MAX));
        let runs = is_running || !named.is_empty() || command.code.is_some() || has_row(tool);
        let fetches = is_running && FETCHING.iter().any(|(_, tools)| tools.contains(&tool));
        let installs = installing.contains(&index) || fetches;
        runs.then(|| CodeRun { index, command, files: files_of(tool), is_running, installs, named })
    };
    commands.filter_map(run).collect()
}

/// Says whether it is known which files steer a tool.
fn has_row(tool: &str) -> bool {
    TOOLS.iter().any(|(_, tools)| tools.contains(&tool))
}

/// Says whether a tool loads code of the project whatever it is asked to do: settings that are programs, a set-up file.
fn is_loading_code(tool: &str) -> bool {
    let has_settings = |family: &str| family.ends_with("-settings");
    TOOLS.iter().any(|(family, tools)| has_settings(family) && tools.contains(&tool))
        || LOADING.iter().any(|(_, tools)| tools.contains(&tool))
}

/// Returns the names of the files that a tool uses; `None` if nothing is known of it.
fn files_of(tool: &str) -> Option<Vec<&'static str>> {
    let tool = tool.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let families: Vec<&str> =
        TOOLS.iter().filter(|(_, tools)| tools.contains(&tool)).map(|(family, _)| *family).collect();
    let of_families = FILES.iter().filter(|(family, _)| families.contains(family));
    (!families.is_empty()).then(|| of_families.flat_map(|(_, files)| files.iter().copied()).collect())
}

/// Returns the paths that the words of a command name, with whether their content is loaded: the value of a variable or of
/// an option that loads something. What does not run code of the project is told by these alone. Behind `inner` begins a
/// command that it wraps, which is listed by itself.
fn named_paths(command: &Invocation, is_running: bool, inner: usize) -> Vec<(String, bool)> {
    let mut named = Vec::new();
    let mut add = |word: &Argument, text: &str, is_loaded: bool| {
        let word = Argument { knowledge: Knowledge::Fixed, ..word.piece(text) };
        let target = path_of(&word, &command.directories, None);
        named.extend(target.paths.into_iter().map(|path| (path, is_loaded)));
    };
    for variable in &command.assignments {
        for (_, text) in reach::parts(&variable.value.text) {
            add(&variable.value, text, true);
        }
    }
    let program = command.program_name().unwrap_or_default();
    let mut takes_next = false;
    for word in command.operands().iter().take_while(|word| word.span.end <= inner) {
        let front = OptionFront::of(&word.text);
        let is_value = takes_next && !word.is_option();
        for (at, text) in reach::parts(&word.text) {
            let is_loaded = is_value || front.is_loading(at);
            if is_running || is_loaded {
                add(word, text, is_loaded);
            }
        }
        let is_switch = || profile::is_switch(program, command.operands(), word);
        takes_next = word.text.starts_with('-') && front.is_loading(word.text.len()) && !is_switch();
    }
    if let Some(program) = command.program().filter(|program| program.text.contains('/')) {
        add(program, &program.text, true);
    }
    named
}

impl CodeRun<'_> {
    /// Returns the tool that reads a manifest: `node --run` runs scripts as npm does.
    pub fn tool(&self) -> &str {
        let runs_script = |word: &Argument| word.text == "--run" || word.text.starts_with("--run=");
        match self.command.program_name().unwrap_or_default() {
            "node" if self.command.operands().iter().any(runs_script) => "npm",
            tool => tool,
        }
    }

    /// Says whether the command may use a file that the session wrote.
    pub fn uses(&self, file: &str) -> bool {
        let kind = kind_of(file);
        let is_named = self.named.iter().any(|(named, is_loaded)| {
            let is_it = named == file || path::is_inside(file, named) && named.len() > 1;
            // A directory is named to work in; a file in it is loaded only where the word says so.
            is_it && (*is_loaded || named == file && kind != FileKind::Data)
        });
        is_named
            || self.is_running && self.is_used(file, kind)
            || self.loads(file, kind)
            || self.has_its_name(file)
            || self.lies_beside(file)
    }

    /// Says whether a file counts for the command by nothing but its name or its place: settings are called after their
    /// tool, or lie where it runs.
    pub fn may_be_settings(&self, file: &str) -> bool {
        let kind = kind_of(file);
        (self.has_its_name(file) || self.lies_beside(file)) && !(self.is_running && self.is_used(file, kind))
    }

    /// Says whether a file is one of settings that lies where a tool runs of which nobody knows what it reads.
    fn lies_beside(&self, file: &str) -> bool {
        let places = self.command.directories.alternatives().unwrap_or_default();
        let is_unlisted = self.is_running && self.files.is_none();
        is_unlisted
            && kind_of(file) == FileKind::Settings
            && path::file_name(file).is_some_and(|name| name.contains('.'))
            && path::parent(file).is_some_and(|parent| places.contains(&parent))
    }

    /// Says whether a file is called after the tool: `.air.toml`, `buf.gen.yaml`, `.golangci.yml`, `Doxyfile`.
    fn has_its_name(&self, file: &str) -> bool {
        // What is started by its path is no tool with settings.
        let Some(tool) = self.command.program().filter(|program| !program.text.contains('/')) else {
            return false;
        };
        let tool = tool.text.as_str();
        let name = path::file_name(file).unwrap_or(file);
        let parts =
            |text: &'_ str| text.split(['.', '-', '_']).find(|part| !part.is_empty()).map(str::to_owned);
        let Some((stem, tool_stem)) = parts(name).zip(parts(tool)) else { return false };
        let of_file = stem.strip_suffix("file").or_else(|| stem.strip_suffix("rc")).unwrap_or(&stem);
        let begins_tool =
            || tool_stem.get(..of_file.len()).is_some_and(|start| start.eq_ignore_ascii_case(of_file));
        kind_of(file) != FileKind::Data
            && (stem.eq_ignore_ascii_case(&tool_stem) || of_file.len() >= SHORTEST_NAME && begins_tool())
    }

    /// Says whether code on the line loads a file by the name of its module: it is found before an installed one.
    fn loads(&self, file: &str, kind: FileKind) -> bool {
        let Some(code) = &self.command.code else { return false };
        let mut parts = file.rsplit('/');
        let name = parts.next().unwrap_or_default();
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let stem = if matches!(stem, "__init__" | "index") { parts.next().unwrap_or_default() } else { stem };
        let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let loads = |statement: &str| {
            (statement.contains("import") || statement.contains("require"))
                && statement.split(|letter: char| !is_of_word(letter)).any(|word| word == stem)
        };
        matches!(kind, FileKind::Code(_)) && code.text.split(['\n', ';']).any(loads)
    }

    /// Says whether the command runs code in a directory that the session filled from elsewhere.
    pub fn works_in(&self, directory: &str) -> bool {
        let places = self.command.directories.alternatives().unwrap_or_default();
        self.is_running && places.iter().any(|place| path::is_inside(place, directory))
    }

    fn is_used(&self, file: &str, kind: FileKind) -> bool {
        let is_manifest = self.installs && MANIFESTS.iter().any(|(_, names)| any_ending(names, file));
        let is_listed = match &self.files {
            Some(files) => any_ending(files, file) && kind != FileKind::Data,
            None => matches!(kind, FileKind::Code(_) | FileKind::Unread),
        };
        is_manifest || is_listed
    }
}
