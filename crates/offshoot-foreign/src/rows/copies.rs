//! Copies of sessions that another one has started, which lie with its copy: their records say what the rows of the store did.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use offshoot_session::json::Json;

use super::children::{ChildRow, TaskCall, by_calls, child_in, give_tasks, note_calls};
use crate::agent::Agent;
use crate::kept_copy::{KeptSource, files_with_copy};
use crate::record::for_each_record;

/// The copy of a session of a store, with those of the sessions below it.
pub(crate) struct CopiedRows {
    agent: Agent,
    id: String,
    /// The manifest of each copy, by the id of its session.
    manifests: HashMap<String, PathBuf>,
}

impl CopiedRows {
    /// Those of the copy with this manifest; `None` if the path is another one.
    pub(crate) fn at(agent: Agent, manifest: &Path) -> Option<Self> {
        let source = KeptSource::at(manifest)?.source;
        let id_of = |source: &Path| Some(source.file_name()?.to_str()?.to_owned());
        let id = id_of(&source)?;
        let below = files_with_copy(manifest.parent()?).into_iter();
        let below = below.filter(|file| file.source.parent() == source.parent());
        let below = below.filter_map(|file| Some((id_of(&file.source)?, file.manifest)));
        let manifests = below.chain([(id.clone(), manifest.to_path_buf())]).collect();
        Some(Self { agent, id, manifests })
    }

    /// The session itself.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The path of the session with this id.
    pub(crate) fn path_of(&self, id: &str) -> PathBuf {
        self.manifests.get(id).cloned().unwrap_or_default()
    }

    /// The sessions that name this one as their parent. A copy that cannot be read has none, and is nobody's.
    pub(crate) fn children_of(&self, parent: &str) -> Vec<ChildRow> {
        let mut rows: Vec<ChildRow> = Vec::new();
        for manifest in self.manifests.values() {
            let mut own = None;
            // The first record is that of the session.
            let _read: io::Result<()> = for_each_kept(manifest, |record| {
                own = child_in(self.agent, record);
                Err(io::ErrorKind::Interrupted.into())
            });
            rows.extend(own.filter(|(above, row)| above == parent && row.id != parent).map(|(_, row)| row));
        }
        if rows.is_empty() {
            return rows;
        }
        rows.sort_by(|one, other| one.id.cmp(&other.id));
        let manifest = self.path_of(parent);
        // What cannot be read to its end has the calls that were found so far.
        let _read: io::Result<()> = match self.agent {
            Agent::Opencode => {
                let mut tasks = Vec::new();
                let read = for_each_kept(&manifest, |record| {
                    let message = record.str("id").unwrap_or_default();
                    for part in record.get("parts").into_iter().flat_map(Json::items) {
                        let at = part.get("time_created").and_then(Json::as_f64).unwrap_or_default() as i64;
                        tasks.extend(part.get("data").and_then(|data| TaskCall::of(&message, at, data)));
                    }
                    Ok(())
                });
                give_tasks(tasks, &mut rows);
                read
            }
            _ => {
                let mut of = by_calls(&mut rows);
                for_each_kept(&manifest, |record| {
                    if let Some(parts) = record.get("parts") {
                        note_calls(&record.str("id").unwrap_or_default(), parts, &mut of);
                    }
                    Ok(())
                })
            }
        };
        rows
    }
}

/// The records of a copy, as far as they are JSON.
fn for_each_kept(manifest: &Path, mut take: impl FnMut(Json<'_>) -> io::Result<()>) -> io::Result<()> {
    let kept = KeptSource::at(manifest).ok_or(io::ErrorKind::NotFound)?;
    for_each_record(&kept.medium(manifest)?, |raw| match Json::parse(&raw.text()) {
        Ok(record) => take(record),
        Err(_) => Ok(()),
    })
}
