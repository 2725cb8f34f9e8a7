//! Which mode counts in a session, and who decides what rules and the analysis leave open: said to people.

use portcullis_core::Mode;
use portcullis_hosts::{HostAdapter, HostReply, SessionFact, SessionFactKind};

use crate::SessionSettings;
use crate::classifier::{ClassifierFlags, Resting, VoteStanding, assemble, has_classifier};

/// Says which mode counts where an agent names none.
pub fn usual_mode(session: &SessionSettings) -> String {
    match session.policy().own_mode {
        Some(mode) => format!("{mode}, also where an agent says only that its mode is the default one"),
        None => "the agent's own (`portcullis init --mode auto` sets one for all agents)".to_owned(),
    }
}

/// Says who decides what rules and the analysis leave open.
pub fn who_decides(session: &SessionSettings) -> String {
    let flags = ClassifierFlags::default();
    if !has_classifier(&session.loaded, &flags) {
        return "what rules and the analysis leave open is asked about".to_owned();
    }
    let store = session.store();
    let setup = match assemble(session, &flags, store.as_ref(), Resting::Ignored) {
        Ok(setup) => setup,
        Err(problem) => {
            return format!("what rules and the analysis leave open does not run unasked, since {problem}");
        }
    };
    let objection = setup
        .judge
        .endpoints
        .first()
        .and_then(|first| VoteStanding::of(&setup, first, store.as_ref()).objection(&first.model.id));
    objection.map_or_else(
        || "what rules and the analysis leave open in auto mode goes to the model".to_owned(),
        |objection| format!("what rules and the analysis leave open is asked about, since {objection}"),
    )
}

/// Says whether a session begins whose user is to be told that we are there.
pub fn is_welcome(adapter: &HostAdapter, fact: &SessionFact) -> bool {
    let SessionFactKind::Started { source } = &fact.kind else { return false };
    matches!(source.as_str(), "startup" | "resume") && adapter.welcome.is_some()
}

/// Tells the user of a session that begins which mode counts and who decides.
pub fn welcome(adapter: &HostAdapter, session: &SessionSettings, fact: &SessionFact) -> HostReply {
    let text = welcome_text(session, fact.mode);
    adapter.welcome.map_or_else(HostReply::silence, |welcome| welcome(&text))
}

/// Writes what a person reads at the beginning of a session, given the mode that the agent names.
fn welcome_text(session: &SessionSettings, named: Option<Mode>) -> String {
    let policy = session.policy();
    let mode = match named {
        Some(Mode::Default) | None => policy.own_mode.or(named),
        Some(_) => named,
    };
    let mode = mode.map_or_else(
        || "The agent's own mode counts".to_owned(),
        |mode| format!("Mode: {}", policy.mode_in_force(mode)),
    );
    format!("Portcullis judges every tool call. {mode}; {}.", who_decides(session))
}
