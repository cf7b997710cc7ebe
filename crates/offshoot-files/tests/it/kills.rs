//! A recording that is killed before any system call that writes or changes a name: no byte of anybody is lost, and the next one goes on.
//!
//! The test runs itself again below `strace`. There is one thread that records, so that the n-th call of it is the n-th call.

use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use offshoot_files::{Collection, ContentHash, FileLimits, FileState, ReachedContents, Recorder, RestoreFor, fold};

use super::bench::{Bench, Copy, Kept, call, copy_of};

/// The folder in which the second run records.
const KILLED_IN: &str = "RECORDING_KILLED_IN";
const OWN_NAME: &str = "kills::a_recording_that_is_killed_before_any_write_loses_no_byte";

/// The system calls that write, or that change a name.
const WRITING: [&str; 11] = [
    "write",
    "pwrite64",
    "rename",
    "renameat2",
    "linkat",
    "unlink",
    "mkdir",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fchmod",
];

/// What the calls do, each in one step.
const STEPS: [fn(&Path); 4] = [
    |dir| put(dir, "a.txt", "two\n"),
    |dir| put(dir, "a.txt", "three\n"),
    |dir| fs::remove_file(dir.join("work/gone.txt")).unwrap(),
    |dir| put(dir, "sub/new.txt", "new\n"),
];

/// A file is whole, or as it was.
fn put(dir: &Path, name: &str, text: &str) {
    let (scratch, path) = (dir.join("scratch"), dir.join("work").join(name));
    fs::write(&scratch, text).unwrap();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::rename(scratch, path).unwrap();
}

fn begin(dir: &Path) {
    fs::create_dir_all(dir.join("work/sub")).unwrap();
    [("a.txt", "one\n"), ("gone.txt", "still here\n"), ("sub/other.txt", "other\n")]
        .iter()
        .for_each(|(name, text)| put(dir, name, text));
}

fn recorder(dir: &Path) -> Recorder {
    Bench::recorder(dir, "s", FileLimits::default())
}

/// The data of the entries that are in the session whole.
fn session(dir: &Path) -> Vec<String> {
    let text = fs::read_to_string(dir.join("session")).unwrap_or_default();
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(str::to_owned).collect()
}

/// Ends a batch and appends its entry.
fn append(dir: &Path, recorder: &Recorder, batch: offshoot_files::BatchId) {
    let Some(changes) = recorder.end(batch).unwrap() else { return };
    let known = session(dir);
    let expected = recorder.expected(false, &known);
    let data = recorder.compose(changes, &expected).unwrap();
    let mut file = fs::OpenOptions::new().append(true).create(true).open(dir.join("session")).unwrap();
    file.write_all(format!("{data}\n").as_bytes()).unwrap();
    recorder.recorded(&format!("{:08}", known.len() + 1), &data, expected).unwrap();
}

/// An edit and a command, each with its entry.
fn record_in(dir: &Path) {
    let recorder = recorder(dir);
    let batch = recorder.begin();
    recorder.before_change_of(batch, call("edit"), &dir.join("work/a.txt")).unwrap();
    STEPS[0](dir);
    append(dir, &recorder, batch);
    let batch = recorder.begin();
    recorder.before_any_change(batch, call("bash")).unwrap();
    STEPS[1..].iter().for_each(|step| step(dir));
    append(dir, &recorder, batch);
}

/// Runs the recording below `strace`. Returns whether it was killed.
fn killed(dir: &Path, call: &str, when: usize) -> bool {
    let mut command = Command::new("strace");
    command.args(["-f", "-o", "/dev/null", "-e", &format!("inject={call}:signal=KILL:when={when}"), "--"]);
    command.arg(std::env::current_exe().unwrap()).args(["--exact", OWN_NAME, "--test-threads=1", "--nocapture"]);
    let output = command.env(KILLED_IN, dir).stdin(Stdio::null()).output().unwrap();
    let is_killed = output.status.signal().is_some();
    assert!(is_killed || output.status.success(), "{call} {when}: {output:?}");
    is_killed
}

fn can_trace() -> bool {
    let probe = Command::new("strace").args(["-f", "-o", "/dev/null", "-e", "trace=write", "true"]).output();
    probe.is_ok_and(|output| output.status.success())
}

/// Goes from the newest entry to before the first one, or the other way.
fn restore(dir: &Path, recorder: &Recorder, up: &[String], down: &[String]) {
    let workspace = recorder.workspace();
    let known = workspace.way(&up.iter().rev().cloned().collect::<Vec<_>>(), down);
    assert_eq!((known.foreign, known.unreadable), (0, 0), "{}", dir.display());
    let of = RestoreFor { session: "s".to_owned(), file: None, entry: "1".to_owned(), moves_from: None, appends: None };
    workspace.finish(workspace.begin(workspace.plan(known.way).unwrap(), of).unwrap()).unwrap();
}

/// The folder without the files beside those that stay, and these.
fn apart(dir: &Path) -> (Copy, Copy) {
    copy_of(&dir.join("work")).into_iter().partition(|(path, _)| !path.to_string_lossy().contains(".offshoot-"))
}

fn is(state: &FileState, found: Option<&Kept>) -> bool {
    match found {
        Some(Kept::File(bytes, _)) => state.hash() == Some(&ContentHash::of(bytes)),
        Some(Kept::Link(_)) => false,
        None => *state == FileState::Absent,
    }
}

/// What holds after a kill. Returns how many entries there were.
fn check(dir: &Path, states: &[Copy], what: &str) -> usize {
    let left = copy_of(&dir.join("work"));
    assert!(states.contains(&left), "{what}: files are as the calls left them: {left:?}");
    let recorder = recorder(dir);
    let workspace = recorder.workspace();
    let at = |datas: &[String]| fold(workspace.way(&[], datas).way.down);
    let (entries, known) = (session(dir).len(), at(&session(dir)));
    // The next program goes on, and knows what there is.
    let batch = recorder.begin();
    recorder.before_any_change(batch, call("bash")).unwrap();
    put(dir, "z.txt", "later\n");
    append(dir, &recorder, batch);
    let (datas, now) = (session(dir), copy_of(&dir.join("work")));
    assert_eq!(datas.len(), entries + 1, "{what}");
    assert!(at(&datas).iter().all(|(path, state)| is(state, now.get(&path.to_path()))), "{what}");
    restore(dir, &recorder, &datas, &[]);
    let (before, beside) = apart(dir);
    let paths = now.keys().chain(states[0].keys()).filter(|path| *path != Path::new("z.txt"));
    for path in paths {
        let recorded = known.iter().find(|(known, _)| known.to_path() == **path);
        // What was recorded comes back. All else stays.
        let comes = recorded.is_some_and(|(_, state)| is(state, left.get(path)));
        assert_eq!(before.get(path), if comes { states[0].get(path) } else { left.get(path) }, "{what}: {path:?}");
    }
    assert!(!before.contains_key(Path::new("z.txt")), "{what}");
    assert!(
        beside.values().all(|kept| matches!(kept, Kept::File(bytes, _) if bytes == b"one\n")),
        "{what}: {beside:?}"
    );
    for (path, kept) in states[0].iter().chain(&now) {
        let Kept::File(bytes, _) = kept else { unreachable!("{what}: {kept:?}") };
        let is_stored = workspace.store().get(&ContentHash::of(bytes)).is_ok();
        assert!(before.get(path) == Some(kept) || is_stored, "{what}: {}", path.display());
    }
    restore(dir, &recorder, &[], &datas);
    assert_eq!(apart(dir).0, now, "{what}: and back");
    // What was half written goes when it is old.
    let day_later = |file: PathBuf| file.metadata().unwrap().modified().unwrap() + Duration::from_secs(25 * 3600);
    let later = day_later(dir.join("session")).duration_since(UNIX_EPOCH).unwrap().as_millis();
    workspace.collect(&ReachedContents::default(), i64::try_from(later).unwrap(), Collection::Remove).unwrap();
    let rest: Vec<PathBuf> = copy_of(&dir.join("data")).into_keys().collect();
    let is_scratch = |path: &&PathBuf| path.file_name().unwrap().to_string_lossy().starts_with('.');
    assert_eq!(rest.iter().find(is_scratch), None, "{what}");
    entries
}

#[test]
fn a_recording_that_is_killed_before_any_write_loses_no_byte() {
    if let Some(dir) = std::env::var_os(KILLED_IN) {
        let dir = PathBuf::from(dir);
        // More than the other threads of a test ever write.
        (0..8).for_each(|_| fs::write(dir.join("scratch"), "x").unwrap());
        return record_in(&dir);
    }
    if !can_trace() {
        let said = b"NOT TESTED: recordings that are killed: strace is not installed, or may not trace here\n";
        drop(std::io::stderr().write_all(said));
        return;
    }
    let mut states = Vec::new();
    let place = tempfile::tempdir().unwrap();
    begin(place.path());
    states.push(copy_of(&place.path().join("work")));
    for step in STEPS {
        step(place.path());
        states.push(copy_of(&place.path().join("work")));
    }
    let mut kills = [0; 3];
    for call in WRITING {
        for when in 1.. {
            let place = tempfile::tempdir().unwrap();
            begin(place.path());
            if !killed(place.path(), call, when) {
                break;
            }
            kills[check(place.path(), &states, &format!("{call} {when}"))] += 1;
        }
    }
    let said = format!("recordings: {kills:?} killed before the first entry, between two, and after; 0 bytes lost\n");
    drop(std::io::stderr().write_all(said.as_bytes()));
    assert!(
        kills.iter().all(|count| *count > 3),
        "kills before the first entry, between the two, and after: {kills:?}"
    );
}
