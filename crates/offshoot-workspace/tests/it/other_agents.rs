//! Sessions of other agents are found by their ids, listed and searched beside one's own, and never written.

use std::path::{Path, PathBuf};

use offshoot_foreign::Agent;
use offshoot_search::SearchIndex;
use offshoot_session::session::SpillPolicy;
use offshoot_session::store::{DirStore, Flavour, Root};
use offshoot_workspace::{Access, ArgValue, Given, Place, PlaceOptions};

use crate::{done, json, run};

fn fixtures(agent: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../offshoot-foreign/tests/fixtures").join(agent)
}

fn place(folder: &Path) -> Place {
    Place::new(PlaceOptions {
        store: Some(DirStore::new(Root::new(folder.join("own"), Flavour::Offshoot), Vec::new())),
        agents: vec![Agent::Claude.root(fixtures("claude-code")), Agent::Codex.root(fixtures("codex"))],
        search_index: Some(SearchIndex::new(&folder.join("cache"))),
        ..PlaceOptions::in_folder(folder)
    })
}

#[test]
fn an_id_or_a_unique_start_of_one_names_a_session_to_read() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    let open = |given: &str, access| place.open(given, access, SpillPolicy::default());
    for (given, id) in [
        ("1111", "11111111-2222-4222-8222-222222222222"),
        ("claude:6", "66666666-2222-4222-8222-222222222222"),
        ("codex:c27a914d-0000-4000-8000-000000000001", "c27a914d-0000-4000-8000-000000000001"),
        ("01a0d387-4530-74a2-8c7a-000000000008", "01a0d387-4530-74a2-8c7a-000000000008"),
    ] {
        assert_eq!(open(given, Access::Read).unwrap().id(), id);
    }
    let reverted = open("01a0d387-4530-74a2-8c7a-000000000005", Access::Read).unwrap();
    assert!(reverted.origin().unwrap().to_string_lossy().ends_with("000000000006.jsonl"), "the newest file counts");
    let failed = |given: &str, access| open(given, access).unwrap_err().to_string();
    assert!(failed("codex:01a0", Access::Read).contains("ambiguous"));
    assert!(failed("codex:1111", Access::Read).contains("no session matches"));
    assert!(failed("1111", Access::Write).contains("is a session of Claude Code, which is only read"));
}

#[test]
fn lists_have_them_where_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    let count = |agent: Option<&str>| {
        let mut given = Given::default();
        given.put("all", ArgValue::Flag);
        agent.into_iter().for_each(|agent| given.put_text("agent", agent));
        json(done(run(&place, "list", given).unwrap()).as_ref()).matches("\"path\"").count()
    };
    assert_eq!([None, Some("claude"), Some("codex"), Some("all")].map(count), [0, 7, 8, 15]);
}

/// The index and the scan find the same, parts of words included.
#[test]
fn searches_find_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    let hits = |query: &str, is_scan: bool| {
        let mut given = Given::default();
        given.put_text("query", query);
        if is_scan {
            given.put("scan", ArgValue::Flag);
        }
        let found = run(&place, "search", given).map(|outcome| json(done(outcome).as_ref())).unwrap_or_default();
        let entries = found.split("\"entry\":\"").skip(1).filter_map(|rest| rest.split('"').next());
        let mut entries: Vec<String> = entries.map(str::to_owned).collect();
        entries.sort();
        entries
    };
    for (query, entries) in [
        ("split_whitespace agent:claude", vec!["a000000f", "a0000010"]),
        ("日本語", vec!["a000001f"]),
        ("空白", vec!["a0000020"]),
        ("~espaceify", vec![]),
        ("~plit_white agent:claude", vec!["a000000f", "a0000010"]),
        ("counts ok agent:claude tool:Bash", vec!["a0000016"]),
    ] {
        let found = hits(query, false);
        assert_eq!(found, hits(query, true), "{query}");
        let starts: Vec<&str> = found.iter().map(|entry| &entry[..8]).collect();
        assert_eq!(starts, entries, "{query}");
    }
    assert_eq!((hits("zanzibar", false).len(), hits("xylophone role:user", false).len()), (1, 1));
}
