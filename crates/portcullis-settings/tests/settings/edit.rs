//! C14: rules added and removed in place.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use pretty_assertions::assert_eq;

use portcullis_core::Source;
use portcullis_core::rule::Behavior;
use portcullis_settings::{
    EditError, EditReport, LineSide, RuleDestination, SettingsOwner, add_rule, remove_rule,
};

use crate::world::{World, rules};

const USER: RuleDestination = RuleDestination { source: Source::User, owner: SettingsOwner::Portcullis };
const LOCAL: RuleDestination = RuleDestination { source: Source::Local, owner: SettingsOwner::Portcullis };

fn add(world: &World, behavior: Behavior, text: &str) -> Result<EditReport, EditError> {
    add_rule(&world.locations(), USER, behavior, text)
}

fn remove(world: &World, behavior: Behavior, text: &str) -> Result<EditReport, EditError> {
    remove_rule(&world.locations(), USER, behavior, text)
}

// C14
#[test]
fn a_missing_file_is_made_with_its_directories_and_reads_well() {
    for (destination, place) in [
        (USER, "user"),
        (RuleDestination { source: Source::User, owner: SettingsOwner::ClaudeCode }, "user-claude"),
        (LOCAL, "local"),
        (RuleDestination { source: Source::Local, owner: SettingsOwner::ClaudeCode }, "local-claude"),
        (RuleDestination { source: Source::Project, owner: SettingsOwner::Portcullis }, "project"),
        (RuleDestination { source: Source::Project, owner: SettingsOwner::ClaudeCode }, "project-claude"),
    ] {
        let world = World::new();
        let report = add_rule(&world.locations(), destination, Behavior::Deny, "Bash(rm *)").unwrap();
        assert_eq!((report.file.clone(), report.changed), (world.place(place), true));
        assert_eq!(
            world.read(place),
            "{\n  \"permissions\": {\n    \"deny\": [\n      \"Bash(rm *)\"\n    ]\n  }\n}\n"
        );
        assert_eq!(report.lines.len(), 7);
        assert_eq!(rules(&world.load()).len(), 1, "{place}");
    }
}

/// Text before, behavior and rule, text after.
const ADDITIONS: &[(&str, Behavior, &str, &str)] = &[
    (
        "{}",
        Behavior::Allow,
        "Bash(ls)",
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls)\"\n    ]\n  }\n}",
    ),
    (
        "",
        Behavior::Allow,
        "Bash(ls)",
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls)\"\n    ]\n  }\n}\n",
    ),
    (
        "{\n    // keep me\n    \"permissions\": {\n        \"allow\": [\n            \"Bash(a)\" // why\n        ]\n    }\n}\n",
        Behavior::Allow,
        "Bash(b)",
        "{\n    // keep me\n    \"permissions\": {\n        \"allow\": [\n            \"Bash(a)\", // why\n            \"Bash(b)\"\n        ]\n    }\n}\n",
    ),
    (
        "{\r\n\t\"permissions\": {\r\n\t\t\"deny\": [\r\n\t\t\t\"Bash(a)\"\r\n\t\t]\r\n\t},\r\n\t\"x\":   {}\r\n}\r\n",
        Behavior::Deny,
        "Bash(b)",
        "{\r\n\t\"permissions\": {\r\n\t\t\"deny\": [\r\n\t\t\t\"Bash(a)\",\r\n\t\t\t\"Bash(b)\"\r\n\t\t]\r\n\t},\r\n\t\"x\":   {}\r\n}\r\n",
    ),
    (
        "{\"z\":1,\"permissions\":{\"ask\":[\"Bash(a)\"]}}",
        Behavior::Ask,
        "Bash(b)",
        "{\"z\":1,\"permissions\":{\"ask\":[\"Bash(a)\", \"Bash(b)\"]}}",
    ),
    (
        "{\n  \"permissions\": {\n    \"allow\": [],\n    \"deny\": [\"Bash(x)\"]\n  }\n}\n",
        Behavior::Allow,
        "Bash(b)",
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(b)\"\n    ],\n    \"deny\": [\"Bash(x)\"]\n  }\n}\n",
    ),
    (
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(a)\",\n    ],\n  },\n}\n",
        Behavior::Allow,
        "Bash(b)",
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(a)\",\n      \"Bash(b)\",\n    ],\n  },\n}\n",
    ),
    (
        "\u{feff}{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(a)\"\n    ]\n  }\n}",
        Behavior::Allow,
        "Bash(echo \"é\\\\\")",
        "\u{feff}{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(a)\",\n      \"Bash(echo \\\"é\\\\\\\\\\\")\"\n    ]\n  }\n}",
    ),
];

// C14
#[test]
fn additions_leave_every_other_byte_alone() {
    for (before, behavior, rule, after) in ADDITIONS {
        let world = World::with(&[("user", before)]);
        let report = add(&world, *behavior, rule).unwrap();
        assert!(report.changed, "{before}");
        assert_eq!(world.read("user"), *after, "{before}");
        let found = rules(&world.load());
        assert!(found.contains(&format!("user {behavior} {rule}")), "{found:?}");

        let again = add(&world, *behavior, rule).unwrap();
        assert_eq!((again.changed, again.lines.len()), (false, 0), "{before}");
        assert_eq!(world.read("user"), *after, "{before}");
    }
}

// C14
#[test]
fn removing_what_was_added_gives_back_the_list_that_was_there() {
    for before in [
        "{\n    // keep me\n    \"permissions\": {\n        \"allow\": [\n            // first\n            \"Bash(a)\"\n        ]\n    }\n}\n",
        "{\r\n\t\"permissions\": {\r\n\t\t\"allow\": [\r\n\t\t\t\"Bash(a)\",\r\n\t\t\t\"Bash(b)\"\r\n\t\t]\r\n\t}\r\n}\r\n",
        "{\"permissions\":{\"allow\":[\"Bash(a)\"]}, \"x\" : 1 }",
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(a)\",\n    ],\n  },\n}\n",
    ] {
        let world = World::with(&[("user", before)]);
        add(&world, Behavior::Allow, "Bash(new)").unwrap();
        let report = remove(&world, Behavior::Allow, "Bash(new)").unwrap();
        assert!(
            report.lines.iter().any(|line| line.side == LineSide::Before && line.text.contains("Bash(new)"))
        );
        assert_eq!(world.read("user"), before);
    }
}

// C14
#[test]
fn removal_takes_every_copy_and_also_entries_that_are_not_rules() {
    let world = World::with(&[(
        "user",
        "{\"permissions\": {\"allow\": [\"Bash(a)\", \"Bash(\", \"Bash(a)\", \"Bash(b)\"]}}",
    )]);
    remove(&world, Behavior::Allow, "Bash(a)").unwrap();
    remove(&world, Behavior::Allow, "Bash(").unwrap();
    assert_eq!(world.read("user"), "{\"permissions\": {\"allow\": [\"Bash(b)\"]}}");
    remove(&world, Behavior::Allow, "Bash(b)").unwrap();
    assert_eq!(rules(&world.load()), Vec::<String>::new());
}

// C14
#[test]
fn removing_a_rule_that_is_not_there_names_close_ones() {
    let world = World::with(&[(
        "user",
        "{\"permissions\": {\"allow\": [\"Bash(npm run *)\", \"Read(x)\"], \"deny\": [\"Bash(npm)\"]}}",
    )]);
    let error = remove(&world, Behavior::Allow, "Bash(npm run*)").unwrap_err();
    let file = world.place("user");
    assert_eq!(error.to_string(), format!("there is no allow rule `Bash(npm run*)` in `{}`", file.display()));
    assert_eq!(error.hint().as_deref(), Some("did you mean `Bash(npm run *)`?"));
    let empty = World::new();
    assert!(matches!(remove(&empty, Behavior::Deny, "Bash(x)"), Err(EditError::Missing { .. })));
    assert!(!empty.path("home/.config").exists(), "nothing is made by a removal");
}

// C14
#[test]
fn the_same_rule_in_another_spelling_is_not_added_again() {
    let before = "{\"permissions\": {\"deny\": [\"Task\"]}}";
    let world = World::with(&[("user", before)]);
    assert!(!add(&world, Behavior::Deny, "Agent").unwrap().changed);
    assert_eq!(world.read("user"), before);
    assert!(add(&world, Behavior::Ask, "Agent").unwrap().changed);
}

// C14
#[test]
fn what_cannot_be_edited_without_guessing_is_left_as_it_is() {
    for (text, message) in [
        ("{\"permissions\": {\"allow\": [\"Bash(a)\" \"Bash(b)\"]}}", "expected `,` or `]`, found `\"`"),
        ("[]", "this must be an object, not a list"),
        ("{\"permissions\": []}", "this must be an object, not a list"),
        ("{\"permissions\": {\"allow\": \"Bash(a)\"}}", "`permissions.allow` must be a list, not a string"),
        ("{\"permissions\": {}, \"permissions\": {}}", "`permissions` is set more than once"),
        ("{\"permissions\": {\"allow\": [], \"allow\": []}}", "`allow` is set more than once"),
    ] {
        let world = World::with(&[("user", text)]);
        for error in [add(&world, Behavior::Allow, "Bash(x)"), remove(&world, Behavior::Allow, "Bash(x)")] {
            let error = error.unwrap_err().to_string();
            assert!(error.starts_with(&format!("error: {message}\n  --> ")), "{error}");
            assert!(error.contains("settings.json:1:"), "{error}");
        }
        assert_eq!(world.read("user"), text);
    }
}

// C14
#[test]
fn a_rule_that_does_not_compile_is_never_written() {
    let world = World::new();
    let error = add(&world, Behavior::Allow, "Bash(ls").unwrap_err();
    assert!(matches!(error, EditError::Rule { .. }), "{error}");
    assert!(!world.place("user").exists());
}

// C14
#[test]
fn only_user_project_and_local_settings_are_edited() {
    let world = World::new();
    for source in Source::ALL {
        let destination = RuleDestination { source, owner: SettingsOwner::Portcullis };
        let result = add_rule(&world.locations(), destination, Behavior::Deny, "Bash(x)");
        assert_eq!(result.is_ok(), source.is_editable(), "{source}");
    }
}

// C14
#[test]
fn permissions_and_links_are_kept() {
    let world = World::new();
    world.write("dotfiles/settings.json".as_ref(), "{}\n");
    fs::set_permissions(world.path("dotfiles/settings.json"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir_all(world.place("user").parent().unwrap()).unwrap();
    symlink(world.path("dotfiles/settings.json"), world.place("user")).unwrap();

    add(&world, Behavior::Deny, "Bash(x)").unwrap();
    assert!(fs::symlink_metadata(world.place("user")).unwrap().is_symlink());
    let target = world.path("dotfiles/settings.json");
    assert!(fs::read_to_string(&target).unwrap().contains("Bash(x)"));
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(world.path("dotfiles")).unwrap().count(), 1, "no temporary file is left");
}

// C12, C14: a repository must not turn a grant for itself into one for the whole user.
#[test]
fn a_link_in_the_repository_that_leads_out_of_it_is_not_followed() {
    for how in ["file", "directory", "dangling"] {
        let world = World::with(&[("user", "{}")]);
        fs::create_dir_all(world.path("outside")).unwrap();
        match how {
            "file" => {
                fs::create_dir_all(world.path("app/.portcullis")).unwrap();
                symlink(world.place("user"), world.place("local")).unwrap();
            }
            "directory" => symlink(world.path("outside"), world.path("app/.portcullis")).unwrap(),
            _ => symlink(world.path("outside/new"), world.path("app/.portcullis")).unwrap(),
        }
        let error = add_rule(&world.locations(), LOCAL, Behavior::Allow, "Bash(x)").unwrap_err();
        assert!(matches!(error, EditError::LeavesRepository { .. } | EditError::Io { .. }), "{how}: {error}");
        assert_eq!(world.read("user"), "{}", "{how}");
        assert_eq!(fs::read_dir(world.path("outside")).unwrap().count(), 0, "{how}");
    }
}

// C14
#[test]
fn eight_editors_at_once_lose_nothing() {
    let world = World::with(&[(
        "local",
        "{\n  // shared\n  \"permissions\": {\n    \"deny\": [\n      \"Bash(first)\"\n    ]\n  }\n}\n",
    )]);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let world = &world;
            scope.spawn(move || {
                for round in 0..5 {
                    let rule = format!("Bash(tool-{number}-{round} *)");
                    assert!(add_rule(&world.locations(), LOCAL, Behavior::Deny, &rule).unwrap().changed);
                }
            });
        }
    });
    assert_eq!(rules(&world.load()).len(), 41);
    assert!(world.read("local").starts_with("{\n  // shared\n"));
    assert_eq!(fs::read_dir(world.path("app/.portcullis")).unwrap().count(), 1);
}

// C14
#[test]
fn a_place_that_cannot_be_written_gives_a_clear_error() {
    let world = World::new();
    world.write("home/.config".as_ref(), "a file where a directory should be");
    let error = add(&world, Behavior::Deny, "Bash(x)").unwrap_err().to_string();
    let file = world.place("user");
    assert!(error.starts_with(&format!("cannot write `{}`: ", file.display())), "{error}");

    // A superuser may write anywhere, so this half only shows itself to other users.
    let world = World::with(&[("user", "{}")]);
    let directory = world.path("home/.config/portcullis");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o500)).unwrap();
    let is_superuser = fs::write(directory.join("probe"), "").is_ok();
    let result = add(&world, Behavior::Deny, "Bash(x)");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
    match result {
        Ok(report) => assert!(is_superuser && report.changed),
        Err(error) => {
            assert!(!is_superuser);
            assert!(error.to_string().ends_with("permission denied"), "{error}");
            assert_eq!(world.read("user"), "{}");
        }
    }
}

// C14
#[test]
fn every_valid_sample_can_be_edited_and_keeps_its_lines() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/valid");
    let mut edited = 0;
    for sample in fs::read_dir(samples).unwrap().map(|entry| entry.unwrap().path()) {
        let before = fs::read_to_string(&sample).unwrap();
        let world = World::with(&[("user", &before)]);
        let rules_before = rules(&world.load()).len();
        add(&world, Behavior::Deny, "Bash(never-seen *)").unwrap();
        assert_eq!(rules(&world.load()).len(), rules_before + 1, "{}", sample.display());
        if before.lines().count() > 1 {
            let after = world.read("user");
            let mut lines = after.lines().map(|line| line.trim_end_matches(','));
            for line in before.lines().map(|line| line.trim_end_matches(',')) {
                let kept = lines.any(|other| other == line || other.contains("never-seen"));
                assert!(kept, "{}: {line}", sample.display());
            }
        }
        remove(&world, Behavior::Deny, "Bash(never-seen *)").unwrap();
        assert_eq!(rules(&world.load()).len(), rules_before, "{}", sample.display());
        edited += 1;
    }
    assert!(edited >= 5);
}
