//! The file system as a confined command sees it: everything read-only and without devices but the writable folders, private
//! terminals and shared memory, and nothing behind hidden files and other programs' sockets.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use offshoot_agent::sandbox::{SandboxPolicy, WriteRights};
use offshoot_session::medium::read_regular;
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount, mount_bind, mount_bind_recursive, mount_change, mount_remount,
};

use super::DEVICES;

/// The kernel's table of what is mounted, for this process.
pub(super) const MOUNTED: &str = "/proc/self/mountinfo";
/// Of the kernel's tables.
pub(super) const LONGEST_TABLE: u64 = 64 << 20;

type MountTable = BTreeMap<PathBuf, MountFlags>;

/// Where something is mounted, so that it can be written, stays as it is, or stays in its place.
pub(super) fn places(policy: &SandboxPolicy) -> impl Iterator<Item = &Path> {
    let places = policy.writable.iter().chain(&policy.read_only).chain(&policy.pinned).map(PathBuf::as_path);
    places.chain(DEVICES.map(Path::new))
}

/// Everything but what is covered.
pub(super) fn arrange(policy: &SandboxPolicy) -> Result<(), String> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(failed("/"))?;
    let table = mounts()?;
    // The outer ones first: a mount hides those that were below its place.
    let mut places: Vec<&Path> = places(policy).collect();
    places.sort_by_cached_key(|path| path.components().count());
    for path in &places {
        match mount_bind_recursive(*path, *path) {
            Ok(()) => {}
            // Somebody has removed it meanwhile: then there is nothing to protect.
            Err(Errno::NOENT | Errno::NOTDIR) if !policy.writable.iter().any(|writable| writable == path) => {}
            Err(errno) => return Err(failed(path)(errno)),
        }
    }
    let rights = policy.rights();
    // Hundreds of rows are slow to read: what a new mount inherits is known without them, unless others hide one another.
    let restricted = restrict(&rights, &table, &places).or_else(|(path, errno)| match errno {
        Errno::PERM => restrict(&rights, &mounts().map_err(|_| (path, errno))?, &[]),
        _ => Err((path, errno)),
    });
    restricted.map_err(|(path, errno)| failed(path)(errno))?;
    private_device("/dev/pts", c"devpts", c"newinstance,ptmxmode=0666,mode=620")?;
    if Path::new("/dev/pts/ptmx").exists() && !Path::new("/dev/ptmx").is_symlink() {
        mount_bind("/dev/pts/ptmx", "/dev/ptmx").map_err(failed("/dev/ptmx"))?;
    }
    private_device("/dev/shm", c"tmpfs", c"mode=1777")
}

/// Covers these paths, so that a command finds nothing there. A path that does not exist is left as it is.
pub(super) fn cover(paths: &[PathBuf]) -> Result<(), String> {
    for path in paths {
        let covered = if path.is_dir() {
            mount("offshoot", path, c"tmpfs", MountFlags::RDONLY, c"size=4k,mode=555")
        } else {
            mount_bind("/dev/null", path)
        };
        match covered {
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(errno) => return Err(failed(path)(errno)),
        }
    }
    Ok(())
}

fn failed(what: impl AsRef<Path>) -> impl Fn(Errno) -> String {
    let what = what.as_ref().to_owned();
    move |errno| format!("mounts are not allowed: {}: {errno}", what.display())
}

/// Makes read-only, and takes the devices from, what was mounted before and what was mounted at these places.
fn restrict(rights: &WriteRights<'_>, table: &MountTable, places: &[&Path]) -> Result<(), (PathBuf, Errno)> {
    let missing = |path: &Path| match DEVICES.iter().any(|device| path == Path::new(device)) {
        true => MountFlags::RDONLY,
        false => MountFlags::RDONLY | MountFlags::NODEV,
    };
    let inherited =
        |path: &Path| path.ancestors().find_map(|above| table.get(above)).copied().unwrap_or(MountFlags::empty());
    let rows = table.iter().map(|(path, flags)| (path.as_path(), *flags));
    let rows = rows.filter(|(path, flags)| !flags.contains(missing(path)));
    for (path, flags) in rows.chain(places.iter().map(|path| (*path, inherited(path)))) {
        if rights.may_write(path) {
            continue;
        }
        match mount_remount(path, flags | MountFlags::BIND | missing(path), c"") {
            // Another mount hides it, it is gone, or nobody may go there.
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::INVAL | Errno::ACCESS) => {}
            Err(errno) => return Err((path.to_owned(), errno)),
        }
    }
    Ok(())
}

fn private_device(path: &str, kind: &CStr, data: &CStr) -> Result<(), String> {
    if !Path::new(path).is_dir() {
        return Ok(());
    }
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount("offshoot", path, kind, flags, data).map_err(failed(path))
}

/// Every place where something is mounted, with the flags of what is on top.
fn mounts() -> Result<MountTable, String> {
    let table = read_regular(Path::new(MOUNTED), LONGEST_TABLE).map_err(|error| format!("{MOUNTED}: {error}"))?;
    let row = |line: &[u8]| {
        let mut fields = line.split(|byte| *byte == b' ').skip(4);
        Some((unescape(fields.next()?), flags(fields.next()?)))
    };
    Ok(table.split(|byte| *byte == b'\n').filter_map(row).collect())
}

/// Spaces, tabs, line feeds and backslashes are octal numbers.
fn unescape(field: &[u8]) -> PathBuf {
    let mut path = Vec::new();
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let number = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let number = number.filter(|_| *first == b'\\').and_then(|digits| u8::from_str_radix(digits, 8).ok());
        path.push(number.unwrap_or(*first));
        rest = if number.is_some() { after.get(3..).unwrap_or_default() } else { after };
    }
    PathBuf::from(OsString::from_vec(path))
}

fn flags(options: &[u8]) -> MountFlags {
    let flag = |option: &[u8]| match option {
        b"ro" => MountFlags::RDONLY,
        b"nosuid" => MountFlags::NOSUID,
        b"nodev" => MountFlags::NODEV,
        b"noexec" => MountFlags::NOEXEC,
        b"noatime" => MountFlags::NOATIME,
        b"nodiratime" => MountFlags::NODIRATIME,
        b"relatime" => MountFlags::RELATIME,
        _ => MountFlags::empty(),
    };
    options.split(|byte| *byte == b',').map(flag).collect()
}
