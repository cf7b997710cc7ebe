//! One story for each promise of [`Store`].

use crate::compose::NewEntry;
use crate::entry::Source as _;
use crate::error::{Error, Invalid};
use crate::json::Json;
use crate::session::{NewSession, Options, Session};
use crate::store::{Scope, Store};

type Story = fn(&dyn Store);

pub(super) const ALL: &[(&str, Story)] = &[
    ("an empty store is empty", empty),
    ("a session is there from its first entry on", appears),
    ("what was appended is there when it is opened again", reopens),
    ("two openings of a session see each other", two_openings),
    ("lists are by last activity, and by working directory", lists),
    ("the most recent session goes on", continues),
    ("whole ids and unique starts of ids are found", finds),
    ("names, first words and counts are listed", describes),
    ("ids that the caller chose are kept, others refused", chosen_ids),
];

fn new(cwd: &str) -> NewSession<'_> {
    NewSession { cwd, ..NewSession::default() }
}

fn say(session: &mut Session, role: &str, text: &str, at: i64) -> String {
    let message = format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}],"timestamp":{at}}}"#);
    session.append(&NewEntry::message(Json::parse(&message).unwrap()).unwrap()).unwrap().to_string()
}

fn list(store: &dyn Store, cwd: Option<&str>) -> Vec<crate::list::SessionInfo> {
    let (sessions, diagnostics) = store.list(Scope { cwd, with_text: true }, &mut |_, _| {}).unwrap();
    assert_eq!(diagnostics, [], "nothing is wrong with these sessions");
    sessions
}

fn empty(store: &dyn Store) {
    assert!(list(store, None).is_empty());
    assert_eq!(store.most_recent(None).unwrap(), None);
    assert!(store.ids().unwrap().is_empty());
    assert!(matches!(store.open("nobody", Options::default()), Err(Error::SessionNotFound { .. })));
    assert!(matches!(store.find("nobody"), Err(Error::SessionNotFound { .. })));
}

fn appears(store: &dyn Store) {
    let mut session = store.create(&new("/a"), Options::default()).unwrap();
    assert!(list(store, None).is_empty(), "nothing was said yet");
    say(&mut session, "user", "hi", 1);
    assert_eq!(list(store, None).len(), 1, "the first prompt is kept before any answer");
    assert_eq!(list(store, None)[0].id, session.id());
}

fn reopens(store: &dyn Store) {
    let mut session = store.create(&new("/a"), Options::default()).unwrap();
    let first = say(&mut session, "user", "q", 1);
    say(&mut session, "assistant", "one", 2);
    session.branch(&first).unwrap();
    let other = say(&mut session, "assistant", "two", 3);
    let again = store.open(session.id(), Options::default()).unwrap();
    assert_eq!(again.leaf_id().map(ToString::to_string), Some(other));
    assert_eq!(again.tree().len(), 3);
    assert_eq!(again.tree().leaves().count(), 2);
    assert_eq!(again.cwd(), Some("/a"));
    let line = again.entry(again.tree().entries().next().unwrap()).unwrap().line().to_owned();
    let same = session.entry(session.tree().entries().next().unwrap()).unwrap().line().to_owned();
    assert_eq!(line, same, "lines stay as they are");
}

fn two_openings(store: &dyn Store) {
    let mut one = store.create(&new("/a"), Options::default()).unwrap();
    let root = say(&mut one, "user", "q", 1);
    let mut two = store.open(one.id(), Options::default()).unwrap();
    let of_two = say(&mut two, "assistant", "from two", 2);
    let of_one = say(&mut one, "assistant", "from one", 3);
    assert!(one.tree().find(&of_two).is_some(), "an append reads first what others appended");
    assert!(two.refresh().unwrap());
    let parent = |session: &Session, id: &str| {
        let ix = session.find(id).unwrap();
        session.tree().parent_id(ix).map(ToString::to_string)
    };
    assert_eq!(parent(&two, &of_one), Some(root.clone()));
    assert_eq!(parent(&two, &of_two), Some(root), "both stay, as branches");
    assert_eq!(two.leaf_id().map(ToString::to_string), Some(of_two), "a leaf is moved by its own session only");
}

fn lists(store: &dyn Store) {
    for (cwd, at) in [("/a", 20), ("/b", 30), ("/a", 10)] {
        let mut session = store.create(&new(cwd), Options::default()).unwrap();
        say(&mut session, "user", cwd, at * 1000);
    }
    let times = |cwd| list(store, cwd).iter().map(|info| info.modified.unwrap() / 1000).collect::<Vec<_>>();
    assert_eq!(times(None), [30, 20, 10]);
    assert_eq!(times(Some("/a")), [20, 10]);
    assert_eq!(times(Some("/c")), [] as [i64; 0]);
    let mut told = Vec::new();
    store.list(Scope::default(), &mut |done, all| told.push((done, all))).unwrap();
    assert_eq!(told.last(), Some(&(3, 3)), "progress is told to the end");
}

fn continues(store: &dyn Store) {
    let mut session = store.continue_recent(&new("/a"), Options::default()).unwrap();
    say(&mut session, "user", "q", 1);
    let again = store.continue_recent(&new("/a"), Options::default()).unwrap();
    assert_eq!(again.id(), session.id());
    let elsewhere = store.continue_recent(&new("/b"), Options::default()).unwrap();
    assert_ne!(elsewhere.id(), session.id());
}

fn finds(store: &dyn Store) {
    for id in ["abc-1", "abd-2"] {
        let mut session = store.create(&NewSession { id: Some(id), ..new("/a") }, Options::default()).unwrap();
        say(&mut session, "user", "q", 1);
    }
    assert_eq!(store.find("abc-1").unwrap(), "abc-1");
    assert_eq!(store.find("abd").unwrap(), "abd-2");
    assert!(matches!(store.find("ab"), Err(Error::Ambiguous { .. })));
    assert!(matches!(store.find(""), Err(Error::SessionNotFound { .. })));
    assert_eq!(store.ids().unwrap(), ["abc-1", "abd-2"]);
}

/// Later than the header of every session that is made here.
const LATER: i64 = 5_000_000_000_000;

fn describes(store: &dyn Store) {
    let parent = NewSession { parent_session: Some("/elsewhere.jsonl"), ..new("/a") };
    let mut session = store.create(&parent, Options::default()).unwrap();
    say(&mut session, "user", "first words", LATER - 1);
    say(&mut session, "assistant", "answer", LATER);
    session.append(&NewEntry::session_info("A\nname")).unwrap();
    let info = &list(store, None)[0];
    assert_eq!(info.name.as_deref(), Some("A name"));
    assert_eq!(info.first_message, "first words");
    assert_eq!((info.message_count, info.modified), (2, Some(LATER)));
    assert_eq!(info.all_messages_text.as_deref(), Some("first words answer"));
    assert_eq!(info.parent_session_path.as_deref(), Some("/elsewhere.jsonl"));
    session.append(&NewEntry::session_info("")).unwrap();
    assert_eq!(list(store, None)[0].name, None, "an empty name clears it");
}

fn chosen_ids(store: &dyn Store) {
    let session = store.create(&NewSession { id: Some("my.id"), ..new("/a") }, Options::default()).unwrap();
    assert_eq!(session.id(), "my.id");
    for bad in ["", "../x", "-x", "a/b"] {
        let refused = store.create(&NewSession { id: Some(bad), ..new("/a") }, Options::default());
        assert!(matches!(refused, Err(Error::Invalid(Invalid::SessionId { .. }))), "{bad:?}");
    }
}
