//! A process in its namespaces that waits for the words of its command. It goes on only if mounts that are made at that moment would be
//! the same: otherwise it ends, and no part of the command has run.

use std::io::{self, Write as _};
use std::path::Path;

use offshoot_agent::sandbox::{CommandMessage, READY, SandboxPolicy};
use offshoot_app::ui;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
use rustix::io::{Errno, read};

use super::mounts::places;
use super::outside::Outside;

/// What the command is.
pub(super) fn for_command(outside: &Outside, policy: &SandboxPolicy) -> Result<CommandMessage, String> {
    let before = mounts_at(places(policy))?;
    say(READY)?;
    let command = CommandMessage::parse(&message(outside)?).ok_or("the command has not come")?;
    if mounts_at(places(policy))? != before {
        return Err("what it protects was moved or replaced".to_owned());
    }
    Ok(command)
}

pub(super) fn say(word: u8) -> Result<(), String> {
    let mut out = ui::terminal();
    out.write_all(&[word]).and_then(|()| out.flush()).map_err(|error| error.to_string())
}

/// Everything up to the end of the input. Ends when something is mounted or unmounted outside: nobody can eject what this process keeps in
/// use, and its command would not see what is new.
fn message(outside: &Outside) -> Result<Vec<u8>, String> {
    let input = io::stdin();
    let mut message = Vec::new();
    loop {
        let mut news = [outside.other_mounts(), PollFd::new(&input, PollFlags::IN)];
        match poll(&mut news, None) {
            Ok(_) if !news[0].revents().is_empty() => return Err("other file systems are mounted now".to_owned()),
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(errno.to_string()),
        }
        let mut buffer = [0; 4096];
        match read(&input, &mut buffer).map_err(|errno| errno.to_string())? {
            0 => return Ok(message),
            count => message.extend_from_slice(&buffer[..count]),
        }
    }
}

/// The mount at each place; `None` where nothing is, or where nobody may go. It is an error if something is there and not mounted.
fn mounts_at<'a>(places: impl Iterator<Item = &'a Path>) -> Result<Vec<Option<u64>>, String> {
    let mount = |path: &Path| match statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID) {
        Ok(found) if found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT) => Ok(Some(found.stx_mnt_id)),
        Ok(_) => Err(format!("{} was replaced", path.display())),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => Ok(None),
        Err(errno) => Err(format!("{}: {errno}", path.display())),
    };
    places.map(mount).collect()
}
