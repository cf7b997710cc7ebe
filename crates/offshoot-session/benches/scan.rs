//! Finding lines and reading their envelopes on one thread, beside counting lines.
#![allow(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark makes its own files and stops where they fail"
)]

mod common;

use common::{SIZES, count_lines, session, size};
use divan::Bencher;
use offshoot_session::envelope::scan;
use offshoot_session::json::validate;
use offshoot_session::lines::for_each_line;
use offshoot_session::medium::{FileMedium, Medium as _};
use std::ops::ControlFlow;

fn main() {
    divan::main();
}

#[divan::bench(args = SIZES)]
fn floor(bencher: Bencher<'_, '_>, entries: u32) {
    let (_folder, path) = session(entries);
    bencher.counter(size(&path)).bench(|| count_lines(&path));
}

#[divan::bench(args = SIZES)]
fn envelopes(bencher: Bencher<'_, '_>, entries: u32) {
    let (_folder, path) = session(entries);
    let medium = FileMedium::open(&path).expect("the session file");
    let length = medium.len().expect("a length");
    bencher.counter(size(&path)).bench(|| {
        let mut found = 0;
        for_each_line(&medium, 0, length, 1, |_, line| {
            found += usize::from(scan(line).is_ok());
            ControlFlow::Continue(())
        })
        .expect("readable lines");
        found
    });
}

/// Checking the whole grammar of every line, which opening does not do.
#[divan::bench(args = SIZES)]
fn grammar(bencher: Bencher<'_, '_>, entries: u32) {
    let (_folder, path) = session(entries);
    let bytes = std::fs::read(&path).expect("the session file");
    bencher
        .counter(size(&path))
        .bench(|| bytes.split(|byte| *byte == b'\n').filter(|line| validate(line).is_ok()).count());
}
