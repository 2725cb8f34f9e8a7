//! Where our own places lie on this machine, as far as variables, settings and the running program say.

use std::path::{Path, PathBuf};

use portcullis_core::{OwnLocations, path};
use portcullis_hosts::Host;
use portcullis_settings::{HookHandler, LoadedSettings, SettingsLocations};

use crate::env_vars;

/// What our program is called.
const NAMES: [&str; 3] = ["portcullis", "portcullis-full", "portcullis-amp"];

/// Where the system keeps its programs, which people do not change; and what is run by so many that to name it says
/// nothing of ours, by how it begins.
const SYSTEM: [&str; 9] =
    ["/bin/", "/dev/", "/lib/", "/nix/", "/opt/homebrew/", "/sbin/", "/snap/", "/usr/bin/", "/usr/sbin/"];
const INTERPRETERS: [&str; 10] =
    ["bash", "bun", "deno", "env", "node", "perl", "php", "python", "ruby", "sh"];

/// Works out where our places lie that are not in their usual paths below the home directory.
pub(crate) fn own_locations(locations: &SettingsLocations, loaded: &LoadedSettings) -> OwnLocations {
    let above = |directory: &Option<PathBuf>| {
        directory.as_deref().and_then(Path::parent).and_then(Path::to_str).map(str::to_owned)
    };
    let text = |folder: PathBuf| folder.to_str().map(str::to_owned);
    let of_agents = Host::ALL.into_iter().map(|host| {
        let folder = host.adapter().registration.folder;
        let moved = env_vars::moved_folder(folder).ok().flatten();
        (folder.path, moved.and_then(|(_, place)| text(place)))
    });
    let named = of_agents.chain([
        (".config", above(&locations.config)),
        (".local/state", above(&locations.state)),
        (".claude", locations.claude.clone().and_then(text)),
    ]);
    let home = locations.home.as_deref().and_then(Path::to_str).unwrap_or_default();
    let is_moved = |(usual, place): &(&str, String)| {
        place.strip_prefix(home).and_then(|rest| rest.strip_prefix('/')) != Some(*usual)
    };
    let present = named.filter_map(|(usual, place)| Some((usual, place?)));
    let moved = present.filter(is_moved).map(|(usual, place)| (usual.to_owned(), place)).collect();
    OwnLocations { moved, programs: programs(), files: files(locations, loaded), ports: ports(loaded) }
}

fn ports(loaded: &LoadedSettings) -> Vec<u16> {
    loaded.daemon.port.into_iter().collect()
}

/// Returns the files that settings name: where the end of the trail is kept, what the judge is told and trusts, programs
/// that are started and what these are given; each also where links lead it.
fn files(locations: &SettingsLocations, loaded: &LoadedSettings) -> Vec<String> {
    let classifier = &loaded.classifier;
    let templates = &classifier.templates;
    let named = [
        &loaded.audit.head.file,
        &classifier.ca_file,
        &classifier.models_file,
        &templates.base,
        &templates.intent,
        &templates.permissions,
    ];
    let named = named.into_iter().flatten().filter_map(|file| file.to_str().map(str::to_owned));
    let finder = FileFinder { locations };
    let mut files: Vec<String> = named.chain(finder.started(loaded)).collect();
    let real: Vec<String> = files
        .iter()
        .filter_map(|file| Path::new(file).canonicalize().ok()?.to_str().map(str::to_owned))
        .filter(|real| !is_common(real))
        .collect();
    files.extend(real);
    files.sort();
    files.dedup();
    files
}

/// Finds the files that the words of a command mean.
struct FileFinder<'a> {
    locations: &'a SettingsLocations,
}

impl FileFinder<'_> {
    /// Returns the files of every program that settings have started.
    fn started(&self, loaded: &LoadedSettings) -> Vec<String> {
        let fallback = loaded.classifier.fallback.as_ref();
        let keys = std::iter::once(&loaded.classifier.endpoint).chain(fallback).map(|one| &one.key_command);
        let mut files = Vec::new();
        for command in keys.chain(std::iter::once(&loaded.audit.head.command)) {
            self.add_words(&mut files, command.iter().map(String::as_str));
        }
        for hook in &loaded.permission_hooks {
            match &hook.handler {
                HookHandler::Command { words } => {
                    self.add_words(&mut files, words.iter().map(String::as_str));
                }
                HookHandler::ShellCommand { line } => {
                    let ends = |letter: char| letter.is_whitespace() || "'\"`;|&()<>=".contains(letter);
                    self.add_words(&mut files, line.split(ends).filter(|word| !word.is_empty()));
                }
                HookHandler::Http { .. } => {}
            }
        }
        files.retain(|file| !is_common(file));
        files
    }

    /// Adds what the words of a command may mean: the first one is looked for where programs are, a path is a file.
    fn add_words<'a>(&self, files: &mut Vec<String>, words: impl Iterator<Item = &'a str>) {
        for (place, word) in words.enumerate() {
            if word.contains('/') {
                files.extend(self.absolute(word));
            } else if place == 0 {
                files.extend(on_path(word));
            }
        }
    }

    fn absolute(&self, word: &str) -> Option<String> {
        let home = self.locations.home.as_deref().and_then(Path::to_str);
        let below_home = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|start| word.strip_prefix(start));
        if let Some(rest) = below_home {
            return Some(path::join(home?, rest));
        }
        // An address, an option with a value or a variable is no file that is known here.
        let is_file = !word.contains("://") && !word.starts_with('-') && !word.contains('$');
        is_file.then(|| path::join(self.locations.project.to_str()?, word).into()).flatten()
    }
}

/// Returns the program that a name stands for.
fn on_path(name: &str) -> Option<String> {
    let found =
        env_vars::path().into_iter().map(|directory| directory.join(name)).find(|file| file.is_file());
    found.and_then(|file| file.to_str().map(str::to_owned))
}

fn is_common(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or_default();
    let is_version = |rest: &str| rest.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    SYSTEM.iter().any(|directory| file.starts_with(directory))
        || INTERPRETERS.iter().any(|known| name.strip_prefix(known).is_some_and(is_version))
}

/// Returns the files of the running program and of those that stand beside it.
fn programs() -> Vec<String> {
    let Ok(running) = std::env::current_exe() else { return Vec::new() };
    let is_ours =
        running.file_name().and_then(|name| name.to_str()).is_some_and(|name| NAMES.contains(&name));
    let beside = NAMES.iter().filter(|_| is_ours).map(|name| running.with_file_name(name));
    beside.filter_map(|path| path.to_str().map(str::to_owned)).collect()
}
