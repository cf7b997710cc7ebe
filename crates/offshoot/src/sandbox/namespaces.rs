//! A user namespace with our own ids, and in it the namespaces of mounts, of shared memory and, if wanted, of the network.

use std::fs::OpenOptions;
use std::io::Write as _;

use nix::sched::{CloneFlags, unshare};
use offshoot_agent::sandbox::Helper;
use offshoot_protocol::SandboxNetwork;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socket_with};
use rustix::process::{getgid, getuid};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};

pub(super) fn enter(helper: &Helper) -> Result<(), String> {
    let network = helper.policy.network;
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    let mut flags = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC;
    if network == SandboxNetwork::Off {
        flags |= CloneFlags::CLONE_NEWNET;
    }
    unshare(flags).map_err(|errno| format!("user namespaces are not allowed: {}", errno.desc()))?;
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("{user} {user} 1"))?;
    write("/proc/self/gid_map", &format!("{group} {group} 1"))?;
    // Landlock forbids mounts. Without it, a user namespace inside this one would mount control groups where commands may write.
    if !helper.layers.landlock {
        write("/proc/sys/user/max_user_namespaces", "0")?;
    }
    if network == SandboxNetwork::Off {
        start_loopback().map_err(|errno| format!("the loopback interface cannot be started: {errno}"))?;
    }
    Ok(())
}

fn write(path: &str, text: &str) -> Result<(), String> {
    let written = OpenOptions::new().write(true).open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| format!("user namespaces are not allowed: {path}: {error}"))
}

/// `ip link set lo up`: a new network namespace has only this interface, and it is down.
fn start_loopback() -> Result<(), Errno> {
    const NEW_LINK: u16 = 16;
    const REQUEST: u16 = 1;
    const LOOPBACK: u32 = 1;
    const UP: u32 = 1;
    let mut message = Vec::new();
    let mut words = |numbers: &[u32]| numbers.iter().for_each(|number| message.extend(number.to_ne_bytes()));
    // The header: length, type and flags, sequence number, port.
    words(&[32, u32::from_ne_bytes(pair(NEW_LINK, REQUEST)), 1, 0]);
    // The interface: family and kind, index, flags, which of them change.
    words(&[0, LOOPBACK, UP, UP]);
    // Without a protocol: NETLINK_ROUTE, which is 0.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    send(&socket, &message, SendFlags::empty()).map(drop)
}

fn pair(first: u16, second: u16) -> [u8; 4] {
    let ([a, b], [c, d]) = (first.to_ne_bytes(), second.to_ne_bytes());
    [a, b, c, d]
}

/// Otherwise root could undo the mounts, and read other processes.
pub(super) fn drop_capabilities() -> Result<(), String> {
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    let dropped = set_no_new_privs(true).and_then(|()| set_capabilities(None, sets));
    dropped.map_err(|errno| format!("capabilities cannot be dropped: {errno}"))
}
