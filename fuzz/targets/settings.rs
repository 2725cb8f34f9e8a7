//! Settings text: loading never fails or panics, and a broken text allows nothing.
#![no_main]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use portcullis_core::rule::Behavior;
use portcullis_settings::{DocumentState, Environment, LoadOptions, Locations, ManagedDirectories, load};

/// Places where there are no files.
static NOWHERE: LazyLock<Locations> = LazyLock::new(|| {
    let managed = ManagedDirectories {
        portcullis: PathBuf::from("/nowhere/portcullis"),
        claude: PathBuf::from("/nowhere/claude-code"),
    };
    let environment = Environment {
        home: Some(PathBuf::from("/nowhere/home")),
        managed: Some(managed),
        ..Environment::default()
    };
    Locations::new(environment, Path::new("/nowhere/project"))
});

fuzz_target!(|text: &str| {
    // Only a text that begins so is taken for settings and not for the name of a file.
    let options = LoadOptions { settings: Some(format!("{{{text}")), ..LoadOptions::default() };
    let loaded = load(&NOWHERE, &options);
    let is_broken = loaded.documents.iter().any(|document| document.state == DocumentState::Broken);
    let allows = loaded.policy.rules.rules().iter().any(|rule| rule.behavior == Behavior::Allow);
    assert!(!(is_broken && allows), "a broken file allows something");
});
