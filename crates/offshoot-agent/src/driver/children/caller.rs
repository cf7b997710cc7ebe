//! The agent whose call starts children: its parts, where its session is, and which children are in files there. Starts none.

use std::path::PathBuf;

use offshoot_protocol::AgentError;
use offshoot_session::child::{ChildStart, child_file, children_folder};
use offshoot_session::entry::Source as _;
use offshoot_session::kind::Role;
use tokio::sync::mpsc::UnboundedSender;

use super::known::{KnownChild, known_children};
use crate::driver::DriverInput;
use crate::setup::Setup;
use crate::spending::Spending;
use crate::writer::WriterHandle;

/// Starts the children of one call.
#[derive(Clone)]
pub(crate) struct CallChildren {
    /// As the parent is now.
    pub(super) setup: Setup,
    pub(super) call_id: String,
    pub(super) spending: Spending,
    pub(super) session: WriterHandle,
    pub(super) parent: UnboundedSender<DriverInput>,
    /// Whether the call was begun by a program that has ended: children that it started go on.
    pub(super) resumes: bool,
    /// Whether the agent stays when its run has ended, so that children may go on after it.
    pub(super) stays: bool,
}

/// Where the parent's session is.
pub(super) struct ParentPlace {
    pub(super) id: String,
    /// The entry with the call.
    pub(super) entry: Option<String>,
    pub(super) file: Option<PathBuf>,
    /// Its own id, if it is a child.
    pub(super) child: Option<ChildStart>,
}

impl CallChildren {
    /// Before the first child of a root: what is spent is recorded from then on.
    pub(super) async fn record(&self, place: &ParentPlace) -> Result<(), String> {
        let family = &self.setup.family;
        match (&family.own, &place.file, family.ledger_of(&place.id)) {
            (None, Some(_), Some(path)) => {
                let run = format!("{:x}-{:x}", std::process::id(), self.setup.clock.now());
                self.spending.record_in(path, run).await
            }
            _ => Ok(()),
        }
    }

    pub(super) async fn place(&self) -> Result<ParentPlace, AgentError> {
        let own = self.setup.family.own.is_some();
        let found = self.session.ask(move |owned| {
            let session = owned.session();
            let tree = session.tree();
            let is_answer = |ix: &offshoot_session::tree::NodeIx| tree.node(*ix).role() == Some(Role::Assistant);
            let entry = session.leaf().and_then(|leaf| tree.ancestors(leaf).find(is_answer));
            let entry = entry.and_then(|ix| tree.node(ix).id().map(|id| id.as_str().to_owned()));
            // A child that somebody has opened by itself goes on being one.
            let child = if own { None } else { ChildStart::of(session)? };
            let file = session.file().map(PathBuf::from);
            Ok::<_, offshoot_session::error::Error>(ParentPlace { id: session.id().to_owned(), entry, file, child })
        });
        Ok(found.await??)
    }

    /// The folder of the files of all children of the root.
    pub(super) fn folder(&self, place: &ParentPlace) -> Option<PathBuf> {
        match (&self.setup.family.own, &place.child, &place.file) {
            (Some(own), ..) => own.folder.clone(),
            (None, Some(_), Some(file)) => file.parent().map(PathBuf::from),
            (None, _, file) => file.as_deref().map(children_folder),
        }
    }

    /// Children that the call has started before.
    pub(super) async fn known(&self, place: &ParentPlace) -> Vec<KnownChild> {
        let Some(folder) = self.folder(place) else { return Vec::new() };
        let (id, entry, call) = (place.id.clone(), place.entry.clone(), self.call_id.clone());
        let is_of_call = move |child: &ChildStart| {
            child.parent_id == id && child.parent_entry == entry && child.tool_call_id == call
        };
        let found = tokio::task::spawn_blocking(move || known_children(&folder, is_of_call));
        found.await.unwrap_or_default()
    }

    /// A child of this agent whose file is there, by its id.
    pub(super) async fn child_of_file(&self, place: &ParentPlace, id: &str) -> Option<KnownChild> {
        let folder = self.folder(place)?;
        if !child_file(&folder, id).is_file() {
            return None;
        }
        let (parent, id) = (place.id.clone(), id.to_owned());
        let is_it = move |child: &ChildStart| child.parent_id == parent && child.id == id;
        let found = tokio::task::spawn_blocking(move || known_children(&folder, is_it));
        found.await.unwrap_or_default().pop()
    }
}
