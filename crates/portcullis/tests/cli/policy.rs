//! `portcullis policy`: made, signed, published, taken, and refused where it is not what was signed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use portcullis_store::{SignedPolicy, Store};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sandbox::{Ran, Sandbox};

const DENY: &str = r#"{"permissions": {"deny": ["Bash(curl *)"]}}"#;
const ALLOW: &str = r#"{"permissions": {"allow": ["Bash(make *)"], "deny": ["Bash(curl *)"]}}"#;

/// A machine whose user has a key, and may trust it.
struct Fleet {
    sandbox: Sandbox,
    key: String,
    public: String,
}

impl Fleet {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let key = sandbox.home.join("ops.key").to_str().unwrap().to_owned();
        let ran = sandbox.run(&["policy", "keygen", "--out", &key, "--name", "ops"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        Self { sandbox, key, public: ran.stdout.trim().to_owned() }
    }

    fn trusting() -> Self {
        let fleet = Self::new();
        fleet.trust(&[&fleet.public]);
        fleet
    }

    fn trust(&self, keys: &[&str]) {
        let settings = json!({"permissions": {"allow": ["Bash(npm test)"]}, "store": {"policyKeys": keys}});
        self.sandbox.write_home(".config/portcullis/settings.json", &settings.to_string());
    }

    fn publish(&self, settings: &str) -> Ran {
        let file = self.sandbox.write_project("policy.json", settings);
        self.sandbox.run(&[
            "policy",
            "publish",
            file.to_str().unwrap(),
            "--key",
            &self.key,
            "--note",
            "a note",
        ])
    }

    fn pull(&self) -> Ran {
        self.sandbox.run(&["policy", "pull"])
    }

    fn check(&self, command: &str) -> Option<i32> {
        self.sandbox.run(&["check", command]).code
    }

    fn state(&self) -> PathBuf {
        self.sandbox.home.join(".local/state/portcullis")
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.sandbox.run(arguments);
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"))
    }
}

#[test]
fn a_key_is_private_new_and_named() {
    let fleet = Fleet::new();
    let mode = fs::metadata(&fleet.key).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(fleet.public.starts_with("ops:"), "{}", fleet.public);
    let text = fs::read_to_string(&fleet.key).unwrap();
    assert!(text.contains("-----BEGIN PRIVATE KEY-----"), "{text}");
    let again = fleet.sandbox.run(&["policy", "keygen", "--out", &fleet.key]);
    assert_eq!(again.code, Some(64));
    assert!(again.stderr.contains("it is there already"), "{}", again.stderr);
    assert_eq!(fs::read_to_string(&fleet.key).unwrap(), text);
    let other = fleet.sandbox.home.join("other.key");
    let unnamed = fleet.sandbox.run(&["policy", "keygen", "--out", other.to_str().unwrap()]);
    assert!(unnamed.stdout.starts_with("key-"), "{}", unnamed.stdout);
    let wrong = fleet.sandbox.run(&["policy", "keygen", "--out", "third.key", "--name", "a:b"]);
    assert_eq!((wrong.code, fleet.sandbox.project.join("third.key").exists()), (Some(64), false));
}

#[test]
fn a_policy_is_published_taken_and_in_force() {
    let fleet = Fleet::trusting();
    // Until the first one is taken, nothing that the user allows counts.
    assert_eq!((fleet.check("npm test"), fleet.check("curl x")), (Some(3), Some(3)));
    let ran = fleet.publish(ALLOW);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("policy version 1 is published at "), "{}", ran.stdout);
    assert_eq!(fleet.check("npm test"), Some(3));
    let ran = fleet.pull();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "policy version 1 is in force\n"));
    assert_eq!(
        (fleet.check("npm test"), fleet.check("make all"), fleet.check("curl x")),
        (Some(0), Some(0), Some(2))
    );
    let files = fleet.json(&["settings", "where", "--json"]);
    assert_eq!(files["files"][0]["file"], "policy version 1");
    let denied = fleet.json(&["check", "--json", "curl x"]);
    assert!(denied.to_string().contains("policy version 1"), "{denied}");
    let mode = |name: &str| fs::metadata(fleet.state().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode("policy"), mode("policy/current.json"), mode("policy/seen.json")),
        (0o700, 0o600, 0o600)
    );

    fleet.publish(DENY);
    let listed = fleet.json(&["policy", "list", "--json"]);
    assert_eq!((&listed["policies"][0]["version"], &listed["inForce"]), (&json!(2), &json!(1)));
    assert_eq!(listed["policies"][0]["note"], "a note");
    assert_eq!(fleet.json(&["policy", "show", "1", "--json"])["settings"], ALLOW);
    assert_eq!(fleet.json(&["policy", "show", "--json"])["settings"], DENY);
    assert_eq!(fleet.pull().code, Some(0));
    assert_eq!((fleet.check("make all"), fleet.check("curl x")), (Some(3), Some(2)));
}

#[test]
fn settings_with_mistakes_or_a_store_of_their_own_are_not_published() {
    let fleet = Fleet::trusting();
    for (settings, why) in [
        ("{", "error"),
        ("[]", "settings must be an object"),
        (r#"{"permissions": {"deny": ["Bash(curl"]}}"#, "write `Tool(content)`"),
        (r#"{"permissions": {"deny": "Bash(curl *)"}}"#, "must be a list"),
        (r#"{"permission": {"deny": ["Bash(curl *)"]}}"#, "unknown key"),
        (r#"{"store": {"url": "postgres://elsewhere/x"}}"#, "may not choose the store"),
        (r#"{"classifier": {"provider": "ollama", "caFile": "ca.pem"}}"#, "relative path"),
    ] {
        let ran = fleet.publish(settings);
        assert_eq!(ran.code, Some(64), "{settings}");
        assert!(ran.stderr.contains(why) && ran.stderr.contains("is not published"), "{}", ran.stderr);
    }
    assert_eq!(fleet.json(&["policy", "list", "--json"])["policies"], json!([]));
}

#[test]
fn a_key_that_others_can_read_or_that_is_none_signs_nothing() {
    let fleet = Fleet::trusting();
    fs::set_permissions(&fleet.key, fs::Permissions::from_mode(0o640)).unwrap();
    let ran = fleet.publish(DENY);
    assert_eq!(ran.code, Some(64));
    assert!(ran.stderr.contains("others can read or change it"), "{}", ran.stderr);
    fs::set_permissions(&fleet.key, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&fleet.key, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n").unwrap();
    assert!(fleet.publish(DENY).stderr.contains("no Ed25519 key"));
    fs::remove_file(&fleet.key).unwrap();
    assert!(fleet.publish(DENY).stderr.contains("there is no such file"));
}

/// Publishes what the key never signed, as whoever can write to the store would.
fn forge(fleet: &Fleet, version: u64, settings: &str) {
    let store = Store::new(fleet.state());
    let genuine = store.backend().latest_policy().unwrap().unwrap();
    let forged = SignedPolicy { version, settings: settings.to_owned(), ..genuine };
    assert_eq!(store.backend().publish_policy(&forged), Ok(version));
}

// Whoever owns the store can hold policies back; they cannot make one, and nobody signs theirs by mistake.
#[test]
fn a_forged_policy_is_refused_reported_and_never_signed_again() {
    let fleet = Fleet::trusting();
    fleet.publish(DENY);
    fleet.pull();
    forge(&fleet, 2, r#"{"permissions": {"allow": ["Bash(*)"]}}"#);
    let ran = fleet.pull();
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr.contains("the signature of policy version 2 is not one of the key `ops`"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        (fleet.check("rm -rf build"), fleet.check("curl x"), fleet.check("npm test")),
        (Some(3), Some(2), Some(0))
    );

    let verified = fleet.json(&["policy", "verify", "--json"]);
    assert_eq!((&verified["wrong"], &verified["policies"][1]["trouble"]), (&json!(1), &Value::Null));
    assert_eq!(fleet.sandbox.run(&["policy", "verify"]).code, Some(1));
    assert!(fleet.json(&["policy", "show", "--json"])["trouble"].is_string());
    let doctor = fleet.sandbox.run(&["doctor", "--json"]);
    assert!(doctor.stdout.contains("the signature of policy version 2"), "{}", doctor.stdout);

    let ran = fleet.sandbox.run(&["policy", "rollback", "2", "--key", &fleet.key]);
    assert_eq!(ran.code, Some(64), "{}", ran.stdout);
    let ran = fleet.sandbox.run(&["policy", "rollback", "1", "--key", &fleet.key]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(fleet.pull().stdout, "policy version 3 is in force\n");
    assert_eq!(fleet.json(&["policy", "show", "--json"])["note"], "the settings of version 1");
}

#[test]
fn an_old_policy_does_not_come_back_by_way_of_the_files() {
    let fleet = Fleet::trusting();
    fleet.publish(ALLOW);
    fleet.pull();
    let current = fleet.state().join("policy/current.json");
    let old = fs::read(&current).unwrap();
    fleet.publish(DENY);
    fleet.pull();
    fs::write(&current, &old).unwrap();
    assert_eq!((fleet.check("make all"), fleet.check("npm test")), (Some(3), Some(3)));
    let shown = fleet.sandbox.run(&["settings", "show"]);
    assert!(shown.stderr.contains("older than version 2"), "{}", shown.stderr);
    fs::remove_file(&current).unwrap();
    assert_eq!(fleet.check("npm test"), Some(3));
    assert_eq!(fleet.pull().stdout, "policy version 2 is in force\n");
    assert_eq!(
        (fleet.check("make all"), fleet.check("npm test"), fleet.check("curl x")),
        (Some(3), Some(0), Some(2))
    );
}

#[test]
fn without_keys_no_policy_is_taken_and_that_is_said() {
    let fleet = Fleet::new();
    assert_eq!(fleet.publish(DENY).code, Some(0));
    let ran = fleet.pull();
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("`store.policyKeys` names no key"), "{}", ran.stderr);
    assert_eq!(fleet.check("curl x"), Some(3));
    // A repository names none either.
    let keys = json!({"store": {"policyKeys": [fleet.public]}}).to_string();
    fleet.sandbox.write_project(".portcullis/settings.json", &keys);
    assert_eq!(fleet.pull().code, Some(1));
    let shown = fleet.sandbox.run(&["settings", "show"]);
    assert!(shown.stdout.contains("not used: `store`"), "{}", shown.stdout);
}

#[test]
fn a_publisher_is_told_when_this_machine_would_refuse_the_policy() {
    let fleet = Fleet::new();
    let other = fleet.sandbox.home.join("other.key").to_str().unwrap().to_owned();
    let named = |name: &str| {
        let _ = fs::remove_file(&other);
        fleet.sandbox.run(&["policy", "keygen", "--out", &other, "--name", name]).stdout.trim().to_owned()
    };
    fleet.trust(&[&named("other")]);
    assert!(fleet.publish(DENY).stderr.contains("does not name `ops`"));
    fleet.trust(&[&named("ops")]);
    assert!(fleet.publish(DENY).stderr.contains("has another key named `ops`"));
    assert_eq!(fleet.pull().code, Some(1));
}

#[test]
fn doctor_tells_which_policy_is_in_force_and_that_a_newer_one_waits() {
    let fleet = Fleet::trusting();
    let policy = |fleet: &Fleet| {
        let checks = fleet.json(&["doctor", "--json"])["checks"].clone();
        let found = checks.as_array().unwrap().iter().find(|check| check["check"] == "policy").cloned();
        let check = found.unwrap_or_default();
        (check["state"].as_str().unwrap_or_default().to_owned(), check["message"].to_string())
    };
    assert_eq!(policy(&fleet).0, "problem");
    fleet.publish(DENY);
    fleet.pull();
    let (state, message) = policy(&fleet);
    assert_eq!(state, "fine");
    assert!(message.contains("version 1 is in force, signed by `ops` today"), "{message}");
    fleet.publish(DENY);
    let (state, message) = policy(&fleet);
    assert_eq!(state, "warning");
    assert!(message.contains("version 2 is published"), "{message}");
}
