//! All processes that a command has started, also those that left its group or its session. They are found in `/proc`;
//! without it, or where it shows the processes of another PID namespace, only the command's group is known.
//!
//! A process belongs to the command if one of its ancestors does, if it is in the command's session, or if it has the
//! command's mark in its environment. One that sheds all three is found when this program is its subreaper, as the
//! binary is: then it is our child, but in a session that is not ours.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::told_guard;
use offshoot_session::medium::{read_regular, read_regular_text};
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, waitpid};

/// The variable whose value marks the processes of one command.
pub(super) const MARK: &str = "OFFSHOOT_COMMAND";
/// New processes may appear while others are being stopped; so often it is looked again.
const MOST_ROUNDS: u32 = 32;
/// Of the kernel: a line of numbers.
const LONGEST_STAT: u64 = 64 << 10;
/// The kernel allows a program at most so much.
const LONGEST_ENVIRONMENT: u64 = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// For its command.
    Waits,
    Runs,
}

/// Of each root.
static STAGES: Mutex<BTreeMap<i32, Stage>> = Mutex::new(BTreeMap::new());

fn stages() -> MutexGuard<'static, BTreeMap<i32, Stage>> {
    STAGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The mark of a new command, as a variable of its environment.
pub(super) fn new_mark() -> (&'static str, String) {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    (MARK, format!("{}.{}", getpid().as_raw_nonzero(), NEXT.fetch_add(1, Ordering::Relaxed)))
}

/// The processes of a running command, whose shell leads a session. Dropping it kills all of them, unless they were
/// released. A process that waits for its command has none yet.
#[derive(Debug)]
pub(super) struct ProcessTree {
    root: Pid,
    /// When the shell started; 0 if that cannot be read.
    begun: u64,
    mark: Vec<u8>,
    is_released: bool,
}

impl ProcessTree {
    /// Its root, which `spawn` starts. Nobody takes the exit code of a root that is not known yet.
    pub(super) fn spawn<T>(mark: &str, spawn: impl FnOnce() -> io::Result<(T, Pid)>) -> io::Result<(T, Self)> {
        // It may run before anybody knows its number.
        told_guard::begins(mark, None);
        let mut stages = stages();
        let (child, root) = spawn().inspect_err(|_| told_guard::ends(mark))?;
        stages.insert(root.as_raw_nonzero().get(), Stage::Waits);
        drop(stages);
        Ok((child, Self::waiting(root, mark)))
    }

    fn waiting(root: Pid, mark: &str) -> Self {
        let id = root.as_raw_nonzero().get();
        let begun =
            read_regular_text(Path::new(&format!("/proc/{id}/stat")), LONGEST_STAT).ok().and_then(|stat| parse(&stat));
        let begun = begun.map_or(0, |process| process.started);
        Self { root, begun, mark: format!("{MARK}={mark}").into_bytes(), is_released: true }
    }

    pub(super) fn begin(&mut self) {
        stages().insert(self.root.as_raw_nonzero().get(), Stage::Runs);
        self.is_released = false;
        told_guard::begins(self.mark_text(), Some(self.root));
    }

    /// Without the variable's name.
    fn mark_text(&self) -> &str {
        let text = self.mark.get(MARK.len() + 1..).unwrap_or_default();
        std::str::from_utf8(text).unwrap_or_default()
    }

    /// What still runs may live on.
    pub(super) fn release(mut self) {
        self.is_released = true;
    }

    pub(super) fn kill(&self) {
        let stopped = all_stopped(|| self.members());
        // Fails only if no process is left.
        kill_process_group(self.root, Signal::KILL).unwrap_or(());
        stopped.into_iter().for_each(|pid| send(pid, Signal::KILL));
    }

    fn members(&self) -> BTreeSet<i32> {
        let Some(own) = own_process() else { return BTreeSet::new() };
        let all = processes();
        let root = self.root.as_raw_nonzero().get();
        let is_only_command = stages().iter().all(|(other, stage)| *other == root || *stage == Stage::Waits);
        let is_member = |process: &&ProcessStat| {
            if process.pid == own.pid || process.started < self.begun {
                return false;
            }
            if process.session == root {
                return true;
            }
            let is_adopted = own.has_adopted(process);
            match mark_of(process.pid) {
                Some(mark) => mark == self.mark,
                None => is_adopted && is_only_command && self.begun > 0,
            }
        };
        let members: BTreeSet<i32> = all.iter().filter(is_member).map(|process| process.pid).collect();
        with_children(&all, members)
    }
}

/// What a helper of this program has started, however long that lives: its processes have its mark in their environment, or descend
/// from one that has.
#[derive(Debug)]
pub struct MarkedProcesses(String);

impl Default for MarkedProcesses {
    fn default() -> Self {
        Self(new_mark().1)
    }
}

impl MarkedProcesses {
    /// Those of another program's command.
    pub(super) fn of(mark: String) -> Self {
        Self(mark)
    }

    /// The variable that the helper is started with, and its value.
    #[must_use]
    pub fn variable(&self) -> (&'static str, &str) {
        (MARK, &self.0)
    }

    /// Kills all of them, the helper too.
    pub fn kill(&self) {
        let mark = format!("{MARK}={}", self.0).into_bytes();
        let members = || {
            let Some(own) = own_process() else { return BTreeSet::new() };
            let all = processes();
            let marked = all.iter().filter(|process| process.pid != own.pid);
            let marked = marked.filter(|process| mark_of(process.pid).as_ref() == Some(&mark));
            with_children(&all, marked.map(|process| process.pid).collect())
        };
        all_stopped(members).into_iter().for_each(|pid| send(pid, Signal::KILL));
        reap();
    }
}

/// Kills all that descends from this process, but not this process.
pub(super) fn kill_descendants() {
    let members = || {
        let Some(own) = own_process() else { return BTreeSet::new() };
        let mut members = with_children(&processes(), BTreeSet::from([own.pid]));
        members.remove(&own.pid);
        members
    };
    all_stopped(members).into_iter().for_each(|pid| send(pid, Signal::KILL));
}

/// Stops all processes first, so that none can start another unseen, and returns them.
fn all_stopped(members: impl Fn() -> BTreeSet<i32>) -> BTreeSet<i32> {
    let mut stopped = BTreeSet::new();
    for _ in 0..MOST_ROUNDS {
        let found: Vec<i32> = members().into_iter().filter(|pid| !stopped.contains(pid)).collect();
        if found.is_empty() {
            break;
        }
        for pid in found {
            send(pid, Signal::STOP);
            stopped.insert(pid);
        }
    }
    stopped
}

/// The processes and all that descend from them, without those that have ended.
fn with_children(all: &[ProcessStat], mut members: BTreeSet<i32>) -> BTreeSet<i32> {
    loop {
        let more: Vec<i32> = all
            .iter()
            .filter(|process| members.contains(&process.parent) && !members.contains(&process.pid))
            .map(|process| process.pid)
            .collect();
        if more.is_empty() {
            break;
        }
        members.extend(more);
    }
    members.retain(|pid| all.iter().any(|process| process.pid == *pid && !process.is_zombie));
    members
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        if !self.is_released {
            self.kill();
        }
        stages().remove(&self.root.as_raw_nonzero().get());
        told_guard::ends(self.mark_text());
        reap();
    }
}

/// Takes the exit codes of adopted processes that have ended, so that they leave the table of processes.
fn reap() {
    let Some(own) = own_process() else { return };
    let roots = stages();
    for process in processes() {
        if own.has_adopted(&process) && process.is_zombie && !roots.contains_key(&process.pid) {
            // It may be gone.
            let _status = waitpid(Pid::from_raw(process.pid), WaitOptions::NOHANG);
        }
    }
}

fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // Fails only if the process is gone.
        kill_process(pid, signal).unwrap_or(());
    }
}

/// Our own process. `None` if `/proc` does not know us by our number: then its numbers are not those of `kill`.
fn own_process() -> Option<ProcessStat> {
    let own = parse(&read_regular_text(Path::new("/proc/self/stat"), LONGEST_STAT).ok()?)?;
    (own.pid == getpid().as_raw_nonzero().get()).then_some(own)
}

#[derive(Debug, PartialEq, Eq)]
struct ProcessStat {
    pid: i32,
    parent: i32,
    /// 0 if its leader is in another PID namespace, as in a container.
    session: i32,
    is_zombie: bool,
    /// In clock ticks after the start of the system.
    started: u64,
}

impl ProcessStat {
    fn has_adopted(&self, process: &Self) -> bool {
        process.parent == self.pid && process.session != self.session
    }
}

fn processes() -> Vec<ProcessStat> {
    let Ok(folder) = std::fs::read_dir("/proc") else { return Vec::new() };
    let stat = |entry: std::fs::DirEntry| {
        let name = entry.file_name();
        name.as_bytes().first()?.is_ascii_digit().then_some(())?;
        parse(&read_regular_text(&entry.path().join("stat"), LONGEST_STAT).ok()?)
    };
    folder.filter_map(|entry| stat(entry.ok()?)).collect()
}

/// The name, in parentheses, may hold anything.
fn parse(stat: &str) -> Option<ProcessStat> {
    let (pid, rest) = stat.split_once(' ')?;
    let fields: Vec<&str> = rest.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    Some(ProcessStat {
        pid: pid.parse().ok()?,
        parent: fields.get(1)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        is_zombie: *fields.first()? == "Z",
        started: fields.get(19)?.parse().ok()?,
    })
}

/// The mark with its name; `None` if the process has none, or is another user's.
fn mark_of(pid: i32) -> Option<Vec<u8>> {
    let environment =
        read_regular(&Path::new("/proc").join(pid.to_string()).join("environ"), LONGEST_ENVIRONMENT).ok()?;
    let begin = format!("{MARK}=");
    environment.split(|byte| *byte == 0).find(|variable| variable.starts_with(begin.as_bytes())).map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let stat = "42 (a) b 7 (x) S 41 42 40 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 1000 1";
        let expected = ProcessStat { pid: 42, parent: 41, session: 40, is_zombie: false, started: 12345 };
        assert_eq!(parse(stat), Some(expected));
        assert_eq!(parse("42 (a"), None);
    }
}
