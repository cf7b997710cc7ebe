//! Markdown as rows, all at once and streamed.

use proptest::prelude::*;

use super::*;

const SAMPLE: &str = "\
# The pager

A *short* look at **what** it does, with `inline code`, ~~old words~~ and a [link](https://example.org/pager).
See also <https://example.org>.

## Steps

1. Read the file
2. Count the lines
   - empty ones too
   - and the last

- [x] done
- [ ] to do

> What is quoted
> goes on.

```rust
fn last(page: usize) -> usize {
    page.saturating_sub(1) // never below zero
}
```

| Name | Pages | Note |
|:-----|------:|:----:|
| a.txt | 12 | short |
| longer-name.txt | 3 | — |

---

### Done
";

fn shown(lines: &[Line<'_>]) -> String {
    lines.iter().map(|line| line.to_string().trim_end().to_owned() + "\n").collect()
}

fn at(text: &str, width: usize) -> String {
    shown(&lines(text, &Sheet::new(&Theme::default(), width)))
}

#[test]
fn everything_at_80_columns() {
    insta::assert_snapshot!(at(SAMPLE, 80), @"
    The pager

    A short look at what it does, with inline code, old words and a link
    (https://example.org/pager). See also https://example.org.

    Steps

    1. Read the file
    2. Count the lines
       • empty ones too
       • and the last

    ☑ done
    ☐ to do

    │ What is quoted goes on.

    ```rust
    fn last(page: usize) -> usize {
        page.saturating_sub(1) // never below zero
    }
    ```

    Name            │ Pages │ Note
    ────────────────┼───────┼──────
    a.txt           │    12 │ short
    longer-name.txt │     3 │   —

    ────────────────────────────────────────────────────────────────────────────────

    ### Done
    ");
}

#[test]
fn everything_at_36_columns() {
    insta::assert_snapshot!(at(SAMPLE, 36), @"
    The pager

    A short look at what it does, with
    inline code, old words and a link
    (https://example.org/pager). See
    also https://example.org.

    Steps

    1. Read the file
    2. Count the lines
       • empty ones too
       • and the last

    ☑ done
    ☐ to do

    │ What is quoted goes on.

    ```rust
    fn last(page: usize) -> usize {
        page.saturating_sub(1) // never
    below zero
    }
    ```

    Name            │ Pages │ Note
    ────────────────┼───────┼──────
    a.txt           │    12 │ short
    longer-name.txt │     3 │   —

    ────────────────────────────────────

    ### Done
    ");
}

#[test]
fn tables_that_do_not_fit_wrap_and_then_become_lists() {
    let table =
        "| Command | What it does |\n|---|---|\n| tree | shows the whole tree of a session |\n| pop | goes back |\n";
    insta::assert_snapshot!(at(table, 28), @"
    Command │ What it does
    ────────┼───────────────────
    tree    │ shows the whole
            │ tree of a session
    ────────┼───────────────────
    pop     │ goes back
    ");
    insta::assert_snapshot!(at("|a|b|c|d|e|\n|-|-|-|-|-|\n|one one|two two|three|four|five|\n|6|7|8|9|10|", 20), @"
    a: one one
    b: two two
    c: three
    d: four
    e: five
    ────────
    a: 6
    b: 7
    c: 8
    d: 9
    e: 10
    ");
}

#[test]
fn lists_are_as_close_as_they_were_written() {
    insta::assert_snapshot!(at("- a\n- b\n\n  c\n- d\n", 20), @"
    • a
    • b

      c
    • d
    ");
    insta::assert_snapshot!(at("- a\n  ```\n  x\n  ```\n-\n- long words that go on and on\n    1. deeper\n", 20), @"
    • a
      ```
      x
      ```
    •
    • long words that go
      on and on
      1. deeper
    ");
    insta::assert_snapshot!(at("> - a\n>\n>   b\n>\n> > c\n", 20), @"
    │ • a
    │
    │   b
    │
    │ │ c
    ");
}

#[test]
fn links_tell_where_they_lead_when_they_hide_it() {
    for (given, expected) in [
        ("[here](https://a.example/x)", "here (https://a.example/x)\n"),
        ("[https://a.example](https://b.example)", "https://a.example (https://b.example)\n"),
        ("[a.example](https://a.example/)", "a.example\n"),
        ("<https://a.example>", "https://a.example\n"),
        ("<me@a.example>", "me@a.example\n"),
        ("[a](b \"title\")", "a (b)\n"),
        ("[name]\n\n[name]: https://a.example", "[name]\n\n[name]: https://a.example\n"),
        ("![a cat](cat.png)", "[image: a cat] (cat.png)\n"),
        ("[bad](javascript:alert)", "bad (javascript:alert)\n"),
    ] {
        assert_eq!(at(given, 60), expected, "{given}");
    }
}

#[test]
fn the_words_alone() {
    for (given, expected) in [
        ("It says: **buy milk**.\n\n- one\n- `two`", "It says: buy milk. one two"),
        ("It says: **buy milk**. - one - `two`", "It says: buy milk. one two"),
        ("## Goal\n[see](https://a.example)\n> x", "Goal see x"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a b 1 2"),
        ("Run it: ```sh $ ls -l ``` and", "Run it: $ ls -l and"),
        ("```rust fn main() {} ```", "fn main() {}"),
        ("```ls | wc -l```", "ls | wc -l"),
        ("so: ``` $ printf 'one…", "so: $ printf 'one…"),
        ("a\u{1b}[2J\u{202e}b", "a␛[2J\\u{202e}b"),
        ("漢字漢字漢字漢字漢字漢字漢字漢字", "漢字漢字漢字漢字漢字漢字漢字…"),
        ("", ""),
    ] {
        assert_eq!(plain(given, 30), expected, "{given}");
    }
}

#[test]
fn a_text_without_markdown_is_what_the_parser_makes_of_it() {
    let pieces = [
        "a", "Word", " ", "  ", "1", ".", ")", "(", "-", "+", "=", ":", "_", "*", "`", "#", ">", "<b>", "&amp;", "[",
        "]", "!", "~~", "|", "\\", "x = y", "http://", "@", "$", "{", "}", "/", "'", "\"", "…", "é", "\t",
    ];
    let (mut seed, mut plain_ones) = (7_u64, 0);
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..8 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Half of the pieces are words, so that some texts have no markdown.
            let at = (seed >> 33) as usize;
            text.push_str(pieces[if at.is_multiple_of(2) { at / 2 % 3 } else { at / 2 % pieces.len() }]);
        }
        plain_ones += usize::from(is_plain(&text));
        assert_eq!(plain(&text, 40), parsed_plain(&text, 40), "{text:?}");
    }
    assert!(plain_ones > 500, "{plain_ones} of them need no parser");
}

#[test]
fn nothing_steers_the_terminal() {
    for hostile in [
        "\u{1b}[2Jx",
        "&#27;[2Jx",
        "`\u{1b}]0;t\u{7}x`",
        "[x](\u{9b}2J)",
        "```\u{1b}c\n\u{1b}cx\n```",
        "|\u{202e}x|\n|-|\n|\u{7}x|",
    ] {
        let shown = at(hostile, 20);
        assert!(shown.contains('x') && !shown.chars().any(|c| c.is_control() && c != '\n'), "{hostile:?}: {shown:?}");
    }
}

#[test]
fn what_is_too_long_is_told() {
    let text = "word\n\n".repeat(MAX_BYTES / 6 + 1_000);
    let lines = lines(&text, &Sheet::new(&Theme::default(), 40));
    assert_eq!(lines.last().unwrap().to_string(), "… 6 KB more are not shown");
    let mut stream = Stream::default();
    stream.push(&text);
    stream.lay_out(&Sheet::new(&Theme::default(), 40));
    assert_eq!(stream.open().last(), lines.last());
}

#[test]
fn deep_nesting_leaves_room_for_the_text() {
    let text = format!("{}deep words here", "> - ".repeat(2_000));
    let lines = lines(&text, &Sheet::new(&Theme::default(), 40));
    assert!(lines.iter().all(|line| text::line_width(line) <= 40));
    assert!(shown(&lines).contains("deep words here"));
}

/// Checks after each piece that the stream shows the same rows as the text so far.
fn check_pieces<'a>(pieces: impl IntoIterator<Item = &'a str>, width: usize) {
    let theme = Theme::default();
    let sheet = Sheet::new(&theme, width);
    let (mut stream, mut whole) = (Stream::default(), String::new());
    for piece in pieces {
        stream.push(piece);
        whole.push_str(piece);
        stream.lay_out(&sheet);
        let streamed = [stream.settled(), stream.open()].concat();
        assert_eq!(streamed, lines(&whole, &sheet), "{whole:?}");
    }
}

#[test]
fn a_text_that_comes_letter_by_letter_looks_as_at_once() {
    for width in [12, 36, 80] {
        check_pieces(SAMPLE.split_inclusive(|_: char| true), width);
    }
}

#[test]
fn only_what_may_still_change_stays_open() {
    let theme = Theme::default();
    let sheet = Sheet::new(&theme, 40);
    let mut stream = Stream::default();
    for number in 0..1_000 {
        stream.push(&format!("Paragraph {number}\n\n"));
        stream.lay_out(&sheet);
        assert!(stream.open().is_empty(), "an empty line ends a paragraph: {:?}", stream.open());
        stream.push("# A hea");
        stream.lay_out(&sheet);
        assert_eq!(stream.open().len(), 2, "{:?}", stream.open());
        stream.push("ding\n");
    }
    stream.lay_out(&sheet);
    assert_eq!(stream.settled().len(), 3_999);
}

proptest! {
    #[test]
    fn in_any_pieces_a_text_looks_as_at_once(
        pieces in prop::collection::vec(prop_oneof![
            Just("\n"), Just("\n\n"), Just("- "), Just("1. "), Just("2) "), Just("> "), Just("#"), Just("## "), Just("```"),
            Just("```rust\n"), Just("~~~"), Just("    "), Just("  "), Just(" "), Just("---"), Just("==="), Just("*"), Just("**"),
            Just("`"), Just("|"), Just("|a|b|\n|-|-|\n"), Just("[a]"), Just("[a]: /b"), Just("(x)"), Just("<b>"), Just("<!--"),
            Just("-->"), Just("</div>"), Just("<div>\n"), Just("\t"), Just("\\"), Just("&#27;"), Just("\u{1b}["), Just("\u{1b}]0;"),
            Just("\r\n"), Just("word"), Just("fn x()"), Just("[ ] "), Just("[x] "), Just("é漢"), Just("\u{0}"), Just("/*"), Just("~~"),
        ], 1..40),
        width in 3_usize..50,
    ) {
        check_pieces(pieces, width);
    }

    #[test]
    fn no_row_is_wider_than_the_sheet(text in "([a-z#>*`|\\[\\]()! \n\t-]|漢|é|\u{301}|[0-9]\\. |\\|-\\|){0,200}", width in 1_usize..40) {
        let lines = lines(&text, &Sheet::new(&Theme::default(), width));
        prop_assert!(lines.iter().all(|line| text::line_width(line) <= width), "{:?}", lines);
    }
}
