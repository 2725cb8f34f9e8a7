//! Policies from a store: what is signed holds like managed settings, and whatever else is in the file widens nothing.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pretty_assertions::assert_eq;
use ring::signature::{Ed25519KeyPair, KeyPair as _};

use portcullis_core::Source;
use portcullis_settings::{
    DocumentState, LoadedSettings, PolicyFiles, PolicyInstallation, PolicyRefusal, PublicKey, PushedPolicy,
    load_given,
};

use crate::world::{World, ignored, messages, rules};

const SETTINGS: &str = r#"{"permissions": {"allow": ["Bash(make *)"], "deny": ["Bash(curl *)"]}}"#;

/// Somebody who signs.
struct Signer {
    name: &'static str,
    pair: Ed25519KeyPair,
}

impl Signer {
    fn new(name: &'static str, seed: u8) -> Self {
        Self { name, pair: Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap() }
    }

    fn public(&self) -> PublicKey {
        PublicKey::new(self.name, self.pair.public_key().as_ref()).unwrap()
    }

    fn resign(&self, policy: &PushedPolicy) -> PushedPolicy {
        let signature = STANDARD.encode(self.pair.sign(&policy.signed_bytes()));
        PushedPolicy { signature, ..policy.clone() }
    }

    fn sign(&self, version: u64, settings: &str) -> PushedPolicy {
        self.resign(&PushedPolicy {
            version,
            signed_at_ms: 1_800_000_000_000,
            settings: settings.to_owned(),
            note: "a note".to_owned(),
            key: self.name.to_owned(),
            signature: String::new(),
        })
    }
}

/// A world whose user trusts a signer and allows `ls` themselves.
struct Fleet {
    world: World,
    signer: Signer,
}

impl Fleet {
    fn new() -> Self {
        let signer = Signer::new("ops", 1);
        let world = World::with(&[("user", &user_settings(&[&signer]))]);
        Self { world, signer }
    }

    fn files(&self) -> PolicyFiles {
        PolicyFiles::of(&self.world.locations()).unwrap()
    }

    fn install(&self, policy: &PushedPolicy) -> Result<PolicyInstallation, PolicyRefusal> {
        self.files().install(policy, &[self.signer.public()])
    }

    /// Puts a policy there without any check, as whoever can write the file would.
    fn plant(&self, policy: &PushedPolicy) {
        let other = World::new();
        let files = PolicyFiles::of(&other.locations()).unwrap();
        // The file is one that installing accepts for other keys.
        let text = if let Ok(key) = find_key(policy) {
            files.install(policy, &[key]).unwrap();
            fs::read_to_string(files.current()).unwrap()
        } else {
            serde_json::json!({
                "version": policy.version, "signedAtMs": policy.signed_at_ms, "key": policy.key,
                "signature": policy.signature, "note": policy.note, "settings": policy.settings,
            })
            .to_string()
        };
        fs::create_dir_all(self.files().current().parent().unwrap()).unwrap();
        fs::write(self.files().current(), text).unwrap();
        make_private(&self.files().current());
    }
}

fn find_key(policy: &PushedPolicy) -> Result<PublicKey, ()> {
    let signers = [Signer::new("ops", 1), Signer::new("ops", 2), Signer::new("other", 2)];
    let fits = |signer: &&Signer| policy.verify(&[signer.public()]).is_ok();
    signers.iter().find(fits).map(Signer::public).ok_or(())
}

fn make_private(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

fn user_settings(signers: &[&Signer]) -> String {
    let keys: Vec<String> = signers.iter().map(|signer| signer.public().to_string()).collect();
    serde_json::json!({"permissions": {"allow": ["Bash(ls)"]}, "store": {"policyKeys": keys}}).to_string()
}

/// Asserts that nothing but what is forbidden holds, and that the report says why.
fn assert_suspended(loaded: &LoadedSettings, why: &str) {
    assert!(loaded.damaged, "{why}");
    assert_eq!(rules(loaded), Vec::<String>::new(), "{why}");
    assert_eq!(ignored(loaded), ["allow rule `Bash(ls)`: BrokenSettings"]);
    assert_eq!(loaded.pushed, None);
    assert!(loaded.policy.disabled_modes.bypass && loaded.policy.disabled_modes.auto);
    let [message] = messages(loaded).try_into().unwrap();
    assert!(message.starts_with("error: ") && message.contains(why), "{message}");
}

#[test]
fn a_signed_policy_holds_as_managed_settings_under_its_own_name() {
    let fleet = Fleet::new();
    assert_eq!(fleet.install(&fleet.signer.sign(3, SETTINGS)), Ok(PolicyInstallation::New));
    assert_eq!(fleet.install(&fleet.signer.sign(3, SETTINGS)), Ok(PolicyInstallation::Already));
    let loaded = fleet.world.load();
    assert_eq!(messages(&loaded), Vec::<String>::new());
    assert_eq!(
        rules(&loaded),
        ["policy allow Bash(make *)", "policy deny Bash(curl *)", "user allow Bash(ls)"]
    );
    let rule = &loaded.policy.rules.rules()[0];
    assert_eq!(rule.origin.file.as_deref(), Some("policy version 3"));
    assert_eq!(rule.origin.base.as_deref(), Some("/"));
    let document = &loaded.documents[0];
    assert_eq!((document.source, &*document.name), (Source::Policy, "policy version 3"));
    assert_eq!((document.state, document.rules), (DocumentState::Read, 2));
    assert_eq!(loaded.pushed.unwrap().to_string(), "policy version 3, signed by `ops`");
}

#[cfg(unix)]
#[test]
fn the_files_are_private_even_where_others_left_some() {
    use std::os::unix::fs::PermissionsExt as _;
    let fleet = Fleet::new();
    let mode = |path: std::path::PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    fs::create_dir_all(fleet.files().current().parent().unwrap()).unwrap();
    fs::write(fleet.files().current(), [0xff]).unwrap();
    fs::set_permissions(fleet.files().current(), fs::Permissions::from_mode(0o666)).unwrap();
    fleet.install(&fleet.signer.sign(1, SETTINGS)).unwrap();
    assert_eq!((mode(fleet.files().current()), mode(fleet.files().seen())), (0o600, 0o600));
}

#[test]
fn without_keys_nothing_is_read() {
    let fleet = Fleet::new();
    fleet.install(&fleet.signer.sign(1, SETTINGS)).unwrap();
    for settings in ["{}", r#"{"store": {"policyKeys": []}}"#] {
        fleet.world.write(&fleet.world.place("user"), settings);
        let loaded = fleet.world.load();
        assert_eq!((rules(&loaded).len(), loaded.damaged, loaded.pushed), (0, false, None));
    }
    let given = load_given(&fleet.world.locations(), &portcullis_settings::LoadOptions::default());
    assert_eq!(given.pushed, None);
}

// No policy yet, or somebody deleted it: both the same, since nobody can tell them apart.
#[test]
fn keys_without_a_policy_suspend_whatever_widens() {
    let fleet = Fleet::new();
    assert_suspended(&fleet.world.load(), "there is no policy yet");
    fleet.install(&fleet.signer.sign(1, SETTINGS)).unwrap();
    assert!(!fleet.world.load().damaged);
    fs::remove_file(fleet.files().current()).unwrap();
    assert_suspended(&fleet.world.load(), "there is no policy yet");
    fs::remove_file(fleet.files().seen()).unwrap();
    assert_suspended(&fleet.world.load(), "there is no policy yet");
}

#[test]
fn a_forged_policy_is_neither_installed_nor_read() {
    let fleet = Fleet::new();
    let good = fleet.signer.sign(1, SETTINGS);
    let wide = r#"{"permissions": {"allow": ["Bash(*)"]}}"#;
    let forged = [
        PushedPolicy { settings: wide.to_owned(), ..good.clone() },
        PushedPolicy { note: "another".to_owned(), ..good.clone() },
        PushedPolicy { version: 2, ..good.clone() },
        PushedPolicy { signed_at_ms: 0, ..good.clone() },
        PushedPolicy { signature: String::new(), ..good.clone() },
        PushedPolicy { signature: "not base64".to_owned(), ..good.clone() },
        PushedPolicy { signature: STANDARD.encode([0; 64]), ..good.clone() },
        // Another's key under a name that is trusted.
        Signer::new("ops", 2).sign(1, wide),
    ];
    for policy in forged {
        let refusal = fleet.install(&policy).unwrap_err();
        assert!(matches!(refusal, PolicyRefusal::WrongSignature { .. }), "{refusal}");
        fleet.plant(&policy);
        assert_suspended(&fleet.world.load(), "is not one of the key `ops`");
    }
    let foreign = Signer::new("other", 2).sign(1, wide);
    assert!(matches!(fleet.install(&foreign), Err(PolicyRefusal::UnknownKey { .. })));
    fleet.plant(&foreign);
    assert_suspended(&fleet.world.load(), "names no such key");
}

// The name of a key is signed: a policy of one key is none of another that has the same bytes or a similar name.
#[test]
fn a_policy_is_checked_by_the_key_it_names_and_by_no_other() {
    let (first, second) = (Signer::new("ops", 1), Signer::new("other", 2));
    let both = [first.public(), second.public()];
    let policy = second.sign(1, SETTINGS);
    assert_eq!(policy.verify(&both), Ok(()));
    for name in ["ops", "Other", "other ", "oth", "", "other:"] {
        let renamed = PushedPolicy { key: name.to_owned(), ..policy.clone() };
        assert!(renamed.verify(&both).is_err(), "{name}");
    }
    let twin = Signer::new("twin", 2).public();
    let renamed = PushedPolicy { key: "twin".to_owned(), ..policy };
    assert!(matches!(renamed.verify(&[twin]), Err(PolicyRefusal::WrongSignature { .. })));
}

// Moving text from one field to the next makes other bytes.
#[test]
fn no_two_policies_are_signed_by_the_same_bytes() {
    let policy = |key: &str, note: &str, settings: &str| PushedPolicy {
        version: 1,
        signed_at_ms: 2,
        settings: settings.to_owned(),
        note: note.to_owned(),
        key: key.to_owned(),
        signature: String::new(),
    };
    let shifted = [
        policy("ab", "cd", "ef"),
        policy("abc", "d", "ef"),
        policy("ab", "cde", "f"),
        policy("a", "bcde", "f"),
    ];
    for (index, one) in shifted.iter().enumerate() {
        assert!(one.signed_bytes().starts_with(b"portcullis policy v1\n"));
        for other in &shifted[index + 1..] {
            assert_ne!(one.signed_bytes(), other.signed_bytes());
        }
    }
    let signer = Signer::new("ops", 1);
    let mut moved = signer.sign(1, SETTINGS);
    moved.note.push('{');
    moved.settings.remove(0);
    assert!(moved.verify(&[signer.public()]).is_err());
}

#[test]
fn an_older_policy_or_another_of_the_same_version_does_not_come_back() {
    let fleet = Fleet::new();
    let (first, second) = (fleet.signer.sign(1, "{}"), fleet.signer.sign(2, SETTINGS));
    let other = fleet.signer.sign(2, "{}");
    fleet.install(&first).unwrap();
    fleet.install(&second).unwrap();
    assert_eq!(fleet.install(&first), Err(PolicyRefusal::Older { version: 1, seen: 2 }));
    assert_eq!(fleet.install(&other), Err(PolicyRefusal::Changed { version: 2 }));
    assert_eq!(fleet.world.load().pushed.unwrap().version, 2);

    // Whoever exchanges the file gains nothing, and the highest version outlives it.
    fleet.plant(&first);
    assert_suspended(&fleet.world.load(), "older than version 2");
    assert_eq!(fleet.install(&first), Err(PolicyRefusal::Older { version: 1, seen: 2 }));
    fleet.plant(&other);
    assert_suspended(&fleet.world.load(), "not the one that was in force");
    fs::remove_file(fleet.files().current()).unwrap();
    assert_eq!(fleet.install(&first), Err(PolicyRefusal::Older { version: 1, seen: 2 }));
    assert_eq!(fleet.install(&second), Ok(PolicyInstallation::New));
    assert_eq!(fleet.world.load().pushed.unwrap().version, 2);

    // Without the memory the policy in force still counts.
    fs::remove_file(fleet.files().seen()).unwrap();
    assert_eq!(fleet.install(&first), Err(PolicyRefusal::Older { version: 1, seen: 2 }));
    assert_eq!(fleet.install(&fleet.signer.sign(3, "{}")), Ok(PolicyInstallation::New));
}

#[cfg(unix)]
#[test]
fn files_that_others_can_change_or_that_are_links_are_not_taken() {
    use std::os::unix::fs::PermissionsExt as _;
    let fleet = Fleet::new();
    fleet.install(&fleet.signer.sign(1, SETTINGS)).unwrap();
    for file in [fleet.files().current(), fleet.files().seen()] {
        fs::set_permissions(&file, fs::Permissions::from_mode(0o622)).unwrap();
        assert_suspended(&fleet.world.load(), "others can change this file");
        make_private(&file);
        let text = fs::read(&file).unwrap();
        let away = fleet.world.path("away.json");
        fs::rename(&file, &away).unwrap();
        std::os::unix::fs::symlink(&away, &file).unwrap();
        assert_suspended(&fleet.world.load(), "it is a link");
        fs::remove_file(&file).unwrap();
        fs::write(&file, text).unwrap();
        make_private(&file);
        assert!(!fleet.world.load().damaged);
    }
    fs::write(fleet.files().seen(), "{}").unwrap();
    assert_suspended(&fleet.world.load(), "does not say which policy was in force");
    assert!(fleet.install(&fleet.signer.sign(2, SETTINGS)).is_err());
}

#[test]
fn what_is_no_policy_suspends() {
    let fleet = Fleet::new();
    fs::create_dir_all(fleet.files().current().parent().unwrap()).unwrap();
    for text in ["", "[]", "{}", r#"{"version": "1"}"#, "null"] {
        fs::write(fleet.files().current(), text).unwrap();
        make_private(&fleet.files().current());
        assert_suspended(&fleet.world.load(), "this is no policy");
    }
}

// Whoever signs a policy writes managed settings: where those are there already, their author says who else may.
#[test]
fn where_there_are_managed_settings_only_they_name_the_keys() {
    let fleet = Fleet::new();
    fleet.install(&fleet.signer.sign(1, SETTINGS)).unwrap();
    fleet.world.write(&fleet.world.place("policy"), r#"{"allowManagedPermissionRulesOnly": true}"#);
    let loaded = fleet.world.load();
    assert_eq!((rules(&loaded).len(), loaded.pushed.as_ref(), loaded.damaged), (0, None, false));
    assert!(
        ignored(&loaded).iter().any(|line| line.ends_with("ManagedPolicyKeys")),
        "{:?}",
        ignored(&loaded)
    );
    assert_eq!(loaded.store.policy_keys.len(), 0);

    let managed = serde_json::json!({"store": {"policyKeys": [fleet.signer.public().to_string()]},
        "permissions": {"defaultMode": "plan"}});
    fleet.world.write(&fleet.world.place("policy"), &managed.to_string());
    let loaded = fleet.world.load();
    assert_eq!(loaded.pushed.as_ref().map(|stamp| stamp.version), Some(1));
    assert_eq!(loaded.documents[0].name.as_ref(), "policy version 1");
}

#[test]
fn files_of_this_machine_are_stronger_than_the_policy_of_the_store() {
    let fleet = Fleet::new();
    let mode = |mode: &str| format!(r#"{{"permissions": {{"defaultMode": "{mode}"}}}}"#);
    fleet.install(&fleet.signer.sign(1, &mode("acceptEdits"))).unwrap();
    assert_eq!(fleet.world.load().policy.default_mode, Some(portcullis_core::Mode::AcceptEdits));
    let managed = serde_json::json!({"store": {"policyKeys": [fleet.signer.public().to_string()]},
        "permissions": {"defaultMode": "plan"}});
    fleet.world.write(&fleet.world.place("policy"), &managed.to_string());
    assert_eq!(fleet.world.load().policy.default_mode, Some(portcullis_core::Mode::Plan));
}

#[test]
fn a_policy_does_not_choose_the_store_it_comes_from_or_its_own_keys() {
    let fleet = Fleet::new();
    let key = Signer::new("next", 3).public();
    let settings = format!(r#"{{"store": {{"url": "postgres://elsewhere/x", "policyKeys": ["{key}"]}}}}"#);
    fleet.install(&fleet.signer.sign(1, &settings)).unwrap();
    let loaded = fleet.world.load();
    assert_eq!(loaded.store.url, None);
    assert_eq!(loaded.store.policy_keys, [fleet.signer.public().to_string()]);
    assert_eq!(
        ignored(&loaded),
        [
            "`store.url`: `postgres://elsewhere/x`: PushedStore".to_owned(),
            format!("`store.policyKeys`: `[\"{key}\"]`: PushedStore")
        ]
    );
}

// Nobody knows which key is meant, so no policy is taken and nothing widens.
#[test]
fn keys_that_are_wrong_or_share_a_name_suspend() {
    let fleet = Fleet::new();
    fleet.install(&fleet.signer.sign(1, SETTINGS)).unwrap();
    let twice = user_settings(&[&fleet.signer, &Signer::new("ops", 2)]);
    for wrong in [
        twice.as_str(),
        r#"{"store": {"policyKeys": "ops:AAAA"}}"#,
        r#"{"store": {"policyKeys": ["ops:AAAA"]}}"#,
        r#"{"store": {"policyKeys": [7]}}"#,
        r#"{"store": {"policyKey": []}}"#,
    ] {
        fleet.world.write(&fleet.world.place("user"), wrong);
        let loaded = fleet.world.load();
        assert!(loaded.damaged && loaded.pushed.is_none(), "{wrong}");
        assert_eq!(messages(&loaded).len(), 2, "{:?}", messages(&loaded));
    }
}

#[test]
fn a_policy_that_is_signed_and_broken_restricts_and_says_so() {
    let fleet = Fleet::new();
    fleet.install(&fleet.signer.sign(1, r#"{"permissions": {"deny": ["Bash(curl *)"], "#)).unwrap();
    let loaded = fleet.world.load();
    assert!(loaded.damaged);
    assert_eq!(rules(&loaded), ["policy deny Bash(curl *)"]);
    assert!(loaded.problems[0].to_string().contains("--> policy version 1:1"), "{}", loaded.problems[0]);
}

// A path in a policy means nothing relative: it has no directory.
#[test]
fn paths_in_a_policy_are_whole() {
    let fleet = Fleet::new();
    let settings = r#"{"classifier": {"provider": "ollama", "caFile": "ca.pem"}}"#;
    fleet.install(&fleet.signer.sign(1, settings)).unwrap();
    let loaded = fleet.world.load();
    assert!(loaded.classifier.broken.is_some() && loaded.classifier.ca_file.is_none());
}
