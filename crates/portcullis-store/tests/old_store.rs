//! A state directory as an older program left it, before decisions were kept with their effects and spans: it is read,
//! verified, found by its index and written on. The files in `before_typed_records` were written by that program.
#![cfg(test)]
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use portcullis_store::audit::index::{Filter, Found};
use portcullis_store::audit::{Entry, OriginEntry, Position};
use portcullis_store::{
    AnswerOutcome, AnswerScope, ApprovalAnswer, ApprovalFilter, ApprovalState, GrantScope, Store,
};
use pretty_assertions::assert_eq;
use tempfile::TempDir;

/// When the old program was used, in unix milliseconds.
const THEN: u64 = 1_794_806_652_000;

const HEAD: &str = "5624f732b8de342608a80a7f90f09ac91fc6465bfcf70ab0506f30988c951391";

const FILES: &[(&str, &str)] = &[
    ("trail.jsonl", "audit/current.jsonl"),
    ("approvals.db", "approvals.db"),
    ("grants.json", "grants.json"),
    ("session-one.json", "sessions/one.json"),
    ("session-six.json", "sessions/six.json"),
];

/// Makes a state directory of the old files.
fn old_store() -> (TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/before_typed_records");
    for (from, to) in FILES {
        let to = directory.path().join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(old.join(from), to).unwrap();
    }
    let store = Store::new(directory.path().to_path_buf());
    (directory, store)
}

fn entries(store: &Store) -> Vec<Entry> {
    let update = store.audit().read_after(Position::default(), 100).unwrap();
    update.records.into_iter().map(|record| record.entry).collect()
}

#[test]
fn an_old_trail_is_whole_and_says_what_it_knows() {
    let (_directory, store) = old_store();
    let verified = store.audit().verify(&[], Some(HEAD)).unwrap();
    assert!(verified.is_whole(), "{:?}", verified.breaks);
    let entries = entries(&store);
    assert_eq!(entries.len(), 25);
    let mut decisions = BTreeMap::new();
    for entry in &entries {
        *decisions.entry(entry.decision.as_str()).or_insert(0) += 1;
        // Nothing is made up that was not recorded.
        assert!(!entry.has_grounds() && entry.spans.is_empty() && entry.effects.is_empty());
    }
    assert_eq!(decisions, BTreeMap::from([("allow", 8), ("ask", 9), ("deny", 8)]));
    let denied = entries.iter().find(|entry| entry.summary.starts_with("terraform")).unwrap();
    let origin = OriginEntry {
        source: String::new(),
        file: Some("/home/dev/.config/portcullis/settings.json".to_owned()),
        line: Some(5),
    };
    assert_eq!(denied.rule.as_ref().unwrap().origin, origin);
    let granted = entries.iter().find(|entry| entry.summary == "npm install left-pad").unwrap();
    assert_eq!(granted.rule.as_ref().unwrap().origin.source, "session");
    let found = entries.iter().find(|entry| entry.code.as_deref() == Some("PC036")).unwrap();
    assert_eq!(found.findings.len(), 2);
}

#[test]
fn an_old_trail_is_indexed_and_goes_on() {
    let (directory, store) = old_store();
    let audit = store.audit();
    let denied = Filter { decision: Some("deny".to_owned()), ..Filter::default() };
    assert_eq!(audit.count(&denied).unwrap(), 8);
    let pushed = Filter { text: Some("--force".to_owned()), ..Filter::default() };
    let found = audit.find(&pushed, 10).unwrap();
    assert_eq!(found.len(), 1);
    let Found::One(one) = audit.get(&found[0].id).unwrap() else { panic!("{found:?}") };
    assert_eq!(one.entry.code.as_deref(), Some("PC007"));
    let totals = audit.totals(&Filter::default(), 5).unwrap();
    assert_eq!(totals.calls, 25);
    let mut next = one.entry.clone();
    (next.at_ms, next.version) = (THEN + 60_000, "9.9.9".to_owned());
    audit.append(&next).unwrap();
    // What an older program reads of the new line is what it always read.
    let text = fs::read_to_string(directory.path().join("audit/current.jsonl")).unwrap();
    let line: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((&line["code"], &line["version"]), (&"PC007".into(), &"9.9.9".into()));
    assert!(audit.verify(&[], Some(HEAD)).unwrap().is_whole());
    assert_eq!(audit.count(&denied).unwrap(), 9);
}

#[test]
fn old_sessions_and_grants_still_count() {
    let (_directory, store) = old_store();
    assert_eq!(store.session("one").denials().unwrap().in_total, 3);
    let input = r#"{"command":"npm install left-pad"}"#;
    let session = store.session("six");
    let taken = |now| session.take_approval("Bash", input, "/home/dev/app", now).unwrap();
    assert_eq!(taken(THEN).as_deref(), Some("44778d-2"));
    assert_eq!(taken(THEN), None);
    let grants = store.grants().list(THEN).unwrap();
    let rules: Vec<(&str, &str)> =
        grants.iter().map(|grant| (grant.behavior.as_str(), grant.rule.as_str())).collect();
    let wanted = [
        ("allow", "Bash(npm run build *)"),
        ("deny", "Bash(npm publish *)"),
        ("allow", "Bash(npm install *)"),
    ];
    assert_eq!(rules, wanted);
    assert_eq!(grants[2].scope, GrantScope::Session("six".to_owned()));
}

#[test]
fn old_questions_are_listed_and_answered() {
    let (_directory, store) = old_store();
    let all = ApprovalFilter { state: None, session: None, most: 10 };
    let mut states: Vec<(String, &str)> = store
        .backend()
        .approvals(&all)
        .unwrap()
        .into_iter()
        .map(|question| (question.question.summary, question.state.as_str()))
        .collect();
    states.sort();
    let wanted = [
        ("docker compose up -d", "open"),
        ("make deploy", "allowed"),
        ("npm install left-pad", "allowed"),
        ("rm -rf build && git push origin main", "denied"),
    ];
    assert_eq!(states, wanted.map(|(summary, state)| (summary.to_owned(), state)));
    let open = ApprovalFilter { state: Some(ApprovalState::Open), ..all };
    let open = store.backend().approvals(&open).unwrap().remove(0);
    assert!(open.explanation.is_some() && !open.question.has_grounds());
    let answer = ApprovalAnswer {
        is_allowed: true,
        scope: AnswerScope::Once,
        rule: None,
        message: None,
        by: "me".to_owned(),
        via: "web".to_owned(),
        at_ms: THEN + 60_000,
    };
    let answered = store.backend().answer_approval(&open.id, &answer).unwrap();
    let AnswerOutcome::First(answered) = answered else { panic!("{answered:?}") };
    let session = store.session("six");
    session.approve_question(&answered.call, answer.at_ms, 60_000).unwrap();
    let input = r#"{"command":"docker compose up -d"}"#;
    let taken = session.take_approval("Bash", input, "/home/dev/app", THEN + 61_000).unwrap();
    assert_eq!(taken.as_deref(), Some("44778d-4"));
}
