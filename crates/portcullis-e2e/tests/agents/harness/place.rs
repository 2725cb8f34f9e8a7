//! A home and a repository that exist for one run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::programs;

/// A variable that keeps the places, for whoever looks into a run.
const KEEP: &str = "PORTCULLIS_E2E_KEEP";

/// A port of loopback where nobody listens. What does not go to loopback goes there.
const NOWHERE: &str = "http://127.0.0.1:9";

/// A home, a repository beside it, and folders for programs and for what they drop.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) root: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) repository: PathBuf,
    /// A folder that belongs to no project.
    pub(crate) elsewhere: PathBuf,
    _folder: Option<TempDir>,
}

impl Place {
    pub(super) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("portcullis-e2e-").tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        let place = Self {
            home: root.join("home"),
            repository: root.join("repository"),
            elsewhere: root.join("elsewhere"),
            // A kept place is never cleaned up.
            _folder: if std::env::var_os(KEEP).is_some() {
                let _ = folder.keep();
                None
            } else {
                Some(folder)
            },
            root,
        };
        for name in ["home", "repository", "elsewhere", "programs", "tmp"] {
            fs::create_dir_all(place.root.join(name)).expect("a directory");
        }
        place.write(&place.repository.join("README.md"), "A project.\n");
        for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "begin"]] {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=tester", "-c", "user.email=tester@example.invalid"]).args(words);
            assert!(place.confine(&mut git).status().expect("git runs").success(), "git {words:?} failed");
        }
        place
    }

    /// Gives a command this place for its world: nothing of the tester's own environment reaches it, and what it sends
    /// beyond loopback goes nowhere.
    pub(super) fn confine<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let own = [self.root.join("programs"), programs()];
        let path = own.into_iter().chain(std::env::split_paths(&path));
        command
            .env_clear()
            .current_dir(&self.repository)
            .stdin(Stdio::null())
            .env("PATH", std::env::join_paths(path).expect("a path"))
            .env("HOME", &self.home)
            .env("TMPDIR", self.root.join("tmp"))
            .env("USER", "tester")
            .env("SHELL", "/bin/bash")
            .env("LANG", "C.UTF-8")
            .env("TERM", "dumb")
            .env("NO_COLOR", "1")
            .env("CI", "1")
            .env("NO_PROXY", "127.0.0.1,localhost")
            .env("HTTPS_PROXY", NOWHERE)
            .env("HTTP_PROXY", NOWHERE)
    }

    pub(super) fn write(&self, path: &Path, text: &str) {
        assert!(path.starts_with(&self.root), "{} is not in the place", path.display());
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    /// Writes a program that the agent can call by its name, as a script for a shell.
    pub(super) fn write_program(&self, name: &str, script: &str) {
        let program = self.root.join("programs").join(name);
        self.write(&program, &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
    }

    /// Writes a file of settings below the home directory.
    pub(super) fn write_settings(&self, path: &str, settings: &Value) {
        self.write(&self.home.join(path), &format!("{settings:#}\n"));
    }

    /// Adds fields to a file of settings below the home directory, which may be there already.
    pub(super) fn add_settings(&self, path: &str, settings: &Value) {
        let known = fs::read(self.home.join(path)).ok();
        let mut all: Value = known.map_or(json!({}), |text| serde_json::from_slice(&text).expect("JSON"));
        for (name, value) in settings.as_object().expect("an object") {
            all[name] = value.clone();
        }
        self.write_settings(path, &all);
    }
}
