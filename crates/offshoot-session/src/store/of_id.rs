//! Finds session files by a whole id: the names of files say the ids, so no file is looked at but those that can be meant.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use memchr::memrchr;

use super::Root;
use super::folders::{Folder, FolderPlaces, READ_FOLDER, is_session_name, on_all_cores};
use crate::error::{Error, Result};
use crate::list::header;
use crate::medium::FileMedium;

/// Whether a word has the form of a session's id: 36 characters, as `01890a5d-ac96-774b-bcce-b302099a8057`.
#[must_use]
pub fn is_session_uuid(word: &str) -> bool {
    // The shorter and longer forms of UUIDs are not names of sessions.
    word.len() == 36 && uuid::Uuid::try_parse(word).is_ok()
}

/// The id in the name of a session's file; the whole stem of another name. The header's id decides.
pub fn id_in_name(path: &Path) -> Option<&str> {
    let stem = stem(path)?;
    let id = memrchr(b'_', stem).map_or(stem, |at| stem.get(at + 1..).unwrap_or_default());
    // What is before the id is text in each name that says one.
    str::from_utf8(stem).ok()?;
    str::from_utf8(id).ok()
}

/// [`Path::file_stem`], which takes ten times as long.
fn stem(path: &Path) -> Option<&[u8]> {
    let bytes = path.as_os_str().as_bytes();
    let name = memrchr(b'/', bytes).map_or(Some(bytes), |at| bytes.get(at + 1..))?;
    match memrchr(b'.', name) {
        _ if matches!(name, b"" | b"." | b"..") => path.file_stem().map(OsStr::as_bytes),
        Some(at @ 1..) => name.get(..at),
        _ => Some(name),
    }
}

/// The id in the header of a file, if it has one.
pub(super) fn read_id(path: &Path) -> Option<String> {
    let medium = FileMedium::open(path).ok()?;
    header(&medium).ok().map(|header| header.id().to_owned())
}

/// The files of an id, in the order of the folders, and errors for folders that cannot be read.
pub(super) fn files_of_id(roots: &[Root], id: &str, has_children: bool) -> Result<(Vec<PathBuf>, Vec<Error>)> {
    let FolderPlaces { own, mut unread, .. } = FolderPlaces::of(roots, None)?;
    let mut found = Vec::new();
    for (_, files) in on_all_cores(own, |folder| files_in(folder, id, has_children)) {
        match files {
            Ok(files) => found.extend(files),
            Err(error) => unread.push(error),
        }
    }
    Ok((found, unread))
}

fn files_in(folder: &Folder, id: &str, has_children: bool) -> Result<Vec<PathBuf>> {
    let (mut found, mut below) = (in_folder(&folder.path, id)?, Vec::new());
    if has_children {
        below = folders_of_children(&folder.path)?;
    }
    for folder in below {
        found.extend(in_folder(&folder, id)?);
    }
    Ok(found)
}

/// The files that have the id in their names, or names that say none, if it is in their headers.
fn in_folder(folder: &Path, id: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for_each_name(folder, &mut |name, _| {
        if !is_session_name(name) {
            return;
        }
        let may_have_it = id_in_name(Path::new(name)).is_none_or(|said| said == id || !is_session_uuid(said));
        // Very many names are looked at, and nearly none is the wanted one.
        let path = may_have_it.then(|| folder.join(name)).filter(|path| read_id(path).as_deref() == Some(id));
        found.extend(path);
    })?;
    Ok(found)
}

/// The folders that are beside a file with their name.
fn folders_of_children(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for_each_name(folder, &mut |name, is_folder| found.extend(is_folder.then(|| folder.join(name))))?;
    found.retain(|folder| folder.with_added_extension("jsonl").is_file());
    found.sort();
    Ok(found)
}

/// Calls `each` with every name in a folder and whether it is a folder itself. A missing folder has none.
fn for_each_name(folder: &Path, each: &mut dyn FnMut(&OsStr, bool)) -> Result<()> {
    let failed = || Error::io(READ_FOLDER, folder);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(failed())?,
    };
    for entry in entries {
        let entry = entry.map_err(failed())?;
        each(&entry.file_name(), entry.file_type().is_ok_and(|kind| kind.is_dir()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{DirStore, Flavour};

    const ONE: &str = "01890a5d-ac96-774b-bcce-b302099a8057";
    const TWO: &str = "01890a5d-ac96-774b-bcce-b302099a8058";

    fn put(path: &Path, id: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let header = format!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}}"#
        );
        #[expect(clippy::disallowed_methods, reason = "a test")]
        fs::write(path, header + "\n").unwrap();
    }

    #[test]
    fn the_stem_of_a_name_is_that_of_the_standard_library() {
        for name in
            ["a", "a.b", ".a", "a.b.c", "x/a.b", "x/.a", "x.y/a", "/a.b", "a.", "..", "x/..", ".", "", "/", "a.b/"]
        {
            let path = Path::new(name);
            assert_eq!(stem(path), path.file_stem().map(OsStr::as_bytes), "{name}");
        }
        for name in ["a.jsonl", ".jsonl", "jsonl", "a.jsonl.bak", "a.b.jsonl"] {
            assert_eq!(
                is_session_name(OsStr::new(name)),
                Path::new(name).extension() == Some(OsStr::new("jsonl")),
                "{name}"
            );
        }
    }

    #[test]
    fn names_say_ids_and_headers_decide() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        put(&at(&format!("--a--/2026_{ONE}.jsonl")), ONE);
        put(&at("--a--/copy.jsonl"), ONE);
        let no_text = at("--a--").join(std::ffi::OsStr::from_bytes(b"\xff.jsonl"));
        put(&no_text, ONE);
        put(&at(&format!("--b--/2026_{TWO}.jsonl")), TWO);
        // Its name says another id: only a look at its header would tell.
        put(&at(&format!("--b--/2027_{TWO}.jsonl")), "another");
        put(&at(&format!("--b--/2026_{TWO}/2028_{}.jsonl", ONE.replace("57", "99"))), &ONE.replace("57", "99"));
        let store = DirStore::new(Root::new(root.path(), Flavour::Pi), Vec::new());
        let found = |store: &DirStore, id: &str| store.files_of_id(id).unwrap().0;
        assert_eq!(found(&store, TWO), [at(&format!("--b--/2026_{TWO}.jsonl"))]);
        let mut copies = found(&store, ONE);
        copies.sort();
        assert_eq!(copies, [at(&format!("--a--/2026_{ONE}.jsonl")), at("--a--/copy.jsonl"), no_text]);
        let child = ONE.replace("57", "99");
        assert!(found(&store, &child).is_empty() && found(&store, &TWO.replace("58", "00")).is_empty());
        assert_eq!(found(&store.with_children(), &child).len(), 1);
    }

    #[test]
    fn an_id_has_its_form() {
        assert!(is_session_uuid(ONE) && is_session_uuid(&ONE.to_uppercase()));
        assert!(!is_session_uuid(&ONE[1..]) && !is_session_uuid(&ONE.replace('-', "_")) && !is_session_uuid("zebra"));
        assert!(!is_session_uuid(&ONE.replace('a', "g")));
    }
}
