//! A session that programs write to, and its entries as they come. Prints nothing.

use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_foreign::source_stamp;
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::medium::Stamp;
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;

const PAUSE: Duration = Duration::from_millis(200);
/// After so many pauses without a change the last entry of another agent's session is passed on. If it grows later, it comes again.
/// After so many failures the session cannot be read.
const QUIET: u32 = 5;

/// A session, and what of it has come.
pub(super) struct Following {
    session: Session,
    /// The source of another agent's session when it was read; at first it is read once more.
    source: Option<Stamp>,
    /// Its last entry, which may still grow and is not passed on yet.
    held: Option<EntryId>,
    quiet: u32,
    /// How often it could not be read, one time after the other: its program may be writing it anew.
    failed: u32,
}

impl Following {
    pub(super) fn new(session: Session) -> Self {
        Self { session, source: None, held: None, quiet: 0, failed: 0 }
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
        // A link does not change with its file. A session in a store has no file of its own.
        let stamp = match source_stamp(&fs::canonicalize(&path).unwrap_or_else(|_| path.clone())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(gone(&path)),
            Err(error) => return Err(CommandError::io(format!("look at {}", path.display()), &error)),
            Ok(stamp) => stamp,
        };
        if self.source != Some(stamp) {
            let read = app.looked_up(&path.to_string_lossy(), |place| place.open_to_read(&path));
            return match read {
                Ok(next) => {
                    (self.source, self.quiet, self.failed) = (Some(stamp), 0, 0);
                    Ok(self.take(next, before))
                }
                Err(_) if self.failed < QUIET => {
                    self.failed += 1;
                    Ok(Vec::new())
                }
                Err(error) => Err(error),
            };
        }
        self.quiet += 1;
        let settled = if self.quiet == QUIET { self.held.take() } else { None };
        Ok(settled.and_then(|id| self.session.tree().find(id.as_str())).into_iter().collect())
    }

    /// The entries that the session did not have before, or that have grown, but the last one.
    fn take(&mut self, next: Session, before: &mut Option<NodeIx>) -> Vec<NodeIx> {
        let (old, tree) = (self.session.tree(), next.tree());
        let is_fresh = |ix: &NodeIx| {
            let node = tree.node(*ix);
            let Some(id) = node.id().filter(|_| !node.is_leaf_marker()) else { return false };
            let known = old.find(id.as_str()).map(|known| old.node(known).length());
            known != Some(node.length()) || self.held.as_ref() == Some(id)
        };
        let mut fresh: Vec<NodeIx> = tree.entries().filter(is_fresh).collect();
        let held = fresh.pop().and_then(|last| tree.node(last).id()).cloned();
        *before = before.and_then(|ix| tree.find(old.node(ix).id()?.as_str()));
        (self.session, self.held) = (next, held);
        fresh
    }
}

fn gone(path: &Path) -> CommandError {
    CommandError::new(FailureKind::Conflict, format!("{}: the file was replaced or deleted", path.display()))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use offshoot_foreign::open_foreign;

    use super::*;

    #[test]
    fn what_has_grown_comes_again_and_where_a_session_is_open_never() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut opened = |more: &[&str]| {
            more.iter().for_each(|line| writeln!(file, "{{\"sessionId\":\"s\",{line}}}").unwrap());
            open_foreign(file.path(), Default::default).unwrap().unwrap().session
        };
        let first = opened(&[
            r#""type":"user","uuid":"a","parentUuid":null,"message":{"role":"user","content":"x"}"#,
            r#""type":"assistant","uuid":"b","parentUuid":"a","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"y"}]}"#,
        ]);
        let mut before = first.tree().last();
        let mut following = Following::new(first);
        let fresh = |following: &mut Following, next: Session, before: &mut Option<NodeIx>| -> Vec<String> {
            let fresh = following.take(next, before);
            let tree = following.session.tree();
            fresh.iter().chain(&*before).filter_map(|ix| tree.node(*ix).id()).map(EntryId::to_string).collect()
        };
        let next = opened(&[
            r#""type":"assistant","uuid":"c","parentUuid":"b","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"z"}]}"#,
            r#""type":"user","uuid":"d","parentUuid":"a","message":{"role":"user","content":"other"}"#,
            r#""type":"last-prompt","leafUuid":"c""#,
        ]);
        assert!(next.tree().node(next.tree().last().unwrap()).is_leaf_marker());
        assert_eq!(fresh(&mut following, next, &mut before), ["b", "b"], "what grew, and the one before it");
        assert_eq!(following.held, Some(EntryId::new("d")));
        let next = opened(&[r#""type":"user","uuid":"e","parentUuid":"d","message":{"role":"user","content":"more"}"#]);
        assert_eq!(fresh(&mut following, next, &mut before), ["d", "b"]);
    }
}
