//! `offshoot -r`: picking a session, in a pseudo-terminal, with real files.

use std::fs;

use insta::assert_snapshot;
use offshoot_agent::testing::script::Reply;
use portable_pty::CommandBuilder;
use rustix::process::Signal;
use serde_json::{Value, json};

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
    enter open · tab scope · re: pattern · "…" phrase · alt+p preview · esc leave
    ctrl+s sort · ctrl+n named · ctrl+p path · ctrl+r rename · ctrl+d trash
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
    enter open · tab scope · re: pattern · "…" phrase · alt+p preview · esc leave
    ctrl+s sort · ctrl+n named · ctrl+p path · ctrl+r rename · ctrl+d trash
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
    terminal.until_text("in the trash (alt+u brings it back): the colour").send("\x19");
    terminal.until_text("brought back: the colour").send("\r");
    terminal.until_text("m1").send("and at night?\r");
    terminal.until_text("Forty-two.").until_text("$0.000").send("\x04");
    assert!(terminal.ended());
    let shown = talk.world.stdout("show 'the colour'");
    assert!(shown.contains("why is the sky blue?") && shown.contains("Forty-two."), "{shown}");
}

/// Words are found as they are typed, in what the model said too, and shown with the words around them. Escape clears the
/// search before it leaves.
#[test]
fn a_word_is_found_where_it_stands_and_not_by_scattered_letters() {
    let here = world();
    let scattered = "zebras and nine zinnias in a zoo";
    let [question, mut answer] = talk(scattered);
    here.world.own("0000dddd-4", &[&question, &answer]);
    let [question, _] = talk("where do we go?");
    answer = answer.replace("Yes.", "In the third week of May, by ship, to Zanzibar and back.");
    here.world.own("0000eeee-5", &[&question, &answer]);
    let mut terminal = Terminal::offshoot(&here, &["-r"], (80, 24));
    for typed in ["zanzi", "\"zanzi", "\"to zanzibar\""] {
        terminal.until_text("(1/5)").send(typed);
        terminal.until("the one that has it", |screen| {
            screen.contains("(1/1) of 5\n") && screen.contains(", by ship, to Zanzibar and back.")
        });
        terminal.send("\x1b");
    }
    terminal.until_text("(1/5)").send("\x1b");
    terminal.ended();
}

/// The shell has the terminal while the list is stopped, and gets it as it was.
#[test]
fn the_list_stops_for_the_shell_and_comes_back() {
    let talk = world();
    let mut terminal = Terminal::shell(&talk, (80, 24));
    terminal.send(&format!("{} -r\r", env!("CARGO_BIN_EXE_offshoot")));
    terminal.until_text("(1/3)").send("\x1a");
    terminal.until_text("Stopped").until("the shell", |screen| screen.ends_with("shell>"));
    terminal.send("stty -a | grep -c -e -icanon\r");
    terminal.until("a plain terminal", |screen| screen.ends_with("\n0\nshell>")).send("fg\r");
    terminal.until_text("(1/3)").send("\x1b");
    terminal.until_text("no session was chosen").send("exit\r");
    assert!(terminal.ended());
}

#[test]
fn a_signal_gives_the_terminal_back() {
    for signal in [Signal::TERM, Signal::HUP] {
        let talk = world();
        let mut terminal = Terminal::offshoot(&talk, &["-r"], (80, 24));
        terminal.until_text("(1/3)");
        assert!(terminal.parser.screen().alternate_screen());
        terminal.signal(signal);
        assert!(terminal.ended());
        let screen = terminal.parser.screen();
        assert!(!screen.alternate_screen() && !screen.bracketed_paste() && !screen.hide_cursor(), "{signal:?}");
    }
}

/// Reading hundreds of models takes a while. It happens after the list and before the conversation.
#[test]
fn a_signal_between_the_list_and_the_conversation_is_not_lost() {
    for signal in [Signal::TERM, Signal::HUP] {
        let talk = world();
        let models = talk.world.home().join(".local/share/offshoot/models.json");
        let mut known: Value = serde_json::from_slice(&fs::read(models).unwrap()).unwrap();
        let many: Vec<Value> = (0..600).map(|number| json!({"id": format!("many-{number}")})).collect();
        known["providers"]["many"] =
            json!({"baseUrl": "http://127.0.0.1:1", "api": "openai-completions", "models": many});
        talk.data("models.json", &known);
        let mut terminal = Terminal::offshoot(&talk, &["-r"], (80, 24));
        terminal.until_text("(1/3)").send("\r");
        terminal.until_raw("\x1b[?1049l");
        terminal.signal(signal);
        assert!(terminal.ended(), "{signal:?}: {}", terminal.screen());
        assert!(terminal.is_given_back(), "{signal:?}");
    }
}

/// While the list goes: wherever the program is, it notices. The signal comes at another place each time.
#[test]
fn a_signal_at_the_end_of_the_list_is_not_lost() {
    for _ in 0..10 {
        let talk = world();
        let mut terminal = Terminal::offshoot(&talk, &["-r"], (80, 24));
        terminal.until_text("(1/3)").send("\r");
        terminal.signal(Signal::TERM);
        assert!(terminal.ended(), "{}", terminal.screen());
        assert!(terminal.is_given_back());
    }
}

#[test]
fn the_list_has_the_colours_of_the_settings() {
    let talk = world();
    talk.data("settings.json", &json!({"theme": "light"}));
    let mut command = CommandBuilder::new("env");
    command.args(["COLORTERM=truecolor", env!("CARGO_BIN_EXE_offshoot"), "-r"]);
    let mut terminal = Terminal::run(&talk, command, (80, 24));
    terminal.until_text("(1/3)").send("\x1b");
    assert!(terminal.ended());
    assert!(String::from_utf8_lossy(&terminal.raw).contains("38;2;26;107;60"), "the accent of the light theme");
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
