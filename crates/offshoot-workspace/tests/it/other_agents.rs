//! Sessions of other agents are found by their ids, listed and searched beside one's own, and never written.

use std::path::{Path, PathBuf};

use offshoot_foreign::Agent;
use offshoot_search::SearchIndex;
use offshoot_session::session::SpillPolicy;
use offshoot_session::store::{DirStore, Flavour, Root};
use offshoot_workspace::{Access, ArgValue, Given, Place, PlaceOptions, own_session_of};

use crate::{done, json, run};

fn fixtures(agent: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../offshoot-foreign/tests/fixtures").join(agent)
}

fn place(folder: &Path) -> Place {
    Place::new(options(folder))
}

fn options(folder: &Path) -> PlaceOptions {
    PlaceOptions {
        store: Some(DirStore::new(Root::new(folder.join("own"), Flavour::Offshoot), Vec::new())),
        agents: vec![Agent::Claude.root(fixtures("claude-code")), Agent::Codex.root(fixtures("codex"))],
        search_index: Some(SearchIndex::new(&folder.join("cache"))),
        ..PlaceOptions::in_folder(folder)
    }
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

/// A fork names its parent by an id, or not at all; lists have the path.
/// Their stores are in the folders of projects, which no root is above.
#[test]
fn stores_in_a_project_are_listed_by_their_agents_and_are_no_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    std::fs::create_dir_all(project.join(".crush")).unwrap();
    let (history, store) = (project.join(".aider.chat.history.md"), project.join(".crush/crush.db"));
    std::fs::copy(fixtures("aider").join(".aider.chat.history.md"), &history).unwrap();
    std::fs::copy(fixtures("crush").join(".crush/crush.db"), &store).unwrap();
    let opencode = folder.path().join("agents/opencode.db");
    std::fs::create_dir(folder.path().join("agents")).unwrap();
    std::fs::copy(fixtures("opencode").join("opencode.db"), &opencode).unwrap();
    let agents = [Agent::Aider, Agent::Crush, Agent::Opencode].map(|agent| agent.root(folder.path().join("agents")));
    let own = DirStore::new(Root::new(folder.path().join("own"), Flavour::Offshoot), Vec::new());
    let place =
        Place::new(PlaceOptions { store: Some(own), agents: agents.into(), ..PlaceOptions::in_folder(&project) });
    let count = |agent: &str| {
        let mut given = Given::default();
        given.put_text("agent", agent);
        json(done(run(&place, "list", given).unwrap()).as_ref()).matches("\"path\"").count()
    };
    assert_eq!(["aider", "crush", "claude", "offshoot", "all"].map(count), [2, 1, 0, 0, 3]);
    let mut given = Given::default();
    given.put("all", ArgValue::Flag);
    given.put_text("agent", "aider");
    assert_eq!(json(done(run(&place, "import", given).unwrap()).as_ref()).matches("\"source\"").count(), 2);
    for (file, said) in [(&history, "Aider"), (&store, "Crush"), (&opencode, "opencode")] {
        for access in [Access::Read, Access::Write] {
            let failed = place.open(&file.to_string_lossy(), access, SpillPolicy::default()).unwrap_err().to_string();
            assert!(failed.contains(&format!("holds sessions of {said}, and is none itself")), "{failed}");
        }
    }
}

#[test]
fn lists_have_the_parents_of_forks() {
    let folder = tempfile::tempdir().unwrap();
    let mut given = Given::default();
    given.put_text("agent", "all");
    given.put("all", ArgValue::Flag);
    let listed = json(done(run(&place(folder.path()), "list", given).unwrap()).as_ref());
    let listed = offshoot_session::json::Json::parse(&listed).unwrap();
    let name = |path: &str| path.rsplit('/').next().unwrap().chars().take(60).collect::<String>();
    let of = |session: offshoot_session::json::Json<'_>| {
        Some((name(&session.str("path")?), session.str("parentSessionPath")?.into_owned()))
    };
    let mut parents: Vec<(String, String)> = listed.items().filter_map(of).collect();
    parents.sort();
    assert!(parents.iter().all(|(_, parent)| Path::new(parent).is_file()), "{parents:?}");
    let claude = parents.iter().filter(|(fork, _)| !fork.starts_with("rollout"));
    let claude: Vec<(&str, String)> = claude.map(|(fork, parent)| (&fork[..4], name(parent))).collect();
    let main = "11111111-2222-4222-8222-222222222222.jsonl".to_owned();
    assert_eq!(claude, [("2222", main.clone()), ("3333", main.clone()), ("4444", main)]);
    assert!(parents.len() > claude.len(), "forks of Codex name threads: {parents:?}");
}

#[test]
fn lists_have_their_subagents_below_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut given = Given::default();
    given.put_text("agent", "claude");
    for flag in ["all", "children"] {
        given.put(flag, ArgValue::Flag);
    }
    let listed = json(done(run(&place(folder.path()), "list", given).unwrap()).as_ref());
    let children: Vec<&str> = listed.split("\"children\":[").skip(1).filter(|rest| !rest.starts_with(']')).collect();
    assert_eq!(children.len(), 1, "{listed}");
    assert!(
        children[0].contains(r#""id":"agent-a1b2c3d4e5f60718""#)
            && children[0].contains(r#""status":"completed","messages":4"#)
    );
}

/// Subagents of stores are below those who have started them, as all others are; an id or a search finds each.
#[test]
fn a_subagent_of_a_store_is_no_session_of_its_own_in_lists() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new(PlaceOptions {
        agents: vec![Agent::Opencode.root(fixtures("opencode")), Agent::Claude.root(fixtures("claude-code"))],
        ..PlaceOptions::clone(&options(folder.path()))
    });
    let mut given = Given::default();
    given.put_text("agent", "opencode");
    for flag in ["all", "children"] {
        given.put(flag, ArgValue::Flag);
    }
    let listed = json(done(run(&place, "list", given).unwrap()).as_ref());
    let listed = offshoot_session::json::Json::parse(&listed).unwrap();
    let mut rows: Vec<(String, usize)> = listed
        .items()
        .map(|row| (row.str("id").unwrap().into_owned(), row.get("children").unwrap().items().count()))
        .collect();
    rows.sort();
    let expected = [("ses_fork", 0), ("ses_main", 1), ("ses_old", 0)].map(|(id, count)| (id.to_owned(), count));
    assert_eq!(rows, expected);
    let of = |id: &str| listed.items().find(|row| row.str("id").is_some_and(|own| own == id)).unwrap();
    let parent = |id: &str| of(id).str("parentSessionPath").map(std::borrow::Cow::into_owned);
    assert!(parent("ses_fork").unwrap().ends_with("opencode.db/ses_main"), "its title says it");
    assert_eq!((parent("ses_main"), parent("ses_old")), (None, None));
    for given in ["opencode:ses_kid", "ses_kid"] {
        assert_eq!(place.open(given, Access::Read, SpillPolicy::default()).unwrap().id(), "ses_kid");
    }
    let subagent = place.open("claude:agent-a1b2", Access::Read, SpillPolicy::default()).unwrap();
    assert!(subagent.origin().unwrap().ends_with("subagents/agent-a1b2c3d4e5f60718.jsonl"));
    for (word, file) in [("\"it is right\"", "ses_kid"), ("\"change is right\"", "agent-a1b2c3d4e5f60718.jsonl")] {
        for is_scan in [false, true] {
            let mut given = Given::default();
            given.put_text("query", word);
            if is_scan {
                given.put("scan", ArgValue::Flag);
            }
            let found = json(done(run(&place, "search", given).unwrap()).as_ref());
            assert!(found.contains(file), "{word}: {found}");
        }
    }
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

/// A copy of a transcript in a folder of its own.
fn transcript(folder: &Path, digit: &str) -> PathBuf {
    let name = format!("{}-2222-4222-8222-222222222222.jsonl", digit.repeat(8));
    let file = folder.join(&name);
    std::fs::copy(fixtures("claude-code").join("projects/-home-u-work-demo").join(name), &file).unwrap();
    file
}

fn import(place: &Place, file: &Path) -> String {
    let mut given = Given::default();
    given.put_text("file", file.to_string_lossy());
    given.put("verify", ArgValue::Flag);
    given.put("now", ArgValue::Flag);
    json(done(run(place, "import", given).unwrap()).as_ref())
}

#[test]
fn an_import_is_followed_until_somebody_continues_it() {
    let folder = tempfile::tempdir().unwrap();
    let (place, file) = (place(folder.path()), transcript(folder.path(), "1"));
    let all = std::fs::read(&file).unwrap();
    let half = all.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(15).unwrap().0 + 1;
    std::fs::write(&file, &all[..half]).unwrap();
    let first = import(&place, &file);
    assert!(first.contains("\"note\":null") && first.contains("\"sha256\":\""), "{first}");
    let id = "11111111-2222-4222-8222-222222222222";
    let own = place.store().unwrap().path_of(id).unwrap();
    let before = std::fs::read(&own).unwrap();
    assert!(import(&place, &file).contains("everything is there already"));
    assert_eq!(std::fs::read(&own).unwrap(), before, "twice is nothing more");

    std::fs::write(&file, &all).unwrap();
    let grown = import(&place, &file);
    assert!(grown.contains("\"note\":null") && grown.contains("\"held\":0"), "{grown}");
    assert!(std::fs::read(&own).unwrap().starts_with(&before), "what was there stays");
    let leaf = |session: &offshoot_session::session::Session| {
        let context = session.context().unwrap();
        context.messages(session).map(|message| format!("{:?}", message.unwrap())).collect::<Vec<_>>()
    };
    let foreign = place.open_to_read(&file).unwrap();
    let mut imported = place.open_file(&own, SpillPolicy::default()).unwrap();
    assert_eq!(leaf(&imported), leaf(&foreign), "the model gets what the agent would have sent");
    assert_eq!(place.file("1111", Access::Read).unwrap(), own, "one's own counts before the agent's");

    let said = r#"{"role":"user","content":"and now here"}"#;
    let said = offshoot_session::json::Json::parse(said).unwrap();
    imported.append(&offshoot_session::compose::NewEntry::message(said).unwrap()).unwrap();
    let mut longer = all.clone();
    let prompt = r#"{"type":"user","sessionId":"s","uuid":"b1","parentUuid":"a0000020-1111-4111-8111-000000000020","message":{"role":"user","content":"more there"}}"#;
    longer.extend_from_slice(format!("{prompt}\n").as_bytes());
    std::fs::write(&file, &longer).unwrap();
    let continued = std::fs::read(&own).unwrap();
    let beside = import(&place, &file);
    assert!(beside.contains("was continued here") && beside.contains(&format!("{id}.2")), "{beside}");
    assert_eq!(std::fs::read(&own).unwrap(), continued, "never appended to");
    assert!(import(&place, &file).contains(&format!("{id}.2")), "the second one is followed");
}

/// Enter in the terminal: a session of another agent becomes one of one's own, which is the same one the next time.
#[test]
fn a_session_that_somebody_continues_is_imported_first() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    let file = fixtures("claude-code").join("projects/-home-u-work-demo/66666666-2222-4222-8222-222222222222.jsonl");
    let (own, told) = own_session_of(&place, &file).unwrap();
    assert!(told.unwrap().contains("imported from Claude Code"));
    let mut session = place.open_file(&own, SpillPolicy::default()).unwrap();
    let said = offshoot_session::json::Json::parse(r#"{"role":"user","content":"go on"}"#).unwrap();
    session.append(&offshoot_session::compose::NewEntry::message(said).unwrap()).unwrap();
    assert_eq!(own_session_of(&place, &own).unwrap(), (own.clone(), None), "it is one's own");
    assert_eq!(own_session_of(&place, &file).unwrap().0, own, "what was imported is continued");
}

/// Subagents are sessions beside that of their parent, as own ones are, with the files that belong to them. A session of one that somebody
/// has continued stays as it is.
#[test]
fn subagents_and_files_come_along() {
    let folder = tempfile::tempdir().unwrap();
    let (place, file) = (place(folder.path()), transcript(folder.path(), "1"));
    let from = fixtures("claude-code").join("projects/-home-u-work-demo/11111111-2222-4222-8222-222222222222");
    let beside = file.with_extension("");
    for name in ["tool-results", "subagents", "subagents/workflows/wf_0a1b2c3d-e4f"] {
        std::fs::create_dir_all(beside.join(name)).unwrap();
        for found in std::fs::read_dir(from.join(name)).unwrap().map(|found| found.unwrap().path()) {
            if found.is_file() {
                std::fs::copy(&found, beside.join(name).join(found.file_name().unwrap())).unwrap();
            }
        }
    }
    std::fs::write(beside.join("tool-results/unnamed.bin"), [0xff, 0, 7]).unwrap();
    let first = import(&place, &file);
    assert!(first.contains(r#""files":5,"subagents":2"#) && first.contains("\"sha256\":\""), "{first}");
    let own = place.store().unwrap().path_of("11111111-2222-4222-8222-222222222222").unwrap();
    let list = place.children(&[&own]).pop().unwrap().unwrap();
    let rows: Vec<String> = list.children.iter().map(|child| format!("{}: {}", child.words(), child.task)).collect();
    assert_eq!(
        rows,
        ["agent-a1b2c3d4e5f60718 · Explore · completed: review", "agent-b9 · workflow-subagent · completed: "]
    );
    let child = &list.children[0];
    assert_eq!((child.messages, child.tool_call_id.as_deref()), (4, Some("toolu_05")));
    let parent = place.open_file(&own, SpillPolicy::default()).unwrap();
    assert!(parent.find(child.parent_entry.as_deref().unwrap()).is_ok());
    let mut session = place.open_file(&child.file, SpillPolicy::default()).unwrap();
    assert_eq!(session.header().parent_session().map(PathBuf::from).as_ref(), Some(&own));
    let foreign = place.open_to_read(&beside.join("subagents/agent-a1b2c3d4e5f60718.jsonl")).unwrap();
    let said = |session: &offshoot_session::session::Session| {
        let context = session.context().unwrap();
        context.messages(session).map(|message| message.unwrap().json).collect::<Vec<_>>()
    };
    assert_eq!(said(&session), said(&foreign));
    let before = std::fs::read(&child.file).unwrap();
    assert!(import(&place, &file).contains("everything is there already"));
    assert_eq!(std::fs::read(&child.file).unwrap(), before);

    // The agent goes on: a file is new, another has grown, and a subagent says more.
    std::fs::write(beside.join("tool-results/late.txt"), "late").unwrap();
    std::fs::write(beside.join("subagents/journal.jsonl"), "{}\n").unwrap();
    let grown = import(&place, &file);
    assert!(grown.contains("\"note\":null") && grown.contains("\"sha256\":\""), "{grown}");
    let all = std::fs::read_to_string(&file).unwrap();
    let prompt = r#"{"type":"user","sessionId":"s","uuid":"b1","parentUuid":"a0000020-1111-4111-8111-000000000020","message":{"role":"user","content":"more"}}"#;
    std::fs::write(&file, format!("{all}{prompt}\n")).unwrap();
    assert!(import(&place, &file).contains("\"sha256\":\""));
    let after = place.open_file(&own, SpillPolicy::default()).unwrap();
    let foreign = place.open_to_read(&file).unwrap();
    assert_eq!(said(&after), said(&foreign));
    use offshoot_session::entry::Source as _;
    assert_eq!(after.tree().leaves().count(), parent.tree().leaves().count(), "files make no branch");

    let words = offshoot_session::json::Json::parse(r#"{"role":"user","content":"and now here"}"#).unwrap();
    session.append(&offshoot_session::compose::NewEntry::message(words).unwrap()).unwrap();
    let continued = std::fs::read(&child.file).unwrap();
    let beside = child.file.with_file_name("agent-a1b2c3d4e5f60718-2.jsonl");
    assert!(import(&place, &file).contains("everything is there already") && !beside.exists());
    let transcript = file.with_extension("").join("subagents/agent-a1b2c3d4e5f60718.jsonl");
    let grown = std::fs::read_to_string(&transcript).unwrap() + prompt + "\n";
    std::fs::write(&transcript, grown).unwrap();
    import(&place, &file);
    assert_eq!(std::fs::read(&child.file).unwrap(), continued, "never appended to");
    assert!(beside.is_file());
}

/// What its agent has deleted stays listed, is shown, found by its id and imported.
#[test]
fn a_session_that_is_gone_is_read_from_its_copy() {
    let folder = tempfile::tempdir().unwrap();
    let claude = folder.path().join("claude");
    let project = claude.join("projects/-w");
    std::fs::create_dir_all(&project).unwrap();
    let file = transcript(&project, "6");
    let subagents = file.with_extension("").join("subagents");
    std::fs::create_dir_all(&subagents).unwrap();
    let said = r#"{"type":"user","sessionId":"s","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"a task below"}}"#;
    std::fs::write(subagents.join("agent-x1.jsonl"), format!("{said}\n")).unwrap();
    let archive = folder.path().join("archive");
    let kept = offshoot_foreign::Archive::new(archive.clone());
    kept.keep(Agent::Claude, &file, 7).unwrap();
    std::fs::remove_file(&file).unwrap();
    std::fs::remove_dir_all(file.with_extension("")).unwrap();
    let place = Place::new(PlaceOptions {
        store: Some(DirStore::new(Root::new(folder.path().join("own"), Flavour::Offshoot), Vec::new())),
        agents: vec![Agent::Claude.root(claude.clone()), Agent::Claude.kept_root(&archive)],
        ..PlaceOptions::in_folder(folder.path())
    });
    assert_eq!((place.agents(), place.agent_of(&file)), (vec![Agent::Claude], Some(Agent::Claude)));
    let listed = || {
        let mut given = Given::default();
        given.put_text("agent", "claude");
        for flag in ["all", "children"] {
            given.put(flag, ArgValue::Flag);
        }
        done(run(&place, "list", given).unwrap())
    };
    let children = json(listed().as_ref());
    assert!(children.contains(r#""id":"agent-x1""#), "{children}");
    let mut given = Given::default();
    given.put_text("query", "below");
    let hit = json(done(run(&place, "search", given).unwrap()).as_ref());
    assert!(hit.contains("agent-x1"), "{hit}");
    let words = format!("{:?}", crate::words(listed().as_ref()));
    assert!(words.contains("claude, archived"), "{words}");
    let shown = place.open("claude:6666", Access::Read, SpillPolicy::default()).unwrap();
    assert_eq!(shown.id(), "66666666-2222-4222-8222-222222222222");
    let refused = place.open("claude:6666", Access::Write, SpillPolicy::default()).unwrap_err().to_string();
    assert!(refused.contains("which is only read"), "{refused}");
    let mut given = Given::default();
    given.put_text("file", "claude:6666");
    given.put("verify", ArgValue::Flag);
    let imported = json(done(run(&place, "import", given).unwrap()).as_ref());
    assert!(imported.contains("\"sha256\":\"") && imported.contains(r#""subagents":1"#), "{imported}");
}

/// A store whose rows change is followed, and every session of other agents is imported at once.
#[test]
fn sessions_of_stores_are_imported_and_followed_and_all_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("opencode");
    std::fs::create_dir(&data).unwrap();
    let store = data.join("opencode.db");
    std::fs::copy(fixtures("opencode").join("opencode.db"), &store).unwrap();
    let place = Place::new(PlaceOptions {
        store: Some(DirStore::new(Root::new(folder.path().join("own"), Flavour::Offshoot), Vec::new())),
        agents: vec![Agent::Opencode.root(data)],
        ..PlaceOptions::in_folder(folder.path())
    });
    let main = store.join("ses_main");
    assert!(import(&place, &main).contains("\"sha256\":\""));
    assert!(import(&place, &main).contains("everything is there already"));
    let change = "UPDATE part SET data = json_set(data, '$.text', 'changed') WHERE message_id = 'msg_000008main'";
    rusqlite::Connection::open(&store).unwrap().execute_batch(change).unwrap();
    let changed = import(&place, &main);
    assert!(changed.contains("version-replaced") && changed.contains("\"note\":null"), "{changed}");
    let again = import(&place, &main);
    assert!(again.contains("everything is there already") && again.contains("\"sha256\":\""), "{again}");

    let all = |is_all: bool| {
        let mut given = Given::default();
        if is_all {
            given.put("all", ArgValue::Flag);
        }
        given.put("verify", ArgValue::Flag);
        json(done(run(&place, "import", given).unwrap()).as_ref())
    };
    let counted = all(false);
    assert_eq!((counted.matches("\"bytes\":").count(), counted.matches("\"report\"").count()), (2, 0), "{counted}");
    let imported = all(true);
    assert_eq!(imported.matches("\"sha256\"").count(), 2, "its subagent comes along with ses_main: {imported}");
    assert!(imported.ends_with("\"failed\":0}"), "{imported}");
    assert_eq!(all(true).matches("everything is there already").count(), 2);
}
