//! Grants.

use super::CheckResult;
use super::sample::{START, at_once, several};
use crate::{GrantContext, GrantScope, GrantUse, NewGrant, Store};

fn grant(uses: Option<u32>) -> NewGrant {
    NewGrant {
        behavior: "allow".to_owned(),
        rule: "Bash(make *)".to_owned(),
        scope: GrantScope::Session("s/1".to_owned()),
        lasts_ms: 60_000,
        uses,
        plan: None,
        is_timed: false,
    }
}

pub(super) fn uses_are_given_once_each(open: &dyn Fn() -> Store) -> CheckResult {
    let id = open().grants().give(grant(Some(5)), START)?.id;
    let spent =
        at_once(&several(open, 8), |_, store| store.grants().spend(std::slice::from_ref(&id), START + 1))?;
    assert_eq!(spent.iter().filter(|spent| **spent == GrantUse::All).count(), 5);
    assert_eq!(open().grants().list(START + 2)?, []);
    Ok(())
}

pub(super) fn grants_are_numbered_and_taken_back(open: &dyn Fn() -> Store) -> CheckResult {
    let given = at_once(&several(open, 4), |_, store| store.grants().give(grant(None), START))?;
    let mut ids: Vec<String> = given.into_iter().map(|grant| grant.id).collect();
    ids.sort();
    assert_eq!(ids, ["g1", "g2", "g3", "g4"]);
    let place = |session| GrantContext { session, workspace: "/code", now_ms: START + 1 };
    assert_eq!(open().grants().holding(&place("s/1"))?.len(), 4);
    assert_eq!(open().grants().holding(&place("s/2"))?.len(), 0);
    assert_eq!(open().grants().revoke(|grant| grant.id == "g2", START + 1)?.len(), 1);
    assert_eq!(open().grants().holding(&place("s/1"))?.len(), 3);
    open().grants().end_session("s/1", START + 1)?;
    assert_eq!(open().grants().list(START + 1)?, []);
    assert_eq!(open().grants().give(grant(None), START + 2)?.id, "g5");
    Ok(())
}
