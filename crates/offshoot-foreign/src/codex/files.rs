//! Where Codex keeps the rollouts of its threads: names of files, and prefixes that a fork takes from its parent's file.

use std::io;
use std::path::{Path, PathBuf};

use offshoot_session::json::Json;
use offshoot_session::medium::{Medium as _, read_regular_text};

use crate::foreign_medium::ForeignMedium;
use crate::record::for_each_record;

/// A fork of a fork of … has no more ancestors than this.
const MOST_ANCESTORS: usize = 32;
/// Longer settings are not read.
const LARGEST_SETTINGS: u64 = 1 << 20;
/// No more folders are looked at in the search for a thread.
const MOST_FOLDERS: usize = 20_000;

/// The thread of a rollout, from the name of its file: `rollout-TIME-THREAD[_ROLLOUT].jsonl[.zst]`.
pub(crate) fn thread_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_prefix("rollout-")?;
    let stem = name.strip_suffix(".zst").unwrap_or(name).strip_suffix(".jsonl")?;
    let stem = stem.split('_').next()?;
    let thread = stem.get(stem.len().checked_sub(36)?..)?;
    let is_id = thread.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_id.then(|| thread.to_owned())
}

/// Opens a rollout. Codex compresses those that nobody has continued for days, and unpacks one that somebody continues.
pub(crate) fn open_rollout(path: &Path) -> io::Result<ForeignMedium> {
    let other = || {
        let is_packed = path.extension().is_some_and(|extension| extension == "zst");
        if is_packed { path.with_extension("") } else { path.with_added_extension("zst") }
    };
    match ForeignMedium::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => ForeignMedium::open(&other()).map_err(|_| error),
        opened => opened,
    }
}

/// The rollout with the part of its parents' files that it continues. A parent that is not there is left out.
pub(crate) fn with_base(medium: ForeignMedium) -> io::Result<ForeignMedium> {
    let mut chain = vec![medium];
    while let Some(last) = chain.last().filter(|_| chain.len() <= MOST_ANCESTORS) {
        let Some((thread, _)) = base_of(last)? else { break };
        let Some(file) = file_of(last.path(), &thread) else { break };
        if chain.iter().any(|known| known.path() == file) {
            break;
        }
        chain.push(ForeignMedium::open(&file)?);
    }
    // The whole before a file, and how much of it comes from the files before that one.
    let mut whole: Option<(ForeignMedium, u64)> = None;
    for next in chain.into_iter().rev() {
        let length = base_of(&next)?.map_or(0, |(_, length)| length);
        whole = Some(match whole {
            Some((before, prefix)) => {
                let prefix = prefix.saturating_add(length).min(before.len()?);
                (next.after(&before, prefix), prefix)
            }
            None => (next, 0),
        });
    }
    whole.map(|(medium, _)| medium).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// The thread whose file a rollout continues, and up to which byte.
fn base_of(medium: &ForeignMedium) -> io::Result<Option<(String, u64)>> {
    let mut found = None;
    let looked = for_each_record(medium, |raw| {
        let text = raw.text();
        let base = Json::parse(&text).ok().and_then(|record| record.get("payload")?.get("history_base"));
        found = base.and_then(|base| {
            let end = base.get("end_byte_offset")?.as_f64()?.max(0.0) as u64;
            Some((base.str("thread_id")?.into_owned(), end))
        });
        Err(io::ErrorKind::Interrupted.into())
    });
    match looked {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(found),
    }
}

/// The first file of a thread in the store of a rollout.
fn file_of(rollout: &Path, thread: &str) -> Option<PathBuf> {
    let is_store =
        |folder: &&Path| folder.file_name().is_some_and(|name| name == "sessions" || name == "archived_sessions");
    let store = rollout.ancestors().find(is_store)?.parent()?;
    let mut found: Vec<PathBuf> =
        rollouts(store).into_iter().filter(|file| thread_of(file).as_deref() == Some(thread)).collect();
    found.retain(|file| file != rollout);
    found.sort_by_key(|file| file.file_name().map(ToOwned::to_owned));
    found.into_iter().next()
}

/// The provider and the model of Codex' settings; what they do not say is `None`. Only plain strings before the first table are read.
#[must_use]
pub fn codex_model(root: &Path) -> (Option<String>, Option<String>) {
    let text = read_regular_text(&root.join("config.toml"), LARGEST_SETTINGS).unwrap_or_default();
    let top = || text.lines().map(str::trim).take_while(|line| !line.starts_with('['));
    let value = |name: &str| {
        top().find_map(|line| {
            let rest = line.strip_prefix(name)?.trim_start().strip_prefix('=')?.trim_start();
            let mark = rest.chars().next().filter(|mark| matches!(mark, '"' | '\''))?;
            let (inner, _) = rest.get(1..)?.split_once(mark)?;
            (!inner.is_empty() && !inner.contains('\\')).then(|| inner.to_owned())
        })
    };
    (value("model_provider"), value("model"))
}

/// Every rollout of a store. One that is there plain and compressed is named once.
pub(crate) fn rollouts(store: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![store.join("sessions"), store.join("archived_sessions")];
    let mut looked = 0;
    while let Some(folder) = folders.pop().filter(|_| looked < MOST_FOLDERS) {
        looked += 1;
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && thread_of(&path).is_some() {
                found.push(path);
            }
        }
    }
    found.sort();
    let plain: std::collections::HashSet<PathBuf> = found.iter().cloned().collect();
    found.retain(|file| {
        let is_packed = file.extension().is_some_and(|extension| extension == "zst");
        !(is_packed && plain.contains(&file.with_extension("")))
    });
    found
}
