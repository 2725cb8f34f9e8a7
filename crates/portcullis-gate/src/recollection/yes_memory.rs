//! Recalling and learning: what is remembered, held against what is there now.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_core::{RecalledCommand, RememberableCommand, visible};
use portcullis_store::{RememberedYes, Store, StoreError, redact};

use super::day::day_of;
use super::disk::{ProgramFile, digest_of, lies_directly};
use super::repository::RepositoryIdentity;
use super::{lasts_ms, read_shape};
use crate::clock::now_ms;
use crate::session_settings::SessionSettings;

/// The words of a command that is kept may be so long together, in bytes.
const MOST_TEXT: usize = 2_000;

/// The memory of one user, for the repository of a session.
#[derive(Debug)]
pub struct Recollection<'a> {
    session: &'a SessionSettings,
    store: Store,
    repository: RepositoryIdentity,
}

impl<'a> Recollection<'a> {
    /// Opens the memory; `None` if settings or the place leave none.
    pub fn open(session: &'a SessionSettings, store: &Store) -> Option<Self> {
        let is_on = session.loaded.memory.is_enabled && !session.loaded.damaged && store.is_local();
        let repository = if is_on { RepositoryIdentity::of(&session.locations)? } else { return None };
        Some(Self { session, store: store.clone(), repository })
    }

    /// Returns the yes to each command; `None` unless there is one to all of them.
    pub fn recall(
        &self,
        commands: &[RememberableCommand],
    ) -> Result<Option<Vec<RecalledCommand>>, StoreError> {
        let (now, lasts_ms) = (now_ms(), lasts_ms(self.session));
        let mut known = self.store.remembered().list()?;
        known.retain(|(_, yes)| self.repository.is_of(yes) && yes.is_good(now, lasts_ms));
        let may_cover = |command: &RememberableCommand| {
            known
                .iter()
                .any(|(_, yes)| read_shape(yes).is_some_and(|shape| shape.covers(&command.shaped.shape)))
        };
        // Programs are long, so they are looked at only if it may matter.
        if known.is_empty() || !commands.iter().all(may_cover) {
            return Ok(None);
        }
        Ok(commands.iter().map(|command| self.recall_one(command, &known, now)).collect())
    }

    fn recall_one(
        &self,
        command: &RememberableCommand,
        known: &[(String, RememberedYes)],
        now: u64,
    ) -> Option<RecalledCommand> {
        let seen = self.look_up(command)?;
        let covers = |yes: &RememberedYes| {
            read_shape(yes).is_some_and(|shape| shape.covers(&command.shaped.shape))
                && (&yes.file, &yes.digest) == (&seen.program.file, &seen.program.digest)
                && yes.scripts == seen.scripts
        };
        let (id, yes) = known.iter().rev().find(|(_, yes)| covers(yes))?;
        Some(RecalledCommand {
            invocation: command.invocation,
            id: id.clone(),
            title: visible(&command.shaped.shape.title()).to_string(),
            day: day_of(yes.allowed_at_ms, now),
        })
    }

    /// Notes that what was recalled let a call run.
    pub fn note_use(&self, commands: &[RecalledCommand]) -> Result<(), StoreError> {
        let ids: BTreeSet<String> = commands.iter().map(|command| command.id.clone()).collect();
        self.store.remembered().note_use(&ids.into_iter().collect::<Vec<_>>(), now_ms())
    }

    /// Remembers that a person allowed commands; all of them or none.
    pub fn learn(&self, commands: &[RememberableCommand]) -> Result<(), StoreError> {
        for yes in self.describe(commands).unwrap_or_default() {
            self.store.remembered().keep(&yes)?;
        }
        Ok(())
    }

    /// Says what would be remembered of commands; `None` if one of them cannot be.
    pub fn describe(&self, commands: &[RememberableCommand]) -> Option<Vec<RememberedYes>> {
        commands.iter().map(|command| self.describe_one(command)).collect()
    }

    fn describe_one(&self, command: &RememberableCommand) -> Option<RememberedYes> {
        let shape = &command.shaped.shape;
        // Whoever names a secret in a command does not want it kept.
        let is_short = command.text.len() <= MOST_TEXT;
        let is_open = |text: &str| redact(text) == text;
        let words = || shape.subcommand.iter().chain(&shape.words);
        if !is_short || !is_open(&command.text) || !words().all(|word| is_open(word)) {
            return None;
        }
        let seen = self.look_up(command)?;
        let now = now_ms();
        Some(RememberedYes {
            repository: self.repository.root.clone(),
            remote: self.repository.remote.clone(),
            program: shape.program.clone(),
            file: seen.program.file,
            digest: seen.program.digest,
            subcommand: shape.subcommand.clone(),
            words: shape.words.clone(),
            acts: shape.acts.iter().map(|act| act.name().to_owned()).collect(),
            targets: shape.targets.iter().map(|target| target.name().to_owned()).collect(),
            scripts: seen.scripts,
            example: command.text.clone(),
            allowed_at_ms: now,
            used_at_ms: now,
            uses: 0,
        })
    }

    /// Looks up what a command runs and names; `None` if something is not what it seems.
    fn look_up(&self, command: &RememberableCommand) -> Option<SeenCommand> {
        let shaped = &command.shaped;
        if !self.repository.holds(&shaped.directory) {
            return None;
        }
        let project = self.session.locations.project.to_str()?;
        if !shaped.paths.iter().all(|(path, kind)| lies_directly(path, *kind, project)) {
            return None;
        }
        let program = ProgramFile::find(&shaped.shape.program, &shaped.directory, self.store.root())?;
        let scripts = shaped.scripts.iter().map(|file| Some((file.clone(), digest_of(file)?)));
        let mut scripts = scripts.collect::<Option<BTreeMap<_, _>>>()?;
        // One that is not there is not listed, and one that comes later makes the lists differ.
        scripts.retain(|_, digest| !digest.is_empty());
        Some(SeenCommand { program, scripts })
    }
}

/// What was found out about a command.
struct SeenCommand {
    program: ProgramFile,
    scripts: BTreeMap<String, String>,
}
