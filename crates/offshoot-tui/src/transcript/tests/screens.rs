//! The look of conversations, in two sizes and both themes.

use proptest::prelude::*;
use ratatui::buffer::Cell;

use super::*;

const TALK: [&str; 12] = [
    r#"{"role":"user","content":"The last page of the pager is empty. Why?"}"#,
    r#"{"role":"assistant","content":[{"type":"thinking","thinking":"The count of pages may be one too high."},{"type":"text","text":"I look at how pages are counted."},{"type":"toolCall","id":"1","name":"grep","arguments":{"pattern":"fn last","path":"src"}},{"type":"toolCall","id":"2","name":"read","arguments":{"path":"/work/src/pager.rs","offset":10,"limit":4}}],"stopReason":"toolUse"}"#,
    r#"{"role":"toolResult","toolCallId":"1","toolName":"grep","content":[{"type":"text","text":"src/pager.rs:11: fn last(pages: usize) -> usize {"}],"isError":false}"#,
    r#"{"role":"toolResult","toolCallId":"2","toolName":"read","content":[{"type":"text","text":"\nfn last(pages: usize) -> usize {\n    pages\n}"}],"isError":false}"#,
    r#"{"role":"assistant","content":[{"type":"toolCall","id":"3","name":"edit","arguments":{"path":"/work/src/pager.rs","edits":[]}},{"type":"toolCall","id":"4","name":"bash","arguments":{"command":"cargo test -p pager"}}],"stopReason":"toolUse"}"#,
    r#"{"role":"toolResult","toolCallId":"3","toolName":"edit","content":[{"type":"text","text":"made 1 replacement"}],"isError":false,"details":{"diff":" 11 fn last(pages: usize) -> usize {\n-12     pages\n+12     pages - 1\n 13 }"}}"#,
    r#"{"role":"toolResult","toolCallId":"4","toolName":"bash","content":[{"type":"text","text":"running 2 tests\ntest first ... ok\ntest last ... FAILED\n\nfailures:\n    last: attempt to subtract with overflow\n\n[exit code 101]"}],"isError":true}"#,
    r#"{"type":"custom_message","customType":"reminder","content":"Tests run in *debug*.","display":true}"#,
    r#"{"role":"assistant","content":[{"type":"text","text":"An empty book has no last page:\n\n```rust\npages.saturating_sub(1)\n```\n\nWith this, **both** tests pass. See [the docs](https://doc.rust-lang.org/std)."}],"stopReason":"stop"}"#,
    r#"{"role":"bashExecution","command":"git diff --stat","output":" src/pager.rs | 2 +-\n","exitCode":0,"cancelled":false,"truncated":false}"#,
    r#"{"type":"compaction","summary":"Mended the pager.","tokensBefore":48120}"#,
    r#"{"role":"user","content":"Thanks! 谢谢 🙏"}"#,
];

fn talk() -> (Session, Transcript) {
    let session = session(&TALK);
    let habits = Habits {
        cwd: "/work".to_owned(),
        home: "/home/me".to_owned(),
        expand_key: "ctrl+o".to_owned(),
        thinking_key: "ctrl+t".to_owned(),
        ..Habits::default()
    };
    let mut transcript = Transcript::new(habits);
    transcript.open(Path::of(session.tree(), session.leaf()));
    (session, transcript)
}

fn pages(width: u16, height: u16) -> String {
    let (session, mut transcript) = talk();
    transcript.go(Move::Top);
    let mut pages = vec![screen(&mut transcript, &session, width, height)];
    while !transcript.scroll_position().is_at_end {
        transcript.go(Move::Down(usize::from(height)));
        pages.push(screen(&mut transcript, &session, width, height));
    }
    pages.join(&format!("{}\n", "~".repeat(usize::from(width))))
}

#[test]
fn at_80_by_24() {
    insta::assert_snapshot!(pages(80, 24), @"

    › The last page of the pager is empty. Why?

    ∴ The count of pages may be one too high.

      I look at how pages are counted.

    • grep /fn last/ in src
      src/pager.rs:11: fn last(pages: usize) -> usize {

    • read src/pager.rs:10-13  4 lines

    • edit src/pager.rs  +1 -1
      11   fn last(pages: usize) -> usize {
      12 -     pages
      12 +     pages - 1
      13   }

    ✗ $ cargo test -p pager
      running 2 tests
      test first ... ok
      test last ... FAILED

      failures:
    ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
      test first ... ok
      test last ... FAILED

      failures:
          last: attempt to subtract with overflow
      [exit code 101]

    ◆ reminder
      Tests run in debug.

      An empty book has no last page:

      ```rust
      pages.saturating_sub(1)
      ```

      With this, both tests pass. See the docs (https://doc.rust-lang.org/std).

    ! $ git diff --stat
       src/pager.rs | 2 +-

    ≡ compaction  48,120 tokens summarised  (ctrl+o opens)

    › Thanks! 谢谢 🙏
    ");
}

#[test]
fn at_40_by_12() {
    insta::assert_snapshot!(pages(40, 12), @"

    › The last page of the pager is empty.
      Why?

    ∴ The count of pages may be on… (ctrl+t)

      I look at how pages are counted.

    • grep /fn last/ in src
      src/pager.rs:11: fn last(pages: usize)
      -> usize {

    ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
    • read src/pager.rs:10-13  4 lines

    • edit src/pager.rs  +1 -1
      11   fn last(pages: usize) -> usize {
      12 -     pages
      12 +     pages - 1
      13   }

    ✗ $ cargo test -p pager
      … 2 earlier lines (ctrl+o opens)
      test last ... FAILED

    ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
      failures:
          last: attempt to subtract with
      overflow
      [exit code 101]

    ◆ reminder
      Tests run in debug.

      An empty book has no last page:

      ```rust
      pages.saturating_sub(1)
    ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
      ```

      With this, both tests pass. See the
      docs (https://doc.rust-lang.org/std).

    ! $ git diff --stat
       src/pager.rs | 2 +-

    ≡ compaction  48,120 tokens summarised
      (ctrl+o)

    › Thanks! 谢谢 🙏
    ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
      ```

      With this, both tests pass. See the
      docs (https://doc.rust-lang.org/std).

    ! $ git diff --stat
       src/pager.rs | 2 +-

    ≡ compaction  48,120 tokens summarised
      (ctrl+o)

    › Thanks! 谢谢 🙏
    ");
}

#[test]
fn all_open_at_80_by_24() {
    let (session, mut transcript) = talk();
    transcript.fold_all(Parts::Tools);
    transcript.fold_all(Parts::Thinking);
    transcript.go(Move::Top);
    insta::assert_snapshot!(screen(&mut transcript, &session, 80, 24), @"

    › The last page of the pager is empty. Why?

    ∴ The count of pages may be one too high.

      I look at how pages are counted.

    • grep /fn last/ in src
      src/pager.rs:11: fn last(pages: usize) -> usize {

    • read src/pager.rs:10-13  4 lines

      fn last(pages: usize) -> usize {
          pages
      }

    • edit src/pager.rs  +1 -1
      11   fn last(pages: usize) -> usize {
      12 -     pages
      12 +     pages - 1
      13   }

    ✗ $ cargo test -p pager
      running 2 tests
    ");
}

/// The colours of a screen: the styles of each row.
fn styles(theme: &Theme, row_of: &str) -> Cell {
    let (session, mut transcript) = talk();
    transcript.go(Move::Top);
    let area = Rect::new(0, 0, 80, 60);
    fill(&mut transcript, &session, theme, area.as_size());
    let mut buf = Buffer::empty(area);
    transcript.view(theme, area, &mut buf);
    for y in 0..area.height {
        let row: String = (0..area.width).map(|x| buf[(x, y)].symbol()).collect();
        if let Some(at) = row.find(row_of) {
            return buf[(row[..at].chars().count() as u16, y)].clone();
        }
    }
    panic!("{row_of} is not on the screen");
}

#[test]
fn colours_are_those_of_the_theme() {
    for theme in [Theme::dark(), Theme::light()] {
        for (text, token, ground) in [
            ("The last page", Token::UserMessageText, Some(Token::UserMessageBg)),
            ("The count of pages", Token::ThinkingText, None),
            ("src/pager.rs:10", Token::Accent, Some(Token::ToolSuccessBg)),
            ("12 -     ", Token::ToolDiffRemoved, Some(Token::ToolSuccessBg)),
            ("12 +     ", Token::ToolDiffAdded, Some(Token::ToolSuccessBg)),
            ("test first", Token::ToolOutput, Some(Token::ToolErrorBg)),
            ("[exit code", Token::Error, Some(Token::ToolErrorBg)),
            ("reminder", Token::CustomMessageLabel, Some(Token::CustomMessageBg)),
            ("saturating_sub", Token::SyntaxFunction, None),
            ("the docs", Token::MdLink, None),
            ("$ git", Token::BashMode, None),
        ] {
            let cell = styles(&theme, text);
            let ground = ground.map(|ground| theme.style(ground).bg.unwrap()).unwrap_or_default();
            assert_eq!(
                (cell.fg, cell.bg),
                (theme.style(token).fg.unwrap_or_default(), ground),
                "{text} in {}",
                theme.name()
            );
        }
    }
}

#[test]
fn one_part_is_opened_by_focus() {
    let (session, mut transcript) = talk();
    transcript.go(Move::Top);
    let before = screen(&mut transcript, &session, 80, 24);
    assert!(!before.contains("      pages\n"));
    assert!(!transcript.toggle(), "nothing has the focus");
    // The thought and the search come first.
    (0..3).for_each(|_| transcript.focus(true));
    assert!(transcript.toggle());
    let open = screen(&mut transcript, &session, 80, 24);
    assert!(open.contains("      pages\n"), "{open}");
    transcript.focus(true);
    transcript.focus(false);
    assert!(transcript.toggle());
    assert_eq!(screen(&mut transcript, &session, 80, 24), before);
}

#[test]
fn pictures_stand_where_there_is_room_for_the_whole_of_them() {
    let data = crate::image::testing::block(60, 60);
    let picture = format!(
        r#"{{"role":"user","content":[{{"type":"text","text":"see"}},{{"type":"image","data":"{data}","mimeType":"image/png"}}]}}"#
    );
    let session = session(&[&picture, TALK[0]]);
    let size = PictureSize { cell: CellSize::default(), most: Size::new(60, 20) };
    let mut transcript = Transcript::new(Habits { picture_size: Some(size), ..Habits::default() });
    transcript.open(Path::of(session.tree(), session.leaf()));
    let area = Rect::new(2, 1, 40, 8);
    fill(&mut transcript, &session, &Theme::default(), area.as_size());
    let found: Vec<_> = transcript.pictures(area).into_iter().map(|(place, _)| place).collect();
    assert_eq!(found, [Rect::new(4, 3, 6, 3)]);
    let area = Rect { height: 4, ..area };
    fill(&mut transcript, &session, &Theme::default(), area.as_size());
    assert!(transcript.pictures(area).is_empty(), "its first row is above the screen");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_leaves_the_area_or_steers_the_terminal(
        hostile in "(\\PC|\u{1b}\\[[0-9]{0,3}[A-Zm]|\u{1b}\\]0;x\u{7}|[\u{0}-\u{1f}\u{7f}-\u{9f}\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2066}\u{feff}\u{301}]|漢|👩‍👩‍👧|لا|\n|`|\\||#){0,50}",
        (width, height) in (1_u16..60, 1_u16..20),
        is_open: bool,
    ) {
        let text = offshoot_session::json::quote(&hostile);
        let messages = [
            format!(r#"{{"role":"user","content":{text}}}"#),
            format!(r#"{{"role":"assistant","content":[{{"type":"text","text":{text}}},{{"type":"thinking","thinking":{text}}},{{"type":"toolCall","id":{text},"name":{text},"arguments":{{"a":{text}}}}},{{"type":"toolCall","id":"1","name":"edit","arguments":{{"path":{text},"oldText":"a","newText":{text}}}}}],"stopReason":"error","errorMessage":{text}}}"#),
            format!(r#"{{"role":"toolResult","toolCallId":{text},"toolName":{text},"content":[{{"type":"text","text":{text}}}],"isError":true}}"#),
            format!(r#"{{"type":"custom_message","customType":{text},"content":{text},"display":true}}"#),
            format!(r#"{{"role":"bashExecution","command":{text},"output":{text}}}"#),
            format!(r#"{{"type":"compaction","summary":{text},"tokensBefore":1}}"#),
        ];
        let session = session(&messages.iter().map(String::as_str).collect::<Vec<_>>());
        let mut transcript = opened(&session);
        if is_open {
            transcript.fold_all(Parts::Tools);
            transcript.fold_all(Parts::Thinking);
        }
        let theme = Theme::default();
        let whole = Rect::new(0, 0, width + 6, height + 4);
        let area = Rect::new(3, 2, width, height);
        let untouched = Cell::new("#");
        loop {
            fill(&mut transcript, &session, &theme, Size::new(width, height));
            let mut buf = Buffer::filled(whole, untouched.clone());
            transcript.view(&theme, area, &mut buf);
            for y in 0..whole.height {
                for x in 0..whole.width {
                    let cell = &buf[(x, y)];
                    let is_inside = area.contains(ratatui::layout::Position { x, y });
                    prop_assert!(is_inside || *cell == untouched, "{x} {y} {cell:?}");
                    prop_assert!(!cell.symbol().chars().any(|c| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')), "{cell:?}");
                }
            }
            if transcript.scroll_position().first == 0 {
                break;
            }
            transcript.go(Move::PageUp);
        }
    }
}
