//! Policies.

use super::CheckResult;
use super::sample::{START, at_once, several};
use crate::policy::SignedPolicy;
use crate::{Store, StoreError};

fn policy(version: u64, note: &str) -> SignedPolicy {
    SignedPolicy {
        version,
        signed_at_ms: START + version,
        settings: r#"{"permissions":{"deny":["Bash(rm *)"]}}"#.to_owned(),
        note: note.to_owned(),
        key: "a-key".to_owned(),
        signature: "c2lnbmF0dXJl".to_owned(),
    }
}

pub(super) fn versions_follow_each_other(open: &dyn Fn() -> Store) -> CheckResult {
    let store = open();
    let backend = store.backend();
    assert_eq!(backend.latest_policy()?, None);
    assert_eq!(backend.policies(10)?, []);
    assert_eq!(backend.publish_policy(&policy(1, "first"))?, 1);
    assert_eq!(backend.publish_policy(&policy(2, "second"))?, 2);
    for wrong in [0, 1, 2, 4] {
        let refused = backend.publish_policy(&policy(wrong, "again"));
        assert_eq!(refused, Err(StoreError::WrongVersion { version: wrong, next: 3 }));
    }
    let again = open();
    assert_eq!(again.backend().latest_policy()?, Some(policy(2, "second")));
    assert_eq!(again.backend().policy(1)?, Some(policy(1, "first")));
    assert_eq!(again.backend().policy(3)?, None);
    let listed = again.backend().policies(1)?;
    let told: Vec<_> = listed.iter().map(|one| (one.version, one.note.as_str(), one.signed_at_ms)).collect();
    assert_eq!(told, [(2, "second", START + 2)]);
    Ok(())
}

pub(super) fn one_of_many_publishes_a_version(open: &dyn Fn() -> Store) -> CheckResult {
    let published = at_once(&several(open, 6), |number, store| {
        match store.backend().publish_policy(&policy(1, &number.to_string())) {
            Ok(_) => Ok(Some(number.to_string())),
            Err(StoreError::WrongVersion { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    })?;
    let [winner] = published.iter().flatten().collect::<Vec<_>>()[..] else {
        return Err("not exactly one published".into());
    };
    let latest = open().backend().latest_policy()?;
    assert_eq!(latest.map(|policy| policy.note).as_ref(), Some(winner));
    Ok(())
}
