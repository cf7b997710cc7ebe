//! Sessions as files in folders: offshoot's own root first, then other programs'.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;

use super::folders::{Folder, FoundFile, READ_FOLDER, child_folders, folders, started_folders, take};
use super::of_id::{files_of_id, is_session_uuid, read_id};
use super::{Flavour, Progress, Root, Scope, Store, imports};
use crate::error::{Code, Diagnostic, Error, Result};
use crate::id::is_valid_session_id;
use crate::list::{SessionInfo, header, session_info, session_info_of, sort_by_activity};
use crate::medium::FileMedium;
use crate::session::{NewSession, Options, Session};

/// A store over folders. New sessions go to the first root; all roots are listed and opened.
#[derive(Debug, Clone)]
pub struct DirStore {
    roots: Vec<Root>,
    index: Option<PathBuf>,
    imports: Option<PathBuf>,
    has_children: bool,
}

/// The name of a session's file: its creation time with `-` for `:` and `.`, and its id. Both may come from a foreign
/// header, so characters other than ASCII letters, digits, `.`, `_` and `-` are replaced, and the name never leaves its
/// folder.
pub fn file_name(id: &str, timestamp: &str) -> String {
    let id = if is_valid_session_id(id) && id.len() <= LONGEST_PART { id.to_owned() } else { harmless_part(id) };
    format!("{}_{id}.jsonl", harmless_part(&timestamp.replace([':', '.'], "-")))
}

fn harmless_part(text: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    let part: String = text.chars().map(letter).take(LONGEST_PART).collect();
    part.trim_matches(['.', '-']).to_owned()
}

/// A file name has at most 255 bytes, for two parts and an ending.
const LONGEST_PART: usize = 100;

impl DirStore {
    /// A store over these roots.
    pub fn new(own: Root, others: Vec<Root>) -> Self {
        Self { roots: std::iter::once(own).chain(others).collect(), index: None, imports: None, has_children: false }
    }

    /// The same sessions and those of other agents, to be read and never written.
    #[must_use]
    pub fn beside(&self, foreign: &[Root]) -> Self {
        let mut both = self.clone();
        both.roots.extend(foreign.iter().cloned());
        both
    }

    /// The same sessions and those of agents that they have started: those of own ones are in folders beside their files
    /// (see [`crate::child`]), and of those of other agents their formats know them.
    #[must_use]
    pub fn with_children(self) -> Self {
        Self { has_children: true, ..self }
    }

    /// Uses this cache folder for side indexes of big files.
    #[must_use]
    pub fn with_index(self, folder: Option<PathBuf>) -> Self {
        Self { index: folder, ..self }
    }

    /// Keeps the record of imports in this file.
    #[must_use]
    pub fn with_imports(self, record: Option<PathBuf>) -> Self {
        Self { imports: record, ..self }
    }

    /// Keeps the record of imports where another store does.
    #[must_use]
    pub fn with_imports_of(self, other: &Self) -> Self {
        Self { imports: other.imports.clone(), ..self }
    }

    /// Records that a file was imported: it is not the most recent session until [`DirStore::note_opened`].
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn note_import(&self, file: &Path) -> Result<()> {
        let Some(record) = &self.imports else { return Ok(()) };
        imports::note_import(record, file).map_err(Error::io("append to", record))
    }

    /// Records that somebody opened a file by its name, if it was imported.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn note_opened(&self, file: &Path) -> Result<()> {
        let Some(record) = &self.imports else { return Ok(()) };
        imports::note_opened(record, file).map_err(Error::io("append to", record))
    }

    /// Whether a file was imported and not opened by its name since.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn is_unopened_import(&self, file: &Path) -> Result<bool> {
        Ok(imports::is_one_of(&self.unopened_imports()?, file).is_some())
    }

    fn unopened_imports(&self) -> Result<HashSet<PathBuf>> {
        let Some(record) = &self.imports else { return Ok(HashSet::new()) };
        imports::unopened(record).map_err(Error::io("read", record))
    }

    /// Options for opening a file: its root decides the default spelling and the blob store.
    pub fn options_for(&self, file: &Path, options: Options) -> Options {
        let root = self.root_of(file);
        Options {
            dialect: root.map_or(options.dialect, Root::dialect),
            blobs: root.and_then(Root::blobs).or(options.blobs),
            index: self.index.clone().or(options.index),
            ..options
        }
    }

    /// The roots, the store's own first.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// The path for a new session's file.
    pub fn path_for(&self, cwd: &str, id: &str, timestamp: &str) -> PathBuf {
        let folder = self.roots[0].folders_of(cwd).into_iter().next();
        folder.unwrap_or_else(|| self.roots[0].folder.clone()).join(file_name(id, timestamp))
    }

    /// The root that contains a file, by its path.
    pub fn root_of(&self, path: &Path) -> Option<&Root> {
        // Nearly all paths begin with a root's exact spelling.
        let bytes = path.as_os_str().as_encoded_bytes();
        let is_below = |root: &&Root| {
            let rest = bytes.strip_prefix(root.folder.as_os_str().as_encoded_bytes());
            rest.is_some_and(|rest| rest.first() == Some(&b'/'))
        };
        self.roots.iter().find(is_below).or_else(|| self.roots.iter().find(|root| path.starts_with(&root.folder)))
    }

    /// The file of a session, by full id.
    ///
    /// # Errors
    /// [`Error::SessionNotFound`]; a root cannot be read.
    pub fn path_of(&self, id: &str) -> Result<PathBuf> {
        if is_session_uuid(id)
            && let Some(found) = self.files_of_id(id)?.0.into_iter().next()
        {
            return Ok(found);
        }
        let files = self.files(None)?;
        // Nearly all names end with the id, so these come first. The header decides.
        let named =
            |found: &&FoundFile| found.path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with(id));
        let first = files.iter().filter(named);
        let rest = files.iter().filter(|found| !named(found));
        let is_it = |found: &&FoundFile| read_id(&found.path).is_some_and(|found| found == id);
        let found = first.chain(rest).find(is_it);
        found.map(|found| found.path.clone()).ok_or_else(|| Error::SessionNotFound { given: id.to_owned() })
    }

    /// The files with this whole id, and errors for folders that cannot be read. Reads the names of all files, and of those that may be
    /// meant the headers: a file whose name says another id is not among them.
    ///
    /// # Errors
    /// The store's own root cannot be read.
    pub fn files_of_id(&self, id: &str) -> Result<(Vec<PathBuf>, Vec<Error>)> {
        files_of_id(&self.roots, id, self.has_children)
    }

    /// The session files of a working directory (or all), last modified first.
    ///
    /// # Errors
    /// A root cannot be read.
    pub fn recent_files(&self, cwd: Option<&str>) -> Result<Vec<PathBuf>> {
        let mut files = self.files(cwd)?;
        let modified = |found: &FoundFile| found.stamp.map(|stamp| stamp.modified);
        files.sort_by(|a, b| modified(b).cmp(&modified(a)).then_with(|| b.path.cmp(&a.path)));
        Ok(files.into_iter().map(|found| found.path).collect())
    }

    /// The last modified session file of a working directory (or of all), and its id.
    ///
    /// # Errors
    /// A root, or the record of imports, cannot be read. Files that are not sessions are skipped, and so are imports
    /// that were not opened by name.
    pub fn most_recent_file(&self, cwd: Option<&str>) -> Result<Option<(PathBuf, String)>> {
        let (unopened, mut folder) = (self.unopened_imports()?, cwd.map(WorkFolder::new));
        for path in self.recent_files(cwd)? {
            if imports::is_one_of(&unopened, &path).is_some() {
                continue;
            }
            let Ok(medium) = FileMedium::open(&path) else { continue };
            let Ok(header) = header(&medium) else { continue };
            if folder.as_mut().is_none_or(|folder| header.cwd().is_none_or(|own| folder.is(own))) {
                return Ok(Some((path, header.id().to_owned())));
            }
        }
        Ok(None)
    }

    /// The folders that may have sessions of this working directory (or all) with their session files, and errors for
    /// unreadable ones. Links do not make files or folders appear twice.
    ///
    /// # Errors
    /// The store's own root cannot be read.
    pub fn folders(&self, cwd: Option<&str>) -> Result<(Vec<Folder>, Vec<Error>)> {
        let (mut found, mut unread) = folders(&self.roots, cwd)?;
        if self.has_children {
            let below: Vec<_> = found.iter().map(child_folders).collect();
            for children in below {
                match children {
                    Ok(children) => found.extend(children),
                    Err(error) => unread.push(error),
                }
            }
            found.extend(started_folders(&self.roots, cwd));
        }
        Ok((found, unread))
    }

    /// Opens a file with [`DirStore::options_for`] it; another agent's only to be read.
    ///
    /// # Errors
    /// Those of [`Session::open`].
    pub fn open_file(&self, path: &Path, options: Options) -> Result<Session> {
        match self.root_of(path).and_then(Root::format) {
            Some(format) => (format.open)(path, options),
            None => Session::open(path, self.options_for(path, options)),
        }
    }

    /// Every `*.jsonl` in the folders of this working directory, or in all readable folders.
    fn files(&self, cwd: Option<&str>) -> Result<Vec<FoundFile>> {
        Ok(self.folders(cwd)?.0.into_iter().flat_map(|folder| folder.files).collect())
    }

    /// Whether a session belongs to a working directory (or any). Folder names are not unique, so the header
    /// decides. A session without directory belongs to its folder's, if that has one.
    pub fn belongs(&self, info: &SessionInfo, folder: Option<&mut WorkFolder>) -> bool {
        let folder_tells = || self.root_of(&info.path).is_some_and(|root| root.flavour != Flavour::Flat);
        folder.is_none_or(|folder| if info.cwd.is_empty() { folder_tells() } else { folder.is(&info.cwd) })
    }

    /// What lists show of some files, without texts. Leaves out those that cannot be read.
    pub fn infos_of(&self, files: &[PathBuf]) -> Vec<SessionInfo> {
        let found: Vec<FoundFile> =
            files.iter().filter_map(|file| FoundFile::in_root(file, self.root_of(file))).collect();
        self.infos(&found, false, &mut |_, _| {}).into_iter().filter_map(Result::ok).collect()
    }

    /// Reads files on all cores; returns results in their order.
    fn infos(&self, files: &[FoundFile], with_text: bool, progress: Progress<'_>) -> Vec<Result<SessionInfo>> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let next = AtomicUsize::new(0);
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..cores.min(files.len()) {
                let (next, send) = (&next, send.clone());
                scope.spawn(move || {
                    while let Some((at, found)) = take(files, next) {
                        if send.send((at, self.info(found, with_text))).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(send);
            let mut infos = Vec::with_capacity(files.len());
            for (done, info) in receive.into_iter().enumerate() {
                progress(done + 1, files.len());
                infos.push(info);
            }
            infos.sort_by_key(|(at, _)| *at);
            infos.into_iter().map(|(_, info)| info).collect()
        })
    }

    fn info(&self, found: &FoundFile, with_text: bool) -> Result<SessionInfo> {
        if let Some(format) = found.format {
            let session = (format.open)(&found.path, Options::default())?;
            return session_info_of(&session, found.stamp.and_then(|stamp| stamp.modified_at()), with_text);
        }
        let medium = FileMedium::open(&found.path).map_err(Error::io("open", &found.path))?;
        session_info(&medium, found.stamp.and_then(|stamp| stamp.modified_at()), with_text)
    }
}

impl Store for DirStore {
    fn create(&self, new: &NewSession<'_>, options: Options) -> Result<Session> {
        Session::create(new, options, |id, timestamp| self.path_for(new.cwd, id, timestamp))
    }

    fn open(&self, id: &str, options: Options) -> Result<Session> {
        self.open_file(&self.path_of(id)?, options)
    }

    fn list(&self, scope: Scope<'_>, progress: Progress<'_>) -> Result<(Vec<SessionInfo>, Vec<Diagnostic>)> {
        let (folders, unread) = self.folders(scope.cwd)?;
        let files: Vec<FoundFile> = folders.into_iter().flat_map(|folder| folder.files).collect();
        let mut sessions = Vec::new();
        let mut diagnostics: Vec<Diagnostic> = unread.iter().map(unreadable).collect();
        let mut folder = scope.cwd.map(WorkFolder::new);
        for info in self.infos(&files, scope.with_text, progress) {
            match info {
                Ok(info) if self.belongs(&info, folder.as_mut()) => sessions.push(info),
                Ok(_) => {}
                Err(error) => diagnostics.push(unreadable(&error)),
            }
        }
        sort_by_activity(&mut sessions);
        Ok((sessions, diagnostics))
    }

    fn most_recent(&self, cwd: Option<&str>) -> Result<Option<String>> {
        Ok(self.most_recent_file(cwd)?.map(|(_, id)| id))
    }

    fn continue_recent(&self, new: &NewSession<'_>, options: Options) -> Result<Session> {
        match self.most_recent_file(Some(new.cwd))? {
            Some((path, _)) => self.open_file(&path, options),
            None => self.create(new, options),
        }
    }

    fn ids(&self) -> Result<Vec<String>> {
        let mut ids: Vec<String> = self.files(None)?.iter().filter_map(|found| read_id(&found.path)).collect();
        ids.sort();
        Ok(ids)
    }
}

/// A working directory that the directories of very many sessions are compared with. Each spelling is looked up once.
#[derive(Debug)]
pub struct WorkFolder {
    path: String,
    /// Without links, if it was needed.
    real: Option<PathBuf>,
    /// Other spellings, and whether they lead here.
    known: HashMap<String, bool>,
}

impl WorkFolder {
    /// The directory with this path.
    #[must_use]
    pub fn new(path: &str) -> Self {
        Self { path: path.to_owned(), real: None, known: HashMap::new() }
    }

    /// Whether another path leads to it.
    pub fn is(&mut self, other: &str) -> bool {
        if other == self.path {
            return true;
        }
        if let Some(known) = self.known.get(other) {
            return *known;
        }
        let resolve = |path: &str| fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
        let leads_here = resolve(other) == *self.real.get_or_insert_with(|| resolve(&self.path));
        self.known.insert(other.to_owned(), leads_here);
        leads_here
    }
}

/// A diagnostic about a file or folder that cannot be listed.
pub fn unreadable(error: &Error) -> Diagnostic {
    let (line, offset) = match error {
        Error::NotASession { line, offset, .. } => (Some(*line), *offset),
        _ => (None, 0),
    };
    let (code, message) = match error {
        Error::Io { action, source, .. } if *action == READ_FOLDER => {
            (Code::UnreadableFolder, format!("{error}: {source}"))
        }
        Error::Io { source, .. } => (Code::UnreadableSession, format!("{error}: {source}")),
        _ => (Code::UnreadableSession, error.to_string()),
    };
    Diagnostic { code, line, offset, entry: None, message }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::id_in_name;

    #[test]
    fn the_name_of_a_file_says_its_id() {
        let named = |name: &str| id_in_name(Path::new(name)).map(str::to_owned);
        assert_eq!(named(&file_name("019b-7", "2026-01-01T10:00:00.000Z")).as_deref(), Some("019b-7"));
        assert_eq!((named("work/notes.jsonl").as_deref(), named("/")), (Some("notes"), None));
    }

    #[test]
    fn a_name_is_the_peers() {
        let name = file_name("0198c9d4-5b6e-7000-8000-000000000001", "2026-01-14T10:00:00.000Z");
        assert_eq!(name, "2026-01-14T10-00-00-000Z_0198c9d4-5b6e-7000-8000-000000000001.jsonl");
    }

    /// `import` used to write `~/.bashrc.d/x.jsonl` for a header with the id `../../.bashrc.d/x`.
    #[test]
    fn a_foreign_header_leads_nowhere_else() {
        for (id, time, name) in [
            ("../../.bashrc.d/x", "2026-01-14T10:00:00.000Z", "2026-01-14T10-00-00-000Z_bashrc.d-x.jsonl"),
            ("x", "/etc/cron.d/y", "etc-cron-d-y_x.jsonl"),
            ("", "", "_.jsonl"),
            ("a\0b\nc", "\u{202e}", "_a-b-c.jsonl"),
        ] {
            assert_eq!(file_name(id, time), name);
        }
    }

    proptest! {
        #[test]
        fn whatever_a_header_says_the_file_is_in_the_folder_of_its_directory(id: String, time: String, cwd: String) {
            let store = DirStore::new(Root::new("/store", Flavour::Offshoot), Vec::new());
            let place = store.path_for(&cwd, &id, &time);
            let folders = store.roots()[0].folders_of(&cwd);
            prop_assert_eq!(place.parent(), folders.first().map(PathBuf::as_path));
            prop_assert_eq!(place.parent().and_then(Path::parent), Some(Path::new("/store")));
            prop_assert!(place.file_name().is_some_and(|name| name.len() <= 255));
        }
    }
}
