//! One worker: understands a line, and decides its call as `check` would.

use portcullis_core::{Context, Person};

use super::action::{Action, Line, near_key, parse_line};
use super::arguments::EvalArgs;
use super::containment::FencedAction;
use crate::commands::check::{Opener, Sessions};
use portcullis_gate::Failure;
use portcullis_gate::judge::{LocalVerdict, judge_locally, prepare};
use portcullis_gate::{SessionSettings, SettingsFlags};
use portcullis_output::human::call_title;
use portcullis_output::settings_notes;
use portcullis_output::shorten::shorten;
use portcullis_world::World;

/// The longest call that is shown, in columns.
const LONGEST_TITLE: usize = 120;
/// The longest complaint about a line, in characters.
const LONGEST_PROBLEM: usize = 300;

/// What became of a line.
pub(super) enum Outcome {
    /// It is blank.
    Blank,
    /// The filter does not take it.
    LeftOut,
    /// It was not understood.
    Skipped(String),
    /// It was decided.
    Decided(Box<Action>),
}

/// Decides actions, with settings and lookups of its own.
pub(super) struct Worker<'a> {
    arguments: &'a EvalArgs,
    sessions: Sessions<'a>,
    world: World,
}

impl<'a> Worker<'a> {
    /// Loads the settings the flags ask for.
    pub(super) fn new(arguments: &'a EvalArgs) -> Result<Self, Failure> {
        let open_in = opener(arguments);
        let base = open_in(&arguments.session, "")?;
        Ok(Self {
            arguments,
            sessions: Sessions::new(&arguments.session, base, open_in),
            world: world_of(arguments),
        })
    }

    /// Says on standard error what is wrong with the settings.
    pub(super) fn warn(&mut self) {
        if let Ok(session) = self.sessions.find("") {
            settings_notes::warn(session);
        }
    }

    /// Decides the action of a line; `file` is the number of the file it stands in.
    pub(super) fn evaluate(&mut self, file: usize, line: &[u8]) -> Outcome {
        if line.trim_ascii().is_empty() {
            return Outcome::Blank;
        }
        let line = match parse_line(line, self.arguments.use_modes) {
            Ok(line) if !self.arguments.only.takes(&line.labels) => return Outcome::LeftOut,
            Ok(line) => line,
            Err(message) => return skipped(&message),
        };
        match self.decide(file, line) {
            Ok(action) => Outcome::Decided(Box::new(action)),
            Err(message) => skipped(&message),
        }
    }

    fn decide(&mut self, file: usize, line: Line) -> Result<Action, String> {
        let session = self.sessions.find(line.call.cwd.as_deref().unwrap_or_default())?;
        let context = context_of(session, self.arguments, &line);
        let Line { id, labels, call: line, .. } = line;
        let key = near_key(&line.call);
        let title = shorten(&call_title(&line.call), LONGEST_TITLE - 1).into_owned();
        let policy = session.policy();
        let mut case = prepare(policy, line.call, context, &mut self.world);
        let local = judge_locally(policy, &case).map_err(|failure| failure.message)?;
        let (fenced, local) = if self.arguments.containment {
            let (fenced, local) =
                FencedAction::judge(policy, &mut case, &local).map_err(|failure| failure.message)?;
            (Some(fenced), local)
        } else {
            (None, local)
        };
        let LocalVerdict { verdict, needs_model } = local;
        let mut action = Action {
            id,
            file,
            labels,
            decision: verdict.decision,
            step: verdict.step,
            reason: String::new(),
            findings: Vec::new(),
            needs_model,
            fenced,
            title,
            key,
        };
        action.take(&verdict);
        Ok(action)
    }
}

fn skipped(message: &str) -> Outcome {
    Outcome::Skipped(shorten(message, LONGEST_PROBLEM).into_owned())
}

/// Returns how the session of a directory is opened.
pub(super) fn opener(arguments: &EvalArgs) -> Opener {
    if arguments.with_settings { SessionSettings::open_in } else { open_neutral }
}

/// Returns the disk that plays a part: that of this machine, or none.
pub(super) fn world_of(arguments: &EvalArgs) -> World {
    if arguments.with_settings { World::default() } else { World::without_disk() }
}

/// Opens a session that knows nothing of this machine, so no file of a project of that name is shown to a model.
fn open_neutral(arguments: &SettingsFlags, directory: &str) -> Result<SessionSettings, Failure> {
    let mut session = SessionSettings::open_neutral_in(arguments, directory)?;
    session.loaded.classifier.project_instructions = false;
    Ok(session)
}

/// Makes the context of a line's call: somebody can be asked, and the user said what the line says.
pub(super) fn context_of(session: &SessionSettings, arguments: &EvalArgs, line: &Line) -> Context {
    let mode = line.call.mode.unwrap_or(arguments.mode);
    let mut context = session.context(Some(mode), Person::Present, &[]);
    context.session.turns.clone_from(&line.said);
    context
}
