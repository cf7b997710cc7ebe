//! Keys: the user's file has its effect everywhere, and what the screen says of keys is so.

use offshoot_agent::testing::script::Reply;
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::Terminal;

const F2: &str = "\x1bOQ";
const F5: &str = "\x1b[15~";
const F6: &str = "\x1b[17~";
const F7: &str = "\x1b[18~";
const F10: &str = "\x1b[21~";

/// What does not fit on the screen once it is open, or has left it, opens in the reader, where it begins.
#[test]
fn long_output_opens_in_the_reader() {
    let talk = Talk::new([
        Reply::call("bash", "c1", serde_json::json!({"command": "seq -f 'row %.0f of sixty' 60"})),
        Reply::text("Counted."),
    ]);
    let mut terminal = Terminal::offshoot(&talk, &["count the rows"], (80, 24));
    terminal.until_text("Counted.").until_idle();
    assert!(!terminal.screen().contains("row 1 of sixty"));
    terminal.send("\x0f");
    terminal.until("the beginning of the output", |screen| {
        screen.trim_start().starts_with("• $ seq")
            && screen.contains("\n  row 1 of sixty")
            && screen.contains("q leave")
    });
    terminal.send("\x1b");
    terminal.until("the conversation", |screen| screen.contains("Counted.") && screen.contains("% of")).send("\x04");
    assert!(terminal.ended());
}

#[test]
fn a_long_paste_is_one_folded_row() {
    let talk = Talk::new([Reply::text("Read.")]);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    let paste: String = (1..=500).map(|at| format!("line {at} of five hundred\n")).collect();
    terminal.until_text("m1").send(&format!("read this:\n\x1b[200~{paste}\x1b[201~\r"));
    terminal.until_text("Read.").until_idle();
    let whole = terminal.whole();
    assert!(whole.contains("› read this: … 500 more lines (ctrl+o opens)") && !whole.contains("of five"), "{whole}");
    terminal.send("\x04");
    assert!(terminal.ended());
}

#[test]
fn the_users_keys_count_in_every_list_and_are_named_there() {
    let talk = Talk::new([Reply::text("Yes.")]);
    talk.data(
        "keybindings.json",
        &json!({
            "app.tree.editLabel": "f5",
            "tui.select.confirm": "f2",
            "tui.select.cancel": "f10",
            "app.session.rename": "f6",
            "app.session.toggleSort": "f7",
            "tui.editor.deleteToLineStart": "f6",
            "app.transcript.close": "f5",
            "app.session.tree": "f7",
        }),
    );
    let mut terminal = Terminal::offshoot(&talk, &["chat", "well?"], (100, 24));
    terminal.until_text("$0.000").send(F7);
    terminal.until_text("f5 label").until_text("f2 go").send(F5);
    terminal.until_text("f2 save · f10 cancel").send(&format!("wrong{F6}here{F2}"));
    terminal.until_text("[here]").send("\x1b[27u");
    // Escape is no way out any more.
    terminal.send("zzz");
    terminal.until_text("No entries found").send(&format!("{F10}{F10}"));
    terminal.until_gone("Session tree").send("/resume\r");
    terminal.until_text("f7 sort").until_text("f2 open").until_text("(1/1)").send(F6);
    terminal.until_text("f2 saves the name · f10 leaves it").send(&format!("mine{F2}"));
    terminal.until_text("named mine").send(F7);
    terminal.until_text("Sort: recent").send(F10);
    terminal.until_text("m1").send("\x1bt");
    terminal.until_text("f5 leave").send(F5);
    terminal.until_text("m1").send("/settings\r");
    terminal.until_text("f2 change").until_text("f10 done").send(F10);
    terminal.until_text("m1").send("/thinking\r");
    terminal.until_text("How much the model thinks").send(F10);
    terminal.until_text("m1").send("/help\r");
    terminal.until_text("f10 leave").send("out of the trash");
    terminal.until_text("alt+u / ctrl+y").send(&format!("{F10}{F10}"));
    terminal.until_text("m1").send("\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

#[test]
fn what_a_summary_shall_mind_has_several_lines_and_reaches_the_model() {
    let talk = Talk::new([
        Reply::text("The first answer."),
        Reply::text("The second answer."),
        Reply::text("## Goal\nTo learn something."),
    ]);
    let mut terminal = Terminal::at_the_second_question(&talk, (80, 24));
    terminal.send("\r");
    terminal.until_text("No summary").send("3");
    terminal.until_text("What should the summary focus on?").send("the cache\x0aand \x1b");
    terminal.until_text("› Summarize with custom prompt").send("\r");
    terminal.until("what was written before, and the bill", |screen| {
        screen.contains("\nthe cache\nand\n") && screen.contains("summary ≈ ")
    });
    insta::assert_snapshot!(terminal.screen(), @"
    ── Session tree ────────────────────────────────────────────────────────────────

      Summarize branch?
      You go to user: second question
      Its text comes into the editor
      19 tokens · next prompt ≈ $0.0001 · summary ≈ $0.00
      What should the summary focus on?
    ────────────────────────────────────────────────────────────────────────────────
    the cache
    and
    ────────────────────────────────────────────────────────────────────────────────
      enter go · esc back · shift+enter new line · ctrl+g editor











    ────────────────────────────────────────────────────────────────────────────────
    ");
    terminal.send("the tests\r");
    terminal.until("the text in the editor", |screen| {
        !screen.contains("Session tree") && screen.contains("\nsecond question")
    });
    terminal.send("\x03\x04");
    assert!(terminal.ended());
    let request = talk.server.seen().last().unwrap().json().to_string();
    assert!(request.contains(r"the cache\nand the tests"), "{request}");
    talk.no_problems();
}

#[test]
fn ctrl_z_stops_lists_too() {
    let talk = Talk::new([Reply::text("Yes.")]);
    let mut terminal = Terminal::shell(&talk, (100, 24));
    terminal.send(&format!("{} chat well?\r", env!("CARGO_BIN_EXE_offshoot")));
    terminal.until_text("$0.000").send("/tree\r");
    terminal.until_text("Session tree").send("\x1a");
    terminal.until_text("Stopped").until("the shell", |screen| screen.ends_with("shell>")).send("fg\r");
    terminal.until_text("Session tree").send("\x1b");
    terminal.until_gone("Session tree").send("\x04");
    terminal.until("the shell", |screen| screen.ends_with("shell>")).send("exit\r");
    assert!(terminal.ended());
}
