//! Every way to name an entry, on one small session.

use super::*;
use crate::entry::Source as _;
use crate::session::{Options, Session};

/// A chain of four entries, an hour apart, with a branch; the clock says 12:00 of the day.
const LINES: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-02-01T08:00:00.000Z","cwd":"/w"}
{"type":"message","id":"aaaa1111","parentId":null,"timestamp":"2026-02-01T08:00:00.000Z","message":{"role":"user","content":"one"}}
{"type":"message","id":"aaaa2222","parentId":"aaaa1111","timestamp":"2026-02-01T09:00:00.000Z","message":{"role":"user","content":"two"}}
{"type":"message","id":"3d003d00","parentId":"aaaa2222","timestamp":"2026-02-01T09:30:00.000Z","message":{"role":"user","content":"side"}}
{"type":"label","id":"11110000","parentId":"aaaa2222","timestamp":"2026-02-01T09:31:00.000Z","targetId":"aaaa1111","label":"start"}
{"type":"message","id":"bbbb3333","parentId":"aaaa2222","timestamp":"2026-02-01T10:00:00.000Z","message":{"role":"user","content":"three"}}
{"type":"message","id":"120d4444","parentId":"bbbb3333","timestamp":"2026-02-01T11:00:00.000Z","message":{"role":"user","content":"four"}}
{"type":"label","id":"22220000","parentId":"120d4444","timestamp":"2026-02-01T11:01:00.000Z","targetId":"120d4444","label":"@-"}
{"type":"custom","customType":"offshoot.leaf","id":"33330000","parentId":"120d4444","timestamp":"2026-02-01T11:02:00.000Z"}
"#;

fn session(lines: &str) -> Session {
    Session::from_text(lines, Options::default()).unwrap()
}

fn named(given: &str) -> Result<String> {
    named_in(&session(LINES), given)
}

fn named_in(session: &Session, given: &str) -> Result<String> {
    let tree = session.tree();
    let leaf = tree.find("33330000");
    let now = crate::clock::parse_iso("2026-02-01T12:00:00.000Z").unwrap();
    let zone = Zone::UTC;
    let ix = find_entry(tree, given, Here { leaf, now, zone: &zone })?;
    Ok(tree.node(ix).id().unwrap().to_string())
}

#[test]
fn entries_are_named_in_every_way() {
    for (given, id) in [
        ("aaaa1111", "aaaa1111"),
        ("bbbb", "bbbb3333"),
        ("start", "aaaa1111"),
        ("label:start", "aaaa1111"),
        ("label:@-", "120d4444"),
        ("@-", "120d4444"),
        ("@", "120d4444"),
        ("@--", "aaaa2222"),
        ("@-2", "aaaa2222"),
        ("@-0", "120d4444"),
        ("@~1", "bbbb3333"),
        ("@~", "bbbb3333"),
        ("HEAD", "120d4444"),
        ("HEAD~1", "bbbb3333"),
        ("HEAD^^", "aaaa2222"),
        ("1h", "120d4444"),
        ("90m", "bbbb3333"),
        ("2h", "bbbb3333"),
        ("3h", "aaaa2222"),
        ("2026-02-01T09:45", "aaaa2222"),
        ("2026-02-01T09:45Z", "aaaa2222"),
        ("2026-02-01T10:45+01:00", "aaaa2222"),
        ("120d", "120d4444"),
        ("3d00", "3d003d00"),
    ] {
        assert_eq!(named(given).unwrap(), id, "{given}");
    }
}

#[test]
fn what_names_nothing_is_not_found() {
    for given in [
        "",
        "zz",
        "label:",
        "label:gone",
        "@---x",
        "@x",
        "@------",
        "@-99",
        "@-99999999999999999999999",
        "@--1",
        "HEAD^2",
        "HEADx",
        "5h",
        "3d",
        "2020-01-01",
        "999999999999999999999h",
        "-1h",
    ] {
        assert!(matches!(named(given), Err(Error::EntryNotFound { .. })), "{given}: {:?}", named(given));
    }
    assert!(matches!(named("aaaa"), Err(Error::Ambiguous { .. })));
}

#[test]
fn a_time_is_read_in_its_zone() {
    let zone = Zone::local();
    assert_eq!(zone.parse("2026-01-14T10:00:00Z"), Zone::UTC.parse("2026-01-14T10:00"));
    assert!(zone.parse("2h").is_none() && zone.parse("soon").is_none());
}

/// A label or a date that looks like the start of an id would come before it.
#[test]
fn a_short_id_names_its_entry() {
    let message = |id: &str| {
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":null,\"timestamp\":\"2026-02-01T08:00:00.000Z\",\"message\":{{}}}}\n"
        )
    };
    let more: String = ["beefcafe", "2026-02-01-x", "2026-02-01-y", "20260101aa", "20260101ab"].map(message).concat();
    let label = "{\"type\":\"label\",\"id\":\"44440000\",\"parentId\":\"beefcafe\",\"targetId\":\"aaaa1111\",\"label\":\"beef\"}\n";
    let session = session(&format!("{LINES}{more}{label}"));
    let tree = session.tree();
    let ids = short_ids(tree, tree.entries()).unwrap();
    for ix in tree.entries() {
        let id = tree.node(ix).id().unwrap().as_str();
        assert_eq!(named_in(&session, ids.get(id)).unwrap(), id, "{}", ids.get(id));
    }
    let starts = ["aaaa1111", "bbbb3333", "beefcafe", "2026-02-01-x"].map(|id| ids.get(id));
    assert_eq!(starts, ["aaaa1", "bbbb", "beefc", "2026-02-01-x"]);
}
