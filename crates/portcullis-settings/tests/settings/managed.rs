//! C10, C11: managed settings, alone in force or broken.

use std::fs;

use pretty_assertions::assert_eq;

use portcullis_core::rule::Behavior;
use portcullis_core::{DisabledModes, Sandbox};
use portcullis_settings::{LoadOptions, ProblemSeverity, TrustQuestion, load};

use crate::world::{World, ignored, messages, one, rules};

const OTHERS: [(&str, &str); 3] = [
    ("user", "{\"permissions\": {\"allow\": [\"Bash(user)\"], \"deny\": [\"Bash(no)\"]}}"),
    ("project", "{\"permissions\": {\"ask\": [\"Bash(project)\"]}}"),
    ("local-claude", "{\"permissions\": {\"allow\": [\"Bash(local)\"]}}"),
];

// C10
#[test]
fn managed_rules_only_ignores_the_rules_of_every_other_source() {
    for value in ["true", "\"yes\"", "1", "null", "[]"] {
        for place in ["policy", "policy-claude"] {
            let text = format!(
                "{{\"allowManagedPermissionRulesOnly\": {value}, \"permissions\": {{\"allow\": [\"Bash(ok)\"]}}}}"
            );
            let mut settings = OTHERS.to_vec();
            settings.push((place, &text));
            let options = LoadOptions {
                arguments: one(Behavior::Allow, "Bash(argument)"),
                session: one(Behavior::Deny, "Bash(session)"),
                trust: TrustQuestion::Trusted,
                ..LoadOptions::default()
            };
            let loaded = load(&World::with(&settings).locations(), &options);
            assert_eq!(rules(&loaded), ["policy allow Bash(ok)"], "{place} {value}");
            assert_eq!(
                ignored(&loaded),
                [
                    "allow rule `Bash(argument)`: ManagedRulesOnly",
                    "allow rule `Bash(local)`: ManagedRulesOnly",
                    "ask rule `Bash(project)`: ManagedRulesOnly",
                    "allow rule `Bash(user)`: ManagedRulesOnly",
                    "deny rule `Bash(no)`: ManagedRulesOnly",
                    "deny rule `Bash(session)`: ManagedRulesOnly",
                ],
                "{place} {value}"
            );
        }
    }
}

// C10
#[test]
fn managed_rules_only_counts_from_managed_settings_alone() {
    for place in ["user", "user-claude", "local", "project-claude"] {
        let world = World::with(&[
            (place, "{\"allowManagedPermissionRulesOnly\": true}"),
            ("policy", "{\"allowManagedPermissionRulesOnly\": false}"),
            (
                "user",
                "{\"permissions\": {\"deny\": [\"Bash(x)\"]}, \"allowManagedPermissionRulesOnly\": true}",
            ),
        ]);
        let loaded = world.load();
        assert_eq!(rules(&loaded), ["user deny Bash(x)"], "{place}");
        assert!(
            ignored(&loaded).contains(&"`allowManagedPermissionRulesOnly`: OnlyManaged".to_owned()),
            "{place}"
        );
    }
}

// C9
#[test]
fn drop_ins_follow_their_file_in_alphabetical_order() {
    let world = World::with(&[(
        "policy",
        "{\"permissions\": {\"deny\": [\"Bash(base)\"], \"defaultMode\": \"plan\"}}",
    )]);
    for (name, text) in [
        ("20-late.json", "{\"permissions\": {\"deny\": [\"Bash(late)\"], \"defaultMode\": \"dontAsk\"}}"),
        (
            "10-early.json",
            "{\"permissions\": {\"deny\": [\"Bash(early)\"], \"defaultMode\": \"acceptEdits\"}}",
        ),
        (".hidden.json", "{"),
        ("README", "not settings"),
    ] {
        world.write(format!("managed/portcullis/managed-settings.d/{name}").as_ref(), text);
    }
    let loaded = world.load();
    assert_eq!(messages(&loaded), Vec::<String>::new());
    assert_eq!(
        rules(&loaded),
        ["policy deny Bash(base)", "policy deny Bash(early)", "policy deny Bash(late)"]
    );
    assert_eq!(loaded.policy.default_mode, Some(portcullis_core::Mode::DontAsk));
}

/// Ways in which managed settings can be broken.
fn break_managed(world: &World, how: &str) {
    let file = world.place("policy");
    match how {
        "syntax" => {
            world.write(&file, "{\"permissions\": {\"allow\": [\"Bash(m)\"], \"deny\": [\"Bash(d)\"]},");
        }
        "empty" => world.write(&file, ""),
        "list" => world.write(&file, "[]"),
        "encoding" => {
            world.write(&file, "");
            fs::write(&file, b"{\"a\": \"\xff\"}").unwrap();
        }
        "directory" => fs::create_dir_all(&file).unwrap(),
        "size" => world.write(&file, &format!("{{\"a\": \"{}\"}}", "x".repeat(4 * 1024 * 1024))),
        "depth" => world.write(&file, &"[".repeat(100)),
        "link" => {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink("/nonexistent/settings.json", &file).unwrap();
        }
        "drop-in" => world.write("managed/claude-code/managed-settings.d/a.json".as_ref(), "{nope"),
        "drop-in-place" => world.write("managed/portcullis/managed-settings.d".as_ref(), ""),
        "permissions" => world.write(&file, "{\"permissions\": []}"),
        "deny" => world.write(&file, "{\"permissions\": {\"deny\": {\"Bash\": true}}}"),
        other => panic!("{other}"),
    }
}

// C11
#[test]
fn broken_managed_settings_let_nothing_else_widen() {
    for how in [
        "syntax",
        "empty",
        "list",
        "encoding",
        "directory",
        "size",
        "depth",
        "link",
        "drop-in",
        "drop-in-place",
        "permissions",
        "deny",
    ] {
        let world = World::with(&[
            (
                "user",
                "{\"permissions\": {\"allow\": [\"Bash(user)\"], \"deny\": [\"Bash(no)\"], \"additionalDirectories\": [\"/srv\"], \"defaultMode\": \"acceptEdits\", \"bypassProtectedPaths\": true}, \"sandbox\": {\"enabled\": true}}",
            ),
            ("project", "{\"permissions\": {\"ask\": [\"Bash(project)\"], \"allow\": [\"Bash(shared)\"]}}"),
        ]);
        break_managed(&world, how);
        let options = LoadOptions {
            session: one(Behavior::Allow, "Bash(session)"),
            trust: TrustQuestion::Trusted,
            ..LoadOptions::default()
        };
        let loaded = load(&world.locations(), &options);
        assert!(loaded.damaged, "{how}");
        let severity = if matches!(how, "permissions" | "deny") {
            ProblemSeverity::Warning
        } else {
            ProblemSeverity::Error
        };
        assert_eq!(loaded.worst(), Some(severity), "{how}");
        let kept: Vec<String> =
            rules(&loaded).into_iter().filter(|rule| !rule.starts_with("policy")).collect();
        assert_eq!(kept, ["project ask Bash(project)", "user deny Bash(no)"], "{how}");
        let policy = &loaded.policy;
        assert_eq!(policy.disabled_modes, DisabledModes { bypass: true, auto: true }, "{how}");
        assert_eq!(policy.default_mode, None, "{how}");
        assert_eq!(policy.additional_directories, Vec::<String>::new(), "{how}");
        assert_eq!(policy.sandbox, Sandbox { enabled: false, auto_allow: false }, "{how}");
        assert!(!policy.bypass_protected_paths, "{how}");
    }
}

// C11
#[test]
fn what_broken_managed_settings_deny_before_the_break_is_in_force() {
    let world = World::new();
    break_managed(&world, "syntax");
    assert_eq!(rules(&world.load()), ["policy deny Bash(d)"]);
}

// C11
#[test]
fn sound_managed_settings_with_one_bad_rule_are_not_broken() {
    let world = World::with(&[
        ("policy", "{\"permissions\": {\"deny\": [\"Bash(\", \"Bash(d)\"]}}"),
        ("user", "{\"permissions\": {\"allow\": [\"Bash(user)\"]}}"),
    ]);
    let loaded = world.load();
    assert!(!loaded.damaged);
    assert_eq!(rules(&loaded), ["policy deny Bash(d)", "user allow Bash(user)"]);
    assert_eq!(loaded.problems.len(), 1);
}

#[test]
fn managed_settings_have_the_last_word_on_the_memory_of_a_yes() {
    const ON: &str = "{\"memory\": {\"enabled\": true}}";
    const OFF: &str = "{\"memory\": {\"enabled\": false}}";
    let is_on = |settings: &[(&str, &str)]| World::with(settings).load().memory.is_enabled;
    assert!(is_on(&[]), "it is on by default");
    assert!(is_on(&[("policy", ON), ("user", OFF)]), "managed settings win either way");
    for others in ["user", "user-claude", "project", "project-claude", "local", "local-claude"] {
        for place in ["policy", "policy-claude"] {
            assert!(!is_on(&[(place, OFF), (others, ON)]), "{place} {others}");
        }
    }
    for only in ["true", "\"yes\""] {
        let managed = format!("{{\"allowManagedPermissionRulesOnly\": {only}}}");
        assert!(!is_on(&[("policy", &managed), ("user", ON)]), "{only}");
        assert!(!is_on(&[("policy-claude", &managed), ("user", ON)]), "{only}");
    }
    assert!(!is_on(&[("policy", "{\"memory\": {\"enabled\": fal"), ("user", ON)]), "a broken file");
    assert!(!is_on(&[("user", OFF), ("project", ON), ("local", ON)]), "a project switches nothing on");
}
