//! The system calls that no fenced command needs, and that widen what a kernel can be attacked by.
//!
//! Two filters: one refuses calls by their arguments, the other says "no such call" for what the first cannot judge.
//! `clone3` has its flags in memory, where a filter cannot look; every C library falls back to `clone` then.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};

use crate::error::FenceError;

/// Calls that are refused whatever their arguments are.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_writev,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

/// Flags of `clone` that make namespaces.
const NAMESPACE_FLAGS: [libc::c_int; 7] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// Requests to a terminal that type for the person in front of it, `TIOCSTI` and `TIOCLINUX`, or hand it to another part of the
/// kernel, `TIOCSETD`; C libraries have them as different types.
const TERMINAL_REQUESTS: [u64; 3] = [0x5412, 0x541C, 0x5423];

/// Families of sockets that stay inside the fence.
const FAMILIES: [libc::c_int; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// The calls that make sockets, which both have the family first, the kind second and the protocol third.
const SOCKET_CALLS: [libc::c_long; 2] = [libc::SYS_socket, libc::SYS_socketpair];

/// The bits of a kind of socket that are no flags.
const KINDS: u64 = 0xf;

/// The bit of calls in the other numbering that x86-64 has.
#[cfg(target_arch = "x86_64")]
const OTHER_NUMBERING: u32 = 0x4000_0000;

/// Puts both filters over this process and all that it starts.
pub(super) fn apply() -> Result<(), FenceError> {
    let failed = |reason: String| FenceError::SetUp {
        what: "filter its system calls".to_owned(),
        reason,
        hint: Some("the kernel needs seccomp, and its processor must be a known one".to_owned()),
    };
    let refusing = refusing().map_err(|error| failed(error.to_string()))?;
    apply_filter(&refusing).map_err(|error| failed(error.to_string()))?;
    apply_filter(&missing()).map_err(|error| failed(error.to_string()))
}

fn refusing() -> Result<BpfProgram, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let namespaces = NAMESPACE_FLAGS.iter().map(|flag| u64::from(flag.unsigned_abs()));
    let made = namespaces.map(|flag| one(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag));
    rules.insert(libc::SYS_clone, made.collect::<Result<_, _>>()?);
    let typed =
        TERMINAL_REQUESTS.iter().map(|request| one(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, *request));
    rules.insert(libc::SYS_ioctl, typed.collect::<Result<_, _>>()?);
    for call in SOCKET_CALLS {
        rules.insert(call, refused_sockets()?);
    }
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture()?)?.try_into()
}

/// Sockets of other families, unix sockets of datagrams, which reach a path with every message, and of what talks to the kernel all but the protocol for addresses and routes, which every
/// program needs that lists its interfaces.
fn refused_sockets() -> Result<Vec<SeccompRule>, BackendError> {
    let condition = |argument, comparison, value: libc::c_int| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, comparison, u64::from(value.unsigned_abs()))
    };
    let other = FAMILIES.iter().map(|family| condition(0, SeccompCmpOp::Ne, *family));
    let to_kernel = [
        condition(0, SeccompCmpOp::Eq, libc::AF_NETLINK)?,
        condition(2, SeccompCmpOp::Ne, libc::NETLINK_ROUTE)?,
    ];
    let mut rules =
        vec![SeccompRule::new(other.collect::<Result<_, _>>()?)?, SeccompRule::new(to_kernel.to_vec())?];
    // To the kernel a raw unix socket is one of datagrams.
    for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
        let of_kind = SeccompCmpOp::MaskedEq(KINDS);
        let unix = condition(0, SeccompCmpOp::Eq, libc::AF_UNIX)?;
        rules.push(SeccompRule::new(vec![unix, condition(1, of_kind, kind)?])?);
    }
    Ok(rules)
}

fn one(
    argument: u8,
    length: SeccompCmpArgLen,
    comparison: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, length, comparison, value)?])
}

fn architecture() -> Result<TargetArch, BackendError> {
    std::env::consts::ARCH.try_into()
}

/// The second filter, as the kernel reads it; the first one has seen to the architecture.
fn missing() -> BpfProgram {
    let instruction = |code: u32, jump_true: u8, jump_false: u8, value: u32| sock_filter {
        code: u16::try_from(code).unwrap_or(u16::MAX),
        jt: jump_true,
        jf: jump_false,
        k: value,
    };
    let no_such_call = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    let jump = libc::BPF_JMP | libc::BPF_K;
    let clone3 = u32::try_from(libc::SYS_clone3).unwrap_or(u32::MAX);
    vec![
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(jump | libc::BPF_JEQ, 2, 0, clone3),
        #[cfg(target_arch = "x86_64")]
        instruction(jump | libc::BPF_JGE, 1, 0, OTHER_NUMBERING),
        #[cfg(not(target_arch = "x86_64"))]
        instruction(jump | libc::BPF_JEQ, 1, 0, clone3),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, no_such_call),
    ]
}
