//! The sessions that this one was forked from, by the headers of their files. Reads no entries.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::sync::OnceLock;

use super::Session;
use crate::clock::{Millis, parse_iso};
use crate::header::Header;
use crate::medium::open_regular;
use crate::provenance::Ancestor;

/// Forks of forks that are followed.
const MOST: usize = 256;
/// A header is the first line, or the second one after omp's title.
const LINES: usize = 2;
const LONGEST_START: u64 = 256 * 1024;

/// Read once.
pub(super) type Ancestors = OnceLock<Vec<Ancestor>>;

impl Session {
    /// The sessions that this one was forked from, the nearest first. A fork outlives its source: the list ends with what is
    /// named by a header and is gone or is no session.
    pub fn ancestors(&self) -> &[Ancestor] {
        self.ancestors.get_or_init(|| self.read_ancestors())
    }

    fn read_ancestors(&self) -> Vec<Ancestor> {
        let folder = self.file().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default();
        let mut found = Vec::<Ancestor>::new();
        let (mut next, mut forked) = (self.header.parent_session().map(str::to_owned), time_of(&self.header));
        while let Some(named) = next.filter(|_| found.len() < MOST) {
            let file = folder.join(&named);
            let header = header_at(&file);
            // omp sometimes names the id.
            let id = header.as_ref().map_or(named, |header| header.id().to_owned());
            if id == self.id() || found.iter().any(|ancestor| ancestor.id == id) {
                break;
            }
            found.push(Ancestor { id, file: header.as_ref().map(|_| file), forked });
            forked = header.as_ref().and_then(time_of);
            next = header.and_then(|header| header.parent_session().map(str::to_owned));
        }
        found
    }
}

fn time_of(header: &Header) -> Option<Millis> {
    header.timestamp().and_then(parse_iso)
}

fn header_at(path: &Path) -> Option<Header> {
    let start = BufReader::new(open_regular(path).ok()?.take(LONGEST_START));
    let lines = start.lines().take(LINES).map_while(Result::ok);
    lines.into_iter().find_map(|line| Header::parse(&line))
}
