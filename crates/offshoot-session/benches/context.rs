//! The context at the open entry, beside counting lines.
#![allow(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark makes its own files and stops where they fail"
)]

mod common;

use common::{SIZES, count_lines, session, size};
use divan::Bencher;
use offshoot_session::session::{Options, Session};

fn main() {
    divan::main();
}

#[divan::bench(args = SIZES)]
fn floor(bencher: Bencher<'_, '_>, entries: u32) {
    let (_folder, path) = session(entries);
    bencher.counter(size(&path)).bench(|| count_lines(&path));
}

#[divan::bench(args = SIZES)]
fn at_the_leaf(bencher: Bencher<'_, '_>, entries: u32) {
    let (_folder, path) = session(entries);
    let session = Session::open(&path, Options::default()).expect("a session");
    bencher.bench(|| {
        let context = session.context().expect("a context");
        context.messages(&session).filter(Result::is_ok).count()
    });
}
