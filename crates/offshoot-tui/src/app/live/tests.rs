//! A streaming answer is printed row by row: each row once, in order, and at a constant cost per row.

use offshoot_protocol::message::{AssistantMessage, Block as Content, Message, StopReason, ToolResultMessage, Usage};
use offshoot_protocol::{BashResult, BashRun, Event, RawJson, Update};

use super::*;
use crate::message::Habits;
use crate::theme::Theme;

fn message(content: Vec<Content>, stop_reason: StopReason) -> Message {
    Message::from(AssistantMessage {
        content,
        api: String::new(),
        provider: "p".to_owned(),
        model: "m".to_owned(),
        response_id: None,
        usage: Usage::default(),
        stop_reason,
        error_message: None,
        timestamp: 0,
    })
}

fn update(conversation: &mut Conversation, update: Update) {
    conversation.apply(&Event::MessageUpdate { usage: Usage::default(), assistant_message_event: update });
}

/// A terminal: the rows above the live rows, and the maximum number of live rows.
struct Printed {
    conversation: Conversation,
    live: Live,
    width: usize,
    folds: (bool, bool),
    rows: Vec<String>,
    most_pending: usize,
}

impl Printed {
    fn new(width: usize) -> Self {
        let mut conversation = Conversation::default();
        conversation.apply(&Event::AgentStart);
        Self { conversation, live: Live::default(), width, folds: (true, false), rows: Vec::new(), most_pending: 0 }
    }

    fn frame(&mut self) {
        let (theme, habits) = (Theme::default(), Habits::default());
        let look = RowRenderer { theme: &theme, width: self.width, habits: &habits };
        let folds = Folds { thinking: self.folds.0, tools: self.folds.1, other: &[] };
        let laid = self.live.print(&self.conversation, &look, folds);
        self.rows.extend(laid.lines.iter().map(ToString::to_string));
        self.most_pending = self.most_pending.max(self.live.rows(&self.conversation, &look, folds, 1_000).len());
    }

    /// Streams an answer with these parts, some letters at a time.
    fn stream(&mut self, content: &[Content], letters: usize) {
        self.conversation.apply(&Event::MessageStart { message: message(Vec::new(), StopReason::Stop) });
        for (content_index, block) in content.iter().enumerate() {
            let pieces = |text: &str| -> Vec<String> {
                let all: Vec<char> = text.chars().collect();
                all.chunks(letters).map(|letters| letters.iter().collect()).collect()
            };
            match block {
                Content::Text { text, .. } => {
                    update(&mut self.conversation, Update::TextStart { content_index });
                    for delta in pieces(text) {
                        update(&mut self.conversation, Update::TextDelta { content_index, delta });
                        self.frame();
                    }
                }
                Content::Thinking { thinking, .. } => {
                    update(&mut self.conversation, Update::ThinkingStart { content_index });
                    for delta in pieces(thinking) {
                        update(&mut self.conversation, Update::ThinkingDelta { content_index, delta });
                        self.frame();
                    }
                }
                Content::ToolCall { id, name, arguments, .. } => {
                    let (id, tool_name) = (id.clone(), name.clone());
                    update(&mut self.conversation, Update::ToolCallStart { content_index, id, tool_name });
                    for delta in pieces(&arguments.to_string()) {
                        update(&mut self.conversation, Update::ToolCallDelta { content_index, delta });
                        self.frame();
                    }
                }
                Content::Image { .. } => {}
            }
        }
    }

    fn end(&mut self, content: Vec<Content>, stop_reason: StopReason) {
        self.conversation.apply(&Event::MessageEnd { message: message(content, stop_reason) });
        self.frame();
    }

    fn result(&mut self, id: &str, text: &str) {
        self.conversation.apply(&Event::MessageEnd { message: result(id, text) });
        self.frame();
    }

    /// All finished items laid out at once, as a session shows them.
    fn whole(&self) -> Vec<String> {
        let (theme, habits) = (Theme::default(), Habits::default());
        let look = RowRenderer { theme: &theme, width: self.width, habits: &habits };
        let folds = Folds { thinking: self.folds.0, tools: self.folds.1, other: &[] };
        let blocks = self.conversation.blocks();
        blocks.flat_map(|block| block.rows(&look, folds).lines).map(|line| line.to_string()).collect()
    }
}

fn result(id: &str, text: &str) -> Message {
    Message::from(ToolResultMessage {
        tool_call_id: id.to_owned(),
        tool_name: "bash".to_owned(),
        content: vec![Content::text(text)],
        details: None,
        nested_calls: None,
        is_error: false,
        timestamp: 0,
    })
}

fn call(id: &str, command: &str) -> Content {
    let arguments = serde_json::json!({ "command": command });
    Content::ToolCall {
        id: id.to_owned(),
        name: "bash".to_owned(),
        arguments,
        arguments_error: None,
        thought_signature: None,
    }
}

/// A text with this many lines of every kind.
fn mixed(lines: usize) -> String {
    let mut text = String::new();
    for at in 0..lines / 20 {
        text += &format!("## Part {at}\n\nSome **words** about it, which go on for a while, so that they wrap.\n\n");
        text += &format!("- one {at}\n- two\n  - deeper\n\n- apart\n\n7. seven\n7. eight\n\n");
        text += "```rust\nfn main() {\n    println!(\"hello\");\n\n}\n```\n\n> quoted\n\n";
        text += &format!("| a | b |\n|---|---|\n| {at} | 2 |\n\n");
    }
    text
}

#[test]
fn a_long_answer_scrolls_as_it_comes_row_for_row() {
    for width in [80, 40] {
        let content = vec![
            Content::thinking(format!("\n{}\n", mixed(60))),
            Content::thinking("And more of it.\n"),
            Content::text(format!("\n\n{}", mixed(500))),
        ];
        let mut printed = Printed::new(width);
        printed.stream(&content, 9);
        let came = printed.rows.len();
        printed.end(content, StopReason::Stop);
        assert_eq!(printed.rows, printed.whole());
        assert!(came > printed.rows.len() - 8, "{came} of {}", printed.rows.len());
        assert!(printed.most_pending < 24, "{}", printed.most_pending);
    }
}

#[test]
fn long_code_and_lists_scroll_line_by_line_and_a_table_when_it_is_complete() {
    let code: String =
        (0..500).map(|at| format!("let line_{at} = \"{at}\"; /* a comment\n over two lines */\n")).collect();
    let list: String =
        (0..500).map(|at| format!("{}. item {at}\n{}", at + 1, if at % 3 == 0 { "\n" } else { "" })).collect();
    let table: String = (0..500).map(|at| format!("| {at} | what stands there |\n")).collect();
    for (text, most) in [
        (format!("```rust\n{code}```\nbehind"), 6),
        (format!("{list}\nbehind"), 6),
        (format!("| a | b |\n|--|--|\n{table}\nbehind"), 1_000),
    ] {
        let mut printed = Printed::new(60);
        printed.stream(&[Content::text(&text)], 7);
        assert!(printed.most_pending <= most, "{}", printed.most_pending);
        printed.end(vec![Content::text(&text)], StopReason::Stop);
        assert_eq!(printed.rows, printed.whole());
        assert!(printed.rows.len() > 500);
    }
}

#[test]
fn what_tools_gave_is_printed_as_soon_as_it_can_be() {
    let content = vec![
        Content::thinking("What is there?"),
        Content::text("I look."),
        call("1", "ls"),
        call("2", "sleep 9"),
        call("3", "pwd"),
    ];
    let mut printed = Printed::new(60);
    printed.stream(&content, 5);
    printed.end(content, StopReason::ToolUse);
    let has = |printed: &Printed, row: &str| printed.rows.iter().any(|own| own.contains(row));
    assert!(has(&printed, "I look.") && !has(&printed, "$ ls"), "{:?}", printed.rows);
    printed.result("1", "a.txt");
    assert!(has(&printed, "a.txt") && !has(&printed, "sleep"), "{:?}", printed.rows);
    printed.result("3", "/work");
    assert!(!has(&printed, "pwd"), "its place is behind the one that runs: {:?}", printed.rows);
    // Items after the answer in the session are printed after it.
    let entry = r#"{"type":"custom_message","customType":"between","content":"","display":true}"#;
    printed.conversation.apply(&Event::EntryAppended { entry: RawJson(entry.to_owned()) });
    let run = BashRun { exit_code: Some(0), cancelled: false, ..BashRun::stopped() };
    let command = "what the user ran".to_owned();
    let ran = BashResult { command, run, timestamp: 0, exclude_from_context: false };
    printed.conversation.shell_ended(&ran);
    printed.result("2", "rested");
    printed.conversation.apply(&Event::AgentSettled { aborted: false });
    printed.frame();
    assert_eq!(printed.rows, printed.whole());
    let at = |row: &str| printed.rows.iter().position(|own| own.contains(row)).unwrap();
    assert!(at("rested") < at("/work") && at("/work") < at("between") && at("between") < at("what the user ran"));
}

#[test]
fn what_a_command_of_the_user_printed_so_far_stands_there_until_it_has_ended() {
    let shown = |conversation: &Conversation| {
        let (theme, habits) = (Theme::default(), Habits::default());
        let look = RowRenderer { theme: &theme, width: 60, habits: &habits };
        let rows = Live::default().rows(conversation, &look, Folds::default(), 100);
        rows.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let mut conversation = Conversation::default();
    let printed = |conversation: &mut Conversation, delta: String, omitted| {
        conversation.apply(&Event::BashExecutionUpdate { delta, omitted });
    };
    printed(&mut conversation, "of a session that was left".to_owned(), 0);
    conversation.start_shell("make", true);
    assert_eq!(shown(&conversation), "\n! $ make  not sent to the model");
    printed(&mut conversation, "one\ntw".to_owned(), 0);
    printed(&mut conversation, "o\n".to_owned(), 0);
    assert_eq!(shown(&conversation), "\n! $ make  not sent to the model\n  one\n  two");
    // The end of a long output is kept and marked as the end, whether the output grew or came at once.
    (0..200_000).for_each(|at| printed(&mut conversation, format!("line {at}\n"), 0));
    let held = format!("{conversation:?}").len();
    assert!(held < 150_000, "{held}");
    let rows = shown(&conversation);
    assert!(rows.ends_with("line 199999\n  while it runs only the end of its output is here"), "{rows}");
    conversation.drop_shell();
    conversation.start_shell("make", false);
    printed(&mut conversation, "before\n".to_owned(), 0);
    printed(&mut conversation, "behind\n".to_owned(), 7);
    let rows = "\n! $ make\n  behind\n  while it runs only the end of its output is here";
    assert_eq!(shown(&conversation), rows);
}

#[test]
fn an_answer_that_is_stopped_ends_where_it_was() {
    let text = format!("{}```rust\nlet a = 1;\nlet b", mixed(100));
    let mut printed = Printed::new(40);
    printed.stream(&[Content::text(&text)], 11);
    printed.end(vec![Content::text(&text)], StopReason::Aborted);
    assert_eq!(printed.rows, printed.whole());
    assert!(printed.rows.last().unwrap().contains("stopped"), "{:?}", printed.rows.last());
}

/// A change of width or folds in the middle prints no row twice and loses none.
#[test]
fn another_width_in_the_middle_changes_only_what_comes() {
    let words = |rows: &[String]| -> Vec<String> {
        let is_word = |c: char| c.is_alphanumeric();
        rows.iter()
            .flat_map(|row| row.split(|c| !is_word(c)))
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    for at in 0..6 {
        let mut printed = Printed::new(80);
        printed.conversation.apply(&Event::MessageStart { message: message(Vec::new(), StopReason::Stop) });
        for (nth, piece) in mixed(400).as_bytes().chunks(7 + at).enumerate() {
            let delta = String::from_utf8_lossy(piece).into_owned();
            update(&mut printed.conversation, Update::TextDelta { content_index: 0, delta });
            if nth % (20 + at) == 0 {
                printed.width = [33, 80, 50, 120, 41][nth / (20 + at) % 5];
            }
            printed.frame();
        }
        printed.end(vec![Content::text(mixed(400))], StopReason::Stop);
        printed.width = 80;
        assert_eq!(words(&printed.rows), words(&printed.whole()), "{at}");
    }
    // Thoughts that are folded in the middle are printed as far as they were open.
    let mut printed = Printed::new(80);
    let content = [Content::thinking(mixed(40))];
    printed.stream(&content, 9);
    let before = printed.rows.len();
    printed.folds.0 = false;
    printed.frame();
    assert_eq!(printed.rows.len(), before);
    printed.folds.0 = true;
    printed.end(content.to_vec(), StopReason::Stop);
    assert_eq!(printed.rows, printed.whole());
}

/// If the last message of an answer differs from its stream, the streamed rows stay and the rest follows the message.
#[test]
fn an_answer_that_ends_otherwise_than_it_came() {
    let mut printed = Printed::new(40);
    printed.stream(&[Content::text("one\n\ntwo")], 3);
    printed.end(vec![Content::text("one\n\ntwo\n\nthree"), Content::text("four")], StopReason::Stop);
    assert_eq!(printed.rows, printed.whole());
    let mut printed = Printed::new(40);
    printed.stream(&[Content::text("one")], 3);
    printed.end(vec![Content::thinking("another"), Content::text("one")], StopReason::Stop);
    assert_eq!(printed.rows, printed.whole());
}

#[test]
fn a_piece_of_a_long_answer_costs_what_a_piece_of_a_short_one_does() {
    let list: String = (0..4_000).map(|at| format!("- item {at}\n")).collect();
    let code: String = (0..4_000).map(|at| format!("let line_{at} = {at};\n")).collect();
    let table: String = (0..4_000).map(|at| format!("| {at} | b |\n")).collect();
    let words = "word ".repeat(20_000);
    for text in [
        mixed(8_000),
        list.clone(),
        format!("```rust\n{code}"),
        format!("| a | b |\n|--|--|\n{table}"),
        format!("> {words}"),
        words,
        list.replace("- ", "  "),
    ] {
        let (mut live, mut conversation) = (Live::default(), Conversation::default());
        conversation.apply(&Event::MessageStart { message: message(Vec::new(), StopReason::Stop) });
        let (theme, habits) = (Theme::default(), Habits::default());
        let look = RowRenderer { theme: &theme, width: 80, habits: &habits };
        let folds = Folds::default();
        let (mut costs, letters) = (Vec::new(), 16);
        for piece in text.as_bytes().chunks(letters) {
            let delta = String::from_utf8_lossy(piece).into_owned();
            let before = live.parsed();
            update(&mut conversation, Update::TextDelta { content_index: 0, delta });
            live.print(&conversation, &look, folds);
            live.rows(&conversation, &look, folds, 24);
            costs.push(live.parsed() - before);
        }
        // On average: an open table is parsed again only when it has grown by a fraction.
        let mean = |costs: &[usize]| costs.iter().sum::<usize>() / costs.len();
        let (first, last) = (mean(&costs[..1_000]), mean(&costs[costs.len() - 1_000..]));
        assert!(last <= first.max(4_096) && last < 10_000, "{first} at first, {last} at last: {}", &text[..20]);
        assert!(mean(&costs) < 8_192, "{}", mean(&costs));
    }
}
