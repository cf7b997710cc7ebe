//! `offshoot -r`: picking a session, in a pseudo-terminal, with real files.

use insta::assert_snapshot;
use offshoot_agent::testing::script::Reply;

use crate::agent::Talk;
use crate::terminal::Terminal;
use crate::world::{message, talk};

fn world() -> Talk {
    let talked = Talk::new([Reply::text("Forty-two.")]);
    for (id, question) in [("0000aaaa-1", "why is the sky blue?"), ("0000bbbb-2", "write a parser")] {
        let [question, answer] = talk(question);
        talked.world.own(id, &[&question, &answer]);
    }
    let later = message("cccc3333", None, 40, "user", "of pi and newer");
    talked.world.session(".pi/agent/sessions", "0000cccc-3", &talked.world.work(), &[&later]);
    talked
}

#[test]
fn a_session_is_searched_named_thrown_away_brought_back_and_chosen() {
    let talk = world();
    let mut terminal = Terminal::offshoot(&talk, &["-r"], (80, 24));
    terminal.until_text("(1/3)").until_text("◉ current folder");
    terminal.until("the preview", |screen| screen.ends_with("\n› of pi and newer"));
    assert_snapshot!(terminal.screen(), @r#"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    Enter open · Tab scope · re: pattern · "…" phrase · Esc leave
    Ctrl+S sort · Ctrl+N named · Ctrl+P path · Ctrl+R rename · Ctrl+D trash
    >

    › of pi and newer                                                       pi 1 20m
      write a parser                                                           2 49m
      why is the sky blue?                                                     2 49m







      (1/3)
    ── 20m · 1 message · of pi · ~/work · 0000cccc-3 ───────────────────────────────
    › of pi and newer
    "#);
    terminal.send("\"is the sky\"");
    terminal.until("what was found", |screen| screen.contains("(1/1) of 3\n") && screen.contains("  Yes."));
    assert_snapshot!(terminal.screen(), @r#"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    Enter open · Tab scope · re: pattern · "…" phrase · Esc leave
    Ctrl+S sort · Ctrl+N named · Ctrl+P path · Ctrl+R rename · Ctrl+D trash
    > "is the sky"

    › why is the sky blue?                                                     2 49m









      (1/1) of 3
    ── 49m · 2 messages · ~/work · 0000aaaa-1 ──────────────────────────────────────
    › why is the sky blue?
      Yes.
    "#);
    terminal.send("\x12the colour\r");
    terminal.until_text("named the colour").send("\x04");
    terminal.until_text("Into the trash?").send("\r");
    terminal.until_text("in the trash (Ctrl+Y brings it back): the colour").send("\x19");
    terminal.until_text("brought back: the colour").send("\r");
    terminal.until_text("m1").send("and at night?\r");
    terminal.until_text("Forty-two.").until_text("$0.000").send("\x04");
    assert!(terminal.ended());
    let shown = talk.world.stdout("show 'the colour'");
    assert!(shown.contains("why is the sky blue?") && shown.contains("Forty-two."), "{shown}");
}

#[test]
fn none_is_wanted() {
    let talk = world();
    let before = talk.world.snapshot();
    let mut terminal = Terminal::offshoot(&talk, &["-r"], (40, 12));
    terminal.until_text("(1/3)").send("\x1b");
    assert!(terminal.ended());
    assert_snapshot!(terminal.screen(), @"note: no session was chosen");
    assert_eq!(talk.world.snapshot(), before, "nothing was written");
}
