//! The sessions that this one was forked from, by the headers of their files. Reads no entries.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::sync::OnceLock;

use super::Session;
use crate::header::Header;
use crate::medium::open_regular;

/// Forks of forks that are followed.
const MOST: usize = 256;
/// A header is the first line, or the second one after omp's title.
const LINES: usize = 2;
const LONGEST_START: u64 = 256 * 1024;

/// Read once.
pub(super) type Ancestors = OnceLock<Vec<String>>;

impl Session {
    /// The ids of the sessions that this one was forked from, the nearest first. A fork outlives its source: the list ends
    /// with the path of a file that is gone or is no session.
    pub fn ancestors(&self) -> &[String] {
        self.ancestors.get_or_init(|| self.read_ancestors())
    }

    fn read_ancestors(&self) -> Vec<String> {
        let folder = self.file().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default();
        let (mut ids, mut next) = (Vec::<String>::new(), self.header.parent_session().map(str::to_owned));
        while let Some(named) = next.filter(|_| ids.len() < MOST) {
            let header = header_at(&folder.join(&named));
            // omp sometimes names the id.
            let id = header.as_ref().map_or(named, |header| header.id().to_owned());
            if id == self.id() || ids.contains(&id) {
                break;
            }
            next = header.and_then(|header| header.parent_session().map(str::to_owned));
            ids.push(id);
        }
        ids
    }
}

fn header_at(path: &Path) -> Option<Header> {
    let start = BufReader::new(open_regular(path).ok()?.take(LONGEST_START));
    let lines = start.lines().take(LINES).map_while(Result::ok);
    lines.into_iter().find_map(|line| Header::parse(&line))
}
