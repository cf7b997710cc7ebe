//! The files of an edit and of a command, and the way back and forth.

use std::fs;
use std::os::unix::fs::symlink;

use offshoot_files::ChangeSet;

use super::bench::{Bench, copy_of};

#[test]
fn an_edit_and_a_command_are_undone_and_done_again() {
    let mut bench = Bench::new();
    bench.write("a.txt", "one\n");
    bench.write("sub/b.txt", "b\n");
    let before = copy_of(&bench.root());
    let start = bench.leaf;
    let edited = bench.edit("a.txt", "two\n");
    let ran = bench.bash(|root| {
        fs::remove_file(root.join("sub/b.txt")).unwrap();
        fs::remove_dir(root.join("sub")).unwrap();
        fs::write(root.join("new.txt"), "new\n").unwrap();
        symlink("a.txt", root.join("link")).unwrap();
        fs::create_dir_all(root.join("made/here")).unwrap();
        fs::write(root.join("made/here/too"), "x\n").unwrap();
    });
    bench.mode("new.txt", 0o644);
    let after = copy_of(&bench.root());
    let report = bench.restore(edited);
    assert_eq!((bench.read("a.txt").as_str(), bench.read("sub/b.txt").as_str()), ("two\n", "b\n"));
    assert_eq!((report.written.len(), report.removed.len(), report.conflicts.len()), (1, 3, 0), "{report:?}");
    assert!(!bench.root().join("made").exists(), "folders go with their last file");
    bench.restore(start);
    assert_eq!(copy_of(&bench.root()), before);
    bench.restore(ran);
    assert_eq!(copy_of(&bench.root()), after);
}

#[test]
fn modes_and_folders_in_the_place_of_files_come_back() {
    let mut bench = Bench::new();
    bench.write("a", "file\n");
    bench.mode("a", 0o755);
    let (before, start) = (copy_of(&bench.root()), bench.leaf);
    let ran = bench.bash(|root| {
        fs::remove_file(root.join("a")).unwrap();
        fs::create_dir(root.join("a")).unwrap();
        fs::write(root.join("a/b"), "inside\n").unwrap();
    });
    let after = copy_of(&bench.root());
    bench.restore(start);
    assert_eq!(copy_of(&bench.root()), before);
    bench.restore(ran);
    assert_eq!(copy_of(&bench.root()), after);
}

#[test]
fn what_somebody_else_wrote_is_merged_or_stays_with_ours_beside_it() {
    let mut bench = Bench::new();
    bench.write("merged", "1\n2\n3\n4\n5\n");
    bench.write("clash", "x\n");
    let start = bench.leaf;
    bench.bash(|root| {
        fs::write(root.join("merged"), "one\n2\n3\n4\n5\n").unwrap();
        fs::write(root.join("clash"), "y\n").unwrap();
    });
    bench.write("merged", "one\n2\n3\n4\nfive\n");
    bench.write("clash", "z\n");
    let report = bench.restore(start);
    assert_eq!(bench.read("merged"), "1\n2\n3\n4\nfive\n");
    assert_eq!((bench.read("clash").as_str(), bench.read("clash.offshoot-00000000").as_str()), ("z\n", "x\n"));
    assert_eq!((report.merged.len(), report.conflicts.len()), (1, 1), "{report:?}");
    assert_eq!(bench.names(), ["clash", "clash.offshoot-00000000", "merged"]);
}

#[test]
fn a_foreign_change_between_two_calls_survives_the_way_back_before_both() {
    let mut bench = Bench::new();
    bench.write("f", "1\n2\n3\n4\n5\n6\n7\n");
    let start = bench.leaf;
    bench.edit("f", "one\n2\n3\n4\n5\n6\n7\n");
    bench.write("f", "one\n2\n3\nFOUR\n5\n6\n7\n");
    bench.edit("f", "one\n2\n3\nFOUR\n5\n6\nseven\n");
    bench.restore(start);
    assert_eq!(bench.read("f"), "1\n2\n3\nFOUR\n5\n6\n7\n");
}

/// A command in the background changes files between two calls: they go back with the conversation. Without one, they are a stranger's.
#[test]
fn what_changes_between_calls_while_a_command_runs_in_the_background_is_owned_and_names_it() {
    let mut bench = Bench::new();
    for name in ["both", "known", "unknown", "gone"] {
        bench.write(name, "one\n");
    }
    let start = bench.bash(|root| fs::write(root.join("known"), "two\n").unwrap());
    let end = bench.bash_beside(
        |root| {
            for name in ["both", "known", "unknown", "new"] {
                fs::write(root.join(name), "of the background\n").unwrap();
            }
            fs::remove_file(root.join("gone")).unwrap();
        },
        |root| fs::write(root.join("both"), "of the call\n").unwrap(),
    );
    let set = ChangeSet::read(bench.nodes[end].data.as_ref().unwrap()).unwrap();
    let calls: Vec<&str> = set.calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!((calls, set.count), (vec!["bash", "background"], 5));
    bench.restore(start);
    let files = |bench: &Bench| ["both", "known", "unknown", "new", "gone"].map(|name| bench.read(name));
    assert_eq!(files(&bench), ["one\n", "two\n", "one\n", "-", "one\n"]);
    bench.restore(end);
    let after = ["of the call\n", "of the background\n", "of the background\n", "of the background\n", "-"];
    assert_eq!(files(&bench), after);
    // Files that came from another entry meanwhile are not what the background did.
    bench.restore(start);
    bench.recorder.workspace().set_position("s", "elsewhere").unwrap();
    let quiet = bench.bash_beside(|_| (), |root| fs::write(root.join("last"), "x\n").unwrap());
    assert_eq!(ChangeSet::read(bench.nodes[quiet].data.as_ref().unwrap()).unwrap().count, 1);
    // Nothing ran: what changed is a stranger's, and stays.
    bench.write("unknown", "a stranger's\n");
    let before = bench.leaf;
    bench.bash(|root| fs::write(root.join("last"), "y\n").unwrap());
    bench.restore(before);
    assert_eq!(bench.read("unknown"), "a stranger's\n");
}

/// On a file system that does not tell cases apart, the old name would be the file with the new one.
#[test]
fn names_that_change_in_case_alone_come_back() {
    let mut bench = Bench::new();
    bench.write("a.txt", "one\n");
    bench.write("sub/b", "b\n");
    let start = bench.leaf;
    let (before, after) = (["a.txt", "sub/b"], ["A.txt", "Sub/b"]);
    let ran = bench.bash(|root| {
        for (from, to) in [("a.txt", "A.txt"), ("sub", "Sub")] {
            fs::rename(root.join(from), root.join("between")).unwrap();
            fs::rename(root.join("between"), root.join(to)).unwrap();
        }
    });
    for (entry, names) in [(start, before), (ran, after), (start, before)] {
        let report = bench.restore(entry);
        assert_eq!((report.written.len(), report.removed.len(), report.conflicts.len()), (2, 2, 0), "{report:?}");
        assert_eq!(copy_of(&bench.root()).into_keys().collect::<Vec<_>>(), names.map(std::path::PathBuf::from));
        assert_eq!((bench.read(names[0]).as_str(), bench.read(names[1]).as_str()), ("one\n", "b\n"));
    }
}
