//! What git has need not be stored: it is read from git's objects when a call changes it.

use std::fs;
use std::process::Command;

use offshoot_files::FileLimits;

use super::bench::{Bench, copy_of};

fn git(bench: &Bench, words: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=false"]).args(words);
    let output = command.current_dir(bench.root()).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn stored(bench: &Bench) -> u64 {
    bench.recorder.workspace().store().size().contents
}

/// A repository with three files, of which git keeps one in another form.
fn repository() -> Bench {
    let bench = Bench::new();
    git(&bench, &["init", "-q"]);
    bench.write(".gitattributes", "crlf text eol=crlf\n");
    bench.write("clean", "as committed\n");
    bench.write("gone", "as committed, too\n");
    bench.write("crlf", "one\r\ntwo\r\n");
    git(&bench, &["add", "."]);
    git(&bench, &["commit", "-qm", "x"]);
    bench
}

#[test]
fn clean_files_come_from_git_and_all_others_from_the_store() {
    for is_packed in [false, true] {
        let mut bench = repository();
        if is_packed {
            git(&bench, &["gc", "-q"]);
        }
        bench.write("dirty", "committed\n");
        git(&bench, &["add", "."]);
        git(&bench, &["commit", "-qm", "y"]);
        bench.write("dirty", "since changed\n");
        bench.write("untracked", "x\n");
        let (start, before) = (bench.leaf, copy_of(&bench.root()));
        bench.recorder.make_ready().unwrap();
        assert_eq!(stored(&bench), 3, "the changed and the new file, and the one that git keeps otherwise");
        bench.bash(|root| {
            for name in ["clean", "dirty", "untracked", "crlf"] {
                fs::write(root.join(name), "changed by a call\n").unwrap();
            }
            fs::remove_file(root.join("gone")).unwrap();
        });
        // What git forgets since makes no difference: the entry has its contents.
        fs::remove_dir_all(bench.root().join(".git/objects")).unwrap();
        bench.restore(start);
        let is_own = |path: &std::path::PathBuf| !path.starts_with(".git");
        let files = |copy: super::bench::Copy| copy.into_iter().filter(|(path, _)| is_own(path)).collect::<Vec<_>>();
        assert_eq!(files(copy_of(&bench.root())), files(before), "packed: {is_packed}");
    }
}

#[test]
fn what_git_has_lost_before_a_call_changes_it_is_not_covered_and_stays() {
    let mut bench = repository();
    let start = bench.leaf;
    bench.recorder.make_ready().unwrap();
    fs::remove_dir_all(bench.root().join(".git/objects")).unwrap();
    bench.bash(|root| fs::write(root.join("clean"), "changed by a call\n").unwrap());
    let report = bench.restore(start);
    assert_eq!((report.left.len(), bench.read("clean").as_str()), (1, "changed by a call\n"), "{report:?}");
    assert!(report.left[0].why.contains("git does not have"), "{report:?}");
}

/// The next session takes what was seen, also what only git has.
#[test]
fn a_second_session_knows_what_git_has() {
    let mut bench = repository();
    bench.recorder.make_ready().unwrap();
    bench.recorder = Bench::recorder(bench.dir.path(), "t", FileLimits::default());
    let start = bench.leaf;
    bench.bash(|root| fs::write(root.join("clean"), "changed by a call\n").unwrap());
    bench.restore(start);
    assert_eq!(bench.read("clean"), "as committed\n");
}

/// Of 50 bytes: only what is stored makes a folder too large.
#[test]
fn a_large_repository_is_covered_and_as_many_other_files_are_not() {
    for is_tracked in [true, false] {
        let limits = FileLimits { stored: 30, ..FileLimits::default() };
        let mut bench = Bench::with(limits);
        git(&bench, &["init", "-q"]);
        for number in 0..20 {
            bench.write(&format!("f{number}"), &format!("{number}\n"));
        }
        if is_tracked {
            git(&bench, &["add", "."]);
            git(&bench, &["commit", "-qm", "x"]);
        }
        let start = bench.leaf;
        bench.bash(|root| fs::write(root.join("f7"), "changed by a call\n").unwrap());
        assert_eq!(bench.recorder.take_partial(), !is_tracked);
        bench.restore(start);
        assert_eq!(bench.read("f7"), if is_tracked { "7\n" } else { "changed by a call\n" });
    }
}

/// As git-lfs does, a filter keeps a pointer in git's objects and the content on disk.
#[test]
fn what_a_filter_keeps_in_another_form_comes_back_from_the_store() {
    let mut bench = repository();
    git(&bench, &["config", "filter.lfs.clean", "cut -c 1-7"]);
    git(&bench, &["config", "filter.lfs.smudge", "cat"]);
    bench.write(".gitattributes", "big filter=lfs\n");
    bench.write("big", "pointer, and the content of a large file\n");
    git(&bench, &["add", "."]);
    git(&bench, &["commit", "-qm", "y"]);
    let (start, before) = (bench.leaf, bench.read("big"));
    bench.bash(|root| fs::write(root.join("big"), "changed by a call\n").unwrap());
    bench.restore(start);
    assert_eq!(bench.read("big"), before);
}

#[test]
fn nothing_of_git_changes_and_what_a_rule_names_is_left_out_though_git_tracks_it() {
    let mut bench = repository();
    bench.write(".gitignore", "*.log\n");
    bench.write("kept.log", "one\n");
    git(&bench, &["add", "-f", "."]);
    git(&bench, &["commit", "-qm", "y"]);
    let start = bench.leaf;
    let ran = bench.bash(|root| {
        fs::write(root.join("clean"), "changed by a call\n").unwrap();
        fs::write(root.join("kept.log"), "two\n").unwrap();
    });
    let of_git = |bench: &Bench| copy_of(&bench.root().join(".git"));
    let before = of_git(&bench);
    for (entry, clean) in [(start, "as committed\n"), (ran, "changed by a call\n")] {
        bench.restore(entry);
        assert_eq!((bench.read("clean").as_str(), bench.read("kept.log").as_str()), (clean, "two\n"));
        assert!(of_git(&bench) == before, "nothing of git's folder changes");
    }
}
