//! A process that outlives nobody: a guard stays as the parent of a command, and ends it, with all that it has started, when this program
//! ends. It does so however the program ends, by `kill -9` too.
//!
//! The guard is this program, started again with the hidden word [`GUARD`]. It reads a pipe whose other end only this program has
//! ([`LifeLine`]): the pipe ends with the program. (A signal of the kernel at a parent's death would come when the *thread* ends that has
//! started the command.) The guard has a session of its own, so no key at the terminal reaches it, and adopts what the command leaves.
//!
//! The commands of tools and of the person have one guard together ([`guard_commands`]), which is no parent of theirs: it hears what begins
//! and ends, and kills what runs when the program is gone.
//!
//! Knows no command and no tool. [`guarded_command`] is for whoever starts a process of any kind; [`stand_guard`] is all that the
//! binary's hidden command does.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, PipeWriter, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use command_fds::{CommandFdExt as _, FdMapping};
use rustix::process::{Pid, Signal, kill_process_group, setsid};

use super::told_guard;
use super::tree::{MarkedProcesses, kill_descendants};

/// The word that begins the guard's arguments.
pub const GUARD: &str = "guard";
/// The number of the pipe that ends with the program.
const LIFE: i32 = 3;
/// Where a process finds its own pipe of that number.
const LIFE_FILE: &str = "/dev/fd/3";
/// What a command has to end in good order.
const GRACE: Duration = Duration::from_secs(1);
/// As of shells: the command cannot be run.
const CANNOT_RUN: u8 = 127;

/// While somebody holds this, the guarded command lives.
#[derive(Debug)]
pub struct LifeLine {
    _pipe: PipeWriter,
}

/// The command that runs `words` under a guard, and what keeps it alive. `launcher` is this program's own file. Arguments, folder,
/// variables and streams of the command are those of the guard.
///
/// # Errors
/// There are no more pipes.
pub fn guarded_command(launcher: &Path, words: &[OsString]) -> io::Result<(Command, LifeLine)> {
    let (reader, writer) = io::pipe()?;
    let mut command = Command::new(launcher);
    command.arg(GUARD).args(words);
    let mapping = FdMapping { parent_fd: reader.into(), child_fd: LIFE };
    command.fd_mappings(vec![mapping]).map_err(|_| io::Error::other("two pipes have one number"))?;
    Ok((command, LifeLine { _pipe: writer }))
}

/// The word after [`GUARD`] that begins the guard of all commands.
const COMMANDS: &str = "--commands";

/// Starts the guard of all commands of this program, unless there is one: those that run when the program is killed end, too. It costs
/// one process, however many commands run. `launcher` is this program's own file.
///
/// # Errors
/// It cannot be started.
pub fn guard_commands(launcher: &Path) -> io::Result<()> {
    if told_guard::is_there() {
        return Ok(());
    }
    let (reader, writer) = io::pipe()?;
    // A guard that does not read must not hold the program up.
    rustix::io::ioctl_fionbio(&writer, true)?;
    let mut command = Command::new(launcher);
    // A group of its own: no key at the terminal reaches it. Not a session of its own, as commands have.
    command.args([GUARD, COMMANDS]).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mapping = FdMapping { parent_fd: reader.into(), child_fd: LIFE };
    command.fd_mappings(vec![mapping]).map_err(|_| io::Error::other("two pipes have one number"))?;
    drop(command.spawn()?);
    told_guard::tell_from_now_on(writer);
    Ok(())
}

/// Hears what begins and ends, and kills what runs when the program is gone.
fn guard_all(life: File) {
    let mut running: BTreeMap<String, Option<Pid>> = BTreeMap::new();
    for line in BufReader::new(life).lines().map_while(Result::ok) {
        match line.split_at_checked(1) {
            Some(("+", rest)) => {
                let (mark, leader) = rest.split_once(' ').unwrap_or((rest, ""));
                running.insert(mark.to_owned(), leader.parse().ok().and_then(Pid::from_raw));
            }
            Some(("-", mark)) => drop(running.remove(mark)),
            _ => {}
        }
    }
    for (mark, leader) in running {
        MarkedProcesses::of(mark).kill();
        leader.into_iter().for_each(|leader| kill_process_group(leader, Signal::KILL).unwrap_or(()));
    }
}

enum GuardNews {
    Ended(io::Result<ExitStatus>),
    /// Nobody holds the life line any more.
    Abandoned,
}

/// Is the guard of these words until the command or the program ends. Returns the command's exit code.
///
/// # Errors
/// The command cannot be started.
pub fn stand_guard(words: &[OsString]) -> io::Result<u8> {
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    if program == COMMANDS {
        guard_all(File::open(LIFE_FILE)?);
        return Ok(0);
    }
    // Fails only for who leads a group already.
    setsid().map(drop).unwrap_or(());
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).unwrap_or(());
    let life = File::open(LIFE_FILE)?;
    let mut child = Command::new(program).args(arguments).process_group(0).spawn()?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (tell, told) = channel();
    let ends: Sender<GuardNews> = tell.clone();
    std::thread::spawn(move || drop(ends.send(GuardNews::Ended(child.wait()))));
    std::thread::spawn(move || {
        wait_for_end(life);
        drop(tell.send(GuardNews::Abandoned));
    });
    let signal = |signal| group.into_iter().for_each(|group| kill_process_group(group, signal).unwrap_or(()));
    let mut news = told.recv();
    if matches!(news, Ok(GuardNews::Abandoned)) {
        signal(Signal::TERM);
        news = told.recv_timeout(GRACE).or(Ok(GuardNews::Abandoned));
    }
    signal(Signal::KILL);
    kill_descendants();
    Ok(match news {
        Ok(GuardNews::Ended(Ok(status))) => code_of(status),
        Ok(GuardNews::Ended(Err(_)) | GuardNews::Abandoned) | Err(_) => CANNOT_RUN,
    })
}

fn wait_for_end(mut life: File) {
    let mut buffer = [0; 64];
    loop {
        match life.read(&mut buffer) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}
