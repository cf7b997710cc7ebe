//! What tests of screens share: a session, screens as text, their colours as tokens, hostile text, and that nothing is
//! drawn outside an area.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use offshoot_session::session::{Options, Session};
use proptest::prelude::*;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};

use crate::text;
use crate::theme::{Theme, Token};

/// The two sizes in which every screen is looked at.
pub(crate) const SIZES: [(u16, u16); 2] = [(80, 24), (40, 12)];

/// The bytes that are sent to the terminal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wire(pub(crate) Rc<RefCell<Vec<u8>>>);

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a coding agent leaves behind: tools, prices, two branches, and a bookmark.
pub(crate) fn working() -> Session {
    let message = |id: &str, parent: &str, at: u32, message: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:{at:02}.000Z","message":{message}}}"#
        )
    };
    let call = |name: &str, path: &str, said: &str| {
        format!(
            r#"{{"role":"assistant","stopReason":"toolUse","content":[{{"type":"text","text":"{said}"}},{{"type":"toolCall","id":"{path}","name":"{name}","arguments":{{"path":"{path}"}}}}],"usage":{{"totalTokens":1200,"cost":{{"total":0.25}}}}}}"#
        )
    };
    let result = |path: &str| {
        format!(
            r#"{{"role":"toolResult","toolCallId":"{path}","toolName":"read","content":[{{"type":"text","text":"fn main() {{}}"}}]}}"#
        )
    };
    let lines = [
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#.to_owned(),
        message("a", "null", 1, r#"{"role":"user","content":"Make the parser faster"}"#),
        message("b", r#""a""#, 2, &call("read", "src/parser.rs", "Let me look at it.")),
        message("c", r#""b""#, 3, &result("src/parser.rs")),
        message("d", r#""c""#, 4, &call("edit", "src/parser.rs", "I keep the tokens in an arena.")),
        message("e", r#""d""#, 5, r#"{"role":"assistant","stopReason":"stop","content":[{"type":"text","text":"Twice as fast.\nThe arena holds all tokens."}]}"#),
        message("f", r#""c""#, 6, r#"{"role":"user","content":"Try without an arena"}"#),
        message("g", r#""f""#, 7, &call("write", "src/slices.rs", "Slices of the text, then.")),
        r#"{"type":"label","id":"h","parentId":"g","timestamp":"2026-01-01T00:00:08.000Z","targetId":"e","label":"arena"}"#.to_owned(),
        r#"{"type":"model_change","id":"i","parentId":"h","timestamp":"2026-01-01T00:00:09.000Z","provider":"p","modelId":"m"}"#.to_owned(),
    ];
    Session::from_text(&(lines.join("\n") + "\n"), Options::default()).unwrap()
}

/// The symbols on a screen, row by row, without blanks at the ends.
pub(crate) fn text_of(buf: &Buffer) -> String {
    let rows = buf.area.rows().map(|row| {
        let cells = row.columns().filter_map(|cell| buf.cell(cell.as_position()));
        // A cell behind a wide symbol holds nothing of its own.
        let mut covered = 0;
        let mut line = String::new();
        for cell in cells {
            if covered > 0 {
                covered -= 1;
                continue;
            }
            covered = text::width(cell.symbol()).saturating_sub(1);
            line.push_str(cell.symbol());
        }
        line.trim_end().to_owned()
    });
    rows.collect::<Vec<_>>().join("\n")
}

/// The words on a screen that is drawn in every theme: see [`tokens_of`].
pub(crate) fn screen_of(columns: u16, rows: u16, mut draw: impl FnMut(&Theme, Rect, &mut Buffer)) -> String {
    text_of(&tokens_of(|theme| {
        let mut buf = Buffer::empty(Rect::new(0, 0, columns, rows));
        draw(theme, buf.area, &mut buf);
        buf
    }))
}

/// A screen in a theme where each token has a colour of its own: [`legend`] tells them. The dark theme and the light one
/// must show the same words, each in the theme's own colour for its token.
pub(crate) fn tokens_of(mut draw: impl FnMut(&Theme) -> Buffer) -> Buffer {
    let colours = Token::ALL.iter().zip(1..).map(|(token, nth)| format!(r##""{}":"#{nth:06x}""##, token.name()));
    let colours = colours.collect::<Vec<_>>().join(",");
    let (probe, _) = Theme::read(&format!(r#"{{"name":"tokens","colors":{{{colours}}}}}"#), "tokens").unwrap();
    let screen = draw(&probe);
    for theme in [Theme::dark(), Theme::light()] {
        let shown = draw(&theme);
        assert_eq!(text_of(&screen), text_of(&shown), "in {}", theme.name());
        let of = |colour, part: fn(Style) -> Option<Color>| match colour {
            Color::Reset => Color::Reset,
            colour => part(theme.style(token(colour))).unwrap_or_default(),
        };
        for at in screen.area.positions() {
            let (plain, own) = (&screen[at], &shown[at]);
            let wanted = (of(plain.fg, |style| style.fg), of(plain.bg, |style| style.bg), plain.modifier);
            assert_eq!(wanted, (own.fg, own.bg, own.modifier), "at {at} in {}: {}", theme.name(), text_of(&shown));
        }
    }
    screen
}

fn token(colour: Color) -> Token {
    let nth = if let Color::Rgb(0, 0, nth) = colour { usize::from(nth).checked_sub(1) } else { None };
    nth.and_then(|nth| Token::ALL.get(nth).copied()).unwrap_or_else(|| panic!("{colour:?} is no token's colour"))
}

/// The styles of a screen by [`tokens_of`]: for each row its runs of one style, each with its tokens.
pub(crate) fn legend(screen: &Buffer) -> String {
    let named = |cell: &Cell| {
        let colour = |colour, before: &str| match colour {
            Color::Reset => String::new(),
            colour => format!("{before}{}", token(colour).name()),
        };
        let bold = if cell.modifier.contains(Modifier::BOLD) { " bold" } else { "" };
        let reversed = if cell.modifier.contains(Modifier::REVERSED) { " reversed" } else { "" };
        format!("{}{}{bold}{reversed}", colour(cell.fg, ""), colour(cell.bg, " on ")).trim().to_owned()
    };
    let mut legend = String::new();
    for row in screen.area.rows() {
        let mut runs: Vec<(String, String)> = Vec::new();
        for cell in row.positions().filter_map(|at| screen.cell(at)) {
            let name = named(cell);
            match runs.last_mut() {
                Some((known, text)) if *known == name => text.push_str(cell.symbol()),
                _ => runs.push((name, cell.symbol().to_owned())),
            }
        }
        runs.retain(|(name, text)| !(name.is_empty() && text.trim().is_empty()));
        let words = |text: &str| if text.starts_with("───") { "───".to_owned() } else { text.to_owned() };
        let runs = runs.iter().map(|(name, text)| format!("{name} {:?}", words(text)).trim().to_owned());
        legend.push_str(runs.collect::<Vec<_>>().join(", ").as_str());
        legend.push('\n');
    }
    legend
}

/// Texts that try to leave their place, each with its name. Sequences carry the number 7777, which then must stand nowhere:
/// they are taken out as a whole.
pub(crate) fn hostile_texts() -> Vec<(&'static str, String)> {
    let said = |name, text: &str| (name, text.to_owned());
    vec![
        said("cursor", "a\u{1b}[7777;7777Hb\u{1b}[7777A\u{1b}[7777Jc"),
        said("modes", "a\u{1b}[?7777hb\u{1b}[7777mc\u{1b}c"),
        said("title", "a\u{1b}]0;7777\u{7}b\u{1b}]2;7777\u{1b}\\c"),
        said("clipboard", "a\u{1b}]52;c;7777\u{7}b"),
        said("link", "a\u{1b}]8;;http://7777\u{7}b\u{1b}]8;;\u{7}"),
        said("device", "a\u{1b}Pq#7777\u{1b}\\b\u{1b}_G7777\u{1b}\\c\u{1b}^7777\u{1b}\\"),
        said("eight bits", "a\u{9b}7777;7777Hb\u{9d}0;7777\u{9c}c\u{90}7777\u{9c}"),
        said("endless", "a\u{1b}]0;b\u{1b}[\u{1b}"),
        said("controls", "a\u{0}b\u{7}\u{8}\u{8}\u{8}c\u{b}\u{c}\u{e}\u{7f}\u{85}d"),
        said("returns", "aaaa\rb\r\r\nc\r\n\n\n\n\n\n\n\n\nd"),
        said("tabs", "\ta\t\tb\t"),
        said("bidi", "a\u{202e}b\u{2066}c\u{200f}d\u{202a}e\u{61c}"),
        said("nothing", "\u{200b}\u{200d}\u{feff}\u{ad}\u{2060}\u{e0041}"),
        said("joined", "👩\u{200d}👩\u{200d}👧\u{200d}👦a\u{200d}b\u{200d}\u{200d}👍🏽🇩🇪🇩"),
        ("marks", format!("a{}b{}", "\u{301}".repeat(5000), "\u{20dd}\u{489}".repeat(40))),
        ("wide", "日本語한국어".repeat(60)),
        said("scripts", "क्षिक्षि لالا 각 ﾞﾟ 𑘿"),
        ("markup", "```\u{1b}[7777m\n|a|\u{202e}b|\n|-|-|\n[x](\u{1b}]0;7777\u{7})<b>\u{9b}7777m".to_owned()),
    ]
}

/// A line that is longer than any screen, with a sequence in every few characters.
pub(crate) fn a_megabyte() -> String {
    "\u{1b}[7777mx日\u{202e}".repeat((1 << 20) / 14)
}

/// A session of one branch with an entry of every kind, and the text in each of its fields.
pub(crate) fn with_in_every_field(text: &str) -> Session {
    let text = offshoot_session::json::quote(text);
    let entries = [
        format!(r#""type":"message","message":{{"role":"user","content":{text}}}"#),
        format!(
            r#""type":"message","message":{{"role":"assistant","content":[{{"type":"text","text":{text}}},{{"type":"toolCall","id":"c","name":{text},"arguments":{{"path":{text}}}}}],"stopReason":"error","errorMessage":{text}}}"#
        ),
        format!(
            r#""type":"message","message":{{"role":"toolResult","toolCallId":"c","toolName":{text},"content":[{{"type":"text","text":{text}}}]}}"#
        ),
        format!(r#""type":"custom_message","customType":{text},"content":{text},"display":true"#),
        format!(r#""type":"custom","customType":{text},"data":{text}"#),
        format!(r#""type":"model_change","provider":{text},"modelId":{text}"#),
        format!(r#""type":"thinking_level_change","thinkingLevel":{text}"#),
        format!(r#""type":"session_info","name":{text}"#),
        format!(r#""type":"compaction","summary":{text},"tokensBefore":1,"firstKeptEntryId":"e0""#),
        format!(r#""type":"branch_summary","summary":{text},"fromId":"e0""#),
        format!(r#""type":{text}"#),
        format!(r#""type":"label","targetId":"e0","label":{text}"#),
    ];
    let mut file =
        String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"t\",\"cwd\":\"/w\"}\n");
    for (at, entry) in entries.iter().enumerate() {
        let parent = if at == 0 { "null".to_owned() } else { format!("\"e{}\"", at - 1) };
        file.push_str(&format!("{{\"id\":\"e{at}\",\"parentId\":{parent},\"timestamp\":{text},{entry}}}\n"));
    }
    Session::from_text(&file, Options::default()).unwrap()
}

/// As [`hostile_texts`], put together at random.
pub(crate) fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        Just("\u{1b}[2J\u{1b}[1;1H".to_owned()),
        Just("\u{1b}]0;title\u{7}".to_owned()),
        Just("\u{1b}Pq#0\u{1b}\\".to_owned()),
        Just("\u{9b}31m".to_owned()),
        Just("\r\n\t\u{8}\u{b}\u{c}".to_owned()),
        Just("\u{202e}\u{2066}\u{200f}".to_owned()),
        Just("\u{200b}\u{200d}\u{feff}\u{ad}".to_owned()),
        Just("日本語👩‍👩‍👧‍👦🇩🇪".to_owned()),
        Just("e\u{301}\u{302}\u{303}".repeat(20)),
        Just("\"re:([".to_owned()),
        Just("x".repeat(3000)),
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// Draws in the middle of a bigger screen: nothing around the area may change, nothing in it may steer a terminal.
pub(crate) fn assert_inside(columns: u16, rows: u16, mut draw: impl FnMut(Rect, &mut Buffer)) {
    let area = Rect::new(3, 2, columns, rows);
    let mut buf = Buffer::filled(Rect::new(0, 0, columns + 6, rows + 4), Cell::new("▒"));
    draw(area, &mut buf);
    for position in buf.area.positions() {
        if area.contains(position) {
            assert_harmless(&buf, position, area);
        } else {
            assert_eq!(buf[position].symbol(), "▒", "at {position}, outside {area}");
        }
    }
}

/// A cell holds one thing to see, within its row, and nothing that steers.
pub(crate) fn assert_harmless(buf: &Buffer, position: Position, area: Rect) {
    let symbol = buf[position].symbol();
    assert!(!symbol.chars().any(steers), "{symbol:?} at {position}");
    assert!(symbol.chars().count() <= 32, "{symbol:?} at {position}");
    let end = usize::from(position.x) + text::width(symbol);
    assert!(end <= usize::from(area.right()), "{symbol:?} at {position} leaves {area}");
}

/// Whether a character does something else than to be seen.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// What was sent to a terminal is words, and sequences of the program's own.
pub(crate) fn assert_plain(sent: &[u8], what: &str) {
    // The question after a picture, exactly as it is sent.
    let sent = std::str::from_utf8(sent).unwrap().replace("\u{1b}[5n", "");
    let mut rest = sent.chars();
    while let Some(c) = rest.next() {
        match c {
            '\r' | '\n' => {}
            '\u{1b}' => {
                let next = rest.next();
                if matches!(next, Some('7' | '8')) {
                    continue;
                }
                assert_eq!(next, Some('['), "{what}: {sent:?}");
                let end = rest.find(|c| !matches!(c, '0'..='?'));
                assert!(end.is_some_and(|end| "ABCDGHJKLMhlm".contains(end)), "{what}: {end:?} in {sent:?}");
            }
            c => assert!(!steers(c), "{what}: {c:?} in {sent:?}"),
        }
    }
}
