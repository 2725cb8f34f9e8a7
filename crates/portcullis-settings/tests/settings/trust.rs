//! C12: what an untrusted workspace may do, and how trust is kept.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use pretty_assertions::assert_eq;

use portcullis_settings::{
    LoadOptions, SettingsEnvironment, SettingsLocations, TrustError, TrustStore, TrustedBy, WorkspaceTrust,
    find_trust, load,
};

use crate::world::{World, ignored, messages, rules};

const RULES: &str =
    "{\"permissions\": {\"allow\": [\"Bash(a)\"], \"ask\": [\"Bash(b)\"], \"deny\": [\"Bash(c)\"]}}";

// C12
#[test]
fn an_untrusted_repository_denies_and_asks_but_allows_nothing() {
    for (place, source) in
        [("project", "project"), ("project-claude", "project"), ("local", "local"), ("local-claude", "local")]
    {
        let world = World::with(&[(place, RULES)]);
        let loaded = world.load();
        assert_eq!(
            rules(&loaded),
            [format!("{source} ask Bash(b)"), format!("{source} deny Bash(c)")],
            "{place}"
        );
        assert_eq!(ignored(&loaded), ["allow rule `Bash(a)`: UntrustedWorkspace"], "{place}");
        assert_eq!(loaded.trust, Some(WorkspaceTrust::Untrusted));

        TrustStore::of(&world.locations()).unwrap().add(&world.locations()).unwrap();
        let trusted = world.load();
        assert_eq!(rules(&trusted).len(), 3, "{place}");
        assert_eq!(trusted.trust, Some(WorkspaceTrust::Trusted(TrustedBy::Portcullis)));
        assert_eq!(trusted.ignored, []);
    }
}

// C12
#[test]
fn the_report_says_what_is_not_used_and_what_to_do() {
    let world = World::with(&[("project", RULES)]);
    let report = world.load().ignored[0].to_string();
    let file = world.place("project");
    assert_eq!(
        report,
        format!(
            "not used: allow rule `Bash(a)` ({}:1): this workspace is not trusted; run `portcullis trust add`",
            file.display()
        )
    );
}

#[test]
fn trust_is_not_looked_up_when_nothing_depends_on_it() {
    let world = World::with(&[("user", RULES), ("project", "{\"permissions\": {\"deny\": [\"Bash(x)\"]}}")]);
    world.write("home/.local/state/portcullis/trust.json".as_ref(), "broken");
    let loaded = world.load();
    assert_eq!((loaded.trust, messages(&loaded)), (None, vec![]));
}

#[test]
fn trust_is_added_listed_and_removed() {
    let world = World::new();
    let locations = world.locations();
    let store = TrustStore::of(&locations).unwrap();
    assert_eq!(store.list().unwrap(), Vec::<String>::new());
    assert!(store.add(&locations).unwrap());
    assert!(!store.add(&locations).unwrap());
    assert_eq!(store.list().unwrap(), [world.path("app").to_str().unwrap()]);
    assert_eq!(find_trust(&locations).unwrap(), WorkspaceTrust::Trusted(TrustedBy::Portcullis));

    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(store.path()), 0o600);
    assert_eq!(mode(store.path().parent().unwrap()), 0o700);

    assert!(store.remove(&world.path("app")).unwrap());
    assert!(!store.remove(&world.path("app")).unwrap());
    assert_eq!(find_trust(&locations).unwrap(), WorkspaceTrust::Untrusted);
}

#[test]
fn trust_holds_for_the_whole_repository_and_for_nothing_beside_it() {
    let world = World::new();
    for path in ["app/src/x", "app/nested/.git/HEAD", "app-evil/.git/HEAD", "other/x"] {
        world.write(path.as_ref(), "");
    }
    TrustStore::of(&world.locations()).unwrap().add(&world.locations_in("app/src")).unwrap();
    for (directory, trusted) in [
        ("app", true),
        ("app/src", true),
        ("app/nested", false),
        ("app-evil", false),
        ("other", false),
        ("", false),
    ] {
        let trust = find_trust(&world.locations_in(directory)).unwrap();
        assert_eq!(trust.is_trusted(), trusted, "{directory}");
    }
}

#[test]
fn home_and_what_contains_it_cannot_be_trusted() {
    let world = World::new();
    let store = TrustStore::of(&world.locations()).unwrap();
    for directory in ["home", ""] {
        let error = store.add(&world.locations_in(directory)).unwrap_err();
        assert!(matches!(error, TrustError::ContainsHome { .. }), "{directory}: {error}");
        assert!(error.hint().is_some());
    }
    // Not even if a store that lies elsewhere says so.
    let text = format!("{{\"version\": 1, \"trusted\": [\"{}\"]}}", world.path("home").display());
    world.write("state/portcullis/trust.json".as_ref(), &text);
    fs::set_permissions(world.path("state/portcullis/trust.json"), fs::Permissions::from_mode(0o600))
        .unwrap();
    let environment =
        SettingsEnvironment { xdg_state_home: Some(world.path("state")), ..world.environment() };
    let locations = SettingsLocations::new(environment, &world.path("home"));
    assert!(TrustStore::of(&locations).unwrap().contains(&world.path("home")).unwrap());
    assert_eq!(find_trust(&locations).unwrap(), WorkspaceTrust::Untrusted);
}

#[test]
fn a_store_that_cannot_be_relied_on_trusts_nobody() {
    let world = World::with(&[("project", RULES)]);
    let locations = world.locations();
    let store = TrustStore::of(&locations).unwrap();
    let sound = format!("{{\"version\": 1, \"trusted\": [\"{}\"]}}", world.path("app").display());
    for (text, mode) in [
        ("", 0o600),
        ("{", 0o600),
        ("[]", 0o600),
        ("{\"version\": 2, \"trusted\": []}", 0o600),
        ("{\"version\": 1}", 0o600),
        ("{\"version\": 1, \"trusted\": [7]}", 0o600),
        (sound.as_str(), 0o622),
        (sound.as_str(), 0o660),
    ] {
        world.write(store.path(), text);
        fs::set_permissions(store.path(), fs::Permissions::from_mode(mode)).unwrap();
        assert!(find_trust(&locations).is_err(), "{text} {mode:o}");
        assert!(store.add(&locations).is_err(), "{text} {mode:o}");
        let loaded = world.load();
        assert_eq!(loaded.trust, Some(WorkspaceTrust::Untrusted), "{text} {mode:o}");
        assert_eq!(loaded.problems.len(), 1, "{text} {mode:o}");
        assert_eq!(fs::read_to_string(store.path()).unwrap(), text, "the store was overwritten");
    }
    fs::set_permissions(store.path(), fs::Permissions::from_mode(0o600)).unwrap();
    assert!(find_trust(&locations).unwrap().is_trusted());
}

#[test]
fn a_store_inside_the_repository_is_never_read() {
    let world = World::with(&[("project", RULES)]);
    let sound = format!("{{\"version\": 1, \"trusted\": [\"{}\"]}}", world.path("app").display());
    world.write("app/state/portcullis/trust.json".as_ref(), &sound);
    fs::set_permissions(world.path("app/state/portcullis/trust.json"), fs::Permissions::from_mode(0o600))
        .unwrap();
    symlink(world.path("app/state"), world.path("way")).unwrap();
    for state in ["app/state", "way"] {
        let environment =
            SettingsEnvironment { xdg_state_home: Some(world.path(state)), ..world.environment() };
        let locations = SettingsLocations::new(environment, &world.path("app"));
        assert_eq!(find_trust(&locations).unwrap(), WorkspaceTrust::Untrusted, "{state}");
        let error = TrustStore::of(&locations).unwrap().add(&locations).unwrap_err();
        assert!(matches!(error, TrustError::InsideWorkspace { .. }), "{state}: {error}");
        assert_eq!(
            load(&locations, &LoadOptions::default()).trust,
            Some(WorkspaceTrust::Untrusted),
            "{state}"
        );
    }
}

#[test]
fn what_claude_code_trusts_is_trusted_and_its_file_is_not_touched() {
    let world = World::new();
    let locations = world.locations();
    let app = world.path("app").to_str().unwrap().to_owned();
    for (text, trusted) in [
        (format!("{{\"projects\": {{\"{app}\": {{\"hasTrustDialogAccepted\": true}}}}}}"), true),
        (format!("{{\"projects\": {{\"{app}\": {{\"hasTrustDialogAccepted\": false}}}}}}"), false),
        (format!("{{\"projects\": {{\"{app}\": {{\"hasTrustDialogAccepted\": \"true\"}}}}}}"), false),
        (
            format!(
                "{{\"projects\": {{\"{app}\": {{\"hasTrustDialogAccepted\": true, \"hasTrustDialogAccepted\": false}}}}}}"
            ),
            false,
        ),
        (format!("{{\"projects\": {{\"{app}-evil\": {{\"hasTrustDialogAccepted\": true}}}}}}"), false),
        (format!("{{\"projects\": {{\"{app}\": {{\"hasTrustDialogAccepted\": true}}}}"), false),
        ("{\"projects\": []}".to_owned(), false),
    ] {
        world.write("home/.claude.json".as_ref(), &text);
        let expected =
            if trusted { WorkspaceTrust::Trusted(TrustedBy::ClaudeCode) } else { WorkspaceTrust::Untrusted };
        assert_eq!(find_trust(&locations).unwrap(), expected, "{text}");
        assert_eq!(fs::read_to_string(world.path("home/.claude.json")).unwrap(), text);
    }
    let inside =
        SettingsEnvironment { claude_config_dir: Some(world.path("app/.claude")), ..world.environment() };
    let accepted = format!("{{\"projects\": {{\"{app}\": {{\"hasTrustDialogAccepted\": true}}}}}}");
    world.write("app/.claude/.claude.json".as_ref(), &accepted);
    world.write("home/.claude.json".as_ref(), "{}");
    assert_eq!(
        find_trust(&SettingsLocations::new(inside, &world.path("app"))).unwrap(),
        WorkspaceTrust::Untrusted
    );
}

#[test]
fn eight_writers_at_once_lose_nothing() {
    let world = World::new();
    let store = TrustStore::of(&world.locations()).unwrap();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (world, store) = (&world, &store);
            scope.spawn(move || {
                for round in 0..4 {
                    let directory = format!("work/{number}-{round}");
                    fs::create_dir_all(world.path(&directory)).unwrap();
                    assert!(store.add(&world.locations_in(&directory)).unwrap());
                }
            });
        }
    });
    assert_eq!(store.list().unwrap().len(), 32);
    let left: Vec<_> = fs::read_dir(store.path().parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "only the store is left behind");
}

#[test]
fn without_a_home_there_is_no_store_and_no_trust() {
    let world = World::with(&[("project", RULES)]);
    let environment = SettingsEnvironment { home: None, ..world.environment() };
    let locations = SettingsLocations::new(environment, &world.path("app"));
    assert!(matches!(TrustStore::of(&locations), Err(TrustError::NoPlace)));
    assert_eq!(load(&locations, &LoadOptions::default()).trust, Some(WorkspaceTrust::Untrusted));
}
