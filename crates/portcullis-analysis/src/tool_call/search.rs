//! Searches by tools of their own: names of files, lines in them.

use super::{CallInput, effect};
use crate::act::Act;
use crate::command_effects::{Layout, tree_search};
use crate::effect::{Effect, PathTarget, Target};
use crate::path;
use crate::place::{Scope, secrecy};
use crate::survey::Surroundings;

impl CallInput<'_> {
    /// A search shows names or lines of the files below a directory; a pattern may name another one.
    pub(super) fn search(&self, act: Act, pattern: &str) -> Layout {
        let mut effects = vec![effect(act, self.path(self.field("path").unwrap_or(".")))];
        let pattern = self.field(pattern).unwrap_or_default();
        if pattern.starts_with(['/', '~']) || pattern.split('/').any(|part| part == "..") {
            let fixed = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
            let directory = fixed.rsplit_once('/').map_or("/", |(directory, _)| directory);
            effects.push(effect(act, self.path(if fixed == pattern { pattern } else { directory })));
        }
        if act == Act::Read {
            effects.extend(self.searched_secrets());
            effects.extend(self.chosen_secrets(pattern));
        } else if pattern.contains(['/', '.']) {
            effects.extend(self.listed_secrets(pattern));
        }
        Layout { effects, ..Layout::default() }
    }

    /// Looking for names of keys and settings outside of the project is looking for secrets. A star alone names nothing: what
    /// is below a directory is listed with it, not looked for.
    fn listed_secrets(&self, pattern: &str) -> Option<Effect> {
        let named = |directory: &str| {
            let parts = directory.split('/').filter(|part| !matches!(*part, "*" | "**"));
            parts.collect::<Vec<&str>>().join("/")
        };
        let directory = match pattern.rsplit_once('/') {
            Some((directory, _)) if directory.starts_with(['/', '~']) => named(directory),
            _ => self.field("path").unwrap_or(".").to_owned(),
        };
        let sample = tree_search::sample(pattern);
        let name = if sample.is_empty() { "x" } else { &sample };
        let target = self.path(&format!("{directory}/{name}"));
        let Surroundings { directory, home, .. } = self.surroundings;
        let scope = Scope { roots: vec![directory.to_owned()], home: home.map(str::to_owned) };
        let is_hunted = |path: &String| !scope.is_in_project(path) && secrecy(path, &scope).is_some();
        let is_found = target.paths().iter().any(is_hunted);
        is_found.then(|| effect(Act::SecretHunt, Target::Name(pattern.to_owned())))
    }

    /// A pattern of names that takes in keys and settings shows those below the directory, wherever they lie.
    fn chosen_secrets(&self, pattern: &str) -> Option<Effect> {
        let last = pattern.rsplit('/').next().filter(|last| !last.is_empty() && !pattern.starts_with('!'))?;
        let directory = self.field("path").unwrap_or(".").trim_end_matches('/');
        let sample = self.path(&format!("{directory}/{}", tree_search::sample(last)));
        let is_secret = |path: &String| secrecy(path, &Scope::default()).is_some();
        let Target::Path(found) = self.path(&format!("{directory}/**/{last}")) else { return None };
        let target = Target::Path(PathTarget { is_pattern: true, ..found });
        sample.paths().iter().any(is_secret).then(|| effect(Act::Read, target))
    }

    /// A search shows lines of hidden files too: those that its pattern of names takes in, and without one the secrets
    /// of whatever project lies below, if it looks for these.
    fn searched_secrets(&self) -> Option<Effect> {
        let directory = self.field("path").unwrap_or(".");
        let filter = self.field("glob").filter(|glob| !glob.is_empty() && !glob.starts_with('!'));
        let is_hunt = self.field("pattern").is_some_and(looks_for_secrets);
        let name = match filter {
            Some(glob) => tree_search::sample(glob),
            None if is_hunt && self.field("type").is_none() => tree_search::SECRET_FILE.to_owned(),
            None => return None,
        };
        let target = self.path(&format!("{}/{name}", directory.trim_end_matches('/')));
        let home = self.surroundings.home.unwrap_or("/");
        let is_elsewhere = |path: &String| {
            !path::is_inside(path, self.surroundings.directory) && tree_search::may_hold_projects(path, home)
        };
        target.paths().iter().any(is_elsewhere).then(|| effect(Act::Read, target))
    }
}

/// Says whether words of a search are those that stand beside secrets.
fn looks_for_secrets(pattern: &str) -> bool {
    const WORDS: &[&str] = &[
        "akia",
        "api_key",
        "apikey",
        "begin",
        "credential",
        "passwd",
        "password",
        "private key",
        "secret",
        "token",
    ];
    let pattern = pattern.to_ascii_lowercase();
    WORDS.iter().any(|word| pattern.contains(word))
}
