//! C9, C15: eight sources, both files of each, and where every rule stands.

use pretty_assertions::assert_eq;

use portcullis_core::Source;
use portcullis_core::rule::Behavior;
use portcullis_settings::{
    DocumentState, LoadOptions, SettingsEnvironment, SettingsLocations, SettingsOwner, TrustQuestion, load,
};

use crate::world::{PLACES, World, messages, one, rules};

/// Every place holds one deny rule named after it.
fn full_world() -> World {
    let world = World::new();
    for (place, path) in PLACES {
        let text = format!("{{\"permissions\": {{\"deny\": [\"Bash({place})\"]}}}}");
        world.write(path.as_ref(), &text);
    }
    world
}

// C9, C15
#[test]
fn all_eight_sources_are_read_strongest_first_and_both_files_of_each() {
    let world = full_world();
    let loaded = load(
        &world.locations(),
        &LoadOptions {
            settings: Some("{\"permissions\": {\"deny\": [\"Bash(flag)\"]}}".to_owned()),
            arguments: one(Behavior::Deny, "Bash(argument)"),
            session: one(Behavior::Ask, "Bash(session)"),
            lost: None,
            command: one(Behavior::Allow, "Bash(command)"),
            trust: TrustQuestion::Look,
        },
    );
    assert_eq!(messages(&loaded), Vec::<String>::new());
    assert_eq!(
        rules(&loaded),
        [
            "policy deny Bash(policy-claude)",
            "policy deny Bash(policy)",
            "flag deny Bash(flag)",
            "argument deny Bash(argument)",
            "local deny Bash(local-claude)",
            "local deny Bash(local)",
            "project deny Bash(project-claude)",
            "project deny Bash(project)",
            "user deny Bash(user-claude)",
            "user deny Bash(user)",
            "session ask Bash(session)",
            "command allow Bash(command)",
        ]
    );
}

// C9
#[test]
fn every_rule_remembers_its_file_line_and_column() {
    let world = World::with(&[(
        "user",
        "{\n  \"permissions\": {\n    \"allow\": [\"Bash(ls)\",\n      \"Read(é)\", \"Bash(pwd)\"]\n  }\n}\n",
    )]);
    let loaded = world.load();
    let places: Vec<_> = loaded
        .policy
        .rules
        .rules()
        .iter()
        .map(|rule| (rule.source_text.as_str(), rule.origin.line.unwrap(), rule.origin.column.unwrap()))
        .collect();
    assert_eq!(places, [("Bash(ls)", 3, 15), ("Read(é)", 4, 7), ("Bash(pwd)", 4, 18)]);
    let file = world.place("user");
    for rule in loaded.policy.rules.rules() {
        assert_eq!(rule.origin.file.as_deref(), file.to_str());
    }
}

// C5, C9
#[test]
fn the_anchor_of_a_single_slash_is_the_source_s_directory() {
    let world = full_world();
    world.write("flags/extra.json".as_ref(), "{\"permissions\": {\"deny\": [\"Bash(flag)\"]}}");
    let options = LoadOptions {
        settings: Some("../flags/extra.json".to_owned()),
        session: one(Behavior::Deny, "Bash(session)"),
        ..LoadOptions::default()
    };
    let loaded = load(&world.locations(), &options);
    let inside = |relative: &str| Some(world.path(relative).to_str().unwrap().to_owned());
    let flag = Some(format!("{}/../flags", world.path("app").display()));
    for rule in loaded.policy.rules.rules() {
        let expected = match rule.source_text.as_str() {
            "Bash(policy)" | "Bash(policy-claude)" => Some("/".to_owned()),
            "Bash(user)" => inside("home/.config/portcullis"),
            "Bash(user-claude)" => inside("home/.claude"),
            "Bash(flag)" => flag.clone(),
            _ => None,
        };
        assert_eq!(rule.origin.base.as_deref().map(str::to_owned), expected, "{}", rule.source_text);
    }
    assert_eq!(loaded.policy.rules.rules().len(), 10);
}

// C9
#[test]
fn project_files_are_not_looked_for_in_parents_but_local_ones_are_at_the_root() {
    let world = full_world();
    world.write("app/deep/inside/file".as_ref(), "");
    let loaded = load(&world.locations_in("app/deep/inside"), &LoadOptions::default());
    let local_and_project: Vec<String> = rules(&loaded)
        .into_iter()
        .filter(|rule| rule.starts_with("local") || rule.starts_with("project"))
        .collect();
    assert_eq!(local_and_project, ["local deny Bash(local-claude)", "local deny Bash(local)"]);
}

// C9: the directory a session began in stays the project when the agent moves on.
#[test]
fn the_caller_can_name_the_project_of_a_session_that_moved_elsewhere() {
    let world = full_world();
    let environment = SettingsEnvironment { project: Some(world.path("app")), ..world.environment() };
    let loaded = load(&SettingsLocations::new(environment, &world.path("home")), &LoadOptions::default());
    assert!(rules(&loaded).contains(&"project deny Bash(project)".to_owned()));
}

// C15
#[test]
fn environment_values_move_the_user_s_files() {
    let world = World::new();
    world.write("xdg/portcullis/settings.json".as_ref(), "{\"permissions\": {\"deny\": [\"Bash(xdg)\"]}}");
    world.write("claude/settings.json".as_ref(), "{\"permissions\": {\"deny\": [\"Bash(moved)\"]}}");
    let environment = SettingsEnvironment {
        xdg_config_home: Some(world.path("xdg")),
        claude_config_dir: Some(world.path("claude")),
        ..world.environment()
    };
    let loaded = load(&SettingsLocations::new(environment, &world.path("app")), &LoadOptions::default());
    assert_eq!(rules(&loaded), ["user deny Bash(moved)", "user deny Bash(xdg)"]);

    let relative = SettingsEnvironment { xdg_config_home: Some("xdg".into()), ..world.environment() };
    let locations = SettingsLocations::new(relative, &world.path(""));
    assert_eq!(locations.config, Some(world.path("home/.config/portcullis")));
}

// C15
#[test]
fn in_the_home_directory_the_user_s_file_is_not_read_twice() {
    let world = World::with(&[("user-claude", "{\"permissions\": {\"allow\": [\"Bash(ls)\"]}}")]);
    let loaded = load(&world.locations_in("home"), &LoadOptions::default());
    assert_eq!(rules(&loaded), ["user allow Bash(ls)"]);
    assert_eq!(loaded.ignored, []);
}

#[test]
fn every_place_that_was_looked_at_is_listed_with_what_was_found() {
    let world = World::with(&[
        ("user", "{\"permissions\": {\"deny\": [\"Bash(a)\", \"Bash(b)\"]}}"),
        ("project-claude", "{"),
    ]);
    let loaded = world.load();
    let listed: Vec<_> = loaded
        .documents
        .iter()
        .map(|document| (document.source, document.owner, document.state, document.rules))
        .collect();
    let missing = DocumentState::Missing;
    assert_eq!(
        listed,
        [
            (Source::Policy, SettingsOwner::ClaudeCode, missing, 0),
            (Source::Policy, SettingsOwner::Portcullis, missing, 0),
            (Source::Local, SettingsOwner::ClaudeCode, missing, 0),
            (Source::Local, SettingsOwner::Portcullis, missing, 0),
            (Source::Project, SettingsOwner::ClaudeCode, DocumentState::Broken, 0),
            (Source::Project, SettingsOwner::Portcullis, missing, 0),
            (Source::User, SettingsOwner::ClaudeCode, missing, 0),
            (Source::User, SettingsOwner::Portcullis, DocumentState::Read, 2),
        ]
    );
}

// C9
#[test]
fn a_settings_flag_names_a_file_or_carries_json() {
    let world = World::new();
    world.write("app/extra.json".as_ref(), "{\"permissions\": {\"deny\": [\"Bash(file)\"]}}");
    let absolute = world.path("app/extra.json").to_str().unwrap().to_owned();
    for (value, expected, problems) in [
        ("extra.json", vec!["flag deny Bash(file)"], vec![]),
        (absolute.as_str(), vec!["flag deny Bash(file)"], vec![]),
        ("  {\"permissions\": {\"ask\": [\"Bash(text)\"]}}", vec!["flag ask Bash(text)"], vec![]),
        ("missing.json", vec![], vec!["error: there is no such settings file"]),
        ("{nope", vec![], vec!["error: expected a key in double quotes, found `n`"]),
    ] {
        let options = LoadOptions { settings: Some(value.to_owned()), ..LoadOptions::default() };
        let loaded = load(&world.locations(), &options);
        assert_eq!(rules(&loaded), expected, "{value}");
        assert_eq!(messages(&loaded), problems, "{value}");
    }
}

// C11
#[test]
fn a_given_rule_that_does_not_compile_is_reported_and_the_others_hold() {
    let world = World::new();
    let options = LoadOptions {
        arguments: vec![
            (Behavior::Allow, "Bash(ls)".to_owned()),
            (Behavior::Allow, "Bash(ls".to_owned()),
            (Behavior::Deny, "Bash(rm *)".to_owned()),
        ],
        ..LoadOptions::default()
    };
    let loaded = load(&world.locations(), &options);
    assert_eq!(rules(&loaded), ["argument allow Bash(ls)", "argument deny Bash(rm *)"]);
    assert_eq!(loaded.problems.len(), 1);
    assert!(
        loaded.problems[0].to_string().contains("--> command-line argument:1:1"),
        "{}",
        loaded.problems[0]
    );
}
