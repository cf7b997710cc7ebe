//! What appending costs beside a bare loop over the same bytes: `cargo bench -p offshoot-session --bench append_bare`.
//!
//! One by one with a sync each, in turn with `write` and `fdatasync`, and in a batch without sync. Prints ratios and
//! rates; judges nothing. A folder can be named; without one the files are in the system's temporary folder.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods, reason = "a program that measures")]

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use offshoot_session::compose::NewEntry;
use offshoot_session::json::Json;
use offshoot_session::session::{Durability, NewSession, Options, Session};

const SYNCED: usize = 300;
const BATCH: usize = 100_000;
const ROUNDS: usize = 5;

fn message(words: usize) -> NewEntry {
    let said = "a word or two ".repeat(words);
    let message = format!(r#"{{"role":"user","content":[{{"type":"text","text":"{said}"}}]}}"#);
    NewEntry::message(Json::parse(&message).unwrap()).unwrap()
}

fn session(path: &Path, durability: Durability) -> Session {
    let options = Options { durability, ..Options::default() };
    let mut session =
        Session::create(&NewSession { cwd: "/w", ..NewSession::default() }, options, |_, _| path.to_path_buf())
            .unwrap();
    session.append(&message(1)).unwrap();
    session
}

/// The bare loop: the same lines, a `write` and an `fdatasync` each.
fn bare(path: &Path, lines: &[Vec<u8>]) -> Duration {
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    let start = Instant::now();
    for line in lines {
        file.write_all(line).unwrap();
        file.sync_data().unwrap();
    }
    start.elapsed()
}

fn synced(path: &Path, entry: &NewEntry) -> Duration {
    let mut session = session(path, Durability::Data);
    let start = Instant::now();
    for _ in 0..SYNCED {
        session.append(entry).unwrap();
    }
    start.elapsed()
}

fn lines(path: &Path) -> Vec<Vec<u8>> {
    let bytes = fs::read(path).unwrap();
    bytes.split_inclusive(|byte| *byte == b'\n').skip(2).map(<[u8]>::to_vec).collect()
}

fn median(mut all: Vec<Duration>) -> f64 {
    all.sort();
    all[all.len() / 2].as_secs_f64()
}

fn main() {
    let named = std::env::args().nth(1).filter(|word| !word.starts_with("--"));
    let folder = named.map_or_else(tempfile::tempdir, tempfile::tempdir_in).unwrap();
    for words in [4, 300] {
        let entry = message(words);
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let path = folder.path().join(format!("{words}-{round}.jsonl"));
            ours.push(synced(&path, &entry));
            let bytes = lines(&path);
            theirs.push(bare(&path.with_extension("bare"), &bytes));
        }
        let (ours, theirs) = (median(ours) / SYNCED as f64, median(theirs) / SYNCED as f64);
        println!(
            "data, {words} words: append {:.1} µs, bare {:.1} µs, ratio {:.2}",
            ours * 1e6,
            theirs * 1e6,
            ours / theirs
        );
    }
    let entries = vec![message(4); BATCH];
    let mut all = Vec::new();
    for round in 0..ROUNDS {
        let mut session = session(&folder.path().join(format!("batch-{round}.jsonl")), Durability::Os);
        let start = Instant::now();
        session.append_all(&entries).unwrap();
        all.push(start.elapsed());
    }
    println!("os, a batch of {BATCH}: {:.0} entries a second", BATCH as f64 / median(all));
    let mut all = Vec::new();
    for round in 0..ROUNDS {
        let mut session = session(&folder.path().join(format!("single-{round}.jsonl")), Durability::Os);
        let start = Instant::now();
        for entry in entries.iter().take(BATCH / 10) {
            session.append(entry).unwrap();
        }
        all.push(start.elapsed());
    }
    println!("os, one by one: {:.0} entries a second", (BATCH / 10) as f64 / median(all));
    let bytes: u64 = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
    println!("{} MB written", bytes >> 20);
}
