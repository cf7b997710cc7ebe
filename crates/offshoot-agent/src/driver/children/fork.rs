//! A child that begins with its parent's context: what the model had before the call, copied into the child's file as any pick copies
//! entries of another session. What they cost counts where it was spent.

use std::sync::Arc;

use offshoot_session::compose::{NewBranchSummary, NewEntry};
use offshoot_session::context;
use offshoot_session::entry::Source as _;
use offshoot_session::error::Result;
use offshoot_session::header::Dialect;
use offshoot_session::kind::Kind;
use offshoot_session::pick::{PickEnd, PickOptions, PickRequest};
use offshoot_session::provenance::Ancestor;
use offshoot_session::session::{Session, Snapshot};
use offshoot_session::tree::NodeIx;

use super::caller::{CallChildren, ParentPlace};

/// The parent's session as it was when the call was made. Clones share it.
#[derive(Clone)]
pub(super) struct ForkPoint(Arc<ForkedFrom>);

struct ForkedFrom {
    snapshot: Snapshot,
    session: String,
    ancestors: Vec<Ancestor>,
    dialect: Dialect,
    /// The entry before the one with the call.
    at: Option<NodeIx>,
}

impl CallChildren {
    /// The context before the call. `None` if it cannot be read.
    pub(super) async fn fork_of(&self, place: &ParentPlace) -> Option<ForkPoint> {
        let call = place.entry.clone();
        let read = self.session.ask(move |owned| {
            let session = owned.session();
            let tree = session.tree();
            let at = call.and_then(|call| tree.find(&call)).and_then(|call| tree.ancestors(call).nth(1));
            let from = ForkedFrom {
                snapshot: session.snapshot()?,
                session: session.id().to_owned(),
                ancestors: session.ancestors().to_vec(),
                dialect: session.dialect(),
                at,
            };
            Ok::<_, offshoot_session::error::Error>(ForkPoint(Arc::new(from)))
        });
        read.await.ok()?.ok()
    }
}

impl ForkPoint {
    /// Writes the context below the leaf of a child's session. What a program that was killed has copied already is not copied again.
    pub(super) fn copy_to(&self, child: &mut Session) -> Result<()> {
        let ForkedFrom { snapshot, session, ancestors, dialect, at } = self.0.as_ref();
        let context = context::build(snapshot, *at, *dialect)?;
        let entries: Vec<NodeIx> = context.entries().collect();
        let compacted = entries.iter().find(|ix| snapshot.tree().node(**ix).kind() == Kind::Compaction);
        let has_summary = child.tree().entries().any(|ix| child.tree().node(ix).kind() == Kind::BranchSummary);
        if let Some(ix) = compacted.filter(|_| !has_summary) {
            let entry = snapshot.entry(*ix)?;
            let summary = entry.str("summary").unwrap_or_default();
            let new = NewBranchSummary { summary: &summary, details: None, from_hook: None, usage: None };
            child.append(&NewEntry::branch_summary(None, &new, child.dialect()))?;
        }
        let from = PickEnd { source: snapshot, session, ancestors, dialect: *dialect, leaf: *at };
        let request = PickRequest {
            from: Some(from),
            selections: &[entries],
            onto: child.leaf(),
            options: PickOptions::default(),
        };
        let planned = child.plan_pick(&request)?;
        child.pick(&planned).map(drop)
    }
}
