//! The conversation and the rows below it, in both sizes and both themes.

use offshoot_protocol::{Reason, SessionChangeReason, SummarySource};
use serde_json::json;

use super::*;
use crate::app::msg::{Diverged, OpenedReason, Persistence};
use crate::testing::legend;

const QUESTION: &str = r#"{"role":"user","content":"The last page of the pager is empty. Why?"}"#;
const TOOLS: &str = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"The count of pages may be one too high: a book of ten pages has a last page nine.\n\nI look at it."},{"type":"text","text":"I look at how pages are counted."},{"type":"toolCall","id":"1","name":"edit","arguments":{"path":"/home/me/work/src/pager.rs","edits":[]}},{"type":"toolCall","id":"2","name":"bash","arguments":{"command":"cargo test -p pager"}}],"stopReason":"toolUse"}"#;
const EDITED: &str = r#"{"role":"toolResult","toolCallId":"1","toolName":"edit","content":[{"type":"text","text":"made 1 replacement"}],"isError":false,"details":{"diff":" 11 fn last(pages: usize) -> usize {\n-12     pages\n+12     pages - 1\n 13 }"}}"#;
const TESTED: &str = r#"{"role":"toolResult","toolCallId":"2","toolName":"bash","content":[{"type":"text","text":"running 2 tests\ntest first ... ok\ntest last ... FAILED\n\nfailures:\n    last: attempt to subtract with overflow\n\n[exit code 101]"}],"isError":true}"#;
const SAID: &str = r#"{"role":"assistant","content":[{"type":"text","text":"An empty book has **no** last page:\n\n| pages | last |\n|---|---|\n| 0 | none |\n| 3 | `2` |\n\n1. See [the docs](https://doc.rust-lang.org/std)."}],"stopReason":"stop"}"#;
const RUN: &str = r#"{"role":"bashExecution","command":"git diff --stat","output":" src/pager.rs | 2 +-\n","exitCode":0,"cancelled":false,"truncated":false}"#;
const COMPACTED: &str = r##"{"type":"compaction","summary":"# Goal\n\nMend the pager.","tokensBefore":48120}"##;
const LEFT: &str =
    r#"{"type":"branch_summary","fromId":"a1b2c3d4","summary":"Tried to count from one. It broke the index."}"#;
const NOTE: &str =
    r#"{"type":"custom_message","customType":"reminder","content":"Tests run in *debug*.","display":true}"#;

fn talk() -> Vec<ConversationBlock> {
    vec![block(QUESTION, &[]), block(TOOLS, &[EDITED, TESTED]), block(SAID, &[]), block(RUN, &[])]
}

fn marks() -> Vec<ConversationBlock> {
    [COMPACTED, LEFT, NOTE].map(|line| block(line, &[])).into()
}

/// Unfolds parts before they are printed.
fn unfolded(model: &mut Model, blocks: Vec<ConversationBlock>) {
    press(model, "ctrl+o ctrl+t");
    opened(model, blocks);
}

fn running(model: &mut Model) {
    streaming(model, "Run the tests.", "They take long.", "");
    let call = Content::ToolCall {
        id: "1".to_owned(),
        name: "bash".to_owned(),
        arguments: json!({"command": "cargo test"}),
        arguments_error: None,
        thought_signature: None,
    };
    heard(model, Event::MessageEnd { message: answer(vec![Content::text("I run them."), call]) });
    tool_prints(model, "bash", json!({}), "running 2 tests\ntest first ... ok\n");
}

fn waiting(model: &mut Model) {
    streaming(model, "Which page is the last?", "", "It is\n\n- page nine\n- no, pa");
    heard(
        model,
        Event::QueueUpdate {
            steering: vec!["Count from zero.".to_owned(), "And an empty book?".to_owned()],
            follow_up: vec!["Then write the tests, one for a book without pages and one for a long one.".to_owned()],
        },
    );
}

fn noticed(model: &mut Model) {
    notice(model, Level::Info, "named the pager");
    notice(model, Level::Warning, "overloaded; next try in 2 s (1 of 3)");
    notice(model, Level::Error, "cannot append to session file ~/.local/share/offshoot/sessions/01a.jsonl: disk full");
}

fn placed(model: &mut Model) {
    let facts = SessionFacts {
        tokens: 151_000,
        cost: 1.2345,
        branch: Some("the cache is wrong".to_owned()),
        branches: 3,
        name: Some("the pager".to_owned()),
        persistence: Persistence::Spilled,
        diverged: Some(Diverged {
            entry: "1a2b3c4d".to_owned(),
            message: "newer work: “seq 1 60”, 2 min ago".to_owned(),
        }),
        ..model.facts.clone()
    };
    update(model, Msg::SessionFacts(Box::new(facts)));
}

fn written(model: &mut Model) {
    update(model, Msg::Paste("Explain why the tree has two roots.\n\n日本語 e\u{301} 👍🏽".to_owned()));
}

fn files(model: &mut Model) {
    let files = (1..=7).map(|nth| format!("crates/offshoot-tui/src/a rather long folder/file{nth}.rs")).collect();
    write(model, "see @");
    update(model, Msg::Files(files));
    write(model, "file");
}

fn table() -> Vec<(&'static str, Tell<'static>)> {
    vec![
        ("start", &|_| {}),
        ("a streaming turn", &|model| {
            streaming(model, "what is it?", "Let me think.", "It is\n\n- one\n- tw");
        }),
        ("a tool at work", &running),
        ("messages wait", &waiting),
        ("tools and thoughts, folded", &|model| opened(model, talk())),
        ("tools and thoughts, open", &|model| unfolded(model, talk().into_iter().take(2).collect())),
        ("markers, folded", &|model| opened(model, marks())),
        ("markers, open", &|model| unfolded(model, marks())),
        ("notices", &noticed),
        ("a compaction goes on", &|model| {
            heard(model, Event::CompactionStart { reason: offshoot_protocol::Reason::Threshold });
        }),
        ("another place of the tree", &|model| {
            update(
                model,
                Msg::Opened(Opened {
                    reason: OpenedReason::Changed(SessionChangeReason::Tree),
                    id: "s".to_owned(),
                    tail: talk().split_off(3),
                    hidden: 12,
                    entries: 16,
                    held: None,
                    start: None,
                }),
            );
        }),
        ("something is written", &written),
        ("for the shell", &|model| write(model, "!cargo test")),
        ("commands", &|model| write(model, "/")),
        ("some commands", &|model| write(model, "/br")),
        ("files", &files),
        ("an unknown command", &|model| {
            update(model, Msg::Paste("/resme".to_owned()));
            press(model, "enter");
        }),
        ("a status that says much", &placed),
    ]
}

#[test]
fn every_screen() {
    for size in SIZES {
        insta::assert_snapshot!(format!("at_{}x{}", size.0, size.1), screens(size, &table()));
    }
}

/// The styles of a conversation, by their tokens. Every theme has its own colours (see [`tokens_of`]).
#[test]
fn styles_of_a_conversation() {
    let size = (60, 40);
    insta::assert_snapshot!(legend(&tokens_of(|theme| shown(
        &sent(theme, size, &|model| opened(model, talk())),
        size
    ))));
}

/// An answer that calls these tools, and waits for them.
fn calls(model: &mut Model, names: &[&str]) {
    streaming(model, "Go on.", "", "");
    let call = |(at, name): (usize, &&str)| Content::ToolCall {
        id: at.to_string(),
        name: (*name).to_owned(),
        arguments: json!({}),
        arguments_error: None,
        thought_signature: None,
    };
    heard(model, Event::MessageEnd { message: answer(names.iter().enumerate().map(call).collect()) });
}

fn ends(model: &mut Model, call: &str) {
    let result = gave(call, "bash", "done");
    let (tool_call_id, tool_name) = (call.to_owned(), "bash".to_owned());
    heard(model, Event::ToolExecutionEnd { tool_call_id, tool_name, result, is_error: false });
}

fn fails(model: &mut Model) {
    heard(model, Event::AgentStart);
    let error_message = "overloaded".to_owned();
    heard(model, Event::AutoRetryStart { attempt: 1, max_attempts: 3, delay_ms: 4_000, error_message });
}

/// Whether the editor's border has a title that ends so.
fn has_border_with(screen: &str, end: &str) -> bool {
    let title = |row: &str| row.strip_prefix("─ ")?.trim_end_matches('─').strip_suffix(' ').map(str::to_owned);
    screen.lines().filter_map(title).any(|title| title.ends_with(end))
}

#[test]
fn the_row_of_a_summary_says_on_a_narrow_screen_how_long_it_takes_and_how_it_is_stopped() {
    for (columns, command) in [(60, "/merge 1a2b"), (60, "/pop 1a2b"), (40, "/merge 1a2b")] {
        let screen = terminal((columns, 20), &|model| {
            write(model, command);
            press(model, "enter");
            update(model, Msg::Now(10_000));
            update(model, Msg::Now(85_000));
        });
        let end =
            if columns == 40 { "summarising · 1 min 15 s … escape" } else { " · 1 min 15 s … escape stops it" };
        assert!(has_border_with(&screen, end), "{screen}");
    }
}

/// On a narrow screen the name of the tool is worth more than the word before it.
#[test]
fn the_row_of_a_tool_names_it_on_a_narrow_screen() {
    let screen = terminal((40, 20), &|model| {
        calls(model, &["bash"]);
        update(model, Msg::Now(10_000));
        update(model, Msg::Now(35_000));
    });
    assert!(has_border_with(&screen, " bash · 25 s … escape stops it"), "{screen}");
}

/// Regression: the name of a wait was cut within a word, "m1 is answe · 3 s".
#[test]
fn the_row_of_a_model_has_whole_words_on_a_narrow_screen() {
    let table: [(Tell<'_>, i64, &str); 4] = [
        (
            &|model| streaming(model, "What is it?", "Let me think.", "It is one or tw"),
            8_000,
            " answering · 8 s … escape stops it",
        ),
        (
            &|model| streaming(model, "What is it?", "Let me think.", "It is one or tw"),
            25_000,
            " stalled · 25 s … escape stops it",
        ),
        (&|model| heard(model, Event::AgentStart), 25_000, " waiting · 25 s … escape stops it"),
        (&|model| calls(model, &["grep", "bash", "ls"]), 25_000, " grep and 2 more · 25 s … escape"),
    ];
    for (tell, after, end) in table {
        let screen = terminal((40, 20), &|model| {
            tell(model);
            update(model, Msg::Now(10_000));
            update(model, Msg::Now(10_000 + after));
        });
        assert!(has_border_with(&screen, end), "{screen}");
    }
}

/// Regression: it said that the agent is at work, whatever was awaited.
#[test]
fn the_row_of_the_work_under_way_names_what_is_awaited() {
    let compaction = |reason| move |model: &mut Model| heard(model, Event::CompactionStart { reason });
    let now = |model: &mut Model, seconds: i64| drop(update(model, Msg::Now(seconds * 1_000)));
    let summary_fails = |model: &mut Model| {
        heard(model, Event::CompactionStart { reason: Reason::Threshold });
        let error_message = "overloaded".to_owned();
        heard(
            model,
            Event::SummarizationRetryScheduled { attempt: 1, max_attempts: 3, delay_ms: 4_000, error_message },
        );
    };
    let table: [(&str, Tell<'_>); 18] = [
        ("nothing", &|_| {}),
        ("waiting for m1", &|model| heard(model, Event::AgentStart)),
        ("m1 is answering · 7 tokens", &|model| streaming(model, "What is it?", "Let me think.", "It is one or tw")),
        ("m1 is answering · 7 tokens", &|model| {
            streaming(model, "What is it?", "Let me think.", "It is one or tw");
            // Chosen for the next answer.
            model.facts.model = Some(Arc::new(language_model("m2", "test")));
        }),
        // A stalled stream looked like a slow one.
        ("nothing from m1 for 25 s · 24 s · 7 tokens", &|model| {
            streaming(model, "What is it?", "Let me think.", "It is one or tw");
            now(model, 1);
            now(model, 25);
        }),
        ("m1 is answering · 24 s · 8 tokens", &|model| {
            streaming(model, "What is it?", "Let me think.", "It is one or tw");
            now(model, 1);
            now(model, 20);
            updated(model, Update::TextDelta { content_index: 1, delta: "o mo".to_owned() });
            now(model, 25);
        }),
        ("running bash", &|model| calls(model, &["bash"])),
        ("running grep and 2 more", &|model| calls(model, &["grep", "bash", "ls"])),
        ("running bash and 1 more", &|model| {
            calls(model, &["grep", "bash", "ls"]);
            ends(model, "0");
        }),
        ("waiting for m1", &|model| {
            calls(model, &["bash"]);
            ends(model, "0");
        }),
        ("retry in 4 s (1 of 3)", &fails),
        ("retry in 2 s (1 of 3)", &|model| {
            now(model, 10);
            fails(model);
            now(model, 12);
        }),
        ("waiting for m1 · 1 min 5 s", &|model| {
            heard(model, Event::AgentStart);
            now(model, 10);
            now(model, 75);
        }),
        ("summarising: the context is nearly full", &compaction(Reason::Threshold)),
        ("summarising: the context is nearly full · retry in 4 s", &summary_fails),
        ("summarising: the context is nearly full", &|model| {
            summary_fails(model);
            let (source, reason) = (SummarySource::Compaction, Some(Reason::Threshold));
            heard(model, Event::SummarizationRetryAttemptStart { source, reason });
        }),
        ("summarising: the context is nearly full · 1.2k tokens", &|model| {
            compaction(Reason::Threshold)(model);
            heard(model, Event::SummarizationUpdate { tokens: 1_234 });
        }),
        ("running the command", &|model| {
            write(model, "!make");
            press(model, "enter");
        }),
    ];
    for (awaited, tell) in table {
        let screen = terminal((80, 24), tell);
        let rows: Vec<_> = screen.lines().filter_map(|row| row.split_once(" … escape stops it")).collect();
        let rows: Vec<_> = rows.iter().map(|(row, _)| row.trim_start_matches(|c: char| !c.is_ascii())).collect();
        let expected = if awaited == "nothing" { vec![] } else { vec![awaited] };
        let rows: Vec<_> =
            rows.iter().map(|row| row.trim_start().trim_start_matches(|c: char| !c.is_ascii()).trim()).collect();
        assert_eq!(rows, expected, "{screen}");
    }
}

/// Each try left two rows: its error, and when the next one comes.
#[test]
fn retries_are_one_row_that_changes() {
    let fails = |model: &mut Model, attempt: u32| {
        heard(model, Event::AgentStart);
        let error_message = format!("overloaded {attempt}");
        heard(model, Event::MessageEnd { message: failed(&error_message) });
        heard(model, Event::AgentEnd { messages: Vec::new(), will_retry: attempt < 4 });
        if attempt < 4 {
            heard(model, Event::AutoRetryStart { attempt, max_attempts: 3, delay_ms: 4_000, error_message });
        } else {
            heard(model, Event::AutoRetryEnd { success: false, attempt: 3, final_error: Some(error_message) });
            heard(model, Event::AgentSettled { aborted: false });
        }
    };
    let rows = |screen: &str| {
        let said = screen.lines().filter(|row| row.contains("overloaded")).map(|row| row.trim().to_owned());
        said.collect::<Vec<_>>()
    };
    for attempt in 1..=3 {
        let screen = terminal((80, 24), &|model| (1..=attempt).for_each(|attempt| fails(model, attempt)));
        assert_eq!(rows(&screen), [format!("✗ error: overloaded {attempt}")], "{screen}");
        assert!(has_border_with(&screen, &format!("retry in 4 s ({attempt} of 3) … escape stops it")), "{screen}");
    }
    let screen = terminal((80, 24), &|model| {
        fails(model, 1);
        streaming(model, "", "", "Here I am.");
        heard(model, Event::MessageEnd { message: answer(vec![Content::text("Here I am.")]) });
        heard(model, Event::AutoRetryEnd { success: true, attempt: 1, final_error: None });
    });
    assert!(rows(&screen).is_empty() && screen.contains("Here I am."), "{screen}");
    let screen = terminal((80, 24), &|model| (1..=4).for_each(|attempt| fails(model, attempt)));
    assert_eq!(rows(&screen), ["✗ error: overloaded 4", "✗ given up after attempt 3: overloaded 4"], "{screen}");
    // Who stops them has not run out of attempts.
    let screen = terminal((80, 24), &|model| {
        fails(model, 1);
        let final_error = Some("stopped by the user".to_owned());
        heard(model, Event::AutoRetryEnd { success: false, attempt: 1, final_error });
        heard(model, Event::AgentSettled { aborted: true });
    });
    assert_eq!(rows(&screen), ["✗ error: overloaded 1"], "{screen}");
    assert!(screen.contains("stopped by you: the request is not sent again"), "{screen}");
    assert!(!screen.contains("given up"), "{screen}");
}
