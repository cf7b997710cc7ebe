//! Appends messages of 1 KB one by one and all at once, beside bare writes of the same bytes.
#![allow(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark makes its own files and stops where they fail"
)]

use std::fs::{File, OpenOptions};
use std::io::Write as _;

use divan::Bencher;
use divan::counter::ItemsCount;
use offshoot_session::compose::NewEntry;
use offshoot_session::json::Json;
use offshoot_session::session::{Durability, NewSession, Options, Session};

const COUNT: usize = 1_000;
const SYNCED: usize = 20;

fn main() {
    divan::main();
}

fn message() -> NewEntry {
    let text = format!(r#"{{"role":"user","content":"{}"}}"#, "x".repeat(900));
    NewEntry::message(Json::parse(&text).expect("JSON")).expect("a message")
}

fn line() -> Vec<u8> {
    let mut line = vec![b'x'; 1_030];
    line.push(b'\n');
    line
}

fn new_session(durability: Durability) -> (tempfile::TempDir, Session) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = Options { durability, ..Options::default() };
    let new = NewSession { cwd: "/w", ..NewSession::default() };
    let path = folder.path().join("session.jsonl");
    (folder, Session::create(&new, options, |_, _| path).expect("a session"))
}

fn new_file() -> (tempfile::TempDir, File) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = OpenOptions::new().append(true).create(true).open(folder.path().join("bare")).expect("a file");
    (folder, file)
}

#[divan::bench]
fn os_floor(bencher: Bencher<'_, '_>) {
    let line = line();
    bencher.counter(ItemsCount::new(COUNT)).with_inputs(new_file).bench_values(|(folder, mut file)| {
        (0..COUNT).for_each(|_| file.write_all(&line).expect("a write"));
        (folder, file)
    });
}

#[divan::bench]
fn os_one_by_one(bencher: Bencher<'_, '_>) {
    let entry = message();
    let inputs = || new_session(Durability::Os);
    bencher.counter(ItemsCount::new(COUNT)).with_inputs(inputs).bench_values(|(folder, mut session)| {
        (0..COUNT).for_each(|_| drop(session.append(&entry).expect("an append")));
        (folder, session)
    });
}

#[divan::bench]
fn os_in_one_call(bencher: Bencher<'_, '_>) {
    let entries = vec![message(); COUNT];
    let inputs = || new_session(Durability::Os);
    bencher.counter(ItemsCount::new(COUNT)).with_inputs(inputs).bench_values(|(folder, mut session)| {
        session.append_all(&entries).expect("an append");
        (folder, session)
    });
}

#[divan::bench(sample_count = 10)]
fn data_floor(bencher: Bencher<'_, '_>) {
    let line = line();
    bencher.counter(ItemsCount::new(SYNCED)).with_inputs(new_file).bench_values(|(folder, mut file)| {
        for _ in 0..SYNCED {
            file.write_all(&line).expect("a write");
            file.sync_data().expect("a sync");
        }
        (folder, file)
    });
}

#[divan::bench(sample_count = 10)]
fn data_one_by_one(bencher: Bencher<'_, '_>) {
    let entry = message();
    let inputs = || new_session(Durability::Data);
    bencher.counter(ItemsCount::new(SYNCED)).with_inputs(inputs).bench_values(|(folder, mut session)| {
        (0..SYNCED).for_each(|_| drop(session.append(&entry).expect("an append")));
        (folder, session)
    });
}
