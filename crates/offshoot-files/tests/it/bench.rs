//! A folder, a store, and a tree of nodes with what each records: as small a session as there can be.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_files::{
    ChangingCall, FileLimits, FileState, Recorder, RelPath, RestoreFor, RestorePlan, RestoreReport, Workspace, fold,
};
use offshoot_session::clock::SystemClock;

/// A path's content as a reference keeps it: bytes of a file with its mode, or where a link leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kept {
    File(Vec<u8>, u32),
    Link(PathBuf),
}

pub(crate) type Copy = BTreeMap<PathBuf, Kept>;

/// A copy of a whole folder.
pub(crate) fn copy_of(root: &Path) -> Copy {
    fn walk(folder: &Path, root: &Path, copy: &mut Copy) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let meta = entry.path().symlink_metadata().unwrap();
            let name = entry.path().strip_prefix(root).unwrap().to_owned();
            if meta.is_dir() {
                walk(&entry.path(), root, copy);
            } else if meta.is_symlink() {
                copy.insert(name, Kept::Link(fs::read_link(entry.path()).unwrap()));
            } else if meta.is_file() {
                copy.insert(name, Kept::File(fs::read(entry.path()).unwrap(), meta.mode() & 0o777));
            }
        }
    }
    let mut copy = Copy::new();
    walk(root, root, &mut copy);
    copy
}

pub(crate) struct Node {
    pub(crate) parent: Option<usize>,
    pub(crate) data: Option<String>,
}

pub(crate) struct Bench {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) recorder: Recorder,
    pub(crate) nodes: Vec<Node>,
    pub(crate) leaf: usize,
}

pub(crate) fn call(name: &str) -> ChangingCall {
    ChangingCall { id: format!("call-{name}"), name: name.to_owned() }
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(FileLimits::default())
    }

    pub(crate) fn with(limits: FileLimits) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        let recorder = Self::recorder(dir.path(), "s", limits);
        Self { dir, recorder, nodes: vec![Node { parent: None, data: None }], leaf: 0 }
    }

    pub(crate) fn recorder(dir: &Path, session: &str, limits: FileLimits) -> Recorder {
        let workspace = Workspace::open(&dir.join("work"), &dir.join("data"), limits).unwrap();
        Recorder::new(workspace, session, Arc::new(SystemClock), &[])
    }

    /// The same, where contents of which this is true have a key in them.
    pub(crate) fn without_keys(self, has_key: impl Fn(&[u8]) -> bool + Send + Sync + 'static) -> Self {
        let dir = self.dir.path();
        let workspace = Workspace::open(&dir.join("work"), &dir.join("data"), FileLimits::default()).unwrap();
        let recorder = Recorder::new(workspace.without_keys(has_key), "s", Arc::new(SystemClock), &[]);
        Self { recorder, ..self }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap_or_else(|_| "-".to_owned())
    }

    pub(crate) fn names(&self) -> Vec<String> {
        copy_of(&self.root()).into_keys().map(|path| path.display().to_string()).collect()
    }

    pub(crate) fn mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.root().join(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn path_to(&self, node: usize) -> Vec<usize> {
        let mut path: Vec<usize> = std::iter::successors(Some(node), |at| self.nodes[*at].parent).collect();
        path.reverse();
        path
    }

    fn datas(&self, nodes: &[usize]) -> Vec<String> {
        nodes.iter().filter_map(|at| self.nodes[*at].data.clone()).collect()
    }

    pub(crate) fn fold(&self, node: usize) -> BTreeMap<RelPath, FileState> {
        fold(self.recorder.workspace().way(&[], &self.datas(&self.path_to(node))).way.down)
    }

    /// Runs a command that may change any file.
    pub(crate) fn bash(&mut self, work: impl FnOnce(&Path)) -> usize {
        let batch = self.recorder.begin();
        self.recorder.before_any_change(batch, call("bash")).unwrap();
        work(&self.root());
        self.record(batch)
    }

    /// The same after a command ran in the background, which did `meanwhile`.
    pub(crate) fn bash_beside(&mut self, meanwhile: impl FnOnce(&Path), work: impl FnOnce(&Path)) -> usize {
        meanwhile(&self.root());
        let batch =
            self.recorder.begin_beside(vec![ChangingCall { id: "b1".to_owned(), name: "background".to_owned() }]);
        self.recorder.before_any_change(batch, call("bash")).unwrap();
        work(&self.root());
        self.record(batch)
    }

    /// Writes one file, as the tool does.
    pub(crate) fn edit(&mut self, path: &str, text: &str) -> usize {
        let batch = self.recorder.begin();
        self.recorder.before_change_of(batch, call("edit"), &self.root().join(path)).unwrap();
        self.write(path, text);
        self.record(batch)
    }

    pub(crate) fn record(&mut self, batch: offshoot_files::BatchId) -> usize {
        let changed = self.recorder.end(batch).unwrap();
        let expected = self.fold(self.leaf);
        let data = changed.map(|changed| self.recorder.compose(changed, &expected).unwrap());
        if let Some(data) = &data {
            self.recorder.recorded(&format!("{:08}", self.nodes.len()), data, expected).unwrap();
        }
        self.nodes.push(Node { parent: Some(self.leaf), data });
        self.leaf = self.nodes.len() - 1;
        self.leaf
    }

    pub(crate) fn plan(&self, to: usize) -> RestorePlan {
        let (from, to) = (self.path_to(self.leaf), self.path_to(to));
        let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
        let up: Vec<usize> = from[common..].iter().rev().copied().collect();
        let known = self.recorder.workspace().way(&self.datas(&up), &self.datas(&to[common..]));
        self.recorder.workspace().plan(known.way).unwrap()
    }

    pub(crate) fn of(&self, to: usize) -> RestoreFor {
        RestoreFor { session: "s".to_owned(), file: None, entry: format!("{to:08}"), moves_from: None, appends: None }
    }

    pub(crate) fn restore(&mut self, to: usize) -> RestoreReport {
        let plan = self.plan(to);
        let workspace = self.recorder.workspace();
        let begun = workspace.begin(plan, self.of(to)).unwrap();
        let report = workspace.finish(begun).unwrap();
        self.leaf = to;
        report
    }
}
