//! The real program on a system that fails: limits, folders and disks without room, and programs that are killed.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;

use crate::world::{World, message, text};

pub(crate) fn entry(size: usize) -> String {
    let said = "x".repeat(size);
    format!("{{\"type\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"{said}\"}}}}\n")
}

/// A command inside a line of bash, which replaces `"$@"`.
pub(crate) fn in_bash(inner: &Command, line: &str) -> Command {
    let mut bash = Command::new("bash");
    bash.args(["-c", line, "bash"]).arg(inner.get_program()).args(inner.get_args());
    bash.current_dir(inner.get_current_dir().unwrap()).env_clear();
    bash.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    bash.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    bash.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    bash
}

/// Runs a command that may stop reading before the end of its input.
pub(crate) fn fed(mut command: Command, input: &str) -> Output {
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let feeder = thread::spawn(move || stdin.write_all(input.as_bytes()).is_ok());
    let output = child.wait_with_output().unwrap();
    let _whole_input_was_read = feeder.join().unwrap();
    output
}

/// The ids in the answers of `append`: what was acknowledged.
pub(crate) fn acknowledged(stdout: &[u8]) -> Vec<String> {
    let whole = stdout.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let answers = whole.map(|line| String::from_utf8_lossy(line).into_owned());
    let written = answers.filter(|answer| !answer.contains("\"spilled\""));
    written.filter_map(|answer| Some(answer.strip_prefix("{\"id\":\"")?.split('"').next()?.to_owned())).collect()
}

/// The ids of those that were kept outside the session.
fn spilled(stdout: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(stdout).into_owned();
    let kept = text.lines().filter(|answer| answer.contains("\"spilled\""));
    kept.filter_map(|answer| Some(answer.strip_prefix("{\"id\":\"")?.split('"').next()?.to_owned())).collect()
}

pub(crate) fn ids(file: &Path) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned();
    let lines = text.lines().filter(|line| line.ends_with('}'));
    lines.filter_map(|line| Some(line.split("\"id\":\"").nth(1)?.split('"').next()?.to_owned())).collect()
}

/// How many lines of a file are damaged; nothing else may be wrong with it.
pub(crate) fn damaged_lines(world: &World, file: &Path) -> usize {
    let output = world.command(&["check", file.to_str().unwrap(), "--json"]).output().unwrap();
    let found = String::from_utf8(output.stdout).unwrap();
    let count = |what: &str| found.matches(what).count();
    let damaged = count("\"code\":\"torn-tail\"") + count("\"code\":\"malformed-line\"");
    assert_eq!(count("\"severity\":\"error\""), damaged, "{found}");
    assert!(found.contains("\"diagnostics\":["), "{found}");
    damaged
}

pub(crate) fn works_again(world: &World, file: &Path) {
    let before = fs::read(file).unwrap();
    let after = fed(append(world, file), &entry(10));
    assert!(after.status.success(), "{after:?}");
    assert!(fs::read(file).unwrap().starts_with(&before), "an append changes nothing before it");
    assert!(ids(file).is_superset(&acknowledged(&after.stdout).into_iter().collect()));
}

pub(crate) fn append(world: &World, file: &Path) -> Command {
    let mut command = world.command(&["append", file.to_str().unwrap()]);
    command.stdin(Stdio::piped());
    command
}

pub(crate) fn session(world: &World) -> PathBuf {
    world.write("s.jsonl", text("s", "/w", &[&message("aaaa1111", None, 10, "user", "q")]))
}

#[test]
fn a_write_that_a_limit_stops_is_taken_back() {
    let world = World::new();
    let file = session(&world);
    let before = fs::read(&file).unwrap();
    let limited = in_bash(&append(&world, &file), "trap '' XFSZ; ulimit -f 8; exec \"$@\"");
    let output = fed(limited, &entry(1500).repeat(10));
    let given = acknowledged(&output.stdout);
    let shown = world.shown(&output);
    assert!(shown.contains("could not append to") && shown.ends_with("[exit code 1]\n"), "{shown}");
    assert!((2..10).contains(&given.len()), "some went in: {given:?}");
    let after = fs::read(&file).unwrap();
    assert!(after.starts_with(&before) && after.ends_with(b"}\n"), "nothing of the failed write is left");
    assert_eq!(after.iter().filter(|byte| **byte == b'\n').count(), 2 + given.len());
    assert_eq!(damaged_lines(&world, &file), 0);
    // As many as the limit allows are kept outside, and come back.
    let kept = spilled(&output.stdout);
    assert!((2..10 - given.len()).contains(&kept.len()), "{kept:?}");
    assert!(shown.contains("entries are kept in [HOME]/.local/state/offshoot/spill/s-"), "{shown}");
    let list = world.run("repair s.jsonl --spilled");
    assert!(list.starts_with(&format!("[WORK]/s.jsonl: {} entries\n", kept.len())), "{list}");
    assert_eq!(list.matches("  message  xxx").count(), kept.len(), "{list}");
    let all = world.stdout("repair --spilled --json");
    assert!(kept.iter().all(|id| all.contains(id)), "{all}");
    let held = fs::read(&file).unwrap();
    world.run("repair s.jsonl --copy elsewhere.jsonl");
    let copy = world.work().join("elsewhere.jsonl");
    assert!(ids(&copy).is_superset(&given.iter().chain(&kept).cloned().collect()), "the copy has all of them");
    assert_eq!(fs::read(&file).unwrap(), held, "the session stays as it is");
    let shown = world.run(&format!("repair {}", file.display()));
    assert!(
        shown.contains(&format!("{} entries that could not be written were put into the session", kept.len())),
        "{shown}"
    );
    assert!(kept.iter().all(|id| ids(&file).contains(id)));
    works_again(&world, &file);
}

/// The signal of the limit ended the program in the middle of a line, and the entries that followed were lost.
#[test]
fn a_limit_on_files_is_a_failed_write_and_no_end() {
    let world = World::new();
    let file = session(&world);
    let output = fed(in_bash(&append(&world, &file), "ulimit -f 8; exec \"$@\""), &entry(1500).repeat(10));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let shown = world.shown(&output);
    assert!(shown.contains("could not append to") && shown.contains("entries are kept in"), "{shown}");
    assert!(fs::read(&file).unwrap().ends_with(b"}\n"), "nothing of the failed write is left");
    assert!(!spilled(&output.stdout).is_empty());
}

#[test]
fn what_waits_outside_a_session_can_be_discarded() {
    let world = World::new();
    let file = session(&world);
    let limited = in_bash(&append(&world, &file), "trap '' XFSZ; ulimit -f 1; exec \"$@\"");
    let kept = spilled(&fed(limited, &entry(400).repeat(3)).stdout);
    assert!(!kept.is_empty());
    let shown = world.run("repair s.jsonl --discard");
    assert_eq!(shown, format!("[WORK]/s.jsonl: {} discarded\n", counted(kept.len())));
    assert_eq!(world.run("repair s.jsonl --discard"), "nothing to do: no entries wait outside this session\n");
    assert_eq!(world.run("repair --spilled"), "nothing to do: no entries wait outside their session\n");
    works_again(&world, &file);
}

fn counted(entries: usize) -> String {
    if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") }
}

/// The entry was put aside for a session that could never take it, and every later command spoke of it.
#[test]
fn an_append_in_a_deleted_folder_is_refused() {
    let world = World::new();
    let inner = world.command(&["append", "s.jsonl"]);
    let output = fed(in_bash(&inner, "mkdir gone; cd gone; rmdir ../gone; exec \"$@\""), &entry(10));
    insta::assert_snapshot!(world.shown(&output), @"
    [stderr]
    error: the working directory does not exist any more
    hint: go to another folder, or name the session by its whole path
    [exit code 3]
    ");
    assert!(!world.home().join(".local/state").exists(), "nothing is kept");
}

pub(crate) fn say(what: &str) {
    let _written = writeln!(std::io::stderr(), "{what}");
}

/// Root may write anywhere: then another user is asked for.
#[test]
fn a_folder_that_cannot_be_written_is_said_and_read() {
    let world = World::new();
    let file = session(&world);
    let before = fs::read(&file).unwrap();
    let program = world.write("program", fs::read(env!("CARGO_BIN_EXE_offshoot")).unwrap());
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let is_root = fs::metadata(&file).unwrap().uid() == 0;
    let root = world.home().parent().unwrap().to_path_buf();
    for (path, mode) in [(&root, 0o755), (&world.home(), 0o755), (&file, 0o444), (&world.work(), 0o555)] {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
    let run = |words: &[&str], input: &str| {
        let mut inner = Command::new(&program);
        inner.args(words).current_dir(world.work()).env("HOME", world.home());
        let as_nobody = "exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$@\"";
        fed(in_bash(&inner, if is_root { as_nobody } else { "exec \"$@\"" }), input)
    };
    let read = run(&["check", "s.jsonl"], "");
    if is_root && !read.status.success() {
        say("NOT TESTED: a read-only folder: this is root, and setpriv does not make it another user");
    } else {
        assert_eq!(String::from_utf8_lossy(&read.stdout), "s.jsonl: ok\n");
        for name in ["s.jsonl", "new.jsonl"] {
            let shown = world.shown(&run(&["append", name], &entry(10)));
            assert!(shown.contains("Permission denied") && shown.ends_with("[exit code 1]\n"), "{shown}");
        }
        assert_eq!(fs::read(&file).unwrap(), before);
        assert_eq!(fs::read_dir(world.work()).unwrap().count(), 2, "no new file, no temporary one");
    }
    fs::set_permissions(world.work(), Permissions::from_mode(0o755)).unwrap();
}

/// A file system that is unmounted at the end, whatever happens.
pub(crate) struct Mounted(pub(crate) PathBuf);

impl Mounted {
    pub(crate) fn tmpfs(at: PathBuf) -> Option<Self> {
        fs::create_dir_all(&at).unwrap();
        let output = Command::new("mount").args(["-t", "tmpfs", "-o", "size=320k", "tmpfs"]).arg(&at).output();
        output.is_ok_and(|output| output.status.success()).then(|| Self(at))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _status = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn on_a_full_disk_the_file_stays_as_it_was_until_there_is_room() {
    let world = World::new();
    let Some(disk) = Mounted::tmpfs(world.work().join("small")) else {
        return say("NOT TESTED: a full disk: mounting a file system is not allowed here");
    };
    let file = disk.0.join("s.jsonl");
    fs::write(disk.0.join("filler"), vec![0; 232 << 10]).unwrap();
    fs::write(&file, text("s", "/w", &[&message("aaaa1111", None, 10, "user", "q")])).unwrap();
    let output = fed(append(&world, &file), &entry(9000).repeat(20));
    let shown = world.shown(&output);
    assert!(shown.contains("No space left on device") && shown.ends_with("[exit code 1]\n"), "{shown}");
    let given = acknowledged(&output.stdout);
    let kept = spilled(&output.stdout);
    assert!(given.len() >= 2 && kept.len() >= 2, "{given:?}");
    assert_eq!(given.len() + kept.len(), 20, "each is in the session or kept outside it");
    assert!(shown.contains("could not be written to [WORK]/small/s.jsonl and wait outside it"), "{shown}");
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 2 + given.len());
    assert_eq!(damaged_lines(&world, &file), 0);
    let new_file = disk.0.join("new.jsonl");
    let new = fed(append(&world, &new_file), &entry(60_000));
    assert_eq!(new.status.code(), Some(1));
    assert_eq!(fs::read_dir(&disk.0).unwrap().count(), 2, "a session without room for its first entry is no file");
    fs::remove_file(disk.0.join("filler")).unwrap();
    works_again(&world, &file);
    let shown = world.run(&format!("check {}", file.display()));
    assert!(shown.contains("ok"), "{shown}");
    for (file, kept) in [(&file, kept), (&new_file, spilled(&new.stdout))] {
        assert!(!kept.is_empty());
        let shown = world.run(&format!("repair {}", file.display()));
        assert!(shown.contains("put into the session"), "{shown}");
        assert!(kept.iter().all(|id| ids(file).contains(id)));
        assert_eq!(damaged_lines(&world, file), 0);
        let shown = world.run(&format!("repair {}", file.display()));
        assert!(shown.contains("nothing to do"), "once: {shown}");
    }
}

/// Killed at any moment, bringing back what was spilled does it once: nothing is missing, nothing there twice.
#[test]
fn a_repair_that_is_killed_while_it_brings_entries_back_goes_on_next_time() {
    let mut cut = 0;
    for round in 0..12_u32 {
        let world = World::new();
        let file = session(&world);
        let limited = in_bash(&append(&world, &file), "trap '' XFSZ; ulimit -f 400; exec \"$@\"");
        let large = message("bbbb2222", Some("aaaa1111"), 11, "assistant", &"x".repeat(400 << 10));
        fs::write(&file, fs::read_to_string(&file).unwrap() + &large + "\n").unwrap();
        let kept = spilled(&fed(limited, &entry(500).repeat(300)).stdout);
        assert_eq!(kept.len(), 300);
        let place =
            fs::read_dir(world.home().join(".local/state/offshoot/spill")).unwrap().next().unwrap().unwrap().path();
        let (before, path) = (fs::metadata(&file).unwrap().len(), file.to_str().unwrap());
        let mut child = world.command(&["repair", path]).spawn().unwrap();
        // From the moment it opens the file to the moment it has written.
        let mut looks = 0;
        while child.try_wait().unwrap().is_none() && looks < round * 20 && fs::metadata(&file).unwrap().len() == before
        {
            looks += 1;
            thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        cut += u32::from(place.exists());
        world.run(&format!("repair {path}"));
        assert!(!place.exists());
        assert_eq!(
            fs::read_to_string(&file).unwrap().lines().count(),
            3 + kept.len(),
            "round {round}: none is there twice"
        );
        assert!(ids(&file).is_superset(&kept.into_iter().collect()), "round {round}: none is missing");
        assert_eq!(damaged_lines(&world, &file), 0);
    }
    say(&format!("bringing back: killed 12 times, {cut} times before it was done"));
    assert!(cut > 0);
}

/// How long the words of the killed writers are.
const SIZES: [usize; 5] = [100, 700, 200_000, 50, 3000];

/// How many lines are not what a writer said or a piece of it: the bytes of two that stand in one line.
fn mixed_lines(file: &Path) -> usize {
    let text = String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned();
    let is_said = |line: &&str| {
        let words = line.split("\"content\":\"").nth(1).and_then(|rest| rest.strip_suffix("\"}}"));
        words.is_some_and(|words| SIZES.contains(&words.len()) && words.bytes().all(|byte| byte == b'x'))
    };
    let is_piece = |line: &&str| line.matches("\"type\"").count() <= 1 && !line.ends_with('}');
    text.lines().skip(2).filter(|line| !is_said(line) && !is_piece(line)).count()
}

/// Feeds a writer for ever, small entries and now and then a large one.
fn feed(child: &mut Child) -> thread::JoinHandle<()> {
    let mut stdin = child.stdin.take().unwrap();
    thread::spawn(move || while SIZES.iter().all(|size| stdin.write_all(entry(*size).as_bytes()).is_ok()) {})
}

/// Four programs write to one file and are killed; answers what was acknowledged.
fn killed_writers(world: &World, file: &Path, round: usize) -> Vec<String> {
    let mut writers: Vec<Child> = (0..4).map(|_| append(world, file).spawn().unwrap()).collect();
    let feeders: Vec<_> = writers.iter_mut().map(feed).collect();
    let mut outputs: Vec<_> = writers.iter_mut().map(|writer| BufReader::new(writer.stdout.take().unwrap())).collect();
    let mut answers = vec![Vec::new(); 4];
    // Each round at another moment: after so many answers of one of them.
    for _ in 0..=round % 7 {
        outputs[round % 4].read_until(b'\n', &mut answers[round % 4]).unwrap();
    }
    for writer in &mut writers {
        writer.kill().unwrap();
    }
    for (output, answer) in outputs.iter_mut().zip(&mut answers) {
        while output.read_until(b'\n', answer).unwrap() > 0 {}
    }
    for writer in &mut writers {
        assert_eq!(writer.wait().unwrap().signal(), Some(9));
    }
    feeders.into_iter().for_each(|feeder| feeder.join().unwrap());
    answers.iter().flat_map(|answers| acknowledged(answers)).collect()
}

/// `OFFSHOOT_KILL_ROUNDS` asks for more rounds than the usual 20.
#[test]
fn four_writers_of_one_file_are_killed_and_nothing_acknowledged_is_lost() {
    let rounds = std::env::var("OFFSHOOT_KILL_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(20);
    let world = World::new();
    let (mut given, mut damaged) = (0, 0);
    for first in (0..rounds).step_by(10) {
        let file = session(&world);
        let mut known = BTreeSet::new();
        for round in first..rounds.min(first + 10) {
            known.extend(killed_writers(&world, &file, round));
            let lost: Vec<_> = known.difference(&ids(&file)).cloned().collect();
            assert_eq!(lost, [] as [String; 0], "round {round}");
            assert_eq!(mixed_lines(&file), 0, "round {round}: bytes of two writers in one line");
            assert!(damaged_lines(&world, &file) <= 4 * (round - first + 1), "one torn line for each kill at most");
        }
        works_again(&world, &file);
        given += known.len();
        damaged += damaged_lines(&world, &file);
    }
    say(&format!("{rounds} rounds, {} kills: {given} acknowledged, 0 lost, {damaged} torn lines", rounds * 4));
    assert!(given > rounds);
}

/// How much of a file to come a program has written beside the old one.
fn written_beside(folder: &Path) -> u64 {
    let beside = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let lengths = beside.filter(|path| path.to_string_lossy().ends_with(".tmp")).map(fs::metadata);
    lengths.filter_map(|meta| Some(meta.ok()?.len())).max().unwrap_or(0)
}

/// Kills a program that rewrites a file, later from round to round; the file is the old one or the new one.
fn killed_rewrites(words: &[&str], old: &str) {
    let world = World::new();
    let file = world.write("s.jsonl", old);
    assert!(world.command(words).output().unwrap().status.success());
    let new = fs::read(&file).unwrap();
    assert_ne!(new, old.as_bytes());
    let (mut kept, rounds) = (0, 12);
    for round in 0..rounds {
        let world = World::new();
        let file = world.write("s.jsonl", old);
        let mut child = world.command(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let enough = new.len() as u64 * round / (rounds - 4);
        while written_beside(&world.work()) < enough && child.try_wait().unwrap().is_none() {
            thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let now = fs::read(&file).unwrap();
        assert!(now == old.as_bytes() || now == new, "round {round}: the file is whole, old or new");
        kept += u64::from(now == old.as_bytes());
        for entry in fs::read_dir(world.work()).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.to_string_lossy().ends_with(".bak") {
                assert_eq!(fs::read(&entry).unwrap(), old.as_bytes(), "round {round}: the backup is whole");
            }
        }
        assert!(fed(append(&world, &file), &entry(10)).status.success(), "round {round}: work goes on");
    }
    say(&format!("{words:?}: killed {rounds} times, {kept} times before the new file took its place"));
    assert!(kept > 0, "no kill came in time");
}

#[test]
fn an_upgrade_that_is_killed_leaves_the_old_file_or_the_new_one() {
    let line =
        r#"{"type":"message","timestamp":"2025-11-01T10:00:01.000Z","message":{"role":"user","content":"words"}}"#;
    let header = r#"{"type":"session","id":"old-one","timestamp":"2025-11-01T10:00:00.000Z","cwd":"/old"}"#;
    killed_rewrites(&["migrate", "s.jsonl"], &format!("{header}\n{}", format!("{line}\n").repeat(5000)));
}

#[test]
fn a_repair_that_is_killed_leaves_the_old_file_or_the_new_one() {
    let entries: Vec<String> =
        (0..5000)
            .map(|at| {
                if at % 3 == 0 {
                    "no json".to_owned()
                } else {
                    message(&format!("{at:08x}"), None, 10, "user", "words")
                }
            })
            .collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    killed_rewrites(&["repair", "s.jsonl"], &text("s", "/w", &entries));
}
