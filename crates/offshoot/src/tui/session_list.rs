//! Runs the requests of the session selector on its own threads: lists, previews, full-text searches, names, the trash.
//! Knows no screen; sends results through one function.

mod listing;
mod preview;
mod search;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, Result};
use offshoot_session::compose::NewEntry;
use offshoot_session::session::{Options, Session};
use offshoot_tui::overlay::sessions::{Answer, Request, Setting};
use offshoot_workspace::trash_folder::Trash;
use offshoot_workspace::{Failure, FailureKind};

/// Called from any thread.
type SendAnswer = Arc<dyn Fn(Answer) + Send + Sync>;

/// Dropping this discards the results of running requests.
pub(crate) struct SessionListWorker {
    app: App,
    tell: SendAnswer,
    search: Arc<AtomicU64>,
    previews: Sender<PathBuf>,
    changes: Sender<Request>,
}

const NO_SEARCH: u64 = u64::MAX;

impl SessionListWorker {
    pub(crate) fn start(app: &App, tell: impl Fn(Answer) + Send + Sync + 'static) -> Result<Self> {
        let tell: SendAnswer = Arc::new(tell);
        // Unbounded: the screen does not wait. Only the last preview is read; other requests come from key presses.
        let (previews, wanted) = channel();
        let (changes, orders) = channel();
        let (for_previews, for_changes) = ((app.clone(), tell.clone()), (app.clone(), tell.clone()));
        spawn("previews", move || preview::serve(&for_previews.0, &wanted, &for_previews.1))?;
        spawn("changes", move || serve(&for_changes.0, &orders, &for_changes.1))?;
        Ok(Self { app: app.clone(), tell, search: Arc::new(AtomicU64::new(NO_SEARCH)), previews, changes })
    }

    /// Starts a request; never waits for it.
    pub(crate) fn take(&self, request: Request) {
        let (app, tell) = (self.app.clone(), self.tell.clone());
        let begun = match request {
            Request::List(scope) => {
                spawn("list", move || listing::list(&app, scope, &tell)).map_err(|error| (scope, error))
            }
            Request::Search { search, query, files } => {
                self.search.store(search, Ordering::Relaxed);
                let job = search::SearchJob { search, current: self.search.clone(), query, files };
                // Without the thread the selector shows the results so far, and says so.
                drop(spawn("search", move || search::run(&job, &tell)));
                Ok(())
            }
            Request::StopSearch => {
                self.search.store(NO_SEARCH, Ordering::Relaxed);
                Ok(())
            }
            Request::Preview(file) => {
                // The thread has ended only if it panicked; a missing preview does no harm.
                drop(self.previews.send(file));
                Ok(())
            }
            change @ (Request::Rename(..) | Request::Trash(_) | Request::Restore(_)) => {
                if let Err(unsent) = self.changes.send(change) {
                    refuse(unsent.0, "a part of the program has failed", &self.tell);
                }
                Ok(())
            }
        };
        if let Err((scope, error)) = begun {
            (self.tell)(Answer::Done(scope, Err(error.on_one_line())));
        }
    }
}

impl Drop for SessionListWorker {
    fn drop(&mut self) {
        self.search.store(NO_SEARCH, Ordering::Relaxed);
    }
}

/// The surroundings of the selector.
pub(super) fn surroundings(app: &App) -> Setting {
    Setting { now: app.now(), home: app.environment.home.clone(), ..Setting::default() }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map(drop).map_err(|error| CommandError::io(format!("start the thread for {name}"), &error))
}

fn serve(app: &App, orders: &Receiver<Request>, tell: &SendAnswer) {
    for change in orders {
        match change {
            Request::Rename(file, name) => {
                let result = rename(app, &file, &name).map_err(|error| error.on_one_line());
                tell(Answer::Renamed(file, result));
            }
            Request::Trash(file) => {
                let result = Trash::of(&app.place()).and_then(|trash| trash.put(&file, app.now()));
                tell(Answer::Trashed(file, result.map(drop).map_err(|error| error.on_one_line())));
            }
            Request::Restore(file) => {
                let result = restore(app, &file).map_err(|error| error.on_one_line());
                tell(Answer::Restored(file, result));
            }
            Request::List(_) | Request::Preview(_) | Request::Search { .. } | Request::StopSearch => {}
        }
    }
}

fn refuse(change: Request, why: &str, tell: &SendAnswer) {
    match change {
        Request::Rename(file, _) => tell(Answer::Renamed(file, Err(why.to_owned()))),
        Request::Trash(file) => tell(Answer::Trashed(file, Err(why.to_owned()))),
        Request::Restore(file) => tell(Answer::Restored(file, Err(why.to_owned()))),
        Request::List(_) | Request::Preview(_) | Request::Search { .. } | Request::StopSearch => {}
    }
}

/// Opens a session without progress on the screen.
fn open(app: &App, file: &Path) -> Result<Session> {
    Ok(Session::open(file, Options { progress: None, ..app.options_for(file) })?)
}

/// Renames a session; returns the resulting name.
fn rename(app: &App, file: &Path, name: &str) -> Result<String> {
    let mut session = open(app, file)?;
    if !session.is_named(name)? {
        session.append(&NewEntry::session_info(name))?;
    }
    Ok(session.name()?.unwrap_or_default())
}

/// Restores the most recently deleted session of this path.
fn restore(app: &App, file: &Path) -> offshoot_workspace::Result<()> {
    let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
    let real = folder.zip(file.file_name()).map(|(folder, name)| folder.join(name));
    let is_it = |origin: &Path| origin == file || Some(origin) == real.as_deref();
    match Trash::of(&app.place())?.list()?.into_iter().find(|trashed| is_it(&trashed.origin)) {
        Some(trashed) => trashed.restore(),
        None => {
            Err(Failure::refused(FailureKind::NotFound, format!("{} is not in the trash any more", file.display())))
        }
    }
}

#[cfg(test)]
mod tests;
