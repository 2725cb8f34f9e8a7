//! The sockets of a fence's network: made inside, where they listen, and handed to the supervisor outside, who serves
//! them. No file leads to them, and the command never has them.

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

/// The sockets that a supervisor serves.
#[derive(Debug)]
pub(super) struct NetworkSockets {
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
        let names = UdpSocket::bind(NAME_SERVER)?;
        let doors = plan.doors.iter().map(|door| TcpListener::bind((door.address, door.port)));
        let doors = doors.collect::<io::Result<Vec<_>>>()?;
        let descriptors: Vec<BorrowedFd<'_>> =
            std::iter::once(names.as_fd()).chain(doors.iter().map(|door| door.as_fd())).collect();
        send(supervisor, &descriptors)
    };
    open().map_err(|error| FenceError::set_up("open its network", &error))
}

fn send(supervisor: &UnixStream, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut room = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(descriptors.len()))];
    let mut control = SendAncillaryBuffer::new(&mut room);
    if !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    sendmsg(supervisor, &[IoSlice::new(b"1")], &mut control, SendFlags::empty())?;
    Ok(())
}

/// Waits for the sockets; an error if the fence did not get so far.
pub(super) fn receive(fence: &UnixStream) -> io::Result<NetworkSockets> {
    let mut room = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DOORS + 1))];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    recvmsg(fence, &mut [IoSliceMut::new(&mut [0])], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut sockets = control
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(sockets) => Some(sockets),
            _ => None,
        })
        .flatten();
    let names: OwnedFd = sockets.next().ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok(NetworkSockets { names: names.into(), doors: sockets.map(TcpListener::from).collect() })
}
