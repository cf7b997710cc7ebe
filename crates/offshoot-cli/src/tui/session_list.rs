//! What the selector of sessions wants read and done, done on threads of its own: lists in portions, previews, searches of
//! everything that was said, names, the trash. Knows no screen; tells what comes of it through one function.

mod listing;
mod preview;
mod search;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use offshoot_session::compose::NewEntry;
use offshoot_session::session::{Options, Session};
use offshoot_tui::overlay::sessions::{Answer, Request, Setting};

use crate::app::App;
use crate::error::{CommandError, Result};
use crate::trash::Trash;

/// Told what came of a request, from any thread.
type SendAnswer = Arc<dyn Fn(Answer) + Send + Sync>;

/// Threads that read and change session files for the selector. When it is dropped, what still runs comes to nothing.
pub(crate) struct SessionListWorker {
    app: App,
    tell: SendAnswer,
    search: Arc<AtomicU64>,
    previews: Sender<PathBuf>,
    changes: Sender<Request>,
}

/// No search has this number.
const NO_SEARCH: u64 = u64::MAX;

impl SessionListWorker {
    pub(crate) fn start(app: &App, tell: impl Fn(Answer) + Send + Sync + 'static) -> Result<Self> {
        let tell: SendAnswer = Arc::new(tell);
        // Unbounded: the screen does not wait. Of previews only the last is read; the others are one for a key press.
        let (previews, wanted) = channel();
        let (changes, orders) = channel();
        let (for_previews, for_changes) = ((app.clone(), tell.clone()), (app.clone(), tell.clone()));
        spawn("previews", move || preview::serve(&for_previews.0, &wanted, &for_previews.1))?;
        spawn("changes", move || serve(&for_changes.0, &orders, &for_changes.1))?;
        Ok(Self { app: app.clone(), tell, search: Arc::new(AtomicU64::new(NO_SEARCH)), previews, changes })
    }

    /// Begins to do what is wanted; never waits for it.
    pub(crate) fn take(&self, request: Request) {
        let (app, tell) = (self.app.clone(), self.tell.clone());
        let begun = match request {
            Request::List(scope) => {
                spawn("list", move || listing::list(&app, scope, &tell)).map_err(|error| (scope, error))
            }
            Request::Search { search, query, files } => {
                self.search.store(search, Ordering::Relaxed);
                let job = search::SearchJob { search, current: self.search.clone(), query, files };
                // Without it the selector goes on with what it knows, and says so.
                drop(spawn("search", move || search::run(&job, &tell)));
                Ok(())
            }
            Request::StopSearch => {
                self.search.store(NO_SEARCH, Ordering::Relaxed);
                Ok(())
            }
            Request::Preview(file) => {
                // Its thread has ended only if it panicked; a preview less is no harm.
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

/// What the selector is told of its surroundings.
pub(super) fn surroundings(app: &App) -> Setting {
    Setting { now: app.now(), home: app.environment.home.clone(), ..Setting::default() }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map(drop).map_err(|error| CommandError::io(format!("start the thread for {name}"), &error))
}

/// Makes one change after the other.
fn serve(app: &App, orders: &Receiver<Request>, tell: &SendAnswer) {
    for change in orders {
        match change {
            Request::Rename(file, name) => {
                let result = rename(app, &file, &name).map_err(|error| error.on_one_line());
                tell(Answer::Renamed(file, result));
            }
            Request::Trash(file) => {
                let result = Trash::of(app).and_then(|trash| trash.put(&file, app.now()));
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

/// Opens a session without a word on the screen.
fn open(app: &App, file: &Path) -> Result<Session> {
    Ok(Session::open(file, Options { progress: None, ..app.options_for(file) })?)
}

/// Gives a session a name; answers the one it has then.
fn rename(app: &App, file: &Path, name: &str) -> Result<String> {
    let mut session = open(app, file)?;
    session.append(&NewEntry::session_info(name))?;
    Ok(session.name()?.unwrap_or_default())
}

/// Brings back what was thrown away last of what was at this place.
fn restore(app: &App, file: &Path) -> Result<()> {
    let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
    let real = folder.zip(file.file_name()).map(|(folder, name)| folder.join(name));
    let is_it = |origin: &Path| origin == file || Some(origin) == real.as_deref();
    match Trash::of(app)?.list()?.into_iter().find(|trashed| is_it(&trashed.origin)) {
        Some(trashed) => trashed.restore(),
        None => Err(CommandError::new(
            crate::error::FailureKind::NotFound,
            format!("{} is not in the trash any more", file.display()),
        )),
    }
}

#[cfg(test)]
mod tests;
