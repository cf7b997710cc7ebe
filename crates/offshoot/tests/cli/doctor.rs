//! `offshoot doctor`.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use crate::world::{SAMPLE, World, message, talk, text};

const PI: &str = ".pi/agent/sessions";

/// The modes that a careful program leaves.
fn private(world: &World) {
    use std::os::unix::fs::PermissionsExt as _;
    let mut folders = vec![world.home().join(".local")];
    while let Some(folder) = folders.pop() {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            folders.extend(Some(path).filter(|path| path.is_dir()));
        }
    }
}

/// The commands that the doctor names for a session.
fn commands(world: &World, session: &str) -> Vec<String> {
    let found = world.stdout(&format!("doctor {session} --json"));
    let said = found.split("\"commands\":[").skip(1).flat_map(|rest| rest.split(']').next().unwrap().split("\",\""));
    said.map(|command| command.trim_matches('"').replace("\\\"", "\"")).filter(|command| !command.is_empty()).collect()
}

/// Runs a command that the doctor named as a person would: in a shell.
fn shell(world: &World, command: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_offshoot"));
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", command]).current_dir(world.work()).env_clear().env("PATH", path).env("HOME", world.home());
    world.shown(&shell.output().unwrap())
}

#[test]
fn a_session_that_shows_says_how_it_is_named() {
    let world = World::new();
    world.own("0000aaaa-1", &[&talk("why?")[0]]);
    assert_snapshot!(world.run("doctor 0000aaaa"), @"
    [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl
      fits by start of its id, id 0000aaaa-1
      `offshoot list` shows it
      pi and oh-my-pi do not list it: it is in offshoot's folder
        offshoot show [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl
        pi --session [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl
    ");
}

#[test]
fn sessions_of_other_folders_and_of_folders_that_are_gone() {
    let world = World::new();
    let other = world.home().join("other");
    fs::create_dir(&other).unwrap();
    world.session(PI, "0000aaaa-1", &other, &[]);
    world.session(PI, "0000aaaa-2", Path::new("/srv/renamed"), &[&talk("before")[0]]);
    assert_snapshot!(world.run("doctor 0000aaaa"), @"
    [HOME]/.pi/agent/sessions/--srv-renamed--/2026-01-01T00-00-00-000Z_0000aaaa-2.jsonl
      fits by start of its id, id 0000aaaa-2
      it is a session of /srv/renamed, a folder that does not exist any more
        offshoot show [HOME]/.pi/agent/sessions/--srv-renamed--/2026-01-01T00-00-00-000Z_0000aaaa-2.jsonl
        offshoot fork [HOME]/.pi/agent/sessions/--srv-renamed--/2026-01-01T00-00-00-000Z_0000aaaa-2.jsonl --all --cwd .

    [HOME]/.pi/agent/sessions/--[ROOT]-home-other--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl
      fits by start of its id, id 0000aaaa-1
      it is a session of [HOME]/other: `list` without --all leaves it out here
        offshoot list --all
        offshoot show [HOME]/.pi/agent/sessions/--[ROOT]-home-other--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl
    ");
    assert_snapshot!(world.run("doctor 0000aaaa-2 --json"), @r#"{"session":"0000aaaa-2","found":[{"path":"[HOME]/.pi/agent/sessions/--srv-renamed--/2026-01-01T00-00-00-000Z_0000aaaa-2.jsonl","fits":"id","id":"0000aaaa-2","name":null,"cwd":"/srv/renamed","reasons":[{"code":"folder-gone","message":"it is a session of /srv/renamed, a folder that does not exist any more"}],"commands":["offshoot show [HOME]/.pi/agent/sessions/--srv-renamed--/2026-01-01T00-00-00-000Z_0000aaaa-2.jsonl","offshoot fork [HOME]/.pi/agent/sessions/--srv-renamed--/2026-01-01T00-00-00-000Z_0000aaaa-2.jsonl --all --cwd ."]}],"unread":[]}"#);
    // What it names works: the session is one of this folder afterwards.
    for command in commands(&world, "0000aaaa-2") {
        shell(&world, &command);
    }
    assert!(world.stdout("list").contains("before"));
}

#[test]
fn a_session_in_the_wrong_folder() {
    let world = World::new();
    let path = world.session(PI, "0000aaaa-1", &world.work(), &[]);
    let wrong = path.parent().unwrap().with_file_name("--old-name--");
    fs::rename(path.parent().unwrap(), &wrong).unwrap();
    assert_snapshot!(world.run("doctor 0000aaaa-1"), @"
    [HOME]/.pi/agent/sessions/--old-name--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl
      fits by id, id 0000aaaa-1
      it is a session of this folder in the folder of other sessions: only `list --all` shows it
        offshoot list --all
        offshoot show [HOME]/.pi/agent/sessions/--old-name--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl
    ");
    // The other way round: pi goes by the folder, offshoot by the header.
    let here = world.session(PI, "0000bbbb-1", &world.work(), &[]);
    fs::write(&here, text("0000bbbb-1", "/srv/other", &[])).unwrap();
    assert_snapshot!(world.run("doctor 0000bbbb-1"), @"
    [HOME]/.pi/agent/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000bbbb-1.jsonl
      fits by id, id 0000bbbb-1
      it is a session of /srv/other, a folder that does not exist any more
      pi lists it here because of its folder
        offshoot show [HOME]/.pi/agent/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000bbbb-1.jsonl
        offshoot fork [HOME]/.pi/agent/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000bbbb-1.jsonl --all --cwd .
    ");
}

#[test]
fn files_that_are_no_sessions_any_more() {
    let world = World::new();
    let [question, answer] = talk("why?");
    let file = world.own("0000aaaa-1", &[&question, &answer]);
    let whole = fs::read_to_string(&file).unwrap();
    let (header, rest) = whole.split_once('\n').unwrap();
    let place = |name: &str, text: &str| fs::write(file.with_file_name(name), text).unwrap();
    fs::remove_file(&file).unwrap();
    place("2026-01-01_lost-empty.jsonl", "");
    let link = file.with_file_name("2026-01-01_lost-link.jsonl");
    std::os::unix::fs::symlink(&link, &link).unwrap();
    place("2026-01-01_lost-zeros.jsonl", "\0\0\0\0");
    place("2026-01-01_lost-headless.jsonl", rest);
    place("2026-01-01_lost-late.jsonl", &format!("{rest}{header}\n"));
    place("2026-01-01_lost-renamed.json", &whole);
    assert_snapshot!(world.run("doctor lost-"), @r#"
    [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01_lost-empty.jsonl
      fits by file name
      it is empty

    [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01_lost-headless.jsonl
      fits by file name
      no line of it is a session header
        (echo '{"type":"session","version":3,"id":"lost-headless"}'; cat [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01_lost-headless.jsonl) > recovered.jsonl
        offshoot import recovered.jsonl

    [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01_lost-late.jsonl
      fits by file name, id 0000aaaa-1
      its header is in line 3, after other records
        (sed -n 3p [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01_lost-late.jsonl; sed 3d [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01_lost-late.jsonl) > recovered.jsonl
        offshoot import recovered.jsonl

    [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01_lost-link.jsonl
      fits by file name
      it cannot be read: Too many levels of symbolic links (os error 40)
        ls -ld [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01_lost-link.jsonl
        chmod u+rw [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01_lost-link.jsonl

    [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01_lost-renamed.json
      fits by file name, id 0000aaaa-1
      its name does not end in .jsonl
        offshoot show [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01_lost-renamed.json
        mv -n [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01_lost-renamed.json [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01_lost-renamed.jsonl

    [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01_lost-zeros.jsonl
      fits by file name
      it contains bytes, but no record
        offshoot check [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01_lost-zeros.jsonl
    "#);
    for (session, words) in [("lost-headless", "why?"), ("lost-late", "why?"), ("lost-renamed", "why?")] {
        let commands = commands(&world, session);
        commands.iter().take(2).for_each(|command| drop(shell(&world, command)));
        fs::remove_file(world.work().join("recovered.jsonl")).unwrap_or_default();
        assert!(world.stdout("list --json").contains(words), "{session}: {commands:?}");
    }
}

#[test]
fn what_stands_beside_a_session_counts_too() {
    let world = World::new();
    let [question, answer] = talk("why?");
    let file = world.own("0000aaaa-1", &["no json", &question, &answer]);
    let name = file.to_str().unwrap().to_owned();
    world.stdout(&format!("repair {name}"));
    fs::remove_file(&file).unwrap();
    let spill = world.home().join(".local/state/offshoot/spill");
    fs::create_dir_all(&spill).unwrap();
    let head = format!(r#"{{"type":"offshoot.spill","version":1,"sessionId":"0000aaaa-1","file":"{name}"}}"#);
    fs::write(spill.join("x.jsonl"), format!("{head}\n{}\n", message("cccc3333", None, 12, "user", "kept"))).unwrap();
    assert_snapshot!(world.run("doctor 0000aaaa-1"), @"
    [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl.bak
      fits by id, id 0000aaaa-1
      it contains the old bytes of a session that was upgraded or repaired
        offshoot show [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl.bak

    [HOME]/.local/state/offshoot/spill/x.jsonl
      fits by id, id 0000aaaa-1
      1 entry of [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl could not be written to it, and waits here
        offshoot repair [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl

    [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl.quarantine
      fits by file name
      it contains lines that `repair` removed from a session
        cat [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl.quarantine
    ");
}

#[test]
fn folders_that_a_variable_or_an_option_passes_over() {
    let world = World::new();
    world.own("0000aaaa-1", &[]);
    world.session(PI, "0000aaaa-2", &world.work(), &[]);
    world.session(".omp/profiles/other/agent/sessions", "0000aaaa-3", &world.work(), &[]);
    let output = world.command(&["doctor", "0000aaaa"]).env("PI_CODING_AGENT_SESSION_DIR", world.work()).output();
    assert_snapshot!(world.shown(&output.unwrap()), @"
    [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl
      fits by start of its id, id 0000aaaa-1
      `offshoot list` shows it
      pi and oh-my-pi do not list it: it is in offshoot's folder
        offshoot show [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl
        pi --session [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl

    [HOME]/.omp/profiles/other/agent/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-3.jsonl
      fits by start of its id, id 0000aaaa-3
      lists do not read that folder: it is a profile of oh-my-pi that OMP_PROFILE does not name
        offshoot show [HOME]/.omp/profiles/other/agent/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-3.jsonl
        offshoot list --all --session-dir [HOME]/.omp/profiles/other/agent/sessions/--[ROOT]-home-work--

    [HOME]/.pi/agent/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-2.jsonl
      fits by start of its id, id 0000aaaa-2
      lists do not read that folder: PI_CODING_AGENT_SESSION_DIR names another folder
        offshoot show [HOME]/.pi/agent/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-2.jsonl
        offshoot list --all --session-dir [HOME]/.pi/agent/sessions/--[ROOT]-home-work--
    ");
    assert_snapshot!(world.run("doctor 0000aaaa-1 --session-dir ."), @"
    [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl
      fits by id, id 0000aaaa-1
      lists do not read that folder: --session-dir names another folder
      pi and oh-my-pi do not list it: it is in offshoot's folder
        offshoot show [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl
        offshoot list --all --session-dir [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--
        pi --session [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl
    ");
}

#[test]
fn files_outside_and_below() {
    let world = World::new();
    world.write("sample.jsonl", SAMPLE);
    let parent = world.session(".omp/agent/sessions", "0000aaaa-1", &world.work(), &[]).with_extension("");
    fs::create_dir(&parent).unwrap();
    fs::write(parent.join("helper.jsonl"), text("0000aaaa-9", "/w", &[])).unwrap();
    assert_snapshot!(world.run("doctor sample"), @"
    [WORK]/sample.jsonl
      fits by path, id 019bbbd8-3100-7c42-9d1a-6f20b7e4a581, name word count off by the blanks
      it is outside every session folder, so `list` does not show it
        offshoot show [WORK]/sample.jsonl
        offshoot import [WORK]/sample.jsonl
    ");
    assert_snapshot!(world.run("doctor helper"), @"
    [HOME]/.omp/agent/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1/helper.jsonl
      fits by file name, id 0000aaaa-9
      it is deeper than the session folders, so `list` does not show it; oh-my-pi keeps sessions of subagents there
        offshoot show [HOME]/.omp/agent/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1/helper.jsonl
    ");
}

#[test]
fn nothing_that_resembles_it() {
    let world = World::new();
    world.own("0000aaaa-1", &[]);
    assert_snapshot!(world.run("doctor ffff"), @r#"
    [stderr]
    error: no file resembles "ffff"
    hint: `offshoot doctor` shows which folders were searched
    [exit code 3]
    "#);
    assert_snapshot!(world.run("doctor ffff --json"), @r#"
    {"session":"ffff","found":[],"unread":[]}
    [stderr]
    error: no file resembles "ffff"
    hint: `offshoot doctor` shows which folders were searched
    [exit code 3]
    "#);
}

#[test]
fn how_everything_stands() {
    let world = World::new();
    world.own("0000aaaa-1", &[]);
    private(&world);
    assert_snapshot!(world.run("doctor"), @"
    [HOME]/.local/share/offshoot/sessions  1 session (offshoot, default)
    [HOME]/.pi/agent/sessions  not there (pi, default)
    [HOME]/.omp/agent/sessions  not there (omp, default)
    [HOME]/.cache/offshoot/index  0 files, 0 bytes (side indexes)
    [HOME]/.cache/offshoot/catalogue.sqlite  absent, 0 sessions, 0 bytes (catalogue)
    [HOME]/.local/state/offshoot/spill  0 entries (could not be written)
    ");
    let path = world.session(PI, "0000aaaa-2", &world.work(), &[]);
    fs::write(path.with_file_name("empty.jsonl"), "").unwrap();
    let folder = world.home().join(".pi/agent/sessions/--srv-loop--");
    std::os::unix::fs::symlink(&folder, &folder).unwrap();
    fs::create_dir_all(world.home().join(".cache/offshoot")).unwrap();
    fs::write(world.home().join(".cache/offshoot/catalogue.sqlite"), "damaged").unwrap();
    assert_snapshot!(world.run("doctor"), @"
    [HOME]/.local/share/offshoot/sessions  1 session (offshoot, default)
    [HOME]/.pi/agent/sessions  1 session (pi, default)
      [HOME]/.pi/agent/sessions/--[ROOT]-home-work--/empty.jsonl: it is empty [empty]
    [HOME]/.omp/agent/sessions  not there (omp, default)
    [HOME]/.cache/offshoot/index  0 files, 0 bytes (side indexes)
    [HOME]/.cache/offshoot/catalogue.sqlite  damaged: file is not a database, 0 sessions, 7 bytes (catalogue)
    [HOME]/.local/state/offshoot/spill  0 entries (could not be written)
    others may read 0755 [HOME]/.cache/offshoot
    others may read 0644 [HOME]/.cache/offshoot/catalogue.sqlite
        chmod go= FILE
    [stderr]
    warning: could not read folder [HOME]/.pi/agent/sessions/--srv-loop--: Too many levels of symbolic links (os error 40)
    ");
    assert_snapshot!(world.run("doctor --json"), @r#"
    {"roots":[{"path":"[HOME]/.local/share/offshoot/sessions","of":"offshoot","namedBy":"default","listed":true,"exists":true,"sessions":1,"hidden":[],"unread":[]},{"path":"[HOME]/.pi/agent/sessions","of":"pi","namedBy":"default","listed":true,"exists":true,"sessions":1,"hidden":[{"path":"[HOME]/.pi/agent/sessions/--[ROOT]-home-work--/empty.jsonl","code":"empty","message":"it is empty","commands":[]}],"unread":["could not read folder [HOME]/.pi/agent/sessions/--srv-loop--: Too many levels of symbolic links (os error 40)"]},{"path":"[HOME]/.omp/agent/sessions","of":"omp","namedBy":"default","listed":true,"exists":false,"sessions":0,"hidden":[],"unread":[]}],"index":{"path":"[HOME]/.cache/offshoot/index","files":0,"bytes":0},"catalogue":{"path":"[HOME]/.cache/offshoot/catalogue.sqlite","state":"damaged","why":"file is not a database","sessions":0,"bytes":7},"spill":{"path":"[HOME]/.local/state/offshoot/spill","files":[],"unread":[]},"pi":null,"omp":null,"keys":[],"open":[{"path":"[HOME]/.cache/offshoot","mode":"0755"},{"path":"[HOME]/.cache/offshoot/catalogue.sqlite","mode":"0644"}]}
    "#);
}

/// The folder of the side indexes is nobody else's, also where it was there before.
#[test]
fn the_index_folder_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let long = message("aaaa1111", None, 10, "user", &"x".repeat(2 << 20));
    world.own("0000aaaa-1", &[&long]);
    private(&world);
    for begun in [None, Some(0o755)] {
        let index = world.home().join(".cache/offshoot/index");
        if let Some(mode) = begun {
            fs::remove_dir_all(&index).unwrap();
            fs::create_dir(&index).unwrap();
            fs::set_permissions(&index, fs::Permissions::from_mode(mode)).unwrap();
            assert!(world.stdout("doctor").contains("others may read 0755"));
        }
        world.stdout("tree 0000aaaa-1");
        let said = world.stdout("doctor");
        assert!(!said.contains("index  0 files") && !said.contains("others may read"), "{said}");
    }
}

#[test]
fn nothing_is_written() {
    let world = World::with_sample();
    world.own("0000aaaa-1", &["no json"]);
    let before = world.snapshot();
    for line in ["doctor", "doctor --json", "doctor 0000", "doctor sample --json", "doctor nothing"] {
        world.run(line);
    }
    assert_eq!(world.snapshot(), before);
    assert!(!world.home().join(".cache").exists());
    // Caches that are there stay as they are, too.
    world.stdout("list --all");
    let cache = || {
        let files = fs::read_dir(world.home().join(".cache/offshoot")).unwrap().map(|entry| entry.unwrap().path());
        files.map(|path| (fs::read(&path).unwrap(), path)).collect::<std::collections::BTreeSet<_>>()
    };
    let before = cache();
    assert!(world.stdout("doctor").contains("sound, 1 session, "));
    assert!(cache() == before, "the caches have changed");
}

/// A person remembers words, in no order, and lists show the first message of a session without a name.
#[test]
fn words_of_a_name_or_of_the_first_message_find_a_session() {
    let world = World::new();
    world.own("0000aaaa-1", &[&talk("Why is the tide so late?")[0]]);
    let found = world.run("doctor 'late tide'");
    assert!(found.contains("fits by words of its name or first message, id 0000aaaa-1"), "{found}");
    world.run("name 0000aaaa-1 'moon and sea'");
    assert!(world.run("doctor 'SEA moon'").contains("fits by words of its name or first message"));
    assert!(world.run("doctor 'late sun'").ends_with("[exit code 3]\n"));
}
