//! Counting, keeping and approving within one session.
#![cfg(test)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis_core::{DenialLimit, Denials};
use portcullis_store::{DenialKind, NewDenial, SessionStore, Store, StoreError};
use pretty_assertions::assert_eq;

const INPUT: &str = r#"{"command":"git push --force"}"#;

fn denial(input_json: &str) -> NewDenial {
    NewDenial {
        tool: "Bash".to_owned(),
        input_json: input_json.to_owned(),
        cwd: "/code/app".to_owned(),
        summary: "git push --force".to_owned(),
        reason: "it rewrites history".to_owned(),
        kind: DenialKind::Finding,
        code: "force-push".to_owned(),
        retryable: true,
    }
}

fn session() -> (tempfile::TempDir, SessionStore) {
    let directory = tempfile::tempdir().unwrap();
    // With so much patience that a slow machine is no failure.
    let store = Store::new(directory.path().to_path_buf()).with_patience(Duration::from_mins(10));
    let session = store.session("s");
    (directory, session)
}

fn file(directory: &tempfile::TempDir) -> PathBuf {
    directory.path().join("sessions/s.json")
}

fn deny(session: &SessionStore, input_json: &str) -> String {
    session.record_denial(&denial(input_json), 1_000).unwrap().id
}

fn take(session: &SessionStore, input_json: &str, now_ms: u64) -> Option<String> {
    session.take_approval("Bash", input_json, "/code/app", now_ms).unwrap()
}

#[cfg(unix)]
fn inode(path: &Path) -> u64 {
    std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap())
}

#[test]
fn denials_are_counted_by_the_rules_of_the_core() {
    let (directory, session) = session();
    let mut expected = Denials::default();
    for number in 1..=45_u32 {
        let (next, limit) = expected.after_denial(true);
        expected = next;
        let recorded = session.record_denial(&denial(INPUT), 1_000).unwrap();
        assert_eq!((recorded.denials, recorded.limit), (next, limit), "{number}");
        if number % 4 == 0 {
            session.record_allow().unwrap();
            expected = expected.after_allow();
        }
        let elsewhere = Store::new(directory.path().to_path_buf()).session("s");
        assert_eq!(elsewhere.denials().unwrap(), expected, "{number}");
    }
}

#[test]
fn the_third_denial_in_a_row_reaches_the_limit_and_an_allow_in_between_prevents_it() {
    let (_directory, session) = session();
    let limit = || session.record_denial(&denial(INPUT), 1).unwrap().limit;
    assert_eq!([limit(), limit()], [None, None]);
    session.record_allow().unwrap();
    assert_eq!([limit(), limit(), limit()], [None, None, Some(DenialLimit::InARow)]);
}

#[cfg(unix)]
#[test]
fn an_allow_that_ends_no_run_writes_nothing() {
    let (directory, session) = session();
    deny(&session, INPUT);
    session.record_allow().unwrap();
    let before = inode(&file(&directory));
    fs::remove_file(directory.path().join("sessions/s.lock")).unwrap();
    session.record_allow().unwrap();
    assert_eq!(inode(&file(&directory)), before, "the file was replaced");
    assert!(!directory.path().join("sessions/s.lock").exists(), "the lock was taken");
}

#[test]
fn ids_are_numbered_within_a_session_and_differ_between_sessions() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().to_path_buf());
    let mut ids = BTreeSet::new();
    for session in 0..40 {
        let session = store.session(&format!("session {session}"));
        let own: Vec<String> = (0..3).map(|_| deny(&session, INPUT)).collect();
        let prefix = own[0].split_once('-').unwrap().0;
        assert!(prefix.len() == 6 && prefix.bytes().all(|byte| byte.is_ascii_hexdigit()), "{prefix}");
        assert_eq!(own, [1, 2, 3].map(|number| format!("{prefix}-{number}")));
        ids.extend(own);
    }
    assert_eq!(ids.len(), 120);
}

#[test]
fn the_name_of_a_file_is_the_id_or_its_hash() {
    let store = Store::new(PathBuf::from("/nowhere"));
    let longest = "x".repeat(64);
    for harmless in ["a", "A-b_9", "0f3c1e3a-7a52-4a0e-9d0e-1c2b3a4d5e6f", &longest] {
        assert_eq!(store.session(harmless).name(), harmless);
    }
    let too_long = "x".repeat(65);
    let mut names = BTreeSet::new();
    let others =
        ["", ".", "..", "../../etc/passwd", "a/b", "a\\b", "a b", "a\0b", "a\n", "é", "a.json", &too_long];
    for other in others {
        let session = store.session(other);
        let name = session.name();
        assert!(name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit()), "{other:?} {name}");
        assert_eq!(store.session(name).name(), session.name(), "the name names another session");
        names.insert(name.to_owned());
    }
    assert_eq!(names.len(), others.len());
}

#[test]
fn the_last_fifty_denied_calls_are_kept_and_numbers_go_on() {
    let (directory, session) = session();
    let ids: Vec<String> = (0..60).map(|number| deny(&session, &format!("{number}"))).collect();
    let recent = Store::new(directory.path().to_path_buf()).recently_denied(100, 1).unwrap();
    let kept: Vec<String> = recent.calls.into_iter().map(|(_, call)| call.id).collect();
    assert_eq!(kept, ids.iter().rev().take(50).cloned().collect::<Vec<_>>());
    let gone = session.approve(&ids[9], 1_000, 60_000).unwrap_err();
    assert_eq!(gone, StoreError::UnknownDenial { id: ids[9].clone() });
    session.approve(&ids[10], 1_000, 60_000).unwrap();
}

#[test]
fn an_approval_lets_exactly_this_call_run_once() {
    let (_directory, session) = session();
    let id = deny(&session, INPUT);
    assert_eq!(take(&session, INPUT, 1_500), None, "nobody approved it");
    let call = session.approve(&id, 2_000, 1_000).unwrap();
    assert_eq!((call.id.as_str(), call.tool.as_str()), (id.as_str(), "Bash"));
    for (tool, input, cwd) in [
        ("Bash", r#"{"command":"git push --force origin"}"#, "/code/app"),
        ("Bash", INPUT, "/code/app2"),
        ("Bash", INPUT, ""),
        ("PowerShell", INPUT, "/code/app"),
        ("", "", ""),
    ] {
        assert_eq!(session.take_approval(tool, input, cwd, 2_500).unwrap(), None, "{tool} {input} {cwd}");
    }
    assert_eq!(take(&session, INPUT, 2_500), Some(id));
    assert_eq!(take(&session, INPUT, 2_500), None, "it was used twice");
}

#[test]
fn an_approval_is_good_from_when_it_was_given_until_it_expires() {
    let (_directory, session) = session();
    let id = deny(&session, INPUT);
    session.approve(&id, 2_000, 1_000).unwrap();
    for outside in [0, 1_999, 3_000, 3_001, u64::MAX] {
        assert_eq!(take(&session, INPUT, outside), None, "{outside}");
    }
    assert_eq!(take(&session, INPUT, 2_999), Some(id.clone()));
    session.approve(&id, 2_000, 0).unwrap();
    assert_eq!(take(&session, INPUT, 2_000), None, "it expired when it was given");
    session.approve(&id, u64::MAX - 1, u64::MAX).unwrap();
    assert_eq!(take(&session, INPUT, u64::MAX - 1), Some(id));
}

#[test]
fn approving_twice_is_approving_once_and_a_used_approval_can_be_given_again() {
    let (_directory, session) = session();
    let id = deny(&session, INPUT);
    session.approve(&id, 2_000, 1_000).unwrap();
    session.approve(&id, 2_500, 1_000).unwrap();
    assert_eq!([take(&session, INPUT, 3_200), take(&session, INPUT, 3_200)], [Some(id.clone()), None]);
    session.approve(&id, 3_300, 1_000).unwrap();
    assert_eq!([take(&session, INPUT, 3_400), take(&session, INPUT, 3_400)], [Some(id), None]);
}

#[test]
fn the_same_call_denied_twice_can_be_approved_twice() {
    let (_directory, session) = session();
    let ids = [deny(&session, INPUT), deny(&session, INPUT)];
    for id in &ids {
        session.approve(id, 2_000, 1_000).unwrap();
    }
    let taken = [take(&session, INPUT, 2_100), take(&session, INPUT, 2_100), take(&session, INPUT, 2_100)];
    let [first, second] = ids;
    assert_eq!(taken, [Some(first), Some(second), None]);
}

#[test]
fn a_call_that_was_denied_for_good_cannot_be_approved() {
    let (_directory, session) = session();
    let id = session.record_denial(&NewDenial { retryable: false, ..denial(INPUT) }, 1).unwrap().id;
    assert_eq!(session.approve(&id, 2, 1_000).unwrap_err(), StoreError::NotRetryable { id });
    assert_eq!(take(&session, INPUT, 3), None);
}

#[test]
fn an_approval_of_one_session_is_none_of_another() {
    let (directory, session) = session();
    let id = deny(&session, INPUT);
    session.approve(&id, 2_000, 1_000).unwrap();
    let store = Store::new(directory.path().to_path_buf());
    let other = store.session("other");
    deny(&other, INPUT);
    assert_eq!(take(&other, INPUT, 2_100), None);
    assert!(matches!(other.approve(&id, 2_000, 1_000), Err(StoreError::UnknownDenial { .. })));
    fs::copy(file(&directory), directory.path().join("sessions/copy.json")).unwrap();
    let copied = store.session("copy").take_approval("Bash", INPUT, "/code/app", 2_100);
    assert!(matches!(copied, Err(StoreError::Broken { .. })), "{copied:?}");
}

#[test]
fn an_input_is_kept_as_its_hash_and_still_found() {
    let (directory, session) = session();
    let long = format!("{{\"content\":\"{}\"}}", "x".repeat(64 * 1024));
    let id = deny(&session, &long);
    let size = fs::metadata(file(&directory)).unwrap().len();
    assert!(size < 2_000, "{size}");
    let call = session.approve(&id, 2_000, 1_000).unwrap();
    assert!(call.input_hash.starts_with("sha256:") && call.input_hash.len() == 71, "{}", call.input_hash);
    assert_eq!(take(&session, &call.input_hash, 2_100), None, "the hash passed for the input");
    assert_eq!(take(&session, &long.replacen('x', "y", 1), 2_100), None);
    assert_eq!(take(&session, &long, 2_100), Some(id));
}

#[test]
fn no_secret_of_a_denied_call_is_kept() {
    let (directory, session) = session();
    let token = ["ghp_", &"a1B2".repeat(9)].concat();
    let text = format!("curl -H 'Authorization: Bearer {token}' example.com");
    let new = NewDenial { summary: text.clone(), reason: format!("it sends `{text}`"), ..denial(&text) };
    session.record_denial(&new, 1_000).unwrap();
    let kept = fs::read_to_string(file(&directory)).unwrap();
    assert!(kept.contains("example.com") && !kept.contains(&token), "{kept}");
}

#[test]
fn many_large_inputs_do_not_make_the_file_large_and_are_all_found() {
    let (directory, session) = session();
    let input = |number: usize| format!("{number:02}{}", "\u{1}".repeat(64 * 1024 - 2));
    let huge = "\u{1}".repeat(100_000);
    let mut ids = Vec::new();
    for number in 0..50 {
        let new = NewDenial {
            summary: huge.clone(),
            reason: huge.clone(),
            code: huge.clone(),
            tool: "\u{1}".repeat(1_024),
            cwd: "\u{1}".repeat(1_024),
            ..denial(&input(number))
        };
        ids.push(session.record_denial(&new, 1_000).unwrap().id);
    }
    for id in ids.iter().step_by(7) {
        session.approve(id, 2_000, 1_000).unwrap();
    }
    let size = fs::metadata(file(&directory)).unwrap().len();
    assert!(size < 4 * 1024 * 1024, "{size}");
    let name = "\u{1}".repeat(1_024);
    for number in [0, 28, 49] {
        let taken = session.take_approval(&name, &input(number), &name, 2_100).unwrap();
        assert_eq!(taken.as_ref(), Some(&ids[number]));
    }
    let newest = Store::new(directory.path().to_path_buf()).recently_denied(1, 1).unwrap().calls;
    assert!(newest[0].1.summary.ends_with('…') && newest[0].1.summary.len() <= 2_003);
}

#[test]
fn text_is_cut_between_characters() {
    let (directory, session) = session();
    for offset in 0..4 {
        let reason = format!("{}{}", "x".repeat(offset), "😀".repeat(1_000));
        session.record_denial(&NewDenial { reason, ..denial(INPUT) }, 1).unwrap();
    }
    let recent = Store::new(directory.path().to_path_buf()).recently_denied(10, 1).unwrap();
    assert_eq!(recent.calls.len(), 4);
    for (_, call) in recent.calls {
        assert!(call.reason.ends_with("😀…") && call.reason.len() <= 2_003, "{}", call.reason.len());
    }
}

#[test]
fn threads_that_take_allow_and_deny_at_once_lose_nothing() {
    let (_directory, session) = session();
    let approved: Vec<String> = (0..10).map(|number| deny(&session, &format!("{number}"))).collect();
    for id in &approved {
        session.approve(id, 1_000, 60_000).unwrap();
    }
    let taken: Vec<String> = std::thread::scope(|scope| {
        let takers: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| {
                    let mut taken = Vec::new();
                    for number in 0..10 {
                        taken.extend(take(&session, &format!("{number}"), 2_000));
                        deny(&session, "other");
                        session.record_allow().unwrap();
                    }
                    taken
                })
            })
            .collect();
        takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect()
    });
    assert_eq!(taken.len(), 10);
    assert_eq!(taken.into_iter().collect::<BTreeSet<_>>(), approved.into_iter().collect());
    // Seventy denials: the total began anew three times.
    assert_eq!(session.denials().unwrap(), Denials { in_a_row: 0, in_total: 10 });
}
