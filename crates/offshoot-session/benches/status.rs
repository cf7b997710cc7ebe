//! What a status line reads, beside a walk over the whole tree that lists every branch.
#![allow(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark makes its own files and stops where they fail"
)]

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use divan::Bencher;
use offshoot_session::session::{Options, Session};
use offshoot_session::stats::{branches, overview, totals};

const SIZES: [u32; 2] = [20_000, 1_000_000];

fn main() {
    divan::main();
}

/// Short entries: a chain of answers with usage, and a branch at every thousandth.
fn open(folder: &Path, entries: u32) -> Session {
    let path = folder.join("session.jsonl");
    let mut file = BufWriter::new(File::create(&path).expect("a session file"));
    let header = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
    writeln!(file, "{header}").expect("the header");
    for at in 0..entries {
        let parent = match at {
            0 => "null".to_owned(),
            _ if at % 1000 == 0 => format!("\"{:08x}\"", at - 7),
            _ => format!("\"{:08x}\"", at - 1),
        };
        let message = r#"{"role":"assistant","content":[{"type":"text","text":"said"}],"usage":{"totalTokens":9,"cost":{"total":0.01}}}"#;
        let envelope = format!(r#""id":"{at:08x}","parentId":{parent},"timestamp":"2026-01-01T00:00:01.000Z""#);
        writeln!(file, r#"{{"type":"message",{envelope},"message":{message}}}"#).expect("an entry");
    }
    file.flush().expect("the session file");
    let options = || Options { index: Some(folder.join("cache")), ..Options::default() };
    // The first opening writes an index, and the first look writes facts beside it.
    let session = Session::open(&path, options()).expect("a session");
    totals(&session).expect("facts");
    Session::open(&path, options()).expect("the session again")
}

#[divan::bench(args = SIZES, sample_count = 10)]
fn whole_tree(bencher: Bencher<'_, '_>, entries: u32) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = open(folder.path(), entries);
    bencher.bench_local(|| (branches(&session, session.leaf()), totals(&session)));
}

#[divan::bench(args = SIZES, sample_count = 10)]
fn status(bencher: Bencher<'_, '_>, entries: u32) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = open(folder.path(), entries);
    bencher.bench_local(|| overview(&session, session.leaf()));
}
