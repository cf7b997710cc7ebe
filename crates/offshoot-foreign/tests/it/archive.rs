//! Copies of sessions: growth costs only itself, a rewritten source begins anew, and what was forgotten does not come back.

use std::path::{Path, PathBuf};

use offshoot_foreign::{Agent, Archive, ArchivedSession, KeptCopy, foreign_agent};
use offshoot_session::children::ChildInfo;
use offshoot_session::session::Options;
use offshoot_session::store::ForeignFolder;

use crate::support::{files, fixtures, spelled, subagents_of};

fn bytes_of(archive: &Archive, session: &ArchivedSession) -> Vec<u8> {
    let mut bytes = Vec::new();
    archive
        .read(session, &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
    bytes
}

/// What is gone is read from its copy as it was, of whatever its records were made.
#[test]
fn a_session_whose_source_is_gone_is_read_from_its_copy() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path().join("archive"));
    let here = folder.path().join("here");
    for (agent, name) in [
        (Agent::Claude, "claude-code"),
        (Agent::Opencode, "opencode"),
        (Agent::Gemini, "gemini-cli"),
        (Agent::Goose, "goose/data"),
        (Agent::Crush, "crush"),
        (Agent::Copilot, "copilot-cli"),
        (Agent::Cursor, "cursor"),
        (Agent::Aider, "aider"),
    ] {
        for file in files(&fixtures(name), "") {
            let target = here.join(file.strip_prefix(fixtures(name)).unwrap());
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::copy(&file, &target).unwrap();
        }
        let kept = agent.kept_root(&folder.path().join("archive"));
        let sessions = |root: &Path| {
            let found = (kept.format().unwrap().folders)(root, None).into_iter().flat_map(|folder| folder.files);
            found.map(|(path, _)| path).collect::<Vec<_>>()
        };
        let cwd = here.to_string_lossy().into_owned();
        let cwd = matches!(agent, Agent::Crush | Agent::Aider).then_some(cwd.as_str());
        let all = (agent.format().folders)(&here, cwd).into_iter().flat_map(|folder| folder.files);
        let all: Vec<_> = all.map(|(path, _)| path).collect();
        let read = |path: &Path| {
            let session = (agent.format().open)(path, Options::default()).unwrap();
            let cwd = session.cwd().unwrap_or_default().to_owned();
            // Some folders are known by what is beside the source, and so is the session that one goes on from.
            let continued = r#","parentSession":"11111111-2222-4222-8222-222222222222""#;
            let is_continuing = session.id().starts_with("44444444");
            let text = spelled(&session).replace(&cwd, "");
            (session.id().to_owned(), if is_continuing { text.replace(continued, "") } else { text })
        };
        let mut before: Vec<_> = all.iter().map(|path| read(path)).collect();
        for path in &all {
            assert!(matches!(archive.keep(agent, path, 7).unwrap(), KeptCopy::Bytes(_)), "{}", path.display());
            assert_eq!(archive.keep(agent, path, 8).unwrap(), KeptCopy::Nothing);
        }
        assert_eq!(sessions(&kept.folder), [""; 0].map(PathBuf::from), "what is there is read there");
        std::fs::remove_dir_all(&here).unwrap();
        let copies = sessions(&kept.folder);
        assert!(copies.iter().all(|copy| foreign_agent(copy).unwrap() == Some(agent)));
        let mut after: Vec<_> = copies.iter().map(|path| read(path)).collect();
        before.sort();
        after.sort();
        assert_eq!(after.len(), before.len(), "{name}");
        for (after, before) in after.iter().zip(&before) {
            assert_eq!(after, before, "{name}");
        }
    }
}

/// Subagents have their copies with their session's: each is listed as it was, and read under a path of its own.
#[test]
fn subagents_of_a_session_that_is_gone_are_read_from_their_copies() {
    for (agent, name, session) in [
        (Agent::Claude, "claude-code", "projects/-home-u-work-demo/11111111-2222-4222-8222-222222222222.jsonl"),
        (Agent::Opencode, "opencode", "opencode.db/ses_main"),
        (Agent::Crush, "crush", ".crush/crush.db/crush-main"),
        (Agent::Gemini, "gemini-cli", "tmp/demo/chats/session-2026-09-21T08-00-9a8b7c6d.jsonl"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (here, root) = (folder.path().join("here"), folder.path().join("archive"));
        for file in files(&fixtures(name), "") {
            let target = here.join(file.strip_prefix(fixtures(name)).unwrap());
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::copy(&file, &target).unwrap();
        }
        let path = here.join(session);
        let archive = Archive::new(root.clone());
        archive.keep(agent, &path, 7).unwrap();
        let rows = |path: &Path| {
            let session = (agent.format().open)(path, Options::default()).unwrap();
            let list = subagents_of(agent, path, Some(&session), i64::MAX);
            assert_eq!(list.left_out, 0, "{name}");
            let row = |child: &ChildInfo| {
                let said = spelled(&(agent.format().open)(&child.file, Options::default()).unwrap());
                let own = (child.words(), child.session_id.clone(), child.task.clone(), child.parent_entry.clone());
                (own, child.messages, said)
            };
            list.children.iter().map(row).collect::<Vec<_>>()
        };
        let before = rows(&path);
        assert!(!before.is_empty(), "{name}");
        std::fs::remove_dir_all(&here).unwrap();
        let kept = agent.kept_root(&root);
        let found = |folders: fn(&Path, Option<&str>) -> Vec<ForeignFolder>| {
            let files = folders(&kept.folder, None).into_iter().flat_map(|folder| folder.files);
            files.map(|(path, _)| path).collect::<Vec<_>>()
        };
        let format = kept.format().unwrap();
        let [copy] = found(format.folders).try_into().unwrap();
        assert_eq!(rows(&copy), before, "{name}");
        let started = found(format.started);
        assert_eq!(started.len(), before.len(), "{name}");
        assert!(started.iter().all(|path| foreign_agent(path).unwrap() == Some(agent)), "{name}");
        // A manifest that names a file elsewhere is nobody's subagent, and nothing is written there.
        let manifest = &started[0];
        let elsewhere = folder.path().join("elsewhere/agent-x.jsonl");
        let text = std::fs::read_to_string(manifest).unwrap();
        let source = offshoot_foreign::source_of(manifest);
        std::fs::write(manifest, text.replace(&*source.to_string_lossy(), &elsewhere.to_string_lossy())).unwrap();
        assert_eq!(rows(&copy).len(), before.len() - 1, "{name}");
        if matches!(agent, Agent::Claude | Agent::Gemini) {
            let [session] = archive.list().unwrap().try_into().unwrap();
            archive.restore(&session).unwrap();
            assert_eq!(rows(&path).len(), before.len() - 1, "{name}");
            assert!(!elsewhere.exists());
        }
    }
}

fn set_time(file: &Path, seconds: u64) {
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    std::fs::File::options().append(true).open(file).unwrap().set_modified(time).unwrap();
}

#[test]
fn a_growing_session_costs_its_growth_and_outlives_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path().join("archive"));
    let file = folder.path().join("projects/-w/11111111-2222-4222-8222-222222222222.jsonl");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mut bytes = Vec::new();
    for number in 0..5u32 {
        let line = format!("{{\"line\":{number},\"text\":\"{}\"}}\n", "words ".repeat(2000));
        bytes.extend_from_slice(line.as_bytes());
        std::fs::write(&file, &bytes).unwrap();
        set_time(&file, 1000 + u64::from(number));
        assert_eq!(archive.keep(Agent::Claude, &file, 7).unwrap(), KeptCopy::Bytes(line.len() as u64));
        assert_eq!(archive.keep(Agent::Claude, &file, 8).unwrap(), KeptCopy::Nothing);
    }
    let [copy] = archive.list().unwrap().try_into().unwrap();
    assert_eq!((bytes_of(&archive, &copy), copy.bytes), (bytes.clone(), bytes.len() as u64));
    let packed: u64 =
        files(&folder.path().join("archive"), ".zst").iter().map(|file| file.metadata().unwrap().len()).sum();
    assert!(packed * 5 < bytes.len() as u64 * 2, "{packed} of {}", bytes.len());

    // Never over a file.
    assert!(archive.restore(&copy).is_err());
    std::fs::remove_file(&file).unwrap();
    archive.restore(&copy).unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), bytes);

    // A source that was rewritten begins anew, and the old copy stays.
    std::fs::write(&file, "{\"other\":1}\n").unwrap();
    set_time(&file, 5000);
    assert_eq!(archive.keep(Agent::Claude, &file, 9).unwrap(), KeptCopy::Bytes(12));
    let [copy] = archive.list().unwrap().try_into().unwrap();
    assert_eq!(bytes_of(&archive, &copy), b"{\"other\":1}\n");
    assert_eq!(files(&folder.path().join("archive"), ".zst").len(), 6);

    archive.forget(&copy).unwrap();
    assert_eq!(
        (archive.list().unwrap(), archive.keep(Agent::Claude, &file, 10).unwrap()),
        (vec![], KeptCopy::Forgotten)
    );
}

/// Long outputs, journals, and the transcripts and notes of subagents.
#[test]
fn what_goes_with_a_session_is_copied_restored_and_forgotten_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path().join("archive"));
    let (here, from) = (folder.path().join("here"), fixtures("claude-code/projects/-home-u-work-demo"));
    const ID: &str = "11111111-2222-4222-8222-222222222222";
    let beside: Vec<PathBuf> = files(&from.join(ID), "").into_iter().collect();
    assert_eq!(beside.len(), 6);
    for file in beside.iter().chain([&from.join(ID).with_extension("jsonl")]) {
        let target = here.join(file.strip_prefix(&from).unwrap());
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(file, &target).unwrap();
    }
    let session = here.join(ID).with_extension("jsonl");
    let keep = |at| archive.keep(Agent::Claude, &session, at).unwrap();
    let all: u64 = files(&here, "").iter().map(|file| file.metadata().unwrap().len()).sum();
    assert_eq!((keep(1), keep(2)), (KeptCopy::Bytes(all), KeptCopy::Nothing));

    let (subagent, output) =
        (here.join(ID).join("subagents/agent-a1b2c3d4e5f60718.jsonl"), here.join(ID).join("tool-results/toolu_06.txt"));
    let grown = std::fs::read_to_string(&subagent).unwrap() + "{}\n";
    std::fs::write(&subagent, &grown).unwrap();
    set_time(&subagent, 5000);
    assert_eq!(keep(3), KeptCopy::Bytes(3), "a subagent goes on when its session has ended");
    std::fs::write(&output, "rewritten").unwrap();
    set_time(&output, 5000);
    assert_eq!(keep(4), KeptCopy::Bytes(9));

    std::fs::remove_dir_all(&here).unwrap();
    let [copy] = archive.list().unwrap().try_into().unwrap();
    std::fs::create_dir_all(output.parent().unwrap()).unwrap();
    std::fs::write(&output, "somebody's").unwrap();
    archive.restore(&copy).unwrap();
    assert_eq!(std::fs::read_to_string(&subagent).unwrap(), grown);
    assert_eq!(std::fs::read_to_string(&output).unwrap(), "somebody's", "never over a file");
    assert_eq!(files(&here, "").len(), 7);
    archive.forget(&copy).unwrap();
    assert_eq!(files(&folder.path().join("archive"), ".zst"), Vec::<PathBuf>::new());
}

/// The failure is reported when the others are copied.
#[test]
fn a_file_that_cannot_be_copied_does_not_hold_up_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path().join("archive"));
    let (session, outputs) = (folder.path().join("s.jsonl"), folder.path().join("s/tool-results"));
    std::fs::create_dir_all(&outputs).unwrap();
    std::fs::write(&session, "{}\n").unwrap();
    ["a.txt", "b.txt"].iter().for_each(|name| std::fs::write(outputs.join(name), name).unwrap());
    archive.keep(Agent::Claude, &session, 1).unwrap();
    let copies = files(&folder.path().join("archive"), ".zst");
    let copy_of_a = copies.iter().find(|copy| copy.to_string_lossy().contains("a.txt")).unwrap().parent().unwrap();
    std::fs::remove_dir_all(copy_of_a).unwrap();
    std::fs::write(copy_of_a, "in the way").unwrap();
    std::fs::write(outputs.join("b.txt"), "other words").unwrap();
    set_time(&outputs.join("b.txt"), 5000);
    assert!(archive.keep(Agent::Claude, &session, 2).is_err());
    assert_eq!(files(&folder.path().join("archive"), ".zst").len(), 3, "the session, and b.txt twice");
}

/// Whoever can write into the archive still writes nowhere else.
#[test]
fn a_copy_that_names_a_file_elsewhere_is_not_restored_there() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path().join("archive"));
    let session = folder.path().join("here/s.jsonl");
    std::fs::create_dir_all(folder.path().join("here/s/tool-results")).unwrap();
    std::fs::write(&session, "{}\n").unwrap();
    std::fs::write(folder.path().join("here/s/tool-results/a.txt"), "words").unwrap();
    archive.keep(Agent::Claude, &session, 1).unwrap();
    for manifest in files(&folder.path().join("archive"), "manifest.jsonl") {
        let text = std::fs::read_to_string(&manifest).unwrap();
        std::fs::write(&manifest, text.replace("s/tool-results/a.txt", "s/../../elsewhere.txt")).unwrap();
    }
    std::fs::remove_dir_all(folder.path().join("here")).unwrap();
    let [copy] = archive.list().unwrap().try_into().unwrap();
    archive.restore(&copy).unwrap();
    assert!(session.exists() && !folder.path().join("elsewhere.txt").exists());
}

#[test]
fn a_segment_that_somebody_changed_is_not_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path().join("archive"));
    let file = folder.path().join("s.jsonl");
    std::fs::write(&file, "{\"a\":1}\n").unwrap();
    archive.keep(Agent::Claude, &file, 1).unwrap();
    let [copy] = archive.list().unwrap().try_into().unwrap();
    let [segment] = files(&folder.path().join("archive"), ".zst").try_into().unwrap();
    std::fs::write(&segment, zstd::encode_all(&b"{\"a\":2}\n"[..], 3).unwrap()).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(archive.restore(&copy).unwrap_err().to_string().contains("not what was copied"));
    assert!(!file.exists(), "nothing half restored");
}

/// A kill between a segment and its line, and a line that was cut off.
#[test]
fn what_a_kill_leaves_is_copied_again() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path().join("archive"));
    let file = folder.path().join("s.jsonl");
    std::fs::write(&file, "{\"a\":1}\n").unwrap();
    archive.keep(Agent::Claude, &file, 1).unwrap();
    let [manifest] = files(&folder.path().join("archive"), "manifest.jsonl").try_into().unwrap();
    let line = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, &line[..line.len() / 2]).unwrap();
    assert_eq!(archive.keep(Agent::Claude, &file, 2).unwrap(), KeptCopy::Bytes(8));
    let [copy] = archive.list().unwrap().try_into().unwrap();
    assert_eq!(bytes_of(&archive, &copy), b"{\"a\":1}\n");
}

#[test]
fn a_session_of_a_store_is_copied_when_a_row_changes() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path().join("archive"));
    let store = folder.path().join("opencode.db");
    std::fs::copy(fixtures("opencode").join("opencode.db"), &store).unwrap();
    let keep = || archive.keep(Agent::Opencode, &store.join("ses_kid"), 1).unwrap();
    assert!(matches!(keep(), KeptCopy::Bytes(_)));
    assert_eq!(keep(), KeptCopy::Nothing);
    let change = |sql: &str| rusqlite::Connection::open(&store).unwrap().execute_batch(sql).unwrap();
    change("UPDATE session SET title = 'other' WHERE id = 'ses_main'");
    assert_eq!(keep(), KeptCopy::Nothing, "another session's rows");
    change("UPDATE session SET title = 'other' WHERE id = 'ses_kid'");
    assert!(matches!(keep(), KeptCopy::Bytes(_)));
    let [copy] = archive.list().unwrap().try_into().unwrap();
    assert!(String::from_utf8(bytes_of(&archive, &copy)).unwrap().contains("other"));
    assert!(archive.restore(&copy).unwrap_err().to_string().contains("rows"));
}
