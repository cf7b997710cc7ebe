//! The overview: roots, caches, spilled entries, permissions.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use offshoot_app::app::App;
use offshoot_app::models::ModelTable;
use offshoot_catalogue::{Catalogue, CatalogueState};
use offshoot_protocol::Peer;
use offshoot_session::store::Flavour;

use super::examine::hidden;
use super::peer_folder::{self, PeerStanding};
use super::reason::HiddenReason;
use super::search::listed;
use super::searched_roots::{SearchedRoot, files, searched_roots};
use offshoot_workspace::spills::{Spill, spills};

#[derive(Debug)]
pub(super) struct Standings {
    pub(super) place: SearchedRoot,
    pub(super) exists: bool,
    pub(super) sessions: usize,
    /// Files that lists do not show, and why.
    pub(super) hidden: Vec<(PathBuf, HiddenReason)>,
    pub(super) unread: Vec<String>,
}

/// Every root, and offshoot's own files and folders that others may access.
pub(super) fn roots(app: &App) -> (Vec<Standings>, Vec<(PathBuf, u32)>) {
    let mut open = Vec::new();
    let mut all = Vec::new();
    for place in searched_roots(app) {
        let mut progress = app.ui.progress("reading sessions");
        let (sessions, mut unread) = listed(&place.root, None, &mut |done, total| progress.at(done, total));
        drop(progress);
        let (files, trouble) = files(&place.root);
        unread.extend(trouble);
        unread.sort();
        unread.dedup();
        let known: HashSet<&Path> = sessions.iter().map(|info| info.path.as_path()).collect();
        let odd = files.iter().filter(|(path, _)| !known.contains(path.as_path()));
        let hidden = odd.filter_map(|(path, depth)| Some((path.clone(), hidden(path, *depth)?.0))).collect();
        if place.root.flavour == Flavour::Offshoot {
            push_accessible(
                &mut open,
                files.iter().map(|(path, _)| path.as_path()).chain([place.root.folder.as_path()]),
            );
            let folders: HashSet<&Path> = files.iter().filter_map(|(path, _)| path.parent()).collect();
            push_accessible(&mut open, folders.into_iter().filter(|folder| *folder != place.root.folder));
        }
        all.push(Standings { exists: place.root.folder.exists(), sessions: sessions.len(), hidden, unread, place });
    }
    let private = [
        app.environment.cache.clone(),
        app.environment.spill.clone(),
        app.environment.data.as_ref().map(|data| data.join("auth.json")),
    ];
    for path in private.iter().flatten() {
        let inside = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
        let inside: Vec<PathBuf> = inside.collect();
        push_accessible(&mut open, inside.iter().map(PathBuf::as_path).chain([path.as_path()]));
    }
    open.sort();
    open.dedup();
    (all, open)
}

/// Records paths that others than the owner may read or write.
fn push_accessible<'a>(open: &mut Vec<(PathBuf, u32)>, paths: impl Iterator<Item = &'a Path>) {
    for path in paths {
        let mode = fs::metadata(path).map(|meta| meta.permissions().mode() & 0o777);
        open.extend(mode.ok().filter(|mode| mode & 0o077 != 0).map(|mode| (path.to_path_buf(), mode)));
    }
}

#[derive(Debug)]
pub(super) struct Rest {
    /// The side indexes: folder, files, bytes.
    pub(super) index: Option<(PathBuf, u64, u64)>,
    pub(super) catalogue: Option<(PathBuf, CatalogueState)>,
    pub(super) spill: Option<PathBuf>,
    pub(super) waiting: Vec<Spill>,
    pub(super) unread: Vec<String>,
    /// Of each peer, in the order of precedence.
    pub(super) peers: Vec<(Peer, Option<PeerStanding>)>,
    /// Providers with a key, and where it comes from.
    pub(super) keys: Vec<(String, &'static str)>,
}

pub(super) fn rest(app: &App) -> Rest {
    let index = app.environment.cache.as_ref().map(|cache| {
        let folder = cache.join("index");
        let metas = fs::read_dir(&folder).into_iter().flatten().flatten().filter_map(|entry| entry.metadata().ok());
        let (files, bytes) =
            metas.filter(fs::Metadata::is_file).fold((0, 0), |(files, bytes), meta| (files + 1, bytes + meta.len()));
        (folder, files, bytes)
    });
    let catalogue = app.environment.cache.as_deref().map(Catalogue::new);
    let catalogue = catalogue.map(|catalogue| (catalogue.file().to_path_buf(), catalogue.state()));
    let (waiting, unread) = app.environment.spill.as_deref().map(spills).unwrap_or_default();
    let table = ModelTable::read(app).0;
    let keys = table.key_origins().into_iter().map(|(name, origin)| (name.to_owned(), origin.as_str())).collect();
    let peers = Peer::ALL.into_iter().map(|peer| (peer, peer_folder::standing(app, peer))).collect();
    Rest { index, catalogue, spill: app.environment.spill.clone(), waiting, unread, peers, keys }
}
