//! What a contained call changed, judged as the calls that would have changed the same: by the same findings, rules and
//! protected paths as words are.

use std::collections::BTreeSet;
use std::path::Path;

use portcullis_core::{Context, Decision, Mode, Person, ToolCall, is_rebuilt};
use portcullis_store::SessionFactLog;
use portcullis_world::World;

use super::trial::Trial;
use crate::Failure;
use crate::clock::now_ms;
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

    /// Notes that files of a workspace are about to land as written by the session of the call, so that nothing takes code
    /// for the project's own that nobody has read.
    pub fn note_landing<'a>(
        &self,
        session_id: &str,
        workspace: &Path,
        files: impl Iterator<Item = &'a Path>,
    ) -> Result<(), Failure> {
        let Some(store) = self.session.store().filter(|_| !session_id.is_empty()) else { return Ok(()) };
        let (mut written, mut filled) = (BTreeSet::new(), BTreeSet::new());
        for file in files {
            match output_of(file) {
                Some(output) => filled.insert(output),
                None => written.insert(file),
            };
            if written.len() + filled.len() > MOST_NAMED {
                (written, filled) = (BTreeSet::new(), BTreeSet::from([Path::new("")]));
                break;
            }
        }
        let whole = |path: &&Path| workspace.join(path).to_string_lossy().trim_end_matches('/').to_owned();
        let written: Vec<String> = written.iter().map(whole).collect();
        let filled: Vec<String> = filled.iter().map(whole).collect();
        let note = |facts: &mut SessionFactLog| {
            let before = facts.clone();
            for file in &written {
                facts.write(file);
            }
            for directory in &filled {
                facts.fill(directory);
            }
            *facts != before
        };
        let noted = store.session(session_id).update_facts(note, now_ms());
        noted.map_err(|error| Failure::internal(error.to_string()))
    }
}

/// How many files and folders that landed are noted by name; with more, the whole workspace counts as filled.
const MOST_NAMED: usize = 50;

/// Returns the folder that a file lies in and that a build makes again, if there is one: what lies there is noted as a
/// whole, since a build has many outputs and does not start from them.
fn output_of(file: &Path) -> Option<&Path> {
    let above: Vec<&Path> = file.ancestors().skip(1).collect();
    above.into_iter().rev().find(|folder| folder.to_str().is_some_and(is_rebuilt))
}
