//! Runs jobs one after the other on a thread of their own. Each thread of a pool that runs a job keeps some of the
//! memory that the job has used. Does not know what the jobs do.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use offshoot_app::error::{CommandError, FailureKind, Result};
use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// The thread, which starts with the first job.
#[derive(Clone, Default)]
pub(super) struct OneThread(Arc<Mutex<Option<Sender<Job>>>>);

impl OneThread {
    /// The result of a job, after the jobs before it.
    pub(super) async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
        let (done, result) = oneshot::channel();
        // Nobody may be waiting any more.
        self.send(Box::new(move || drop(done.send(work()))))?;
        result.await.unwrap_or_else(|_| Err(failed()))
    }

    fn send(&self, job: Job) -> Result<()> {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = match jobs.take() {
            Some(sender) => sender,
            None => start()?,
        };
        let sent = sender.send(job).map_err(|_| failed());
        // The thread has ended only if a job panicked. The next job starts another.
        *jobs = sent.is_ok().then_some(sender);
        sent
    }
}

fn start() -> Result<Sender<Job>> {
    let (sender, jobs) = channel();
    let thread = thread::Builder::new().name("forecasts".to_owned()).spawn(move || serve(&jobs));
    thread.map(|_| sender).map_err(|error| CommandError::io("start a thread", &error))
}

fn serve(jobs: &Receiver<Job>) {
    for job in jobs {
        job();
    }
}

fn failed() -> CommandError {
    CommandError::new(FailureKind::Failed, "a part of the program failed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_run_on_one_thread_and_a_panic_ends_only_its_own() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let jobs = OneThread::default();
            let here = || Ok(thread::current().id());
            let first = jobs.run(here).await.unwrap();
            assert_ne!(first, thread::current().id());
            assert_eq!(jobs.run(here).await.unwrap(), first);
            assert!(jobs.run(|| -> Result<()> { panic!("on purpose") }).await.is_err());
            // The channel closes a moment after the panic.
            while jobs.run(here).await.is_err() {}
            assert_ne!(jobs.run(here).await.unwrap(), first);
        });
    }
}
