//! What became of the calls of a session, for a judge who must not take a denied call for one that ran.

use std::collections::BTreeMap;

use super::super::{TranscriptFormat, lines};
use super::{CallResult, SessionEvent, SessionStream};

impl CallResult {
    /// Says it in a few words, for a judge.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ran => "ran",
            Self::Failed => "failed or was refused",
            Self::Rejected => "denied by the user",
            Self::DeniedByRule => "denied by a rule",
            Self::Blocked => "denied by a reviewer",
        }
    }
}

/// Reads what became of the calls of a session, by the host's ids. What a tool returned is not looked at, only what the
/// host itself noted of it.
pub fn read_outcomes(bytes: &[u8], format: Option<TranscriptFormat>) -> BTreeMap<String, CallResult> {
    let mut stream = SessionStream::new(format.unwrap_or_else(|| lines::detect(bytes)));
    let (mut told, mut outcomes) = (Vec::new(), BTreeMap::new());
    for line in lines::lines(bytes) {
        // A line that is not understood says nothing of any call.
        let _ = stream.take(line, &mut told);
        for event in told.drain(..) {
            if let SessionEvent::Ended { id, fate } = event {
                outcomes.insert(id, fate);
            }
        }
    }
    outcomes
}
