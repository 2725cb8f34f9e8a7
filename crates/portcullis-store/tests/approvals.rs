//! Approvals in files: processes that answer at once and are killed, databases that are broken, removed or long.
#![cfg(test)]
#![cfg(unix)]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use portcullis_store::audit::Entry;
use portcullis_store::audit::index::Filter;
use portcullis_store::{
    AnswerOutcome, AnswerScope, ApprovalAnswer, ApprovalFilter, ApprovalState, DenialKind,
    NewApprovalRequest, NewDenial, Store, StoreError,
};
use pretty_assertions::assert_eq;

const NOW: u64 = 1_800_000_000_000;
const INPUT: &str = r#"{"command":"make deploy"}"#;
const OPEN: ApprovalFilter = ApprovalFilter { state: Some(ApprovalState::Open), session: None, most: 100 };

fn store(root: &Path) -> Store {
    Store::new(root.to_path_buf()).with_patience(Duration::from_mins(10))
}

fn entry() -> Entry {
    Entry {
        at_ms: NOW,
        host: "claude".to_owned(),
        event: "PreToolUse".to_owned(),
        session: "s".to_owned(),
        agent: None,
        call_id: None,
        cwd: "/code/app".to_owned(),
        mode: "auto".to_owned(),
        headless: true,
        tool: "Bash".to_owned(),
        summary: "Bash: make deploy".to_owned(),
        input: INPUT.to_owned(),
        decision: "ask".to_owned(),
        said: "deny".to_owned(),
        step: "A10".to_owned(),
        kind: "default".to_owned(),
        reason: "nothing decided".to_owned(),
        rule: None,
        code: None,
        denial: None,
        findings: Vec::new(),
        trace: Vec::new(),
        suggestions: Vec::new(),
        models: Vec::new(),
        micros: 700,
        ..Entry::default()
    }
}

/// Makes a question of the session `s` that waits an hour.
fn question(store: &Store, id: &str) -> NewApprovalRequest {
    let denial = NewDenial {
        tool: "Bash".to_owned(),
        input_json: INPUT.to_owned(),
        cwd: "/code/app".to_owned(),
        summary: "Bash: make deploy".to_owned(),
        reason: "nothing decided".to_owned(),
        kind: DenialKind::Asked,
        code: String::new(),
        retryable: true,
    };
    let denied = store.session("s").record_question(&denial, &[], NOW).unwrap();
    NewApprovalRequest {
        id: id.to_owned(),
        created_at_ms: NOW,
        expires_at_ms: NOW + 3_600_000,
        session: "s".to_owned(),
        call: store.session("s").denied(&denied).unwrap().unwrap(),
        question: entry(),
        explanation: None,
    }
}

fn yes() -> ApprovalAnswer {
    ApprovalAnswer {
        is_allowed: true,
        scope: AnswerScope::Once,
        rule: None,
        message: None,
        by: "a person".to_owned(),
        via: "api".to_owned(),
        at_ms: NOW + 1,
    }
}

fn start(root: &Path, words: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis-store-process"));
    command.arg(root).args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    command.spawn().unwrap()
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

#[test]
fn an_answer_whose_process_is_killed_before_it_is_applied_is_found_and_applied() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("state");
    store(&root).backend().open_approval(&question(&store(&root), "q1")).unwrap();
    let mut children: Vec<Child> =
        (0..6).map(|number| start(&root, &[&number.to_string(), "answer", "q1"])).collect();
    for child in &mut children {
        drop(child.stdin.take());
    }
    let said: Vec<String> = children.iter_mut().map(first_line).collect();
    for mut child in children {
        let _ = child.kill();
        child.wait().unwrap();
    }
    let first: Vec<usize> = (0..6).filter(|place| said[*place] == "first").collect();
    assert_eq!((first.len(), said.iter().filter(|word| *word == "late").count()), (1, 5), "{said:?}");
    let after = store(&root);
    let [left] = &after.backend().unapplied().unwrap()[..] else { panic!("the answer is lost") };
    assert_eq!(left.answer.as_ref().unwrap().by, first[0].to_string());
    let take = || after.session("s").take_approval("Bash", INPUT, "/code/app", NOW + 2).unwrap();
    assert_eq!(take(), None, "nobody applied it yet");
    after.session("s").approve_question(&left.call, left.answer.as_ref().unwrap().at_ms, 60_000).unwrap();
    after.backend().mark_applied(&left.id).unwrap();
    assert_eq!(take(), Some(left.denial.clone()));
    assert_eq!(after.backend().unapplied().unwrap(), []);
}

#[test]
fn those_who_make_the_database_at_the_same_time_do_not_disturb_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("state");
    let asked = question(&store(&root), "q1");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let asked = &asked;
            let root = &root;
            scope.spawn(move || assert_eq!(store(root).backend().open_approval(asked).unwrap().id, "q1"));
        }
    });
    assert_eq!(store(&root).backend().approvals(&OPEN).unwrap().len(), 1);
    for name in ["approvals.db", "approvals.db-wal", "approvals.db-shm"] {
        if let Ok(metadata) = fs::metadata(root.join(name)) {
            assert_eq!(metadata.permissions().mode() & 0o077, 0, "{name} is open to others");
        }
    }
}

#[test]
fn looking_makes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("state");
    let store = store(&root);
    assert_eq!(store.backend().approvals(&OPEN).unwrap(), []);
    assert_eq!(store.backend().expire_approvals(NOW).unwrap(), 0);
    assert_eq!(store.backend().prune_approvals(NOW).unwrap(), 0);
    assert_eq!(store.backend().answer_approval("q1", &yes()).unwrap(), AnswerOutcome::Unknown);
    assert_eq!(store.backend().latest_policy().unwrap(), None);
    assert!(!root.exists(), "looking made something");
}

#[test]
fn a_broken_database_is_an_error_and_no_approval() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("state");
    let asked = question(&store(&root), "q1");
    let path = root.join("approvals.db");
    fs::write(&path, "this is no database, but it is long enough to be taken for one ".repeat(100)).unwrap();
    let store = store(&root);
    let broken = |outcome: Result<(), StoreError>| match outcome {
        Err(StoreError::Broken { file, .. }) => assert_eq!(file, path),
        other => panic!("{other:?}"),
    };
    broken(store.backend().open_approval(&asked).map(|_| ()));
    broken(store.backend().approvals(&OPEN).map(|_| ()));
    broken(store.backend().answer_approval("q1", &yes()).map(|_| ()));
    broken(store.backend().unapplied().map(|_| ()));
    assert_eq!(store.session("s").take_approval("Bash", INPUT, "/code/app", NOW + 2).unwrap(), None);
    fs::remove_file(&path).unwrap();
    assert_eq!(
        store.backend().open_approval(&asked).unwrap().id,
        "q1",
        "it does not go on once it is removed"
    );
}

#[test]
fn a_row_that_is_not_ours_and_a_database_of_another_version_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(directory.path());
    store.backend().open_approval(&question(&store, "q1")).unwrap();
    let path = directory.path().join("approvals.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute("UPDATE approvals SET state = 'granted'", ()).unwrap();
    assert!(matches!(store.backend().approval("q1"), Err(StoreError::Broken { .. })));
    other.execute("UPDATE approvals SET state = 'allowed', answer = '{}'", ()).unwrap();
    assert!(matches!(store.backend().unapplied(), Err(StoreError::Broken { .. })));
    other.pragma_update(None, "user_version", 99).unwrap();
    let again = Store::new(directory.path().to_path_buf());
    let message = again.backend().approval("q1").unwrap_err().to_string();
    assert!(message.contains("its version is 99"), "{message}");
}

#[test]
fn a_link_in_the_place_of_the_database_is_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("state");
    let asked = question(&store(&root), "q1");
    let elsewhere = directory.path().join("elsewhere.db");
    std::os::unix::fs::symlink(&elsewhere, root.join("approvals.db")).unwrap();
    let refused = store(&root).backend().open_approval(&asked);
    assert!(matches!(refused, Err(StoreError::Link { .. })), "{refused:?}");
    assert!(!elsewhere.exists());
}

#[test]
fn a_database_that_is_removed_under_an_open_store_is_made_anew() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(directory.path());
    let asked = question(&store, "q1");
    store.backend().open_approval(&asked).unwrap();
    for name in ["approvals.db", "approvals.db-wal", "approvals.db-shm"] {
        let _ = fs::remove_file(directory.path().join(name));
    }
    assert_eq!(store.backend().approval("q1").unwrap(), None);
    store.backend().open_approval(&asked).unwrap();
    let other = Store::new(directory.path().to_path_buf());
    assert_eq!(
        other.backend().approvals(&OPEN).unwrap().len(),
        1,
        "it was written to a file that nobody finds"
    );
}

#[test]
fn a_list_of_many_is_quick() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(directory.path());
    let mut asked = question(&store, "q");
    let number = asked.call.id.split_once('-').unwrap().0.to_owned();
    for place in 0..10_000 {
        asked.id = format!("q{place}");
        asked.call.id = format!("{number}-{place}");
        asked.created_at_ms = NOW + place;
        store.backend().open_approval(&asked).unwrap();
    }
    let begun = Instant::now();
    let listed = store.backend().approvals(&OPEN).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert_eq!((listed.len(), listed[0].id.as_str(), listed[99].id.as_str()), (100, "q0", "q99"));
    let begun = Instant::now();
    assert!(matches!(store.backend().answer_approval("q5000", &yes()).unwrap(), AnswerOutcome::First(_)));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[test]
fn an_index_that_is_kept_open_survives_its_removal_and_follows_the_trail() {
    let directory = tempfile::tempdir().unwrap();
    let audit = store(directory.path()).audit();
    audit.append_all(&[entry(), entry()]).unwrap();
    assert_eq!(audit.count(&Filter::default()).unwrap(), 2);
    audit.append(&entry()).unwrap();
    assert_eq!(audit.count(&Filter::default()).unwrap(), 3);
    for name in ["index.db", "index.db-wal", "index.db-shm"] {
        let _ = fs::remove_file(directory.path().join("audit").join(name));
    }
    assert_eq!(audit.find(&Filter::default(), 10).unwrap().len(), 3);
    audit.append(&entry()).unwrap();
    assert_eq!(audit.totals(&Filter::default(), 1).unwrap().calls, 4);
    assert!(directory.path().join("audit/index.db").exists(), "it is kept where nobody finds it");
}
