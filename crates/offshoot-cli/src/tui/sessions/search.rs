//! A search through everything that was said in many sessions: file by file on all cores, one conversation a core in
//! memory at a time, given up as soon as another search counts.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use offshoot_session::list::session_info;
use offshoot_session::medium::FileMedium;
use offshoot_tui::overlay::sessions::Answer;
use offshoot_tui::overlay::sessions::search::{Query, searched};

use super::Tell;

/// A search.
pub(super) struct Job {
    pub(super) search: u64,
    /// The number of the search that counts.
    pub(super) current: Arc<AtomicU64>,
    pub(super) query: String,
    pub(super) files: Vec<PathBuf>,
}

/// How many files one answer is about.
const TOGETHER: usize = 64;

/// Searches, and tells in portions.
pub(super) fn run(job: &Job, tell: &Tell) {
    let query = Query::parse(&job.query);
    let next = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..cores.min(job.files.len().div_ceil(TOGETHER)) {
            scope.spawn(|| work(job, &query, &next, tell));
        }
    });
}

fn work(job: &Job, query: &Query, next: &AtomicUsize, tell: &Tell) {
    loop {
        let from = next.fetch_add(TOGETHER, Ordering::Relaxed);
        let files = job.files.iter().skip(from).take(TOGETHER);
        let mut judged = Vec::with_capacity(files.len());
        for file in files {
            if job.current.load(Ordering::Relaxed) != job.search {
                return;
            }
            judged.push((file.clone(), score(query, file)));
        }
        if judged.is_empty() {
            return;
        }
        tell(Answer::Judged(job.search, judged));
    }
}

/// How well everything that was said in a session fits. What cannot be read does not; opening it will say why.
fn score(query: &Query, file: &Path) -> Option<f64> {
    let medium = FileMedium::open(file).ok()?;
    query.score(&searched(&session_info(&medium, None, true).ok()?))
}
