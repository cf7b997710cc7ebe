//! A full-text search of many sessions, on all cores but one, with one message per core in memory. It stops when
//! another search starts. Lines without the searched characters are not decoded.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use offshoot_session::list::{for_each_message, for_each_message_of};
use offshoot_session::medium::FileMedium;
use offshoot_session::session::Options;
use offshoot_session::store::{DirStore, Root};
use offshoot_tui::overlay::sessions::Answer;
use offshoot_tui::overlay::sessions::search::{Query, TextHits};

use super::SendAnswer;

pub(super) struct SearchJob {
    pub(super) search: u64,
    pub(super) current: Arc<AtomicU64>,
    pub(super) query: String,
    pub(super) files: Vec<PathBuf>,
    /// Where sessions are that are not files of offshoot's kind.
    pub(super) store: Option<DirStore>,
}

/// Files per answer at first. Later answers cover an eighth of the finished files: they stay few, because each sorts
/// the list again.
const TOGETHER: usize = 64;

#[derive(Default)]
struct Progress {
    next: AtomicUsize,
    has_found: AtomicBool,
}

pub(super) fn run(job: &SearchJob, tell: &SendAnswer) {
    let (query, progress) = (Query::parse(&job.query), Progress::default());
    // One core is left for typing.
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get).saturating_sub(1).max(1);
    std::thread::scope(|scope| {
        for _ in 0..cores.min(job.files.len()) {
            scope.spawn(|| work(job, &query, &progress, tell));
        }
    });
}

fn work(job: &SearchJob, query: &Query, progress: &Progress, tell: &SendAnswer) {
    let is_current = || job.current.load(Ordering::Relaxed) == job.search;
    let mut judged = Vec::new();
    loop {
        let at = progress.next.fetch_add(1, Ordering::Relaxed);
        let Some(file) = job.files.get(at) else { break };
        let hits = search(job.store.as_ref(), query, file, is_current);
        if !is_current() {
            return;
        }
        let is_first = hits.first.is_some() && !progress.has_found.swap(true, Ordering::Relaxed);
        judged.push((file.clone(), hits));
        if is_first || judged.len() >= TOGETHER.max(at / 8) {
            tell(Answer::Judged(job.search, std::mem::take(&mut judged)));
        }
    }
    if !judged.is_empty() {
        tell(Answer::Judged(job.search, judged));
    }
}

/// The hits in a session. An unreadable one has none; opening it reports the error.
fn search(store: Option<&DirStore>, query: &Query, file: &Path, is_current: impl Fn() -> bool) -> TextHits {
    let mut hits = TextHits::default();
    let can_matter = |line: &[u8]| is_current() && query.can_be_in(line);
    let look = |entry: Option<&str>, text: &str| match query.look_in(entry, text, &mut hits) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let read = match store.and_then(|store| store.root_of(file)).and_then(Root::format) {
        Some(format) => {
            (format.open)(file, Options::default()).and_then(|session| for_each_message_of(&session, can_matter, look))
        }
        None => match FileMedium::open(file) {
            Ok(medium) => for_each_message(&medium, can_matter, look),
            Err(_) => return hits,
        },
    };
    if read.is_err() { TextHits::default() } else { hits }
}
