//! A shell command in its own session, without a terminal: its output in pieces and its end. When it must stop, no
//! process of it survives.
//!
//! Both outputs share one pipe, so they arrive in the order in which they were written. Background processes live on;
//! they are waited for only while they write.

mod told_guard;
mod tree;
pub mod guard;
mod waiting;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::process::Pid;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Command;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until};

pub use tree::MarkedProcesses;
use tree::ProcessTree;
pub use waiting::{CommandMessage, READY, STARTED};
pub(crate) use waiting::{WaitingProcess, run_waiting};

/// The interval of [`News::Tick`].
const TICK: Duration = Duration::from_millis(100);
/// How long a pipe held open by the background may be silent after the shell has exited.
const IDLE: Duration = Duration::from_millis(100);
/// How long background output is read after the shell has exited.
const LINGER: Duration = Duration::from_secs(5);
/// Longer than any command runs.
const FAR: Duration = Duration::from_secs(u32::MAX as u64);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Job<'a> {
    /// The program and its arguments.
    pub(crate) words: &'a [OsString],
    pub(crate) cwd: &'a Path,
    pub(crate) env: &'a [(String, String)],
    /// Inherited variables that the command does not get.
    pub(crate) without: &'a [String],
    pub(crate) errors: Errors,
    pub(crate) timeout: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Errors {
    Shown,
    Dropped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The exit code; 128 plus the number of a signal, as in shells.
    Exited(i32),
    /// The exit code; the background still writes, but nobody reads any more.
    Lingers(i32),
    /// Killed at the time-out.
    TimedOut,
}

pub(crate) enum News<'a> {
    Piece(&'a [u8]),
    /// Sent after some time without a piece or tick.
    Tick,
}

#[derive(Debug)]
struct StartedCommand {
    child: Box<dyn ChildWrapper>,
    pipe: Receiver,
    tree: ProcessTree,
}

/// The words with which a shell runs a command.
pub(crate) fn shell_words(shell: &Path, command: &str) -> Vec<OsString> {
    vec![shell.into(), "-c".into(), command.into()]
}

/// Runs a command to its end and reports its output. Dropping the future kills all its processes.
pub(crate) async fn run(job: Job<'_>, tell: impl FnMut(News<'_>)) -> io::Result<End> {
    let deadline = deadline(job.timeout);
    let mut command = start(&job, Stdio::null())?;
    command.tree.begin();
    follow(command, deadline, tell).await
}

fn deadline(timeout: Option<Duration>) -> Instant {
    Instant::now() + timeout.unwrap_or(FAR)
}

async fn follow(command: StartedCommand, deadline: Instant, mut tell: impl FnMut(News<'_>)) -> io::Result<End> {
    let StartedCommand { mut child, mut pipe, tree } = command;
    let mut buffer = vec![0; 64 * 1024];
    let mut ended: Option<ExitStatus> = None;
    let (mut is_open, mut is_late, mut lingers) = (true, false, false);
    let mut deadline = pin!(sleep_until(deadline));
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut idle, mut linger) = (pin!(sleep(FAR)), pin!(sleep(FAR)));
    while is_open || ended.is_none() {
        tokio::select! {
            biased;
            () = &mut deadline, if !is_late => {
                is_late = true;
                tree.kill();
            }
            () = &mut linger => {
                lingers = true;
                break;
            }
            _ = tick.tick() => tell(News::Tick),
            // The shell alone: its wrapper waits for the whole group, also for what lives on in the background.
            status = child.inner_mut().wait(), if ended.is_none() => {
                ended = Some(status?);
                idle.set(sleep(IDLE));
                linger.set(sleep(LINGER));
            }
            read = pipe.read(&mut buffer), if is_open => {
                let count = read?;
                is_open = count > 0;
                tell(News::Piece(buffer.get(..count).unwrap_or_default()));
                if ended.is_some() {
                    idle.set(sleep(IDLE));
                }
            }
            () = &mut idle => break,
        }
    }
    if is_late {
        return Ok(End::TimedOut);
    }
    tree.release();
    let code = ended.and_then(|status| status.code().or_else(|| Some(128 + status.signal()?)));
    let code = code.unwrap_or(1);
    Ok(if lingers { End::Lingers(code) } else { End::Exited(code) })
}

/// Its tree has not begun.
fn start(job: &Job<'_>, input: Stdio) -> io::Result<StartedCommand> {
    let (reader, writer) = io::pipe()?;
    let (mark_name, mark) = tree::new_mark();
    let (program, arguments) = job.words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(job.cwd);
    for name in job.without {
        command.env_remove(name);
    }
    command.envs(job.env.iter().map(|(name, value)| (name, value))).env(mark_name, &mark);
    match job.errors {
        Errors::Shown => command.stderr(writer.try_clone()?),
        Errors::Dropped => command.stderr(Stdio::null()),
    };
    command.stdin(input).stdout(writer).kill_on_drop(true);
    // Without a session of its own a command could read keys from our terminal and write to it.
    let (child, tree) = ProcessTree::spawn(&mark, || {
        let child = CommandWrap::from(command).wrap(ProcessSession).spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let root = id.ok_or_else(|| io::Error::other("a started command has no id"))?;
        Ok((child, root))
    })?;
    // `command` was dropped by now, and with it our write ends of the pipe.
    Ok(StartedCommand { child, pipe: Receiver::from_owned_fd(reader.into())?, tree })
}
