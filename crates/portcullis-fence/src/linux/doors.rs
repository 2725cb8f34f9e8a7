//! The sockets of a fence's network: made inside, where they listen, and handed to the supervisor outside, who serves
//! them. No file leads to them, and the command never has them.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use super::loopback;
use super::network_plan::{BLOCK, NetworkPlan};
use crate::error::FenceError;
use crate::policy::MOST_DOORS;

/// Where names are asked for. It is what every resolver takes that was told nothing.
const NAME_SERVER: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 53);

/// What a resolver is told.
pub(super) const RESOLVER_SETTINGS: &str = "nameserver 127.0.0.1\noptions timeout:2 attempts:1\n";

/// What makes up the network of a fence: its namespaces, and the sockets that a supervisor serves.
#[derive(Debug)]
pub(super) struct NetworkSockets {
    /// The user namespace that the network belongs to.
    pub(super) user: OwnedFd,
    /// The network.
    pub(super) network: OwnedFd,
    /// Where names are asked for.
    pub(super) names: UdpSocket,
    /// The ways out, in the order of the plan.
    pub(super) doors: Vec<TcpListener>,
}

/// Makes the sockets of a plan in the network of this process, and sends them away.
pub(super) fn open(plan: &NetworkPlan, supervisor: &UnixStream) -> Result<(), FenceError> {
    let open = || -> io::Result<()> {
        let (address, length) = BLOCK;
        loopback::add_address(address, length)?;
        for address in plan.own_addresses() {
            loopback::add_address(address, 32)?;
        }
        let doors = plan.doors.iter().map(|door| TcpListener::bind((door.address, door.port)));
        let sockets = NetworkSockets {
            user: File::open("/proc/self/ns/user")?.into(),
            network: File::open("/proc/self/ns/net")?.into(),
            names: UdpSocket::bind(NAME_SERVER)?,
            doors: doors.collect::<io::Result<_>>()?,
        };
        sockets.send(supervisor)
    };
    open().map_err(|error| FenceError::set_up("open its network", &error))
}

impl NetworkSockets {
    /// Hands them to another process; this one keeps its own.
    pub(super) fn send(&self, stream: &UnixStream) -> io::Result<()> {
        let first = [self.user.as_fd(), self.network.as_fd(), self.names.as_fd()];
        let descriptors: Vec<BorrowedFd<'_>> =
            first.into_iter().chain(self.doors.iter().map(|door| door.as_fd())).collect();
        let mut room = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(descriptors.len()))];
        let mut control = SendAncillaryBuffer::new(&mut room);
        if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        sendmsg(stream, &[IoSlice::new(b"1")], &mut control, SendFlags::NOSIGNAL)?;
        Ok(())
    }
}

/// Waits for the sockets; an error if the fence did not get so far.
pub(super) fn receive(from: &UnixStream) -> io::Result<NetworkSockets> {
    let mut room = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DOORS + 3))];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    recvmsg(from, &mut [IoSliceMut::new(&mut [0])], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut sockets = control
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(sockets) => Some(sockets),
            _ => None,
        })
        .flatten();
    let mut next = || sockets.next().ok_or(io::Error::from(io::ErrorKind::UnexpectedEof));
    let (user, network, names) = (next()?, next()?, next()?);
    Ok(NetworkSockets { user, network, names: names.into(), doors: sockets.map(TcpListener::from).collect() })
}
