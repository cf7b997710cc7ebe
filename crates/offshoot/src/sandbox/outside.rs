//! What is outside of the namespaces of a sandbox, seen from inside: by files of the kernel that are opened before.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read as _, Seek as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use offshoot_agent::sandbox::SandboxPolicy;
use offshoot_session::medium::open_regular;
use rustix::event::{PollFd, PollFlags};

use super::mounts::{LONGEST_TABLE, MOUNTED};

/// The kernel's table of local sockets.
const SOCKETS: &str = "/proc/self/net/unix";
/// Sockets that programs need to know who the user is.
const NAME_SERVICES: [&str; 3] = ["/var/lib/sss", "/run/nscd", "/var/run/nscd"];

pub(super) struct Outside {
    mounts: File,
    /// `None`: the kernel has no such table.
    sockets: Option<File>,
}

impl Outside {
    /// Must be called before the namespaces are left.
    pub(super) fn open() -> Result<Self, String> {
        let failed = |path| move |error| format!("{path}: {error}");
        let sockets = match open_regular(Path::new(SOCKETS)) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            opened => Some(opened.map_err(failed(SOCKETS))?),
        };
        Ok(Self { mounts: open_regular(Path::new(MOUNTED)).map_err(failed(MOUNTED))?, sockets })
    }

    /// Ready once something was mounted or unmounted.
    pub(super) fn other_mounts(&self) -> PollFd<'_> {
        PollFd::new(&self.mounts, PollFlags::PRI)
    }

    /// The sockets at which programs outside get connections or datagrams, and which can be reached. A read-only mount does not stop either.
    pub(super) fn sockets(&self, policy: &SandboxPolicy) -> Result<Vec<PathBuf>, String> {
        let Some(mut file) = self.sockets.as_ref() else { return Ok(Vec::new()) };
        let mut table = Vec::new();
        let read = file.rewind().and_then(|()| file.take(LONGEST_TABLE).read_to_end(&mut table));
        read.map_err(|error| format!("{SOCKETS}: {error}"))?;
        let mut sockets: Vec<PathBuf> = table.split(|byte| *byte == b'\n').filter_map(listening).collect();
        sockets.sort_unstable();
        sockets.dedup();
        sockets.retain(|path| {
            let is_allowed = NAME_SERVICES.iter().any(|allowed| path.starts_with(allowed)) || policy.may_write(path);
            !is_allowed && path.symlink_metadata().is_ok_and(|file| file.file_type().is_socket())
        });
        Ok(sockets)
    }
}

fn listening(line: &[u8]) -> Option<PathBuf> {
    const LISTENS: u32 = 0x1_0000;
    const DATAGRAMS: u32 = 2;
    let mut fields = line.split(|byte| *byte == b' ').filter(|field| !field.is_empty());
    let mut number = |at| u32::from_str_radix(std::str::from_utf8(fields.nth(at)?).ok()?, 16).ok();
    // Flags are the fourth field, the kind comes next.
    let (flags, kind) = (number(3)?, number(0)?);
    (flags & LISTENS != 0 || kind == DATAGRAMS).then_some(())?;
    let at = line.iter().position(|byte| *byte == b'/')?;
    Some(PathBuf::from(OsStr::from_bytes(line.get(at..)?)))
}
