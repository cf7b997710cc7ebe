//! What a status line reads, beside a walk over the whole tree that lists every branch; the figures of a tree's folded
//! rows, beside a pass over all entries that adds them up; the first rows of a tree, beside the layout of the whole.
#![allow(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark makes its own files and stops where they fail"
)]

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use divan::Bencher;
use offshoot_session::clock::Millis;
use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::facts::Totals;
use offshoot_session::json::Json;
use offshoot_session::outline::{Folds, Outline, OutlineScope, OutlineSetup, Sums, TreeLayout};
use offshoot_session::session::{Options, Session};
use offshoot_session::stats::{branches, overview, totals};

const SIZES: [u32; 2] = [20_000, 1_000_000];
const LAYOUTS: [TreeLayout; 2] = [TreeLayout::Trunk, TreeLayout::Pi];

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

/// The sums of all branches from one pass in display order.
fn pass_over_entries(session: &Session, outline: &Outline) -> Vec<(Totals, Option<Millis>)> {
    let (tree, facts) = (session.tree(), session.facts().expect("facts").expect("facts"));
    let mut total = Totals::default();
    let mut sums: Vec<(Totals, Option<Millis>)> = Vec::with_capacity(outline.places());
    for ix in (0..outline.places()).filter_map(|place| outline.entry_at(place)) {
        sums.push((total, tree.node(ix).time()));
        let (tokens, cost) = facts.usage(ix);
        total.entries += u64::from(!tree.node(ix).is_leaf_marker());
        total.messages += u64::from(tree.node(ix).role().is_some());
        total.tokens += tokens;
        total.cost += cost;
    }
    for place in (0..sums.len()).rev() {
        let parent = outline.entry_at(place).and_then(|ix| tree.parent(ix)).and_then(|parent| outline.place(parent));
        if let Some(parent) = parent {
            sums[parent].1 = sums[parent].1.max(sums[place].1);
        }
    }
    sums
}

#[divan::bench(args = SIZES, sample_count = 10)]
fn figures_from_a_pass(bencher: Bencher<'_, '_>, entries: u32) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = open(folder.path(), entries);
    let outline = Outline::new(&session, session.leaf(), OutlineSetup::default()).expect("an outline");
    bencher.bench_local(|| pass_over_entries(&session, &outline));
}

#[divan::bench(args = SIZES, sample_count = 10)]
fn figures_from_chains(bencher: Bencher<'_, '_>, entries: u32) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = open(folder.path(), entries);
    let outline = Outline::new(&session, session.leaf(), OutlineSetup::default()).expect("an outline");
    bencher.bench_local(|| Sums::new(&session, &outline).expect("sums"));
}

/// The figures of the folded rows of one screen.
#[divan::bench(args = SIZES, sample_count = 10)]
fn notes_of_a_screen(bencher: Bencher<'_, '_>, entries: u32) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = open(folder.path(), entries);
    let outline = Outline::new(&session, session.leaf(), OutlineSetup::default()).expect("an outline");
    let sums = Sums::new(&session, &outline).expect("sums");
    let folded: Vec<usize> = (0..outline.len()).filter(|row| outline.is_folded(*row)).take(40).collect();
    bencher.bench_local(|| folded.iter().filter_map(|row| sums.note(&session, &outline, *row).ok()).flatten().count());
}

/// The session anew, as a front end has it that shows its status line: without what the last round has read.
fn again(folder: &Path) -> Session {
    let options = Options { index: Some(folder.join("cache")), ..Options::default() };
    let session = Session::open(&folder.join("session.jsonl"), options).expect("the session again");
    overview(&session, session.leaf()).expect("an overview");
    session
}

/// The rows of a screen with their notes.
fn screen(session: &Session, outline: &Outline) -> usize {
    let sums = Sums::new(session, outline).expect("sums");
    let rows = outline.len().saturating_sub(40)..outline.len();
    let drawn = rows.map(|at| (outline.row(session, at), sums.note(session, outline, at)));
    drawn.filter(|(row, note)| row.is_ok() && note.is_ok()).count()
}

#[divan::bench(args = SIZES, sample_count = 10)]
fn first_rows(bencher: Bencher<'_, '_>, entries: u32) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(open(folder.path(), entries));
    bencher.with_inputs(|| again(folder.path())).bench_local_values(|session| {
        let outline = Outline::near(&session, session.leaf(), OutlineSetup::default(), 40).expect("a medium");
        (screen(&session, &outline.expect("the rows near the leaf")), session)
    });
}

#[divan::bench(args = SIZES, sample_count = 10)]
fn first_rows_of_the_whole(bencher: Bencher<'_, '_>, entries: u32) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(open(folder.path(), entries));
    bencher.with_inputs(|| again(folder.path())).bench_local_values(|session| {
        let outline = Outline::new(&session, session.leaf(), OutlineSetup::default()).expect("an outline");
        (screen(&session, &outline), session)
    });
}

/// A branch is folded: the rows are laid out again.
#[divan::bench(args = LAYOUTS, sample_count = 100)]
fn fold(bencher: Bencher<'_, '_>, layout: TreeLayout) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = open(folder.path(), 100_000);
    let setup = OutlineSetup { layout, ..OutlineSetup::default() };
    let mut outline = Outline::new(&session, session.leaf(), setup).expect("an outline");
    let folds = Folds::all_open();
    bencher.bench_local(|| {
        outline.arrange(session.tree(), OutlineScope { folds: Some(&folds), ..OutlineScope::default() });
        outline.len()
    });
}

/// One entry is appended, and the sums are brought forward.
#[divan::bench(args = SIZES, sample_count = 100)]
fn append(bencher: Bencher<'_, '_>, entries: u32) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut session = open(folder.path(), entries);
    let message = Json::parse(r#"{"role":"user","content":"said"}"#).expect("JSON");
    let entry = NewEntry::message(message).expect("a message");
    totals(&session).expect("facts");
    bencher.bench_local(|| {
        session.append(&entry).expect("an append");
        totals(&session).expect("facts")
    });
}
