//! Searches in all sessions, by the operation `search`, and sessions that are read at a hit. One search runs at a time; a newer one
//! stops it, and of several waiting ones only the last runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;

use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_app::held::place_with_models;
use offshoot_session::entry::Source as _;
use offshoot_session::medium::real_path_or_same;
use offshoot_session::session::Snapshot;
use offshoot_session::tree::NodeIx;
use offshoot_tui::overlay::hits::{HitAnswer, HitPlace, ReadHit};
use offshoot_tui::overlay::sessions::Answer;
use offshoot_workspace::Failure;
use offshoot_workspace::search::{SearchWish, go_on, search_page};

use super::{SendAnswer, open};

/// Searches until the channel closes. `current` is the number of the search that somebody waits for.
pub(super) fn serve(app: &App, wanted: &Receiver<(u64, SearchWish)>, current: &Arc<AtomicU64>, tell: &SendAnswer) {
    while let Ok(first) = wanted.recv() {
        let (number, wish) = wanted.try_iter().last().unwrap_or(first);
        let (told, waited) = (tell.clone(), current.clone());
        let is_current = move || waited.load(Ordering::Relaxed) == number;
        let place = place_with_models(app)
            .watched(move |done, of| told(Answer::Hits(HitAnswer::Progress(number, done, of))), move || !is_current());
        let found = match search_page(&place, &wish) {
            // A newer search has begun.
            Err(Failure::Stopped) => continue,
            found => found.map_err(|failure| failure.to_string()),
        };
        let lacks = found.as_ref().is_ok_and(|page| page.is_index_behind);
        tell(Answer::Hits(HitAnswer::Found(number, found)));
        if lacks {
            // Only later searches need it; they say what is wrong.
            drop(go_on(&place));
        }
    }
}

/// Opens a session to read it at a hit.
pub(super) fn read(app: &App, number: u64, place: HitPlace, tell: &SendAnswer) {
    let read = opened(app, place).map_err(|error| error.on_one_line());
    tell(Answer::Hits(HitAnswer::Read(number, read)));
}

fn opened(app: &App, place: HitPlace) -> Result<ReadHit> {
    let session = open(app, &place.file)?;
    let (leaf, source) = (session.leaf(), session.snapshot()?);
    let entry = place.entry.as_ref().and_then(|entry| source.tree().find(entry.as_str()));
    let leaf = entry.map_or(leaf, |entry| Some(end_of_branch(&source, entry, leaf)));
    let real = real_path_or_same(&place.file);
    Ok(ReadHit { place, real, source: Arc::new(source), leaf, entry })
}

/// The current leaf, if the entry is on the way to it; else the end of the newest branch through the entry.
fn end_of_branch(source: &Snapshot, entry: NodeIx, leaf: Option<NodeIx>) -> NodeIx {
    let tree = source.tree();
    if let Some(leaf) = leaf.filter(|leaf| tree.ancestors(*leaf).any(|above| above == entry)) {
        return leaf;
    }
    let mut end = entry;
    // A child comes after its parent in no circle: the tree is linked.
    while let Some(newest) = tree.children_by_time(end).last() {
        end = *newest;
    }
    end
}
