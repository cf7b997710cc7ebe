//! A conversation on the terminal while something happens to its file: other programs write to it, replace it, take it
//! away; the disk is full.

use std::fs;
use std::path::PathBuf;

use offshoot_agent::testing::script::Reply;

use crate::agent::Talk;
use crate::terminal::Terminal;

/// The only session file.
fn file(talk: &Talk) -> PathBuf {
    let files = talk.files();
    assert_eq!(files.len(), 1, "{files:?}");
    files.into_iter().next().unwrap()
}

/// The id of the entry that holds a text.
fn id_of(talk: &Talk, text: &str) -> String {
    let line = talk.lines().into_iter().find(|line| line.to_string().contains(text)).unwrap();
    line["id"].as_str().unwrap().to_owned()
}

fn begun(replies: &[&str], size: (u16, u16)) -> (Talk, Terminal) {
    let talk = Talk::new(replies.iter().map(|reply| Reply::text(reply)));
    let mut terminal = Terminal::offshoot(&talk, &["first question"], size);
    terminal.until_text(replies[0]).until_idle();
    (talk, terminal)
}

/// `offshoot append` in another process begins a branch beside ours: a notice appears by itself, and a key goes there.
#[test]
fn newer_work_of_another_program_is_told_and_a_key_goes_there() {
    let (talk, mut terminal) = begun(&["The first answer.", "The second answer."], (80, 24));
    let parent = id_of(&talk, "first question");
    let entry = r#"{"type":"message","message":{"role":"user","content":"from elsewhere","timestamp":1}}"#;
    let mut line = talk.world.command(&["append", file(&talk).to_str().unwrap(), "--parent", &parent]);
    // Not in the very millisecond of ours.
    line.env("OFFSHOOT_NOW", "2026-02-01T12:00:05.000Z").stdin(std::process::Stdio::piped());
    let output = crate::crashes::fed(line, &format!("{entry}\n"));
    assert!(output.status.success(), "{output:?}");
    terminal.until_text("newer work: “from elsewhere”, now (alt+g)");
    // What is being written stays.
    terminal.send("a draft\x1bg");
    terminal.until("the other branch", |screen| {
        let is_there = screen.contains("› first question\n\n› from elsewhere\n") && !screen.contains("newer work");
        is_there && screen.contains("\na draft\n")
    });
    terminal.send("\x15and on\r");
    terminal.until_text("The second answer.").until_idle();
    let asked = talk.server.seen().pop().unwrap().json()["messages"].to_string();
    assert!(asked.contains("from elsewhere") && !asked.contains("The first answer."), "{asked}");
    terminal.send("\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

/// A second agent continues the same session: the answer here becomes a branch beside its own, and a notice says so.
#[test]
fn two_agents_on_one_session_lose_nothing() {
    let (talk, mut terminal) = begun(&["The first answer.", "Said elsewhere.", "The third answer."], (80, 24));
    assert_eq!(talk.run(&["-c", "-p", "the other one asks"]), "Said elsewhere.\n");
    terminal.send("the second question\r");
    terminal.until_text("The third answer.").until_idle();
    terminal.until_text("another program appended 2 entries").until_text("/switch");
    let asked = talk.server.seen().pop().unwrap().json()["messages"].to_string();
    assert!(!asked.contains("Said elsewhere."), "{asked}");
    let other = id_of(&talk, "Said elsewhere.");
    terminal.send(&format!("/switch {other}\r"));
    terminal.until("the other's words", |screen| screen.contains("› the other one asks\n\n  Said elsewhere."));
    terminal.send("\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

#[test]
fn a_file_that_was_deleted_comes_back_with_the_next_words() {
    let (talk, mut terminal) = begun(&["The first answer.", "The second answer."], (80, 24));
    let path = file(&talk);
    let before = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    terminal
        .until_text("another program deleted the session's file")
        .until("the status", |screen| screen.lines().next_back().is_some_and(|row| row.contains("deleted")));
    terminal.send("second question\r");
    terminal.until_text("The second answer.").until_idle().send("\x04");
    assert!(terminal.ended());
    assert!(fs::read(&path).unwrap().starts_with(&before));
    assert!(talk.world.stdout("show latest").contains("The second answer."));
    talk.no_problems();
}

#[test]
fn a_file_that_was_replaced_is_not_touched_and_a_copy_goes_on() {
    let (talk, mut terminal) = begun(&["The first answer.", "The second answer."], (80, 24));
    let path = file(&talk);
    let other = fs::read_to_string(&path).unwrap().replace("The first answer.", "Something else.");
    let new = talk.world.write("new", &other);
    fs::rename(new, &path).unwrap();
    terminal.until_text("another program put another file in the place of this session's").send("/clone\r");
    terminal.until_text("a new session, begun from the other").until_idle().send("second question\r");
    terminal.until_text("The second answer.").until_idle();
    let asked = talk.server.seen().pop().unwrap().json()["messages"].to_string();
    assert!(asked.contains("The first answer."), "{asked}");
    terminal.send("\x04");
    assert!(terminal.ended());
    assert_eq!(fs::read_to_string(&path).unwrap(), other);
    assert_eq!(talk.files().len(), 2);
    talk.no_problems();
}

#[test]
fn a_file_that_was_shortened_is_opened_again() {
    let (talk, mut terminal) = begun(&["The first answer.", "The second answer."], (80, 24));
    let path = file(&talk);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let shorter = lines[..lines.len() - 1].concat();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(shorter.len() as u64).unwrap();
    // The path before it wraps anywhere.
    let words = |screen: &str| screen.split_whitespace().collect::<Vec<_>>().join(" ");
    let notice = "another program shortened the file; open the session again: /resume";
    terminal.until("the notice", |screen| words(screen).contains(notice));
    let id = talk.lines()[0]["id"].as_str().unwrap().to_owned();
    terminal.send(&format!("/resume {id}\r"));
    terminal.until_text(&format!("session {id}")).until_idle().send("second question\r");
    terminal.until_text("The second answer.").until_idle().send("\x04");
    assert!(terminal.ended());
    assert!(fs::read_to_string(&path).unwrap().starts_with(&shorter));
    talk.no_problems();
}

/// The status says that words stand beside the file; once there is room, the next ones bring them in.
#[test]
fn a_full_disk_is_told_and_nothing_is_lost() {
    let talk = Talk::new([Reply::text("The first answer."), Reply::text("The third answer.")]);
    let Some(disk) = crate::crashes::Mounted::tmpfs(talk.world.work().join("small")) else {
        return crate::crashes::say("NOT TESTED: a full disk under the terminal: mounting is not allowed here");
    };
    let path = disk.0.join("s.jsonl");
    let mut terminal = with_a_question_that_does_not_fit(&talk, &disk);
    assert!(!fs::read_to_string(&path).unwrap().contains("takes room"));
    fs::remove_file(disk.0.join("filler")).unwrap();
    terminal.send("third question\r");
    terminal.until_text("The third answer.").until_idle();
    let asked = talk.server.seen().pop().unwrap().json()["messages"].to_string();
    assert!(asked.contains("takes room") && asked.contains("third question"), "{asked}");
    assert!(fs::read_to_string(&path).unwrap().contains("takes room"));
    terminal.send("\x04");
    assert!(terminal.ended());
}

/// The copy has what could not be written, on another file system and from there on without trouble.
#[test]
fn a_clone_of_a_session_on_a_full_disk_has_what_could_not_be_written() {
    let talk = Talk::new([Reply::text("The first answer."), Reply::text("The third answer.")]);
    let Some(disk) = crate::crashes::Mounted::tmpfs(talk.world.work().join("small")) else {
        return crate::crashes::say("NOT TESTED: a clone from a full disk: mounting is not allowed here");
    };
    let mut terminal = with_a_question_that_does_not_fit(&talk, &disk);
    terminal.send("/clone\r");
    terminal.until_text("first question (fork)").until_idle().send("third question\r");
    terminal.until_text("The third answer.").until_idle();
    let asked = talk.server.seen().pop().unwrap().json()["messages"].to_string();
    assert!(asked.contains("takes room") && asked.contains("third question"), "{asked}");
    let holds = |path: &std::path::Path, words| fs::read_to_string(path).unwrap().contains(words);
    assert!(!holds(&disk.0.join("s.jsonl"), "takes room"));
    let store = talk.world.home().join(".local/share/offshoot/sessions");
    let copies: Vec<_> = talk.files().into_iter().filter(|path| path.starts_with(&store)).collect();
    assert!(copies.len() == 1 && holds(&copies[0], "takes room") && holds(&copies[0], "The third answer."));
    terminal.send("\x04");
    assert!(terminal.ended());
}

/// The first question is in the file, the second one is not.
fn with_a_question_that_does_not_fit(talk: &Talk, disk: &crate::crashes::Mounted) -> Terminal {
    let path = disk.0.join("s.jsonl");
    let mut terminal = Terminal::offshoot(talk, &["--session", path.to_str().unwrap()], (80, 24));
    terminal.until_text("m1").send("first question\r");
    terminal.until_text("The first answer.").until_idle();
    fill(&disk.0.join("filler"));
    let long = "a question that takes room ".repeat(400);
    terminal.send(&format!("\x1b[200~{long}\x1b[201~\r"));
    terminal.until_text("the session cannot be written").until("the status", |screen| {
        screen.lines().next_back().is_some_and(|row| row.contains("not saved in its file"))
    });
    terminal.until_text("/clone continues with it in a copy").until_text("--copy FILE");
    terminal
}

/// Writes until there is no room for another byte.
fn fill(path: &std::path::Path) {
    use std::io::Write as _;
    let mut file = fs::File::create(path).unwrap();
    for size in [4096, 512, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
}
