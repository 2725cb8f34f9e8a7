//! The gate between an agent and its tools: the part of this harness that is worth copying.
//!
//! ```text
//! Gate::open ──► Gate::judge ──► Judged ──► (the caller runs it, if it is allowed) ──► Gate::note_run
//! ```

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use portcullis_core::{
    Answer, Case, Context, Decision, Mode, Need, OnLimit, Outcome, Person, Reason, ToolCall, Verdict,
};
use portcullis_hosts::json::write_input;
use portcullis_settings::{Environment, LoadOptions, Loaded, Locations, load};
use portcullis_store::{DenialKind, NewDenial, SessionStore, Store};
use portcullis_world::World;

/// What every call of a session is judged by.
pub(crate) struct Gate {
    loaded: Loaded,
    context: Context,
    session: SessionStore,
}

/// Whom the gate asks about a call that rules and proofs do not settle.
pub(crate) struct Askers<'a> {
    /// The classifier of auto mode.
    pub(crate) judge: &'a dyn Fn(&Case, &Verdict) -> Answer,
    /// The person.
    pub(crate) person: &'a mut dyn FnMut(&ToolCall, &Verdict) -> Answer,
}

/// A call with its verdict. What runs is the call in here.
pub(crate) struct Judged {
    pub(crate) case: Case,
    pub(crate) verdict: Verdict,
}

impl Gate {
    /// Loads the settings that hold in a directory, which becomes the project. Without a mode the settings' own counts.
    pub(crate) fn open(
        directory: &Path,
        mode: Option<Mode>,
        person: Person,
        session_id: &str,
    ) -> Result<Self, String> {
        let directory = directory
            .canonicalize()
            .map_err(|error| format!("the directory `{}` cannot be used: {error}", directory.display()))?;
        let cwd = directory.to_str().ok_or("the path of the directory is not text")?;
        let locations = Locations::new(environment()?, &directory);
        refuse_steered(&locations)?;
        let loaded = load(&locations, &LoadOptions::default());
        let mode = mode.or(loaded.policy.default_mode).unwrap_or(Mode::Default);
        let mut context = Context::new(mode, cwd);
        context.home = locations.home.as_ref().and_then(|home| home.to_str()).map(str::to_owned);
        context.person = person;
        let state = locations.state.ok_or("there is no directory to count denials in")?;
        Ok(Self { loaded, context, session: Store::new(state).session(session_id) })
    }

    /// Returns what is wrong with the settings. It never widens what may run, but somebody should know.
    pub(crate) fn problems(&self) -> impl Iterator<Item = String> {
        self.loaded.problems.iter().map(ToString::to_string)
    }

    /// Returns the directory that calls run in.
    pub(crate) fn directory(&self) -> &str {
        &self.context.cwd
    }

    /// Judges a call. An error is a denial: whoever gets one must not run the call.
    pub(crate) fn judge(&self, call: ToolCall, askers: &mut Askers<'_>) -> Result<Judged, String> {
        let policy = &self.loaded.policy;
        let mut case = Case::new(call, self.context.clone());
        // A new world for every call: what the last one changed on the disk counts.
        case.answer(World::default().answer(case.questions(policy)));
        let mut outcome = case.decide(policy).map_err(|aborted| aborted.to_string())?;
        let verdict = loop {
            let pending = match outcome {
                Outcome::Settled(verdict) => break verdict,
                Outcome::Needs(pending) => pending,
            };
            let answer = match pending.need() {
                Need::Classifier => (askers.judge)(&case, pending.question()),
                Need::Hooks => Answer::None,
                Need::Person => (askers.person)(case.call(), pending.question()),
            };
            outcome = pending.resume(answer);
        };
        let verdict = self.count(&case, verdict, askers)?;
        Ok(Judged { case, verdict })
    }

    /// Counts the verdict in auto mode. At a limit of denials a person decides, or the run ends if nobody is there.
    fn count(&self, case: &Case, verdict: Verdict, askers: &mut Askers<'_>) -> Result<Verdict, String> {
        if verdict.mode != Mode::Auto {
            return Ok(verdict);
        }
        let mut verdict = verdict;
        if verdict.is_judged_denial() {
            let recorded = self.session.record_denial(&denial(case, &verdict), now_ms());
            if let Some(limit) = recorded.map_err(|error| error.to_string())?.limit {
                verdict = verdict.at_limit(limit, case.context().person, OnLimit::Abort);
            }
            if verdict.decision == Decision::Ask {
                let decision = match (askers.person)(case.call(), &verdict) {
                    Answer::Allow { .. } => Decision::Allow,
                    _ => Decision::Deny,
                };
                verdict = Verdict { decision, reason: Reason::Person, ..verdict };
            }
        }
        if verdict.decision == Decision::Allow {
            self.session.record_allow().map_err(|error| error.to_string())?;
        }
        Ok(verdict)
    }

    /// Remembers what a call that ran may have written: a script among it is the agent's own, not the project's.
    pub(crate) fn note_run(&mut self, case: &Case) {
        let session = &mut self.context.session;
        session.is_partial |= case.writes_unnamed();
        for path in case.written_paths() {
            let real = Path::new(&path).canonicalize().ok();
            session.touched.extend(real.and_then(|real| real.to_str().map(str::to_owned)));
            session.touched.insert(path);
        }
    }
}

/// Reads where the user's settings are. A variable that is set and leads nowhere would take deny rules with it.
fn environment() -> Result<Environment, String> {
    let directory = |name: &str| match std::env::var_os(name).filter(|value| !value.is_empty()) {
        Some(value) if !Path::new(&value).is_absolute() => Err(format!("`{name}` is not an absolute path")),
        value => Ok(value.map(PathBuf::from)),
    };
    Ok(Environment {
        home: directory("HOME")?.or_else(std::env::home_dir),
        xdg_config_home: directory("XDG_CONFIG_HOME")?,
        xdg_state_home: directory("XDG_STATE_HOME")?,
        claude_config_dir: directory("CLAUDE_CONFIG_DIR")?,
        ..Environment::default()
    })
}

/// A repository that could say where the user's settings and state are would write its own rules and counts.
fn refuse_steered(locations: &Locations) -> Result<(), String> {
    let mut own = [&locations.config, &locations.state, &locations.claude].into_iter().flatten();
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    match own.find(|path| real(path).starts_with(locations.workspace())) {
        Some(path) => Err(format!("the user's own `{}` lies in the workspace", path.display())),
        None => Ok(()),
    }
}

fn denial(case: &Case, verdict: &Verdict) -> NewDenial {
    let call = case.call();
    let mut input_json = String::new();
    write_input(&mut input_json, call.input());
    let (kind, code) = match &verdict.reason {
        Reason::Finding { code, .. } => (DenialKind::Finding, (*code).to_owned()),
        Reason::Boundary { .. } => (DenialKind::Boundary, String::new()),
        _ => (DenialKind::Classifier, String::new()),
    };
    NewDenial {
        tool: call.tool().to_owned(),
        summary: format!("{}: {input_json}", call.tool()),
        input_json,
        cwd: case.context().cwd.clone(),
        reason: verdict.reason.message(),
        kind,
        code,
        retryable: verdict.is_retryable(),
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
