//! Pasting from the clipboard, which programs on the way stand for.

use std::os::unix::fs::PermissionsExt as _;

use offshoot_agent::testing::script::Reply;

use crate::agent::Talk;
use crate::terminal::Terminal;
use crate::tui_pictures::RED;

/// A folder for PATH with one program in it.
pub(crate) fn programs(talk: &Talk, name: &str, text: &str) -> String {
    let path = format!("bin/{name}");
    talk.world.write(&path, text);
    let path = talk.world.work().join(path);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.parent().unwrap().display().to_string()
}

#[test]
fn a_picture_comes_in_as_a_file_and_is_sent() {
    let talk = Talk::new([Reply::text("Red.")]);
    talk.world.write("red.png", RED);
    let picture = talk.world.work().join("red.png").display().to_string();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n--list-types) echo text/plain; echo image/png;;\n*image/png*) while read -r _; do :; done; exec /bin/cat '{picture}';;\n*) echo wrong;;\nesac\n"
    );
    let path = programs(&talk, "wl-paste", &script);
    let variables = [("PATH", path.as_str()), ("WAYLAND_DISPLAY", "wayland-0"), ("DISPLAY", ":0")];
    let mut terminal = Terminal::offshoot_in(&talk, &[], (120, 24), &variables);
    terminal.until_text("m1").send("what is this?\x16");
    terminal.until("the path of a file", |screen| screen.contains("offshoot-clipboard-") && screen.contains(".png"));
    let screen = terminal.screen();
    let word = screen.split_whitespace().find(|word| word.contains("offshoot-clipboard-")).unwrap();
    let file = word.strip_prefix('@').unwrap_or_else(|| panic!("{screen}")).to_owned();
    assert_eq!(std::fs::read(&file).unwrap(), RED, "{screen}");
    terminal.send("\r");
    terminal.until_text("Red.").until_idle();
    std::fs::remove_file(file).unwrap();
    let sent = talk.server.seen()[0].json()["messages"][0]["content"].clone();
    assert_eq!(sent.as_array().unwrap().iter().filter(|block| block["type"] == "image").count(), 1, "{sent}");
    terminal.send("\x03\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

#[test]
fn text_is_pasted_as_text() {
    let talk = Talk::new([]);
    let path =
        programs(&talk, "xclip", "#!/bin/sh\ncase \"$*\" in *TARGETS*) echo UTF8_STRING;; *) echo some words;; esac\n");
    let variables = [("PATH", path.as_str()), ("DISPLAY", ":0")];
    let mut terminal = Terminal::offshoot_in(&talk, &[], (80, 24), &variables);
    terminal.until_text("m1").send("\x16");
    terminal.until_text("some words").send("\x03\x04");
    assert!(terminal.ended());
}

/// Story: all of it was read into memory, as long as the program printed.
#[test]
fn what_has_no_end_is_not_pasted() {
    let talk = Talk::new([]);
    let script = "#!/bin/sh\ncase \"$*\" in *TARGETS*) echo UTF8_STRING;; *) exec /bin/cat /dev/zero;; esac\n";
    let path = programs(&talk, "xclip", script);
    let variables = [("PATH", path.as_str()), ("DISPLAY", ":0")];
    let mut terminal = Terminal::offshoot_in(&talk, &[], (100, 24), &variables);
    terminal.until_text("m1").send("\x16");
    terminal.until_text("it has more than 16 MiB").send("\x04");
    assert!(terminal.ended());
}

#[test]
fn what_is_missing_is_named() {
    for (variables, told) in [
        (vec![("WAYLAND_DISPLAY", "wayland-0"), ("DISPLAY", ":0")], "install wl-paste (of wl-clipboard) or xclip"),
        (vec![], "neither WAYLAND_DISPLAY nor DISPLAY is set"),
    ] {
        let talk = Talk::new([]);
        let path = programs(&talk, "none", "");
        let variables: Vec<_> = variables.into_iter().chain([("PATH", path.as_str())]).collect();
        let mut terminal = Terminal::offshoot_in(&talk, &[], (100, 24), &variables);
        terminal.until_text("m1").send("\x16");
        terminal.until_text(told).send("\x04");
        assert!(terminal.ended());
    }
}

/// Story: the end of a paste was lost on the way, and every key was part of it from then on, Escape and Ctrl+C too. Nothing
/// was on the screen.
#[test]
fn a_paste_without_an_end_is_shown_and_a_key_ends_it() {
    for (key, columns) in [("\x1b", 80), ("\x03", 40), ("\x1b[27u", 80), ("\x1b[99;5u", 40)] {
        let talk = Talk::new([Reply::text("I see.")]);
        let mut terminal = Terminal::offshoot(&talk, &[], (columns, 24));
        terminal.until_text("m1").send("\x1b[200~lost words");
        terminal
            .until("the paste", |screen| screen.contains("\nlost words\n") && screen.contains("escape"))
            .send(" and more");
        terminal.until_text("lost words and more").send(key);
        terminal.until("the end of the paste", |screen| !screen.contains("ends it"));
        terminal.send("!\r");
        terminal.until_text("I see.").until_idle();
        let asked = talk.server.seen().pop().unwrap().json()["messages"].to_string();
        assert!(asked.contains("lost words and more!"), "{key:?}: {asked}");
        terminal.send("\x04");
        assert!(terminal.ended());
    }
}

/// The terminal can be asked for its size and its cursor while a paste is open.
#[test]
fn a_paste_without_an_end_does_not_hold_up_a_resize() {
    let talk = Talk::new([]);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("\x1b[200~lost words");
    terminal.until_text("ends it").resize(60, 20);
    terminal.until("the other size", |screen| screen.contains(&format!("\n{}\n", "─".repeat(60)))).send("\x03");
    terminal
        .until("no answer of the terminal", |screen| screen.contains("\nlost words\n") && !screen.contains("ends it"));
    terminal.send("\x03\x04");
    assert!(terminal.ended());
}

/// Story: an answer to another program's query, or one that came in pieces, was typed into the prompt.
#[test]
fn what_a_terminal_answers_is_not_typed() {
    let talk = Talk::new([]);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1");
    // A letter on the screen says that the piece with it was read, so that the next piece is one of its own.
    for (pieces, letters) in [
        ("a\x1b]11;rgb:0000/00", "\na\n"),
        ("00/0000\x1b\\b\x1bP>|XTerm(3", "\nab\n"),
        ("90)\x1b\\c\x1b_Gi=1;", "\nabc\n"),
        ("OK\x1b\\d\x1b[?62;4c\x1b[?1ue", "\nabcde\n"),
    ] {
        terminal.send(pieces);
        terminal.until("a letter", |screen| screen.contains(letters));
    }
    terminal.send("\x03\x04");
    assert!(terminal.ended());
}

/// Story: a terminal without bracketed paste sent each line of what was pasted as a prompt of its own.
#[test]
fn lines_that_come_at_once_are_pasted() {
    let talk = Talk::new([Reply::text("Three lines.")]);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.marks_pastes = false;
    terminal.until_text("m1").send("one\rtwo\rthree");
    terminal.until_text("three").send(" and more\r");
    terminal.until_text("Three lines.").until_idle();
    let sent = talk.server.seen();
    assert_eq!(sent.len(), 1);
    let sent = sent[0].json()["messages"].to_string();
    assert!(sent.contains(r"one\ntwo\nthree and more"), "{sent}");
    terminal.send("\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

#[test]
fn a_terminal_that_marks_pastes_sends_keys() {
    let talk = Talk::new([Reply::text("The first."), Reply::text("The second.")]);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("one\rtwo\r");
    terminal.until_text("The second.").until_idle();
    assert_eq!(talk.server.seen().len(), 2);
    terminal.send("\x04");
    assert!(terminal.ended());
    talk.no_problems();
}
