//! Diffs as rows.

use super::*;

fn shown(diff: &str, width: usize) -> String {
    let line = |line: &Line<'_>| {
        let pieces = line.spans.iter().map(|span| {
            let is_marked = span.style.add_modifier.contains(Modifier::REVERSED);
            if is_marked { format!("⟦{}⟧", span.content) } else { span.content.to_string() }
        });
        pieces.collect::<String>().trim_end().to_owned() + "\n"
    };
    lines(diff, &Theme::default(), width).iter().map(line).collect()
}

#[test]
fn lines_have_numbers_and_what_changed_in_one_stands_out() {
    let diff = "    ...\n  9 fn last() {\n-10     let last = pages;\n+10     let last = pages - 1;\n 11 }\n-12 a\n-13 b\n+12 c";
    insta::assert_snapshot!(shown(diff, 60), @"
          ...
     9   fn last() {
    10 -     let last = pages;
    10 +     let last = pages⟦ - 1⟧;
    11   }
    12 - a
    13 - b
    12 + c
    ");
    assert_eq!(counts(diff), (2, 3));
}

#[test]
fn names_that_a_point_joins_are_words_of_their_own() {
    insta::assert_snapshot!(shown("-2     text.split(' ').count()\n+2     text.split_whitespace().count()", 60), @"
    2 -     text.⟦split⟧(⟦' '⟧).count()
    2 +     text.⟦split_whitespace⟧().count()
    ");
}

#[test]
fn long_lines_go_on_below_themselves() {
    insta::assert_snapshot!(shown("+1 let name = compute(value, other);\n-123 x", 20), @"
    1 + let name = compu
        te(value, other)
        ;
    123 - x
    ");
    insta::assert_snapshot!(shown("+1 abcdef", 6), @"
    1 + ab
    cdef
    ");
}

#[test]
fn lines_without_numbers_are_shown_as_they_are() {
    for (diff, expected) in
        [("", ""), ("+x", " + x\n"), ("odd", "   dd\n"), ("-", " -\n"), ("+7", "7 +\n"), ("+7 ", "7 +\n")]
    {
        assert_eq!(shown(diff, 30), expected, "{diff:?}");
    }
}

#[test]
fn an_account_of_two_texts_is_what_the_tool_would_give() {
    assert_eq!(account("a\nb\nc", "a\nB\nc\nd"), " 1 a\n-2 b\n+2 B\n 3 c\n+4 d");
    assert_eq!(account("", "x\n"), "+1 x");
    let large = "line\n".repeat(60_000);
    assert_eq!(counts(&account(&large, "x")), (1, 60_000));
}

#[test]
fn a_change_of_many_lines_is_cut() {
    let diff = "+1 x\n".repeat(5_000);
    let lines = lines(&diff, &Theme::default(), 40);
    assert_eq!((lines.len(), lines[2_000].to_string().as_str()), (2_001, "… 3,000 more lines"));
}
