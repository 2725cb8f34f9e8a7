//! Whether the end of the audit trail reaches the places that settings name for it.

use portcullis_gate::SessionSettings;
use portcullis_gate::audit_head::{HeadPlace, deliveries, kept_heads};

use super::Checks;

/// What to do about a place that does not get its heads.
const REMEDY: &str = "repair the place or the setting `audit.head`, then try `portcullis log head --send`";

/// Checks every place by what came of sending to it the last time, and by how long ago that was.
pub(super) fn check_heads(checks: &mut Checks, session: &SessionSettings) {
    let settings = &session.loaded.audit.head;
    let Some(store) = session.store().filter(|_| settings.has_place() && session.loaded.audit.is_enabled)
    else {
        return;
    };
    let last = store.audit().head().ok().flatten().map_or(0, |head| head.number);
    let sent = deliveries(store.root());
    for place in HeadPlace::ALL.into_iter().filter(|place| place.is_named(settings)) {
        let name = place.as_str();
        let known = sent.iter().find(|sent| sent.place == place);
        // One that is being sent just now may be missing.
        let late = u64::from(settings.every).saturating_mul(2);
        match known {
            Some(sent) if sent.problem.is_some() => {
                let problem = sent.problem.as_deref().unwrap_or_default();
                checks.warning("heads", format!("{name}: {problem}"), REMEDY);
            }
            known if last.saturating_sub(known.map_or(0, |sent| sent.number)) > late => {
                let number = known.map_or(0, |sent| sent.number);
                let message =
                    format!("{name}: the last head is that of record {number}, and there are {last}");
                checks.warning("heads", message, REMEDY);
            }
            Some(sent) => checks.fine("heads", format!("{name}: has the head of record {}", sent.number)),
            None => checks.fine("heads", format!("{name}: gets the first after {} records", settings.every)),
        }
    }
    if let Err(lost) = kept_heads(settings, store.root()) {
        checks.problem("heads", lost, "see `portcullis log verify`: somebody may have changed the record");
    }
}
