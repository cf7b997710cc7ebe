//! The helpers of the next commands, started when the model is asked, when it writes several calls, and when a command has ended: they
//! are confined before their commands come. Only a command that would be started in exactly the same way, but for its words and variables, takes one.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use offshoot_protocol::{SandboxMode, SandboxNetwork};

use crate::process::{Job, WaitingProcess};

/// Of each kind of sandbox. When more commands begin at once, the others start helpers of their own.
pub(crate) const MOST_PREPARED: usize = 4;

/// The sandboxes of an agent that its commands take turns with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SandboxKind {
    pub(super) mode: SandboxMode,
    pub(super) network: SandboxNetwork,
}

/// For all commands of an agent; the oldest first.
#[derive(Debug, Clone, Default)]
pub struct PreparedCommands(Arc<Mutex<Vec<PreparedHelper>>>);

#[derive(Debug)]
struct PreparedHelper {
    kind: SandboxKind,
    start: HelperStart,
    process: WaitingProcess,
}

/// Everything that a helper is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HelperStart {
    words: Vec<OsString>,
    cwd: PathBuf,
    without: Vec<String>,
}

impl HelperStart {
    fn of(job: &Job<'_>) -> Self {
        Self { words: job.words.to_vec(), cwd: job.cwd.to_owned(), without: job.without.to_vec() }
    }
}

impl PreparedCommands {
    /// The job is that of a helper.
    pub(super) fn take(&self, kind: SandboxKind, job: &Job<'_>) -> Option<WaitingProcess> {
        let start = HelperStart::of(job);
        self.drop_others(kind, &start);
        let mut helpers = self.helpers();
        let at = helpers.iter().position(|helper| helper.is(kind, &start))?;
        Some(helpers.remove(at).process)
    }

    /// Starts helpers until so many wait. The job is that of a helper.
    pub(super) fn prepare(&self, kind: SandboxKind, job: &Job<'_>, count: usize) {
        let start = HelperStart::of(job);
        self.drop_others(kind, &start);
        let count = count.min(MOST_PREPARED);
        let waiting = |helpers: &[PreparedHelper]| helpers.iter().filter(|helper| helper.is(kind, &start)).count();
        while waiting(&self.helpers()) < count {
            // Without one the next command starts a helper of its own.
            let Ok(process) = WaitingProcess::start(job) else { return };
            let helper = PreparedHelper { kind, start: start.clone(), process };
            let mut helpers = self.helpers();
            if waiting(&helpers) < MOST_PREPARED {
                helpers.push(helper);
            }
        }
    }

    /// Those that were prepared for something else: the folder, keys or protected names have changed.
    fn drop_others(&self, kind: SandboxKind, start: &HelperStart) {
        let is_other = |helper: &mut PreparedHelper| helper.kind == kind && helper.start != *start;
        let others: Vec<PreparedHelper> = self.helpers().extract_if(.., is_other).collect();
        // Ending a process takes time: nobody waits for it here.
        drop(others);
    }

    fn helpers(&self) -> MutexGuard<'_, Vec<PreparedHelper>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PreparedHelper {
    fn is(&self, kind: SandboxKind, start: &HelperStart) -> bool {
        self.kind == kind && self.start == *start
    }
}

#[cfg(test)]
mod tests;
