//! Opening a session with and without a side index, beside counting lines.
#![allow(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark makes its own files and stops where they fail"
)]

mod common;

use common::{SIZES, count_lines, session, size};
use divan::Bencher;
use offshoot_session::session::{Options, Session};
use std::path::Path;

fn main() {
    divan::main();
}

fn open(path: &Path, index: Option<&Path>) -> Session {
    let options = Options { index: index.map(Path::to_path_buf), ..Options::default() };
    Session::open(path, options).expect("a session")
}

#[divan::bench(args = SIZES)]
fn floor(bencher: Bencher<'_, '_>, entries: u32) {
    let (_folder, path) = session(entries);
    bencher.counter(size(&path)).bench(|| count_lines(&path));
}

#[divan::bench(args = SIZES)]
fn cold(bencher: Bencher<'_, '_>, entries: u32) {
    let (_folder, path) = session(entries);
    bencher.counter(size(&path)).bench(|| open(&path, None));
}

#[divan::bench(args = SIZES)]
fn warm(bencher: Bencher<'_, '_>, entries: u32) {
    let (folder, path) = session(entries);
    let cache = folder.path().join("cache");
    drop(open(&path, Some(&cache)));
    bencher.counter(size(&path)).bench(|| open(&path, Some(&cache)));
}
