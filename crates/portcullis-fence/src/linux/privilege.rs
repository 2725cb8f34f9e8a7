//! What a process has that a fenced command must not: capabilities, privileges of programs, open files, no limits.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::path::Path;
use std::thread::{Builder, JoinHandle};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, MemfdFlags, OFlags};
use rustix::net::{AddressFamily, SocketType, sockopt};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities, set_no_new_privs,
};

use super::kernel::MountDepth;
use super::mount::DetachedMount;
use crate::error::FenceError;
use crate::policy::RunLimits;

/// Drops every capability for good; the new user namespace gave them all.
pub(super) fn drop_capabilities() -> Result<(), FenceError> {
    let drop = || -> io::Result<()> {
        set_no_new_privs(true)?;
        clear_ambient_capability_set()?;
        for bit in 0..u64::BITS {
            let capability = CapabilitySet::from_bits_retain(1 << bit);
            match remove_capability_from_bounding_set(capability) {
                Ok(()) => {}
                // The kernel does not know the number, so nobody can have it.
                Err(rustix::io::Errno::INVAL) => break,
                Err(error) => return Err(error.into()),
            }
        }
        let none = CapabilitySet::empty();
        Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
    };
    drop().map_err(|error| FenceError::set_up("drop its privileges", &error))
}

/// How much of a crashed program's memory is kept. With no bytes at all, a program of the machine would still be handed
/// the memory; with one byte nobody is.
const CORE_BYTES: u64 = 1;

/// Sets the limits that a user may set for himself.
pub(super) fn set_limits(limits: &RunLimits) -> Result<(), FenceError> {
    let table = [
        (Resource::Nproc, limits.processes),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Core, CORE_BYTES),
    ];
    for (resource, most) in table {
        let now = rustix::process::getrlimit(resource);
        let most = now.maximum.map_or(most, |maximum| maximum.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
            .map_err(|error| FenceError::set_up("limit what it uses", &error.into()))?;
    }
    Ok(())
}

/// Makes standard input safe to hand on, and refuses outputs that would be a way out.
///
/// A directory as a descriptor leads to the tree as it was before it was sealed; a file that is open for writing as
/// standard input can be written by whoever reads it.
pub(super) fn clean_standard_files() -> Result<(), FenceError> {
    let clean = || -> io::Result<()> {
        match standard_file(io::stdin())? {
            StandardFile::Safe => {}
            StandardFile::Unsafe => rustix::stdio::dup2_stdin(File::open("/dev/null")?)?,
            StandardFile::WritableInput => {
                let position = rustix::fs::tell(io::stdin())?;
                let mut readable = File::open("/proc/self/fd/0")?;
                readable.seek(SeekFrom::Start(position))?;
                rustix::stdio::dup2_stdin(readable)?;
            }
        }
        let null = || File::options().write(true).open("/dev/null");
        if standard_file(io::stdout())? == StandardFile::Unsafe {
            rustix::stdio::dup2_stdout(null()?)?;
        }
        if standard_file(io::stderr())? == StandardFile::Unsafe {
            rustix::stdio::dup2_stderr(null()?)?;
        }
        Ok(())
    };
    clean().map_err(|error| FenceError::set_up("clean its standard files", &error))
}

/// Opens a file that is standard input, and devices, anew through a mount that nothing can be changed by. What came from
/// outside is on a mount of the machine: by it, whoever reads could still set the file's mode, times and attributes.
pub(super) fn seal_standard_files() -> Result<(), FenceError> {
    let seal = || -> io::Result<()> {
        seal_device(io::stdin(), |own| Ok(rustix::stdio::dup2_stdin(own)?))?;
        seal_device(io::stdout(), |own| Ok(rustix::stdio::dup2_stdout(own)?))?;
        seal_device(io::stderr(), |own| Ok(rustix::stdio::dup2_stderr(own)?))?;
        let given = rustix::fs::fstat(io::stdin())?;
        // What has no name any more is nobody else's.
        if FileType::from_raw_mode(given.st_mode) != FileType::RegularFile || given.st_nlink == 0 {
            return Ok(());
        }
        let position = rustix::fs::tell(io::stdin())?;
        let mut sealed = match sealed_copy(io::stdin(), &given, OFlags::RDONLY) {
            Ok(file) => file,
            Err(_) => copy_in_memory()?,
        };
        sealed.seek(SeekFrom::Start(position))?;
        Ok(rustix::stdio::dup2_stdin(sealed)?)
    };
    seal().map_err(|error| FenceError::set_up("seal its standard files", &error))
}

/// Puts a device that is a standard file on a mount of its own. One without a name here, or that this user cannot open, is
/// somebody else's, who alone can change it.
fn seal_device(file: impl AsFd, put: impl FnOnce(File) -> io::Result<()>) -> io::Result<()> {
    let given = rustix::fs::fstat(&file)?;
    if !FileType::from_raw_mode(given.st_mode).is_char_device() {
        return Ok(());
    }
    let access = rustix::fs::fcntl_getfl(&file)? & (OFlags::RWMODE | OFlags::APPEND | OFlags::NONBLOCK);
    match sealed_copy(&file, &given, access) {
        Ok(sealed) => put(sealed),
        Err(_) => Ok(()),
    }
}

/// Opens a standard file by its name on a mount of its own, which goes away with the file.
fn sealed_copy(file: impl AsFd, given: &rustix::fs::Stat, access: OFlags) -> io::Result<File> {
    let link = Path::new("/proc/self/fd").join(file.as_fd().as_raw_fd().to_string());
    let mount = DetachedMount::copy_of(&std::fs::read_link(link)?)?;
    mount.restrict(libc::MOUNT_ATTR_RDONLY, MountDepth::One)?;
    let file = mount.open(access)?;
    let found = rustix::fs::fstat(&file)?;
    let is_same = (found.st_dev, found.st_ino) == (given.st_dev, given.st_ino);
    if is_same { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
}

/// Copies standard input where no name leads to it, or where it may not be opened again.
fn copy_in_memory() -> io::Result<File> {
    let mut copy = File::from(rustix::fs::memfd_create("stdin", MemfdFlags::CLOEXEC)?);
    rustix::fs::seek(io::stdin(), rustix::fs::SeekFrom::Start(0))?;
    let given = rustix::io::dup(io::stdin())?;
    io::copy(&mut File::from(given), &mut copy)?;
    Ok(copy)
}

/// Throws away what was typed into the terminal and nobody has read: it answers nothing that is asked from now on.
pub fn forget_typed_input() -> io::Result<()> {
    Ok(rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush)?)
}

/// Lets go of what the command was given: whoever reads its output waits for the end of the last one that holds it.
pub(super) fn let_standard_files_go() -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok(rustix::stdio::dup2_stderr(&null)?)
}

/// Pipes in place of standard files that must not get inside, and the supervisor's ends of them.
#[derive(Debug)]
pub(super) struct Relays {
    inside: InsideEnds,
    outside: Vec<(Direction, OwnedFd)>,
}

/// What the command gets in place of its standard files.
#[derive(Debug, Default)]
pub(super) struct InsideEnds {
    input: Option<OwnedFd>,
    output: Option<OwnedFd>,
    error: Option<OwnedFd>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Input,
    Output,
    Error,
}

/// The threads that carry what the command writes.
#[derive(Debug)]
pub(super) struct Carriers {
    done: OwnedFd,
    threads: Vec<JoinHandle<()>>,
}

impl Relays {
    /// Looks at the standard files of this process.
    pub(super) fn prepare() -> io::Result<Self> {
        let mut relays = Self { inside: InsideEnds::default(), outside: Vec::new() };
        if is_way_out(io::stdin(), Direction::Input) {
            let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
            relays.inside.input = Some(reader);
            relays.outside.push((Direction::Input, writer));
        }
        if is_way_out(io::stdout(), Direction::Output) {
            let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
            relays.inside.output = Some(writer);
            relays.outside.push((Direction::Output, reader));
        }
        if is_way_out(io::stderr(), Direction::Error) {
            let one_file = identity(io::stdout()).is_some_and(|one| identity(io::stderr()) == Some(one));
            // Through one pipe the lines of both stay in their order.
            let shared = relays.inside.output.as_ref().filter(|_| one_file);
            relays.inside.error = Some(if let Some(writer) = shared {
                writer.try_clone()?
            } else {
                let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
                relays.outside.push((Direction::Error, reader));
                writer
            });
        }
        Ok(relays)
    }

    /// Returns what the inside takes, and closes the other ends.
    pub(super) fn into_inside(self) -> InsideEnds {
        self.inside
    }

    /// Carries bytes on threads of their own, at most so many to a file.
    pub(super) fn carry(self, most: u64) -> io::Result<Carriers> {
        drop(self.inside);
        let (done_reader, done) = pipe_with(PipeFlags::CLOEXEC)?;
        let mut threads = Vec::new();
        for (direction, end) in self.outside {
            let given = match direction {
                Direction::Input => rustix::io::dup(io::stdin())?,
                Direction::Output => rustix::io::dup(io::stdout())?,
                Direction::Error => rustix::io::dup(io::stderr())?,
            };
            let done = done_reader.try_clone()?;
            let carry = move || {
                // What cannot be passed on closes the pipe, which is what the command learns of it.
                let _ = match direction {
                    Direction::Input => feed(File::from(given), File::from(end)),
                    _ => pass_on(File::from(end), &File::from(given), &done, most),
                };
            };
            let thread = Builder::new().spawn(carry)?;
            // Nobody waits for whoever writes to the command.
            if direction != Direction::Input {
                threads.push(thread);
            }
        }
        Ok(Carriers { done, threads })
    }
}

impl Carriers {
    /// Waits until everything has arrived that was written by the end of the command.
    pub(super) fn finish(self) {
        drop(self.done);
        for thread in self.threads {
            // One that crashed carries no more.
            let _ = thread.join();
        }
    }
}

impl InsideEnds {
    /// Puts the pipes in the place of the standard files of this process.
    pub(super) fn take(self) -> Result<(), FenceError> {
        let take = || -> io::Result<()> {
            if let Some(input) = &self.input {
                rustix::stdio::dup2_stdin(input)?;
            }
            if let Some(output) = &self.output {
                rustix::stdio::dup2_stdout(output)?;
            }
            if let Some(error) = &self.error {
                rustix::stdio::dup2_stderr(error)?;
            }
            Ok(())
        };
        take().map_err(|error| FenceError::set_up("pass its output on", &error))
    }
}

/// Passes on what comes from outside as it comes. The library would let the kernel do it, which waits for more than there is.
fn feed(mut from: File, mut to: File) -> io::Result<()> {
    let mut room = vec![0_u8; 64 << 10];
    loop {
        let length = from.read(&mut room)?;
        match room.get(..length) {
            Some(bytes) if !bytes.is_empty() => to.write_all(bytes)?,
            _ => return Ok(()),
        }
    }
}

/// Passes on what is written into a pipe, until nobody can write any more or the command has ended and the pipe is empty: a
/// command may have handed its end to another one.
fn pass_on(mut from: File, mut to: &File, done: &OwnedFd, most: u64) -> io::Result<()> {
    let mut room = vec![0_u8; 64 << 10];
    let mut left = most;
    loop {
        let mut ready = [PollFd::new(&from, PollFlags::IN), PollFd::new(done, PollFlags::IN)];
        match poll(&mut ready, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let [has_more, _] = ready.map(|one| !one.revents().is_empty());
        if !has_more {
            return Ok(());
        }
        let length = from.read(&mut room)?;
        left =
            left.checked_sub(u64::try_from(length).unwrap_or(u64::MAX)).ok_or(io::ErrorKind::FileTooLarge)?;
        match room.get(..length) {
            Some(bytes) if !bytes.is_empty() => to.write_all(bytes)?,
            _ => return Ok(()),
        }
    }
}

/// Says whether a standard file leads out of the fence by itself. Whoever has a file can set its mode and attributes, empty
/// it and open it anew; a socket of the machine's network can be connected to somebody else.
fn is_way_out(file: impl AsFd, direction: Direction) -> bool {
    let Ok(stat) = rustix::fs::fstat(&file) else { return false };
    match FileType::from_raw_mode(stat.st_mode) {
        // Standard input is opened anew, which keeps its position.
        FileType::RegularFile => direction != Direction::Input,
        FileType::Fifo => rustix::fs::fstatfs(&file).is_ok_and(|system| system.f_type != PIPES),
        FileType::Socket => {
            let is_pair = sockopt::socket_domain(&file) == Ok(AddressFamily::UNIX)
                && sockopt::socket_type(&file) != Ok(SocketType::DGRAM);
            !is_pair
        }
        _ => false,
    }
}

/// The mark of the file system of pipes without a name.
const PIPES: rustix::fs::FsWord = 0x5049_5045;

fn identity(file: impl AsFd) -> Option<(u64, u64)> {
    rustix::fs::fstat(file).ok().map(|stat| (stat.st_dev, stat.st_ino))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StandardFile {
    Safe,
    /// Closed, a directory or a disk.
    Unsafe,
    /// A file that can be written.
    WritableInput,
}

fn standard_file(file: impl AsFd) -> io::Result<StandardFile> {
    let stat = match rustix::fs::fstat(&file) {
        Ok(stat) => stat,
        Err(rustix::io::Errno::BADF) => return Ok(StandardFile::Unsafe),
        Err(error) => return Err(error.into()),
    };
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let flags = rustix::fs::fcntl_getfl(&file)?;
            if flags.contains(OFlags::PATH) {
                StandardFile::Unsafe
            } else if flags.intersects(OFlags::WRONLY | OFlags::RDWR) {
                StandardFile::WritableInput
            } else {
                StandardFile::Safe
            }
        }
        FileType::Fifo | FileType::Socket | FileType::CharacterDevice => StandardFile::Safe,
        FileType::Directory | FileType::BlockDevice | FileType::Symlink | FileType::Unknown => {
            StandardFile::Unsafe
        }
    })
}
