//! A session that programs write to, and its entries as they come. Prints nothing.

use std::io;
use std::path::Path;
use std::time::Duration;

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_foreign::source_stamp;
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::medium::Stamp;
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;

const PAUSE: Duration = Duration::from_millis(200);
/// After so many pauses without a change the last entry of another agent's session is whole.
const QUIET: u32 = 5;

/// A session, and what of it has come.
pub(super) struct Following {
    session: Session,
    /// The source of another agent's session when it was read; at first it is read once more.
    source: Option<Stamp>,
    /// Its last entry, which may still grow and is not passed on yet.
    held: Option<EntryId>,
    quiet: u32,
}

impl Following {
    pub(super) fn new(session: Session) -> Self {
        Self { session, source: None, held: None, quiet: 0 }
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// Waits for entries. `before` is an entry; it stays the same one when the session is read again.
    pub(super) fn next(&mut self, app: &App, before: &mut Option<NodeIx>) -> Result<Vec<NodeIx>> {
        loop {
            app.ui.wait(PAUSE)?;
            let fresh = if self.session.is_made() { self.read_again(app, before)? } else { self.grown()? };
            if !fresh.is_empty() {
                return Ok(fresh);
            }
        }
    }

    fn grown(&mut self) -> Result<Vec<NodeIx>> {
        if !self.session.is_current()? {
            return Err(gone(self.session.file().unwrap_or(Path::new(""))));
        }
        let shown = self.session.tree().len();
        self.session.refresh()?;
        Ok(self.session.tree().entries().skip(shown).collect())
    }

    fn read_again(&mut self, app: &App, before: &mut Option<NodeIx>) -> Result<Vec<NodeIx>> {
        let path = self.session.origin().map(Path::to_path_buf).unwrap_or_default();
        let stamp = match source_stamp(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(gone(&path)),
            Err(error) => return Err(CommandError::io(format!("look at {}", path.display()), &error)),
            Ok(stamp) => stamp,
        };
        if self.source != Some(stamp) {
            (self.source, self.quiet) = (Some(stamp), 0);
            return self.take(&path, app, before);
        }
        self.quiet += 1;
        let settled = if self.quiet == QUIET { self.held.take() } else { None };
        Ok(settled.and_then(|id| self.session.tree().find(id.as_str())).into_iter().collect())
    }

    /// The entries that the session did not have before, but the last one.
    fn take(&mut self, path: &Path, app: &App, before: &mut Option<NodeIx>) -> Result<Vec<NodeIx>> {
        let next = app.looked_up(&path.to_string_lossy(), |place| place.open_to_read(path))?;
        let (old, tree) = (self.session.tree(), next.tree());
        let is_fresh = |ix: &NodeIx| {
            let id = tree.node(*ix).id();
            id.is_some_and(|id| old.find(id.as_str()).is_none() || self.held.as_ref() == Some(id))
        };
        let mut fresh: Vec<NodeIx> = tree.entries().filter(is_fresh).collect();
        let held = fresh.pop().and_then(|last| tree.node(last).id()).cloned();
        *before = before.and_then(|ix| tree.find(old.node(ix).id()?.as_str()));
        (self.session, self.held) = (next, held);
        Ok(fresh)
    }
}

fn gone(path: &Path) -> CommandError {
    CommandError::new(FailureKind::Conflict, format!("{}: the file was replaced or deleted", path.display()))
}
