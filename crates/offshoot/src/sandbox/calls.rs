//! Seccomp: the system calls by which a command reaches what neither namespaces nor Landlock confine. They fail, with the
//! errors that programs know from kernels without them.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::fmt;

use nix::libc;
use seccompiler::SeccompCmpOp::{Eq, Ne};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};

/// All of these make a condition true.
type When<'a> = &'a [(u8, SeccompCmpOp, u64)];
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Push input into a terminal, and steer a console.
const TERMINAL_REQUESTS: [u64; 2] = [0x5412, 0x541c];
/// Local, internet, kernel and packet sockets: a network namespace confines them. It does not confine AF_VSOCK, which reaches
/// the host of a virtual machine.
const FAMILIES: [i32; 5] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK, libc::AF_PACKET];
/// Of system calls in the x32 table, which the other rules would not recognise.
const X32: u32 = 0x4000_0000;

/// The last step: what sets the sandbox up is refused afterwards. Kills the process at a call of another processor's table, so
/// that 32-bit programs do not run.
pub(super) fn refuse() -> Result<(), String> {
    let processor = TargetArch::try_from(ARCH).map_err(failed)?;
    for (errno, rules) in refusals().map_err(failed)? {
        let action = SeccompAction::Errno(errno.cast_unsigned());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, processor).map_err(failed)?;
        apply_filter(&BpfProgram::try_from(filter).map_err(failed)?).map_err(failed)?;
    }
    if processor == TargetArch::x86_64 { apply_filter(&x32()).map_err(failed) } else { Ok(()) }
}

fn failed(error: impl fmt::Display) -> String {
    format!("system calls cannot be refused: {error}")
}

fn refusals() -> Result<Vec<(i32, Rules)>, BackendError> {
    let families: Vec<_> = FAMILIES.iter().map(|family| (0, Ne, u64::from(family.cast_unsigned()))).collect();
    let terminals = TERMINAL_REQUESTS.map(|request| [(1, Eq, request)]);
    Ok(vec![
        (
            libc::EPERM,
            BTreeMap::from([
                // The limits of another process: with one of no processor time it is killed.
                (libc::SYS_prlimit64, vec![rule(&[(0, Ne, 0)])?]),
                // Those of another process, of another group, and of all processes of the user.
                (libc::SYS_setpriority, vec![rule(&[(1, Ne, 0)])?, rule(&[(0, Eq, 2)])?]),
                (libc::SYS_ioprio_set, vec![rule(&[(1, Ne, 0)])?, rule(&[(0, Eq, 3)])?]),
                (libc::SYS_ioctl, terminals.iter().map(|request| rule(request)).collect::<Result<_, _>>()?),
                (libc::SYS_add_key, Vec::new()),
                (libc::SYS_keyctl, Vec::new()),
                (libc::SYS_request_key, Vec::new()),
            ]),
        ),
        (
            libc::EAFNOSUPPORT,
            BTreeMap::from([
                (libc::SYS_socket, vec![rule(&families)?]),
                (libc::SYS_socketpair, vec![rule(&families)?]),
            ]),
        ),
        (
            // A ring makes sockets without the calls above.
            libc::ENOSYS,
            [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register]
                .map(|call| (call, Vec::new()))
                .into(),
        ),
    ])
}

/// The kernel reads 32 bits of each of these arguments.
fn rule(when: When<'_>) -> Result<SeccompRule, BackendError> {
    let conditions = when.iter().map(|(argument, operator, value)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator.clone(), *value)
    });
    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
}

/// Load the number of the call; if it has the bit, fail; else allow.
fn x32() -> BpfProgram {
    const LOAD: u16 = 0x20;
    const JUMP_IF_SET: u16 = 0x45;
    const RETURN: u16 = 0x06;
    let step = |code, jf, k| sock_filter { code, jt: 0, jf, k };
    vec![
        step(LOAD, 0, 0),
        step(JUMP_IF_SET, 1, X32),
        step(RETURN, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned()),
        step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
    ]
}
