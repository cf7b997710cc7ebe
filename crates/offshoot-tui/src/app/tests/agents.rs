//! The agents that a session has started: their rows, and the session of one that is read while it runs.

use offshoot_protocol::request::{ChildOrder, ToChild};
use offshoot_protocol::{AgentError, ChildState, ChildStatus, SessionChangeReason};
use offshoot_session::children::{ChildInfo, ChildList};

use super::*;
use crate::app::ask::{TerminalAnswer, TerminalAsk};
use crate::app::cmd::{Cmd, ProgramTask, Purpose};
use crate::overlay::hits::{HitAnswer, HitRequest, ReadHit};
use crate::overlay::sessions::{Answer, Request};
use crate::testing::working;

fn state(id: &str, agent: &str, status: ChildStatus, doing: Option<&str>) -> ChildState {
    ChildState {
        id: id.to_owned(),
        agent: agent.to_owned(),
        parent_tool_call_id: "1".to_owned(),
        index: 0,
        task: "look".to_owned(),
        file: Some(format!("/s/root/{id}.jsonl")),
        model: "test/m1".to_owned(),
        status,
        requests: 3,
        tokens: 1200,
        cost: 0.0123,
        current_tool: doing.map(str::to_owned),
        last_text: Some("I have read the lexer and found four places that build a token by hand.".to_owned()),
        why: None,
    }
}

fn stands(model: &mut Model, state: ChildState) {
    let child = Box::new(state);
    heard(model, if child.status.is_end() { Event::ChildEnd { child } } else { Event::ChildUpdate { child } });
}

fn of_child(model: &mut Model, event: Event) {
    update(model, Msg::OfChild("Alpha".into(), Arc::new(event)));
}

/// Three agents of a call; two of them run.
fn three(model: &mut Model) {
    update(model, Msg::Now(1000));
    heard(model, Event::AgentStart);
    stands(model, state("Alpha", "scout", ChildStatus::Running, Some("bash")));
    stands(model, state("Alpha.Beta", "scout", ChildStatus::Running, None));
    stands(model, state("Tests", "task", ChildStatus::Pending, None));
    let why = Some("stopped: limit usd 0.50 reached".to_owned());
    stands(model, ChildState { why, ..state("Old", "reviewer", ChildStatus::Limit, None) });
}

fn list(model: &mut Model) -> Vec<Cmd> {
    update(model, Msg::Paste("/agents".to_owned()));
    key(model, "enter")
}

fn key(model: &mut Model, name: &str) -> Vec<Cmd> {
    update(model, Msg::Key(Key::parse(name).unwrap().event()))
}

/// The place that is asked for, opened on the session of the tests.
fn read(model: &mut Model, cmds: &[Cmd]) {
    let asked = cmds.iter().find_map(|cmd| match cmd {
        Cmd::Program(ProgramTask::Sessions(Request::Hits(HitRequest::Read(_, place)))) => Some(place.clone()),
        _ => None,
    });
    let (place, session) = (asked.unwrap(), working());
    let hit = ReadHit { real: place.file.clone(), place, leaf: session.leaf(), entry: None, source: Arc::new(session) };
    update(model, Msg::Sessions(Answer::Hits(HitAnswer::Read(0, Ok(hit)))));
}

/// Reads Alpha, which is in the middle of an answer.
fn reading(model: &mut Model) {
    three(model);
    of_child(
        model,
        Event::SessionChanged {
            reason: SessionChangeReason::New,
            session_id: "s".to_owned(),
            session_file: None,
            leaf_id: Some("h".to_owned()),
            grown_from: None,
        },
    );
    of_child(model, Event::AgentStart);
    of_child(model, Event::MessageEnd { message: UserMessage::new("Find every token", Vec::new(), 0).into() });
    of_child(model, Event::MessageStart { message: answer(Vec::new()) });
    let said = |assistant_message_event| Event::MessageUpdate { usage: Usage::default(), assistant_message_event };
    of_child(model, said(Update::TextStart { content_index: 0 }));
    of_child(model, said(Update::TextDelta { content_index: 0, delta: "I have found two so ".to_owned() }));
    list(model);
    let cmds = key(model, "enter");
    read(model, &cmds);
    of_child(model, said(Update::TextDelta { content_index: 0, delta: "far.".to_owned() }));
}

fn orders(cmds: &[Cmd]) -> Vec<&ToChild> {
    let order = |cmd| match cmd {
        &Cmd::Program(ProgramTask::Ask(ref ask)) => match ask.as_ref() {
            TerminalAsk::ToChild(order) => Some(order),
            _ => None,
        },
        _ => None,
    };
    cmds.iter().filter_map(order).collect()
}

#[test]
fn screens_of_agents() {
    let table: [(&str, Tell<'_>); 7] = [
        ("the list", &|model| {
            three(model);
            list(model);
        }),
        ("one is read", &reading),
        ("something is said to it", &|model| {
            reading(model);
            press(model, "enter");
            write(model, "look into src too");
        }),
        ("the question before it is stopped", &|model| {
            reading(model);
            press(model, "x");
        }),
        ("it has ended", &|model| {
            reading(model);
            stands(model, state("Alpha", "scout", ChildStatus::Completed, None));
        }),
        ("its money beside that of the session", &|model| {
            model.facts.cost = 0.31;
            three(model);
        }),
        ("the tree", &tree),
    ];
    for size in SIZES {
        insta::assert_snapshot!(format!("agents_at_{}x{}", size.0, size.1), screens(size, &table));
    }
}

/// The tree of the session of the tests, whose entry `d` has started two agents.
fn tree(model: &mut Model) {
    three(model);
    let session = working();
    let leaf = session.leaf();
    update(model, Msg::Snapshot(Purpose::Tree, Arc::new(session), leaf));
    let stored = |id: &str, entry: Option<&str>| ChildInfo {
        file: format!("/s/root/{id}.jsonl").into(),
        id: id.to_owned(),
        session_id: "x".to_owned(),
        agent: "scout".to_owned(),
        task: "look".to_owned(),
        parent_entry: entry.map(str::to_owned),
        tool_call_id: None,
        status: Some("completed".to_owned()),
        messages: 4,
        tokens: 100,
        cost: 0.5,
    };
    let children = vec![stored("Alpha", Some("b")), stored("Before", Some("g")), stored("Omp", None)];
    update(model, Msg::Children(Box::new(ChildList { children, left_out: 0 })));
}

#[test]
fn an_agent_in_the_tree_is_read_over_it_and_escape_leads_back() {
    let mut model = model(&Theme::default(), (80, 24));
    tree(&mut model);
    press(&mut model, "down down up up");
    assert!(key(&mut model, "up").is_empty());
    press(&mut model, "down down down");
    let cmds = key(&mut model, "enter");
    read(&mut model, &cmds);
    assert!(title(&model).starts_with("Old · reviewer"), "{}", title(&model));
    assert!(matches!(model.overlay, Some(Overlay::Reader(..))));
    press(&mut model, "escape");
    assert!(matches!(model.overlay, Some(Overlay::Tree(_))));
}

fn title(model: &Model) -> String {
    let Some(Overlay::Reader(reader, _)) = &model.overlay else { panic!("{:?}", model.overlay) };
    let mut buf = Buffer::empty(Rect::new(0, 0, 80, 24));
    reader.view(&model.preferences.keymap, &model.preferences.theme, buf.area, &mut buf);
    text_of(&buf).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn what_is_said_goes_to_the_agent_after_its_turn_or_at_its_end() {
    let mut model = model(&Theme::default(), (80, 24));
    reading(&mut model);
    press(&mut model, "enter");
    write(&mut model, "look into src");
    let cmds = key(&mut model, "enter");
    let steer = ToChild { id: "Alpha".to_owned(), order: ChildOrder::Steer("look into src".to_owned()) };
    assert_eq!(orders(&cmds), [&steer]);
    press(&mut model, "enter");
    write(&mut model, "then stop");
    let cmds = key(&mut model, "alt+enter");
    let then = ToChild { id: "Alpha".to_owned(), order: ChildOrder::FollowUp("then stop".to_owned()) };
    assert_eq!(orders(&cmds), [&then]);
    // An empty line says nothing, and one that is closed neither.
    press(&mut model, "enter");
    assert!(key(&mut model, "enter").is_empty());
    press(&mut model, "enter");
    write(&mut model, "no");
    assert!(key(&mut model, "escape").is_empty());
    assert!(matches!(model.overlay, Some(Overlay::Reader(..))));
    // Words that the agent has not taken come back.
    let refused = TerminalAnswer::ToChild(then, Err(AgentError::Failed("the agent Alpha has ended".to_owned())));
    update(&mut model, Msg::Answered(Box::new(refused)));
    let cmds = key(&mut model, "enter");
    assert_eq!(orders(&cmds)[0].order, ChildOrder::Steer("then stop".to_owned()));
}

#[test]
fn an_agent_is_stopped_after_a_question() {
    let mut model = model(&Theme::default(), (80, 24));
    reading(&mut model);
    assert!(key(&mut model, "x").is_empty());
    assert!(key(&mut model, "n").is_empty());
    press(&mut model, "x");
    let cmds = key(&mut model, "y");
    assert_eq!(orders(&cmds), [&ToChild { id: "Alpha".to_owned(), order: ChildOrder::Stop }]);
    stands(&mut model, state("Alpha", "scout", ChildStatus::Aborted, None));
    assert!(key(&mut model, "x").is_empty());
    assert!(orders(&key(&mut model, "y")).is_empty(), "it has ended");
    press(&mut model, "escape");
    let Some(Overlay::Pick(pick, _)) = &model.overlay else { panic!("{:?}", model.overlay) };
    assert!(format!("{pick:?}").contains("2 agents run: enter reads one"), "{pick:?}");
}

/// What is said to one that has ended runs it again, and it is read on from there.
#[test]
fn an_agent_that_has_ended_goes_on_with_what_is_said_to_it() {
    let mut model = model(&Theme::default(), (80, 24));
    reading(&mut model);
    stands(&mut model, state("Alpha", "scout", ChildStatus::Completed, None));
    press(&mut model, "enter");
    write(&mut model, "look once more");
    let cmds = key(&mut model, "enter");
    let again = ToChild { id: "Alpha".to_owned(), order: ChildOrder::Steer("look once more".to_owned()) };
    assert_eq!(orders(&cmds), [&again]);
    let opened = Event::SessionChanged {
        reason: SessionChangeReason::Resume,
        session_id: "s".to_owned(),
        session_file: None,
        leaf_id: Some("h".to_owned()),
        grown_from: None,
    };
    let cmds = update(&mut model, Msg::OfChild("Alpha".into(), Arc::new(opened)));
    read(&mut model, &cmds);
    stands(&mut model, state("Alpha", "scout", ChildStatus::Running, None));
    assert!(title(&model).contains("running"), "{}", title(&model));
    press(&mut model, "escape");
    assert!(matches!(model.overlay, Some(Overlay::Pick(..))), "one reader, over the list");
}

/// Agents that go on beside the conversation end with the program, after a question.
#[test]
fn leaving_asks_when_agents_work_in_the_background() {
    let mut model = model(&Theme::default(), (80, 24));
    stands(&mut model, state("Alpha", "scout", ChildStatus::Running, None));
    update(&mut model, Msg::Paste("/quit".to_owned()));
    key(&mut model, "enter");
    let Some(Overlay::Pick(pick, _)) = &model.overlay else { panic!("{:?}", model.overlay) };
    assert!(format!("{pick:?}").contains("1 agent works in the background. Leave, and stop them?"), "{pick:?}");
}

#[test]
fn a_session_without_agents_says_so() {
    let mut model = model(&Theme::default(), (80, 24));
    list(&mut model);
    assert!(model.overlay.is_none());
    let said = model.conversation.blocks().last().map(|block| format!("{:?}", block.item));
    assert!(said.unwrap().contains("this session has started no agents"));
}
