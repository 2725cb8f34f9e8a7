//! What process 1 of the fence does: it puts the fence up, starts the command, reaps what is left, and reports.
//!
//! The order is the point of this file. What hides comes after what is taken out of the tree; what restricts comes after
//! the last step that needs a right; the command starts when nothing is left to do.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use libc::MOUNT_ATTR_RDONLY;
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Gid, Pid, Signal, Uid, WaitOptions, WaitStatus, kill_process_group,
    set_dumpable_behavior, set_parent_process_death_signal, setsid, wait,
};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::device::{self, HarmlessDevices, attach_processes, hide_shared_places};
use super::kernel::{MountDepth, close_descriptors_on_exec};
use super::mount::{DetachedMount, attach_grants, make_private, pin, seal_tree, take_grants};
use super::network_plan::NetworkPlan;
use super::privilege::InsideEnds;
use super::report::InsideReport;
use super::{doors, landlock_rules, loopback, mask, privilege, program, syscall_filter};
use crate::command::{FencedCommand, FencedExit};
use crate::error::FenceError;
use crate::protection::ProtectedPlaces;

/// What the supervisor says when it does its part.
pub(super) const GO: u8 = b'1';

/// Everything that the inside has to know, gathered outside.
#[derive(Debug)]
pub(super) struct InsidePlan {
    /// The command with its policy.
    pub(super) command: FencedCommand,
    /// The variables that it gets.
    pub(super) environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    /// Sockets to mask.
    pub(super) sockets: Vec<std::path::PathBuf>,
    /// What to protect below the workspace.
    pub(super) protected: ProtectedPlaces,
    /// Whether its user and its network are those of another run of the session.
    pub(super) joins_network: bool,
    /// Whom it can reach.
    pub(super) network: NetworkPlan,
    /// Who the command is, inside as outside.
    pub(super) user: Uid,
    /// Its group.
    pub(super) group: Gid,
}

/// What leads to the supervisor.
#[derive(Debug)]
pub(super) struct InsidePipes {
    /// Where it says that it does its part.
    pub(super) life: File,
    /// Where it takes the sockets of the network.
    pub(super) network: UnixStream,
    /// Where it takes what the command writes to files.
    pub(super) standard: InsideEnds,
}

/// Runs the command of a plan and ends the process.
pub(super) fn enter(plan: &InsidePlan, mut report: File, pipes: InsidePipes) -> ! {
    let crashed = || Err(FenceError::set_up("go up", &io::Error::other("an internal failure")));
    let result = catch_unwind(AssertUnwindSafe(|| live(plan, pipes))).unwrap_or_else(|_| crashed());
    let said = result.unwrap_or_else(InsideReport::Failed).write(&mut report);
    let let_go = privilege::let_standard_files_go();
    // The supervisor reads to the end, and the kernel closes what is open only after it has put the namespaces away.
    drop(report);
    end(i32::from(said.is_err() || let_go.is_err()))
}

/// The supervisor goes by the report; the code says only whether there is one.
#[expect(
    clippy::exit,
    reason = "this process is a copy of its parent and must not go back into the parent's code"
)]
pub(super) fn end(code: i32) -> ! {
    std::process::exit(code)
}

fn live(plan: &InsidePlan, pipes: InsidePipes) -> Result<InsideReport, FenceError> {
    bind_to_supervisor()?;
    pipes.standard.take()?;
    let signals = Signals::new([SIGCHLD, SIGHUP, SIGINT, SIGTERM])
        .map_err(|error| FenceError::set_up("wait for signals", &error))?;
    if !plan.joins_network {
        map_user(plan)?;
    }
    privilege::clean_standard_files()?;
    put_up_mounts(plan)?;
    if !plan.joins_network {
        loopback::switch_on()?;
        doors::open(&plan.network, &pipes.network)?;
    }
    drop(pipes.network);
    let refused_before = loopback::refused_connections();
    let directory = &plan.command.directory;
    std::env::set_current_dir(directory)
        .map_err(|error| FenceError::set_up_at("start in", directory, &error))?;
    let landlock_abi = restrict(plan)?;
    hear_from_supervisor(&pipes.life)?;
    let exit = run_command(plan, signals)?;
    let refused_connections = loopback::refused_connections().saturating_sub(refused_before);
    Ok(InsideReport::Ended { exit, refused_connections, landlock_abi })
}

/// Dies with the supervisor.
fn bind_to_supervisor() -> Result<(), FenceError> {
    let bind = || -> io::Result<()> {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        setsid()?;
        Ok(())
    };
    bind().map_err(|error| FenceError::set_up("bind it to its supervisor", &error))
}

/// Goes no further if the supervisor died before it could be bound to, or cannot do its part. Else it said so long ago.
fn hear_from_supervisor(mut life: &File) -> Result<(), FenceError> {
    let heard = life.read_exact(&mut [0]);
    heard.map_err(|error| FenceError::set_up("hear from its supervisor", &error))
}

/// Makes the user inside the user outside, so that files have the owner that everybody expects.
fn map_user(plan: &InsidePlan) -> Result<(), FenceError> {
    let (user, group) = (plan.user.as_raw(), plan.group.as_raw());
    let map = || -> io::Result<()> {
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
    };
    map().map_err(|error| FenceError::set_up("map its user", &error))
}

fn put_up_mounts(plan: &InsidePlan) -> Result<(), FenceError> {
    let policy = &plan.command.policy;
    make_private()?;
    privilege::seal_standard_files()?;
    let grants = take_grants(&mut policy.places(), policy.layers())?;
    let temporary = match &policy.temporary {
        Some(place) => Some(
            DetachedMount::copy_of(place)
                .map_err(|error| FenceError::set_up_at("give it as its `/tmp`", place, &error))?,
        ),
        None => None,
    };
    let devices = HarmlessDevices::take()?;
    if plan.command.features.sealed_tree {
        seal_tree()?;
    }
    let sealed_later = hide_shared_places(policy, temporary)?;
    devices.attach(policy)?;
    attach_grants(&grants)?;
    for mount in sealed_later {
        mount
            .restrict(MOUNT_ATTR_RDONLY, MountDepth::One)
            .map_err(|error| FenceError::set_up("seal an empty place", &error))?;
    }
    protect(&plan.protected)?;
    mask::mask(&policy.masked)?;
    mask::mask(&plan.sockets)?;
    device::show_name_server()?;
    attach_processes()
}

fn protect(places: &ProtectedPlaces) -> Result<(), FenceError> {
    let pinned = |path: &Path, attributes| {
        pin(path, attributes).map_err(|error| FenceError::set_up_at("protect", path, &error))
    };
    for parent in &places.parents {
        pinned(parent, 0)?;
    }
    for found in &places.found {
        pinned(found, MOUNT_ATTR_RDONLY)?;
    }
    Ok(())
}

fn restrict(plan: &InsidePlan) -> Result<Option<u8>, FenceError> {
    let policy = &plan.command.policy;
    privilege::set_limits(&policy.limits)?;
    privilege::drop_capabilities()?;
    let features = plan.command.features;
    let landlock_abi = if features.landlock { landlock_rules::restrict(policy)? } else { None };
    // The command shares its user with this process, which it must not be able to read or steer.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| FenceError::set_up("close process 1", &error.into()))?;
    close_descriptors_on_exec().map_err(|error| FenceError::set_up("close open files", &error))?;
    if features.syscall_filter {
        let guard = mask::ConnectionGuard::start()?;
        syscall_filter::apply()?;
        guard.watch()?;
    }
    Ok(landlock_abi)
}

/// Starts the command in a group of its own, waits for it, and ends whatever it leaves behind.
fn run_command(plan: &InsidePlan, mut signals: Signals) -> Result<FencedExit, FenceError> {
    let child = program::start(&plan.command.words, &plan.environment)?;
    let waiting = |error: io::Error| FenceError::set_up("wait for the command", &error);
    loop {
        while let Some((process, status)) =
            wait(WaitOptions::NOHANG).map_err(|error| waiting(error.into()))?
        {
            if process == child {
                end_the_rest().map_err(waiting)?;
                return Ok(exit_of(status));
            }
        }
        for signal in signals.wait() {
            if signal != SIGCHLD
                && let Some(signal) = Signal::from_named_raw(signal)
            {
                // A group that has just ended needs no signal.
                let _ = kill_process_group(child, signal);
            }
        }
    }
}

/// Ends every other process of the fence, so that nothing writes any more when the end is reported.
fn end_the_rest() -> io::Result<()> {
    // To the kernel, group 1 means everybody but this process.
    match kill_process_group(Pid::INIT, Signal::KILL) {
        Ok(()) | Err(Errno::SRCH) => {}
        Err(error) => return Err(error.into()),
    }
    loop {
        match wait(WaitOptions::empty()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::CHILD) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn exit_of(status: WaitStatus) -> FencedExit {
    let small = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => FencedExit::Code(small(code)),
        (None, Some(signal)) => FencedExit::Signal(small(signal)),
        (None, None) => FencedExit::Code(u8::MAX),
    }
}
