//! The published suite over the library's stores.

use offshoot_session::store::{DirStore, Flavour, MemoryStore, Root, Store};
use offshoot_session::testing::store_conformance;

#[test]
fn a_store_in_memory_keeps_every_promise() {
    store_conformance(&|| Box::new(MemoryStore::new()));
}

#[test]
fn a_store_over_folders_keeps_every_promise() {
    for flavour in [Flavour::Offshoot, Flavour::Pi, Flavour::Omp, Flavour::Flat] {
        let folders = std::cell::RefCell::new(Vec::new());
        store_conformance(&|| {
            let folder = tempfile::tempdir().unwrap();
            let root = Root::new(folder.path(), flavour);
            folders.borrow_mut().push(folder);
            Box::new(DirStore::new(root, Vec::new())) as Box<dyn Store>
        });
    }
}

#[test]
fn files_and_folders_are_their_owners_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let store = DirStore::new(Root::new(folder.path().join("deep/sessions"), Flavour::Offshoot), Vec::new());
    let mut session = store.create(&super::common::at("/w"), offshoot_session::testing::fixed_options()).unwrap();
    super::common::say(&mut session, "user", "q");
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = session.file().unwrap().to_path_buf();
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert_eq!(
        file.strip_prefix(folder.path()).unwrap().to_str().unwrap(),
        "deep/sessions/--w--/2026-01-01T00-00-00-000Z_00000000-0000-7000-8000-000000000001.jsonl"
    );
}

#[test]
fn other_programs_sessions_are_found_and_a_broken_file_hides_none() {
    let folder = tempfile::tempdir().unwrap();
    let (own, pi) = (folder.path().join("own"), folder.path().join("pi"));
    let here = pi.join("--w--");
    std::fs::create_dir_all(&here).unwrap();
    std::fs::write(here.join("good.jsonl"), super::common::HEADER.to_owned() + "\n").unwrap();
    std::fs::write(here.join("bad.jsonl"), "# notes\n").unwrap();
    std::fs::write(here.join("readme.md"), "not a session").unwrap();
    let store = DirStore::new(Root::new(own, Flavour::Offshoot), vec![Root::new(pi, Flavour::Pi)]);
    let (sessions, diagnostics) =
        store.list(offshoot_session::store::Scope { cwd: Some("/w"), with_text: false }, &mut |_, _| {}).unwrap();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0].first_message, "(no messages)");
    assert_eq!(diagnostics.len(), 1);
    assert!(diagnostics[0].message.contains("bad.jsonl"), "{}", diagnostics[0]);
}

#[test]
fn a_linked_folder_is_listed_once() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("sessions");
    std::fs::create_dir_all(root.join("--w--")).unwrap();
    std::fs::write(root.join("--w--/s.jsonl"), super::common::HEADER.to_owned() + "\n").unwrap();
    std::os::unix::fs::symlink(root.join("--w--"), root.join("link")).unwrap();
    let store = DirStore::new(Root::new(&root, Flavour::Pi), Vec::new());
    assert_eq!(store.ids().unwrap().len(), 1);
}
