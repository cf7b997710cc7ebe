//! Pictures on the terminal: where it understands them they are in the conversation, elsewhere they are named.

use offshoot_agent::testing::script::{Gate, Reply};
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::Terminal;

/// A red square of 60 by 60 pixels.
pub(crate) const RED: &[u8] = include_bytes!("red.png");
/// The command that makes kitty show it: in six columns and three rows.
const SHOWN: &str = "\u{1b}_Ga=T,f=100,c=6,r=3,C=1,q=2,m=0;";
const SIXEL: &str = "\u{1b}P";
const FORGOTTEN: &str = "\u{1b}_Ga=d,d=A,q=2\u{1b}\\";
const KITTY: [(&str, &str); 1] = [("TERM", "xterm-kitty")];

fn talk() -> Talk {
    let talk = Talk::new([
        Reply::call("read", "c1", json!({"path": "red.png"})),
        Reply::text("A red square."),
        Reply::text("Still red."),
    ]);
    talk.world.write("red.png", RED);
    talk
}

fn until_the_end(terminal: &mut Terminal) {
    let is_over = |screen: &str| {
        screen.contains("red.png") && !screen.contains(" stops it") && screen.contains("% of ") && screen.contains('$')
    };
    terminal.until_text("A red square.").until("the end", is_over);
}

/// How often something was written.
fn count(terminal: &Terminal, sequence: &str) -> usize {
    String::from_utf8_lossy(&terminal.raw).matches(sequence).count()
}

/// Where the cursor was when pictures were shown: row and column, and the rows of the screen then.
fn places(terminal: &Terminal) -> Vec<((u16, u16), Vec<String>)> {
    let raw = String::from_utf8_lossy(&terminal.raw).into_owned();
    let (rows, columns) = terminal.parser.screen().size();
    let at = raw.match_indices(SHOWN).map(|(at, _)| {
        let mut parser = vt100::Parser::new(rows, columns, 0);
        // The movement to the first cell is a part of what shows it.
        let before = raw[..at].rfind("\u{1b}7").unwrap();
        parser.process(&raw.as_bytes()[..before]);
        let screen = parser.screen().rows(0, columns).map(|row| row.trim_end().to_owned()).collect();
        (parser.screen().cursor_position(), screen)
    });
    at.collect()
}

#[test]
fn a_picture_stands_in_the_conversation_and_nothing_stands_on_it() {
    let talk = talk();
    let mut terminal = Terminal::offshoot_in(&talk, &["@red.png", "what is it?"], (80, 24), &KITTY);
    until_the_end(&mut terminal);
    let screen = terminal.screen();
    let (_, below) = screen.split_once("• read red.png").unwrap();
    assert!(
        below.lines().skip(1).take(4).all(str::is_empty) && below.lines().nth(5) == Some("  A red square."),
        "{screen}"
    );
    let places = places(&terminal);
    assert_eq!(places.len(), 2, "that of the user and that of the tool");
    for ((row, column), screen) in &places {
        assert_eq!(*column, 2 + 5, "the last column of the picture");
        let own = &screen[usize::from(*row) - 2..=usize::from(*row)];
        assert!(own.iter().all(String::is_empty), "{own:?}");
        assert!(!screen[usize::from(*row) - 3].is_empty(), "what it belongs to stands above it: {screen:?}");
    }

    // Where the whole conversation is read it is shown anew, and goes when the reader leaves.
    terminal.send("\x1bt");
    terminal.until_text("q leave");
    assert_eq!(count(&terminal, SHOWN), 4);
    let before = count(&terminal, FORGOTTEN);
    terminal.send("q");
    terminal.until("the conversation", |screen| screen.contains("% of ") && !screen.contains("q leave"));
    assert_eq!(count(&terminal, FORGOTTEN), before + 1);

    // Another size leaves what is printed to the terminal, with its pictures.
    terminal.resize(90, 24);
    terminal.until("the other size", |screen| screen.contains(&format!("\n{}\n", "─".repeat(90))));
    assert_eq!((count(&terminal, SHOWN), count(&terminal, FORGOTTEN)), (4, before + 1));
    terminal.send("\x04");
    assert!(terminal.ended());

    let mut terminal = Terminal::offshoot_in(&talk, &["-c"], (80, 24), &KITTY);
    until_the_end(&mut terminal);
    assert_eq!(count(&terminal, SHOWN), 2, "as it was");
    terminal.send("\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

#[test]
fn a_terminal_that_shows_no_pictures_names_them() {
    let talk = talk();
    let mut terminal = Terminal::offshoot(&talk, &["what is it?"], (80, 24));
    until_the_end(&mut terminal);
    let screen = terminal.screen();
    let (_, below) = screen.split_once("• read red.png").unwrap();
    assert_eq!(below.lines().nth(1), Some("  [image: image/png 60×60, 129 B]"), "{screen}");
    assert_eq!(count(&terminal, "\u{1b}_G"), 0);
    terminal.send("\x1bt");
    terminal.until_text("q leave").until_text("[image: image/png 60×60").send("q\x04");
    assert!(terminal.ended());
}

#[test]
fn who_wants_no_pictures_gets_none() {
    let talk = talk();
    talk.data("settings.json", &json!({"terminal": {"showImages": false}}));
    let mut terminal = Terminal::offshoot_in(&talk, &["what is it?"], (80, 24), &KITTY);
    until_the_end(&mut terminal);
    assert!(terminal.screen().contains("[image: image/png 60×60"), "{}", terminal.screen());
    assert_eq!(count(&terminal, SHOWN), 0);
    terminal.send("\x04");
    assert!(terminal.ended());
}

#[test]
fn other_terminals_are_told_in_their_own_way() {
    for (variables, sequence) in
        [([("TERM_PROGRAM", "iTerm.app")], "\u{1b}]1337;File=inline=1;"), ([("OFFSHOOT_IMAGES", "sixel")], "\u{1b}P")]
    {
        let talk = talk();
        let mut terminal = Terminal::offshoot_in(&talk, &["what is it?"], (80, 24), &variables);
        until_the_end(&mut terminal);
        assert_eq!(count(&terminal, sequence), 1, "{variables:?}");
        assert_eq!(count(&terminal, "\u{1b}_G"), 0);
        terminal.send("\x04");
        assert!(terminal.ended());
    }
}

/// The settings correct a wrong guess about the terminal, from then on.
#[test]
fn the_user_says_how_pictures_are_sent() {
    let talk = talk();
    talk.data("settings.json", &json!({"terminal": {"images": "kitty"}}));
    let mut terminal = Terminal::offshoot(&talk, &["@red.png", "what is it?"], (80, 24));
    until_the_end(&mut terminal);
    assert_eq!((count(&terminal, SHOWN), count(&terminal, SIXEL)), (2, 0));
    terminal.send("/settings\r");
    terminal.until_text("Settings  everywhere").send("terminal.images");
    terminal.until("the setting", |screen| screen.contains("› terminal.images")).send("\r");
    terminal.until("the next one", |screen| screen.contains("iterm2        ")).send("\r");
    terminal.until("the last one", |screen| screen.contains("sixel        ")).send("\x1b");
    terminal.until("all settings", |screen| screen.contains("defaultProvider")).send("\x1b");
    terminal.until("the conversation", |screen| screen.contains("% of ") && !screen.contains("defaultProvider"));
    assert_eq!((count(&terminal, SHOWN), count(&terminal, SIXEL)), (2, 0), "what is printed stays");
    terminal.send("\x1bt");
    terminal.until_text("q leave");
    assert_eq!((count(&terminal, SHOWN), count(&terminal, SIXEL)), (2, 2));
    terminal.send("q");
    terminal.until_gone("q leave");
    terminal.send("\x04");
    assert!(terminal.ended());
}

/// The pictures of the last request's last message, by type, and its text.
fn sent(talk: &Talk) -> (Vec<String>, String) {
    let content =
        talk.server.seen().last().unwrap().json()["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    let blocks = content.as_array().unwrap().clone();
    let types = blocks.iter().filter_map(|block| block["source"]["media_type"].as_str().map(str::to_owned)).collect();
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    (types, texts.concat())
}

/// Not the name says what a picture is: a note with its ending is a word, and a picture with another one is a picture.
#[test]
fn a_picture_that_a_prompt_names_is_sent_with_it() {
    let talk = Talk::new(["One.", "Two.", "Three."].map(Reply::text));
    talk.world.write("my shot.dat", RED);
    talk.world.write("note.png", "only words");
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("compare @\"my shot.dat\", @note.png and @none.png.\r");
    terminal.until_text("One.").until_idle();
    let (types, text) = sent(&talk);
    assert_eq!(types, ["image/png"]);
    assert!(text.contains("/my shot.dat\"></file>") && text.contains("@note.png and @none.png."), "{text}");
    assert!(
        terminal.screen().contains("[image/png 60×60") || terminal.screen().contains("my shot.dat"),
        "{}",
        terminal.screen()
    );
    // The word is the picture: without the word there is none.
    terminal.send("again @note.png\r");
    terminal.until_text("Two.").until_idle();
    assert!(sent(&talk).0.is_empty());
    // A terminal pastes the path of a file that is dropped on it.
    let dropped = |name: &str| {
        let path = talk.world.work().join(name);
        std::fs::write(&path, RED).unwrap();
        path.display().to_string()
    };
    let (escaped, bare) = (dropped("dropped one.png").replace(' ', "\\ "), dropped("a bare one.png"));
    terminal.send(&format!("and this?\x1b[200~{escaped}\x1b[201~\x1b[200~{bare}\x1b[201~"));
    terminal.until_text("and this? @\"").until_text("a bare one.png\"").send("\r");
    terminal.until_text("Three.").until_idle();
    assert_eq!(sent(&talk).0, ["image/png", "image/png"]);
    terminal.send("\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

#[test]
fn a_picture_that_cannot_be_sent_leaves_the_prompt_in_the_editor() {
    let talk = Talk::new([]);
    talk.world.write("broken.png", &RED[..40]);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("see @broken.png now\r");
    terminal.until_text("broken.png cannot be sent").until_text("see @broken.png now");
    assert!(talk.server.seen().is_empty());
    terminal.send("\x03\x04");
    assert!(terminal.ended());
}

#[test]
fn a_model_without_eyes_is_named() {
    let talk = Talk::new([Reply::text("I see nothing.")]);
    let models = std::fs::read_to_string(talk.world.home().join(".local/share/offshoot/models.json")).unwrap();
    talk.data("models.json", &serde_json::from_str(&models.replace(r#""text","image""#, r#""text""#)).unwrap());
    talk.world.write("red.png", RED);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("see @red.png now\r");
    terminal.until_text("takes no pictures: 1 picture will be left out").until_text("I see nothing.").until_idle();
    terminal.send("\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

/// Regression: what was typed during the turn of a prompt with a picture waited for the end of the turn, unseen.
#[test]
fn a_turn_that_began_with_a_picture_can_be_steered() {
    let gate = Gate::new();
    let talk = Talk::new([Reply { gate: Some((0, gate.clone())), ..Reply::text("Red.") }, Reply::text("Two sides.")]);
    talk.world.write("red.png", RED);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("see @red.png now\r");
    terminal.while_not("the request", || !talk.server.seen().is_empty());
    terminal.send("and count its sides\r");
    terminal.until_text("teering: and count its sides");
    gate.open();
    terminal.until_text("Two sides.").until_idle();
    terminal.send("\x04");
    assert!(terminal.ended());
    talk.no_problems();
}
