//! Messages that will not be sent, and commands that leave the session while the agent works.

use offshoot_protocol::FilesAlong;
use offshoot_protocol::request::{CloneSession, Fork, StartSession};

use super::*;

fn queue(model: &mut Model, steering: &[&str], follow_up: &[&str]) -> Vec<Cmd> {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let event = Event::QueueUpdate { steering: texts(steering), follow_up: texts(follow_up) };
    update(model, Msg::Agent(Arc::new(event)))
}

fn saved(text: &str) -> Cmd {
    ProgramTask::SaveDraft(text.to_owned()).into()
}

#[test]
fn queued_messages_are_kept_with_the_draft() {
    let mut model = model(80, 24);
    streaming(&mut model);
    update(&mut model, Msg::Paste("half".to_owned()));
    assert_eq!(queue(&mut model, &["one"], &["two"]), [saved("one\n\ntwo\n\nhalf")]);
    assert_eq!(update(&mut model, Msg::Paste(" a".to_owned())), [saved("one\n\ntwo\n\nhalf a")]);
    assert_eq!(queue(&mut model, &[], &["two"]), [saved("two\n\nhalf a")], "one was sent");
    let cmds = update(&mut model, Msg::End);
    assert_eq!(cmds, [saved("two\n\nhalf a")]);
}

#[test]
fn messages_that_will_not_be_sent_are_reported() {
    let back = |model: &mut Model| {
        let reply = ClearedQueue { steering: vec!["one".to_owned()], follow_up: vec!["two".to_owned()] };
        queue(model, &[], &[]);
        answered(model, TerminalAnswer::ClearQueue(ClearQueue, Ok(reply)));
        assert_eq!(model.editor.draft(), "one\n\ntwo");
        screen(model).contains("2 queued messages were not sent: back in the editor")
    };
    let mut stopped = model(80, 24);
    streaming(&mut stopped);
    press(&mut stopped, KeyCode::Esc, KeyModifiers::NONE);
    assert!(!back(&mut stopped), "not between two rows of the answer");
    heard(&mut stopped, Event::MessageEnd { message: answer("It is\n\n- one\n- two", Usage::default()) });
    let shown = screen(&mut stopped);
    let at = |words: &str| shown.find(words).unwrap_or_else(|| panic!("{words}: {shown}"));
    assert!(at("• two") < at("2 queued messages were not sent"), "{shown}");

    let mut failed = model(80, 24);
    streaming(&mut failed);
    queue(&mut failed, &["one"], &["two"]);
    let cmds = update(&mut failed, Msg::Agent(Arc::new(Event::AgentSettled { aborted: false })));
    assert!(cmds.contains(&Cmd::ask(ClearQueue)), "{cmds:?}");
    assert!(back(&mut failed));

    let mut taken = model(80, 24);
    streaming(&mut taken);
    assert_eq!(press(&mut taken, KeyCode::Up, KeyModifiers::ALT), [Cmd::ask(ClearQueue)]);
    assert!(!back(&mut taken), "who takes them back knows it");
}

#[test]
fn commands_that_leave_the_session_ask_while_the_agent_works() {
    let new = || Cmd::ask(StartSession { parent: None });
    let commands = [
        ("/new", "start a new session", new()),
        ("/resume 93a7", "open the other session", ProgramTask::Resume("93a7".to_owned()).into()),
        ("/import a.jsonl", "open the other session", ProgramTask::Import("a.jsonl".to_owned()).into()),
        ("/fork 93a7", "begin the new session", ProgramTask::Fork("93a7".to_owned(), FilesAlong::Stay).into()),
        ("/clone", "continue in a copy of the session", Cmd::ask(CloneSession)),
    ];
    for (command, words, cmd) in commands {
        let mut idle = model(80, 24);
        assert_eq!(typed(&mut idle, command), std::slice::from_ref(&cmd), "{command}");

        let mut busy = model(80, 24);
        streaming(&mut busy);
        assert_eq!(typed(&mut busy, command), []);
        let title = format!("The agent is working. Stop it and {words}?");
        assert!(screen(&mut busy).contains(&title), "{}", screen(&mut busy));
        assert_eq!(press(&mut busy, KeyCode::Esc, KeyModifiers::NONE), []);
        assert!(busy.is_working && busy.overlay.is_none(), "Escape answers the question and stops nothing");

        typed(&mut busy, command);
        assert_eq!(press(&mut busy, KeyCode::Char('n'), KeyModifiers::NONE), []);
        assert!(busy.overlay.is_none());

        typed(&mut busy, command);
        let cmds = press(&mut busy, KeyCode::Enter, KeyModifiers::NONE);
        assert_eq!(cmds, [Cmd::ask(ClearQueue), Cmd::ask(Abort), cmd.clone()], "{command}");

        typed(&mut busy, command);
        busy.is_working = false;
        assert_eq!(press(&mut busy, KeyCode::Char('y'), KeyModifiers::NONE), [cmd], "it has ended meanwhile");
    }
    let mut busy = model(80, 24);
    streaming(&mut busy);
    let fork = Cmd::ask(Fork { entry: "93a7".to_owned(), files: FilesAlong::Stay });
    assert_eq!(super::super::leaving::leave(&mut busy, fork, super::super::leaving::Leave::Fork), []);
    assert!(busy.overlay.is_some());
}
