//! Fences for the calls of one host: whether one can be had, and what the host runs instead.

use std::path::{Path, PathBuf};

use portcullis_core::{
    Case, FenceNetwork, FenceOffer, FenceRequest, Mode, Person, StrangeRegistry, ToolInput, path, visible,
};
use portcullis_fence::{
    CallRecord, CallRecordStore, ChangeKind, FencePolicy, InstallerAccess, LayerChange, NetworkAccess,
    RegistryPlaces, RunRecord, RunState, RunStore, WriteMode, command_hash, installers, is_protected_change,
    protected_names,
};
use portcullis_hosts::{HookCall, Host, RewritableInput};
use portcullis_store::redact;

use super::fence_builder::{FenceBuilder, HELD_CHANGES};
use super::ledger::{ContainedCall, ContainedState, ContainmentLedger};
use super::machine::{MachineFence, fence_policy, fence_program};
use super::needed_programs::ProgramSearch;
use super::run_difference::difference_of;
use super::wrapped_command::{can_be_wrapped, unwrapped, words, wrapped};
use crate::clock::now_ms;
use crate::session_settings::SessionSettings;
use crate::text_difference::DifferenceLimit;
use crate::{Failure, new_id};

/// How long a record waits for the runner, in milliseconds: as long as a host may ask its own user first.
const LONGEST_WAIT_MS: u64 = 30 * 60 * 1_000;

/// Nobody can tell in which directory a line ends.
#[derive(Debug)]
struct NowhereKnown;

/// Fences for one call of a host.
#[derive(Debug)]
pub struct HostFence<'a> {
    host: &'a str,
    asked: &'a HookCall,
    rewritable: &'a RewritableInput,
    state: &'a Path,
    home: Option<&'a Path>,
    program: PathBuf,
    /// What runs inside: the host's command, or what stands in it if it is a line of ours.
    command: String,
    policy: FencePolicy,
    /// Where the call runs, links followed, as the runner will see it.
    directory: PathBuf,
}

impl<'a> HostFence<'a> {
    /// Returns the builder for a call, if settings want fences and the host can be given another command. Where settings
    /// are broken, they may have wanted none.
    pub fn new(session: &'a SessionSettings, host: &'a str, asked: &'a HookCall) -> Option<Self> {
        let rewritable = asked.rewritable.as_ref()?;
        let is_wanted = session.loaded.contains_commands && !session.loaded.damaged;
        let can_rewrite = asked.moment.capabilities.changed_input && asked.calls.len() == 1;
        // What comes of a call is held against its session.
        let is_known = !asked.session.id.is_empty();
        if !is_wanted || !can_rewrite || !is_known || !can_be_wrapped(rewritable.command()) {
            return None;
        }
        let state = session.locations.state.as_deref()?;
        let mut policy = fence_policy(&session.locations, state);
        // A workspace that holds our own state is too wide to be written.
        if state.starts_with(&policy.workspace) || policy.check().is_err() {
            return None;
        }
        // The runner lays the layers.
        policy.mode = WriteMode::Observe(Vec::new());
        let program = fence_program()?;
        let directory = Path::new(&asked.session.cwd).canonicalize().ok()?;
        let command = innermost(program.to_str()?, rewritable.command());
        let home = session.locations.home.as_deref();
        Some(Self { host, asked, rewritable, state, home, program, command, policy, directory })
    }

    /// Keeps the record that the runner will take, and returns the input that the host is to run instead.
    pub fn put_up(&self, case: &Case, fence: &FenceRequest) -> Result<ToolInput, Failure> {
        let lost = |problem: String| Failure::internal(format!("the call could not be contained: {problem}"));
        let id = new_id().ok_or_else(|| lost("the system gives no random numbers".to_owned()))?;
        let words = words(&self.command);
        let given_at_ms = now_ms();
        let record = CallRecord {
            hash: command_hash(&words),
            directory: self.directory.clone(),
            policy: self.policy_for(case, fence),
            expires_at_ms: given_at_ms.saturating_add(LONGEST_WAIT_MS),
        };
        let call = ContainedCall {
            host: self.host.to_owned(),
            session: self.asked.session.id.clone(),
            call_id: self.asked.call_id.clone(),
            directory: self.directory.clone(),
            given_at_ms,
            asks_next: has_person(case),
            state: ContainedState::Given,
            is_done: false,
            held_run: None,
        };
        self.ledger().give(&id, &words, &call).map_err(|error| lost(error.to_string()))?;
        let records = CallRecordStore::at(self.state.join("calls"));
        records.put(&id, &record).map_err(|error| lost(error.to_string()))?;
        let program = self.program.to_str().ok_or_else(|| lost("its path is not text".to_owned()))?;
        let moves_to =
            self.moves_to(case).map_err(|NowhereKnown| lost("it is not known where it ends".to_owned()))?;
        let line = wrapped(program, &id, &self.command, moves_to.as_deref());
        Ok(self.rewritable.with_command(&line))
    }

    /// Returns how the programs that install reach their registries.
    fn installers(&self) -> Vec<InstallerAccess> {
        let is_hidden = |path: &Path| self.policy.hidden().any(|place| path.starts_with(place));
        let above = self.directory.ancestors();
        let directories: Vec<PathBuf> = above
            .take_while(|above| above.starts_with(&self.policy.workspace))
            .map(Path::to_path_buf)
            .collect();
        let places = RegistryPlaces { directories: &directories, home: self.home };
        installers(places, is_hidden, |name| std::env::var(name).ok())
    }

    /// Returns what the call may do inside: to install, it reaches the registries of the programs that it starts.
    fn policy_for(&self, case: &Case, fence: &FenceRequest) -> FencePolicy {
        let mut policy = self.policy.clone();
        if fence.network == FenceNetwork::Registries {
            let programs = case.programs();
            let is_started = |access: &InstallerAccess| {
                programs.iter().any(|program| Path::new(program).file_name() == Some(access.program.as_ref()))
            };
            let mut hosts = Vec::new();
            for access in self.installers().into_iter().filter(is_started) {
                hosts.extend(access.hosts);
                policy.environment.extend(access.variables.into_iter().map(str::to_owned));
            }
            hosts.sort();
            hosts.dedup();
            policy.network = NetworkAccess::Hosts(hosts);
        }
        policy
    }

    fn ledger(&self) -> ContainmentLedger {
        ContainmentLedger::below(self.state)
    }

    /// Says whether the host runs what it is given, as far as it was seen; `doctor` looks again at one that did not.
    fn is_trusted(&self, ledger: &ContainmentLedger) -> bool {
        ledger.off(self.host).is_none_or(|off| off.trial.as_deref() == Some(self.policy.workspace.as_path()))
    }

    /// Says whether what the line starts is there inside, as far as the shell of the host looks where this process would.
    fn finds_programs(&self, case: &Case) -> bool {
        let Some(offer) = self.offer() else { return false };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let search = ProgramSearch::new(&offer, &path, &self.directory);
        !case.programs().into_iter().chain(["bash"]).any(|name| search.is_hidden(name))
    }

    /// Says whether the host's next call starts where this one ended.
    fn keeps_directory(&self) -> bool {
        self.host == Host::Claude.name()
    }

    /// Returns the directory below the workspace that the line ends in, if that is another one and the host stays there.
    /// A line may also end where it began, because its way there failed; then so does ours.
    fn moves_to(&self, case: &Case) -> Result<Option<String>, NowhereKnown> {
        if !self.keeps_directory() {
            return Ok(None);
        }
        let begin = &case.context().cwd;
        let ends = case.directories_afterwards().ok_or(NowhereKnown)?;
        let mut others = ends.into_iter().map(|end| path::normalize(&end)).filter(|end| end != begin);
        let (other, is_only) = (others.next(), others.next().is_none());
        let is_inside = |end: &String| Path::new(end).starts_with(&self.policy.workspace);
        if other.as_ref().is_none_or(is_inside) && is_only { Ok(other) } else { Err(NowhereKnown) }
    }
}

impl FenceBuilder for HostFence<'_> {
    fn offer(&self) -> Option<FenceOffer> {
        let text = |path: &Path| path.to_str().map(str::to_owned);
        let hidden = self.policy.hidden().map(text).collect::<Option<_>>()?;
        let (mut installers, mut strange_registries) = (Vec::new(), Vec::new());
        for access in self.installers() {
            let program = access.program.to_owned();
            match access.stranger {
                Some(host) => strange_registries.push(StrangeRegistry { program, host: host.to_string() }),
                None if access.hosts.is_empty() => {}
                None => installers.push(program),
            }
        }
        Some(FenceOffer { workspace: text(&self.policy.workspace)?, hidden, installers, strange_registries })
    }

    fn held_changes(&self) -> Option<String> {
        let runs = RunStore::at(self.state.join("runs"));
        let held = self.ledger().held_runs(&words(&self.command), &self.asked.session.id);
        let held = held.iter().filter_map(|id| runs.find(id).ok());
        let newest = held.filter(|run| run.state == RunState::Held).max_by_key(|run| run.started_at_ms)?;
        Some(held_changes(&newest))
    }

    fn goes_up(&self, case: &Case) -> bool {
        let words = words(&self.command);
        let ledger = self.ledger();
        let session = &self.asked.session.id;
        if ledger.is_doubtful(&words, session, has_person(case)) {
            // Where that cannot be noted, the next event of the host is an alarm, which is the safe side.
            let _ = ledger.give_up(&words, session);
            return false;
        }
        // A directory that nobody can tell would be lost with the shell inside.
        self.moves_to(case).is_ok()
            && self.finds_programs(case)
            && self.is_trusted(&ledger)
            && !ledger.has_failed_in(session)
            && MachineFence::of(self.state, &self.policy.workspace, &self.program).problem.is_none()
    }
}

/// How many changes of a held run are named in a question, and how much of its difference is shown there.
const MOST_NAMES: usize = 5;
const SHOWN: DifferenceLimit = DifferenceLimit { lines: 40, columns: 160 };

/// Says what a held run changed, line by line as far as a question has room, and how a person sees the rest. What runs
/// later comes first, then what is gone. Secrets that are known by their form are blacked out.
fn held_changes(run: &RunRecord) -> String {
    let protected = protected_names();
    let weight = |change: &&LayerChange| {
        (!is_protected_change(&protected, change), change.kind != ChangeKind::Removed)
    };
    let mut changes: Vec<&LayerChange> = run.changes.iter().collect();
    changes.sort_by_key(weight);
    let named = changes.iter().take(MOST_NAMES).map(|change| {
        let does = match change.kind {
            ChangeKind::Added => "adds",
            ChangeKind::Modified => "changes",
            ChangeKind::Removed => "removes",
        };
        format!("{does} `{}`", visible(&change.path.to_string_lossy()))
    });
    let named: Vec<String> = named.collect();
    let more = match changes.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let lines = difference_of(run, &changes, SHOWN);
    let lines: String =
        lines.iter().flat_map(|line| ["\n".to_owned(), redact(&line.text).to_string()]).collect();
    format!(
        "{HELD_CHANGES}{}{more}, which is held: `portcullis runs diff {}` shows all of it line by line{lines}",
        named.join(", "),
        run.id
    )
}

/// The most lines of ours that are looked through.
const MOST_WRAPPED: usize = 8;

fn innermost(program: &str, line: &str) -> String {
    let mut command = line.to_owned();
    for _ in 0..MOST_WRAPPED {
        let Some(inner) = unwrapped(program, &command) else { break };
        command = inner;
    }
    command
}

/// Says whether somebody is asked about what is not contained.
fn has_person(case: &Case) -> bool {
    let context = case.context();
    context.person == Person::Present && context.mode != Mode::DontAsk
}
