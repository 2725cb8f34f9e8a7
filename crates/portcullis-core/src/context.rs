//! What surrounds a call: mode, directories, and whether a person is there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use portcullis_analysis::Surroundings;
use portcullis_analysis::place::OwnLocations;
use portcullis_analysis::profile::Profiles;

use crate::fence::FenceOffer;
use crate::mode::Mode;

/// The session a call is made in. Paths are absolute and `/`-separated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The permission mode that was asked for; a policy may take it away.
    pub mode: Mode,
    /// The directory the call runs in.
    pub cwd: String,
    /// The session's primary working directory, which path rules are anchored at; usually the same as `cwd`.
    pub project: String,
    /// The user's home directory, if known.
    pub home: Option<String>,
    /// Working directories added on the command line.
    pub added_directories: Vec<String>,
    /// Whether somebody can be asked.
    pub person: Person,
    /// Whether the session was aborted. Then no call of it gets a verdict, so that a harness that stops an agent can be
    /// sure that nothing is allowed behind its back.
    pub aborted: bool,
    /// Whether plan mode was entered from a session that could bypass permissions.
    pub plan_from_bypass: bool,
    /// Hints the host gave about this very tool.
    pub hints: ToolHints,
    /// What is known of programs: files that were added, and the built-in profiles.
    pub profiles: Arc<Profiles>,
    /// Where our own places lie, besides their usual paths.
    pub locations: OwnLocations,
    /// A fence that this very call can run in, if one goes up and the host takes it.
    pub fence: Option<FenceOffer>,
    /// What happened in the session so far.
    pub session: SessionKnowledge,
}

/// What happened in a session before a call, as far as a judgement needs it.
///
/// The default is a session in which nothing happened yet. Whoever has not followed a session from its first call on
/// sets [`Self::is_partial`]; else a script that the agent wrote counts as the project's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionKnowledge {
    /// What the user said, oldest first: human turns only, no summaries, no tool results.
    pub turns: Vec<String>,
    /// Files the agent wrote, absolute, with what it wrote if that is known.
    pub written: BTreeMap<String, Option<String>>,
    /// The texts that edits put into files which the session did not write as a whole, by file.
    pub edits: BTreeMap<String, Vec<String>>,
    /// Files and directories, absolute, that commands of the session may have written; a directory stands for what is
    /// below it. Scripts among them are the agent's own.
    pub touched: BTreeSet<String>,
    /// Directories, absolute, that commands of the session filled from elsewhere: clones, archives.
    pub filled: BTreeSet<String>,
    /// Whether a call of the session read a secret, which a later call could carry away.
    pub reads_secrets: bool,
    /// Whether more happened than is known here, so that any script may be the agent's own.
    pub is_partial: bool,
    /// What a person allowed of this very call, once, after it had not been allowed; if somebody did.
    pub approval: Option<CallApproval>,
    /// Commands of the very call of which a person allowed one of the same shape before.
    pub recalled: Vec<RecalledCommand>,
    /// Sentences in which the user forbade something or permitted it again, oldest first, whatever became of the turns
    /// they stood in. [`crate::state_boundaries`] collects them.
    pub boundaries: Vec<String>,
}

/// A person's word for one very call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallApproval {
    /// The id of the call it was given for.
    pub id: String,
    /// Whether it answers what a person would be asked, in every mode; else it only lifts what auto mode judged.
    pub answers_questions: bool,
}

/// A command of a call whose shape a person allowed before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecalledCommand {
    /// The place of the command in the line.
    pub invocation: usize,
    /// What is remembered, by its id.
    pub id: String,
    /// The program with its subcommand.
    pub title: String,
    /// The day of the yes, for people: `12 Nov`.
    pub day: String,
}

/// Whether somebody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Person {
    /// Somebody is there.
    Present,
    /// Nobody is there: a headless run.
    Absent,
}

/// What a host says about a tool; absent means the unsafe answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolHints {
    /// The tool says it must be answered by a person.
    pub needs_person: bool,
    /// The tool says it changes nothing.
    pub read_only: bool,
}

impl Context {
    /// Makes the context of an interactive session in `cwd`.
    pub fn new(mode: Mode, cwd: &str) -> Self {
        Self {
            mode,
            cwd: cwd.to_owned(),
            project: cwd.to_owned(),
            home: None,
            added_directories: Vec::new(),
            person: Person::Present,
            aborted: false,
            plan_from_bypass: false,
            hints: ToolHints::default(),
            profiles: Arc::default(),
            locations: OwnLocations::default(),
            fence: None,
            session: SessionKnowledge::default(),
        }
    }

    /// Says whether a fence may settle what is not known: in auto mode, and where nobody is asked anyway, since a fence is
    /// better than a refusal.
    pub const fn takes_fences(&self) -> bool {
        match self.mode {
            Mode::Auto | Mode::DontAsk => true,
            Mode::Default | Mode::AcceptEdits => matches!(self.person, Person::Absent),
            Mode::Plan | Mode::BypassPermissions => false,
        }
    }

    /// Returns where commands of the call run, and what is known of programs there.
    pub(crate) fn surroundings(&self) -> Surroundings<'_> {
        Surroundings { directory: &self.cwd, home: self.home.as_deref(), profiles: &self.profiles }
    }
}
