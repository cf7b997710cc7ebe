//! The pager shows the same content as the main screen: each item once, in the same order.

use offshoot_protocol::request::RunBash;
use offshoot_protocol::{BashResult, BashRun, CompactionResult, RawJson, Reason};
use offshoot_session::compose::NewEntry;
use offshoot_session::session::{NewSession, Options, Session};
use offshoot_workspace::{Given, OperationOrder};
use proptest::prelude::*;

use super::*;
use crate::app::ask::TerminalAnswer;
use crate::app::cmd::Purpose;
use crate::app::live::Live;
use crate::app::msg::OperationSaid;
use crate::message::{Folds, RowRenderer};

const COLUMNS: u16 = 60;

/// A step, with the number of its repetition.
type Step = fn(&mut Model, usize);

/// All steps that change the conversation.
const STEPS: &[Step] = &[
    |model, _| heard(model, Event::AgentStart),
    |model, nth| heard(model, Event::MessageEnd { message: question(&format!("question {nth}")) }),
    |model, _| heard(model, Event::MessageStart { message: answer(Vec::new()) }),
    |model, _| updated(model, Update::ThinkingDelta { content_index: 0, delta: "A thought,\n\nand ".to_owned() }),
    |model, _| updated(model, Update::TextDelta { content_index: 1, delta: "- one\n- two\n\nand so ".to_owned() }),
    |model, nth| {
        let (id, tool_name) = (nth.to_string(), "bash".to_owned());
        updated(model, Update::ToolCallStart { content_index: 2, id, tool_name });
    },
    |model, nth| heard(model, Event::MessageEnd { message: calls(nth) }),
    |model, nth| heard(model, Event::MessageEnd { message: answer(vec![Content::text(format!("answer {nth}"))]) }),
    |model, nth| {
        let (tool_call_id, tool_name) = (nth.to_string(), "bash".to_owned());
        let partial_result = gave(&tool_call_id, "bash", "some of it");
        let args = serde_json::Value::Null;
        heard(model, Event::ToolExecutionUpdate { tool_call_id, tool_name, args, partial_result });
    },
    |model, nth| {
        let (tool_call_id, tool_name) = (nth.to_string(), "bash".to_owned());
        let result = gave(&tool_call_id, "bash", &format!("result {nth}"));
        heard(model, Event::ToolExecutionEnd { tool_call_id, tool_name, result, is_error: false });
    },
    |model, nth| heard(model, Event::MessageEnd { message: result(nth) }),
    |model, nth| model.conversation.start_shell(&format!("make {nth}"), false),
    |model, _| heard(model, Event::BashExecutionUpdate { delta: "printed\n".to_owned(), omitted: 0 }),
    |model, nth| {
        let asked = RunBash { command: format!("make {nth}"), exclude_from_context: false };
        answered(model, TerminalAnswer::RunBash(asked, Ok(Arc::new(ran(nth)))));
    },
    |model, nth| {
        let (error_message, attempt) = ("overloaded".to_owned(), 1);
        heard(model, Event::AutoRetryStart { attempt, max_attempts: 3, delay_ms: nth as u64 * 1000, error_message });
    },
    |model, _| {
        let final_error = Some("overloaded still".to_owned());
        heard(model, Event::AutoRetryEnd { success: false, attempt: 3, final_error });
    },
    |model, nth| {
        let (error_message, attempt) = ("no summary".to_owned(), 1);
        let delay_ms = nth as u64 * 1000;
        heard(model, Event::SummarizationRetryScheduled { attempt, max_attempts: 3, delay_ms, error_message });
    },
    |model, _| heard(model, Event::CompactionStart { reason: Reason::Threshold }),
    |model, _| compacted(model, Some("what was said"), None),
    |model, _| compacted(model, Some("what was said, in pieces"), Some("the model is gone")),
    |model, _| compacted(model, None, Some("there is too little")),
    |model, nth| {
        let entry = format!(r#"{{"type":"custom_message","customType":"note {nth}","content":"so","display":true}}"#);
        heard(model, Event::EntryAppended { entry: RawJson(entry) });
    },
    |model, nth| heard(model, Event::SessionInfoChanged { name: Some(format!("name {nth}")) }),
    |model, nth| heard(model, Event::Failed { error: format!("the disk is full {nth}") }),
    |model, _| {
        let warning = Some("the model is gone".to_owned());
        let said = OperationSaid { text: String::new(), warning, to_edit: None, is_done: true };
        update(model, Msg::Operated(OperationOrder::new("navigate", Given::default()), Ok(said)));
        model.conversation.arrive();
    },
    |model, nth| notice(model, Level::Info, &format!("notice {nth}")),
    |model, _| heard(model, Event::AgentSettled { aborted: false }),
    |model, nth| heard(model, Event::MessageEnd { message: failed(&format!("overloaded {nth}")) }),
    |model, _| heard(model, Event::AutoRetryEnd { success: true, attempt: 1, final_error: None }),
];

fn question(text: &str) -> Message {
    UserMessage::new(text, Vec::new(), 0).into()
}

fn calls(nth: usize) -> Message {
    let call = Content::ToolCall {
        id: nth.to_string(),
        name: "bash".to_owned(),
        arguments: serde_json::json!({ "command": "ls" }),
        arguments_error: None,
        thought_signature: None,
    };
    answer(vec![Content::thinking("A thought,\n\nand more."), Content::text("- one\n- two\n\nand so on."), call])
}

fn result(nth: usize) -> Message {
    Message::ToolResult(gave(&nth.to_string(), "bash", &format!("result {nth}")))
}

fn ran(nth: usize) -> BashResult {
    let run = BashRun { output: format!("done {nth}\n"), exit_code: Some(0), cancelled: false, ..BashRun::stopped() };
    BashResult { command: format!("make {nth}"), run, timestamp: 0, exclude_from_context: false }
}

fn compacted(model: &mut Model, summary: Option<&str>, why: Option<&str>) {
    let result = summary.map(|summary| {
        Arc::new(CompactionResult {
            summary: summary.to_owned(),
            first_kept_entry_id: "kept".to_owned(),
            tokens_before: 7,
            estimated_tokens_after: 3,
            details: RawJson("{}".to_owned()),
            usage: None,
            report: RawJson("{}".to_owned()),
        })
    });
    let error_message = why.map(str::to_owned);
    let reason = Reason::Manual;
    heard(model, Event::CompactionEnd { reason, result, aborted: false, will_retry: false, error_message });
}

fn answered(model: &mut Model, answer: TerminalAnswer) {
    update(model, Msg::Answered(Box::new(answer)));
}

/// A session with these user messages.
fn session(texts: impl Iterator<Item = usize>) -> Session {
    let new = NewSession { cwd: "/work", ..NewSession::default() };
    let mut session = Session::in_memory(&new, Options::default()).unwrap();
    texts.for_each(|text| say(&mut session, text));
    session
}

fn say(session: &mut Session, text: usize) {
    let message = format!(r#"{{"role":"user","content":"question {text}"}}"#);
    session.append(&NewEntry::message(Json::parse(&message).unwrap()).unwrap()).unwrap();
}

/// Opens the pager on the current session.
fn read(model: &mut Model, session: &Session) {
    let leaf = session.leaf();
    update(model, Msg::Snapshot(Purpose::Transcript, Arc::new(session.snapshot().unwrap()), leaf));
}

/// The text of the pager, from its beginning.
fn paged(model: &mut Model, rows: u16) -> String {
    let size = Size::new(COLUMNS, rows);
    let Some(Overlay::Transcript(pager)) = &mut model.overlay else { panic!("{:?}", model.overlay) };
    pager.lay_out(&model.conversation, &model.preferences.theme, size);
    let mut buf = Buffer::empty(Rect::new(0, 0, COLUMNS, rows));
    pager.view(&model.preferences.keymap, &model.preferences.theme, buf.area, &mut buf);
    let row = |y| (0..COLUMNS).map(|x| buf[(x, y)].symbol()).collect::<String>().trim_end().to_owned() + "\n";
    let text: String = (0..rows - 1).map(row).collect();
    text.trim_end().to_owned()
}

/// The rows that the main screen prints, and the live rows below them.
fn printed(model: &Model) -> String {
    let look =
        RowRenderer { theme: &model.preferences.theme, width: COLUMNS.into(), habits: &model.preferences.habits };
    let mut live = Live::default();
    let mut rows = live.print(&model.conversation, &look, Folds::default()).lines;
    rows.extend(live.rows(&model.conversation, &look, Folds::default(), usize::MAX));
    let text: String = rows.iter().map(|row| row.to_string().trim_end().to_owned() + "\n").collect();
    text.trim_end().to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn whatever_happens_the_pager_shows_what_the_main_screen_shows(
        steps in proptest::collection::vec((0..STEPS.len(), 0_usize..3), 1..24),
        later in 0_usize..24,
    ) {
        let empty = session(0..0);
        let mut model = model(&Theme::default(), (COLUMNS, 24));
        opened(&mut model, Vec::new());
        for (at, (step, nth)) in steps.into_iter().enumerate() {
            if at == 0 || at == later {
                read(&mut model, &empty);
            }
            STEPS[step](&mut model, nth);
            prop_assert_eq!(paged(&mut model, 200), printed(&model), "after step {} ({})", at, step);
        }
    }
}

/// Regression: a pager that was opened during a turn missed the user's command, a notice and the first half of the
/// answer.
#[test]
fn a_pager_opened_in_the_middle_of_an_answer_misses_nothing() {
    let mut model = model(&Theme::default(), (COLUMNS, 24));
    opened(&mut model, Vec::new());
    for step in [0, 1, 14, 25, 13, 2, 3, 4] {
        STEPS[step](&mut model, 2);
    }
    read(&mut model, &session(0..0));
    STEPS[4](&mut model, 2);
    STEPS[19](&mut model, 2);
    let shown = paged(&mut model, 100);
    for word in ["question 2", "notice 2", "make 2", "• two", "put together without a model"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    assert_eq!(shown, printed(&model));
}

/// Regression: the tool results of an answer were also shown below the next answer.
#[test]
fn a_result_belongs_to_the_answer_that_called_for_it() {
    let mut model = model(&Theme::default(), (COLUMNS, 24));
    opened(&mut model, Vec::new());
    // The first call gets no result before the second answer begins.
    for (step, nth) in [(0, 0), (6, 1), (8, 1), (2, 0), (6, 2), (8, 1), (8, 2)] {
        STEPS[step](&mut model, nth);
    }
    let shown = printed(&model);
    assert_eq!(shown.matches("some of it").count(), 2, "{shown}");
    STEPS[10](&mut model, 2);
    STEPS[10](&mut model, 2);
    STEPS[26](&mut model, 0);
    assert_eq!(printed(&model).matches("result 2").count(), 1, "{}", printed(&model));
}

/// The session may have more or fewer messages than the events. The pager shows each message once, even if the main
/// screen has dropped it.
#[test]
fn the_session_and_what_was_heard_meet_without_a_seam() {
    for (in_session, heard_of) in [(5, 5), (9, 5), (9, 9), (300, 300), (310, 300)] {
        let mut model = model(&Theme::default(), (COLUMNS, 24));
        let mut session = session(0..3);
        let entries = Path::of(session.tree(), session.leaf()).entries();
        update(&mut model, Msg::Opened(Opened { entries, tail: Vec::new(), ..Opened::default() }));
        (3..in_session).for_each(|nth| say(&mut session, nth));
        for nth in 3..heard_of {
            heard(&mut model, Event::MessageEnd { message: question(&format!("question {nth}")) });
            view::print(&mut model);
        }
        read(&mut model, &session);
        (heard_of..in_session.max(heard_of) + 2).for_each(|nth| {
            heard(&mut model, Event::MessageEnd { message: question(&format!("question {nth}")) });
        });
        let shown = paged(&mut model, 700);
        let expected: Vec<_> = (0..in_session.max(heard_of) + 2).map(|nth| format!("› question {nth}")).collect();
        let rows: Vec<_> = shown.lines().filter(|row| !row.is_empty()).collect();
        assert_eq!(rows, expected, "{in_session} {heard_of}");
    }
    // Another place is another conversation, so the pager is opened again there.
    let mut model = model(&Theme::default(), (COLUMNS, 24));
    read(&mut model, &session(0..0));
    let cmds = update(&mut model, Msg::Opened(Opened::default()));
    assert!(cmds.contains(&crate::app::cmd::ProgramTask::Snapshot(Purpose::Transcript).into()), "{cmds:?}");
}
