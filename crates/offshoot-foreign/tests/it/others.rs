//! opencode, Gemini CLI, Goose, Crush and Copilot CLI: whole trees, and what the notes beside the fixtures expect.

use std::path::{Path, PathBuf};

use offshoot_foreign::Agent;
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::session::{Options, Session};

use crate::support::{fixtures, golden, spelled};

/// Every session that the agent's format finds below a folder, those included that others of a store have started.
fn sessions(agent: Agent, root: &Path) -> Vec<PathBuf> {
    // Only these have their sessions in the working directory.
    let here = matches!(agent, Agent::Crush | Agent::Aider).then(|| root.to_string_lossy());
    let mut folders = (agent.format().folders)(root, here.as_deref());
    if matches!(agent, Agent::Opencode | Agent::Crush) {
        folders.extend((agent.format().started)(root, here.as_deref()));
    }
    let mut found: Vec<PathBuf> = folders.into_iter().flat_map(|folder| folder.files).map(|(path, _)| path).collect();
    found.sort();
    found
}

fn open(agent: Agent, path: &Path) -> Session {
    assert_eq!(offshoot_foreign::foreign_agent(path).unwrap(), Some(agent), "{}", path.display());
    (agent.format().open)(path, Options::default()).unwrap()
}

fn whole(agent: Agent, folder: &str) -> Vec<Session> {
    let root = fixtures(folder);
    let mut text = String::new();
    let mut all = Vec::new();
    for path in sessions(agent, &root) {
        let session = open(agent, &path);
        let mut own = format!("== {}\n{}", path.strip_prefix(&root).unwrap().display(), spelled(&session));
        if agent == Agent::Aider {
            // Ids are made of the path of the history.
            let ids = session.tree().entries().filter_map(|ix| session.tree().node(ix).id());
            let ids: Vec<String> = ids.map(|id| id.as_str().to_owned()).chain([session.id().to_owned()]).collect();
            for (number, id) in ids.iter().enumerate() {
                own = own.replace(id, &format!("id-{number}"));
            }
        }
        text += &own;
        all.push(session);
    }
    let root = root.display().to_string();
    golden(&format!("{}.txt", agent.word()), &text.replace(&root, "/home/u/work/demo"));
    all
}

/// The last words on the path to the leaf, and those of the prompts on it.
fn said(session: &Session) -> Vec<String> {
    let path = session.tree().path(session.leaf().unwrap());
    let entries = path.into_iter().map(|ix| session.entry(ix).unwrap()).filter(|entry| entry.role == Some(Role::User));
    entries.map(|entry| entry.message_text("").unwrap()).collect()
}

fn of_kind(session: &Session, kind: Kind) -> Vec<String> {
    let tree = session.tree();
    let found = tree.entries().filter(|ix| tree.node(*ix).kind() == kind);
    found.map(|ix| tree.node(ix).id().unwrap().as_str().to_owned()).collect()
}

fn named<'a>(all: &'a [Session], id: &str) -> &'a Session {
    all.iter().find(|session| session.id() == id).unwrap()
}

#[test]
fn opencode_is_open_before_what_was_taken_back() {
    let all = whole(Agent::Opencode, "opencode");
    assert_eq!(all.len(), 4);
    let main = named(&all, "ses_main");
    assert_eq!(said(main), ["why are blanks counted?"]);
    let leaf = main.tree().skip_leaf_markers(main.leaf().unwrap()).unwrap();
    assert_eq!(main.tree().node(leaf).id().unwrap().as_str(), "msg_000006main");
    assert!(main.find("msg_000008main").is_ok(), "what was taken back is there");
    assert_eq!(of_kind(main, Kind::Compaction), ["msg_000005main"]);
    assert_eq!(named(&all, "ses_kid").header().parent_session(), Some("ses_main"));
    assert_eq!((main.cwd(), main.name().unwrap().as_deref()), (Some("/home/u/work/demo"), Some("wordcount blanks")));
    let old = named(&all, "ses_old");
    assert_eq!((said(old), old.cwd()), (vec!["a question in the old store".to_owned()], Some("/home/u/work/demo")));
}

#[test]
fn gemini_takes_the_last_message_of_an_id_and_goes_back() {
    let all = whole(Agent::Gemini, "gemini-cli");
    let main = named(&all, "9a8b7c6d-3333-4333-8333-333333333333");
    let tree = main.tree();
    assert_eq!(said(main), ["after a rewind to nowhere"]);
    let newest = of_kind(main, Kind::Message).into_iter().find(|id| id.starts_with("g3~")).unwrap();
    let children = tree.children(main.find(&newest).unwrap());
    let children: Vec<_> = children.filter_map(|ix| tree.node(ix).id()).map(EntryId::as_str).collect();
    assert_eq!(children.len(), 1, "the result of its call: {children:?}");
    let prompts = tree.children(main.find(children[0]).unwrap());
    let prompts: Vec<_> = prompts.filter_map(|ix| tree.node(ix).id()).map(EntryId::as_str).collect();
    assert_eq!(prompts, ["g4", "g6"]);
    assert_eq!((main.cwd(), main.name().unwrap().as_deref()), (Some("/home/u/work/demo"), Some("wordcount blanks")));
}

#[test]
fn gemini_had_one_object_for_a_session() {
    let all = whole(Agent::Gemini, "gemini-cli");
    let old = named(&all, "aabbccdd-0000-4000-8000-000000000000");
    assert_eq!((said(old), old.tree().len()), (vec!["old question".to_owned()], 2));
}

#[test]
fn cursor_has_prompts_without_their_marks() {
    let all = whole(Agent::Cursor, "cursor");
    let chat = named(&all, "c0ffee00-4444-4444-8444-444444444444");
    assert_eq!(
        (all.len(), said(chat), chat.cwd()),
        (2, vec!["why are blanks counted?".to_owned()], Some("/home/u/work/demo"))
    );
    assert_eq!(chat.name().unwrap().as_deref(), Some("wordcount blanks"));
    let roles: Vec<_> = chat.tree().entries().filter_map(|ix| chat.tree().node(ix).role()).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::ToolResult, Role::Assistant]);
    assert_eq!(said(named(&all, "0ld0ld00-0000-4000-8000-000000000000")), ["old question"]);
    // Without the store its transcript counts.
    let transcript = "projects/home-u-work-demo/agent-transcripts/c0ffee00-4444-4444-8444-444444444444/c0ffee00-4444-4444-8444-444444444444.jsonl";
    let transcript = open(Agent::Cursor, &fixtures("cursor").join(transcript));
    assert_eq!((transcript.tree().len(), said(&transcript)), (3, said(chat)));
}

/// The transcript was written as the chat went on, so a store that has another order is damaged, or is understood wrongly.
#[test]
fn a_store_whose_order_is_not_that_of_its_transcript_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    for file in crate::support::files(&fixtures("cursor"), "") {
        let target = folder.path().join(file.strip_prefix(fixtures("cursor")).unwrap());
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(&file, &target).unwrap();
    }
    let id = "c0ffee00-4444-4444-8444-444444444444";
    let store = folder.path().join(format!("chats/0a7571dd6fe929a8b583b7434608e9ac/{id}/store.db")).join(id);
    let transcript = folder.path().join(format!("projects/home-u-work-demo/agent-transcripts/{id}/{id}.jsonl"));
    let text = std::fs::read_to_string(&transcript).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let told = |order: &[&str]| {
        std::fs::write(&transcript, order.join("\n") + "\n").unwrap();
        let session = open(Agent::Cursor, &store);
        let told: Vec<String> = session.diagnostics().iter().map(|told| told.code.as_str().to_owned()).collect();
        let entry = session.diagnostics().first().and_then(|told| told.entry.clone());
        assert!(entry.is_none_or(|entry| session.find(entry.as_str()).is_ok()));
        told
    };
    assert_eq!(told(&lines), [""; 0]);
    let [asked, looks, answers] = lines.try_into().unwrap();
    assert_eq!(told(&[answers, asked, looks]), ["other-order"]);
    // Messages that were taken back or said twice have no order, and other records are not compared.
    let gone = r#"{"role":"user","message":{"content":"gone"}}"#;
    assert_eq!(told(&[answers, asked, gone, looks, "{", answers]), [""; 0]);
    let elsewhere = folder.path().join("elsewhere.jsonl");
    told(&[answers, asked, looks]);
    std::fs::rename(&transcript, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &transcript).unwrap();
    assert!(open(Agent::Cursor, &store).diagnostics().is_empty(), "a link is not followed");
}

/// A heading in an answer is no mark of a run.
#[test]
fn each_run_of_aider_is_a_session() {
    let all = whole(Agent::Aider, "aider");
    let asked: Vec<String> = all.iter().flat_map(said).collect();
    assert_eq!((all.len(), asked.len()), (2, 2), "{asked:?}");
    assert!(asked.contains(&"why are blanks counted?\nplease mend it".to_owned()), "{asked:?}");
    let texts: Vec<String> = all.iter().map(spelled).collect();
    assert!(texts.iter().any(|text| text.contains("# A heading of the answer\\nNot a role line.")));
}

#[test]
fn goose_has_a_summary_that_only_the_model_sees() {
    let all = whole(Agent::Goose, "goose/data");
    let main = named(&all, "20260922_1");
    assert_eq!(of_kind(main, Kind::Compaction), ["msg_20260922_1_5"]);
    assert_eq!(said(main), ["why are blanks counted?", "go on"]);
    let legacy = fixtures("goose").join("legacy/20250601_101500.jsonl");
    let old = open(Agent::Goose, &legacy);
    assert_eq!((said(&old), old.cwd()), (vec!["old question".to_owned()], Some("/home/u/work/demo")));
}

#[test]
fn crush_has_a_summary_message_and_shell_commands() {
    let all = whole(Agent::Crush, "crush");
    let main = named(&all, "crush-main");
    assert_eq!(of_kind(main, Kind::Compaction), ["cm5"]);
    let bash = main.tree().entries().filter(|ix| main.tree().node(*ix).role() == Some(Role::BashExecution)).count();
    assert_eq!((bash, named(&all, "toolu_c9").header().parent_session()), (1, Some("crush-main")));
    assert!(main.cwd().unwrap().ends_with("fixtures/crush"));
}

#[test]
fn copilot_has_calls_with_results() {
    let all = whole(Agent::Copilot, "copilot-cli");
    let results = |session: &Session| {
        let tree = session.tree();
        tree.entries().filter(|ix| tree.node(*ix).role() == Some(Role::ToolResult)).count()
    };
    assert_eq!((all.len(), results(&all[0]), all[0].cwd()), (1, 1, Some("/home/u/work/demo")));
}

/// A store's log has rows that the file has not. Reading leaves both as they are.
#[test]
fn a_live_store_is_read_with_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("opencode.db");
    std::fs::copy(fixtures("opencode").join("opencode.db"), &store).unwrap();
    let writer = rusqlite::Connection::open(&store).unwrap();
    let rename = "UPDATE session SET title = 'from the log' WHERE id = 'ses_kid'";
    writer.execute_batch(&format!("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; {rename}")).unwrap();
    let look = || {
        let files = crate::support::files(folder.path(), "");
        let stamp =
            |file: &PathBuf| (std::fs::read(file).unwrap(), std::fs::metadata(file).unwrap().modified().unwrap());
        files.iter().map(|file| (file.clone(), stamp(file))).collect::<Vec<_>>()
    };
    let before = look();
    let session = open(Agent::Opencode, &store.join("ses_kid"));
    assert_eq!(session.name().unwrap().as_deref(), Some("from the log"));
    assert_eq!(sessions(Agent::Opencode, folder.path()).len(), 3);
    assert_eq!(look().len(), before.len(), "nothing was made");
    assert!(
        look().iter().zip(&before).filter(|(now, _)| !now.0.to_string_lossy().ends_with("-shm")).all(|(a, b)| a == b)
    );
}

/// A store from anybody: a view in the place of a table, names that lead elsewhere, and columns that nobody expects.
#[test]
fn a_hostile_store_runs_nothing_and_names_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("opencode");
    std::fs::create_dir(&root).unwrap();
    let store = root.join("opencode.db");
    let plain = "CREATE TABLE project(id, worktree); CREATE TABLE part(id, message_id, session_id, data);
        CREATE TABLE session(id, project_id, directory, title, \"quo\"\"te\nd\" DEFAULT 'x', time_created);
        INSERT INTO session VALUES('ses_ok', 'p', '/w', 'a\x1b[31mtitle', 1, 1), ('../../etc/passwd', 'p', '/w', 't', 1, 1), ('', 'p', '/w', 't', 1, 1);";
    let table = "CREATE TABLE message(id, session_id, time_created, data);
        INSERT INTO message VALUES('msg_1', 'ses_ok', 1, '{\"role\":\n\"user\"}'), ('msg_2', 'ses_ok', 2, x'ff00'), ('msg_3', 'ses_ok', 'no number', '{broken');
        INSERT INTO part VALUES('p1', 'msg_1', 'ses_ok', '{\"type\":\"text\",\"text\":\"asked\"}');
        CREATE TRIGGER message_read AFTER UPDATE ON message BEGIN DELETE FROM session; END;";
    let view = "CREATE VIEW message(id, session_id, time_created, data) AS
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 'm' || i, 'ses_ok', i, '{}' FROM n;";
    for (sql, is_readable) in [(table, true), (view, false)] {
        drop(std::fs::remove_file(&store));
        rusqlite::Connection::open(&store).unwrap().execute_batch(&format!("{plain}{sql}")).unwrap();
        let before = (std::fs::read(&store).unwrap(), std::fs::metadata(&store).unwrap().modified().unwrap());
        let found = sessions(Agent::Opencode, &root);
        assert_eq!(found, [store.join("ses_ok")]);
        let opened = (Agent::Opencode.format().open)(&found[0], Options::default());
        assert_eq!(opened.is_ok(), is_readable);
        if let Ok(session) = opened {
            assert_eq!(said(&session), ["asked"]);
            drop(spelled(&session));
        }
        assert_eq!((std::fs::read(&store).unwrap(), std::fs::metadata(&store).unwrap().modified().unwrap()), before);
        assert_eq!(crate::support::files(&root, "").len(), 1, "nothing was made");
    }
}

/// A store of Cursor's from anybody: the key of its blobs stays in it, its root may name anything, and what is a view or no blob is not read.
#[test]
fn a_hostile_store_of_blobs_gives_no_key_and_names_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let chat = folder.path().join("chats/0a7571dd6fe929a8b583b7434608e9ac/c0ffee00-4444-4444-8444-444444444444");
    std::fs::create_dir_all(&chat).unwrap();
    let store = chat.join("store.db");
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let (one, gone) = ("11".repeat(32), "22".repeat(32));
    let meta = |root: &str| {
        hex(&format!(
            r#"{{"agentId":"../../etc/passwd","latestRootBlobId":"{root}","blobEncryptionKey":"s3cret-key","name":"a\u001b[31mname","createdAt":1e308}}"#
        ))
    };
    let message = hex(r#"{"role":"user","content":"asked"}"#);
    let tables = format!(
        "CREATE TABLE blobs(id, data); CREATE TABLE meta(key, value); INSERT INTO meta VALUES('0', '{}');
        INSERT INTO blobs VALUES('{one}', x'{message}'), ('root', x'0a20{one}0a20{gone}0a20{one}0a20'), (7, 'no blob'), ('enc', x'00ff');
        CREATE TRIGGER t AFTER UPDATE ON meta BEGIN DELETE FROM blobs; END;",
        meta("root")
    );
    let views = format!(
        "CREATE VIEW meta(key, value) AS SELECT '0', '{}'; CREATE TABLE blobs(id, data); INSERT INTO blobs VALUES('{one}', x'{message}');",
        meta(&one)
    );
    for (sql, is_readable) in [(&tables, true), (&views, false)] {
        drop(std::fs::remove_file(&store));
        rusqlite::Connection::open(&store).unwrap().execute_batch(sql).unwrap();
        let before = (std::fs::read(&store).unwrap(), std::fs::metadata(&store).unwrap().modified().unwrap());
        let found = sessions(Agent::Cursor, folder.path());
        assert_eq!(found, [store.join("c0ffee00-4444-4444-8444-444444444444")]);
        let opened = (Agent::Cursor.format().open)(&found[0], Options::default());
        assert_eq!(opened.is_ok(), is_readable, "{opened:?}");
        if let Ok(session) = opened {
            let text = spelled(&session);
            assert!(text.contains("asked") && !text.contains("s3cret-key"), "{text}");
            // Every other byte of the store comes along.
            let imported = crate::imports::whole(Agent::Cursor, &found[0]);
            assert!(imported.contains("latestRootBlobId") && !imported.contains("s3cret-key"), "{imported}");
            assert_eq!(
                session.tree().entries().filter(|ix| session.tree().node(*ix).kind() == Kind::Message).count(),
                2
            );
        }
        assert_eq!((std::fs::read(&store).unwrap(), std::fs::metadata(&store).unwrap().modified().unwrap()), before);
        assert_eq!(crate::support::files(folder.path(), "").len(), 1, "nothing was made");
        assert!((Agent::Cursor.format().open)(&store.join("another"), Options::default()).is_err());
    }
}

/// Twins of each store with a log beside it: of a program that is running, of one that crashed, and of one that has closed it. Each is read
/// with its last rows, and nothing in its folder changes.
#[test]
fn stores_with_logs_are_read_and_stay_as_they_are() {
    let stores: [(Agent, PathBuf, &str, &str); 4] = [
        (
            Agent::Opencode,
            fixtures("opencode").join("opencode.db"),
            "ses_kid",
            "UPDATE session SET title = 'from the log'",
        ),
        (
            Agent::Goose,
            fixtures("goose/data").join("sessions/sessions.db"),
            "20260922_1",
            "UPDATE sessions SET name = 'from the log'",
        ),
        (
            Agent::Crush,
            fixtures("crush").join(".crush/crush.db"),
            "crush-main",
            "UPDATE sessions SET title = 'from the log'",
        ),
        (
            Agent::Cursor,
            fixtures("cursor")
                .join("chats/0a7571dd6fe929a8b583b7434608e9ac/c0ffee00-4444-4444-8444-444444444444/store.db"),
            "c0ffee00-4444-4444-8444-444444444444",
            "UPDATE meta SET value = replace(value, '776f7264636f756e7420626c616e6b73', '66726f6d20746865206c6f67')",
        ),
    ];
    for (agent, from, id, rename) in stores {
        let folder = tempfile::tempdir().unwrap();
        let chat = folder.path().join(id);
        std::fs::create_dir(&chat).unwrap();
        let store = chat.join(from.file_name().unwrap());
        std::fs::copy(&from, &store).unwrap();
        let writer = rusqlite::Connection::open(&store).unwrap();
        writer.execute_batch(&format!("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; {rename}")).unwrap();
        let crashed = folder.path().join("crashed").join(id);
        std::fs::create_dir_all(&crashed).unwrap();
        for name in [store.clone(), PathBuf::from(format!("{}-wal", store.display()))] {
            std::fs::copy(&name, crashed.join(name.file_name().unwrap())).unwrap();
        }
        let look = |folder: &Path| {
            let files = crate::support::files(folder, "");
            let stamp =
                |file: &PathBuf| (std::fs::read(file).unwrap(), std::fs::metadata(file).unwrap().modified().unwrap());
            // Readers of a log leave their marks in the memory that its writer shares.
            let files = files.into_iter().map(|file| (!file.to_string_lossy().ends_with("-shm")).then(|| stamp(&file)));
            files.collect::<Vec<_>>()
        };
        let read = |folder: &Path| {
            let before = look(folder);
            let session = open(agent, &folder.join(store.file_name().unwrap()).join(id));
            assert_eq!(session.name().unwrap().as_deref(), Some("from the log"), "{}", folder.display());
            assert_eq!(look(folder), before, "{}", folder.display());
        };
        read(&chat);
        read(&crashed);
        drop(writer);
        read(&chat);
    }
}

/// A store or a history that cannot be read has a row, and opening it says why.
#[test]
fn what_cannot_be_read_is_no_silence() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join(".aider.chat.history.md"),
        b"# aider chat started at 2026-09-19 09:00:00\n\xff\n",
    )
    .unwrap();
    std::fs::write(folder.path().join("opencode.db"), "no database").unwrap();
    for (agent, why) in [(Agent::Aider, "invalid utf-8"), (Agent::Opencode, "not a database")] {
        let [path] = sessions(agent, folder.path()).try_into().unwrap();
        let error = (agent.format().open)(&path, Options::default()).unwrap_err();
        let said = format!("{error}: {}", std::error::Error::source(&error).unwrap());
        assert!(said.contains(why), "{said}");
    }
}

/// Crush lists its projects; what is in the list may be anything.
#[test]
fn crush_has_a_list_of_projects() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project/.crush");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::copy(fixtures("crush").join(".crush/crush.db"), project.join("crush.db")).unwrap();
    let list = format!(
        r#"{{"projects":[{{"path":"{0}/project"}},{{"path":"x","data_dir":"{0}/project/.crush"}},{{"path":"../x"}},7,{{"data_dir":"/proc"}}]}}"#,
        folder.path().display()
    );
    std::fs::write(folder.path().join("projects.json"), list).unwrap();
    let found = (Agent::Crush.format().folders)(folder.path(), None).into_iter().flat_map(|folder| folder.files);
    let found: Vec<PathBuf> = found.map(|(path, _)| path).collect();
    assert_eq!(found, [project.join("crush.db/crush-main")]);
}
