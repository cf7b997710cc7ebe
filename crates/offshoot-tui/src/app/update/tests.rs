//! The tasks of each command and key, and the screens, without an agent.

mod leaving;

use std::sync::Arc;

use insta::assert_snapshot;
use offshoot_agent::sandbox::{SandboxCoverage, SandboxReport};
use offshoot_protocol::message::{AssistantMessage, Block, Message, StopReason, Usage, UserMessage};
use offshoot_protocol::model::Model as LanguageModel;
use offshoot_protocol::request::{
    Abort, AbortBash, ClearQueue, ClearedQueue, FollowUp, Prompt, SetApproval, SetThinkingLevel, Spoken, Steer,
    UserPrompt,
};
use offshoot_protocol::{
    AgentError, ApprovalMode, Event, KeyError, OversizedPrompt, SandboxMode, SessionChangeReason, Settled, SizeJudge,
    ThinkingLevel, Update, Window,
};
use offshoot_session::session::{Options, Session};
use offshoot_session::transcript::{Item, ItemPart};
use offshoot_workspace::{Given, OperationOrder};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Size;
use ratatui::{Terminal, TerminalOptions, Viewport};

use super::{changes_screen, update};
use crate::app::ask::TerminalAnswer;
use crate::app::cmd::{Cmd, ProgramTask, Purpose};
use crate::app::extension::ExtensionMsg;
use crate::app::model::{Model, Overlay};
use crate::app::msg::{
    Completeness, Diverged, ListedModel, Msg, Opened, OpenedReason, OperationSaid, Persistence, SessionFacts,
};
use crate::app::view;
use crate::conversation::ConversationBlock;
use crate::editor::Choice;
use crate::slash::Argument;

fn model(columns: u16, rows: u16) -> Model {
    let mut model = Model::default();
    update(&mut model, Msg::Resized(Size::new(columns, rows)));
    let answers = LanguageModel {
        id: "m1".to_owned(),
        provider: "test".to_owned(),
        reasoning: true,
        context_window: 200_000,
        ..LanguageModel::default()
    };
    let facts = SessionFacts {
        model: Some(Arc::new(answers)),
        thinking: Some(ThinkingLevel::Medium),
        cwd: "~/work".to_owned(),
        ..SessionFacts::default()
    };
    update(&mut model, Msg::SessionFacts(Box::new(facts)));
    model
}

fn press(model: &mut Model, code: KeyCode, modifiers: KeyModifiers) -> Vec<Cmd> {
    update(model, Msg::Key(KeyEvent::new(code, modifiers)))
}

fn typed(model: &mut Model, text: &str) -> Vec<Cmd> {
    // A paste opens no list of completions.
    update(model, Msg::Paste(text.to_owned()));
    let cmds = press(model, KeyCode::Enter, KeyModifiers::NONE);
    cmds.into_iter()
        .filter(|cmd| !matches!(cmd, Cmd::Program(ProgramTask::SaveDraft(_) | ProgramTask::Remember(_))))
        .collect()
}

/// At the start skills and templates are found after the first frame. They cost one more.
#[test]
fn skills_that_are_found_change_the_screen_only_while_a_command_is_typed() {
    let found = || Msg::Called(vec![Choice::new("review"), Choice::new("skill:count")], Completeness::Whole);
    let mut model = model(80, 24);
    // The rows of the start are printed once.
    screen(&mut model);
    let before = screen(&mut model);
    assert!(!changes_screen(&model, &found()) && changes_screen(&model, &Msg::Idle));
    update(&mut model, found());
    assert_eq!(screen(&mut model), before);
    press(&mut model, KeyCode::Char('/'), KeyModifiers::NONE);
    assert!(changes_screen(&model, &found()));
}

/// A key returns before a long tree is completely searched. Regression: the rest was never searched.
#[test]
fn a_search_of_the_tree_goes_on_while_nothing_else_is_to_be_done() {
    let entry = |at: usize| {
        let parent = at.checked_sub(1).map_or("null".to_owned(), |parent| format!("\"{parent:08x}\""));
        format!(
            r#"{{"type":"message","id":"{at:08x}","parentId":{parent},"timestamp":"2026-01-01T00:00:00.000Z","message":{{"role":"user","content":"word {at}"}}}}"#
        )
    };
    let header = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
    let lines: Vec<String> = std::iter::once(header.to_owned()).chain((0..2_000).map(entry)).collect();
    let session = Session::from_text(&(lines.join("\n") + "\n"), Options::default()).unwrap();
    let leaf = session.leaf();
    let mut model = model(80, 24);
    update(&mut model, Msg::Snapshot(Purpose::Tree, Arc::new(session), leaf));
    assert!(!model.has_work());
    update(&mut model, Msg::Paste("word 1999".to_owned()));
    assert!(model.has_work() && !screen(&mut model).contains("(1/1)"));
    while model.has_work() {
        update(&mut model, Msg::Idle);
    }
    assert!(screen(&mut model).contains("(1/1)"), "{}", screen(&mut model));
}

/// The live rows, with the printed rows above them.
fn screen(model: &mut Model) -> String {
    let Size { width, height } = model.size;
    let mut rows: Vec<String> = view::print(model).lines.iter().map(ToString::to_string).collect();
    if model.overlay.as_ref().is_some_and(Overlay::is_full) {
        view::prepare_full(model);
        return drawn(width, height, |frame| _ = view::full(model, frame));
    }
    let bottom = view::bottom(model).draw(model).rows;
    rows.push(crate::testing::text_of(&bottom));
    rows.iter().map(|row| row.trim_end()).collect::<Vec<_>>().join("\n")
}

fn drawn(width: u16, height: u16, draw: impl FnOnce(&mut ratatui::Frame<'_>)) -> String {
    let backend = ratatui::backend::TestBackend::new(width, height);
    let mut terminal = Terminal::with_options(backend, TerminalOptions { viewport: Viewport::Fullscreen }).unwrap();
    terminal.draw(draw).unwrap();
    let text = terminal.backend().to_string();
    let rows = text.lines().map(|row| row.trim_matches('"').trim_end().to_owned());
    rows.collect::<Vec<_>>().join("\n")
}

/// Types a text key by key. Returns the tasks, except for drafts.
fn written(model: &mut Model, text: &str) -> Vec<Cmd> {
    let keys = text.chars().flat_map(|letter| press(model, KeyCode::Char(letter), KeyModifiers::NONE));
    keys.filter(|cmd| !matches!(cmd, Cmd::Program(ProgramTask::SaveDraft(_)))).collect()
}

#[test]
fn what_an_argument_may_be_is_looked_for_once_it_is_written() {
    let mut model = model(80, 24);
    assert_eq!(written(&mut model, "/model"), []);
    assert_eq!(written(&mut model, " gp"), [ProgramTask::Choices(Argument::Model).into()]);
    let models = ["anthropic/opus", "openai/gpt-5", "openrouter/openai/gpt-5"].map(Choice::new).to_vec();
    update(&mut model, Msg::Choices(Argument::Model, models));
    assert_snapshot!(screen(&mut model), @"
    offshoot 0.1.0 · m1 • thinking medium · ~/work
    ? help · / commands · @ files · ! shell · escape stops · ctrl+d leaves

    ────────────────────────────────────────────────────────────────────────────────
    /model gp
    ────────────────────────────────────────────────────────────────────────────────
    → openai/gpt-5
      openrouter/openai/gpt-5
    ~/work  context ░░░░░░░░ 0% of 200k                         m1 • thinking medium
    ");
    press(&mut model, KeyCode::Down, KeyModifiers::NONE);
    press(&mut model, KeyCode::Tab, KeyModifiers::NONE);
    assert_eq!(model.editor.draft(), "/model openrouter/openai/gpt-5");
    for (text, argument) in [
        ("/switch ", Argument::Entry),
        ("/branch ", Argument::Entry),
        ("/pop ", Argument::Entry),
        ("/label ", Argument::Label),
    ] {
        model.editor.replace("");
        assert_eq!(written(&mut model, text), [ProgramTask::Choices(argument).into()], "{text}");
    }
    let entries = vec![Choice::new("the fix").with("a1"), Choice::new("b2").with("what about pages?")];
    update(&mut model, Msg::Choices(Argument::Label, entries.clone()));
    model.editor.replace("");
    written(&mut model, "/switch pag");
    update(&mut model, Msg::Choices(Argument::Entry, entries));
    assert_snapshot!(screen(&mut model), @"

    ────────────────────────────────────────────────────────────────────────────────
    /switch pag
    ────────────────────────────────────────────────────────────────────────────────
    → b2  what about pages?
    ~/work  context ░░░░░░░░ 0% of 200k                         m1 • thinking medium
    ");
    press(&mut model, KeyCode::Tab, KeyModifiers::NONE);
    assert_eq!(model.editor.draft(), "/switch b2");
    model.editor.replace("");
    assert_eq!(written(&mut model, "/switch "), [ProgramTask::Choices(Argument::Entry).into()]);
    assert!(!model.editor.is_completing(), "what was there then is not offered any more");
}

/// Choices that the front end knows need no task.
#[test]
fn levels_are_those_of_the_model_and_sessions_those_that_were_open() {
    let mut model = model(80, 24);
    assert_eq!(written(&mut model, "/thinking "), []);
    assert_snapshot!(screen(&mut model), @"
    offshoot 0.1.0 · m1 • thinking medium · ~/work
    ? help · / commands · @ files · ! shell · escape stops · ctrl+d leaves

    ────────────────────────────────────────────────────────────────────────────────
    /thinking
    ────────────────────────────────────────────────────────────────────────────────
    → off
      minimal
      low
      medium
      high
    ~/work  context ░░░░░░░░ 0% of 200k                         m1 • thinking medium
    ");
    model.editor.replace("");
    let at = |model: &mut Model, id: &str, name: Option<&str>, branches| {
        let (path, name) = (Some(format!("/s/{id}.jsonl").into()), name.map(str::to_owned));
        let facts = SessionFacts { id: id.to_owned(), path, name, branches, ..SessionFacts::default() };
        update(model, Msg::SessionFacts(Box::new(facts)));
    };
    at(&mut model, "aaaa", Some("pages"), 1);
    at(&mut model, "bbbb", None, 2);
    at(&mut model, "cccc", None, 0);
    at(&mut model, "aaaa", Some("the pager"), 1);
    at(&mut model, "dddd", None, 1);
    assert_eq!(written(&mut model, "/resume "), []);
    assert_snapshot!(screen(&mut model), @"

    ────────────────────────────────────────────────────────────────────────────────
    /resume
    ────────────────────────────────────────────────────────────────────────────────
    → the pager  aaaa
      bbbb
    ");
}

/// An opened session began with its last words, and nothing said what it was.
#[test]
fn an_opened_session_begins_with_the_rows_of_the_start() {
    let mut model = Model::default();
    update(&mut model, Msg::Resized(Size::new(80, 24)));
    let earlier = ConversationBlock::new(Item::User(vec![ItemPart::Text("Earlier words.".to_owned())]));
    let start =
        SessionFacts { cwd: "~/work".to_owned(), git_branch: Some("main".to_owned()), ..SessionFacts::default() };
    let opened = Opened { tail: vec![earlier.clone()], start: Some(Box::new(start)), ..Opened::default() };
    update(&mut model, Msg::Opened(opened));
    let rows =
        |model: &mut Model| view::print(model).lines.iter().map(|row| row.to_string() + "\n").collect::<String>();
    assert_snapshot!(rows(&mut model), @"
    offshoot 0.1.0 · ~/work (main)
    ? help · / commands · @ files · ! shell · escape stops · ctrl+d leaves

    › Earlier words.
    ");
    let resumed =
        Opened { reason: OpenedReason::Changed(SessionChangeReason::Resume), tail: vec![earlier], ..Opened::default() };
    update(&mut model, Msg::Opened(resumed));
    assert!(!rows(&mut model).contains("offshoot"), "once");
}

#[test]
fn a_quiet_start_names_no_keys() {
    let mut model = model(80, 24);
    assert!(screen(&mut model).contains("/ commands"));
    model.preferences.settings.is_quiet = true;
    assert!(!screen(&mut model).contains("/ commands"));
}

fn answer(text: &str, usage: Usage) -> Message {
    Message::from(AssistantMessage {
        content: vec![Block::text(text)],
        api: String::new(),
        provider: "test".to_owned(),
        model: "m1".to_owned(),
        response_id: None,
        usage,
        stop_reason: StopReason::Stop,
        error_message: None,
        timestamp: 0,
    })
}

#[test]
fn the_list_of_models_has_a_row_that_looks_for_those_of_this_machine() {
    let mut model = model(80, 12);
    let listed = |(id, has_key): (&str, bool)| {
        let model = LanguageModel { id: id.to_owned(), provider: "test".to_owned(), ..LanguageModel::default() };
        ListedModel { model: Arc::new(model), has_key }
    };
    update(&mut model, Msg::LocalModels([("m0", true), ("m1", true)].map(listed).into()));
    assert!(screen(&mut model).contains("› m0"), "what was found, not what is in use");
    update(&mut model, Msg::Models([("m1", true), ("m2", false)].map(listed).into()));
    let shown = screen(&mut model);
    let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text}: {shown}"));
    assert!(at("m1 ") < at("Local models …") && at("Local models") < at("no key"), "{shown}");
    "local mod".chars().for_each(|letter| drop(press(&mut model, KeyCode::Char(letter), KeyModifiers::NONE)));
    let done = press(&mut model, KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(done, [ProgramTask::LocalModels.into()]);
    assert!(model.overlay.is_none(), "the list is closed while the servers are asked");
}

fn heard(model: &mut Model, event: Event) -> Vec<Cmd> {
    update(model, Msg::Agent(Arc::new(event)))
}

fn streaming(model: &mut Model) {
    heard(model, Event::AgentStart);
    heard(model, Event::MessageEnd { message: UserMessage::new("what is it?", Vec::new(), 0).into() });
    heard(model, Event::MessageStart { message: answer("", Usage::default()) });
    for update in [
        Update::TextStart { content_index: 0 },
        Update::TextDelta { content_index: 0, delta: "It is\n\n- one\n- tw".to_owned() },
    ] {
        heard(model, Event::MessageUpdate { usage: Usage::default(), assistant_message_event: update });
    }
}

/// Regression: a provider that reports 1 token until the end was believed.
#[test]
fn tokens_are_estimated_while_the_provider_reports_less() {
    let mut model = model(80, 24);
    streaming(&mut model);
    let usage = Usage { output: 1, ..Usage::default() };
    let update = Update::TextDelta { content_index: 0, delta: "o and more ".repeat(8) };
    heard(&mut model, Event::MessageUpdate { usage, assistant_message_event: update });
    assert_eq!(model.conversation.answer().unwrap().tokens(), 26);
    let usage = Usage { output: 40, ..Usage::default() };
    let update = Update::TextDelta { content_index: 0, delta: "end".to_owned() };
    heard(&mut model, Event::MessageUpdate { usage, assistant_message_event: update });
    assert_eq!(model.conversation.answer().unwrap().tokens(), 40);
}

#[test]
fn every_command_asks_for_what_it_says() {
    let mut asked = Vec::new();
    for line in [
        "/new",
        "/resume",
        "/resume work",
        "/tree",
        "/branches",
        "/switch 1a2b",
        "/branch-here",
        "/branch-here 1a2b",
        "/branch",
        "/branch 1a2b",
        "/clone",
        "/pop",
        "/pop 1a2b",
        "/pick 1a2b 3c4d..5e6f",
        "/merge 1a2b mind the tests",
        "/compare 1a2b",
        "/undo",
        "/uncompact",
        "/export-branch 1a2b out.jsonl",
        "/label here",
        "/label --clear",
        "/label",
        "/name mine",
        "/compact mind the tests",
        "/model",
        "/model m2",
        "/thinking high",
        "/session",
        "/export",
        "/export page.html",
        "/import in.jsonl",
        "/settings",
        "/quit",
        "!ls",
        "!!ls",
        "hello",
    ] {
        let tasks = typed(&mut model(80, 24), line).into_iter().map(|cmd| match cmd {
            Cmd::Program(task) => task,
            Cmd::Screen(task) => panic!("{line}: {task:?}"),
        });
        asked.push(format!("{line}: {:?}", tasks.collect::<Vec<_>>()));
    }
    assert_snapshot!(asked.join("\n"), @r#"
    /new: [Ask(StartSession(StartSession { parent: None }))]
    /resume: [Sessions(List(Folder))]
    /resume work: [Resume("work")]
    /tree: [Snapshot(Tree)]
    /branches: [Branches]
    /switch 1a2b: [Operate(OperationOrder { operation: "navigate", given: Given([("entry", Text("1a2b"))]) })]
    /branch-here: [Snapshot(BranchHere)]
    /branch-here 1a2b: [Operate(OperationOrder { operation: "navigate", given: Given([("entry", Text("1a2b"))]) })]
    /branch: [Snapshot(Fork)]
    /branch 1a2b: [Fork("1a2b", Stay)]
    /clone: [Ask(CloneSession(CloneSession))]
    /pop: [Operate(OperationOrder { operation: "navigate", given: Given([("summarize", Flag)]) })]
    /pop 1a2b: [Operate(OperationOrder { operation: "navigate", given: Given([("entry", Text("1a2b")), ("summarize", Flag)]) })]
    /pick 1a2b 3c4d..5e6f: [Operate(OperationOrder { operation: "pick", given: Given([("selection", Many(["1a2b", "3c4d..5e6f"]))]) })]
    /merge 1a2b mind the tests: [Operate(OperationOrder { operation: "merge", given: Given([("source", Text("1a2b")), ("instructions", Text("mind the tests"))]) })]
    /compare 1a2b: [Compare("1a2b", None)]
    /undo: [Operate(OperationOrder { operation: "undo", given: Given([]) })]
    /uncompact: [Operate(OperationOrder { operation: "uncompact", given: Given([]) })]
    /export-branch 1a2b out.jsonl: [ExportBranch { entry: "1a2b", path: Some("out.jsonl") }]
    /label here: [Operate(OperationOrder { operation: "label", given: Given([("entry", Text("@said")), ("text", Text("here"))]) })]
    /label --clear: [Operate(OperationOrder { operation: "label", given: Given([("entry", Text("@said")), ("clear", Flag)]) })]
    /label: [Operate(OperationOrder { operation: "label", given: Given([("entry", Text("@said"))]) })]
    /name mine: [Operate(OperationOrder { operation: "name", given: Given([("text", Text("mine"))]) })]
    /compact mind the tests: [Ask(Compact(Compact(Some("mind the tests"))))]
    /model: [Models]
    /model m2: [UseModel("m2")]
    /thinking high: [Ask(SetThinkingLevel(SetThinkingLevel(High)))]
    /session: [Describe]
    /export: [Export(None)]
    /export page.html: [Export(Some("page.html"))]
    /import in.jsonl: [Import("in.jsonl")]
    /settings: [Settings]
    /quit: []
    !ls: [Ask(RunBash(RunBash { command: "ls", exclude_from_context: false }))]
    !!ls: [Ask(RunBash(RunBash { command: "ls", exclude_from_context: true }))]
    hello: [Ask(Prompt(Prompt(UserPrompt { before: "", text: "hello", images: [] })))]
    "#);
}

#[test]
fn commands_that_open_something_themselves() {
    let mut model = model(80, 24);
    assert_eq!(typed(&mut model, "/help"), []);
    assert!(matches!(model.overlay, Some(Overlay::Help(_))));
    press(&mut model, KeyCode::Esc, KeyModifiers::NONE);
    assert_eq!(typed(&mut model, "/thinking"), []);
    assert!(matches!(model.overlay, Some(Overlay::Pick(..))));
    let cmds = press(&mut model, KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(cmds, [Cmd::ask(SetThinkingLevel(ThinkingLevel::Medium))]);
    assert_eq!(typed(&mut model, "/copy"), []);
    heard(&mut model, Event::MessageEnd { message: answer("Forty-two.", Usage::default()) });
    assert_eq!(
        typed(&mut model, "/copy"),
        [ProgramTask::Copy { text: "Forty-two.".to_owned(), what: "the last answer" }.into()]
    );
    typed(&mut model, "/name");
    assert_eq!(model.editor.draft(), "/name ");
    assert!(screen(&mut model).contains("the session has no name"), "{}", screen(&mut model));
}

#[test]
fn an_unknown_command_names_the_nearest_and_stays() {
    let mut model = model(80, 24);
    assert_eq!(typed(&mut model, "/resme"), []);
    assert_eq!(model.editor.draft(), "/resme");
    assert!(screen(&mut model).contains("did you mean /resume?"));
}

#[test]
fn two_escapes_open_the_tree_if_they_are_near() {
    let mut model = model(80, 24);
    let escape = |model: &mut Model, now| {
        update(model, Msg::Now(now));
        press(model, KeyCode::Esc, KeyModifiers::NONE)
    };
    assert_eq!(escape(&mut model, 0), []);
    assert_eq!(escape(&mut model, 600), []);
    assert_eq!(escape(&mut model, 900), [ProgramTask::Snapshot(Purpose::Tree).into()]);
    assert_eq!(escape(&mut model, 1000), [], "a third one begins anew");
    model.preferences.settings.double_escape = offshoot_settings::DoubleEscape::None;
    assert_eq!(escape(&mut model, 1100), []);
}

fn answered(model: &mut Model, answer: TerminalAnswer) -> Vec<Cmd> {
    update(model, Msg::Answered(Box::new(answer)))
}

#[test]
fn escape_stops_and_brings_back_what_waits() {
    let mut model = model(80, 24);
    streaming(&mut model);
    let cmds = press(&mut model, KeyCode::Esc, KeyModifiers::NONE);
    assert_eq!(cmds, [Cmd::ask(ClearQueue), Cmd::ask(Abort)]);
    let reply = ClearedQueue { steering: vec!["one".to_owned()], follow_up: vec!["two".to_owned()] };
    answered(&mut model, TerminalAnswer::ClearQueue(ClearQueue, Ok(reply)));
    assert_eq!(model.editor.draft(), "one\n\ntwo");
}

#[test]
fn what_is_said_meanwhile_steers_or_follows() {
    let mut model = model(80, 24);
    streaming(&mut model);
    let cmds = typed(&mut model, "left");
    assert_eq!(cmds, [Cmd::ask(Steer("left".into()))]);
    update(&mut model, Msg::Paste("and then".to_owned()));
    let cmds = press(&mut model, KeyCode::Enter, KeyModifiers::ALT);
    assert!(cmds.contains(&Cmd::ask(FollowUp("and then".into()))), "{cmds:?}");
}

/// It emptied the editor and left the turn running; twice ended the program in the middle of it.
#[test]
fn an_interrupt_during_a_turn_stops_it_and_keeps_the_draft() {
    let mut model = model(80, 24);
    press(&mut model, KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert!(model.interrupted.is_some() && !model.is_ending, "the first of two presses at an idle prompt");
    streaming(&mut model);
    update(&mut model, Msg::Paste("half".to_owned()));
    for now in [0, 100, 200] {
        update(&mut model, Msg::Now(now));
        let cmds = press(&mut model, KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(cmds, [Cmd::ask(ClearQueue), Cmd::ask(Abort)]);
        assert!(model.editor.draft() == "half" && !model.is_ending);
    }
    model.is_working = false;
    press(&mut model, KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert!(model.editor.is_empty() && !model.is_ending, "the press that stopped it is not the first of two");
    press(&mut model, KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert!(model.is_ending);
}

#[test]
fn an_interrupt_stops_the_users_own_command() {
    let mut model = model(80, 24);
    typed(&mut model, "!sleep 60");
    update(&mut model, Msg::Paste("half".to_owned()));
    let cmds = press(&mut model, KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!((cmds, model.editor.draft().as_str()), (vec![Cmd::ask(AbortBash)], "half"));
}

#[test]
fn exit_and_quit_alone_leave() {
    for word in ["exit", "quit", " Exit "] {
        let mut model = model(80, 24);
        typed(&mut model, word);
        assert!(model.is_ending, "{word}");
    }
    for words in ["exit now", "quit?", "exits"] {
        let mut model = model(80, 24);
        assert_eq!(typed(&mut model, words), [Cmd::ask(Prompt(words.into()))]);
    }
}

#[test]
fn two_interrupts_end_and_one_clears() {
    let mut model = model(80, 24);
    update(&mut model, Msg::Paste("half".to_owned()));
    let press = |model: &mut Model, now| {
        update(model, Msg::Now(now));
        press(model, KeyCode::Char('c'), KeyModifiers::CONTROL)
    };
    assert_eq!(press(&mut model, 0), [ProgramTask::SaveDraft(String::new()).into()]);
    assert!(model.editor.is_empty() && !model.is_ending);
    press(&mut model, 1000);
    assert!(!model.is_ending);
    press(&mut model, 1200);
    assert!(model.is_ending);
}

/// Regression: before the session was known, the key said that no other branch holds newer work.
#[test]
fn the_key_to_newer_work_waits_until_the_session_is_known() {
    let mut model = Model { facts: SessionFacts::default(), ..model(80, 24) };
    let key = || Msg::Key(KeyEvent::new(KeyCode::Char('g'), KeyModifiers::ALT));
    assert!(update(&mut model, key()).is_empty());
    let diverged = Some(Diverged { entry: "1a2b3c4d".to_owned(), message: "newer work".to_owned() });
    let facts = SessionFacts { id: "s".to_owned(), diverged, ..SessionFacts::default() };
    let cmds = update(&mut model, Msg::SessionFacts(Box::new(facts)));
    assert!(format!("{cmds:?}").contains("1a2b3c4d"), "{cmds:?}");
    assert!(!screen(&mut model).contains("no other branch"), "{}", screen(&mut model));
    let facts = SessionFacts { id: "s".to_owned(), ..SessionFacts::default() };
    assert!(update(&mut model, Msg::SessionFacts(Box::new(facts))).is_empty(), "it goes there once");
    update(&mut model, key());
    assert!(screen(&mut model).contains("no other branch holds newer work"), "{}", screen(&mut model));
}

#[test]
fn what_could_not_be_said_is_not_lost() {
    let mut model = model(80, 24);
    typed(&mut model, "hello");
    assert!(model.editor.is_empty());
    let refused = Err(AgentError::NoAccess(KeyError::None { provider: "p".to_owned(), variables: "KEY".to_owned() }));
    answered(&mut model, TerminalAnswer::Prompt(Prompt("hello".into()), refused));
    assert_eq!(model.editor.draft(), "hello");
    assert!(screen(&mut model).contains("there is no key"));
}

#[test]
fn a_refused_prompt_comes_back_with_its_files() {
    let mut model = model(80, 24);
    let said = UserPrompt {
        before: "<file name=\"a\">\nnotes\n</file>".to_owned(),
        text: "/skill:none of it".to_owned(),
        images: vec![Block::Image { data: String::new(), mime_type: "image/png".to_owned() }],
    };
    answered(&mut model, TerminalAnswer::Prompt(Prompt(said), Err(AgentError::Ended)));
    assert_eq!(model.editor.draft(), "<file name=\"a\">\nnotes\n</file>\n/skill:none of it");
    assert!(screen(&mut model).contains("1 picture was not sent"), "{}", screen(&mut model));
}

/// A prompt that the provider finds larger than its window was recorded, and taken back.
#[test]
fn a_prompt_that_did_not_fit_the_window_comes_back() {
    let mut model = model(80, 24);
    let window = Window { model: "p/m".to_owned(), tokens: 20_000 };
    let oversized = OversizedPrompt { tokens: 22_000, window, found_by: SizeJudge::Provider };
    let settled = Ok(Spoken::Taken(Settled::Failed(oversized.into())));
    answered(&mut model, TerminalAnswer::Prompt(Prompt("a long text".into()), settled));
    assert_eq!(model.editor.draft(), "a long text");
    let shown = screen(&mut model);
    assert!(shown.contains("about 22,000 tokens") && shown.contains("20,000"), "{shown}");
}

#[test]
fn a_refused_message_for_a_turn_does_not_end_it() {
    let mut model = model(80, 24);
    update(&mut model, Msg::Agent(Arc::new(Event::AgentStart)));
    let refused = Err(AgentError::Ended);
    answered(&mut model, TerminalAnswer::Steer(Steer("more".into()), refused));
    assert!(model.is_working);
    assert_eq!(model.editor.draft(), "more");
}

/// Regression: the status line showed the approval mode before a change when facts that were read earlier came later.
#[test]
fn a_change_of_the_mode_or_level_has_the_facts_read_again() {
    let mut model = model(80, 24);
    let changes = [
        TerminalAnswer::SetApproval(SetApproval(ApprovalMode::Edits), Ok(())),
        TerminalAnswer::SetThinkingLevel(SetThinkingLevel(ThinkingLevel::High), Ok(ThinkingLevel::High)),
    ];
    for answer in changes {
        assert_eq!(answered(&mut model, answer), [ProgramTask::ReadSessionFacts.into()]);
    }
}

/// A command of an extension may begin a run, and so may a message that was sent while the command ran.
#[test]
fn a_command_that_ends_does_not_end_the_run_that_it_began() {
    let mut model = model(80, 24);
    let handled = || TerminalAnswer::Prompt(Prompt("/ask".into()), Ok(Spoken::Handled));
    update(&mut model, Msg::Agent(Arc::new(Event::AgentStart)));
    answered(&mut model, handled());
    assert!(model.is_working);
    update(&mut model, Msg::Agent(Arc::new(Event::AgentSettled { aborted: false })));
    assert!(!model.is_working);
    model.is_working = true;
    answered(&mut model, handled());
    assert!(!model.is_working);
}

#[test]
fn a_text_of_the_tree_waits_for_what_is_written() {
    let mut model = model(80, 24);
    update(&mut model, Msg::Paste("mine".to_owned()));
    let order = OperationOrder::new("navigate", Given::default());
    let said = OperationSaid { text: String::new(), warning: None, to_edit: Some("old".to_owned()), is_done: true };
    update(&mut model, Msg::Operated(order, Ok(said)));
    assert_eq!(model.editor.draft(), "mine");
}

#[test]
fn the_status_says_what_matters_as_far_as_there_is_room() {
    let mut shown = Vec::new();
    for persistence in [Persistence::Durable, Persistence::Spilled, Persistence::InMemory] {
        for columns in [80, 40] {
            let mut model = model(columns, 12);
            model.facts = SessionFacts {
                tokens: 61_000,
                cost: 0.1234,
                git_branch: Some("main".to_owned()),
                branch: Some("the cache is wrong".to_owned()),
                branches: 3,
                persistence,
                ..model.facts.clone()
            };
            shown.push(screen(&mut model).lines().last().unwrap_or_default().to_owned());
        }
    }
    for coverage in
        [SandboxCoverage::Whole, SandboxCoverage::Partial, SandboxCoverage::Nothing, SandboxCoverage::Refusing]
    {
        for columns in [80, 40] {
            let mut model = model(columns, 12);
            model.approval = ApprovalMode::Edits;
            let sandbox = SandboxReport { mode: SandboxMode::Workspace, coverage, words: String::new() };
            model.facts = SessionFacts {
                tokens: 61_000,
                git_branch: Some("main".to_owned()),
                sandbox: Some(sandbox),
                ..model.facts.clone()
            };
            shown.push(screen(&mut model).lines().last().unwrap_or_default().to_owned());
        }
    }
    let mut model = model(80, 12);
    let message = "newer work: “seq 1 60”, 2 min ago".to_owned();
    model.facts.diverged = Some(Diverged { entry: "1a2b3c4d".to_owned(), message });
    shown.push(screen(&mut model).lines().last().unwrap_or_default().to_owned());
    assert_snapshot!(shown.join("\n"), @"
    ~/work (main)  ⑂ the cache is wrong  context 30% of 200k  $0.12      m1 • medium
    ~/work (main)  30% full      m1 • medium
    not saved in its file  ~/work (main)  3 branches  30% full  $0.12    m1 • medium
    not saved in its file  30% full       m1
    in memory  ~/work (main)  ⑂ the cache is wrong  30% full  $0.12      m1 • medium
    in memory  ~/work  30% full  m1 • medium
    edits  sandbox: workspace  ~/work (main)  context 30% of 200k        m1 • medium
    edits  ~/work  30% full      m1 • medium
    edits  sandbox in part  ~/work (main)  context 30% of 200k           m1 • medium
    edits  sandbox in part  30% full      m1
    edits  sandbox not available  ~/work (main)  context 30% of 200k     m1 • medium
    edits  no sandbox  ~/work  30% full   m1
    edits  no sandbox  ~/work (main)  context 30% of 200k                m1 • medium
    edits  no sandbox  ~/work  30% full   m1
    newer work: “seq 1 60”, 2 min ago (alt+g)
    ");
}

#[test]
fn a_mode_of_approval_that_a_missing_guard_brings_is_shown() {
    let mut model = model(80, 24);
    let message = Msg::Extension(ExtensionMsg::Approval(ApprovalMode::Edits));
    assert_eq!(update(&mut model, message), [ProgramTask::ReadSessionFacts.into()]);
    assert_eq!(model.approval, ApprovalMode::Edits);
}
