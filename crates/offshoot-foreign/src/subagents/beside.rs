//! Finds the transcripts of a session's subagents and the notes on them: in folders below the session's own, or among the copies that lie with
//! the session's. Knows no record.

use std::path::{Path, PathBuf};

use offshoot_session::medium::read_regular_text;

use crate::agent::Agent;
use crate::kept_copy::{CopiedFile, KeptSource, copy_with, files_with_copy, source_of};
use crate::side_files::{gemini_logs, is_started, transcript_folders, transcripts};

/// A longer note is not read.
const LARGEST_NOTE: u64 = 64 << 10;
/// A longer journal is not read.
const LARGEST_JOURNAL: u64 = 16 << 20;

/// What lies beside a session.
pub(super) enum Beside {
    Files(PathBuf),
    /// The folder of the session's copy, where the session was, and the copies beside it.
    Copies {
        copy: PathBuf,
        session: PathBuf,
        files: Vec<CopiedFile>,
    },
}

impl Beside {
    /// Of the session with this path, which may be that of a copy.
    pub(super) fn of(path: &Path) -> Self {
        match (KeptSource::at(path), path.parent()) {
            (Some(kept), Some(copy)) => {
                Self::Copies { copy: copy.to_path_buf(), session: kept.source, files: files_with_copy(copy) }
            }
            _ => Self::Files(path.to_path_buf()),
        }
    }

    /// The paths of transcripts of subagents. `id` is the whole id of Gemini CLI's session, if it is known.
    pub(super) fn transcripts(&self, agent: Agent, id: Option<&str>) -> Vec<PathBuf> {
        match self {
            Self::Files(path) if agent == Agent::Gemini => gemini_logs(path, id),
            Self::Files(path) => {
                let folders = transcript_folders(&path.with_extension(""));
                folders.iter().flat_map(|folder| transcripts(folder)).collect()
            }
            Self::Copies { session, files, .. } => {
                let started = files.iter().filter(|file| is_started(agent, session, &file.source));
                started.map(|file| file.manifest.clone()).collect()
            }
        }
    }

    /// The note on a subagent; empty if there is none.
    pub(super) fn note(&self, transcript: &Path) -> String {
        let note = source_of(transcript).with_extension("meta.json");
        match self {
            Self::Files(_) => read_regular_text(&note, LARGEST_NOTE).unwrap_or_default(),
            Self::Copies { copy, .. } => text_in(copy, &note, LARGEST_NOTE),
        }
    }

    /// The journals of workflows.
    pub(super) fn journals(&self) -> Vec<String> {
        match self {
            Self::Files(path) => {
                let folders = transcript_folders(&path.with_extension("")).into_iter();
                let journals = folders
                    .map(|folder| folder.join("journal.jsonl"))
                    .filter(|file| std::fs::symlink_metadata(file).is_ok_and(|meta| meta.is_file()));
                journals.filter_map(|file| read_regular_text(&file, LARGEST_JOURNAL).ok()).collect()
            }
            Self::Copies { copy, files, .. } => {
                let journals = files.iter().filter(|file| file.source.ends_with("journal.jsonl"));
                journals.map(|file| text_in(copy, &file.source, LARGEST_JOURNAL)).collect()
            }
        }
    }
}

/// A text that goes with a session, from the session's copy.
fn text_in(copy: &Path, file: &Path, largest: u64) -> String {
    let bytes = copy_with(copy, file, largest).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}
