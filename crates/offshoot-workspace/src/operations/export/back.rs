//! An export for another agent: where its file goes, what it is named, and how the agent opens it.

use std::path::{Path, PathBuf};

use offshoot_foreign::{
    Agent, BackFormat, BackReport, BackWish, ImportWish, KeptVersions, OpenEnd, claude_session_id, codex_model,
    import_foreign, rollout_name, write_back,
};
use offshoot_session::clock::Millis;
use offshoot_session::entry::Source as _;
use offshoot_session::error::Error;
use offshoot_session::id::{IdSource as _, RandomIds};
use offshoot_session::json::Object;
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::text::{counted, shell_word};
use offshoot_session::tree::NodeIx;
use offshoot_session::zone::Zone;
use tempfile::TempDir;

use super::ExportInput;
use crate::closed_words;
use crate::failure::{Failure, FailureKind, Hint, Result};
use crate::new_file;
use crate::operations::fork::nothing_to_copy;
use crate::place::Place;

closed_words! {
    /// The agents for which a session is written.
    pub enum ExportTarget {
        /// Claude Code.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
    }
}

impl ExportTarget {
    fn format(self) -> BackFormat {
        match self {
            Self::Claude => BackFormat::Claude,
            Self::Codex => BackFormat::Codex,
        }
    }

    pub(super) fn agent(self) -> Agent {
        self.format().agent()
    }
}

/// What is written for another agent.
#[derive(Debug)]
pub(super) struct BackPlan {
    target: ExportTarget,
    /// The id of the new session.
    pub(super) id: String,
    cwd: String,
    now: Millis,
    /// The agent's folder, if the file goes there.
    root: Option<PathBuf>,
}

impl BackPlan {
    /// Names the session and, for the agent's folder, its file. Nothing is written.
    pub(super) fn of(place: &Place, session: &Session, input: &ExportInput, target: ExportTarget) -> Result<Self> {
        let new = RandomIds.session_id();
        let id = if target == ExportTarget::Claude { claude_session_id(&new) } else { new };
        let root = match place.root_of(target.agent()) {
            Some(root) if input.install => Some(root),
            None if input.install => return Err(no_folder(target.agent())),
            _ => None,
        };
        // The agents find a session by its folder, which must be the real one.
        let own = session.cwd().filter(|cwd| !cwd.is_empty()).map(PathBuf::from);
        let folder = match own {
            Some(own) if own.is_dir() || root.is_none() => own,
            _ => place.cwd().to_path_buf(),
        };
        let cwd = folder.canonicalize().unwrap_or(folder).to_string_lossy().into_owned();
        Ok(Self { target, id, cwd, now: place.now(), root })
    }

    /// The new file in the agent's folder.
    pub(super) fn installed(&self) -> Option<PathBuf> {
        let root = self.root.as_ref()?;
        Some(match self.target {
            ExportTarget::Claude => {
                let folder = Agent::claude_folder_name(&self.cwd);
                root.join("projects").join(folder).join(format!("{}.jsonl", self.id))
            }
            ExportTarget::Codex => root.join(rollout_name(&self.id, self.now, &Zone::local())),
        })
    }

    pub(super) fn word(&self) -> &'static str {
        self.target.agent().word()
    }

    /// How the agent opens the session.
    pub(super) fn opened_by(&self) -> String {
        let command = match self.target {
            ExportTarget::Claude => format!("claude --resume {}", self.id),
            ExportTarget::Codex => format!("codex resume {}", self.id),
        };
        format!("cd {} && {command}", shell_word(&self.cwd))
    }

    /// Makes the folders of a file of the agent's, which is named before.
    pub(super) fn prepare(&self, place: &Place, file: &Path) -> Result<()> {
        use std::os::unix::fs::DirBuilderExt as _;

        if self.root.is_none() {
            return Ok(());
        }
        place.announce(&format!("writing {}, a new file of {}", file.display(), self.target.agent().title()));
        let folder = file.parent().unwrap_or(Path::new("."));
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|error| Failure::io(format!("create folder {}", folder.display()), &error))
    }

    /// Writes the file.
    pub(super) fn write(&self, place: &Place, session: &Session, leaf: NodeIx, file: &Path) -> Result<BackReport> {
        // Of a session of the same agent, the records are those of an import.
        let imported = self.imported(place, session)?;
        let (source, leaf) = match &imported {
            Some(imported) => (&imported.session, imported.leaf(session, leaf)?),
            None => (session, leaf),
        };
        let (provider, model) = match (self.target, place.root_of(Agent::Codex)) {
            (ExportTarget::Codex, Some(root)) => codex_model(&root),
            _ => (None, None),
        };
        let wish = BackWish {
            format: self.target.format(),
            session: source,
            leaf,
            id: &self.id,
            cwd: &self.cwd,
            now: self.now,
            provider: provider.as_deref(),
            model: model.as_deref(),
        };
        let mut report = BackReport::default();
        new_file::create(file, |out| {
            report = write_back(&wish, &mut |line| {
                out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n")).map_err(Error::io("write", file))
            })?;
            Ok(())
        })?;
        Ok(report)
    }

    fn imported(&self, place: &Place, session: &Session) -> Result<Option<ImportedCopy>> {
        let Some(origin) = session.origin().filter(|_| session.is_made()) else { return Ok(None) };
        let agent = self.target.agent();
        if place.agent_of_session(origin) != Some(agent) {
            return Ok(None);
        }
        let folder = tempfile::tempdir().map_err(|error| Failure::io("create a temporary folder", &error))?;
        let file = folder.path().join("imported.jsonl");
        let known = std::collections::HashSet::new();
        let versions = KeptVersions::default();
        let wish = ImportWish {
            agent,
            path: origin,
            id: None,
            end: OpenEnd::Taken,
            known: &known,
            versions: &versions,
            child: None,
        };
        new_file::create(&file, |out| {
            import_foreign(wish, &mut |line| writeln!(out, "{}", line.text).map_err(Error::io("write", &file)))?;
            Ok(())
        })?;
        let session = place.open_file(&file, SpillPolicy::Temporary)?;
        Ok(Some(ImportedCopy { session, _folder: folder }))
    }
}

/// An import that is gone afterwards.
struct ImportedCopy {
    session: Session,
    _folder: TempDir,
}

impl ImportedCopy {
    /// The same entry in the import.
    fn leaf(&self, of: &Session, leaf: NodeIx) -> Result<NodeIx> {
        let tree = of.tree();
        let leaf = tree.skip_leaf_markers(leaf).and_then(|ix| tree.node(ix).id()).ok_or_else(nothing_to_copy)?;
        Ok(self.session.find(leaf.as_str())?)
    }
}

fn no_folder(agent: Agent) -> Failure {
    let why = format!("{} has no folder here", agent.title());
    let hint = format!("--output FILE writes the session elsewhere; start {} once for --install", agent.title());
    Failure::refused(FailureKind::NotFound, why).hint(Hint::Text(hint))
}

/// What a report says as JSON.
pub(super) fn json_of(object: Object, plan: &BackPlan, report: Option<&BackReport>) -> Object {
    let object = object.str("session", &plan.id).str("open", &plan.opened_by());
    let Some(report) = report else { return object };
    let losses = report.losses.iter().fold(Object::new(), |object, (what, count)| object.raw(what, count));
    object.raw("native", report.is_native).raw("lines", report.lines).raw("losses", losses.finish())
}

/// What a report says in words.
pub(super) fn words_of(report: &BackReport) -> String {
    let lines = counted(usize::try_from(report.lines).unwrap_or(usize::MAX), "record", "records");
    if report.is_native {
        return format!("{lines}: the agent's own");
    }
    let lost: Vec<String> = report.losses.iter().map(|(what, count)| format!("{what} {count}")).collect();
    if lost.is_empty() { lines } else { format!("{lines}; left out: {}", lost.join(", ")) }
}
