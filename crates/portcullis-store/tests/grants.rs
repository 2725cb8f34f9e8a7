//! Grants: where and how long they hold, exact uses, files that are broken.
#![cfg(test)]

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use portcullis_store::{Grant, GrantContext, GrantScope, GrantUse, NewGrant, Store, StoreError};
use pretty_assertions::assert_eq;

const MINUTE: u64 = 60_000;

fn store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().join("state")).with_patience(Duration::from_mins(10));
    (directory, store)
}

fn new(rule: &str, scope: GrantScope) -> NewGrant {
    NewGrant {
        behavior: "allow".to_owned(),
        rule: rule.to_owned(),
        scope,
        lasts_ms: 10 * MINUTE,
        uses: None,
        plan: None,
        is_timed: true,
    }
}

fn session(id: &str) -> GrantScope {
    GrantScope::Session(id.to_owned())
}

fn rules(store: &Store, session: &str, now_ms: u64) -> Vec<String> {
    let place = GrantContext { session, workspace: "/code/app", now_ms };
    store.grants().holding(&place).unwrap().into_iter().map(|grant| grant.rule).collect()
}

#[test]
fn nothing_granted_is_nothing_and_makes_nothing() {
    let (_directory, store) = store();
    assert_eq!(rules(&store, "s1", 1), Vec::<String>::new());
    assert_eq!(store.grants().revoke(|_| true, 1).unwrap(), []);
    store.grants().end_session("s1", 1).unwrap();
    assert!(!store.root().exists());
}

#[test]
fn a_grant_holds_where_it_was_given_and_until_it_is_over() {
    let (_directory, store) = store();
    let grants = store.grants();
    grants.give(new("Bash(a *)", session("s/1")), 1_000).unwrap();
    grants.give(new("Bash(b *)", GrantScope::Workspace("/code/app".to_owned())), 2_000).unwrap();
    grants.give(new("Bash(c *)", GrantScope::Workspace("/code/other".to_owned())), 2_000).unwrap();
    assert_eq!(rules(&store, "s/1", 3_000), ["Bash(a *)", "Bash(b *)"]);
    assert_eq!(rules(&store, "s2", 3_000), ["Bash(b *)"]);
    assert_eq!(rules(&store, "", 3_000), ["Bash(b *)"]);
    assert_eq!(rules(&store, "s/1", 10 * MINUTE + 1_000), ["Bash(b *)"], "the first is over");
    assert_eq!(rules(&store, "s/1", 10 * MINUTE + 2_000), Vec::<String>::new());
    grants.give(new("Bash(d *)", session("s/1")), 11 * MINUTE).unwrap();
    let text = fs::read_to_string(store.root().join("grants.json")).unwrap();
    assert!(text.contains("Bash(d *)") && !text.contains("Bash(a *)"), "what is over is dropped: {text}");
}

#[test]
fn a_clock_that_is_turned_back_lengthens_nothing() {
    let (_directory, store) = store();
    let grants = store.grants();
    let id = grants.give(new("Bash(a *)", session("s")), 100 * MINUTE).unwrap().id;
    assert_eq!(rules(&store, "s", 99 * MINUTE), Vec::<String>::new(), "before it was given");
    assert_eq!(grants.spend(std::slice::from_ref(&id), 109 * MINUTE).unwrap(), GrantUse::All);
    assert_eq!(rules(&store, "s", 101 * MINUTE), Vec::<String>::new(), "before it was last used");
    assert_eq!(grants.spend(std::slice::from_ref(&id), 101 * MINUTE).unwrap(), GrantUse::Gone(vec![id]));
    assert_eq!(rules(&store, "s", 109 * MINUTE + 1), ["Bash(a *)"]);
}

#[test]
fn a_clock_that_is_turned_back_lifts_no_denial() {
    let (_directory, store) = store();
    let denial = NewGrant { behavior: "deny".to_owned(), ..new("Bash(a *)", session("s")) };
    store.grants().give(denial, 100 * MINUTE).unwrap();
    for now in [1, 99, 109] {
        assert_eq!(rules(&store, "s", now * MINUTE), ["Bash(a *)"], "at minute {now}");
    }
    assert_eq!(rules(&store, "s", 110 * MINUTE), Vec::<String>::new());
}

#[test]
fn uses_are_exact_however_many_ask_at_once() {
    let (_directory, store) = store();
    let id = store.grants().give(NewGrant { uses: Some(7), ..new("Bash(a *)", session("s")) }, 1).unwrap().id;
    let given = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                for _ in 0..3 {
                    if store.grants().spend(std::slice::from_ref(&id), 2).unwrap() == GrantUse::All {
                        given.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    assert_eq!(given.into_inner(), 7);
    assert_eq!(rules(&store, "s", 2), Vec::<String>::new());
}

#[test]
fn several_grants_are_used_all_or_none() {
    let (_directory, store) = store();
    let give = |uses| {
        store.grants().give(NewGrant { uses: Some(uses), ..new("Bash(a *)", session("s")) }, 1).unwrap().id
    };
    let (one, two) = (give(1), give(2));
    let both = [one.clone(), two.clone()];
    assert_eq!(store.grants().spend(&both, 2).unwrap(), GrantUse::All);
    assert_eq!(store.grants().spend(&both, 2).unwrap(), GrantUse::Gone(vec![one]));
    let left: Vec<Option<u32>> =
        store.grants().list(2).unwrap().into_iter().map(|grant| grant.uses_left).collect();
    assert_eq!(left, [Some(1)], "what was not given was not counted");
    assert_eq!(store.grants().spend(&[two], 2).unwrap(), GrantUse::All);
}

#[test]
fn a_grant_for_a_plan_ends_with_the_plan() {
    let (_directory, store) = store();
    let session_store = store.session("s");
    store.grants().give(NewGrant { plan: Some(0), ..new("Bash(a *)", session("s")) }, 1).unwrap();
    assert_eq!(rules(&store, "s", 2), ["Bash(a *)"]);
    let next = |facts: &mut portcullis_store::SessionFactLog| {
        facts.plan += 1;
        true
    };
    session_store.update_facts(next, 3).unwrap();
    assert_eq!(rules(&store, "s", 4), Vec::<String>::new());
}

#[test]
fn grants_are_revoked_one_by_one_and_with_their_session() {
    let (_directory, store) = store();
    let grants = store.grants();
    let id = grants.give(new("Bash(a *)", session("s")), 1).unwrap().id;
    grants.give(new("Bash(b *)", session("s")), 1).unwrap();
    grants.give(new("Bash(c *)", session("other")), 1).unwrap();
    assert_eq!(grants.revoke(|grant| grant.id == id, 2).unwrap().len(), 1);
    assert_eq!(rules(&store, "s", 3), ["Bash(b *)"]);
    assert_eq!(grants.spend(std::slice::from_ref(&id), 3).unwrap(), GrantUse::Gone(vec![id]));
    grants.end_session("s", 4).unwrap();
    let left: Vec<Grant> = grants.list(5).unwrap();
    assert_eq!((left.len(), left[0].rule.as_str()), (1, "Bash(c *)"));
}

#[test]
fn a_broken_file_is_an_error_and_no_grant() {
    let (_directory, store) = store();
    let id = store.grants().give(new("Bash(a *)", session("s")), 1).unwrap().id;
    let file = store.root().join("grants.json");
    let whole = fs::read_to_string(&file).unwrap();
    let forged = [
        String::new(),
        "{".to_owned(),
        whole.replace("\"version\":1", "\"version\":2"),
        whole.replace("\"uses_left\"", "\"uses\"").replace("\"is_timed\":true", "\"for_ever\":true"),
        whole.replace("\"expires_at_ms\":600001", "\"expires_at_ms\":-1"),
    ];
    for text in forged {
        fs::write(&file, &text).unwrap();
        let place = GrantContext { session: "s", workspace: "/code/app", now_ms: 2 };
        assert!(matches!(store.grants().holding(&place), Err(StoreError::Broken { .. })), "{text}");
        assert!(store.grants().spend(std::slice::from_ref(&id), 2).is_err(), "{text}");
        assert!(store.grants().give(new("Bash(b *)", session("s")), 2).is_err(), "{text}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "it is left for a person to look at");
    }
}

#[test]
fn there_is_room_for_so_many_grants_and_no_more() {
    let (_directory, store) = store();
    for _ in 0..100 {
        store.grants().give(new("Bash(a *)", session("s")), 1).unwrap();
    }
    let refused = store.grants().give(new("Bash(a *)", session("s")), 2).unwrap_err();
    assert_eq!(refused, StoreError::TooManyGrants { most: 100 });
    store.grants().give(new("Bash(a *)", session("s")), 11 * MINUTE).unwrap();
    assert_eq!(store.grants().list(11 * MINUTE).unwrap().len(), 1);
}
