//! A search through everything that was said in many sessions: file by file on all cores but the one that draws, one
//! conversation a core in memory at a time, given up as soon as another search counts.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use offshoot_session::list::session_info;
use offshoot_session::medium::FileMedium;
use offshoot_tui::overlay::sessions::Answer;
use offshoot_tui::overlay::sessions::search::{Query, searched};

use super::SendAnswer;

pub(super) struct SearchJob {
    pub(super) search: u64,
    pub(super) current: Arc<AtomicU64>,
    pub(super) query: String,
    pub(super) files: Vec<PathBuf>,
}

/// How many files one answer is about at first. Later ones are about an eighth of what is done, so that they stay few: each
/// sorts the list anew.
const TOGETHER: usize = 64;

pub(super) fn run(job: &SearchJob, tell: &SendAnswer) {
    let query = Query::parse(&job.query);
    let next = AtomicUsize::new(0);
    // One is for what is typed meanwhile.
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get).saturating_sub(1).max(1);
    std::thread::scope(|scope| {
        for _ in 0..cores.min(job.files.len()) {
            scope.spawn(|| work(job, &query, &next, tell));
        }
    });
}

fn work(job: &SearchJob, query: &Query, next: &AtomicUsize, tell: &SendAnswer) {
    let mut judged = Vec::new();
    loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        if job.current.load(Ordering::Relaxed) != job.search {
            return;
        }
        let Some(file) = job.files.get(at) else { break };
        judged.push((file.clone(), score(query, file)));
        if judged.len() >= TOGETHER.max(at / 8) {
            tell(Answer::Judged(job.search, std::mem::take(&mut judged)));
        }
    }
    if !judged.is_empty() {
        tell(Answer::Judged(job.search, judged));
    }
}

/// How well everything that was said in a session fits. What cannot be read does not; opening it will say why.
fn score(query: &Query, file: &Path) -> Option<f64> {
    let medium = FileMedium::open(file).ok()?;
    query.score(&searched(&session_info(&medium, None, true).ok()?))
}
