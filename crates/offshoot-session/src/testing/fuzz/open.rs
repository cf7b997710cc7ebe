//! Opens a file of any bytes, shows it in every way, appends to it and opens it again.

use crate::check::check;
use crate::compose::NewEntry;
use crate::entry::Source as _;
use crate::error::Error;
use crate::json::Json;
use crate::list::session_info;
use crate::llm::Converter;
use crate::medium::{Medium as _, MemoryMedium, read_exact_at};
use crate::outline::{Filter, Outline, OutlineSetup};
use crate::repair::plan;
use crate::session::{NewSession, Session};
use crate::stats::{branches, totals};
use crate::summary::extractive;
use crate::testing::fixed_options;
use crate::tree::NodeIx;

const WORDS: &str = "the words of the one who opened it";

/// Opens the bytes as a session file.
///
/// # Panics
/// If reading changes a byte, an entry is not shown, or an append loses something.
pub fn open(bytes: &[u8]) {
    let medium = MemoryMedium::new(bytes.to_vec());
    let mut session = match opened(&medium) {
        Ok(session) => session,
        Err(Error::NotASession { offset, .. }) => return assert!(offset <= bytes.len() as u64 && !bytes.is_empty()),
        Err(other) => panic!("neither opened nor refused: {other}"),
    };
    look(&session);
    for diagnostic in check(&medium).expect("what opens can be checked") {
        assert!(diagnostic.offset <= bytes.len() as u64, "{diagnostic:?}");
    }
    let is_old = session.version() < 3;
    assert_eq!(plan(&medium).is_err(), is_old, "what opens can be repaired, but for old versions");
    let listed = session_info(&medium, Some(0), true);
    assert!(listed.is_ok() || session.tree().is_empty(), "what opens can be listed, unless it has not begun");
    assert_eq!(content(&medium), bytes, "reading changes nothing");
    grow(&mut session, &medium, (!is_old).then_some(bytes));
}

fn opened(medium: &MemoryMedium) -> Result<Session, Error> {
    Session::over_medium(Box::new(medium.clone()), &NewSession { cwd: "/w", ..NewSession::default() }, fixed_options())
}

fn content(medium: &MemoryMedium) -> Vec<u8> {
    let length = usize::try_from(medium.len().expect("memory")).expect("fits");
    read_exact_at(medium, 0, length).expect("memory")
}

/// Reads the session in all the ways that commands do.
fn look(session: &Session) {
    let tree = session.tree();
    assert_eq!(tree.walk().count(), tree.len(), "every entry is in the tree once");
    for ix in tree.entries() {
        session.entry(ix).expect("memory");
        session.raw_line(ix).expect("memory");
        assert!(tree.ancestors(ix).count() <= tree.len());
    }
    for leaf in tree.leaves().take(8).map(Some).chain([None]) {
        context(session, leaf);
    }
    for name in ["default", "no-tools", "user-only", "labeled-only", "all"] {
        let filter = Filter::parse(name).expect("a filter");
        let outline =
            Outline::new(session, session.leaf(), OutlineSetup { filter, ..OutlineSetup::default() }).expect("memory");
        for at in 0..outline.len() {
            outline.row(session, at).expect("memory").expect("a row").line();
        }
    }
    branches(session, session.leaf()).expect("memory");
    totals(session).expect("memory");
    let all: Vec<NodeIx> = tree.entries().collect();
    extractive(session, &all).expect("memory");
    session.name().expect("memory");
}

fn context(session: &Session, leaf: Option<NodeIx>) {
    let context = session.context_at(leaf).expect("memory");
    let mut converter = Converter::default();
    for message in context.messages(session) {
        converter.push(message.expect("memory"));
    }
    let (_messages, _diagnostics) = converter.finish();
}

/// `before` has the bytes that must not change; `None` for an old file, which is upgraded.
fn grow(session: &mut Session, medium: &MemoryMedium, before: Option<&[u8]>) {
    let (leaf, count) = (session.leaf_id().cloned(), session.tree().len());
    let message = format!(r#"{{"role":"user","content":"{WORDS}"}}"#);
    let entry = NewEntry::message(Json::parse(&message).expect("JSON")).expect("a message");
    let id = session.append(&entry).expect("what opens can grow");
    assert_eq!(session.tree().len(), count + 1);
    let Some(before) = before else { return };
    assert!(content(medium).starts_with(before), "what was there stays");
    let again = opened(medium).expect("what has grown opens");
    let ix = again.find(id.as_str()).expect("what was appended is there");
    assert!(again.entry(ix).expect("memory").line().contains(WORDS));
    assert_eq!((again.leaf(), again.tree().parent_id(ix)), (Some(ix), leaf.as_ref()));
    // A last line without line feed may have been incomplete; all others stay.
    assert!(again.tree().len() >= count, "entries are gone");
}
