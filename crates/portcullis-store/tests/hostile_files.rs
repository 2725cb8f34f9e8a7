//! What stands in the state directory but was not put there by us: links, broken files, files of the wrong kind.
#![cfg(test)]
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use portcullis_core::Denials;
use portcullis_store::{
    BreakerState, DenialKind, ModelCallOutcome, ModelCallRecord, NewDenial, SessionStore, Store, StoreError,
};
use pretty_assertions::assert_eq;

fn denial() -> NewDenial {
    NewDenial {
        tool: "Bash".to_owned(),
        input_json: "{}".to_owned(),
        cwd: "/code".to_owned(),
        summary: "a call".to_owned(),
        reason: "a reason".to_owned(),
        kind: DenialKind::Finding,
        code: "force-push".to_owned(),
        retryable: true,
    }
}

fn call() -> ModelCallRecord {
    ModelCallRecord {
        at_ms: 1,
        session: "s".to_owned(),
        provider: "ollama".to_owned(),
        model: "m".to_owned(),
        stage: "fast".to_owned(),
        outcome: ModelCallOutcome::Block,
        input: 1,
        cache_read: 2,
        cache_write: 3,
        output: 4,
        cost_usd: None,
        latency_ms: 5,
        attempts: 1,
    }
}

/// Everything one can do with a session fails, and in the same way.
fn check_refused(session: &SessionStore, is_expected: impl Fn(&StoreError) -> bool, what: &str) {
    let errors = [
        session.denials().unwrap_err(),
        session.record_allow().unwrap_err(),
        session.record_denial(&denial(), 1).unwrap_err(),
        session.take_approval("Bash", "{}", "/code", 1).unwrap_err(),
        session.approve("000000-1", 1, 1).unwrap_err(),
    ];
    for error in errors {
        assert!(is_expected(&error), "{what}: {error:?}");
        assert!(error.hint().is_some(), "{what}");
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_broken_state_is_an_error_that_names_the_file_and_stays_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let session = Store::new(directory.path().to_path_buf()).session("s");
    session.record_denial(&denial(), 1).unwrap();
    let file = directory.path().join("sessions/s.json");
    let good = fs::read_to_string(&file).unwrap();
    let mut broken: Vec<(String, &str)> = vec![
        (String::new(), "it is empty"),
        ("\0".repeat(good.len()), ""),
        ("nonsense".to_owned(), ""),
        ("null".to_owned(), ""),
        ("[]".to_owned(), ""),
        ("{}".to_owned(), ""),
        ("[".repeat(100_000), ""),
        (format!("{good}{good}"), "trailing characters"),
        (good.replace("\"version\":1", "\"version\":2"), "its version is 2"),
        (r#"{"version":3,"counts":[]}"#.to_owned(), "its version is 3"),
        (good.replace("\"version\":1,", ""), "missing field `version`"),
        (good.replace("\"in_a_row\":1", "\"in_a_row\":-1"), ""),
        (good.replace("\"in_a_row\":1", "\"in_a_row\":\"1\""), ""),
        (good.replace("\"in_a_row\":1", "\"in_a_row\":0,\"in_a_row\":1"), "duplicate field"),
        (good.replace("\"session\":\"s\"", "\"session\":\"t\""), "another session"),
        ("x".repeat(9 * 1024 * 1024), "larger than"),
    ];
    broken.extend((1..good.len() - 1).step_by(7).map(|end| (good.get(..end).unwrap().to_owned(), "")));
    for (text, detail) in broken {
        fs::write(&file, &text).unwrap();
        let what = text.chars().take(60).collect::<String>();
        let is_expected = |error: &StoreError| {
            matches!(error, StoreError::Broken { file: named, .. } if *named == file)
                && error.to_string().contains(detail)
        };
        check_refused(&session, is_expected, &what);
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "{what}: it was changed");
    }
    fs::write(&file, &good).unwrap();
    assert_eq!(session.denials().unwrap(), Denials { in_a_row: 1, in_total: 1 });
}

#[test]
fn a_state_with_fields_of_somebody_else_is_not_written_over() {
    let directory = tempfile::tempdir().unwrap();
    let session = Store::new(directory.path().to_path_buf()).session("s");
    session.record_denial(&denial(), 1).unwrap();
    let file = directory.path().join("sessions/s.json");
    let text = fs::read_to_string(&file).unwrap().replacen('{', "{\"more\":1,", 1);
    fs::write(&file, &text).unwrap();
    let error = session.record_denial(&denial(), 2).unwrap_err();
    assert!(error.to_string().contains("unknown field `more`"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn a_link_in_the_place_of_anything_is_refused_and_its_target_untouched() {
    for place in ["", "sessions", "sessions/s.json", "sessions/s.lock"] {
        let directory = tempfile::tempdir().unwrap();
        let (root, elsewhere) = (directory.path().join("state"), directory.path().join("elsewhere"));
        let session = Store::new(root.clone()).session("s");
        session.record_denial(&denial(), 1).unwrap();
        // What was there is now behind a link, so that following it would find a good state.
        let link = if place.is_empty() { root.clone() } else { root.join(place) };
        fs::rename(&link, &elsewhere).unwrap();
        symlink(&elsewhere, &link).unwrap();
        let before = if elsewhere.is_dir() { String::new() } else { fs::read_to_string(&elsewhere).unwrap() };
        let is_link = |error: &StoreError| *error == StoreError::Link { file: link.clone() };
        if place == "sessions/s.lock" {
            // Only what changes something takes the lock.
            for error in
                [session.record_denial(&denial(), 2).unwrap_err(), session.record_allow().unwrap_err()]
            {
                assert!(is_link(&error), "{error:?}");
            }
        } else {
            check_refused(&session, is_link, place);
        }
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{place}: the link is gone");
        if elsewhere.is_file() {
            assert_eq!(fs::read_to_string(&elsewhere).unwrap(), before, "{place}");
        }
    }
}

#[test]
fn a_link_to_nothing_creates_nothing() {
    for place in ["sessions", "sessions/s.json", "sessions/s.lock"] {
        let directory = tempfile::tempdir().unwrap();
        let (root, elsewhere) = (directory.path().join("state"), directory.path().join("elsewhere"));
        if place != "sessions" {
            fs::create_dir_all(root.join("sessions")).unwrap();
        }
        fs::create_dir_all(&root).unwrap();
        symlink(&elsewhere, root.join(place)).unwrap();
        let error = Store::new(root.clone()).session("s").record_denial(&denial(), 1).unwrap_err();
        assert_eq!(error, StoreError::Link { file: root.join(place) });
        assert!(!elsewhere.exists(), "{place}");
    }
}

#[test]
fn a_link_in_the_place_of_the_temporary_file_is_not_written_through() {
    let directory = tempfile::tempdir().unwrap();
    let (root, elsewhere) = (directory.path().join("state"), directory.path().join("elsewhere"));
    fs::write(&elsewhere, "precious").unwrap();
    fs::create_dir_all(root.join("sessions")).unwrap();
    symlink(&elsewhere, root.join("sessions/.s.json.tmp")).unwrap();
    let session = Store::new(root.clone()).session("s");
    session.record_denial(&denial(), 1).unwrap();
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "precious");
    assert_eq!(session.denials().unwrap().in_a_row, 1);
    assert_eq!(names(&root.join("sessions")), ["s.json", "s.lock"]);
}

#[test]
fn links_in_the_place_of_caches_and_records_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (root, elsewhere) = (directory.path().join("state"), directory.path().join("elsewhere"));
    fs::create_dir_all(&root).unwrap();
    fs::write(&elsewhere, "precious").unwrap();
    for file in ["learned.json", "breaker.json", "calls.jsonl"] {
        symlink(&elsewhere, root.join(file)).unwrap();
    }
    let store = Store::new(root.clone());
    let link = |file: &str| StoreError::Link { file: root.join(file) };
    assert_eq!(store.learned().problem, Some(link("learned.json")));
    assert_eq!(store.learn("a", "stop").unwrap_err(), link("learned.json"));
    assert_eq!(store.breaker("a"), BreakerState::default());
    assert_eq!(store.update_breaker("a", |state| state.failures += 1).unwrap_err(), link("breaker.json"));
    assert_eq!(store.append_call(&call()).unwrap_err(), link("calls.jsonl"));
    assert_eq!(store.read_calls().unwrap_err(), link("calls.jsonl"));
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "precious");
}

#[test]
fn what_is_no_regular_file_is_refused_without_waiting() {
    for kind in ["directory", "pipe"] {
        for place in ["s.json", "s.lock"] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("sessions").join(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if kind == "pipe" {
                assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
            } else {
                fs::create_dir(&path).unwrap();
            }
            let session = Store::new(directory.path().to_path_buf()).session("s");
            let expected = StoreError::WrongKind { file: path, expected: "a regular file" };
            assert_eq!(session.record_denial(&denial(), 1).unwrap_err(), expected, "{kind} {place}");
            if place == "s.json" {
                check_refused(&session, |error| *error == expected, kind);
            }
        }
    }
}

#[test]
fn a_file_in_the_place_of_a_directory_is_an_error_for_reading_and_writing() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "precious").unwrap();
    let is_wrong =
        |error: &StoreError| *error == StoreError::WrongKind { file: file.clone(), expected: "a directory" };
    check_refused(&Store::new(file.clone()).session("s"), is_wrong, "the root");
    assert!(is_wrong(&Store::new(file.clone()).append_call(&call()).unwrap_err()));
    let is_below = |error: &StoreError| error.to_string().ends_with("part of the path is not a directory");
    check_refused(&Store::new(file.join("state")).session("s"), is_below, "above the root");
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
}

#[test]
fn everything_is_private_whatever_it_was_before() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("a/state");
    let store = Store::new(root.clone());
    let write = |store: &Store| {
        store.session("s").record_denial(&denial(), 1).unwrap();
        store.append_call(&call()).unwrap();
        store.learn("a", "stop").unwrap();
        store.update_breaker("a", |state| state.failures += 1).unwrap();
    };
    write(&store);
    let files = [
        "sessions/s.json",
        "sessions/s.lock",
        "calls.jsonl",
        "learned.json",
        "learned.lock",
        "breaker.json",
        "breaker.lock",
    ];
    let directories = [root.clone(), root.join("sessions")];
    let check = || {
        for file in files {
            assert_eq!(mode(&root.join(file)), 0o600, "{file}");
        }
        for directory in &directories {
            assert_eq!(mode(directory), 0o700, "{}", directory.display());
        }
    };
    check();
    for file in files {
        fs::set_permissions(root.join(file), fs::Permissions::from_mode(0o666)).unwrap();
    }
    for directory in &directories {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o777)).unwrap();
    }
    write(&store);
    store.learn("a", "temperature").unwrap();
    check();
}

#[test]
fn reading_makes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().join("state"));
    let session = store.session("s");
    session.record_allow().unwrap();
    assert_eq!(session.denials().unwrap(), Denials::default());
    assert_eq!(session.take_approval("Bash", "{}", "/code", 1).unwrap(), None);
    assert_eq!(
        session.approve("000000-1", 1, 1).unwrap_err(),
        StoreError::UnknownDenial { id: "000000-1".to_owned() }
    );
    assert!(store.recently_denied(10, 1).unwrap().calls.is_empty());
    assert_eq!(store.find_denied("000000-1").unwrap(), None);
    assert_eq!(store.read_calls().unwrap().count(), 0);
    assert_eq!(store.forget_old_sessions(1, 1).unwrap().sessions, 0);
    assert!(!store.root().exists());
}
