//! Every kind of message, tool and mark as rows.

use offshoot_session::json::{Json, quote};
use offshoot_session::kind::Role;
use offshoot_session::transcript::{Answer, ItemPart, ToolCall};
use proptest::prelude::*;

use super::*;
use crate::text;

fn item(message: &str) -> Item {
    let json = Json::parse(message).unwrap();
    let role = Role::from_word(json.str("role").unwrap().as_bytes());
    Item::of_message(role, json)
}

fn result(message: &str) -> Arc<ToolResult> {
    match item(message) {
        Item::Result(result) => Arc::new(result),
        other => panic!("{other:?}"),
    }
}

fn habits() -> Habits {
    Habits {
        cwd: "/home/me/project".to_owned(),
        home: "/home/me".to_owned(),
        expand_key: "ctrl+o".to_owned(),
        thinking_key: "ctrl+t".to_owned(),
        ..Habits::default()
    }
}

fn rows_of(lines: &[Line<'_>]) -> String {
    lines.iter().map(|line| line.to_string().trim_end().to_owned() + "\n").collect()
}

fn laid(item: &Item, results: &[Arc<ToolResult>], width: usize, is_open: bool) -> RenderedRows {
    let (theme, habits) = (Theme::default(), habits());
    let look = RowRenderer { theme: &theme, width, habits: &habits };
    let folds = Folds { thinking: is_open, tools: is_open, other: &[] };
    look.rows(item, folds, AnswerContext { results, ..AnswerContext::default() })
}

fn shown(message: &str, results: &[&str], width: usize) -> String {
    let results: Vec<_> = results.iter().map(|message| result(message)).collect();
    rows_of(&laid(&item(message), &results, width, false).lines)
}

fn open(message: &str, results: &[&str], width: usize) -> String {
    let results: Vec<_> = results.iter().map(|message| result(message)).collect();
    rows_of(&laid(&item(message), &results, width, true).lines)
}

fn answer(blocks: &str) -> String {
    format!(r#"{{"role":"assistant","content":[{blocks}],"stopReason":"toolUse"}}"#)
}

fn call(name: &str, arguments: &str) -> String {
    answer(&format!(r#"{{"type":"toolCall","id":"c","name":"{name}","arguments":{arguments}}}"#))
}

fn gives(text: &str) -> String {
    let text = quote(text);
    format!(
        r#"{{"role":"toolResult","toolCallId":"c","toolName":"x","content":[{{"type":"text","text":{text}}}],"isError":false}}"#
    )
}

fn fails(text: &str) -> String {
    gives(text).replace("\"isError\":false", "\"isError\":true")
}

#[test]
fn a_question_stands_as_it_was_typed() {
    let question = r#"{"role":"user","content":[{"type":"text","text":"why does *this* fail?\n\n  indented\n"},{"type":"image","data":"aaaaaaaa","mimeType":"image/png"}]}"#;
    insta::assert_snapshot!(shown(question, &[], 40), @"

    › why does *this* fail?

        indented
      [image: image/png, 6 B, not shown: it…
    ");
}

/// Regression: the line that tells the model of a picture was shown as the model sees it.
#[test]
fn a_long_paste_is_one_row_until_it_is_opened() {
    let paste: String = (1..=500).map(|at| format!("row {at} of the log\n")).collect();
    let message = format!(r#"{{"role":"user","content":{}}}"#, quote(&format!("why does this fail?\n{paste}")));
    insta::assert_snapshot!(shown(&message, &[], 60), @"

    › why does this fail? … 500 more lines (ctrl+o opens)
    ");
    insta::assert_snapshot!(shown(&message, &[], 40), @"

    › … 501 lines (ctrl+o opens)
    ");
    assert!(open(&message, &[], 60).contains("row 499 of the log\n"));
}

#[test]
fn an_attached_picture_is_its_name_and_size() {
    let question = r#"{"role":"user","content":[{"type":"text","text":"<file name=\"/home/me/pic.png\"></file>\n<file name=\"/home/me/big.png\">[scaled from 9000×10]</file>\nwhat is this?\n<file name=\"typed\"></file>"},{"type":"image","data":"aaaaaaa=","mimeType":"image/png"},{"type":"image","data":"aaaaaaaa","mimeType":"image/png"}]}"#;
    insta::assert_snapshot!(shown(question, &[], 60), @"

    › @pic.png (5 bytes)
      @big.png (6 bytes) [scaled from 9000×10]
      what is this?
      <file name=\"typed\"></file>
      [image: image/png, not shown: it is not base64]
      [image: image/png, 6 B, not shown: its form is not known]
    ");
}

#[test]
fn an_answer_shows_thoughts_folded_and_open() {
    let message = answer(
        r#"{"type":"thinking","thinking":"**First** I look at the pager, since that is where pages are counted.\n\nThen I count."},{"type":"thinking","thinking":"Third."},{"type":"text","text":"It is an *off-by-one*:\n\n- the last page"}"#,
    );
    insta::assert_snapshot!(shown(&message, &[], 60), @"

    ∴ First I look at the pager, since that is where p… (ctrl+t)

      It is an off-by-one:

      • the last page
    ");
    insta::assert_snapshot!(open(&message, &[], 60), @"

    ∴ First I look at the pager, since that is where pages are
      counted.

      Then I count.

      Third.

      It is an off-by-one:

      • the last page
    ");
}

#[test]
fn answers_that_did_not_end_well_say_so() {
    for (end, expected) in [
        (r#""stopReason":"aborted""#, "✗ stopped"),
        (r#""stopReason":"length""#, "✗ cut off: the answer reached its length limit"),
        (r#""stopReason":"error","errorMessage":"overloaded""#, "✗ error: overloaded"),
        (r#""stopReason":"error""#, "✗ error: the model gave no answer"),
    ] {
        let shown = shown(&format!(r#"{{"role":"assistant","content":[],{end}}}"#), &[], 60);
        assert_eq!(shown.trim(), expected);
    }
    assert_eq!(shown(&answer(""), &[], 60), "", "nothing was said");
}

#[test]
fn commands_show_the_end_of_what_they_printed() {
    let message = call("bash", r#"{"command":"cargo test -p pager","timeout":30}"#);
    let printed: String = (1..=12).map(|n| format!("test {n} ... ok\n")).collect();
    insta::assert_snapshot!(shown(&message, &[&gives(&printed)], 50), @"

    • $ cargo test -p pager  at most 30 s
      … 7 earlier lines (ctrl+o opens)
      test 8 ... ok
      test 9 ... ok
      test 10 ... ok
      test 11 ... ok
      test 12 ... ok
    ");
    insta::assert_snapshot!(shown(&message, &[&fails("boom\n\n[exit code 101]")], 50), @"

    ✗ $ cargo test -p pager  at most 30 s
      boom
      [exit code 101]
    ");
    insta::assert_snapshot!(shown(&message, &[], 50), @"

    ◦ $ cargo test -p pager  at most 30 s
      no result
    ");
    assert_eq!(open(&message, &[&gives(&printed)], 50).lines().count(), 14);
    let long = call("bash", &format!(r#"{{"command":{}}}"#, quote(&"line\n".repeat(9))));
    insta::assert_snapshot!(shown(&long, &[&gives("")], 50), @"

    • $ line
      line
      line
      line
      … 5 more lines (ctrl+o opens)
    ");
}

/// The line that tells the model of the picture was counted: `1 line`.
#[test]
fn a_picture_that_was_read_says_its_size_in_pixels() {
    let message = call("read", r#"{"path":"shot.png"}"#);
    let data = crate::image::testing::block(60, 40);
    let picture = format!(r#",{{"type":"image","data":"{data}","mimeType":"image/png"}}]"#);
    let result = gives("Read image file [image/png]").replacen(r#""}]"#, &format!(r#""}}{picture}"#), 1);
    let rows = shown(&message, &[&result], 60);
    assert!(rows.contains("read shot.png  60×40\n"), "{rows}");
    let broken = result.replacen(&data, "aaaa", 1);
    assert!(shown(&message, &[&broken], 60).contains("read shot.png\n"), "{rows}");
}

/// It is what the question below it is about, and stays after the answer.
#[test]
fn a_plan_is_shown_as_it_reads() {
    let planned = call("plan", r###"{"markdown":"## Lexer\n\n1. Read **exponents**.\n2. Test `1e5`.\u001b[2J"}"###);
    insta::assert_snapshot!(shown(&planned, &[], 40), @"

    ◦ plan
      Lexer

      1. Read exponents.
      2. Test 1e5.␛[2J
      no result
    ");
    insta::assert_snapshot!(shown(&planned, &[&gives("The user wants another plan: smaller")], 40), @"

    • plan
      Lexer

      1. Read exponents.
      2. Test 1e5.␛[2J
      The user wants another plan: smaller
    ");
    insta::assert_snapshot!(shown(&call("plan", "{}"), &[&fails("no markdown")], 40), @"

    ✗ plan
      no markdown
    ");
}

#[test]
fn files_that_are_read_and_written() {
    let message = call("read", r#"{"path":"/home/me/project/src/main.rs","offset":10,"limit":3}"#);
    let content = gives("fn main() {\n    start();\n}\n");
    insta::assert_snapshot!(shown(&message, &[&content], 50), @"

    • read src/main.rs:10-12  3 lines
    ");
    insta::assert_snapshot!(open(&message, &[&content], 50), @"

    • read src/main.rs:10-12  3 lines
      fn main() {
          start();
      }
    ");
    insta::assert_snapshot!(shown(&message, &[&fails("no such file")], 50), @"

    ✗ read src/main.rs:10-12
      no such file
    ");
    let lines: String = (1..=14).map(|n| format!("line {n}\n")).collect();
    let message = call("write", &format!(r#"{{"path":"/home/me/notes.md","content":{}}}"#, quote(&lines)));
    insta::assert_snapshot!(shown(&message, &[&gives("wrote")], 50), @"

    • write ~/notes.md  14 lines
      line 1
      line 2
      line 3
      line 4
      line 5
      line 6
      line 7
      line 8
      line 9
      line 10
      … 4 more lines (ctrl+o opens)
    ");
}

#[test]
fn edits_show_what_changed() {
    let message = call(
        "edit",
        r#"{"path":"src/pager.rs","edits":[{"oldText":"let last = pages;","newText":"let last = pages - 1;"}]}"#,
    );
    let details = r#""details":{"diff":" 11 fn last() {\n-12     let last = pages;\n+12     let last = pages - 1;\n 13 }"},"isError""#;
    let result = gives("made 1 replacement").replace("\"isError\"", details);
    insta::assert_snapshot!(shown(&message, &[&result], 50), @"

    • edit src/pager.rs  +1 -1
      11   fn last() {
      12 -     let last = pages;
      12 +     let last = pages - 1;
      13   }
    ");
    insta::assert_snapshot!(shown(&message, &[], 50), @"

    ◦ edit src/pager.rs  +1 -1
      1 - let last = pages;
      1 + let last = pages - 1;
      no result
    ");
    insta::assert_snapshot!(shown(&message, &[&fails("edits[0] is not in the file")], 50), @"

    ✗ edit src/pager.rs
      edits[0] is not in the file
    ");
}

/// Story: the text of a tool of an extension with the name `edit` was nowhere.
#[test]
fn an_edit_that_names_no_change_shows_its_words() {
    let message = call("edit", r#"{"path":"a.rs","edits":[{"oldText":"one","newText":"two"}]}"#);
    insta::assert_snapshot!(shown(&message, &[&gives("not written: a dry run")], 50), @"

    • edit a.rs  +1 -1
      1 - one
      1 + two
      not written: a dry run
    ");
    insta::assert_snapshot!(shown(&call("edit", r#"{"path":"a.rs"}"#), &[&gives("asked elsewhere")], 50), @"

    • edit a.rs
      asked elsewhere
    ");
    insta::assert_snapshot!(shown(&call("write", r#"{"path":"a.rs"}"#), &[&gives("asked elsewhere")], 50), @"

    • write a.rs
      asked elsewhere
    ");
}

#[test]
fn searches_and_unknown_tools() {
    let found: String = (1..=13).map(|n| format!("src/a.rs:{n}: x\n")).collect();
    let message = call("grep", r#"{"pattern":"x+","path":"src","glob":"*.rs"}"#);
    insta::assert_snapshot!(shown(&message, &[&gives(&found)], 50), @"

    • grep /x+/ in src (*.rs)
      src/a.rs:1: x
      src/a.rs:2: x
      src/a.rs:3: x
      src/a.rs:4: x
      src/a.rs:5: x
      src/a.rs:6: x
      src/a.rs:7: x
      src/a.rs:8: x
      src/a.rs:9: x
      src/a.rs:10: x
      … 3 more lines (ctrl+o opens)
    ");
    insta::assert_snapshot!(shown(&call("ls", "{}"), &[&gives("a\nb/")], 50), @"

    • ls .
      a
      b/
    ");
    insta::assert_snapshot!(shown(&call("find", r#"{"pattern":"*.rs"}"#), &[&gives("a.rs")], 50), @"

    • find *.rs in .
      a.rs
    ");
    let other = call("weather", r#"{"place":"Bern","days":[1,2]}"#);
    insta::assert_snapshot!(shown(&other, &[&gives("rain")], 50), @r#"

    • weather {"place":"Bern","days":[1,2]}
      rain
    "#);
    insta::assert_snapshot!(open(&other, &[&gives("rain")], 50), @r#"

    • weather
      {
        "place": "Bern",
        "days": [
          1,
          2
        ]
      }
      rain
    "#);
}

#[test]
fn results_go_to_their_calls_and_others_stand_alone() {
    let message = answer(
        r#"{"type":"toolCall","id":"a","name":"ls","arguments":{"path":"one"}},{"type":"toolCall","id":"b","name":"ls","arguments":{"path":"two"}}"#,
    );
    let results = ["b", "a", "z"].map(|id| gives(&format!("of {id}")).replace("\"c\"", &format!("\"{id}\"")));
    insta::assert_snapshot!(shown(&message, &results.each_ref().map(String::as_str), 50), @"

    • ls one
      of a

    • ls two
      of b

    • x
      of z
    ");
}

#[test]
fn what_the_person_ran() {
    let run = r#"{"role":"bashExecution","command":"git status","output":"clean\n","exitCode":0,"cancelled":false,"truncated":false}"#;
    insta::assert_snapshot!(shown(run, &[], 60), @"

    ! $ git status
      clean
    ");
    let run = r#"{"role":"bashExecution","command":"make","output":"","exitCode":2,"cancelled":false,"truncated":true,"fullOutputPath":"/t/x","excludeFromContext":true}"#;
    insta::assert_snapshot!(shown(run, &[], 60), @"

    ! $ make  not sent to the model
      exit code 2
      all of the output is in /t/x
    ");
}

#[test]
fn marks_and_messages_of_extensions() {
    let of =
        |line: &str| Item::of_line(line).map(|item| rows_of(&laid(&item, &[], 50, false).lines)).unwrap_or_default();
    let opened = |line: &str| rows_of(&laid(&Item::of_line(line).unwrap(), &[], 50, true).lines);
    let compaction = r##"{"type":"compaction","summary":"# Goal\n\nMend the pager.","tokensBefore":53210}"##;
    insta::assert_snapshot!(of(compaction), @"

    ≡ compaction  53,210 tokens summarised  (ctrl+o)
    ");
    insta::assert_snapshot!(opened(compaction), @"

    ≡ compaction  53,210 tokens summarised

      Goal

      Mend the pager.
    ");
    insta::assert_snapshot!(of(r#"{"type":"branch_summary","fromId":"abcd1234","summary":"tried x"}"#), @"

    ≡ branch summary  of “tried x”  (ctrl+o opens)
    ");
    let note = r#"{"type":"custom_message","customType":"todo","content":"**one** thing","display":true}"#;
    insta::assert_snapshot!(of(note), @"

    ◆ todo
      one thing
    ");
    for hidden in [
        &note.replace("true", "false"),
        r#"{"type":"label","targetId":"x","label":"y"}"#,
        r#"{"type":"model_change","provider":"a","modelId":"b"}"#,
        r#"{"type":"thinking_level_change","thinkingLevel":"low"}"#,
        r#"{"type":"custom","customType":"offshoot.leaf"}"#,
        r#"{"type":"usage"}"#,
        r#"{"type":"no_such_thing","text":"x"}"#,
        r#"{"type":"message","message":{"role":"system","content":"x"}}"#,
    ] {
        assert_eq!(of(hidden), "", "{hidden}");
    }
}

#[test]
fn arguments_that_come_in_show_what_there_is() {
    let theme = Theme::default();
    let habits = habits();
    let look = RowRenderer { theme: &theme, width: 50, habits: &habits };
    let beside = AnswerContext { is_live: true, ..AnswerContext::default() };
    for (tool, arguments, expected) in [
        ("bash", "", "◦ $"),
        ("bash", r#"{"command":"cargo te"#, "◦ $ cargo te"),
        ("bash", r#"{"command":"say \"hi\" \u00e"#, "◦ $ say \"hi\""),
        ("read", r#"{"path": "/home/me/a.r"#, "◦ read ~/a.r"),
        ("edit", r#"{"path":"a.rs","edits":[{"oldText":"x"#, "◦ edit a.rs"),
        ("other", r#"{"path":"a"#, "◦ other"),
    ] {
        let call = ToolCall {
            id: String::new(),
            name: tool.to_owned(),
            arguments: arguments.to_owned(),
            ..ToolCall::default()
        };
        let item = Item::Answer(Answer { parts: vec![ItemPart::Call(call)], ..Answer::default() });
        assert_eq!(rows_of(&look.rows(&item, Folds::default(), beside).lines).trim(), expected);
    }
}

#[test]
fn a_call_that_was_not_run_is_seen_as_such() {
    for (tool, arguments) in [("bash", "{}"), ("write", r#"{"path":"a"}"#), ("edit", "{}"), ("other", r#"{"a":1}"#)] {
        let answer = item(&format!(
            r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"c","name":"{tool}","arguments":{arguments},"argumentsError":"cut at character 9\n\nThe text"}}]}}"#,
        ));
        let told = result(
            r#"{"role":"toolResult","toolCallId":"c","isError":true,"content":[{"type":"text","text":"Not run."}]}"#,
        );
        for is_open in [false, true] {
            let rows = rows_of(&laid(&answer, &[Arc::clone(&told)], 100, is_open).lines);
            let first = format!("✗ {tool} not run: its arguments cannot be read: cut at character 9");
            assert!(rows.trim().starts_with(&first), "{rows}");
            assert!(rows.contains("Not run.") && !rows.contains('{'), "{rows}");
        }
    }
}

#[test]
fn a_picture_gets_its_rows_where_the_terminal_can() {
    let size = PictureSize { cell: CellSize::default(), most: Size::new(60, 20) };
    let habits = Habits { picture_size: Some(size), ..habits() };
    let theme = Theme::default();
    let look = RowRenderer { theme: &theme, width: 40, habits: &habits };
    let data = crate::image::testing::block(60, 60);
    let item = item(&format!(
        r#"{{"role":"user","content":[{{"type":"text","text":"see"}},{{"type":"image","data":"{data}","mimeType":"image/png"}}]}}"#,
    ));
    let laid = look.rows(&item, Folds::default(), AnswerContext::default());
    let placed = &laid.pictures[0];
    assert_eq!((laid.lines.len(), placed.row, placed.column, placed.size), (5, 2, 2, (6, 3)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn hostile_text_in_any_field_stays_in_its_rows(
        hostile in "(\\PC|\u{1b}\\[[0-9]{0,3}[A-Zm]|\u{1b}\\]0;x\u{7}|[\u{0}-\u{1f}\u{7f}-\u{9f}\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2066}\u{feff}\u{301}]|漢|👩‍👩‍👧|\n){0,60}",
        width in 1_usize..70,
        is_open: bool,
    ) {
        let text = quote(&hostile);
        let arguments = format!(r#"{{"path":{text},"command":{text},"pattern":{text},"content":{text},"glob":{text},"edits":[{{"oldText":"a","newText":{text}}}]}}"#);
        let mut messages = vec![
            format!(r#"{{"role":"user","content":{text}}}"#),
            format!(r#"{{"role":"bashExecution","command":{text},"output":{text},"exitCode":1,"fullOutputPath":{text}}}"#),
            format!(r#"{{"role":"custom","customType":{text},"content":{text}}}"#),
            format!(r#"{{"role":"compactionSummary","summary":{text},"tokensBefore":1}}"#),
            format!(r#"{{"role":"branchSummary","summary":{text},"fromId":{text}}}"#),
            format!(r#"{{"role":"assistant","content":[{{"type":"text","text":{text}}},{{"type":"thinking","thinking":{text}}},{{"type":{text}}},{{"type":"image","data":"","mimeType":{text}}}],"stopReason":"error","errorMessage":{text}}}"#),
            gives(&hostile), fails(&hostile),
        ];
        for tool in ["bash", "read", "write", "edit", "grep", "find", "ls", "other"] {
            messages.push(call(tool, &arguments));
        }
        messages.push(answer(&format!(r#"{{"type":"toolCall","id":"c","name":{text},"arguments":{arguments}}}"#)));
        let diff = gives("x").replace("\"isError\"", &format!(r#""details":{{"diff":{text}}},"isError""#));
        for message in &messages {
            for result in [gives(&hostile), fails(&hostile), diff.clone()] {
                let laid = laid(&item(message), &[self::result(&result)], width, is_open);
                for line in &laid.lines {
                    prop_assert!(text::line_width(line) <= width, "{message}\n{line:?}");
                    prop_assert!(!line.to_string().chars().any(|c| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}')), "{message}\n{line:?}");
                }
            }
        }
    }
}

#[test]
fn a_megabyte_on_one_line_costs_what_is_shown() {
    let long = "x".repeat(1 << 20);
    for tool in ["bash", "read", "write", "edit", "grep"] {
        let arguments =
            format!(r#"{{"path":"a.rs","content":"{long}","edits":[{{"oldText":"a","newText":"{long}"}}]}}"#);
        let folded = laid(&item(&call(tool, &arguments)), &[result(&gives(&long))], 40, false);
        assert!(folded.lines.len() < 60, "{tool}: {}", folded.lines.len());
        let whole = laid(&item(&call(tool, &arguments)), &[result(&gives(&long))], 40, true);
        assert!(whole.lines.len() < 60_000, "{tool}: {}", whole.lines.len());
    }
}

/// A copied answer has no blanks before its lines. Marked rows keep their margin, or the mark would be meaningless.
#[test]
fn answers_begin_in_the_first_column_if_that_is_wished() {
    let message = answer(
        r#"{"type":"thinking","thinking":"so it is"},{"type":"text","text":"Twelve words of which the last ones stand on a row below:\n\n- one\n- two"},{"type":"toolCall","id":"c","name":"ls","arguments":{}}"#,
    );
    let (theme, habits) = (Theme::default(), Habits { is_flush: true, ..habits() });
    let look = RowRenderer { theme: &theme, width: 30, habits: &habits };
    let folds = Folds { thinking: true, ..Folds::default() };
    let laid = look.rows(&item(&message), folds, AnswerContext::default());
    insta::assert_snapshot!(rows_of(&laid.lines), @"

    ∴ so it is

    Twelve words of which the last
    ones stand on a row below:

    • one
    • two

    ◦ ls .
      no result
    ");
}
