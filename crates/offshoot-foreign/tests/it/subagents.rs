//! Sessions that other ones have started: below which they are, and in which lists.

use std::path::{Path, PathBuf};

use offshoot_foreign::Agent;
use offshoot_session::session::Options;
use offshoot_session::store::ForeignFolder;

use crate::support::{fixtures, subagents_of};

/// Crush says the call, of opencode it is guessed by the time, and Gemini CLI says nothing.
#[test]
fn subagents_of_stores_and_folders_are_below_their_sessions() {
    let of = |agent: Agent, path: PathBuf| {
        let with =
            subagents_of(agent, &path, Some(&(agent.format().open)(&path, Options::default()).unwrap()), i64::MAX);
        assert_eq!(
            (with.left_out, &with),
            (0, &subagents_of(agent, &path, None, i64::MAX)),
            "the session need not be open"
        );
        with.children
    };
    let kids = of(Agent::Crush, fixtures("crush").join(".crush/crush.db/crush-main"));
    assert_eq!(kids.iter().map(|kid| kid.id.as_str()).collect::<Vec<_>>(), ["toolu_c9"]);
    assert_eq!((kids[0].tool_call_id.as_deref(), kids[0].status.as_deref()), (Some("toolu_c9"), Some("unknown")));
    let kids = of(Agent::Opencode, fixtures("opencode").join("opencode.db/ses_main"));
    let rows: Vec<(&str, &str)> = kids.iter().map(|kid| (kid.id.as_str(), kid.task.as_str())).collect();
    assert_eq!(rows, [("ses_kid", "review (@general subagent)")]);
    let chats = fixtures("gemini-cli").join("tmp/demo/chats/session-2026-09-21T08-00-9a8b7c6d.jsonl");
    let kids = of(Agent::Gemini, chats);
    assert_eq!(kids.iter().map(|kid| kid.id.as_str()).collect::<Vec<_>>(), ["sub-1"]);
    assert!(kids[0].messages > 0 && kids[0].parent_entry.is_none());
}

/// The rows of calls say how they ended; what they have started is below them.
#[test]
fn subagents_of_stores_are_below_the_rows_with_their_calls() {
    let folder = tempfile::tempdir().unwrap();
    let change = |store: &Path, sql: &str| rusqlite::Connection::open(store).unwrap().execute_batch(sql).unwrap();
    let store = folder.path().join("opencode.db");
    std::fs::copy(fixtures("opencode").join("opencode.db"), &store).unwrap();
    change(
        &store,
        r#"UPDATE session SET time_created = 1790000000004 WHERE id = 'ses_kid';
        INSERT INTO session SELECT 'ses_below', project_id, workspace_id, 'ses_kid', slug, directory, path, 'below', version, share_url,
            summary_additions, summary_deletions, summary_files, summary_diffs, cost, tokens_input, tokens_output, tokens_reasoning,
            tokens_cache_read, tokens_cache_write, revert, permission, agent, model, time_created, 9000000000000, time_compacting, time_archived
            FROM session WHERE id = 'ses_kid';
        INSERT INTO message SELECT 'msg_below', 'ses_below', 1, 1, data FROM message WHERE id = 'msg_000001kid';
        INSERT INTO part VALUES
            ('prt_0', 'msg_000002main', 'ses_main', 1790000000002, 1, '{"type":"tool","callID":"c1","tool":"task","state":{"status":"error"}}'),
            ('prt_1', 'msg_000002main', 'ses_main', 1790000000003, 1, '{"type":"tool","callID":"c2","tool":"bash","state":{"input":""task""}}'),
            ('prt_2', 'msg_000003main', 'ses_main', 1790000000009, 1, '{"type":"tool","callID":"c3","tool":"task","state":{"status":"completed"}}'),
            ('prt_3', 'msg_000003main', 'ses_main', 1790000000003, 1, '{"task"');"#,
    );
    let list = subagents_of(Agent::Opencode, &store.join("ses_main"), None, 9_000_000_000_000);
    let row = |child: &offshoot_session::children::ChildInfo| {
        (child.words(), child.parent_entry.clone().unwrap_or_default(), child.depth())
    };
    let rows: Vec<_> = list.children.iter().map(row).collect();
    let expected = [("ses_kid · failed · $0.0100", "msg_000002main", 1), ("ses_below · running", "", 2)];
    assert_eq!(rows, expected.map(|(words, entry, depth)| (words.to_owned(), entry.to_owned(), depth)));

    let store = folder.path().join("crush.db");
    std::fs::copy(fixtures("crush").join(".crush/crush.db"), &store).unwrap();
    change(
        &store,
        r#"UPDATE messages SET parts = '[{"type":"tool_call","data":{"id":"toolu_c9","name":"agent"}}]' WHERE id = 'cm2';
        UPDATE messages SET parts = '[{"type":"tool_result","data":{"tool_call_id":"toolu_c9","is_error":false}}]' WHERE id = 'cm3';"#,
    );
    let list = subagents_of(Agent::Crush, &store.join("crush-main"), None, 0);
    let rows: Vec<_> = list.children.iter().map(row).collect();
    assert_eq!(rows, [("toolu_c9 · completed".to_owned(), "cm2".to_owned(), 1)]);
}

/// Subagents are below those who have started them, and nothing is below itself, below what is gone, or deeper than lists go.
#[test]
fn a_session_is_listed_alone_or_below_another_one() {
    let names = |folders: Vec<ForeignFolder>| {
        let files = folders.into_iter().flat_map(|folder| folder.files);
        let mut names: Vec<String> =
            files.map(|(path, _)| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let found = |agent: Agent, root: &Path, cwd: Option<&str>| {
        (names((agent.format().folders)(root, cwd)), names((agent.format().started)(root, cwd)))
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let crush = fixtures("crush");
    let crush = found(Agent::Crush, &crush, Some(&crush.to_string_lossy()));
    assert_eq!(crush, (words(&["crush-main"]), words(&["toolu_c9"])));
    let (_, claude) = found(Agent::Claude, &fixtures("claude-code"), None);
    assert_eq!(claude, ["agent-a1b2c3d4e5f60718", "agent-b9"]);
    let (_, gemini) = found(Agent::Gemini, &fixtures("gemini-cli"), None);
    assert_eq!(gemini.len(), 1, "{gemini:?}");
    assert!(found(Agent::Codex, &fixtures("codex"), None).1.is_empty());

    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("opencode.db");
    std::fs::copy(fixtures("opencode").join("opencode.db"), &store).unwrap();
    let add = |id: &str, parent: &str| {
        let copy = format!(
            "CREATE TEMP TABLE s AS SELECT * FROM session WHERE id = 'ses_kid'; UPDATE s SET id = '{id}', parent_id = '{parent}';
            INSERT INTO session SELECT * FROM s;"
        );
        rusqlite::Connection::open(&store).unwrap().execute_batch(&copy).unwrap();
    };
    add("ses_self", "ses_self");
    add("ses_one", "ses_other");
    add("ses_other", "ses_one");
    add("ses_orphan", "ses_gone");
    let mut above = "ses_kid".to_owned();
    for depth in 2..=17 {
        let id = format!("ses_{depth:02}");
        add(&id, &above);
        above = id;
    }
    let (alone, started) = found(Agent::Opencode, folder.path(), None);
    assert_eq!(alone, ["ses_17", "ses_fork", "ses_main", "ses_one", "ses_orphan", "ses_other", "ses_self"]);
    let list = subagents_of(Agent::Opencode, &store.join("ses_main"), None, 0);
    let mut below: Vec<String> = list.children.iter().map(|child| child.session_id.clone()).collect();
    below.sort();
    assert_eq!(started, below, "what is not listed alone is below another one");
}
