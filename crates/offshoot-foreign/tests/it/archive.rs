//! Copies of sessions: growth costs only itself, a rewritten source begins anew, and what was forgotten does not come back.

use std::path::Path;

use offshoot_foreign::{Agent, Archive, ArchivedSession, KeptCopy};

use crate::support::{files, fixtures};

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
