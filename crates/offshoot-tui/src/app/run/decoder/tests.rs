//! Keys, pastes and answers in bytes, whole and cut at each place.

use ratatui::crossterm::event::KeyEventKind;

use super::*;

/// What comes of these bytes: keys by their names, pastes in quotes, answers in brackets.
fn words(decoded: Vec<Decoded>) -> String {
    let word = |decoded: Decoded| match decoded {
        Decoded::Event(Event::Key(key)) => {
            let held = [
                (KeyModifiers::CONTROL, "ctrl+"),
                (KeyModifiers::ALT, "alt+"),
                (KeyModifiers::SHIFT, "shift+"),
                (KeyModifiers::SUPER, "super+"),
            ];
            let held: String =
                held.iter().filter(|(held, _)| key.modifiers.contains(*held)).map(|(_, name)| *name).collect();
            let kind = if key.kind == KeyEventKind::Release { "-" } else { "" };
            format!("{kind}{held}{}", key.code).to_lowercase()
        }
        Decoded::Event(Event::Paste(text)) => format!("{text:?}"),
        Decoded::Event(event) => format!("{event:?}"),
        Decoded::Background(background) => format!("[{background:?}]"),
        Decoded::Cursor(at) => format!("[{},{}]", at.x, at.y),
        Decoded::PictureShown => "[shown]".to_owned(),
        Decoded::OpenPaste(is_open) => if is_open { "[open]" } else { "[closed]" }.to_owned(),
    };
    decoded.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

/// The same for pieces; `~50` is a silence of so many milliseconds.
fn heard(pieces: &[&str]) -> String {
    let mut decoder = Decoder::default();
    let mut all = Vec::new();
    for piece in pieces {
        match piece.strip_prefix('~').and_then(|number| number.parse::<u64>().ok()) {
            Some(silence) => (0..silence / 50).for_each(|_| all.extend(decoder.rest(50))),
            None => all.extend(decoder.take(piece.as_bytes())),
        }
    }
    words(all)
}

#[test]
fn keys_are_known_in_each_form() {
    for (bytes, key) in [
        ("a", "a"),
        ("Ä", "shift+ä"),
        ("\r", "enter"),
        ("\n", "ctrl+j"),
        ("\t", "tab"),
        ("\x7f", "backspace"),
        ("\x08", "ctrl+h"),
        ("\x00", "ctrl+space"),
        ("\x1c", "ctrl+4"),
        ("\x1bx", "alt+x"),
        ("\x1bX", "alt+shift+x"),
        ("\x1b\r", "alt+enter"),
        ("\x1b\x7f", "alt+backspace"),
        ("\x1b\x18", "ctrl+alt+x"),
        ("\x1b]a", "alt+] a"),
        ("\x1bPp", "alt+shift+p p"),
        ("\x1b[A", "up"),
        ("\x1bOA", "up"),
        ("\x1bOS", "f4"),
        ("\x1b[[E", "f5"),
        ("\x1b[Z", "shift+back tab"),
        ("\x1b[1;5D", "ctrl+left"),
        ("\x1b[1;3:3B", "-alt+down"),
        ("\x1b[H\x1b[F", "home end"),
        ("\x1b[3~", "del"),
        ("\x1b[3;2~", "shift+del"),
        ("\x1b[15~\x1b[24~", "f5 f12"),
        ("\x1b[1;2P", "shift+f1"),
        ("\x1b[27u", "esc"),
        ("\x1b[99;5u", "ctrl+c"),
        ("\x1b[93;3u", "alt+]"),
        ("\x1b[97:65;2u", "a"),
        ("\x1b[9;2u", "shift+back tab"),
        ("\x1b[13;129u", "enter"),
        ("\x1b[57414u", "enter"),
        ("\x1b[57400;5u", "ctrl+1"),
        ("\x1b[27;6;73~", "ctrl+shift+i"),
        ("\x1b[57441;2u", ""),
        ("\x1b[I\x1b[O", "FocusGained FocusLost"),
        ("\x1b[12;34R", "[33,11]"),
        ("\x1b[?1u\x1b[?62;4c\x1b[M !!\x1b[<0;1;2M", ""),
        ("\x1b[0;0Rx", "x"),
        ("\x1b[1\x1b[B", "down"),
        ("\x1b[201~x", "x"),
        ("\u{fffd}x", "\u{fffd} x"),
    ] {
        assert_eq!(heard(&[bytes]), key, "{bytes:?}");
        let pieces: Vec<String> = bytes.chars().map(String::from).collect();
        assert_eq!(heard(&pieces.iter().map(String::as_str).collect::<Vec<_>>()), key, "{bytes:?} in pieces");
    }
    let mut decoder = Decoder::default();
    assert_eq!(words(decoder.take(b"\xff\xc3")) + &words(decoder.take(b"\xa4\xc3x")), "ä x", "halves and no letters");
}

#[test]
fn a_lone_escape_is_a_key_and_a_cut_sequence_is_none() {
    assert_eq!(heard(&["\x1b"]), "");
    assert_eq!(heard(&["\x1b", "~50"]), "esc");
    assert_eq!(heard(&["\x1b\x1b", "~50"]), "esc esc");
    assert_eq!(heard(&["\x1b\x1b[A"]), "esc up");
    assert_eq!(heard(&["\x1b[", "~200", "A"]), "up");
    assert_eq!(heard(&["\x1b[1;", "~900", "5C"]), "ctrl+right");
    assert_eq!(heard(&["\x1b[1;", "~1000", "5C"]), "5 shift+c", "it is given up");
    assert_eq!(heard(&["\x1b[", "~1000", "x"]), "alt+[ x");
    assert_eq!(heard(&["\x1b]", "~50", "x"]), "alt+] x");
    assert_eq!(heard(&["\x1bP", "~50", "x"]), "alt+shift+p x");
    assert_eq!(heard(&["\x1b]", "~50", "1", "~50", "1"]), "alt+] 1 1", "keys come one by one");
    let mut decoder = Decoder::default();
    assert_eq!(decoder.patience(100), 100);
    decoder.take(b"\x1b");
    assert_eq!(decoder.patience(100), 50);
}

/// Story: an answer that came in two pieces was typed into the prompt.
#[test]
fn an_answer_is_not_typed_however_it_is_cut() {
    for (answer, meaning) in [
        ("\x1b]11;rgb:ffff/FFFF/ffff\x1b\\", "[Light]"),
        ("\x1b]11;rgb:0000/0000/0000\x07", "[Dark]"),
        ("\x1b]11;#ffffff\x1b\\", "[Light]"),
        ("\x1b]11;nothing\x1b\\", ""),
        ("\x1b]10;rgb:ffff/ffff/ffff\x1b\\", ""),
        ("\x1b]4;1;rgb:cc/00/00\x07", ""),
        ("\x1b]52;c;d29yZHM=\x07", ""),
        ("\x1bP>|XTerm(390)\x1b\\", ""),
        ("\x1bP1$r0m\x1b\\", ""),
        ("\x1bP1+r544e=787465\x1b\\", ""),
        ("\x1bP!|00000000\x1b\\", ""),
        ("\x1b_Gi=31;OK\x1b\\", ""),
    ] {
        let expected = ["a", meaning, "b"].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        assert_eq!(heard(&[&format!("a{answer}b")]), expected, "{answer:?}");
        for at in 1..answer.len() {
            let (first, second) = answer.split_at(at);
            for silence in ["~0", "~200", "~1000"] {
                let typed = heard(&[&format!("a{first}"), silence, &format!("{second}b")]);
                // A lone escape, and the key that it may begin, are keys after a moment.
                let early = match (at, silence) {
                    (1, "~200" | "~1000") => continue,
                    (2, "~200" | "~1000") => {
                        typed.replace("alt+] ", "").replace("alt+shift+p ", "").replace("alt+_ ", "")
                    }
                    _ if first.ends_with('\x1b') && silence == "~1000" => continue,
                    _ => typed,
                };
                assert_eq!(early, expected, "{first:?}, {silence} ms, {second:?}");
            }
        }
    }
}

#[test]
fn an_answer_without_an_end_does_not_keep_the_keys() {
    assert_eq!(heard(&["\x1b]11;rgb:00", "\x03"]), "ctrl+c");
    assert_eq!(heard(&["\x1b]11;rgb:00", "\r"]), "enter");
    assert_eq!(heard(&["\x1b]11;rgb:00", "\x1b[A"]), "up");
    assert_eq!(heard(&["\x1b]11;rgb:00", "\x1b", "~1000", "x"]), "esc x");
    assert_eq!(heard(&["\x1b]11;rgb:00", "~2000", "hello"]), "h e l l o");
    assert_eq!(heard(&["\x1b]11;rgb:00", "~5000", "00/0000/0000\x1b\\x"]), "[Dark] x", "its end comes late");
    let long = "x".repeat((1 << 20) + 1);
    assert_eq!(heard(&["\x1b]52;", &long, "y"]), "y");
}

#[test]
fn a_paste_is_one_text_however_it_is_cut() {
    let paste = "\x1b[200~one\rtwo \x1b[A ö\x1b[201~x";
    for at in (0..paste.len()).filter(|at| paste.is_char_boundary(*at)) {
        let (first, second) = paste.split_at(at);
        assert_eq!(heard(&[first, second]), r#""one\rtwo \u{1b}[A ö" x"#, "{first:?}");
    }
    let bytes: Vec<Decoded> = {
        let mut decoder = Decoder::default();
        paste.bytes().flat_map(|byte| decoder.take(&[byte])).collect()
    };
    assert_eq!(words(bytes), r#""one\rtwo \u{1b}[A ö" x"#);
    assert_eq!(heard(&["\x1b[200~\x1b[201~x"]), "x");
    assert_eq!(heard(&["\x1b[200~a\x03b", "~900", "\x03", "\x1b[201~"]), r#""a\u{3}b\u{3}""#, "it is only slow");
}

/// Story: the end of a paste was lost, and from then on every key was part of it, Escape and Ctrl+C too.
#[test]
fn a_paste_whose_end_is_lost_is_shown_and_ended_by_a_key() {
    for key in ["\x03", "\x1b[27u", "\x1b[99;5u"] {
        assert_eq!(heard(&["\x1b[200~lost", "~1000", key, "x"]), r#""lost" [open] [closed] x"#, "{key:?}");
    }
    assert_eq!(heard(&["\x1b[200~lost", "~1000", "\x1b", "~50", "x"]), r#""lost" [open] [closed] x"#);
    assert_eq!(heard(&["\x1b[200~lost", "~1000", "\x1b\x1b", "~50", "x"]), r#""lost" [open] [closed] x"#);
    assert_eq!(
        heard(&["\x1b[200~lost", "~1000", " and", " found"]),
        r#""lost" [open] " and" " found""#,
        "it is typed on"
    );
    assert_eq!(
        heard(&["\x1b[200~lost", "~1000", "\x1b", "[201~x"]),
        r#""lost" [open] [closed] x"#,
        "the end comes late"
    );
    assert_eq!(heard(&["\x1b[200~lost \x1b[20", "~1000", "1~x"]), r#""lost " [open] [closed] x"#);
    assert_eq!(heard(&["\x1b[200~lost", "~1000", "\x03", "\x1b[201~", "x"]), r#""lost" [open] [closed] x"#);
    assert_eq!(heard(&["\x1b[200~", "~1000", "\x03", "x"]), "[open] [closed] x");
    let mut decoder = Decoder::default();
    let cut = [decoder.take(b"\x1b[200~\xc3"), decoder.rest(1000), decoder.take(b"\xa4"), decoder.take(b"\x03")];
    assert_eq!(words(cut.into_iter().flatten().collect()), r#"[open] "ä" [closed]"#, "half a letter waits");
}

/// Story: lines that were pasted in a terminal that marks no pastes were sent as a prompt each.
#[test]
fn lines_that_come_at_once_are_a_paste() {
    for (pieces, expected) in [
        (&["a\rb\rc\r"] as &[_], r#""a\rb\rc\r""#),
        (&["a\nb"], r#""a\nb""#),
        (&["a\tb\r\n\r\nö"], r#""a\tb\r\n\r\nö""#),
        (&["\x1b[Ia\rb\x1b[A"], r#"FocusGained "a\rb" up"#),
        (&["hi\r"], "h i enter"),
        (&["hi\r\r"], "h i enter enter"),
        (&["y", "\r", "x"], "y enter x"),
        (&["hi\x1b[A\r\x1b[Ax"], "h i up enter up x"),
        (&["hi\r\x03x"], "h i enter ctrl+c x"),
        (&["a\rb", "\r"], r#""a\rb" enter"#),
    ] {
        assert_eq!(heard(pieces), expected, "{pieces:?}");
    }
    let mut decoder = Decoder::default();
    assert_eq!(words(decoder.take(b"a\rb\xc3")), r#""a\rb""#, "half a letter waits");
    assert_eq!(words(decoder.take(b"\xa4x")), "ä x");
}

#[test]
fn a_long_paste_goes_on_in_its_next_pieces() {
    let long = format!("a\r{}", "b".repeat(1100));
    let piece = format!("\"a\\r{}\"", "b".repeat(1100));
    assert_eq!(heard(&[&long, "c\r"]), format!(r#"{piece} "c\r""#));
    assert_eq!(heard(&[&long, &long, "\r", "\r"]), format!(r#"{piece} {piece} "\r" enter"#));
    assert_eq!(heard(&[&long, "~50", "c\r"]), format!("{piece} c enter"), "typed after it");
    assert_eq!(heard(&[&long, "\x1b[Ac\r"]), format!("{piece} up c enter"));
    let mut decoder = Decoder::default();
    decoder.take(&[long.as_bytes(), b"\xc3"].concat());
    assert!(decoder.patience(100) < 100);
    assert_eq!(words(decoder.take(b"\xa4\r")), r#""ä\r""#, "half a letter keeps it open");
}

#[test]
fn lines_are_keys_where_pastes_are_marked_and_where_they_were_typed_ahead() {
    assert_eq!(heard(&["\x1b[?2004;1$y", "a\rb"]), "a enter b");
    assert_eq!(heard(&["\x1b[?2004;3$y", "a\rb"]), "a enter b");
    for other in ["\x1b[?2004;0$y", "\x1b[?2004;2$y", "\x1b[?2026;1$y"] {
        assert_eq!(heard(&[other, "a\rb"]), r#""a\rb""#, "{other:?}");
    }
    let mut decoder = Decoder::default();
    decoder.await_cursor(true);
    decoder.expect_typed_ahead();
    assert_eq!(words(decoder.take(b"a\rb\x1b[1;1Rc\rd")), r#"a enter b [0,0] "c\rd""#);
    decoder.await_cursor(true);
    decoder.expect_typed_ahead();
    assert_eq!(words(decoder.take(b"a\rb")), "a enter b");
    decoder.await_cursor(false);
    assert_eq!(words(decoder.take(b"a\rb")), r#""a\rb""#, "the terminal has not answered");
}

#[test]
fn the_cursor_is_found_within_an_open_paste() {
    let mut decoder = Decoder::default();
    decoder.take(b"\x1b[200~lost");
    decoder.rest(1000);
    decoder.await_cursor(true);
    assert_eq!(words(decoder.take(b"\x1b[3;4R")), "[3,2]");
    decoder.await_cursor(true);
    assert_eq!(words(decoder.take(b" and\x1b[3;4R found")), r#"" and" [3,2] " found""#);
    decoder.await_cursor(false);
    assert_eq!(words(decoder.take(b"\x1b[3;4R")), r#""\u{1b}[3;4R""#);
    decoder.await_cursor(true);
    assert_eq!(words(decoder.take(b"\x03\x1b[3;4R")), "[closed] [3,2]", "a key in the same moment");
}

/// A terminal answers between keys and, while a long paste comes in, within it.
#[test]
fn an_answer_after_a_picture_is_never_text() {
    assert_eq!(heard(&["a\x1b[0nb"]), "a [shown] b");
    assert_eq!(heard(&["\x1b[", "0n", "\x1b\x1b[0n"]), "[shown] esc [shown]");
    assert_eq!(heard(&["\x1b[200~one", " \x1b[0ntwo\x1b[201~x"]), r#"[shown] "one two" x"#);
    assert_eq!(heard(&["\x1b[200~lost", "~1000", "\x1b[0n", "\x03"]), r#""lost" [open] [shown] [closed]"#);
    let mut decoder = Decoder::default();
    decoder.await_cursor(true);
    assert_eq!(words(decoder.take(b"\x1b[0n\x1b[3;4R\x1b[0n")), "[shown] [3,2] [shown]");
}
