//! The calls of one answer that are asked about, in one list.

use offshoot_protocol::request::{Abort, Approve, ClearQueue};
use offshoot_protocol::{ApprovalDecision, ApprovalTier, ForeseenQuestion};
use serde_json::json;

use super::*;
use crate::app::call_list::CallMark;
use crate::app::cmd::Cmd;

const REASON: &str = "mode `ask` asks before commands";

fn later(id: &str, command: &str) -> ForeseenQuestion {
    ForeseenQuestion {
        tool_call_id: id.to_owned(),
        tool_name: "bash".to_owned(),
        args: json!({"command": command}),
        reason: REASON.to_owned(),
        diff: None,
    }
}

/// The agent asks about a command, with others after it.
fn asks(
    model: &mut Model,
    (number, id, command): (u64, &str, &str),
    following: Vec<ForeseenQuestion>,
    change: impl FnOnce(&mut Event),
) -> Vec<Cmd> {
    let mut event = Event::ApprovalRequest {
        id: number,
        tool_call_id: id.to_owned(),
        tool_name: "bash".to_owned(),
        args: json!({"command": command}),
        tier: ApprovalTier::Exec,
        reason: REASON.to_owned(),
        diff: None,
        rule: None,
        rules: Vec::new(),
        options: vec![ApprovalDecision::AllowOnce, ApprovalDecision::Reject],
        waiting: following.len(),
        following,
    };
    change(&mut event);
    update(model, Msg::Agent(Arc::new(event)))
}

fn three(model: &mut Model) {
    heard(model, Event::AgentStart);
    asks(model, (1, "c1", "echo one"), vec![later("c2", "echo two"), later("c3", "rm three")], |_| {});
}

fn answered(id: u64, decision: ApprovalDecision) -> Cmd {
    Cmd::ask(Approve { id, decision, message: None, rule: None, scope: None })
}

/// Presses keys, and returns what the last of them does.
fn pressed(model: &mut Model, keys: &str) -> Vec<Cmd> {
    let mut cmds = Vec::new();
    for key in keys.split(' ') {
        cmds = update(model, Msg::Key(Key::parse(key).unwrap().event()));
    }
    cmds
}

fn asked_model(size: (u16, u16)) -> Model {
    let mut model = model(&Theme::default(), size);
    three(&mut model);
    model
}

#[test]
fn the_calls_of_an_answer_are_listed_together() {
    let shown = terminal((80, 24), &|model| {
        three(model);
        press(model, "tab y space space");
    });
    insta::assert_snapshot!(shown, @"
    offshoot 0.1.0 · m1 • thinking medium · ~/work
    ? help · / commands · @ files · ! shell · escape stops · ctrl+d leaves

      3 calls are asked about (mode `ask` asks before commands)
        allow   echo one
      › refuse  echo two
        ask     rm three
      space allow, refuse, ask · y allow · a allow all shown · n refuse all
      o opens one · enter decides as marked · tab back to the text

    ─ ⠋ waiting for your answer … escape stops it ──────────────────────────────────

    ────────────────────────────────────────────────────────────────────────────────
    ~/work  context ░░░░░░░░ 0% of 200k                         m1 • thinking medium
    ");
    let small = terminal((40, 12), &|model| {
        three(model);
        press(model, "tab down");
    });
    insta::assert_snapshot!(small, @"
      3 calls are asked about (mode `ask`
      asks before commands)
        ask     echo one
      › ask     echo two
        ask     rm three
      space, y · a all shown · n none
      o opens · enter decides

    ─ ⠋ waiting … escape stops it ──────────

    ────────────────────────────────────────
    ~/work  context 0% of 200k   m1 • medium
    ");
}

#[test]
fn one_answer_decides_about_all_that_were_shown() {
    let mut model = asked_model((80, 24));
    assert_eq!(pressed(&mut model, "tab a down down space enter"), [answered(1, ApprovalDecision::AllowOnce)]);
    assert_eq!(
        asks(&mut model, (2, "c2", "echo two"), vec![later("c3", "rm three")], |_| {}),
        [answered(2, ApprovalDecision::AllowOnce)]
    );
    assert_eq!(
        asks(&mut model, (3, "c3", "rm three"), Vec::new(), |_| {}),
        [answered(3, ApprovalDecision::Reject)],
        "a blank turns what is allowed into refused"
    );
    assert!(model.question.is_none());
}

#[test]
fn a_call_that_is_not_what_was_shown_is_asked_about_by_itself() {
    type Change = fn(&mut Event);
    let changes: [(&str, &str, Change); 5] = [
        ("c2", "echo other", |_| {}),
        ("c4", "echo two", |_| {}),
        ("c2", "echo two", |event| {
            let Event::ApprovalRequest { reason, .. } = event else { return };
            *reason = "`rm` can seldom be undone".to_owned();
        }),
        ("c2", "echo two", |event| {
            let Event::ApprovalRequest { diff, .. } = event else { return };
            *diff = Some("-1 old".to_owned());
        }),
        ("c2", "echo two", |event| {
            let Event::ApprovalRequest { options, .. } = event else { return };
            *options = vec![ApprovalDecision::OnceUnsandboxed, ApprovalDecision::Reject];
        }),
    ];
    for (id, command, change) in changes {
        let mut model = asked_model((80, 24));
        pressed(&mut model, "tab a enter");
        assert_eq!(asks(&mut model, (2, id, command), vec![later("c3", "rm three")], change), [], "{id} {command}");
        let question = model.question.as_ref().unwrap();
        assert!(question.list.is_none(), "one list an answer");
    }
    let mut model = asked_model((80, 24));
    pressed(&mut model, "tab a enter");
    heard(&mut model, Event::MessageEnd { message: super::answer(Vec::new()) });
    assert_eq!(asks(&mut model, (2, "c2", "echo two"), Vec::new(), |_| {}), [], "the id of another answer");
}

/// Regression: the second of two edits of a file was asked about again, because the first one had changed the line above.
#[test]
fn an_edit_is_the_same_call_after_another_edit_of_its_file() {
    let edit = |event: &mut Event, text: &str| {
        let Event::ApprovalRequest { diff, tool_name, args, .. } = event else { return };
        (*tool_name, *args) = ("edit".to_owned(), json!({"path": "a"}));
        *diff = Some(text.to_owned());
    };
    let shown = " 1 one\n-2 2 two\n+2 3 zwei";
    let cases = [
        (shown, true),
        (" 1 eins\n-2 2 two\n+2 3 zwei", true),
        ("  9 eins\n-10 2 two\n+10 3 zwei", true),
        (" 1 one\n-2 2 two\n+2 4 zwei", false),
        (" 1 one\n-2 2 two\n+2 3 zwei\n+3 more", false),
        (" 1 one\n-2 2 two", false),
    ];
    for (now, is_same) in cases {
        let mut model = model(&Theme::default(), (80, 24));
        heard(&mut model, Event::AgentStart);
        let following = ForeseenQuestion {
            tool_name: "edit".to_owned(),
            args: json!({"path": "a"}),
            diff: Some(shown.to_owned()),
            ..later("c2", "")
        };
        asks(&mut model, (1, "c1", ""), vec![following], |event| edit(event, "-1 one\n+1 eins"));
        pressed(&mut model, "tab a enter");
        let cmds = asks(&mut model, (2, "c2", ""), Vec::new(), |event| edit(event, now));
        assert_eq!(cmds, if is_same { vec![answered(2, ApprovalDecision::AllowOnce)] } else { Vec::new() }, "{now}");
    }
}

#[test]
fn nothing_is_allowed_that_was_not_on_the_screen() {
    let long: String = (0..60).map(|at| format!("echo {at}\n")).collect();
    let mut model = model(&Theme::default(), (40, 12));
    heard(&mut model, Event::AgentStart);
    let following = (2..12).map(|at| later(&format!("c{at}"), &format!("echo {at}"))).chain([later("c12", &long)]);
    asks(&mut model, (1, "c1", "echo 1"), following.collect(), |_| {});
    let marks = |model: &Model| {
        let list = model.question.as_ref().unwrap().list.as_ref().unwrap();
        list.calls.iter().map(|listed| listed.mark == CallMark::Allow).collect::<Vec<_>>()
    };
    pressed(&mut model, "tab a");
    let allowed = marks(&model).iter().filter(|is_allowed| **is_allowed).count();
    let screen = text_of(&view::bottom(&mut model).draw(&model).rows);
    assert_eq!(allowed, screen.lines().filter(|row| row.contains("allow ")).count(), "{screen}");
    assert!((1..6).contains(&allowed), "{allowed} in {screen}");
    // The long one is last.
    pressed(&mut model, "pageDown y a space");
    let list = |model: &Model| model.question.as_ref().unwrap().list.clone().unwrap();
    assert_eq!(list(&model).calls[11].mark, CallMark::Refuse, "it can only be refused");
    pressed(&mut model, "space o y pageDown y");
    assert_eq!(list(&model).calls[11].mark, CallMark::ByItself, "its end was not seen");
    (0..60).for_each(|_| drop(pressed(&mut model, "pageDown")));
    pressed(&mut model, "y o");
    assert_eq!(list(&model).calls[11].mark, CallMark::Allow);
}

#[test]
fn a_call_can_be_left_to_its_own_question_and_escape_stops_the_turn() {
    let mut model = asked_model((80, 24));
    assert_eq!(pressed(&mut model, "tab down y enter"), [], "the first one is asked about as ever");
    assert_eq!(pressed(&mut model, "y"), [answered(1, ApprovalDecision::AllowOnce)]);
    let cmds = asks(&mut model, (2, "c2", "echo two"), vec![later("c3", "rm three")], |_| {});
    assert_eq!(cmds, [answered(2, ApprovalDecision::AllowOnce)]);
    assert_eq!(asks(&mut model, (3, "c3", "rm three"), Vec::new(), |_| {}), []);
    assert!(model.question.is_some());

    let mut model = asked_model((80, 24));
    assert_eq!(pressed(&mut model, "tab n enter"), [answered(1, ApprovalDecision::Reject)]);

    let mut model = asked_model((80, 24));
    assert_eq!(pressed(&mut model, "tab a escape"), [Cmd::ask(ClearQueue), Cmd::ask(Abort)]);
    let mut model = asked_model((80, 24));
    pressed(&mut model, "y e s");
    assert_eq!(model.editor.draft(), "yes", "typed text stays text");
}
