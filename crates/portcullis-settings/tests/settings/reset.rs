//! C14: the whole `autoMode` object taken out of the user's files.

use std::fs;
use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;

use portcullis_settings::{
    AutoModeSettings, EditError, LineSide, SettingsEnvironment, SettingsLocations, reset_auto_mode,
};

use crate::world::World;

/// Text before and after.
const REMOVALS: &[(&str, &str)] = &[
    (
        "{\n  // mine\n  \"permissions\": {}, // kept\n  \"autoMode\": {\n    // gone with it\n    \"allow\": [\"x\"]\n  },\n  /* last */\n  \"env\": {}\n}\n",
        "{\n  // mine\n  \"permissions\": {}, // kept\n  /* last */\n  \"env\": {}\n}\n",
    ),
    ("{\n  // stays\n  \"autoMode\": {}, // goes\n  \"a\": 1\n}\n", "{\n  // stays\n  \"a\": 1\n}\n"),
    ("{ \"autoMode\": {}, \"a\": 1 }", "{ \"a\": 1 }"),
    ("{\n  \"a\": 1,\n  \"autoMode\": {}\n}\n", "{\n  \"a\": 1\n}\n"),
    ("{\n\t\"autoMode\": {},\n\t\"a\":   1,\n}", "{\n\t\"a\":   1,\n}"),
    ("{\r\n  \"autoMode\": {\r\n  },\r\n  \"a\": 1\r\n}\r\n", "{\r\n  \"a\": 1\r\n}\r\n"),
    ("{\"a\":1,\"autoMode\":{\"allow\":[]},\"b\":[ 2 ]}", "{\"a\":1,\"b\":[ 2 ]}"),
    ("\u{feff}{\"autoMode\": 7}", "\u{feff}{}"),
    ("{\"autoMode\": {}, \"a\": {\"autoMode\": 1}, \"auto\\u004dode\": []}", "{\"a\": {\"autoMode\": 1}}"),
];

#[test]
fn the_section_goes_and_every_other_byte_stays() {
    for (before, after) in REMOVALS {
        for place in ["user", "user-claude"] {
            let world = World::with(&[(place, before)]);
            let reports = reset_auto_mode(&world.locations()).unwrap();
            assert_eq!(reports.len(), 1, "{before}");
            assert!(reports[0].changed, "{before}");
            assert_eq!(reports[0].file, world.place(place), "{before}");
            assert!(reports[0].lines.iter().any(|line| line.side == LineSide::Before), "{before}");
            assert_eq!(world.read(place), *after, "{before}");
            assert_eq!(world.load().auto_mode, AutoModeSettings::default(), "{before}");
        }
    }
}

#[test]
fn both_files_of_the_user_are_reset_and_no_other() {
    let text = "{\"autoMode\": {\"allow\": [\"x\"]}}";
    let places = ["policy", "local", "project", "project-claude", "user", "user-claude"];
    let world = World::with(&places.map(|place| (place, text)));
    let reports = reset_auto_mode(&world.locations()).unwrap();
    let files: Vec<_> = reports.iter().map(|report| report.file.clone()).collect();
    assert_eq!(files, [world.place("user-claude"), world.place("user")]);
    for place in places {
        assert_eq!(world.read(place), if place.starts_with("user") { "{}" } else { text }, "{place}");
    }
    let again = reset_auto_mode(&world.locations()).unwrap();
    assert!(again.iter().all(|report| !report.changed && report.lines.is_empty()));
}

#[test]
fn where_there_is_nothing_to_reset_nothing_is_made() {
    let world = World::new();
    assert_eq!(reset_auto_mode(&world.locations()).unwrap(), []);
    assert!(!world.path("home/.config").exists() && !world.path("home/.claude").exists());
    for text in ["", "{}\n", "{\"permissions\": {\"autoMode\": {}}}"] {
        let world = World::with(&[("user", text)]);
        assert!(!reset_auto_mode(&world.locations()).unwrap()[0].changed, "{text}");
        assert_eq!(world.read("user"), text);
    }
    let homeless = SettingsLocations::new(SettingsEnvironment::default(), &world.path("app"));
    assert_eq!(reset_auto_mode(&homeless).unwrap(), []);
}

#[test]
fn a_broken_file_leaves_both_as_they_are() {
    let text = "{\"autoMode\": {}}";
    for broken in ["{\"autoMode\": {},", "[]", "{\"autoMode\": {}} x"] {
        for (sound, other) in [("user-claude", "user"), ("user", "user-claude")] {
            let world = World::with(&[(sound, text), (other, broken)]);
            let error = reset_auto_mode(&world.locations()).unwrap_err();
            assert!(matches!(error, EditError::Broken { .. }), "{error}");
            assert_eq!((world.read(sound).as_str(), world.read(other).as_str()), (text, broken));
        }
    }
}

#[test]
fn links_are_followed_and_one_file_under_two_names_is_reset_once() {
    let world = World::new();
    world.write("dotfiles/settings.json".as_ref(), "{\"autoMode\": {}, \"a\": 1}");
    for place in ["user", "user-claude"] {
        fs::create_dir_all(world.place(place).parent().unwrap()).unwrap();
        symlink(world.path("dotfiles/settings.json"), world.place(place)).unwrap();
    }
    assert_eq!(reset_auto_mode(&world.locations()).unwrap().len(), 1);
    assert_eq!(fs::read_to_string(world.path("dotfiles/settings.json")).unwrap(), "{\"a\": 1}");
    assert!(fs::symlink_metadata(world.place("user")).unwrap().is_symlink());
}
