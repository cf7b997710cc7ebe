//! `offshoot keep`.

use insta::assert_snapshot;

use crate::agent::Talk;
use crate::terminal::Terminal;
use crate::world::World;

const NAME: &str = "11111111-2222-4222-8222-222222222222";

fn with_claude() -> (World, std::path::PathBuf) {
    let world = World::new();
    let file = old_session(&world);
    (world, file)
}

/// One that Claude Code may delete at any time.
fn old_session(world: &World) -> std::path::PathBuf {
    let file = world.home().join(format!(".claude/projects/-w/{NAME}.jsonl"));
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let line =
        r#"{"type":"user","sessionId":"s","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"why?"}}"#;
    std::fs::write(&file, format!("{line}\n")).unwrap();
    let modified = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_767_312_000);
    std::fs::File::options().append(true).open(&file).unwrap().set_modified(modified).unwrap();
    file
}

#[test]
fn nothing_is_copied_before_somebody_says_so_and_a_copy_outlives_its_source() {
    let (world, file) = with_claude();
    assert_snapshot!(world.run("keep run"), @"
    [stderr]
    error: no agent's sessions are copied
    hint: `offshoot keep on` has sessions copied
    [exit code 1]
    ");
    assert_snapshot!(world.run("keep on --dry-run"), @"would copy sessions of other agents");
    assert_eq!(world.run("keep list"), "[stderr]\nnote: there are no copies\n");
    assert_snapshot!(world.run("keep on"), @"sessions of other agents are copied from now on: 1 session copied, 0.0 MB");
    assert_snapshot!(world.run("keep run"), @"0 sessions copied, 0.0 MB");
    let bytes = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(world.stdout("keep list").contains(", gone"));
    let restored = world.run(&format!("keep restore {}", &NAME[..6]));
    assert!(restored.starts_with("restored ") && restored.contains("note: writing "), "{restored}");
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    assert!(world.run("keep restore 1111").contains("exit code"), "never over a file");
    assert!(world.stdout("keep forget 1111").starts_with("forgot 1111"));
    assert_snapshot!(world.run("keep run"), @"0 sessions copied, 0.0 MB");
    assert_snapshot!(world.run("keep off"), @"no session is copied from now on; the copies stay");
}

#[test]
fn what_is_missing_or_too_much_is_named() {
    let world = World::new();
    assert!(world.run("keep on --agent pi").contains("[exit code 2]"));
    assert_snapshot!(world.run("keep restore"), @"
    [stderr]
    error: a name says which copy is meant
    hint: `offshoot keep list` lists the copies
    [exit code 2]
    ");
    assert_snapshot!(world.run("keep forget nobody"), @r#"
    [stderr]
    error: no copy is named "nobody"
    hint: `offshoot keep list` lists the copies
    [exit code 3]
    "#);
    assert!(world.run("keep --json list").contains(r#""copies":[]"#));
}

/// Also below the folder, and in later runs. Copies that there are stay.
#[test]
fn sessions_of_excluded_folders_are_not_copied() {
    let (world, file) = with_claude();
    let line = std::fs::read_to_string(&file).unwrap().replace(r#""type""#, r#""cwd":"/w/secret/app","type""#);
    std::fs::write(&file, &line).unwrap();
    // No later command copies at the same time: the last one did so just now.
    let archive = world.home().join(".local/share/offshoot/archive");
    std::fs::create_dir_all(&archive).unwrap();
    std::fs::write(archive.join("last-run"), "1769947200000").unwrap();
    let out = world.run("keep on --exclude /w/secret/");
    assert!(out.contains("0 sessions copied, 0.0 MB; 1 session of excluded folders not"), "{out}");
    assert!(world.run("keep run").contains("1 session of excluded folders not"));
    assert!(world.run("keep list").contains("note: sessions of /w/secret are not copied"));
    assert!(world.run("keep on --exclude ~/elsewhere --exclude **/x").contains("1 session copied"));
    let json = world.run("keep --json list");
    assert!(json.contains(r#"/elsewhere","**/x"]"#) && !json.contains('~'), "{json}");
    std::fs::write(&file, line.clone() + &line.replace("u1", "u2")).unwrap();
    assert!(world.run("keep on --exclude **/app").contains("0 sessions copied"));
    assert!(world.stdout("keep list").contains("1111"), "the copy stays");
    assert!(world.run("keep on --exclude=").contains("1 session copied"));
}

#[test]
fn a_glob_that_fits_nothing_is_refused() {
    let world = World::new();
    for (glob, why) in [("private", "begin it with /, ~ or **/"), ("/a[", "--exclude: ")] {
        let out = world.run(&format!("keep on --exclude {glob}"));
        assert!(out.contains(why) && out.contains("[exit code 2]"), "{out}");
    }
    assert!(world.run("keep run --exclude /a").contains("--exclude goes with `keep on`"));
}

/// Without an answer nothing is copied, and nobody is asked a second time.
#[test]
fn whoever_begins_a_conversation_is_asked_once_before_something_is_deleted() {
    for (typed, is_kept) in [("y\r", true), ("n\r", false), ("\r", false)] {
        let talk = Talk::new([]);
        old_session(&talk.world);
        let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
        terminal.until_text("Keep copies? Claude Code will delete a session within 3 days.").until_text("Enter:");
        terminal.send(typed);
        terminal.until_text("m1").until_idle().send("\x04");
        assert!(terminal.ended());
        let runs = talk.world.run("keep run");
        assert_eq!(!runs.contains("no agent's sessions are copied"), is_kept, "{runs}");
        let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
        terminal.until_text("m1").until_idle().send("\x04");
        assert!(terminal.ended() && !terminal.raw().contains("Keep copies?"));
    }
}
