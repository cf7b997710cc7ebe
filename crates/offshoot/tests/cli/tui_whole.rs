//! The whole of it in one piece: a conversation with thoughts, tools and a tree, resized, stopped, killed and resumed.

use offshoot_agent::testing::script::{Reply, Say};
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::{Terminal, conversation};

fn thinking(words: &str) -> Say {
    Say::Thinking { thinking: words.to_owned(), signature: Some("c2ln".to_owned()) }
}

fn text(words: &str) -> Say {
    Say::Text { text: words.to_owned() }
}

fn call(name: &str, id: &str, arguments: &serde_json::Value) -> Say {
    let arguments = arguments.as_object().unwrap().clone();
    Say::Call { call: name.to_owned(), id: id.to_owned(), arguments, signature: None }
}

fn talk() -> Talk {
    let edits = json!({"path": "notes.txt", "edits": [{"oldText": "buy milk", "newText": "buy two litres of milk"}]});
    let talk = Talk::new([
        Reply::say([
            thinking("First I look at the notes."),
            text("I look."),
            call("read", "c1", &json!({"path": "notes.txt"})),
        ]),
        Reply::say([
            text("I put it right."),
            call("edit", "c2", &edits),
            call("bash", "c3", &json!({"command": "cat notes.txt"})),
        ]),
        Reply::text("## Done\n\n| what | how much |\n|---|---|\n| milk | two litres |\n\n- one\n- two"),
        Reply::text(
            "In the cupboard: a second answer that is so long that it takes more than one row of the terminal.",
        ),
        Reply::text("## Goal\nTo find the bread."),
        Reply::text("On the table."),
        Reply::text("For ever."),
    ]);
    talk.world.write("notes.txt", "buy milk\nbuy bread\n");
    talk
}

/// The output after the last time that the conversation was shown anew.
fn last_part(whole: &str) -> Vec<String> {
    conversation(whole.rsplit("· at another place of the tree").next().unwrap())
}

#[test]
fn a_conversation_is_the_same_after_all_that_happens_to_it() {
    let talk = talk();
    let mut terminal = Terminal::shell(&talk, (80, 24));
    terminal.send(&format!("{}\r", env!("CARGO_BIN_EXE_offshoot")));
    terminal.until_text("m1").send("what do my notes say?\r");
    terminal.until_text("• two").until_idle().send("where is the bread?\r");
    terminal.until_text("terminal.").until_idle();
    assert_eq!(talk.world.read("notes.txt"), "buy two litres of milk\nbuy bread\n");

    // Back to the second question, with a summary of what is left.
    terminal.send("/tree\r");
    terminal.until_text("Session tree").send("\x1b[A");
    let is_there = |screen: &str| screen.lines().any(|row| row.starts_with('›') && row.contains("where is the bread"));
    terminal.until("the second question", is_there).send("\r");
    terminal.until_text("No summary").send("\x1b[B\r");
    terminal.until("it in the editor", |screen| {
        let is_there = screen.contains("branch summary") && screen.contains("\nwhere is the bread?\n");
        is_there && !screen.contains("Session tree")
    });
    terminal.send(" And the butter?\r");
    terminal.until_text("On the table.").until_idle();

    // Smaller, larger; stopped from within and from without.
    terminal.resize(40, 12);
    terminal.until("it in 40 columns", |screen| screen.contains(&format!("\n{}\n\n", "─".repeat(40))));
    terminal.resize(120, 40);
    let wide = format!("\n{}\n\n", "─".repeat(120));
    terminal.until("it in 120 columns", |screen| screen.contains(&wide) && screen.contains("what do my notes say?"));
    let before = conversation(&terminal.screen());
    terminal.send("half a thought\x1a");
    terminal.until("the shell", |screen| screen.contains("Stopped") && screen.ends_with("shell>"));
    terminal.send("stty -a | grep -c -e -icanon\r");
    terminal.until("a plain terminal", |screen| screen.ends_with("\n0\nshell>")).send("fg\r");
    terminal.until("the editor", |screen| screen.contains("\nhalf a thought\n"));
    terminal.send("\x03\x03");
    terminal.until("the shell", |screen| screen.ends_with("shell>"));

    // What is resumed is what was there, row for row.
    terminal.send("clear\r");
    terminal.until("an empty screen", |screen| screen == "shell>");
    terminal.send(&format!("{} -c\r", env!("CARGO_BIN_EXE_offshoot")));
    terminal.until_text("On the table.").until_idle();
    let mut shown = conversation(&terminal.screen());
    shown.retain(|row| !row.starts_with("shell>"));
    assert_eq!(shown, before);
    terminal.send("for how long?\r");
    terminal.until_text("For ever.").until_idle().send("\x04");
    terminal.until("the shell", |screen| screen.ends_with("shell>")).send("exit\r");
    assert!(terminal.ended());
    talk.no_problems();
}

/// The whole scrollback of a terminal that was killed, and of the next one.
#[test]
fn a_killed_conversation_comes_back_row_for_row() {
    let talk = talk();
    let mut terminal = Terminal::offshoot(&talk, &["what do my notes say?"], (80, 24));
    terminal.until_text("• two").until_idle().send("where is the bread?\r");
    terminal.until_text("terminal.").until_idle().send("/tree\r");
    terminal.until_text("Session tree").send("\x1b[A\x1b[A");
    terminal.until("the first answer", |screen| screen.lines().any(|row| row.starts_with('›') && row.contains("Done")));
    terminal.send("\r");
    terminal.until_text("No summary").send("\x1b[B\r");
    terminal.until("it", |screen| !screen.contains("Session tree") && screen.contains("branch summary")).until_idle();
    terminal.send("and the butter?\r");
    terminal.until_text("On the table.").until_idle();
    let before = last_part(&terminal.whole());
    terminal.kill();

    let mut resumed = Terminal::offshoot(&talk, &["-c"], (80, 24));
    resumed.until_text("On the table.").until_idle();
    let after = conversation(&resumed.whole());
    assert!(after.len() > 20, "{after:?}");
    assert_eq!(after, before);
    for part in
        ["› what do my notes say?", "∴ First I look at the notes.", "+ buy two litres of milk", "≡ branch summary"]
    {
        assert!(after.iter().any(|row| row.contains(part)), "{part}: {after:?}");
    }
    resumed.send("\x04");
    assert!(resumed.ended());
    talk.no_problems();
}
