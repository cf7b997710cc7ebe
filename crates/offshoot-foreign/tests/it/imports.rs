//! Imports: every byte of the source is kept, the same source gives the same lines, and a growing one is followed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use offshoot_foreign::{Agent, ImportWish, KeptVersions, OpenEnd, import_foreign, kept_rows, rebuilt};
use offshoot_session::entry::Source as _;
use offshoot_session::kind::HIDDEN;
use offshoot_session::session::{Options, Session};
use sha2::{Digest as _, Sha256};

use crate::support::{files, fixtures, golden, open};

fn sources() -> Vec<(Agent, PathBuf)> {
    let claude = files(&fixtures("claude-code").join("projects"), ".jsonl").into_iter();
    let claude = claude.filter(|file| !file.ends_with("journal.jsonl")).map(|file| (Agent::Claude, file));
    let codex = files(&fixtures("codex"), ".jsonl").into_iter().chain(files(&fixtures("codex"), ".zst"));
    let is_rollout = |file: &PathBuf| file.file_name().unwrap().to_string_lossy().starts_with("rollout-");
    let gemini = files(&fixtures("gemini-cli").join("tmp"), ".jsonl").into_iter().map(|file| (Agent::Gemini, file));
    let copilot = files(&fixtures("copilot-cli"), ".jsonl").into_iter().map(|file| (Agent::Copilot, file));
    let codex = codex.filter(is_rollout).map(|file| (Agent::Codex, file));
    let cursor = files(&fixtures("cursor").join("projects"), ".jsonl").into_iter().map(|file| (Agent::Cursor, file));
    claude.chain(codex).chain(gemini).chain(copilot).chain(cursor).collect()
}

/// Sessions in files whose records are made of other text: each with the file, and where the session is below it.
fn made() -> Vec<(Agent, PathBuf, Vec<String>)> {
    let aider = fixtures("aider").join(".aider.chat.history.md");
    let runs = (Agent::Aider.format().folders)(&fixtures("aider"), Some(&fixtures("aider").to_string_lossy()));
    let runs = runs.into_iter().flat_map(|folder| folder.files);
    let runs = runs.map(|(path, _)| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    let text =
        files(&fixtures("cursor").join("projects"), ".txt").into_iter().map(|file| (Agent::Cursor, file, Vec::new()));
    let old = files(&fixtures("gemini-cli").join("tmp"), ".json").into_iter();
    let old =
        old.filter(|file| file.parent().unwrap().ends_with("chats")).map(|file| (Agent::Gemini, file, Vec::new()));
    let goose = files(&fixtures("goose"), ".jsonl").into_iter().map(|file| (Agent::Goose, file, Vec::new()));
    std::iter::once((Agent::Aider, aider, runs)).chain(text).chain(old).chain(goose).collect()
}

/// Sessions in stores whose rows change.
fn stored() -> Vec<(Agent, PathBuf)> {
    let of = |agent: Agent, store: &str, ids: &[&str]| -> Vec<(Agent, PathBuf)> {
        ids.iter()
            .map(|id| {
                (agent, fixtures(store.split('/').next().unwrap()).join(store.split_once('/').unwrap().1).join(id))
            })
            .collect()
    };
    let opencode = of(Agent::Opencode, "opencode/opencode.db", &["ses_main", "ses_kid", "ses_fork"]);
    let goose = of(Agent::Goose, "goose/data/sessions/sessions.db", &["20260922_1"]);
    let crush = of(Agent::Crush, "crush/.crush/crush.db", &["crush-main", "toolu_c9"]);
    let cursor = "cursor/chats/0a7571dd6fe929a8b583b7434608e9ac/c0ffee00-4444-4444-8444-444444444444/store.db";
    let cursor = of(Agent::Cursor, cursor, &["c0ffee00-4444-4444-8444-444444444444"]);
    opencode.into_iter().chain(goose).chain(crush).chain(cursor).collect()
}

/// The lines that an import adds to those that are there.
fn import(agent: Agent, path: &Path, end: OpenEnd, known: &mut HashSet<String>) -> Vec<(String, bool)> {
    let mut lines = Vec::new();
    let wish = ImportWish {
        agent,
        path,
        id: None,
        end,
        known: &known.clone(),
        versions: &KeptVersions::default(),
        child: None,
    };
    import_foreign(wish, &mut |line| {
        known.extend(line.id.map(str::to_owned));
        lines.push((line.text.to_owned(), line.is_leaf));
        Ok(())
    })
    .unwrap();
    lines
}

/// All lines of an import.
pub(crate) fn whole(agent: Agent, path: &Path) -> String {
    let lines = import(agent, path, OpenEnd::Taken, &mut HashSet::new());
    lines.iter().map(|(line, _)| format!("{line}\n")).collect()
}

fn session(text: &str) -> Session {
    Session::from_text(text, Options::default()).unwrap()
}

fn shown(session: &Session) -> Vec<String> {
    let entries = session.tree().entries().map(|ix| session.entry(ix).unwrap());
    let is_hidden = |custom: &str| HIDDEN.contains(&custom);
    let entries = entries.filter(|entry| !entry.str("customType").is_some_and(|custom| is_hidden(&custom)));
    // What hangs on what differs by the records between.
    let without_parent = |line: &str| {
        let at = line.find("\"parentId\":").unwrap();
        let end = at + line[at..].find(",\"timestamp\"").unwrap();
        format!("{}{}", &line[..at], &line[end..])
    };
    entries.map(|entry| without_parent(entry.line())).collect()
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The records that are whole, as an import reads them.
fn source_bytes(path: &Path) -> Vec<u8> {
    use offshoot_session::medium::Medium as _;
    let bytes = match path.extension().is_some_and(|extension| extension == "zst") {
        true => {
            let medium = offshoot_foreign::ForeignMedium::open(path).unwrap();
            offshoot_session::medium::read_exact_at(&medium, 0, medium.len().unwrap() as usize).unwrap()
        }
        false => std::fs::read(path).unwrap(),
    };
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    bytes[..end].to_vec()
}

#[test]
fn imported_sessions_have_the_same_entries_and_contexts() {
    for (agent, path) in sources() {
        let (imported, foreign) = (session(&whole(agent, &path)), open(&path).session);
        let here = path.display();
        assert_eq!(shown(&imported), shown(&foreign), "{here}");
        let context = |session: &Session| {
            let context = session.context().unwrap();
            context.messages(session).map(|message| format!("{:?}", message.unwrap())).collect::<Vec<_>>()
        };
        assert_eq!(context(&imported), context(&foreign), "{here}");
        let id = offshoot_foreign::imported_id(agent, foreign.id());
        assert_eq!((imported.id(), imported.cwd()), (id.as_str(), foreign.cwd()));
        assert_eq!(imported.name().unwrap(), foreign.name().unwrap());
        let odd = imported.diagnostics().iter().filter(|told| told.code.as_str() != "orphan").count();
        assert_eq!(odd, 0, "{here}: {:?}", imported.diagnostics());
    }
}

#[test]
fn every_byte_of_the_source_is_kept_once_and_twice_is_nothing_more() {
    let (mut all, mut kept) = (0, 0);
    for (agent, path) in sources() {
        let mut known = HashSet::new();
        let lines = import(agent, &path, OpenEnd::Taken, &mut known);
        let text: String = lines.iter().map(|(line, _)| format!("{line}\n")).collect();
        let mut bytes = Vec::new();
        let found = rebuilt(&session(&text), &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
        let has_base =
            path.to_string_lossy().contains("000000000004") || path.to_string_lossy().contains("000000000006");
        let source = source_bytes(&path);
        let end = bytes.len() - source.len();
        assert_eq!(String::from_utf8_lossy(&bytes[end..]), String::from_utf8_lossy(&source), "{}", path.display());
        assert_eq!((end > 0, found.lacking.as_slice()), (has_base, &[][..]));
        assert_eq!(found.sha256, digest(&bytes));
        assert_eq!(import(agent, &path, OpenEnd::Taken, &mut known), [], "again");
        assert_eq!(whole(agent, &path), text, "the same source, the same bytes");
        (all, kept) = (all + bytes.len(), kept + text.len());
    }
    assert!(kept < all * 5 / 2, "{kept} bytes keep {all}: small records have much around them");
}

#[test]
fn every_prefix_in_turn_is_the_whole_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for (agent, path) in sources().into_iter().filter(|(_, path)| path.extension().unwrap() == "jsonl") {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap();
        // The folders around it have side files and parents.
        let copy = path.parent().unwrap().join(name);
        let place = folder.path().join("sessions").join(name);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        if copy.with_extension("").is_dir() || has_base(&bytes) {
            continue;
        }
        let without_leaves = |lines: Vec<(String, bool)>| lines.into_iter().filter(|(_, is_leaf)| !is_leaf);
        let (mut known, mut grown) = (HashSet::new(), Vec::new());
        for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            for end in [at - at.min(20), at + 1] {
                std::fs::write(&place, &bytes[..end]).unwrap();
                grown.extend(without_leaves(import(agent, &place, OpenEnd::Held, &mut known)));
            }
        }
        std::fs::write(&place, &bytes).unwrap();
        grown.extend(without_leaves(import(agent, &place, OpenEnd::Taken, &mut known)));
        let once: Vec<_> = without_leaves(import(agent, &place, OpenEnd::Taken, &mut HashSet::new())).collect();
        assert_eq!(grown, once, "{}", path.display());
    }
}

fn has_base(bytes: &[u8]) -> bool {
    String::from_utf8_lossy(bytes).contains("history_base")
}

#[test]
fn damaged_sources_are_kept_to_the_last_byte() {
    let folder = tempfile::tempdir().unwrap();
    for (agent, path) in sources().into_iter().filter(|(_, path)| path.extension().unwrap() == "jsonl") {
        let bytes = std::fs::read(&path).unwrap();
        if has_base(&bytes) {
            continue;
        }
        let file = folder.path().join(path.file_name().unwrap());
        let mut variants: Vec<Vec<u8>> = Vec::new();
        for at in (0..bytes.len()).step_by(crate::hostile::step()) {
            variants.push(bytes[..at].to_vec());
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            variants.push(flipped);
        }
        for seed in 0..crate::hostile::shuffles() {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let mut lines: Vec<&str> = text.lines().collect();
            crate::hostile::shuffle(&mut lines, seed);
            variants.push((lines.join("\n") + "\n").into_bytes());
        }
        for variant in variants {
            std::fs::write(&file, &variant).unwrap();
            let text = whole(agent, &file);
            if text.is_empty() {
                continue;
            }
            let mut kept = Vec::new();
            let found = rebuilt(&session(&text), &mut |piece| {
                kept.extend_from_slice(piece);
                Ok(())
            })
            .unwrap();
            assert_eq!((kept, found.lacking), (source_bytes(&file), Vec::new()), "{}", path.display());
        }
    }
}

/// Stores and files of other forms are refused, or imported with every record that they give.
#[test]
fn damaged_stores_are_refused_or_kept_to_the_last_record() {
    let mut all: Vec<(Agent, PathBuf, Vec<String>)> = made();
    for (agent, path) in stored() {
        let (store, id) =
            (path.parent().unwrap().to_path_buf(), path.file_name().unwrap().to_str().unwrap().to_owned());
        match all.iter_mut().find(|(_, known, _)| *known == store) {
            Some((.., ids)) => ids.push(id),
            None => all.push((agent, store, vec![id])),
        }
    }
    let (mut read, mut refused) = (0, 0);
    for (agent, path, ids) in all {
        let bytes = std::fs::read(&path).unwrap();
        let folder = tempfile::tempdir().unwrap();
        // Some names of folders say whose session it is.
        let above = path.parent().unwrap().file_name().unwrap();
        let file = folder.path().join(above).join(path.file_name().unwrap());
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let mut try_one = |variant: &[u8]| {
            std::fs::write(&file, variant).unwrap();
            let paths: Vec<PathBuf> = match ids.as_slice() {
                [] => vec![file.clone()],
                _ => ids.iter().map(|id| file.join(id)).collect(),
            };
            for path in paths {
                let (known, versions) = (HashSet::new(), KeptVersions::default());
                let wish = ImportWish {
                    agent,
                    path: &path,
                    id: None,
                    end: OpenEnd::Taken,
                    known: &known,
                    versions: &versions,
                    child: None,
                };
                let mut text = String::new();
                let imported = import_foreign(wish, &mut |line| {
                    text += line.text;
                    text.push('\n');
                    Ok(())
                });
                if imported.is_err() || text.is_empty() {
                    refused += 1;
                    continue;
                }
                let found = kept_rows(agent, &path, &session(&text)).unwrap();
                // A last line that may still grow is not taken.
                let last = found.records..=found.records;
                assert!(found.lacking.is_empty() || found.lacking == [last], "{}: {:?}", path.display(), found.lacking);
                read += 1;
            }
        };
        try_one(&bytes);
        for at in (0..bytes.len()).step_by(crate::hostile::step()) {
            try_one(&bytes[..at]);
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            try_one(&flipped);
        }
        if !path.extension().unwrap().eq_ignore_ascii_case("db") {
            for seed in 0..crate::hostile::shuffles() {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let mut lines: Vec<&str> = text.lines().collect();
                crate::hostile::shuffle(&mut lines, seed);
                try_one((lines.join("\n") + "\n").as_bytes());
            }
        }
    }
    assert!(read > 100 && refused > 10, "{read} read, {refused} refused");
}

/// A number of 10^15 filled the memory, and so did a payload that a record named 100,000 times.
#[test]
fn records_that_anybody_wrote_cost_little_and_are_reported() {
    let path = fixtures("claude-code").join("projects/-home-u-work-demo/66666666-2222-4222-8222-222222222222.jsonl");
    let mut text = whole(Agent::Claude, &path);
    let long = "x".repeat(1 << 20);
    let time = "2026-09-20T10:00:03.003Z";
    text += &format!(
        r#"{{"type":"custom_message","id":"long","parentId":null,"timestamp":"{time}","customType":"x","content":"{long}","display":false}}"#
    );
    let many = vec!["[0,0,1048576]"; 100_000].join(",");
    for (id, number, pieces) in
        [("far.s", "1e15", "\"\""), ("end.s", "1e300", "\"\""), ("many.s", "900", many.as_str())]
    {
        let data = format!(r#"{{"n":{number},"at":0,"of":["long"],"p":[{pieces}]}}"#);
        text += &format!(
            "\n{{\"type\":\"custom\",\"customType\":\"offshoot.source\",\"data\":{data},\"id\":\"{id}\",\"parentId\":null,\"timestamp\":\"{time}\"}}"
        );
    }
    let found = rebuilt(&session(&(text + "\n")), &mut |_| Ok(())).unwrap();
    let records = std::fs::read_to_string(&path).unwrap().lines().count() as u64;
    assert_eq!((found.records, found.lacking), (records + 3, vec![records + 1..=u64::MAX]));
}

#[test]
fn an_imported_session_has_its_whole_lines() {
    let path = fixtures("claude-code").join("projects/-home-u-work-demo/11111111-2222-4222-8222-222222222222.jsonl");
    let root = fixtures("claude-code").display().to_string();
    golden("claude-imported.txt", &whole(Agent::Claude, &path).replace(&root, "/home/u/.claude"));
}

/// Ids of kept records begin with those of entries, which must not make every name long.
#[test]
fn entries_of_an_import_have_short_names() {
    let path = fixtures("claude-code").join("projects/-home-u-work-demo/66666666-2222-4222-8222-222222222222.jsonl");
    let imported = session(&whole(Agent::Claude, &path));
    let tree = imported.tree();
    let ix = imported.find("a0000192-1111-4111-8111-000000000192").unwrap();
    let ids = offshoot_session::entry_name::short_ids(tree, [ix]).unwrap();
    assert_eq!(ids.get("a0000192-1111-4111-8111-000000000192"), "a0000192");
    assert_eq!(tree.find_prefix("a0000192").unwrap(), ix);
}

#[test]
fn sessions_of_stores_have_all_their_rows() {
    for (agent, path) in stored() {
        let (text, here) = (whole(agent, &path), path.display());
        let imported = session(&text);
        let foreign = (agent.format().open)(&path, Options::default()).unwrap();
        assert_eq!(shown(&imported), shown(&foreign), "{here}");
        let found = kept_rows(agent, &path, &imported).unwrap();
        assert_eq!((found.lacking, found.records > 1), (Vec::new(), true), "{here}");
        assert_eq!((imported.name().unwrap(), imported.cwd()), (foreign.name().unwrap(), foreign.cwd()), "{here}");
        let odd: Vec<_> = imported.diagnostics().iter().filter(|told| told.code.as_str() != "orphan").collect();
        assert!(odd.is_empty(), "{here}: {odd:?}");
    }
}

/// A store that changes: a row that changed is a newer version beside the old one, rows that are gone stay, and the model gets
/// what the agent would have sent.
#[test]
fn rows_that_change_are_newer_versions() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("opencode.db");
    std::fs::copy(fixtures("opencode").join("opencode.db"), &store).unwrap();
    let path = store.join("ses_kid");
    let mut text = whole(Agent::Opencode, &path);
    let change = |sql: &str| rusqlite::Connection::open(&store).unwrap().execute_batch(sql).unwrap();
    let grow = |text: &mut String| {
        let before = session(text);
        let tree = before.tree();
        let known = tree.entries().filter_map(|ix| tree.node(ix).id().map(|id| id.as_str().to_owned())).collect();
        let versions = KeptVersions::of(&before).unwrap();
        let wish = ImportWish {
            agent: Agent::Opencode,
            path: &path,
            id: None,
            end: OpenEnd::Taken,
            known: &known,
            versions: &versions,
            child: None,
        };
        let mut lines = 0;
        let report = import_foreign(wish, &mut |line| {
            *text += line.text;
            text.push('\n');
            lines += usize::from(!line.is_leaf);
            Ok(())
        })
        .unwrap();
        let after = session(text);
        assert_eq!(kept_rows(Agent::Opencode, &path, &after).unwrap().lacking, []);
        let foreign = (Agent::Opencode.format().open)(&path, Options::default()).unwrap();
        let said = |session: &Session| {
            let context = session.context().unwrap();
            context.messages(session).map(|message| message.unwrap().json).collect::<Vec<_>>()
        };
        assert_eq!(said(&after), said(&foreign));
        assert_eq!(after.name().unwrap(), foreign.name().unwrap());
        (lines, report)
    };
    assert_eq!(grow(&mut text).0, 0, "nothing is new");
    let last = "SELECT id FROM message WHERE session_id = 'ses_kid' ORDER BY time_created DESC, id DESC LIMIT 1";
    change(&format!(
        "UPDATE part SET data = json_set(data, '$.text', 'another end') WHERE message_id = ({last}) AND json_extract(data, '$.type') = 'text'"
    ));
    let (lines, report) = grow(&mut text);
    assert!(lines >= 3, "the record, the entry and a label");
    assert_eq!(report.losses["version-replaced"].0, 1);
    assert!(text.contains("another end") && text.contains("superseded"));
    assert_eq!(grow(&mut text).0, 0, "the newer version is known");
    change("UPDATE session SET title = 'renamed' WHERE id = 'ses_kid'");
    assert!(grow(&mut text).0 >= 2);
    change(&format!("DELETE FROM message WHERE id = ({last})"));
    let (_, report) = grow(&mut text);
    assert_eq!(report.losses["source-shrunk"].0, 1);
    assert!(text.contains("another end"), "what is gone there stays here");
}

/// A program appends while its session is imported, half a line at a time: nothing torn is taken, and in the end all is there.
#[test]
fn a_session_that_grows_while_it_is_imported_is_never_torn() {
    let folder = tempfile::tempdir().unwrap();
    let source = fixtures("claude-code").join("projects/-home-u-work-demo/11111111-2222-4222-8222-222222222222.jsonl");
    let bytes = std::fs::read(source).unwrap();
    let file = folder.path().join("11111111-2222-4222-8222-222222222222.jsonl");
    std::fs::write(&file, &bytes[..200]).unwrap();
    let mut known = HashSet::new();
    let mut lines = Vec::new();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            use std::io::Write as _;
            let mut file = std::fs::File::options().append(true).open(&file).unwrap();
            for piece in bytes[200..].chunks(97) {
                file.write_all(piece).unwrap();
                file.sync_data().unwrap();
            }
        });
        let mut is_last = false;
        while !is_last {
            is_last = writer.is_finished();
            lines.extend(import(Agent::Claude, &file, OpenEnd::Held, &mut known));
        }
        writer.join().unwrap();
    });
    lines.extend(import(Agent::Claude, &file, OpenEnd::Taken, &mut known));
    let once = import(Agent::Claude, &file, OpenEnd::Taken, &mut HashSet::new());
    let without_leaves =
        |lines: Vec<(String, bool)>| lines.into_iter().filter(|(_, is_leaf)| !is_leaf).collect::<Vec<_>>();
    assert_eq!(without_leaves(lines), without_leaves(once));
}
