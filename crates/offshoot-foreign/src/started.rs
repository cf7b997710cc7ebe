//! The sessions that other ones have started, by agent and folder: lists show them below those. Each is a session of its own to whoever
//! searches or names it.

use std::path::{Path, PathBuf};

use offshoot_session::store::ForeignFolder;

use crate::agent::Agent;
use crate::below::{below, folder_of};
use crate::kept_copy::{KeptSource, MANIFEST, files_with_copy, is_source_gone};
use crate::rows;
use crate::side_files::{is_started, transcript_folders, transcripts};

/// Transcripts in the folders of sessions, in these folders of projects.
pub(crate) fn of_claude(projects: &[PathBuf]) -> Vec<ForeignFolder> {
    let sessions = projects.iter().flat_map(|project| below(project, std::fs::FileType::is_dir));
    let sessions = sessions.filter(|session| session.with_extension("jsonl").is_file());
    let folders = sessions.flat_map(|session| transcript_folders(&session));
    folders.map(|folder| folder_of(folder.clone(), transcripts(&folder))).filter(has_files).collect()
}

/// Logs in folders that are named after sessions, in these folders of logs.
pub(crate) fn of_gemini(chats: &[PathBuf]) -> Vec<ForeignFolder> {
    let sessions = chats.iter().flat_map(|chats| below(chats, std::fs::FileType::is_dir));
    let logs = |folder: PathBuf| {
        let mut logs = below(&folder, std::fs::FileType::is_file);
        logs.retain(|log| log.extension().is_some_and(|ending| ending == "jsonl"));
        folder_of(folder, logs)
    };
    sessions.map(logs).filter(has_files).collect()
}

/// Sessions of stores that name another one of their store as their parent.
pub(crate) fn of_stores(agent: Agent, stores: Vec<PathBuf>) -> Vec<ForeignFolder> {
    let started = |store: PathBuf| {
        let stamp = rows::stamp_of(&store);
        let ids = rows::started_ids_of(agent, &store).unwrap_or_default();
        ForeignFolder { files: ids.into_iter().map(|id| (store.join(id), stamp)).collect(), path: store }
    };
    stores.into_iter().map(started).filter(has_files).collect()
}

/// The copies of such sessions, which lie with those of the sessions that have started them.
pub(crate) fn of_copies(root: &Path) -> Vec<ForeignFolder> {
    let of_copy = |copy: PathBuf| {
        let kept = KeptSource::at(&copy.join(MANIFEST)).filter(|kept| is_source_gone(&kept.source))?;
        let files = files_with_copy(&copy).into_iter();
        let started = files.filter(|file| is_started(kept.agent, &kept.source, &file.source));
        Some(folder_of(copy.clone(), started.map(|file| file.manifest).collect()))
    };
    below(root, std::fs::FileType::is_dir).into_iter().filter_map(of_copy).filter(has_files).collect()
}

/// None of them can be told from other sessions.
pub(crate) fn nothing(_: &Path, _: Option<&str>) -> Vec<ForeignFolder> {
    Vec::new()
}

fn has_files(folder: &ForeignFolder) -> bool {
    !folder.files.is_empty()
}
