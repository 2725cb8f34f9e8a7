//! B, C9, C11, C12: which value counts when several sources speak, and what a mistake does.

use pretty_assertions::assert_eq;

use portcullis_core::{DisabledModes, Mode, Planning, Sandbox};
use portcullis_settings::{LoadOptions, LoadedSettings, load};

use crate::world::{World, ignored, messages, rules};

/// Loads a table row: settings at places, in a workspace that is trusted or not.
fn loaded(settings: &[(&str, &str)], trusted: bool) -> LoadedSettings {
    let world = World::with(settings);
    if trusted { world.load_trusted() } else { world.load() }
}

// B, C9, C12
#[test]
fn the_default_mode_is_the_strongest_source_s_unless_the_repository_wants_a_risky_one() {
    let mode = |name: &str| format!("{{\"permissions\": {{\"defaultMode\": \"{name}\"}}}}");
    for (settings, expected) in [
        (vec![], None),
        (vec![("user", "plan")], Some(Mode::Plan)),
        (vec![("user", "manual")], Some(Mode::Default)),
        (vec![("user", "plan"), ("user-claude", "dontAsk")], Some(Mode::Plan)),
        (vec![("user", "plan"), ("project", "acceptEdits")], Some(Mode::AcceptEdits)),
        (vec![("project", "acceptEdits"), ("local", "dontAsk")], Some(Mode::DontAsk)),
        (vec![("local", "dontAsk"), ("policy", "plan")], Some(Mode::Plan)),
        (vec![("user", "auto")], Some(Mode::Auto)),
        (vec![("user", "bypassPermissions")], Some(Mode::BypassPermissions)),
        (vec![("policy-claude", "auto")], Some(Mode::Auto)),
        // The built-in default is used, not the user's.
        (vec![("user", "acceptEdits"), ("project", "auto")], None),
        (vec![("user", "acceptEdits"), ("local-claude", "bypassPermissions")], None),
        (vec![("project-claude", "auto"), ("project", "plan")], Some(Mode::Plan)),
        // A misspelt mode may have been meant stricter than the weaker source's.
        (vec![("user", "bypassPermissions"), ("project", "paln")], None),
    ] {
        let texts: Vec<(&str, String)> = settings.iter().map(|(place, name)| (*place, mode(name))).collect();
        let borrowed: Vec<(&str, &str)> = texts.iter().map(|(place, text)| (*place, text.as_str())).collect();
        for trusted in [true, false] {
            assert_eq!(loaded(&borrowed, trusted).policy.default_mode, expected, "{settings:?} {trusted}");
        }
    }
}

// B
#[test]
fn modes_are_taken_away_from_any_source_and_at_both_places() {
    for place in ["policy", "local", "project-claude", "user", "user-claude"] {
        for (text, bypass, auto) in [
            ("{\"permissions\": {\"disableBypassPermissionsMode\": \"disable\"}}", true, false),
            ("{\"permissions\": {\"disableAutoMode\": \"disable\"}}", false, true),
            ("{\"disableAutoMode\": \"disable\"}", false, true),
            // Mistakes are taken strictly, except a clear no.
            ("{\"disableAutoMode\": true}", false, true),
            ("{\"disableAutoMode\": \"yes\"}", false, true),
            ("{\"disableAutoMode\": false}", false, false),
            ("{\"disableAutoMode\": null}", false, false),
        ] {
            let policy = loaded(&[(place, text)], false).policy;
            assert_eq!(policy.disabled_modes, DisabledModes { bypass, auto }, "{place} {text}");
        }
    }
}

// B
#[test]
fn a_default_mode_that_is_taken_away_is_not_used_and_reported() {
    let result = loaded(
        &[
            ("user", "{\"permissions\": {\"defaultMode\": \"auto\"}}"),
            ("project", "{\"disableAutoMode\": \"disable\"}"),
        ],
        false,
    );
    assert_eq!(result.policy.default_mode, None);
    assert_eq!(ignored(&result), ["`permissions.defaultMode`: `auto`: DisabledMode"]);
}

/// The switches of a policy that the tables below look at.
#[derive(Debug, PartialEq, Eq)]
struct Switches {
    lifts: bool,
    blocks_reads: bool,
    planning: Planning,
    sandbox: (bool, bool),
    hooks: bool,
}

const NONE: Switches = Switches {
    lifts: false,
    blocks_reads: false,
    planning: Planning::Classifier,
    sandbox: (false, false),
    hooks: false,
};

fn switches(loaded: &LoadedSettings) -> Switches {
    let Sandbox { enabled, auto_allow } = loaded.policy.sandbox;
    Switches {
        lifts: loaded.policy.bypass_protected_paths,
        blocks_reads: loaded.policy.block_reads_outside,
        planning: loaded.policy.auto_during_plan,
        sandbox: (enabled, auto_allow),
        hooks: loaded.policy.has_permission_hooks,
    }
}

const LIFT: &str = "{\"permissions\": {\"bypassProtectedPaths\": true}}";
const KEEP: &str = "{\"permissions\": {\"bypassProtectedPaths\": false}}";
const BLOCK: &str = "{\"permissions\": {\"blockReadsOutsideWorkingDirectories\": true}}";
const OPEN: &str = "{\"permissions\": {\"blockReadsOutsideWorkingDirectories\": false}}";
const PERSON: &str = "{\"useAutoModeDuringPlan\": false}";
const CLASSIFIER: &str = "{\"useAutoModeDuringPlan\": true}";
const SANDBOX: &str = "{\"sandbox\": {\"enabled\": true, \"network\": {\"allowedDomains\": []}}}";
const NO_SANDBOX: &str = "{\"sandbox\": {\"enabled\": false}}";
const ASKING: &str = "{\"sandbox\": {\"autoAllowBashIfSandboxed\": false}}";
const HOOKS: &str =
    "{\"hooks\": {\"PermissionRequest\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"ask\"}]}]}}";

// A7, C9, C12
#[test]
fn switches_combine_by_precedence_or_by_strictness() {
    let person = || Switches { planning: Planning::Person, ..NONE };
    for (settings, expected) in [
        (vec![("user", LIFT)], Switches { lifts: true, ..NONE }),
        (vec![("user", LIFT), ("policy", KEEP)], NONE),
        (vec![("user-claude", LIFT), ("user", KEEP)], NONE),
        (vec![("project", LIFT), ("local-claude", LIFT)], NONE),
        (vec![("user", "{\"permissions\": {\"bypassProtectedPaths\": \"yes\"}}")], NONE),
        (vec![("project", BLOCK), ("policy", OPEN)], Switches { blocks_reads: true, ..NONE }),
        (
            vec![("user", "{\"permissions\": {\"blockReadsOutsideWorkingDirectories\": 1}}")],
            Switches { blocks_reads: true, ..NONE },
        ),
        (vec![("user", PERSON), ("policy", CLASSIFIER)], person()),
        (vec![("local", PERSON)], person()),
        (vec![("project", PERSON)], NONE),
        (vec![("user", "{\"useAutoModeDuringPlan\": \"no\"}")], person()),
        (vec![("user", SANDBOX)], Switches { sandbox: (true, true), ..NONE }),
        (vec![("user", SANDBOX), ("user-claude", ASKING)], Switches { sandbox: (true, false), ..NONE }),
        (vec![("user", "{\"sandbox\": {\"enabled\": \"true\"}}")], NONE),
        // The repository may take the sandbox away; that it is there it may only say when trusted.
        (vec![("user", SANDBOX), ("project", NO_SANDBOX)], NONE),
        (vec![("user", SANDBOX), ("project", ASKING)], Switches { sandbox: (true, false), ..NONE }),
        (vec![("project", SANDBOX)], NONE),
        (vec![("user", HOOKS)], Switches { hooks: true, ..NONE }),
        (vec![("project", HOOKS)], NONE),
        (vec![("user-claude", HOOKS)], NONE),
        (vec![("user", HOOKS), ("project", "{\"disableAllHooks\": true}")], NONE),
        (
            vec![("policy", HOOKS), ("project", "{\"disableAllHooks\": true}")],
            Switches { hooks: true, ..NONE },
        ),
        (vec![("user", HOOKS), ("policy", "{\"allowManagedHooksOnly\": true}")], NONE),
        (vec![("user", "{\"hooks\": {\"PermissionRequest\": []}}")], NONE),
    ] {
        assert_eq!(switches(&loaded(&settings, false)), expected, "{settings:?}");
    }
    let trusted = loaded(&[("project", SANDBOX)], true);
    assert_eq!(switches(&trusted), Switches { sandbox: (true, true), ..NONE });
}

// C9, C12
#[test]
fn additional_directories_are_made_absolute_and_joined() {
    let world = World::with(&[
        (
            "user",
            "{\"permissions\": {\"additionalDirectories\": [\"~/notes\", \"/srv/data/\", \"../lib\", \"~\"]}}",
        ),
        ("policy", "{\"permissions\": {\"additionalDirectories\": [\"/srv/data\"]}}"),
        ("project", "{\"permissions\": {\"additionalDirectories\": [\"../docs\"]}}"),
    ]);
    let path = |relative: &str| world.path(relative).to_str().unwrap().to_owned();
    let (docs, notes, lib, home) = (path("docs"), path("home/notes"), path("lib"), path("home"));
    let data = "/srv/data".to_owned();
    assert_eq!(world.load().policy.additional_directories, [data.as_str(), &notes, &lib, &home]);
    assert_eq!(
        world.load_trusted().policy.additional_directories,
        [data.as_str(), &docs, &notes, &lib, &home]
    );
    let untrusted = ignored(&world.load());
    assert_eq!(untrusted, [format!("`permissions.additionalDirectories`: `{docs}`: UntrustedWorkspace")]);
}

// C11
#[test]
fn directories_that_mean_nothing_are_reported_and_skipped() {
    for (text, message) in [
        ("", "this directory is empty"),
        ("a\\u0000b", "this directory contains a NUL character"),
        ("\\\\\\\\server\\\\share", "network paths are not taken as working directories"),
        ("~other/x", "`~` stands for your own home only"),
    ] {
        let settings = format!("{{\"permissions\": {{\"additionalDirectories\": [\"{text}\", \"/ok\"]}}}}");
        let result = loaded(&[("user", &settings)], false);
        assert_eq!(result.policy.additional_directories, ["/ok"], "{text}");
        assert_eq!(messages(&result), [format!("warning: {message}")], "{text}");
    }
}

// D11, C12
#[test]
fn auto_mode_is_read_from_outside_the_repository_only() {
    let text = "{\"autoMode\": {\"environment\": [\"$defaults\", \"E\"], \"allow\": [\"A\"], \"soft_deny\": [\"S\"], \"hard_deny\": [\"H\"], \"classifyAllShell\": true, \"powerShell\": true}}";
    for (place, counts) in
        [("user", true), ("user-claude", true), ("policy", true), ("local", false), ("project-claude", false)]
    {
        let result = loaded(&[(place, text)], true);
        let auto = &result.auto_mode;
        let lists = [&auto.environment, &auto.allow, &auto.soft_deny, &auto.hard_deny];
        let lengths: Vec<usize> = lists.iter().map(|list| list.as_ref().map_or(0, Vec::len)).collect();
        assert_eq!(lengths, if counts { vec![2, 1, 1, 1] } else { vec![0; 4] }, "{place}");
        assert_eq!(
            (result.policy.classify_all_shell, result.policy.power_shell_auto),
            (counts, counts),
            "{place}"
        );
        assert_eq!(
            ignored(&result),
            if counts { vec![] } else { vec!["`autoMode`: InsideRepository"] },
            "{place}"
        );
    }
    let world = World::with(&[("user", text)]);
    let options = LoadOptions {
        settings: Some("{\"autoMode\": {\"allow\": [\"flag\"]}}".to_owned()),
        ..LoadOptions::default()
    };
    let joined = load(&world.locations(), &options).auto_mode.allow;
    let texts: Vec<&str> = joined.iter().flatten().map(|sentence| sentence.text.as_str()).collect();
    assert_eq!(texts, ["flag", "A"]);
}

#[test]
fn an_empty_list_of_sentences_is_one_and_no_list_is_none() {
    let loaded = |text: &str| World::with(&[("user", text)]).load();
    assert_eq!(loaded("{\"autoMode\": {\"allow\": []}}").auto_mode.allow, Some(Vec::new()));
    assert_eq!(loaded("{\"autoMode\": {}}").auto_mode.allow, None);
    let policy =
        loaded("{\"autoMode\": {\"hard_deny\": [\"$defaults\", \"no pushes\"], \"allow\": [\"$defaults\"]}}")
            .policy;
    assert_eq!((policy.prose.prohibitions, policy.prose.permissions), (vec!["no pushes".to_owned()], vec![]));
}

// C11
#[test]
fn one_bad_entry_is_skipped_and_the_rest_holds() {
    let result = loaded(
        &[(
            "user",
            "{\"permissions\": {\"allow\": [\"Bash(ls)\", 7, \"Bash(\", null, \"Bash(pwd)\"], \"deny\": \"Bash(rm *)\", \"ask\": {\"a\": 1}}}",
        )],
        false,
    );
    assert_eq!(rules(&result), ["user allow Bash(ls)", "user allow Bash(pwd)", "user deny Bash(rm *)"]);
    assert_eq!(result.problems.len(), 5);
}

// C11
#[test]
fn repeated_keys_never_widen() {
    for (text, expected) in [
        (
            "{\"permissions\": {\"allow\": [\"Bash(a)\"], \"deny\": [\"Bash(b)\"]}, \"permissions\": {\"allow\": [\"Bash(c)\"]}}",
            vec!["user deny Bash(b)", "user allow Bash(c)"],
        ),
        (
            "{\"permissions\": {\"allow\": [\"Bash(a)\"], \"allow\": [\"Bash(b)\"], \"ask\": [\"Bash(c)\"], \"ask\": [\"Bash(d)\"]}}",
            vec!["user allow Bash(b)", "user ask Bash(c)", "user ask Bash(d)"],
        ),
    ] {
        let result = loaded(&[("user", text)], false);
        assert_eq!(rules(&result), expected, "{text}");
        assert!(
            messages(&result).iter().all(|message| message.contains("is set again further down")),
            "{text}"
        );
        assert!(!result.problems.is_empty(), "{text}");
    }
    let twice = "{\"disableAutoMode\": \"disable\", \"disableAutoMode\": false}";
    assert!(loaded(&[("user", twice)], false).policy.disabled_modes.auto);
}

// C11
#[test]
fn a_broken_file_allows_nothing_and_what_it_denies_before_the_break_still_holds() {
    let text = "{\"permissions\": {\"allow\": [\"Bash(a)\"], \"deny\": [\"Bash(b)\"], \"ask\": [\"Bash(c)\", oops], \"deny\": [\"Bash(d)\"]}}";
    let result =
        loaded(&[("user", text), ("user-claude", "{\"permissions\": {\"allow\": [\"Bash(x)\"]}}")], false);
    assert_eq!(rules(&result), ["user deny Bash(b)", "user ask Bash(c)"]);
    assert_eq!(ignored(&result), ["allow rule `Bash(x)`: BrokenSettings"]);
    assert_eq!(messages(&result), ["error: expected a value, found the bare word `oops`"]);
}

// C11: what a broken file forbids behind the break is lost, so nothing but managed settings may allow it.
#[test]
fn a_broken_file_of_any_source_lets_nothing_outside_managed_settings_widen() {
    let wide = "{\"permissions\": {\"allow\": [\"Bash(x)\"], \"defaultMode\": \"acceptEdits\", \"additionalDirectories\": [\"/srv\"]}}";
    let managed = "{\"permissions\": {\"allow\": [\"Bash(managed)\"]}}";
    for broken in ["user", "user-claude", "project", "project-claude", "local", "local-claude"] {
        for wider in ["user", "user-claude", "project", "local"] {
            let settings = [
                ("policy", managed),
                (wider, wide),
                (broken, "{\"permissions\": {oops \"deny\": [\"Bash(x)\"]}}"),
            ];
            let result = loaded(if wider == broken { &settings[..1] } else { &settings }, true);
            assert_eq!(rules(&result), ["policy allow Bash(managed)"], "{broken} {wider}");
            assert_eq!(result.damaged, wider != broken, "{broken} {wider}");
            if result.damaged {
                let policy = &result.policy;
                assert_eq!(policy.disabled_modes, DisabledModes { bypass: true, auto: true }, "{broken}");
                assert_eq!((policy.default_mode, policy.additional_directories.len()), (None, 0), "{broken}");
            }
        }
    }
}

// C11
#[test]
fn a_broken_file_does_not_hand_over_to_a_laxer_mode_of_a_weaker_source() {
    let result = loaded(
        &[
            ("user", "{\"permissions\": {\"defaultMode\": \"bypassPermissions\"}}"),
            ("local", "{\"permissions\": "),
        ],
        false,
    );
    assert_eq!(result.policy.default_mode, None);
}

// C11, C15
#[test]
fn unknown_keys_are_noted_in_our_own_files_and_left_alone_in_claude_code_s() {
    let text = "{\"permissons\": {}, \"permissions\": {\"alow\": []}, \"disableBypassPermissionsMode\": \"disable\", \"env\": {\"A\": \"b\"}}";
    assert_eq!(messages(&loaded(&[("user-claude", text)], false)), Vec::<String>::new());
    let result = loaded(&[("user", text)], false);
    let told: Vec<(String, Option<&str>)> = messages(&result)
        .into_iter()
        .zip(result.problems.iter().map(|problem| problem.hint.as_deref()))
        .collect();
    assert_eq!(
        told,
        [
            ("warning: unknown key `permissons`".to_owned(), Some("did you mean `permissions`?")),
            ("warning: unknown key `permissions.alow`".to_owned(), Some("did you mean `permissions.allow`?")),
            (
                "warning: unknown key `disableBypassPermissionsMode`".to_owned(),
                Some("did you mean `permissions.disableBypassPermissionsMode`?")
            ),
            ("note: unknown key `env`".to_owned(), None),
        ]
    );
}

// C15
#[test]
fn comments_are_read_and_noted_where_claude_code_would_refuse_them() {
    let text = "{\n  // why\n  \"permissions\": {\"deny\": [\"Bash(rm *)\",]}\n}";
    assert_eq!(messages(&loaded(&[("user", text)], false)), Vec::<String>::new());
    let result = loaded(&[("user-claude", text)], false);
    assert_eq!(rules(&result), ["user deny Bash(rm *)"]);
    assert_eq!(messages(&result), ["note: Claude Code reads strict JSON and will refuse a comment"]);
}

#[test]
fn the_value_in_force_names_who_set_it() {
    let world = World::with(&[
        (
            "user",
            "{\"permissions\": {\"defaultMode\": \"plan\", \"additionalDirectories\": [\"/srv/a\", \"/srv/b\"]}}",
        ),
        ("project", "{\n\"disableAutoMode\": \"disable\"}"),
    ]);
    let loaded = world.load();
    let found = |path: &str| {
        let effective = loaded.effective.iter().find(|effective| effective.key.path == path).unwrap();
        (effective.value.clone(), effective.origin.as_ref().map(ToString::to_string))
    };
    let at = |place: &str, line: u32| Some(format!("{}:{line}", world.place(place).display()));
    assert_eq!(found("permissions.defaultMode"), (Some("plan".to_owned()), at("user", 1)));
    assert_eq!(found("disableAutoMode"), (Some("disable".to_owned()), at("project", 2)));
    assert_eq!(found("sandbox.enabled"), (None, None));
    let directories: Vec<_> = loaded
        .effective
        .iter()
        .filter(|effective| effective.key.path == "permissions.additionalDirectories")
        .filter_map(|effective| effective.value.as_deref())
        .collect();
    assert_eq!(directories, ["/srv/a", "/srv/b"]);
}
