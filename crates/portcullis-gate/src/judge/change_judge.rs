//! What a contained call changed, judged as the calls that would have changed the same: by the same findings, rules and
//! protected paths as words are.

use std::path::Path;

use portcullis_core::{Context, Decision, Mode, Person, ToolCall};
use portcullis_world::World;

use super::trial::Trial;
use crate::Failure;
use crate::session_settings::{SessionSettings, SettingsFlags};

/// Judges the changes of one call.
#[derive(Debug)]
pub struct ChangeJudge {
    session: SessionSettings,
    /// What every change is judged in, with what the user forbade in the session of the call.
    context: Context,
}

impl ChangeJudge {
    /// Loads the settings that the call was judged by, as they are now. Where they are broken, nobody knows what they
    /// would forbid.
    pub fn open(directory: &Path, session_id: &str) -> Result<Self, Failure> {
        let unknown = || Failure::internal("its directory is not text");
        let directory = directory.to_str().ok_or_else(unknown)?;
        let session =
            SessionSettings::open_for_session(&SettingsFlags::default(), directory, None, session_id)?;
        if session.loaded.damaged {
            return Err(Failure::internal("the settings that would judge them are broken"));
        }
        let boundaries = match session.store().filter(|_| !session_id.is_empty()) {
            Some(store) => {
                let facts = store.session(session_id).facts();
                facts.map_err(|error| Failure::internal(error.to_string()))?.boundaries
            }
            None => Vec::new(),
        };
        // Which of the files are a person's to say is the same in every mode: the mode that proves most leaves most to rules
        // and findings.
        let mode = match session.policy().mode_in_force(Mode::Auto) {
            Mode::Auto => Mode::Auto,
            _ => Mode::AcceptEdits,
        };
        let mut context = session.context(Some(mode), Person::Absent, &[]);
        context.session.boundaries = boundaries;
        Ok(Self { session, context })
    }

    /// Says why a call that changes the same would not run by itself, in one clause; nothing if it would. What the disk said
    /// about other changes is taken from a world.
    pub fn objection(&self, call: ToolCall, world: &mut World) -> Result<Option<String>, Failure> {
        let context = self.context.clone();
        let verdict = Trial::in_context(&self.session, call, context, world)?.verdict;
        Ok((verdict.decision != Decision::Allow).then(|| verdict.reason.message()))
    }
}
