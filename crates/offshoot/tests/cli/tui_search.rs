//! `/search` in the terminal: hits in all sessions, read where they are, and gone on from.

use std::fs;
use std::path::Path;

use offshoot_agent::testing::script::Reply;

use crate::agent::Talk;
use crate::terminal::Terminal;
use crate::world::message;

/// A session of this folder with two branches: the one with `libssl` is left. Another one is pi's.
fn with_sessions(replies: impl IntoIterator<Item = Reply>) -> Talk {
    let talk = Talk::new(replies);
    let asked = message("aaaa1111", None, 1, "user", "why does the build fail?");
    let aside = message("bbbb2222", Some("aaaa1111"), 2, "assistant", "The linker finds no libssl.");
    let other = message("cccc3333", Some("aaaa1111"), 3, "assistant", "A test of the parser fails.");
    talk.world.own("0000aaaa-1", &[&asked, &aside, &other]);
    let of_pi = message("dddd4444", None, 4, "user", "where is libcrypto \\u001b[31m\\u202e kept?");
    talk.world.session(".pi/agent/sessions", "0000bbbb-2", Path::new("/srv/other"), &[&of_pi]);
    talk
}

/// Reading changes no session; going on moves the leaf, after the question of the tree.
#[test]
fn a_hit_is_read_and_gone_on_from() {
    let talk = with_sessions([Reply::text("Install it.")]);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("/search\r");
    terminal.until_text("these words in this order").send("LIBSS");
    terminal.until_text("1 of 1 in 2 sessions").until_text("⑂ The linker finds no libssl.");
    let sessions = |talk: &Talk| talk.files().iter().map(|file| fs::read(file).unwrap()).collect::<Vec<_>>();
    let said = sessions(&talk);
    terminal.send("\r");
    terminal.until_text("continue here").until_text("▌").until_text("The linker finds no libssl.");
    assert!(terminal.screen().contains("why does the build fail?"), "{}", terminal.screen());
    assert!(!terminal.screen().contains("of the parser"), "the branch of the hit is read");
    terminal.send("\x1b");
    terminal.until_text("1 of 1 in 2 sessions").send("\r");
    terminal.until_text("continue here");
    assert_eq!(sessions(&talk), said);
    terminal.send("\r");
    terminal.until_text("No summary").send("1");
    terminal.until_text("at another place of the tree").until_text("The linker finds no libssl.").send("and now?\r");
    terminal.until_text("Install it.").until("the end", |screen| !screen.contains(" stops it"));
    terminal.send("/quit\r");
    assert!(terminal.ended());
    let path = talk.world.stdout("show 0000a");
    assert!(path.contains("libssl") && path.contains("Install it.") && !path.contains("parser"), "{path}");
    talk.no_problems();
}

/// The open session is searched too; its last entry is where one stands.
#[test]
fn the_open_session_is_searched() {
    let talk = with_sessions([Reply::text("A zanzibar of answers.")]);
    let mut terminal = Terminal::offshoot(&talk, &["what is it?"], (40, 12));
    terminal.until_text("A zanzibar of answers.").until("the end", |screen| !screen.contains(" stops it"));
    terminal.send("/search zanzi\r");
    terminal.until_text("1 of 1 in 3 sessions").send("\r");
    terminal.until_text("continue here").until_text("A zanzibar").send("\r");
    terminal.until_text("already at this point").send("/quit\r");
    assert!(terminal.ended());
    talk.no_problems();
}

/// The scope narrows, what is wrong is said, and foreign text steers nothing.
#[test]
fn a_search_says_what_it_did() {
    let talk = with_sessions([]);
    let mut terminal = Terminal::offshoot(&talk, &[], (40, 12));
    terminal.until_text("m1").send("/search libcry\r");
    terminal.until_text("1 of 1 in 2 sessions").until_text("libcrypto");
    assert!(!terminal.screen().contains(['\u{202e}', '\u{1b}']), "{}", terminal.screen());
    terminal.send("\t");
    terminal.until_text("◉ folder").until_text("nothing was found");
    terminal.send("\x15since:soon x");
    terminal.until_text("since:soon is not a time").send("\x15\"libcrypto");
    terminal.until_text("nothing was found").send("\t");
    terminal.until_text("1 of 1 in 2 sessions").send("\x1b\x1b");
    terminal.until_gone("Search").send("/quit\r");
    assert!(terminal.ended());
    talk.no_problems();
}

/// A session that was deleted since the search says so, and the list stays.
#[test]
fn a_session_that_has_gone_is_not_read() {
    let talk = with_sessions([]);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("/search libssl\r");
    terminal.until_text("1 of 1 in 2 sessions");
    for file in talk.files() {
        fs::remove_file(file).unwrap();
    }
    terminal.send("\r");
    terminal.until_text("could not open").send("\x1b\x1b");
    terminal.until_gone("Search").send("/quit\r");
    assert!(terminal.ended());
    talk.no_problems();
}
