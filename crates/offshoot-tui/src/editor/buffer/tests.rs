//! Changes of a text, as tables.

use super::*;

fn typed(text: &str) -> EditBuffer {
    let mut buffer = EditBuffer::default();
    text.chars().for_each(|at| buffer.type_char(at));
    buffer
}

/// The text with a `|` at the cursor.
fn seen(buffer: &EditBuffer) -> String {
    let (before, after) = buffer.text.split_at(buffer.cursor);
    format!("{before}|{after}")
}

#[test]
fn a_word_is_undone_at_once() {
    let mut buffer = typed("one two three");
    for expected in ["one two|", "one|", "|", "|"] {
        buffer.undo();
        assert_eq!(seen(&buffer), expected);
    }
}

#[test]
fn graphemes_are_never_taken_apart() {
    let mut buffer = typed("e\u{301}👍🏽日");
    assert_eq!(buffer.text(), "e\u{301}👍🏽日");
    for expected in ["e\u{301}👍🏽|", "e\u{301}|", "|"] {
        buffer.delete(Way::Back);
        assert_eq!(seen(&buffer), expected);
    }
}

#[test]
fn what_could_steer_the_terminal_is_not_written() {
    let buffer = typed("a\u{1b}\u{202e}\u{200b}b\u{301}");
    assert_eq!(buffer.text(), "ab\u{301}");
    let mut buffer = EditBuffer::default();
    buffer.paste("x\u{1b}[31mred\r\nnext\tend");
    assert_eq!(buffer.text(), "x[31mred\nnext    end");
}

#[test]
fn kills_in_a_row_come_back_together() {
    let mut buffer = typed("one two three");
    buffer.kill(Way::Back, Reach::Word);
    buffer.kill(Way::Back, Reach::Word);
    assert_eq!(seen(&buffer), "one |");
    buffer.go(Way::Back, Reach::Line);
    buffer.kill(Way::Forward, Reach::Line);
    assert_eq!(seen(&buffer), "|");
    buffer.yank();
    assert_eq!(seen(&buffer), "one |");
    buffer.yank_pop();
    assert_eq!(seen(&buffer), "two three|");
    buffer.yank_pop();
    assert_eq!(seen(&buffer), "one |");
    buffer.type_char('x');
    buffer.yank_pop();
    assert_eq!(seen(&buffer), "one x|");
}

#[test]
fn at_the_edge_of_a_line_its_end_is_killed() {
    let mut buffer = typed("a\nb");
    buffer.go(Way::Back, Reach::Line);
    buffer.kill(Way::Back, Reach::Line);
    assert_eq!(seen(&buffer), "a|b");
}

#[test]
fn a_long_paste_is_one_piece_and_expands() {
    let long = (1..=12).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
    let mut buffer = typed("see ");
    buffer.paste(&long);
    assert_eq!(seen(&buffer), "see [paste #1 +12 lines]|");
    buffer.paste(&"x".repeat(1001));
    assert_eq!(buffer.text(), "see [paste #1 +12 lines][paste #2 1001 chars]");
    assert_eq!(buffer.expanded(), format!("see {long}{}", "x".repeat(1001)));
    buffer.go(Way::Back, Reach::Unit);
    buffer.go(Way::Back, Reach::Word);
    assert_eq!(buffer.cursor(), 4);
    buffer.go_to(10);
    assert_eq!(buffer.cursor(), 4);
    buffer.delete(Way::Forward);
    assert_eq!(buffer.text(), "see [paste #2 1001 chars]");
    buffer.undo();
    assert_eq!(buffer.expanded().len(), 4 + long.len() + 1001);
}

#[test]
fn a_marker_that_nobody_pasted_is_text() {
    let mut buffer = typed("[paste #1 +12 lines]");
    assert_eq!(buffer.expanded(), "[paste #1 +12 lines]");
    buffer.delete(Way::Back);
    assert_eq!(buffer.text(), "[paste #1 +12 lines");
}

#[test]
fn tabs_of_a_long_paste_stay() {
    let long = "\tx\n".repeat(11);
    let mut buffer = EditBuffer::default();
    buffer.paste(&long);
    assert_eq!(buffer.expanded(), long);
}

#[test]
fn a_path_behind_a_word_gets_a_space() {
    let mut buffer = typed("see");
    buffer.paste("/tmp/x");
    assert_eq!(buffer.text(), "see /tmp/x");
    buffer.paste("/y");
    assert_eq!(buffer.text(), "see /tmp/x /y");
}

#[test]
fn jumps_go_to_characters() {
    let mut buffer = typed("abcabc");
    assert!(buffer.jump(Way::Back, 'b'));
    assert_eq!(seen(&buffer), "abca|bc");
    assert!(buffer.jump(Way::Back, 'b'));
    assert!(buffer.jump(Way::Forward, 'c'));
    assert_eq!(seen(&buffer), "ab|cabc");
    assert!(!buffer.jump(Way::Forward, 'z'));
}

#[derive(Debug, Clone)]
enum Op {
    Type(char),
    Paste(String),
    Go(bool, u8),
    GoTo(usize),
    Delete(bool),
    Kill(bool, u8),
    Yank,
    YankPop,
    Undo,
}

fn ops() -> impl proptest::strategy::Strategy<Value = Vec<Op>> {
    use proptest::prelude::*;
    let op = prop_oneof![
        4 => any::<char>().prop_map(Op::Type),
        2 => proptest::char::ranges(vec!['a'..='e', '\n'..='\n', '\u{300}'..='\u{305}', '👍'..='👍'].into()).prop_map(Op::Type),
        1 => "(\\PC|\n|\t|\u{1b}){0,30}".prop_map(Op::Paste),
        1 => "(ab\n){11,14}".prop_map(Op::Paste),
        2 => (any::<bool>(), 0_u8..3).prop_map(|(way, reach)| Op::Go(way, reach)),
        1 => (0_usize..80).prop_map(Op::GoTo),
        2 => any::<bool>().prop_map(Op::Delete),
        1 => (any::<bool>(), 1_u8..3).prop_map(|(way, reach)| Op::Kill(way, reach)),
        1 => Just(Op::Yank),
        1 => Just(Op::YankPop),
        1 => Just(Op::Undo),
    ];
    proptest::collection::vec(op, 0..40)
}

fn way(forward: bool) -> Way {
    if forward { Way::Forward } else { Way::Back }
}

fn reach(number: u8) -> Reach {
    [Reach::Unit, Reach::Word, Reach::Line][usize::from(number)]
}

proptest::proptest! {
    /// After any operations the cursor is between graphemes, the text is harmless, and undoing everything leaves it
    /// empty.
    #[test]
    fn nothing_breaks_the_text(ops in ops()) {
        let mut buffer = EditBuffer::default();
        for op in ops {
            match op {
                Op::Type(at) => buffer.type_char(at),
                Op::Paste(text) => buffer.paste(&text),
                Op::Go(forward, far) => buffer.go(way(forward), reach(far)),
                Op::GoTo(at) => buffer.go_to(at),
                Op::Delete(forward) => buffer.delete(way(forward)),
                Op::Kill(forward, far) => buffer.kill(way(forward), reach(far)),
                Op::Yank => buffer.yank(),
                Op::YankPop => buffer.yank_pop(),
                Op::Undo => { buffer.undo(); }
            }
            proptest::prop_assert!(buffer.text.is_char_boundary(buffer.cursor));
            proptest::prop_assert!(!buffer.text.chars().any(|at| at.is_control() && at != '\n'));
        }
        while buffer.undo() {}
        proptest::prop_assert_eq!(buffer.text(), "");
    }
}
