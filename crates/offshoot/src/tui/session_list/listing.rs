//! The sessions of a scope, in portions, with resolved paths and their owners.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_session::clock::{Clock as _, SystemClock};
use offshoot_session::list::SessionInfo;
use offshoot_session::medium::real_path_or_same;
use offshoot_session::store::{DirStore, Scope as StoreScope, Store as _};
use offshoot_tui::overlay::sessions::{Answer, Listed, Scope};
use offshoot_workspace::{ListedParents, Place};

use super::SendAnswer;

/// Sends the sessions of a scope as they are read, the newest first.
pub(super) fn list(app: &App, scope: Scope, tell: &SendAnswer) {
    let told = read(app, scope, tell).map_err(|error| error.on_one_line());
    tell(Answer::Done(scope, told));
}

fn read(app: &App, scope: Scope, tell: &SendAnswer) -> Result<usize> {
    let place = app.place();
    let store = app.store_with_agents()?;
    let own = app.cwd();
    let cwd = match scope {
        Scope::Folder => Some(own.as_str()),
        Scope::All => None,
    };
    let mut links = RealPaths::default();
    let mut parents = ListedParents::default();
    let mut send = |sessions: Vec<SessionInfo>| {
        sessions.iter().for_each(|info| parents.note(&store, info));
        let listed = sessions.into_iter().map(|info| links.listed(&place, &store, info)).collect();
        tell(Answer::Listed(scope, listed));
    };
    let diagnostics = match app.catalogue() {
        Some(catalogue) => catalogue.stream(&store, cwd, SystemClock.now(), &mut |portion| {
            send(portion.sessions);
            tell(Answer::Progress(scope, portion.done, Some(portion.total)));
        })?,
        None => {
            let mut progress = |done, total| tell(Answer::Progress(scope, done, Some(total)));
            let (sessions, diagnostics) = store.list(StoreScope { cwd, with_text: false }, &mut progress)?;
            send(sessions);
            diagnostics
        }
    };
    let parents: Vec<(PathBuf, PathBuf)> =
        parents.found().iter().map(|(session, parent)| (links.real(session), links.real(parent))).collect();
    if !parents.is_empty() {
        tell(Answer::Parents(scope, parents));
    }
    Ok(diagnostics.len())
}

/// Resolves links in paths. Folders are resolved once: many sessions share them.
#[derive(Default)]
struct RealPaths {
    folders: HashMap<PathBuf, PathBuf>,
}

impl RealPaths {
    fn listed(&mut self, place: &Place, store: &DirStore, info: SessionInfo) -> Listed {
        let origin = place.program_of(store, &info);
        let parent = info.parent_session_path.as_deref().map(|parent| self.real(Path::new(parent)));
        Listed { real: self.real(&info.path), parent, origin, info }
    }

    fn real(&mut self, file: &Path) -> PathBuf {
        let is_link = file.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        let (Some(folder), Some(name), false) = (file.parent(), file.file_name(), is_link) else {
            return real_path_or_same(file);
        };
        if let Some(known) = self.folders.get(folder) {
            return known.join(name);
        }
        let real = real_path_or_same(folder);
        let file = real.join(name);
        self.folders.insert(folder.to_path_buf(), real);
        file
    }
}
