//! Work brought back from a branch in the terminal, and what the model is sent afterwards.

use offshoot_agent::testing::script::{Gate, Reply};
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::Terminal;
use crate::world::{message, text};

/// Two branches below the first answer: `tried` on the one that was left, `other` on the current one.
fn parted(more: impl IntoIterator<Item = Reply>, size: (u16, u16)) -> (Talk, Terminal) {
    let replies = ["The first answer.", "Found by trying.", "Of the other."].map(Reply::text);
    let talk = Talk::new(replies.into_iter().chain(more));
    let mut terminal = Terminal::offshoot(&talk, &["first question"], size);
    terminal.until_text("The first answer.").until_idle().send("try it\r");
    terminal.until_text("Found by trying.").until_idle();
    terminal.send(&format!("/switch {}\r", id_of(&talk, "The first answer.")));
    terminal.until("the first answer's place", |screen| screen.contains("⑂ The first answer."));
    terminal.send("other way\r");
    terminal.until_text("Of the other.").until_idle();
    (talk, terminal)
}

fn id_of(talk: &Talk, text: &str) -> String {
    let line = talk.lines().into_iter().find(|line| line.to_string().contains(text)).unwrap();
    line["id"].as_str().unwrap().to_owned()
}

fn asked(talk: &Talk) -> String {
    talk.server.seen().pop().unwrap().json()["messages"].to_string()
}

fn leave(mut terminal: Terminal, talk: &Talk) {
    terminal.send("\x15\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

#[test]
fn a_pick_is_copied_once_and_not_undone_after_a_message() {
    let (talk, mut terminal) = parted([Reply::text("With both."), Reply::text("Without it.")], (80, 24));
    let branch = id_of(&talk, "Found by trying.");
    terminal.send("/pick zzzz\r");
    terminal.until("that there is none", |screen| screen.contains("zzzz") && screen.contains("/tree"));
    terminal.send(&format!("\x15/pick ..{branch}\r"));
    terminal.until_text("picked 2 entries");
    terminal.send(&format!("/pick {branch}\r"));
    terminal.until_text("all of it is here already");
    terminal.send("and now\r");
    terminal.until_text("With both.").until_idle();
    let request = asked(&talk);
    assert!(request.contains("Of the other.") && request.contains("Found by trying."), "{request}");
    terminal.send("/undo\r");
    // The new message blocks it: the refusal names the way back, and not the open file.
    let refusal = |screen: &str| {
        let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        screen.contains("not undone: entry ") && screen.contains("goes back anyway") && !screen.contains(".jsonl")
    };
    terminal.until("the refusal", refusal);
    leave(terminal, &talk);
}

#[test]
fn a_branch_is_merged_while_a_row_says_so_and_what_is_typed_waits() {
    let gate = Gate::new();
    let summary = Reply { gate: Some((0, gate.clone())), ..Reply::text("## Goal\nTrying led nowhere.") };
    let (talk, mut terminal) = parted([summary, Reply::text("Then so.")], (60, 20));
    let branch = id_of(&talk, "Found by trying.");
    terminal.send(&format!("/merge {branch} mind the tests\r"));
    terminal.until_text("summarising the branch").send("go on\r");
    terminal.until("what waits", |screen| screen.contains("teering: go on"));
    // The row is there before the request.
    terminal.while_not("the request", || {
        let request = asked(&talk);
        request.contains("Found by trying.") && request.contains("mind the tests")
    });
    gate.open();
    terminal.until_text("Then so.").until_idle();
    let request = asked(&talk);
    assert!(request.contains("Trying led nowhere.") && !request.contains("Found by trying."), "{request}");
    terminal.send(&format!("/merge {branch}\r"));
    terminal.until_text("nothing new on that branch");
    leave(terminal, &talk);
}

#[test]
fn commands_typed_while_a_branch_is_merged_are_refused_in_words_that_stay() {
    for size in [(80, 24), (60, 20)] {
        let gate = Gate::new();
        let summary = Reply { gate: Some((0, gate.clone())), ..Reply::text("## Goal\nTrying led nowhere.") };
        let (talk, mut terminal) = parted([summary], size);
        let branch = id_of(&talk, "Found by trying.");
        terminal.send(&format!("/merge {branch}\r"));
        terminal.until_text("summarising the branch").send("/undo\r");
        let is_refused = |screen: &str| words(screen).contains("not undone: a summary is being written");
        terminal.until("the refusal", is_refused).send(&format!("/switch {branch}\r"));
        let is_refused_too = |screen: &str| words(screen).contains("not moved: a summary is being written");
        terminal.until("the second refusal", is_refused_too).until_text("summarising the branch");
        gate.open();
        terminal.until_text("merged 2 entries").until_idle();
        let screen = words(&terminal.screen());
        let place = |text: &str| screen.find(text).unwrap_or_else(|| panic!("{size:?}: {text}\n{screen}"));
        let order = ["not undone: a summary", "not moved: a summary", "Trying led nowhere.", "merged 2 entries"];
        assert!(order.map(place).is_sorted(), "{size:?}\n{screen}");
        leave(terminal, &talk);
    }
}

/// The words of the screen, whatever wraps.
fn words(screen: &str) -> String {
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn escape_stops_a_merge_and_nothing_has_changed() {
    let summary = Reply { gate: Some((0, Gate::new())), ..Reply::text("Never.") };
    let (talk, mut terminal) = parted([summary], (80, 24));
    let before = talk.lines().len();
    terminal.send(&format!("/merge {}\r", id_of(&talk, "Found by trying.")));
    terminal.until_text("summarising the branch").send("\x1b");
    terminal.until_text("nothing has changed");
    assert_eq!(talk.lines().len(), before);
    leave(terminal, &talk);
}

#[test]
fn the_tree_marks_a_range_picks_it_and_shows_where_it_comes_from() {
    for size in [(80, 24), (60, 20)] {
        let (talk, mut terminal) = parted([], size);
        terminal.send("/tree\r");
        terminal.until_text("Session tree").send("Found by");
        let is_marked = |screen: &str| screen.lines().any(|row| row.starts_with("›A"));
        terminal.until_text("(1/1)").send("M");
        terminal.until("a mark", is_marked).send("\x1b");
        terminal.until("the whole tree", |screen| screen.lines().any(|row| row.trim() == "Type to search:"));
        terminal.send("\x1b[AR");
        terminal.until("two marks", |screen| is_marked(screen) && screen.contains("\n B"));
        // The plan, before it is written.
        terminal.until_text("pick: 2 entries").send("C");
        terminal.until_text("picked 2 entries");
        terminal.send("/tree\r");
        terminal.until_text("Session tree").until_text("⇠ ");
        let copies = talk.lines().iter().filter(|line| line.get("pickedFrom").is_some()).count();
        assert_eq!(copies, 2, "{size:?}");
        // To the original.
        terminal.send("O");
        terminal.until("the original", |screen| {
            screen.lines().any(|row| row.starts_with('›') && row.contains("Found by trying.") && !row.contains('⇠'))
        });
        terminal.send("U");
        terminal.until_text("undid a pick");
        terminal.send("/tree\r");
        terminal.until_text("Session tree");
        terminal
            .until("no copy on the path", |screen| !screen.lines().any(|row| row.contains('•') && row.contains('⇠')));
        terminal.send("\x1b");
        terminal.until("the tree closed", |screen| !screen.contains("Session tree"));
        leave(terminal, &talk);
    }
}

#[test]
fn a_merge_in_the_tree_is_undone_and_redone() {
    for size in [(80, 24), (60, 20)] {
        let (talk, mut terminal) = parted([Reply::text("## Found\nTrying led nowhere.")], size);
        terminal.send("/tree\r");
        terminal.until_text("Session tree").send("Found by");
        terminal.until_text("(1/1)").until_text("merge: 2 entries").send("G");
        terminal.until_text("merged 2 entries").until_text("Trying led nowhere.").until_idle();
        let merged = talk.lines().len();
        terminal.send("/undo\r");
        terminal.until_text("undid a merge").until_idle().send("/undo\r");
        terminal.until_text("undid an undo").until_idle();
        assert_eq!(talk.lines().len(), merged + 2, "{size:?}: an undo is one line");
        terminal.send("/tree\r");
        terminal.until_text("Session tree").until_text("⇠ summary of ").send("\x1b");
        terminal.until("the tree closed", |screen| !screen.contains("Session tree"));
        leave(terminal, &talk);
    }
}

#[test]
fn two_branches_are_compared_and_the_bill_is_shown_in_the_tree() {
    let (talk, mut terminal) = parted([], (80, 24));
    terminal.send(&format!("/compare {}\r", id_of(&talk, "Found by trying.")));
    terminal.until_text("Two branches").until_text("Only in A").until_text("Only in B");
    terminal.send("\x1b");
    terminal.until_text("Session tree").until("the bill", |screen| screen.contains(" tokens"));
    terminal.send("\x1b");
    terminal.until("the tree closed", |screen| !screen.contains("Session tree"));
    leave(terminal, &talk);
}

#[test]
fn undo_without_an_operation_and_uncompact_without_a_compaction_say_so() {
    let talk = Talk::new([Reply::text("The first answer.")]);
    let mut terminal = Terminal::offshoot(&talk, &["first question"], (80, 24));
    terminal.until_text("The first answer.").until_idle().send("/undo\r");
    terminal.until_text("there is nothing to undo").send("/uncompact\r");
    terminal.until_text("the current branch has no compaction");
    leave(terminal, &talk);
}

/// One branch wrote a file with two lines, the other changed one of them and made a second file.
#[test]
fn the_files_of_two_branches_are_compared() {
    let write =
        |id: &str, path: &str, content: &str| Reply::call("write", id, json!({"path": path, "content": content}));
    for size in [(80, 24), (50, 16)] {
        let talk = Talk::new([
            Reply::text("The first answer."),
            write("c1", "notes.txt", "one\ntwo\n"),
            Reply::text("Found by trying."),
            write("c2", "notes.txt", "one\nthree\n"),
            write("c3", "more.txt", "\u{1b}[31mred\n"),
            Reply::text("Of the other."),
        ]);
        let mut terminal = Terminal::offshoot(&talk, &["first question"], size);
        terminal.until_text("The first answer.").until_idle().send("try it\r");
        terminal.until_text("Found by trying.").until_idle();
        terminal.send(&format!("/switch {}\r", id_of(&talk, "The first answer.")));
        terminal.until_text("at another place").until_idle();
        terminal.send("other way\r");
        terminal.until_text("Of the other.").until_idle();
        terminal.send(&format!("/compare {}\r", id_of(&talk, "Found by trying.")));
        terminal.until_text("Two branches").send("\r");
        terminal.until_text("  -two").until_text("  +three").until_text("more.txt").until_text("  +␛[31mred");
        assert!(!terminal.screen().contains("Only in A"), "{}", terminal.screen());
        terminal.send("\r");
        terminal.until_text("Only in A").send("\r");
        terminal.until_text("  +three").send("\x1b");
        terminal.until_text("Only in A").send("\x1b");
        terminal.until_text("Session tree").send("\x1b");
        terminal.until("the tree closed", |screen| !screen.contains("Session tree"));
        leave(terminal, &talk);
    }
}

#[test]
fn the_source_of_a_copy_from_another_session_is_named_or_not_here() {
    let talk = Talk::new([]);
    let work = talk.world.work().display().to_string();
    let entries = |id: &str, entry: &str, said: &str| text(id, &work, &[&message(entry, None, 1, "user", said)]);
    let there = talk.world.write("there.jsonl", entries("there-0001", "aaaa1111", "said there"));
    talk.world.write("here.jsonl", entries("here-0001", "bbbb1111", "said here"));
    let stored = talk.world.stdout("import there.jsonl").trim().to_owned();
    talk.world.run("pick here.jsonl aaaa1111 --from there.jsonl");
    for (is_gone, shown) in
        [(false, "source: entry aaaa · /resume there-0001"), (true, "source not here: entry aaaa1111 of session")]
    {
        if is_gone {
            std::fs::remove_file(&stored).unwrap();
            std::fs::remove_file(&there).unwrap();
        }
        let mut terminal = Terminal::offshoot(&talk, &["--session", "here.jsonl"], (80, 24));
        terminal.until_text("said there").send("/tree\r");
        terminal.until_text("⇠ aaaa1111").send("O");
        terminal.until_text(shown).send("\x1b");
        terminal.until("the tree closed", |screen| !screen.contains("Session tree"));
        leave(terminal, &talk);
    }
}
