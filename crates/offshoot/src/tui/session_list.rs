//! Runs the requests of the session selector on its own threads: lists, previews, searches, sessions to read, names, the trash.
//! Knows no screen; sends results through one function.

mod hits;
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
use offshoot_tui::overlay::hits::{HitAnswer, HitRequest};
use offshoot_tui::overlay::sessions::{Answer, Request, Setting};
use offshoot_workspace::search::SearchWish;
use offshoot_workspace::trash_folder::Trash;
use offshoot_workspace::{Failure, FailureKind};

/// Called from any thread.
type SendAnswer = Arc<dyn Fn(Answer) + Send + Sync>;

/// Dropping this discards the results of running requests.
pub(crate) struct SessionListWorker {
    app: App,
    tell: SendAnswer,
    search: Arc<AtomicU64>,
    /// The number of the search in all sessions that somebody waits for.
    hits: Arc<AtomicU64>,
    searches: Sender<(u64, SearchWish)>,
    previews: Sender<PathBuf>,
    changes: Sender<Request>,
}

const NO_SEARCH: u64 = u64::MAX;
/// A thread has ended that never does.
const FAILED: &str = "a part of the program has failed";

impl SessionListWorker {
    pub(crate) fn start(app: &App, tell: impl Fn(Answer) + Send + Sync + 'static) -> Result<Self> {
        let tell: SendAnswer = Arc::new(tell);
        // Unbounded: the screen does not wait. Only the last preview is read; other requests come from key presses.
        let (previews, wanted) = channel();
        let (changes, orders) = channel();
        let (searches, wishes) = channel();
        let hits = Arc::new(AtomicU64::new(NO_SEARCH));
        let (for_previews, for_changes) = ((app.clone(), tell.clone()), (app.clone(), tell.clone()));
        spawn("previews", move || preview::serve(&for_previews.0, &wanted, &for_previews.1))?;
        let (for_hits, current) = ((app.clone(), tell.clone()), hits.clone());
        spawn("hits", move || hits::serve(&for_hits.0, &wishes, &current, &for_hits.1))?;
        spawn("changes", move || serve(&for_changes.0, &orders, &for_changes.1))?;
        let search = Arc::new(AtomicU64::new(NO_SEARCH));
        Ok(Self { app: app.clone(), tell, search, hits, searches, previews, changes })
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
                let job = search::SearchJob {
                    search,
                    current: self.search.clone(),
                    query,
                    files,
                    store: app.store_with_agents().ok(),
                };
                // Without the thread the selector shows the results so far, and says so.
                drop(spawn("search", move || search::run(&job, &tell)));
                Ok(())
            }
            Request::StopSearch => {
                self.search.store(NO_SEARCH, Ordering::Relaxed);
                Ok(())
            }
            Request::Hits(request) => {
                self.take_hits(request);
                Ok(())
            }
            Request::Preview(file) => {
                // The thread has ended only if it panicked; a missing preview does no harm.
                drop(self.previews.send(file));
                Ok(())
            }
            change @ (Request::Rename(..) | Request::Trash(_) | Request::Restore(_)) => {
                if let Err(unsent) = self.changes.send(change) {
                    refuse(unsent.0, FAILED, &self.tell);
                }
                Ok(())
            }
        };
        if let Err((scope, error)) = begun {
            (self.tell)(Answer::Done(scope, Err(error.on_one_line())));
        }
    }

    fn take_hits(&self, request: HitRequest) {
        let (app, tell) = (self.app.clone(), self.tell.clone());
        match request {
            HitRequest::Search(number, wish) => {
                self.hits.store(number, Ordering::Relaxed);
                if self.searches.send((number, wish)).is_err() {
                    tell(Answer::Hits(HitAnswer::Found(number, Err(FAILED.to_owned()))));
                }
            }
            HitRequest::Stop => self.hits.store(NO_SEARCH, Ordering::Relaxed),
            HitRequest::Read(number, place) => {
                let begun = spawn("reading", move || hits::read(&app, number, place, &tell));
                if let Err(error) = begun {
                    (self.tell)(Answer::Hits(HitAnswer::Read(number, Err(error.on_one_line()))));
                }
            }
        }
    }
}

impl Drop for SessionListWorker {
    fn drop(&mut self) {
        self.search.store(NO_SEARCH, Ordering::Relaxed);
        self.hits.store(NO_SEARCH, Ordering::Relaxed);
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
            Request::Trash(file) if app.place().agent_of(&file).is_some() => {
                tell(Answer::Trashed(file, Err("it is another agent's session, which is only read".to_owned())));
            }
            Request::Trash(file) => {
                let result = Trash::of(&app.place()).and_then(|trash| trash.put(&file, app.now()));
                tell(Answer::Trashed(file, result.map(drop).map_err(|error| error.on_one_line())));
            }
            Request::Restore(file) => {
                let result = restore(app, &file).map_err(|error| error.on_one_line());
                tell(Answer::Restored(file, result));
            }
            Request::List(_)
            | Request::Preview(_)
            | Request::Search { .. }
            | Request::StopSearch
            | Request::Hits(_) => {}
        }
    }
}

fn refuse(change: Request, why: &str, tell: &SendAnswer) {
    match change {
        Request::Rename(file, _) => tell(Answer::Renamed(file, Err(why.to_owned()))),
        Request::Trash(file) => tell(Answer::Trashed(file, Err(why.to_owned()))),
        Request::Restore(file) => tell(Answer::Restored(file, Err(why.to_owned()))),
        Request::List(_) | Request::Preview(_) | Request::Search { .. } | Request::StopSearch | Request::Hits(_) => {}
    }
}

/// Opens a session without progress on the screen.
fn open(app: &App, file: &Path) -> Result<Session> {
    let store = app.store_with_agents()?;
    Ok(store.open_file(file, Options { progress: None, ..app.options_for(file) })?)
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
