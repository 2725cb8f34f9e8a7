//! One worker: understands a line, and decides its call as `check` would.

use portcullis_core::{Context, Facts, Person, Policy, Request, ToolCall, Verdict, decide};

use super::action::{Action, Line, near_key, parse_line};
use super::arguments::EvalArgs;
use crate::commands::check::{Opener, Sessions};
use crate::failure::Failure;
use crate::judge::judge;
use crate::output::human::{call_title, shorten};
use crate::session::Session;
use crate::world::World;

/// The longest reason that is kept, in characters; the command in it may be of any length.
const LONGEST_REASON: usize = 400;
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
    /// The disk, if it is looked at.
    world: Option<World>,
}

impl<'a> Worker<'a> {
    /// Loads the settings the flags ask for.
    pub(super) fn new(arguments: &'a EvalArgs) -> Result<Self, Failure> {
        let open_in: Opener =
            if arguments.with_settings { Session::open_in } else { Session::open_neutral_in };
        let base = open_in(&arguments.session, "")?;
        Ok(Self {
            arguments,
            sessions: Sessions::new(&arguments.session, base, open_in),
            world: arguments.with_settings.then(World::default),
        })
    }

    /// Says on standard error what is wrong with the settings.
    pub(super) fn warn(&mut self) {
        if let Ok(session) = self.sessions.find("") {
            session.warn();
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
        let Line { id, labels, call: line } = line;
        let session = self.sessions.find(line.cwd.as_deref().unwrap_or_default())?;
        let mode = line.mode.unwrap_or(self.arguments.mode);
        let context = session.context(Some(mode), Person::Present, &[]);
        let key = near_key(&line.call);
        let title = shorten(&call_title(&line.call), LONGEST_TITLE - 1).into_owned();
        let verdict = match &mut self.world {
            Some(world) => judge(session.policy(), line.call, context, world),
            None => judge_blindly(session.policy(), line.call, context),
        };
        let verdict = verdict.map_err(|failure| failure.message)?;
        Ok(Action {
            id,
            file,
            labels,
            decision: verdict.decision,
            step: verdict.step,
            reason: shorten(&verdict.reason.message(), LONGEST_REASON).into_owned(),
            findings: verdict.findings.iter().map(|found| found.code.to_owned()).collect(),
            title,
            key,
        })
    }
}

fn skipped(message: &str) -> Outcome {
    Outcome::Skipped(shorten(message, LONGEST_PROBLEM).into_owned())
}

/// Decides a call without a look at the disk: every path is taken for a real one.
fn judge_blindly(policy: &Policy, call: ToolCall, context: Context) -> Result<Verdict, Failure> {
    let request = Request::new(policy, call, context);
    let facts = Facts::of_empty_disk(request.questions());
    let outcome = decide(policy, &request, &facts).map_err(|error| Failure::internal(error.to_string()))?;
    Ok(outcome.into_verdict())
}
