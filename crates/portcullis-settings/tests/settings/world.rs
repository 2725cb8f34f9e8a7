//! A temporary world: a home, a project with a repository, managed directories, and what loading makes of them.

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_core::rule::Behavior;
use portcullis_settings::{
    LoadOptions, LoadedSettings, ManagedDirectories, SettingsEnvironment, SettingsLocations, TrustQuestion,
    load,
};
use tempfile::TempDir;

/// The files settings may be in, by the name the tables use.
pub(crate) const PLACES: [(&str, &str); 8] = [
    ("policy", "managed/portcullis/managed-settings.json"),
    ("policy-claude", "managed/claude-code/managed-settings.json"),
    ("local", "app/.portcullis/settings.local.json"),
    ("local-claude", "app/.claude/settings.local.json"),
    ("project", "app/.portcullis/settings.json"),
    ("project-claude", "app/.claude/settings.json"),
    ("user", "home/.config/portcullis/settings.json"),
    ("user-claude", "home/.claude/settings.json"),
];

pub(crate) struct World {
    directory: TempDir,
}

impl World {
    /// Makes a world with a repository in `app` and an empty `home`.
    pub(crate) fn new() -> Self {
        let world = Self { directory: tempfile::tempdir().unwrap() };
        fs::create_dir_all(world.path("app/.git")).unwrap();
        fs::create_dir_all(world.path("home")).unwrap();
        world
    }

    /// Makes a world with settings at named places.
    pub(crate) fn with(settings: &[(&str, &str)]) -> Self {
        let world = Self::new();
        for (place, text) in settings {
            world.write(&world.place(place), text);
        }
        world
    }

    pub(crate) fn place(&self, name: &str) -> PathBuf {
        let (_, path) = PLACES.iter().find(|(place, _)| *place == name).expect(name);
        self.path(path)
    }

    /// Resolves a path in this world, symbolic links of the temporary directory resolved.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(relative)
    }

    pub(crate) fn write(&self, path: &Path, text: &str) {
        let path = self.path("").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, place: &str) -> String {
        fs::read_to_string(self.place(place)).unwrap()
    }

    pub(crate) fn environment(&self) -> SettingsEnvironment {
        SettingsEnvironment {
            home: Some(self.path("home")),
            managed: Some(ManagedDirectories {
                portcullis: self.path("managed/portcullis"),
                claude: self.path("managed/claude-code"),
            }),
            ..SettingsEnvironment::default()
        }
    }

    pub(crate) fn locations(&self) -> SettingsLocations {
        self.locations_in("app")
    }

    pub(crate) fn locations_in(&self, directory: &str) -> SettingsLocations {
        SettingsLocations::new(self.environment(), &self.path(directory))
    }

    pub(crate) fn load(&self) -> LoadedSettings {
        load(&self.locations(), &LoadOptions::default())
    }

    pub(crate) fn load_trusted(&self) -> LoadedSettings {
        load(&self.locations(), &LoadOptions { trust: TrustQuestion::Trusted, ..LoadOptions::default() })
    }
}

/// Writes the rules in force as `source behavior text`, in their order.
pub(crate) fn rules(loaded: &LoadedSettings) -> Vec<String> {
    let rules = loaded.policy.rules.rules();
    rules
        .iter()
        .map(|rule| format!("{} {} {}", rule.origin.source, rule.behavior, rule.source_text))
        .collect()
}

/// Writes what is ignored as `what: reason`.
pub(crate) fn ignored(loaded: &LoadedSettings) -> Vec<String> {
    loaded.ignored.iter().map(|ignored| format!("{}: {:?}", ignored.what, ignored.reason)).collect()
}

/// Writes the messages of the problems.
pub(crate) fn messages(loaded: &LoadedSettings) -> Vec<String> {
    loaded
        .problems
        .iter()
        .map(|problem| format!("{}: {}", problem.severity.as_str(), problem.message))
        .collect()
}

/// Makes a list of one given rule.
pub(crate) fn one(behavior: Behavior, text: &str) -> Vec<(Behavior, String)> {
    vec![(behavior, text.to_owned())]
}
