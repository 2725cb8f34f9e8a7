//! The keys of the store and of approvals: who may set them, and that no secret is shown.

use pretty_assertions::assert_eq;

use portcullis_settings::{ApprovalSettings, LoadOptions, load};

use crate::world::{World, ignored, messages};

const SECRETS: &str = r#"{
  "store": { "url": "postgres://me:hunter2@db.example.com/fleet?sslmode=require" },
  "approvals": { "webhook": { "url": "https://example.com/hunter2", "headers": {"X-Key": "hunter2"} } }
}"#;

#[test]
fn what_nobody_sets_is_the_usual() {
    let loaded = World::new().load();
    assert_eq!((loaded.store.url, loaded.store.policy_keys.len(), loaded.store.broken), (None, 0, None));
    assert_eq!(loaded.approvals, ApprovalSettings::default());
    assert_eq!(loaded.pushed, None);
}

#[test]
fn user_and_managed_settings_choose_the_store_and_the_stronger_wins() {
    let user = r#"{"store": {"url": "postgres://mine/x"}, "approvals": {"waitSeconds": 5, "desktop": true}}"#;
    let world = World::with(&[("user", user), ("policy", r#"{"store": {"url": "postgres://theirs/x"}}"#)]);
    let loaded = world.load();
    assert_eq!(loaded.store.url.unwrap().expose(), "postgres://theirs/x");
    assert_eq!((loaded.approvals.wait_seconds, loaded.approvals.is_desktop), (5, true));
    assert_eq!(loaded.problems, []);
}

// A repository that chose the store would read every session and approve its own calls.
#[test]
fn neither_a_repository_nor_a_flag_sets_any_of_them() {
    let theirs =
        r#"{"store": {"url": "postgres://attacker/x", "policyKeys": []}, "approvals": {"enabled": false}}"#;
    for place in ["project", "project-claude", "local", "local-claude"] {
        let world = World::with(&[(place, theirs)]);
        let loaded = world.load_trusted();
        assert_eq!(loaded.store.url, None, "{place}");
        assert!(loaded.approvals.is_enabled, "{place}");
        assert_eq!(
            ignored(&loaded),
            ["`store`: OnlyUserOrManaged", "`approvals`: OnlyUserOrManaged"],
            "{place}"
        );
    }
    let options = LoadOptions { settings: Some(theirs.to_owned()), ..LoadOptions::default() };
    let loaded = load(&World::new().locations(), &options);
    assert_eq!((loaded.store.url.as_ref(), loaded.approvals.is_enabled), (None, true));
    assert_eq!(ignored(&loaded).len(), 2);
}

#[test]
fn no_output_shows_the_password_of_the_store_or_the_headers_of_the_webhook() {
    let loaded = World::with(&[("user", SECRETS)]).load();
    assert_eq!(loaded.problems, []);
    assert!(loaded.store.url.as_ref().unwrap().expose().contains("hunter2"));
    assert_eq!(loaded.approvals.webhook.as_ref().unwrap().headers.len(), 1);
    let shown = format!("{loaded:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("postgres://…@db.example.com/fleet"), "{shown}");
    // A mistake elsewhere in the same line shows that line.
    for wrong in [
        r#"{"store": {"url": "postgres://me:hunter2@db/x"}, "autoMod": {}}"#,
        r#"{"store": {"url": "postgres://me:hunter2@db/x"}, "permissions": {"allow": [1]}}"#,
        r#"{"store": {"url": "postgres://me:hunter2@db/x"}, }x"#,
        &format!(r#"{{"store": {{"url": "postgres://{}:hunter2@db/x"}}, "autoMod": {{}}}}"#, "m".repeat(200)),
        r#"{"store": {"url": "postgres:/me:hunter2@db/x"}}"#,
        r#"{"store": "postgres:/me:hunter2@db/x"}"#,
        r#"{"store": {"uri": "postgres:/me:hunter2@db/x"}}"#,
        r#"{"store": {"policyKeys": ["hunter2"]}}"#,
    ] {
        let loaded = World::with(&[("user", wrong)]).load();
        let report: String = loaded.problems.iter().map(ToString::to_string).collect();
        assert!(!report.is_empty() && !report.contains("hunter2"), "{report}");
    }
}

// Files in place of a shared store would be another store than the one that was chosen.
#[test]
fn a_wrong_address_leaves_no_store_and_beats_a_weaker_source() {
    for wrong in [
        r#"{"store": {"url": 7}}"#,
        r#"{"store": {"url": "db"}}"#,
        r#"{"store": []}"#,
        r#"{"store": {"urls": "x"}}"#,
    ] {
        let world = World::with(&[("policy", wrong), ("user", r#"{"store": {"url": "postgres://mine/x"}}"#)]);
        let loaded = world.load();
        assert_eq!(loaded.store.url, None, "{wrong}");
        let broken = loaded.store.broken.expect(wrong);
        assert!(broken.starts_with("the value of `store.url` is wrong"), "{broken}");
    }
}

// Whoever answers in a person's place widens.
#[test]
fn while_a_file_is_broken_no_webhook_of_the_user_is_asked() {
    let loaded = World::with(&[("user", SECRETS), ("project", "{")]).load();
    assert_eq!(loaded.approvals.webhook, None);
    assert_eq!(messages(&loaded).len(), 1);
}
