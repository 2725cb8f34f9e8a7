//! The process outside: splits off the fence, passes signals on, waits, and says how it ended.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::carrier::{self, NetworkSource};
use super::doors::NetworkSockets;
use super::inside::{self, InsidePlan};
use super::kernel::{NewNamespaces, clone_into};
use super::mask::sockets_in_use;
use super::mount_table::find_mount_below;
use super::network_plan::NetworkPlan;
use super::privilege::Relays;
use super::report::InsideReport;
use super::session;
use crate::command::{FenceOutcome, FencedCommand};
use crate::environment::fenced_environment;
use crate::error::FenceError;
use crate::policy::{FencePolicy, WriteMode};
use crate::protection::{ProtectedPlaces, find_protected};

const NO_NAMESPACES: &str = "the system must let users make user namespaces: see `sysctl user.max_user_namespaces`, on Ubuntu \
    `kernel.apparmor_restrict_unprivileged_userns`; containers need a seccomp profile that allows it";

/// Runs a command inside a fence and waits for its end. The process that calls it has a single thread.
pub fn run(command: &FencedCommand) -> Result<FenceOutcome, FenceError> {
    run_meanwhile(command, || {})
}

/// Runs a command inside a fence, does something of one's own on another thread as soon as it was split off, and waits for
/// the end of the command alone. The process that calls it has a single thread.
pub fn run_meanwhile(
    command: &FencedCommand,
    meanwhile: impl FnOnce() + Send + 'static,
) -> Result<FenceOutcome, FenceError> {
    command.policy.check()?;
    let mut plan = make_plan(command)?;
    let protected = plan.protected.numbered();
    let pipe =
        || pipe_with(PipeFlags::CLOEXEC).map_err(|error| FenceError::set_up("open a pipe", &error.into()));
    let (report_reader, report_writer) = pipe()?;
    let (life_reader, life_writer) = pipe()?;
    let (network, network_inside) =
        UnixStream::pair().map_err(|error| FenceError::set_up("open a pipe", &error))?;
    let relays = Relays::prepare().map_err(|error| FenceError::set_up("pass its output on", &error))?;
    let (child, joined) = split_off(&mut plan)
        .map_err(|error| FenceError::set_up("make its namespaces", &error).with_hint(NO_NAMESPACES))?;
    let Some(child) = child else {
        drop((report_reader, life_writer, network));
        let standard = relays.into_inside();
        let pipes = inside::InsidePipes { life: File::from(life_reader), network: network_inside, standard };
        inside::enter(&plan, File::from(report_writer), pipes);
    };
    drop((report_writer, life_reader, network_inside));
    let failed = |error: io::Error| FenceError::set_up("wait for it", &error);
    let carriers = relays.carry(command.policy.limits.file_bytes).map_err(failed)?;
    let has_ended = pass_signals_on(child).map_err(failed)?;
    let (listener, _session) = session::publish(&command.policy).map_err(failed)?.unzip();
    let source = joined.map_or(NetworkSource::Fence(network), NetworkSource::Session);
    let log =
        carrier::serve(source, listener, plan.network.clone(), command.resolver.clone()).map_err(failed)?;
    // The fence goes up at the same time; the command waits for this word, and ends with this process.
    rustix::io::write(&life_writer, &[inside::GO]).map_err(|error| failed(error.into()))?;
    drop(life_writer);
    // What is not done meanwhile is done by the next one.
    let _ = std::thread::Builder::new().spawn(meanwhile);
    let report = InsideReport::read(File::from(report_reader));
    carriers.finish();
    has_ended.store(true, Ordering::SeqCst);
    let mut outcome = outcome(report, child)?;
    outcome.hosts = log.attempts();
    outcome.made_protected = made_protected(command, &protected);
    Ok(outcome)
}

fn make_plan(command: &FencedCommand) -> Result<InsidePlan, FenceError> {
    let policy = &command.policy;
    let sockets = sockets_in_use().map_err(|error| FenceError::set_up("list the sockets in use", &error))?;
    let protected = match policy.mode {
        WriteMode::Direct => find_protected(&policy.workspace, &policy.protected)
            .map_err(|error| FenceError::set_up_at("look through", &policy.workspace, &error))?,
        // Nothing of a layer lands before it was looked at.
        WriteMode::Observe(_) => ProtectedPlaces::default(),
    };
    refuse_mounts_below(policy)?;
    Ok(InsidePlan {
        command: command.clone(),
        environment: fenced_environment(policy, command.environment.iter().cloned()),
        sockets,
        protected,
        joins_network: false,
        network: NetworkPlan::new(&policy.network),
        user: rustix::process::geteuid(),
        group: rustix::process::getegid(),
    })
}

/// Splits off process 1 of the fence: in the network of another run of the session if there is one, else in its own. What
/// keeps it from the former does not keep it from the latter.
fn split_off(plan: &mut InsidePlan) -> io::Result<(Option<Pid>, Option<NetworkSockets>)> {
    if let Some(network) = session::join(&plan.command.policy) {
        plan.joins_network = true;
        if let Ok(child) = clone_into_network(&network) {
            return Ok((child, Some(network)));
        }
        plan.joins_network = false;
    }
    Ok((clone_into(NewNamespaces::All)?, None))
}

/// Splits off process 1 of a fence in a network that is there already. A process can enter only as it is, so one between
/// does that, and ends when it has split off the other.
fn clone_into_network(network: &NetworkSockets) -> io::Result<Option<Pid>> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    if let Some(between) = clone_into(NewNamespaces::None)? {
        drop(writer);
        let mut number = [0_u8; 4];
        let heard = File::from(reader).read_exact(&mut number);
        waitpid(Some(between), WaitOptions::empty())?;
        heard?;
        let first = Pid::from_raw(i32::from_ne_bytes(number));
        return first.map(Some).ok_or(io::ErrorKind::InvalidData.into());
    }
    let enter = || -> io::Result<Option<Pid>> {
        move_into_link_name_space(network.user.as_fd(), Some(LinkNameSpaceType::User))?;
        move_into_link_name_space(network.network.as_fd(), Some(LinkNameSpaceType::Network))?;
        clone_into(NewNamespaces::WithoutNetwork)
    };
    match enter() {
        Ok(None) => Ok(None),
        Ok(Some(first)) => {
            let said = rustix::io::write(&writer, &first.as_raw_nonzero().get().to_ne_bytes());
            inside::end(i32::from(said.is_err()))
        }
        Err(_) => inside::end(1),
    }
}

/// A layer shows what lies under a mount and not what is mounted there, and what is brought down would land in the latter.
fn refuse_mounts_below(policy: &FencePolicy) -> Result<(), FenceError> {
    for layer in policy.layers() {
        let found = find_mount_below(&layer.place)
            .map_err(|error| FenceError::set_up("read the table of mounts", &error))?;
        if let Some(found) = found {
            let reason = io::Error::other(format!("`{}` is mounted inside it", found.display()));
            return Err(FenceError::set_up_at("lay a layer over", &layer.place, &reason)
                .with_hint("run it with `--direct`"));
        }
    }
    Ok(())
}

/// Returns what is protected now and was not there when the command began, or is another file than then: whoever put it there,
/// the mount that kept it as it was went away with the old one. A tree that cannot be looked through any more is named as a
/// whole.
fn made_protected(command: &FencedCommand, before: &BTreeSet<(PathBuf, u64)>) -> Vec<PathBuf> {
    let policy = &command.policy;
    if policy.mode != WriteMode::Direct {
        return Vec::new();
    }
    match find_protected(&policy.workspace, &policy.protected) {
        Ok(after) => after.numbered().difference(before).map(|(path, _)| path.clone()).collect(),
        Err(_) => vec![policy.workspace.clone()],
    }
}

/// Passes on to process 1 of the fence what ends a command, until the flag that is returned says that it has ended; then a
/// signal is for this process again.
///
/// The number of process 1 stays its own, since nobody waits for it but this process, and only when it said nothing.
fn pass_signals_on(child: Pid) -> io::Result<Arc<AtomicBool>> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let has_ended = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&has_ended);
    std::thread::Builder::new().spawn(move || {
        for number in signals.forever() {
            if seen.load(Ordering::SeqCst) {
                // It fails for signals that have no meaning of their own, of which these are none.
                let _ = emulate_default_handler(number);
            } else if let Some(signal) = Signal::from_named_raw(number) {
                // A child that has just ended needs no signal.
                let _ = kill_process(child, signal);
            }
        }
    })?;
    Ok(has_ended)
}

/// Makes the outcome of what process 1 said. It ends by itself then, and the kernel takes its time to put its namespaces
/// away, for which nobody has to wait.
fn outcome(report: Option<InsideReport>, child: Pid) -> Result<FenceOutcome, FenceError> {
    match report {
        Some(InsideReport::Ended { exit, refused_connections, landlock_abi }) => Ok(FenceOutcome {
            exit,
            refused_connections,
            landlock_abi,
            hosts: Vec::new(),
            made_protected: Vec::new(),
        }),
        Some(InsideReport::Failed(error)) => Err(error),
        None => {
            let ended = waitpid(Some(child), WaitOptions::empty());
            let signal = ended.ok().flatten().and_then(|(_, status)| status.terminating_signal());
            let signal = signal.map_or_else(String::new, |signal| format!(" by signal {signal}"));
            Err(FenceError::set_up("report its end", &io::Error::other(format!("it was ended{signal}"))))
        }
    }
}
