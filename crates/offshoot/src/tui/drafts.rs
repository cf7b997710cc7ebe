//! Writes drafts and the history of prompts on a thread of its own, so that neither the screen nor the agent waits for
//! a disk. `draft_files` decides which files they are.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use offshoot_app::error::{CommandError, Result};

use offshoot_tui::overlay::prompts::PastPrompts;

use super::draft_files::{DraftFiles, DraftKey};

/// A draft is written once it has not changed for this long.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Clone)]
pub(super) struct DraftWriter {
    jobs: Sender<DraftJob>,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
}

enum DraftJob {
    /// The text in the editor; an empty one removes the draft.
    Draft(String),
    Owner(DraftKey),
    Prompt(String),
    /// Read all prompts, those before included.
    PastPrompts(Box<dyn FnOnce(Option<io::Result<PastPrompts>>) + Send>),
    Close,
}

impl DraftWriter {
    /// Starts the thread. `failed` is called if a draft could not be written.
    pub(super) fn start(mut files: DraftFiles, failed: impl Fn(&io::Error) + Send + 'static) -> Result<Self> {
        // Unbounded: a job is a key press or a prompt, and only the last of several drafts is written.
        let (jobs, wanted) = channel();
        let thread = std::thread::Builder::new().name("drafts".to_owned());
        let thread = thread.spawn(move || write(&mut files, &wanted, failed));
        let thread = thread.map_err(|error| CommandError::io("start the thread for drafts", &error))?;
        Ok(Self { jobs, thread: Arc::new(Mutex::new(Some(thread))) })
    }

    pub(super) fn save(&self, draft: String) {
        self.send(DraftJob::Draft(draft));
    }

    /// Another session is open, or the open one has begun.
    pub(super) fn set_owner(&self, owner: DraftKey) {
        self.send(DraftJob::Owner(owner));
    }

    pub(super) fn remember(&self, prompt: String) {
        self.send(DraftJob::Prompt(prompt));
    }

    /// Reads the prompts that are kept; the answer is `None` if none are.
    pub(super) fn past_prompts(&self, answer: impl FnOnce(Option<io::Result<PastPrompts>>) + Send + 'static) {
        self.send(DraftJob::PastPrompts(Box::new(answer)));
    }

    pub(super) fn close(&self) {
        self.send(DraftJob::Close);
        let thread = self.thread.lock().ok().and_then(|mut thread| thread.take());
        // A thread that panicked has ended as well.
        drop(thread.map(JoinHandle::join));
    }

    fn send(&self, job: DraftJob) {
        // After the end nothing is saved.
        drop(self.jobs.send(job));
    }
}

fn write(files: &mut DraftFiles, jobs: &Receiver<DraftJob>, failed: impl Fn(&io::Error)) {
    let mut draft: Option<String> = None;
    loop {
        let job = match draft {
            Some(_) => jobs.recv_timeout(PAUSE),
            None => jobs.recv().map_err(RecvTimeoutError::from),
        };
        let is_end = matches!(job, Ok(DraftJob::Close) | Err(RecvTimeoutError::Disconnected));
        match job {
            Ok(DraftJob::Draft(text)) if text.is_empty() => {
                draft = None;
                files.forget_draft();
            }
            Ok(DraftJob::Draft(text)) => draft = Some(text),
            Ok(DraftJob::Owner(owner)) => files.set_owner(owner),
            Ok(DraftJob::Prompt(prompt)) => files.remember(prompt),
            Ok(DraftJob::PastPrompts(answer)) => answer(files.past_prompts()),
            Ok(DraftJob::Close) | Err(_) => {
                if let Some(Err(error)) = draft.take().map(|draft| files.keep_draft(&draft)) {
                    failed(&error);
                }
            }
        }
        if is_end {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_draft_is_kept_and_an_empty_one_is_forgotten() {
        let written = |drafts: &[&str]| {
            let folder = tempfile::tempdir().unwrap();
            let files = || DraftFiles::new(Some(folder.path().to_path_buf()), DraftKey::named("s"));
            let writer = DraftWriter::start(files(), |error| panic!("{error}")).unwrap();
            drafts.iter().for_each(|draft| writer.save((*draft).to_owned()));
            writer.remember("a prompt".to_owned());
            writer.close();
            assert_eq!(files().history().lines().count(), 1);
            files().take_left()
        };
        assert_eq!(written(&["half", "half a", "half a thought"]), "half a thought");
        assert_eq!(written(&["half", ""]), "");
    }
}
