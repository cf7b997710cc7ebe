//! What must not happen to anybody's bytes: full disks, read-only folders, links, FIFOs, large files, forged entries, two sessions.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use offshoot_files::{
    ChangeSet, ChangedBy, ChangingCall, FileChange, FileLimits, FileState, FilesWay, RelPath, Workspace,
};

use offshoot_session::clock::{Clock, Millis};

use super::bench::{Bench, call, copy_of};

fn path(text: &str) -> RelPath {
    RelPath::try_from(text.to_owned()).unwrap()
}

#[test]
fn an_entry_that_this_folder_did_not_record_has_no_power() {
    let mut bench = Bench::new();
    bench.write("secret", "mine\n");
    bench.bash(|root| fs::write(root.join("other"), "x\n").unwrap());
    let hash = match bench.fold(bench.leaf).remove(&path("other")).unwrap() {
        FileState::File { hash, .. } => hash,
        state => panic!("{state:?}"),
    };
    let change = |name: &str| FileChange {
        path: path(name),
        by: ChangedBy::Calls,
        before: FileState::Absent,
        after: FileState::File { hash, mode: 0o644 },
    };
    let calls = vec![ChangingCall { id: "c".to_owned(), name: "bash".to_owned() }];
    let forged = serde_json::to_string(&ChangeSet::new(calls, vec![change("secret"), change("planted")])).unwrap();
    let known = bench.recorder.workspace().way(&[], std::slice::from_ref(&forged));
    assert_eq!((known.foreign, known.way.down.len()), (1, 0));
    // A path outside the folder is refused.
    let leads_out = forged.replace("planted", "../../.bashrc");
    assert_eq!(bench.recorder.workspace().way(&[], &[leads_out]).unreadable, 1);
    // Nor does a genuine entry of another folder count here.
    let other = Bench::new();
    let genuine = bench.nodes.last().unwrap().data.clone().unwrap();
    assert_eq!(other.recorder.workspace().way(&[], &[genuine]).foreign, 1);
}

#[test]
fn nothing_is_written_through_a_link_out_of_the_folder() {
    let mut bench = Bench::new();
    let outside = bench.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    bench.write("d/f", "one\n");
    let start = bench.leaf;
    bench.edit("d/f", "two\n");
    fs::remove_dir_all(bench.root().join("d")).unwrap();
    symlink(&outside, bench.root().join("d")).unwrap();
    let report = bench.restore(start);
    assert_eq!(report.written.len(), 0, "{report:?}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    // A link at the place of the file stays, and what it leads to.
    let target = outside.join("target");
    fs::write(&target, "theirs\n").unwrap();
    bench.write("g", "one\n");
    let start = bench.leaf;
    bench.edit("g", "two\n");
    fs::remove_file(bench.root().join("g")).unwrap();
    symlink(&target, bench.root().join("g")).unwrap();
    let report = bench.restore(start);
    assert_eq!((report.conflicts.len(), fs::read_to_string(&target).unwrap().as_str()), (1, "theirs\n"), "{report:?}");
}

#[test]
fn a_fifo_and_a_file_that_is_too_large_are_not_covered_and_stay() {
    let mut bench = Bench::with(FileLimits { file: 1000, ..FileLimits::default() });
    bench.write("f", "one\n");
    let start = bench.leaf;
    bench.bash(|root| {
        assert!(Command::new("mkfifo").arg(root.join("fifo")).status().unwrap().success());
        fs::File::create(root.join("huge")).unwrap().set_len(10 << 30).unwrap();
        fs::write(root.join("f"), "two\n").unwrap();
    });
    let report = bench.restore(start);
    assert_eq!((report.written.len(), report.removed.len()), (1, 0), "{report:?}");
    assert_eq!(bench.read("f"), "one\n");
    assert!(bench.root().join("fifo").exists() && bench.root().join("huge").exists());
}

/// The bound is a setting: a lower one loses nothing that was recorded under a higher one.
#[test]
fn a_lower_bound_leaves_larger_files_as_they_are_and_the_earlier_bound_brings_them_back() {
    let usual = FileLimits::default();
    let mut bench = Bench::new();
    bench.write("large", &"l".repeat(2000));
    bench.write("small", "one\n");
    let start = bench.leaf;
    let grown = bench.bash(|root| {
        fs::write(root.join("large"), "L".repeat(3000)).unwrap();
        fs::write(root.join("small"), "two\n").unwrap();
    });
    let dir = bench.dir.path().to_owned();
    bench.recorder = Bench::recorder(&dir, "s", FileLimits { file: 1024, ..usual });
    bench.bash(|root| fs::write(root.join("small"), "three\n").unwrap());
    let report = bench.restore(start);
    assert_eq!((bench.read("large"), bench.read("small")), ("L".repeat(3000), "one\n".to_owned()), "{report:?}");
    assert_eq!(report.left.len() + report.conflicts.len(), 1, "{report:?}");
    fs::read_dir(bench.root()).unwrap().for_each(|entry| assert!(entry.unwrap().metadata().unwrap().len() < 3001));
    bench.recorder = Bench::recorder(&dir, "s", usual);
    bench.leaf = grown;
    bench.write("small", "two\n");
    let report = bench.restore(start);
    assert_eq!((bench.read("large"), bench.read("small")), ("l".repeat(2000), "one\n".to_owned()), "{report:?}");
    // What has no file in its place comes back under the lower bound, too.
    bench.bash(|root| fs::remove_file(root.join("large")).unwrap());
    bench.recorder = Bench::recorder(&dir, "s", FileLimits { file: 1024, ..usual });
    let report = bench.restore(start);
    assert_eq!(bench.read("large"), "l".repeat(2000), "{report:?}");
}

/// An entry of so many paths would make the session large: it names the list in the store.
#[test]
fn an_entry_of_many_paths_holds_the_hash_of_their_list() {
    assert_eq!(FileLimits::default().changes, 1000);
    let mut bench = Bench::with(FileLimits { changes: 3, ..FileLimits::default() });
    let start = bench.leaf;
    let few = bench.bash(|root| (0..3).for_each(|at| fs::write(root.join(format!("few{at}")), "x\n").unwrap()));
    let many = bench.bash(|root| (0..4).for_each(|at| fs::write(root.join(format!("many{at}")), "x\n").unwrap()));
    let data = |node: usize| bench.nodes[node].data.clone().unwrap();
    assert!(data(few).contains("few2") && !data(few).contains("\"manifest\":\""), "{}", data(few));
    assert!(!data(many).contains("many") && data(many).contains("\"manifest\":\""), "{}", data(many));
    bench.restore(start);
    assert!(bench.names().is_empty());
    bench.restore(many);
    assert_eq!(bench.names().len(), 7);
}

/// What is not covered beside contents: folders without files, and that two names are one file.
#[test]
fn empty_folders_stay_as_they_are_and_hard_links_are_separated() {
    let mut bench = Bench::new();
    bench.write("a", "one\n");
    fs::hard_link(bench.root().join("a"), bench.root().join("b")).unwrap();
    fs::create_dir(bench.root().join("gone")).unwrap();
    let start = bench.leaf;
    bench.bash(|root| {
        fs::write(root.join("a"), "two\n").unwrap();
        fs::create_dir(root.join("made")).unwrap();
        fs::remove_dir(root.join("gone")).unwrap();
    });
    bench.restore(start);
    assert_eq!((bench.read("a"), bench.read("b")), ("one\n".to_owned(), "one\n".to_owned()));
    assert!(bench.root().join("made").exists() && !bench.root().join("gone").exists());
    bench.write("a", "three\n");
    assert_eq!(bench.read("b"), "one\n", "they are two files now");
}

#[test]
fn no_bound_makes_a_file_recorded_that_no_memory_holds() {
    let bench = Bench::with(FileLimits { file: u64::MAX, ..FileLimits::default() });
    assert_eq!(bench.recorder.workspace().limits().file, FileLimits::LARGEST_FILE);
}

#[test]
fn a_restore_that_cannot_be_done_whole_changes_nothing() {
    let mut bench = Bench::new();
    bench.write("a", "one\n");
    bench.write("locked/b", "one\n");
    let start = bench.leaf;
    bench.bash(|root| {
        fs::write(root.join("a"), "two\n").unwrap();
        fs::write(root.join("locked/b"), "two\n").unwrap();
    });
    let before = copy_of(&bench.root());
    let plan = bench.plan(start);
    // Somebody changes a file between the plan and the restore.
    bench.write("a", "three\n");
    let of = bench.of(start);
    assert!(bench.recorder.workspace().begin(plan.clone(), of.clone()).is_err());
    assert_eq!(bench.read("a"), "three\n");
    bench.write("a", "two\n");
    // A content is gone from the store.
    let contents = bench.recorder.workspace().data().join("contents");
    let plan = bench.plan(start);
    fs::rename(&contents, contents.with_extension("away")).unwrap();
    assert!(bench.recorder.workspace().begin(plan.clone(), of.clone()).is_err());
    assert_eq!(copy_of(&bench.root()), before, "nothing is left under a scratch name");
    fs::remove_dir_all(&contents).unwrap();
    fs::rename(contents.with_extension("away"), &contents).unwrap();
    assert!(!bench.recorder.workspace().has_rest());
    bench.restore(start);
    assert_eq!(bench.read("a"), "one\n");
}

#[test]
fn a_restore_that_was_begun_and_killed_is_taken_back_or_completed() {
    for has_moved in [false, true] {
        let mut bench = Bench::new();
        bench.write("a", "one\n");
        let start = bench.leaf;
        bench.edit("a", "two\n");
        let before = copy_of(&bench.root());
        let of = offshoot_files::RestoreFor { moves_from: Some("leaf".to_owned()), ..bench.of(start) };
        let begun = bench.recorder.workspace().begin(bench.plan(start), of).unwrap();
        assert_ne!(copy_of(&bench.root()), before, "the new file is ready under a scratch name");
        // Another program restores nothing meanwhile, and does not think that it was killed.
        let second = Workspace::open(&bench.root(), &bench.dir.path().join("data"), FileLimits::default()).unwrap();
        assert!(second.recover(|of| Some(of.entry.clone())).unwrap().is_none());
        assert!(second.begin(bench.plan(start), bench.of(start)).is_err());
        // Its lock goes with its process.
        drop(begun);
        let moved = |of: &offshoot_files::RestoreFor| {
            (of.moves_from.as_deref() == Some("leaf") && has_moved).then(|| of.entry.clone())
        };
        let recovered = second.recover(moved).unwrap().unwrap();
        // Where the files are is known as soon as nobody has to complete it.
        assert_eq!(second.position("s").as_deref() == Some("00000000"), has_moved);
        assert_eq!(recovered.1.is_some(), has_moved);
        assert_eq!(bench.read("a"), if has_moved { "one\n" } else { "two\n" });
        assert_eq!(bench.names(), ["a"]);
        assert!(!second.has_rest());
    }
}

#[test]
fn what_another_session_changed_during_a_call_is_not_this_ones() {
    let mut bench = Bench::new();
    bench.write("a", "a\n");
    let mut other = Bench::new();
    other.recorder = Bench::recorder(bench.dir.path(), "t", FileLimits::default());
    let batch = bench.recorder.begin();
    bench.recorder.before_any_change(batch, call("bash")).unwrap();
    // Both work in one folder.
    let theirs = other.recorder.begin();
    let file = bench.root().join("theirs");
    other.recorder.before_change_of(theirs, call("edit"), &file).unwrap();
    fs::write(&file, "theirs\n").unwrap();
    let changes = other.recorder.end(theirs).unwrap().unwrap();
    other.recorder.compose(changes, &Default::default()).unwrap();
    bench.write("a", "ours\n");
    bench.record(batch);
    bench.restore(0);
    assert_eq!((bench.read("a").as_str(), bench.read("theirs").as_str()), ("a\n", "theirs\n"));
}

#[test]
fn files_of_keys_and_ignored_folders_are_not_stored() {
    let mut bench = Bench::new();
    bench.write(".gitignore", "target/\n");
    bench.write(".offshootignore", "private/\n");
    for name in ["target/x", "private/y", ".env", "server.pem", ".git/config", ".offshoot-write-a1b2c3"] {
        bench.write(name, "kept to myself\n");
    }
    bench.bash(|root| fs::write(root.join("f"), "x\n").unwrap());
    let texts: Vec<_> = bench.recorder.workspace().store().size().contents.to_string().chars().collect();
    // The two files with rules, and `f`.
    assert_eq!(texts, ['3']);
}

/// It was reported as changed by somebody else.
#[test]
fn a_file_of_keys_that_a_call_makes_stays_and_is_reported_as_not_covered() {
    let mut bench = Bench::new();
    let start = bench.leaf;
    bench.bash(|root| fs::write(root.join(".env"), "SECRET=1\n").unwrap());
    let report = bench.restore(start);
    assert_eq!((report.conflicts.len(), report.left.len()), (0, 1), "{report:?}");
    assert!(report.left[0].why.contains("hold keys"), "{report:?}");
    assert_eq!(bench.read(".env"), "SECRET=1\n");
}

#[test]
fn beyond_its_bounds_a_folder_is_covered_where_tools_name_files() {
    let usual = FileLimits::default();
    assert_eq!((usual.files, usual.stored, usual.file), (100_000, 1 << 30, 10 << 20), "as docs/files.md says");
    for limits in [FileLimits { files: 3, ..usual }, FileLimits { stored: 9, ..usual }, FileLimits { read: 9, ..usual }]
    {
        is_covered_where_tools_name_files(limits);
    }
    // As many as the bound are all covered.
    let mut bench = Bench::with(FileLimits { files: 3, stored: 6, read: 6, ..usual });
    for name in ["1", "2", "3"] {
        bench.write(name, "x\n");
    }
    let start = bench.leaf;
    bench.bash(|root| fs::write(root.join("2"), "y\n").unwrap());
    bench.restore(start);
    assert_eq!((bench.recorder.take_partial(), bench.read("2").as_str()), (false, "x\n"));
}

fn is_covered_where_tools_name_files(limits: FileLimits) {
    let mut bench = Bench::with(limits);
    for name in ["1", "2", "3", "4", "5"] {
        bench.write(name, "x\n");
    }
    let start = bench.leaf;
    bench.edit("1", "y\n");
    bench.bash(|root| fs::write(root.join("2"), "y\n").unwrap());
    assert!(bench.recorder.take_partial(), "the caller is told");
    assert!(!bench.recorder.take_partial(), "once");
    bench.restore(start);
    assert_eq!((bench.read("1").as_str(), bench.read("2").as_str()), ("x\n", "y\n"));
}

#[test]
fn a_file_with_a_key_is_neither_stored_nor_changed() {
    let has_key = |bytes: &[u8]| bytes.windows(6).any(|part| part == b"sk-key");
    let mut bench = Bench::new().without_keys(has_key);
    bench.write("plain", "one\n");
    bench.write("AGENTS.md", "use sk-key\n");
    let start = bench.leaf;
    bench.bash(|root| fs::write(root.join("plain"), "two\n").unwrap());
    // The key comes later, into a file that could be restored.
    bench.write("plain", "two\nsk-key\n");
    let plan = bench.plan(start);
    let left: Vec<_> = plan.left.iter().map(|left| (left.path.as_str(), left.why.as_str())).collect();
    assert_eq!((left, plan.files.len()), (vec![("plain", "it has a key in it")], 0));
    bench.restore(start);
    assert_eq!(bench.read("plain"), "two\nsk-key\n");
    assert_eq!(bench.recorder.workspace().store().size().contents, 2);
    assert!(!bench.recorder.take_partial());
}

/// The thread that drives a conversation begins batches, while another one looks at all files.
#[test]
fn a_batch_begins_while_files_are_read() {
    let (reading, is_reading) = std::sync::mpsc::channel();
    let (release, is_released) = std::sync::mpsc::channel::<()>();
    let gate = std::sync::Mutex::new((reading, is_released));
    let bench = Bench::new().without_keys(move |_| {
        let gate = gate.lock().unwrap();
        gate.0.send(()).unwrap();
        gate.1.recv().is_err()
    });
    bench.write("a", "one\n");
    let recorder = &bench.recorder;
    std::thread::scope(|scope| {
        scope.spawn(|| recorder.before_any_change(recorder.begin(), call("bash")).unwrap());
        is_reading.recv().unwrap();
        let (begun, has_begun) = std::sync::mpsc::channel();
        scope.spawn(move || begun.send(recorder.begin()).unwrap());
        let has_begun = has_begun.recv_timeout(std::time::Duration::from_secs(60));
        release.send(()).unwrap();
        assert!(has_begun.is_ok(), "it waited for the files");
    });
}

#[test]
fn a_folder_that_is_gone_or_read_only_is_an_error_and_no_loss() {
    let mut bench = Bench::new();
    bench.write("d/a", "one\n");
    let start = bench.leaf;
    bench.edit("d/a", "two\n");
    let plan = bench.plan(start);
    fs::rename(bench.root(), bench.dir.path().join("elsewhere")).unwrap();
    assert!(Workspace::open(&bench.root(), &bench.dir.path().join("data"), FileLimits::default()).is_err());
    fs::rename(bench.dir.path().join("elsewhere"), bench.root()).unwrap();
    fs::set_permissions(bench.root().join("d"), fs::Permissions::from_mode(0o555)).unwrap();
    let begun = bench.recorder.workspace().begin(plan, bench.of(start));
    fs::set_permissions(bench.root().join("d"), fs::Permissions::from_mode(0o755)).unwrap();
    // Root may write there all the same.
    if let Ok(begun) = begun {
        bench.recorder.workspace().abandon(begun).unwrap();
    }
    assert_eq!((bench.read("d/a").as_str(), bench.names().len()), ("two\n", 1));
}

#[test]
fn an_empty_way_reads_nothing() {
    let bench = Bench::new();
    assert!(bench.recorder.workspace().plan(FilesWay::default()).unwrap().is_empty());
    assert!(!bench.recorder.workspace().data().exists(), "nothing is made before the first change");
}

#[test]
fn a_store_that_is_too_large_loses_its_oldest_contents_and_none_of_the_files_as_they_are() {
    let mut bench = Bench::with(FileLimits { store: 10_000, ..FileLimits::default() });
    let noise = |seed: u32| -> String {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'!' + u8::try_from((state >> 16) % 90).unwrap())
        };
        (0..2000).map(|_| next()).collect()
    };
    bench.write("oldest", &noise(5));
    bench.bash(|_| ());
    for seed in 1..20 {
        bench.edit("f", &noise(seed * 31 + 1));
    }
    let full = bench.recorder.workspace().store().size();
    assert!(full.bytes > 10_000, "{full:?}");
    bench.recorder = Bench::recorder(bench.dir.path(), "s", FileLimits { store: 10_000, ..FileLimits::default() });
    let start = bench.leaf;
    bench.bash(|root| {
        fs::write(root.join("f"), "new\n").unwrap();
        fs::remove_file(root.join("oldest")).unwrap();
    });
    assert!(bench.recorder.take_shrunk().is_some());
    assert!(bench.recorder.workspace().store().size().bytes < full.bytes);
    bench.restore(start);
    assert_eq!((bench.read("f"), bench.read("oldest")), (noise(19 * 31 + 1), noise(5)));
    // The removal is reported, and the file stays as it is.
    let report = bench.restore(2);
    assert_eq!((report.written.len(), report.left.len()), (0, 1), "{report:?}");
}

#[test]
fn a_conflict_file_never_replaces_one_that_is_there() {
    let mut bench = Bench::new();
    bench.write("a", "one\n");
    let start = bench.leaf;
    bench.edit("a", "two\n");
    bench.write("a", "theirs\n");
    let beside = format!("a.offshoot-{start:08}");
    bench.write(&beside, "older, and theirs\n");
    let report = bench.restore(start);
    let second = format!("{beside}-2");
    assert_eq!(report.conflicts[0].beside.as_ref().map(offshoot_files::RelPath::as_str), Some(second.as_str()));
    assert_eq!((bench.read("a").as_str(), bench.read(&beside).as_str()), ("theirs\n", "older, and theirs\n"));
    assert_eq!(bench.read(&second), "one\n");
}

/// The clock and the times of files go back: a change that leaves length and time as they were is seen all the same.
#[test]
fn a_clock_that_goes_back_hides_no_change() {
    struct Before(std::sync::atomic::AtomicI64);
    impl Clock for Before {
        fn now(&self) -> Millis {
            self.0.fetch_sub(86_400_000, std::sync::atomic::Ordering::Relaxed)
        }
    }
    let mut bench = Bench::new();
    let workspace = Workspace::open(&bench.root(), &bench.dir.path().join("data"), FileLimits::default()).unwrap();
    let clock = Before(std::sync::atomic::AtomicI64::new(1_000_000_000_000));
    bench.recorder = offshoot_files::Recorder::new(workspace, "s", std::sync::Arc::new(clock), &[]);
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
    let write = |root: &std::path::Path, text: &str| {
        fs::write(root.join("a"), text).unwrap();
        fs::File::options().write(true).open(root.join("a")).unwrap().set_modified(long_ago).unwrap();
    };
    write(&bench.root(), "one\n");
    let mut nodes = vec![bench.leaf];
    for text in ["two\n", "six\n", "ten\n"] {
        nodes.push(bench.bash(|root| write(root, text)));
    }
    for (node, text) in nodes.into_iter().zip(["one\n", "two\n", "six\n", "ten\n"]).rev() {
        bench.restore(node);
        assert_eq!(bench.read("a"), text);
    }
}

/// A call removes the whole folder: that is an error or a removal, and the files are still in the store.
#[test]
fn a_folder_that_a_call_removes_comes_back_from_the_store() {
    let mut bench = Bench::new();
    bench.write("d/a", "one\n");
    bench.write("b", "b\n");
    let start = bench.bash(|root| fs::write(root.join("c"), "c\n").unwrap());
    let before = copy_of(&bench.root());
    let batch = bench.recorder.begin();
    bench.recorder.before_any_change(batch, call("bash")).unwrap();
    fs::remove_dir_all(bench.root()).unwrap();
    let ended = bench.recorder.end(batch);
    assert!(!bench.root().exists(), "nothing makes the folder again: {ended:?}");
    if let Ok(Some(changed)) = ended {
        let expected = bench.fold(bench.leaf);
        let data = bench.recorder.compose(changed, &expected).unwrap();
        bench.nodes.push(super::bench::Node { parent: Some(bench.leaf), data: Some(data) });
        bench.leaf = bench.nodes.len() - 1;
    }
    let plan = bench.recorder.workspace().plan(FilesWay::default());
    assert!(plan.is_ok_and(|plan| plan.is_empty()) && !bench.root().exists());
    fs::create_dir(bench.root()).unwrap();
    bench.recorder = Bench::recorder(bench.dir.path(), "s", FileLimits::default());
    if bench.leaf != start {
        bench.restore(start);
        assert_eq!(copy_of(&bench.root()), before);
    }
}

/// A file system of so many bytes; `None` where this user may not mount one, which is said.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    fn mount(at: std::path::PathBuf, kib: u32) -> Option<Self> {
        fs::create_dir_all(&at).unwrap();
        let size = format!("size={kib}k,mode=0755");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&at).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(at));
        }
        let said = b"NOT TESTED on a file system of its own: this user may not mount one\n";
        drop(std::io::Write::write_all(&mut std::io::stderr(), said));
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.0).output());
    }
}

/// Real disks without room, for the folder and for the store.
#[test]
fn on_a_disk_without_room_nothing_is_lost_and_nothing_is_half() {
    let noise = |length: usize| -> Vec<u8> {
        let mut state = 7_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..length).map(|_| next()).collect()
    };
    // The folder is full when the old content, which was large, comes back.
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(dir.path().join("work"), 512) else { return };
    let mut bench = Bench::new();
    bench.recorder = Bench::recorder(dir.path(), "s", FileLimits::default());
    let root = disk.0.clone();
    fs::write(root.join("large"), noise(200_000)).unwrap();
    fs::write(root.join("small"), "one\n").unwrap();
    let start = bench.leaf;
    let batch = bench.recorder.begin();
    bench.recorder.before_any_change(batch, call("bash")).unwrap();
    fs::write(root.join("large"), "little\n").unwrap();
    fs::write(root.join("small"), "two\n").unwrap();
    bench.record(batch);
    let mut filled = 0;
    while fs::write(root.join(format!("fill{filled}")), noise(4096)).is_ok() {
        filled += 1;
    }
    let before = copy_of(&root);
    let plan = bench.plan(start);
    assert_eq!(plan.files.len(), 2);
    let begun = bench.recorder.workspace().begin(plan, bench.of(start));
    assert!(begun.is_err(), "there is no room for it");
    assert_eq!(copy_of(&root), before, "no byte and no name differs");
    (0..filled).for_each(|at| fs::remove_file(root.join(format!("fill{at}"))).unwrap());
    let _failed_last = fs::remove_file(root.join(format!("fill{filled}")));
    bench.restore(start);
    assert_eq!(
        (fs::read(root.join("large")).unwrap(), fs::read(root.join("small")).unwrap()),
        (noise(200_000), b"one\n".to_vec())
    );
    // The store is full: the recording says so, and the files are as the call left them.
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("work")).unwrap();
    let Some(store) = SmallDisk::mount(dir.path().join("data"), 64) else { return };
    let recorder = Bench::recorder(dir.path(), "s", FileLimits::default());
    fs::write(dir.path().join("work/large"), noise(300_000)).unwrap();
    let batch = recorder.begin();
    assert!(recorder.before_any_change(batch, call("bash")).is_err());
    fs::write(dir.path().join("work/large"), "two\n").unwrap();
    let ended = recorder.end(batch);
    assert!(ended.as_ref().is_err() || ended.as_ref().is_ok_and(Option::is_none), "{ended:?}");
    assert_eq!(fs::read(dir.path().join("work/large")).unwrap(), b"two\n");
    drop(store);
}
