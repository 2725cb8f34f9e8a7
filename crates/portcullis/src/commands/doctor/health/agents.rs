//! Checks of one agent: its program, what stands in its settings, what turns hooks off, trust, the canary.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use portcullis_hosts::Host;
use portcullis_hosts::registration::{HookCommand, RegistrationPiece};
use portcullis_settings::SettingsLocations;
use portcullis_settings::disk::{MAXIMUM_SIZE, read_text};
use serde_json::Value;

use super::fence::check_rewrites;
use super::{Check, Checks, State, canary, neighbours};
use portcullis_install::agent::{Agent, VersionStanding, find_program, newest};
use portcullis_install::ours::{Ours, Registered};
use portcullis_install::plan::{file_of, files_of};
use portcullis_install::program::{self, Program};
use portcullis_install::writing::is_script;
use portcullis_install::{codex_trust, document, toml_document};

/// Checks one agent.
pub(crate) fn check_agent(agent: &Agent, locations: &SettingsLocations) -> Vec<Check> {
    let mut checks = Checks::new(Some(agent.host()));
    check_program(&mut checks, agent);
    match program::running() {
        Ok(program) => {
            let examination = Examination {
                agent,
                locations,
                again: format!("run `portcullis init {}`", agent.host().name()),
                ours: Ours::new(agent.host(), &program.path),
                program,
            };
            examination.check(&mut checks);
        }
        Err(failure) => {
            checks.problem("registration", failure.message, "run `portcullis doctor` by its full path");
        }
    }
    if let Some(state) = &locations.state {
        check_rewrites(&mut checks, state, agent.host());
    }
    checks.list
}

fn check_program(checks: &mut Checks, agent: &Agent) {
    let title = agent.adapter.title;
    let Some(program) = &agent.program else {
        let message = format!("no program of {title} is on the PATH");
        checks.warning("program", message, "nothing to do if it is started in another way");
        return;
    };
    let path = program.display();
    let version = match agent.version() {
        Ok(version) => version,
        Err(why) => {
            checks.warning("program", format!("`{path}` {why}"), "check that it works by itself");
            return;
        }
    };
    match agent.standing(version) {
        VersionStanding::Unguarded(why) => {
            checks.problem("program", format!("{why}: calls are not judged"), "update it");
        }
        VersionStanding::Tried => {
            let (major, minor, fix) = version;
            checks.fine("program", format!("`{path}`, version {major}.{minor}.{fix}"));
        }
        VersionStanding::Untried(what) => checks.fine("program", format!("`{path}`: {what}")),
    }
}

/// The checks of what an agent was told.
struct Examination<'a> {
    agent: &'a Agent,
    locations: &'a SettingsLocations,
    program: Program,
    ours: Ours,
    /// The usual remedy.
    again: String,
}

impl Examination<'_> {
    fn check(&self, checks: &mut Checks) {
        let pieces = self.agent.adapter.registration.pieces;
        let commands = self.commands();
        let variants: Vec<Vec<RegistrationPiece>> = commands.iter().map(pieces).collect();
        let usual = variants.first().cloned().unwrap_or_default();
        let mut registered = None;
        for (index, piece) in usual.iter().enumerate() {
            let others: Vec<&RegistrationPiece> =
                variants.iter().filter_map(|pieces| pieces.get(index)).collect();
            let found = self.check_piece(checks, piece, &others, self.is_guard(piece, &usual));
            registered = registered.or(found);
        }
        leave_one_missing(&mut checks.list);
        self.check_dropped(checks, &usual);
        self.check_switches(checks, &usual);
        let Some(registered) = registered else { return };
        if self.agent.host() == Host::Codex {
            self.check_trust(checks);
            let message = "Codex asks no hook about what is typed into a command that runs already; so a program that \
                           waits for input counts as code that nobody has read";
            checks.fine("typed input", message);
        }
        self.check_canary(checks, &registered);
    }

    /// The commands that `init` may have registered, the usual one first: with and without a person, and where the
    /// version is not known now, as for a version that was.
    fn commands(&self) -> Vec<HookCommand> {
        let usual = self.agent.command(&self.program, false);
        let mut commands = vec![usual.clone()];
        if usual.host_version.is_none() {
            commands.push(newest(&usual));
        }
        let headless: Vec<HookCommand> = commands.clone();
        commands.extend(headless.into_iter().map(|mut command| {
            command.arguments.push("--headless".to_owned());
            command
        }));
        commands
    }

    /// Says whether a piece makes the agent ask before a call: it is about one of its moments, or is the first of all.
    fn is_guard(&self, piece: &RegistrationPiece, pieces: &[RegistrationPiece]) -> bool {
        let is_moment = match piece {
            RegistrationPiece::Element { at, .. } => {
                self.agent.adapter.moments().any(|moment| at.last() == Some(&moment.event))
            }
            RegistrationPiece::File { .. } => true,
            RegistrationPiece::Field { .. } | RegistrationPiece::ProgramName { .. } => false,
        };
        let is_entry = |piece: &&RegistrationPiece| {
            matches!(piece, RegistrationPiece::Element { .. } | RegistrationPiece::File { .. })
        };
        is_moment || pieces.iter().find(is_entry) == Some(piece)
    }

    /// Checks one piece and returns the command that is registered by it. What guards calls is graver than the rest.
    fn check_piece(
        &self,
        checks: &mut Checks,
        piece: &RegistrationPiece,
        variants: &[&RegistrationPiece],
        is_guard: bool,
    ) -> Option<Registered> {
        match piece {
            RegistrationPiece::Element { file, at, value, .. } => {
                let is_known = |entry: &Value| {
                    variants.iter().any(
                        |other| matches!(other, RegistrationPiece::Element { value, .. } if value == entry),
                    )
                };
                self.check_element(checks, (file, at), (value, &is_known), is_guard)
            }
            RegistrationPiece::File { file, .. } => {
                let is_known = |found: &str| {
                    variants
                        .iter()
                        .any(|other| matches!(other, RegistrationPiece::File { text, .. } if text == found))
                };
                self.check_file(checks, file, &is_known)
            }
            RegistrationPiece::ProgramName { name } => {
                self.check_name(checks, name);
                None
            }
            RegistrationPiece::Field { .. } => None,
        }
    }

    fn check_element(
        &self,
        checks: &mut Checks,
        (file, at): (&str, &[&str]),
        (wanted, is_known): (&Value, &dyn Fn(&Value) -> bool),
        is_guard: bool,
    ) -> Option<Registered> {
        const NAME: &str = "registration";
        let path = self.agent.folder.join(file);
        let place = format!("`{}` in `{}`", at.join("."), path.display());
        let document = match document_at(&path) {
            Ok(document) => document,
            Err(why) => {
                if is_guard {
                    checks.problem(
                        NAME,
                        format!("`{}` cannot be read: {why}", path.display()),
                        "repair the file",
                    );
                }
                return None;
            }
        };
        let list =
            document::follow(&document, at).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        // One list may hold what is for several events.
        let is_meant = |entry: &Value| entry.get("event") == wanted.get("event");
        let own: Vec<&Value> =
            list.iter().filter(|entry| self.ours.command_in(entry).is_some() && is_meant(entry)).collect();
        let Some(entry) = own.first() else {
            let message = format!("{place} {MISSING}");
            if is_guard {
                checks.problem(NAME, format!("{message}: calls are not judged"), &self.again);
            } else {
                checks.warning(NAME, message, &self.again);
            }
            return None;
        };
        if is_guard {
            let host = self.agent.host();
            let mut files = neighbours::further_files(host, self.locations);
            files.insert(0, path);
            neighbours::check(checks, host, &self.ours, at, &files);
        }
        let registered = self.ours.command_in(entry)?;
        if !self.check_registered_program(checks, &registered, is_guard) {
            return None;
        }
        match difference(wanted, entry).filter(|_| !is_known(entry)) {
            None if own.len() > 1 => {
                checks.warning(NAME, format!("{place} names us more than once"), &self.again);
            }
            None if is_guard => checks.fine(NAME, format!("{place} names us as it should")),
            None => {}
            Some(what) if is_guard => {
                checks.problem(NAME, format!("{place} is not what `init` writes: {what}"), &self.again);
            }
            Some(what) => {
                checks.warning(NAME, format!("{place} is not what `init` writes: {what}"), &self.again);
            }
        }
        Some(registered)
    }

    /// Checks the program that settings name; says whether it may be started.
    fn check_registered_program(&self, checks: &mut Checks, registered: &Registered, is_guard: bool) -> bool {
        let Some(name) = registered.program() else { return false };
        let located = self.locate(registered, &name);
        let Some(path) = located.and_then(|path| path.canonicalize().ok()) else {
            // Of a name that the host looks for, the check of the name says more.
            if is_guard && !matches!(registered, Registered::Name(_)) {
                let message = format!("the registered program `{name}` is not there: calls are not judged");
                checks.problem("registered program", message, &self.again);
            }
            return false;
        };
        if path == self.program.path {
            return true;
        }
        let looked = program::inspect(&path, self.locations);
        let doubts = match &looked {
            Ok(program) => program.doubts.join("; it "),
            Err(failure) => failure.message.clone(),
        };
        if is_guard && doubts.is_empty() {
            let message = format!("`{}` is registered, and this is another program", path.display());
            checks.warning("registered program", message, &self.again);
        } else if is_guard {
            let message =
                format!("`{}` is registered, another program than this one: {doubts}", path.display());
            checks.problem("registered program", message, &self.again);
        }
        // One that an agent or another user may have put there is not started.
        looked.is_ok_and(|program| !program.is_in_workspace)
    }

    /// Finds the program that a registered command starts, by the name it is started by.
    fn locate(&self, registered: &Registered, name: &str) -> Option<PathBuf> {
        match registered {
            Registered::Name(_) | Registered::Line(_) if !name.contains('/') => {
                find_program(name, self.locations)
            }
            _ => Some(PathBuf::from(name)),
        }
    }

    fn check_file(
        &self,
        checks: &mut Checks,
        file: &str,
        is_known: &dyn Fn(&str) -> bool,
    ) -> Option<Registered> {
        const NAME: &str = "registration";
        let path = self.agent.folder.join(file);
        let place = path.display();
        match read_text(&path, MAXIMUM_SIZE) {
            Ok(Some(text)) if is_known(&text) && is_script(&text) && !is_executable(&path) => {
                let message = format!("`{place}` cannot be started: calls are not judged");
                checks.problem(NAME, message, &self.again);
                None
            }
            Ok(Some(text)) if is_known(&text) => {
                checks.fine(NAME, format!("`{place}` is as it should be"));
                let words = [&self.program.text, "hook", self.agent.host().name()];
                Some(Registered::Words(words.map(str::to_owned).to_vec()))
            }
            Ok(Some(_)) => {
                checks.problem(NAME, format!("`{place}` is not what `init` writes"), &self.again);
                None
            }
            Ok(None) => {
                checks.problem(NAME, format!("`{place}` is not there: calls are not judged"), &self.again);
                None
            }
            Err(error) => {
                checks.problem(NAME, format!("`{place}`: {}", error.message), &self.again);
                None
            }
        }
    }

    fn check_name(&self, checks: &mut Checks, name: &str) {
        const NAME: &str = "program name";
        match find_program(name, self.locations) {
            None => {
                checks.problem(NAME, format!("`{name}` is not on the PATH: calls are rejected"), &self.again);
            }
            Some(path) if path.canonicalize().is_ok_and(|path| path == self.program.path) => {
                checks.fine(NAME, format!("`{}` leads to this program", path.display()));
            }
            Some(path) => {
                checks.warning(NAME, format!("`{}` leads to another program", path.display()), &self.again);
            }
        }
    }

    /// Looks for a file that the agent does not take: then it calls no hook of it, without a word.
    fn check_dropped(&self, checks: &mut Checks, pieces: &[RegistrationPiece]) {
        let title = self.agent.adapter.title;
        for file in files_of(pieces) {
            let path = self.agent.folder.join(file);
            let Ok(Some(text)) = read_text(&path, MAXIMUM_SIZE) else { continue };
            if let Some(why) = (self.agent.adapter.registration.refusal)(&text) {
                let message =
                    format!("{title} does not take `{}`: {why}; calls are not judged", path.display());
                checks.problem("settings file", message, "mend what is named, and look again");
            }
        }
    }

    /// Looks for settings that turn hooks off, in every file that the agent would read here.
    fn check_switches(&self, checks: &mut Checks, pieces: &[RegistrationPiece]) {
        let mut files: Vec<PathBuf> = Vec::new();
        files.extend(pieces.iter().filter_map(file_of).map(|file| self.agent.folder.join(file)));
        files.extend(neighbours::further_files(self.agent.host(), self.locations));
        files.dedup();
        let host = self.agent.host();
        files.extend((host == Host::Codex).then(|| self.agent.folder.join(codex_trust::CONFIG)));
        let is_settings = |kind: &std::ffi::OsStr| kind == "json" || kind == "toml";
        for path in files.iter().filter(|path| path.extension().is_some_and(is_settings)) {
            let Ok(document) = document_at(path) else { continue };
            for key in switches(host, &document) {
                let message = format!("`{key}` in `{}` turns our hooks off", path.display());
                checks.problem("switch", message, format!("take it out of `{key}`"));
            }
        }
    }

    fn check_trust(&self, checks: &mut Checks) {
        const NAME: &str = "trust";
        match codex_trust::look(self.agent, &self.ours, self.locations) {
            Err(why) => {
                checks.warning(
                    NAME,
                    format!("it is not known: `codex` {why}"),
                    "run `/hooks` in Codex and look",
                );
            }
            Ok(hooks) if hooks.is_empty() => {
                checks.problem(NAME, "Codex does not list our hooks: calls are not judged", &self.again);
            }
            Ok(hooks) if hooks.iter().any(|hook| !hook.is_trusted) => {
                let message = "Codex does not trust our hooks and skips them: calls are not judged";
                checks.problem(NAME, message, &self.again);
            }
            Ok(hooks) if hooks.iter().any(|hook| !hook.is_enabled) => {
                checks.problem(
                    NAME,
                    "our hooks are switched off in Codex",
                    "switch them on with `/hooks` in Codex",
                );
            }
            Ok(_) => checks.fine(NAME, "Codex trusts our hooks"),
        }
    }

    fn check_canary(&self, checks: &mut Checks, registered: &Registered) {
        let home = self.locations.home.as_deref().unwrap_or(Path::new("/"));
        let found = registered.program().and_then(|name| self.locate(registered, &name));
        match canary::run(self.agent.host(), registered, home, found.as_ref()) {
            Ok(time) => {
                let message =
                    format!("the registered command stops what it must, in {} ms", time.as_millis());
                checks.fine("canary", message);
            }
            Err(why) => {
                checks.problem(
                    "canary",
                    why,
                    "run `portcullis doctor` again after mending what stands above",
                );
            }
        }
    }
}

/// What is said of a place in which nothing of ours is registered.
const MISSING: &str = "does not name us";

/// Where calls are not judged because nothing is registered, what else is not registered is no news.
fn leave_one_missing(checks: &mut Vec<Check>) {
    let is_missing = |check: &Check| check.message.contains(MISSING);
    let Some(first) = checks.iter().find(|check| is_missing(check) && check.state == State::Problem).cloned()
    else {
        return;
    };
    checks.retain(|check| !is_missing(check) || *check == first);
}

/// Says whether the agent could start a file.
fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

/// Reads settings as they stand; a file that is missing or empty says nothing.
pub(super) fn document_at(path: &Path) -> Result<Value, String> {
    let text = read_text(path, MAXIMUM_SIZE).map_err(|error| error.message)?.unwrap_or_default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if toml_document::is_toml(path) {
        return toml_document::read(text);
    }
    if text.trim().is_empty() { Ok(Value::Null) } else { document::read(text) }
}

/// Lists the keys of a document that turn hooks off in an agent.
fn switches(host: Host, document: &Value) -> Vec<&'static str> {
    let is_set =
        |at: &[&str], value: bool| document::follow(document, at).and_then(Value::as_bool) == Some(value);
    let disabled = document::follow(document, &["hooksConfig", "disabled"]).and_then(Value::as_array);
    let names = disabled.into_iter().flatten().filter_map(Value::as_str);
    let is_ours_off = names.into_iter().any(|name| name.contains("portcullis"));
    let (is_gemini, is_codex) = (host == Host::Gemini, host == Host::Codex);
    let table = [
        ("disableAllHooks", is_set(&["disableAllHooks"], true)),
        ("allowManagedHooksOnly", is_set(&["allowManagedHooksOnly"], true)),
        ("hooksDisabled", host == Host::Droid && is_set(&["hooksDisabled"], true)),
        // Qwen Code keeps the key of the program that it was made of, and does not look at it.
        ("hooksConfig.enabled", is_gemini && is_set(&["hooksConfig", "enabled"], false)),
        ("hooksConfig.disabled", is_gemini && is_ours_off),
        ("features.hooks", is_codex && is_set(&["features", "hooks"], false)),
        ("features.codex_hooks", is_codex && is_set(&["features", "codex_hooks"], false)),
    ];
    table.into_iter().filter(|(_, is_off)| *is_off).map(|(key, _)| key).collect()
}

/// Says in what an entry differs from the one that is wanted: the first field that does.
fn difference(wanted: &Value, found: &Value) -> Option<String> {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => {
            let own = wanted.iter().find_map(|(name, value)| match found.get(name) {
                None => Some(format!("`{name}` is missing")),
                Some(other) if value.is_object() || value.is_array() => difference(value, other),
                Some(other) if other != value => Some(format!("`{name}` is {other}, not {value}")),
                Some(_) => None,
            });
            let more = || found.keys().find(|name| !wanted.contains_key(*name));
            own.or_else(|| more().map(|name| format!("`{name}` is there as well")))
        }
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => {
            wanted.iter().zip(found).find_map(|(wanted, found)| difference(wanted, found))
        }
        (wanted, found) => (wanted != found).then(|| format!("it has {found}, not {wanted}")),
    }
}
