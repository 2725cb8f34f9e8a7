//! The facade for programs that embed the engine: one gate for one session of an agent.
//!
//! INVARIANT: a program that says nothing gets the strictest reading. Settings, trust, grants and the environment are
//! looked up as the command line does; nobody can be asked unless the program says that somebody can; what the session
//! wrote is the agent's own unless it is known otherwise.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

use portcullis_core::{Decision, Mode, Person, Suggestion, ToolCall, Verdict};
use portcullis_hosts::{
    AskBy, BlockingReply, HookCall, HookMoment, HookSession, HostAnswer, HostDecision, MomentCapabilities,
    PlainQuestion, SessionFact, SessionFactKind,
};

use super::host_gate::{HostGate, KnownSession, own_session};
use crate::judge::ConfiguredConsultants;
use crate::session_settings::absolute_path;
use crate::{Failure, SettingsFlags, session_facts};

/// The moment before a call runs, for a program that puts questions to its user itself.
static BEFORE_CALL: HookMoment = HookMoment {
    event: "before_call",
    capabilities: MomentCapabilities {
        allow: true,
        ask: AskBy::Saying,
        plain: PlainQuestion::AsAny,
        reason: true,
        changed_input: true,
        fails_open: false,
    },
    blocking: BlockingReply { stdout: "", stderr: "", exit_code: 70 },
};

/// What became of a call, written down already.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "only an allow may run"]
pub struct GateDecision {
    /// Run it, ask the user, or do not run it.
    pub decision: Decision,
    /// Why, for the agent or the user.
    pub reason: String,
    /// Rules that would decide such calls, for whoever asks the user.
    pub suggestions: Vec<Suggestion>,
    /// What the user should know and the agent need not, such as a settings file that is broken.
    pub notice: Option<String>,
    /// Whether too many calls were denied, so that the run should end.
    pub ends_run: bool,
}

/// Judges the calls of one session of an agent.
#[derive(Debug)]
pub struct Gate {
    program: String,
    flags: SettingsFlags,
    session: HookSession,
    mode: Option<Mode>,
    person: Person,
    known: KnownSession,
}

impl Gate {
    /// Makes the gate of a session in a directory. The program is named in the audit trail. Nobody can be asked, and settings
    /// choose the mode, until something else is said.
    pub fn new(program: &str, directory: &Path) -> Result<Self, Failure> {
        let text = |path: &Path| path.to_str().map(str::to_owned);
        let unreadable = || Failure::usage(format!("`{}` is not valid UTF-8", directory.display()));
        let directory = absolute_path(&text(directory).ok_or_else(unreadable)?)?;
        if !directory.is_dir() {
            return Err(Failure::usage(format!("there is no directory `{}`", directory.display())));
        }
        let cwd = text(&directory).ok_or_else(unreadable)?;
        Ok(Self {
            program: program.to_owned(),
            flags: SettingsFlags::default(),
            session: HookSession { cwd, project: None, ..own_session(program)? },
            mode: None,
            person: Person::Absent,
            known: KnownSession::default(),
        })
    }

    /// Continues a session that is known by a name: its denials, approvals and what the user forbade count.
    #[must_use]
    pub fn in_session(mut self, id: &str) -> Self {
        id.clone_into(&mut self.session.id);
        self
    }

    /// Judges in a mode, instead of the one that settings choose.
    #[must_use]
    pub fn in_mode(mut self, mode: Mode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Says that the program asks its user where the decision is [`Decision::Ask`]. Otherwise such a call is denied.
    #[must_use]
    pub fn asking_user(mut self) -> Self {
        self.person = Person::Present;
        self
    }

    /// Adds settings: a file, or JSON.
    #[must_use]
    pub fn with_settings(mut self, settings: &str) -> Self {
        self.flags.settings = Some(settings.to_owned());
        self
    }

    /// Notes what the user typed, and nothing else: what they ask for may clear a finding, and what they forbid holds for the
    /// whole session. What cannot be kept is a failure, and the agent must not be given the words then.
    pub fn hear_user(&mut self, words: &str) -> Result<(), Failure> {
        let kind = SessionFactKind::Prompt { text: words.to_owned() };
        let fact = SessionFact { session: self.session.clone(), mode: self.mode, kind };
        let settings = self.host_gate().open_with_store(&self.session)?;
        let Some(store) = settings.store().filter(|_| !self.session.id.is_empty()) else {
            return Err(Failure::usage(
                "what the user forbids would be lost: the session has no name or no home",
            ));
        };
        session_facts::note(&store, &fact)?;
        self.known.turns.push(words.to_owned());
        Ok(())
    }

    /// Judges a call and writes the decision down. Whatever goes wrong is a failure and never an allow.
    pub fn judge(&self, call: &ToolCall) -> Result<GateDecision, Failure> {
        let asked = HookCall {
            moment: &BEFORE_CALL,
            calls: vec![call.clone()],
            mode: self.mode,
            person: Some(self.person),
            session: self.session.clone(),
            call_id: None,
            rewritable: None,
        };
        let (answer, judged) = self.host_gate().answer_with_case(&asked, Instant::now())?;
        Ok(GateDecision::of(answer, judged.verdict))
    }

    /// Ends the session: from now on no call of it gets a decision. May be called from any thread.
    pub fn abort(&self) {
        self.known.is_aborted.store(true, Ordering::Relaxed);
    }

    fn host_gate(&self) -> HostGate<'_> {
        HostGate {
            arguments: &self.flags,
            host: &self.program,
            format: None,
            known: Some(&self.known),
            consultants: Some(&ConfiguredConsultants),
            before_asking: &|time| time,
            withdrawal: None,
        }
    }
}

impl GateDecision {
    fn of(answer: HostAnswer, verdict: Verdict) -> Self {
        let decision = match answer.said {
            HostDecision::Allow => Decision::Allow,
            HostDecision::Ask => Decision::Ask,
            // A program that embeds the gate is offered no fence.
            HostDecision::Contained | HostDecision::Deny | HostDecision::Silence => Decision::Deny,
        };
        Self {
            decision,
            reason: verdict.reason.message(),
            suggestions: verdict.suggestions,
            notice: answer.notice,
            ends_run: answer.ends_run,
        }
    }
}
