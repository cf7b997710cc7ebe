//! The todo list of a branch, and questions that a tool asks the person.

use std::collections::BTreeMap;
use std::sync::Arc;

use insta::assert_snapshot;
use offshoot_agent::approval::Rule;
use offshoot_agent::testing::script::{Reply, Say};
use offshoot_agent::tool::{Ask, Todo};
use offshoot_agent::{Approver, RuleStore, Setup};
use offshoot_protocol::request::{Abort, AnswerForm};
use offshoot_protocol::{ApprovalScope, Event, FieldAnswer, FieldKind, FormAnswer, Settled};
use offshoot_session::entry::Source as _;
use offshoot_session::session::Session;
use offshoot_session::todo::TodoList;
use serde_json::{Value, json};

use crate::world::{Events, World, prompting, run};

fn call(name: &str, id: &str, arguments: &Value) -> Say {
    let arguments = arguments.as_object().unwrap().clone();
    Say::Call { call: name.to_owned(), id: id.to_owned(), arguments, signature: None }
}

struct NoRules;

impl RuleStore for NoRules {
    fn allow(&self, _: &Rule, _: ApprovalScope) -> Result<(), String> {
        Ok(())
    }
}

fn setup(world: &World, approver: Approver) -> Setup {
    Setup { approver, tools: vec![Arc::new(Ask), Arc::new(Todo)], ..world.setup() }
}

/// The results of a tool in the file.
fn results(world: &World, name: &str) -> Vec<Value> {
    let lines = world.lines();
    let values = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()["message"].clone());
    values.filter(|message| message["role"] == "toolResult" && message["toolName"] == name).collect()
}

fn texts(world: &World, name: &str) -> String {
    let text = |result: &Value| result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    results(world, name).iter().map(text).collect::<Vec<_>>().join("\n---\n")
}

/// Calls of one answer see each other's changes; a call that cannot be done changes nothing.
#[test]
fn the_list_is_that_of_the_branch() {
    run(async {
        let begin = json!({"op": "init", "list": [{"phase": "Build", "items": ["read it", "write it"]}, {"phase": "Ship", "items": ["say it"]}]});
        let first =
            Reply::say([call("todo", "c1", &begin), call("todo", "c2", &json!({"op": "done", "task": "read it"}))]);
        let second = Reply::say([
            call("todo", "c3", &json!({"op": "block", "task": "write it", "reason": "no\nkey"})),
            call("todo", "c4", &json!({"op": "done", "task": "read"})),
            call("todo", "c5", &json!({"op": "append", "phase": "Ship", "items": ["say it"]})),
            call("todo", "c6", &json!({"op": "view"})),
        ]);
        let world = World::new([first, Reply::text("Begun."), second, Reply::text("Done.")]);
        let (agent, _events) = world.start_with(world.session(), setup(&world, Approver::Nobody));
        assert_eq!(prompting(&agent, "work").await.unwrap(), Ok(Settled::Done));
        assert_snapshot!(texts(&world, "todo"), @"
        0 of 3 closed, 3 open.
        Build:
          [>] read it (in progress)
          [ ] write it
        Ship:
          [ ] say it
        ---
        1 of 3 closed, 2 open.
        Build:
          [x] read it
          [>] write it (in progress)
        Ship:
          [ ] say it
        ");
        let before = results(&world, "todo").len();
        assert_eq!(prompting(&agent, "on").await.unwrap(), Ok(Settled::Done));
        let words = texts(&world, "todo").split("\n---\n").skip(before).collect::<Vec<_>>().join("\n---\n");
        assert_snapshot!(words, @r#"
        1 of 3 closed, 1 open, 1 blocked.
        Build:
          [x] read it
          [!] write it (blocked: no key)
        Ship:
          [>] say it (in progress)
        ---
        Nothing is changed: there is no task "read": give its whole text, as view shows it.
        1 of 3 closed, 1 open, 1 blocked.
        Build:
          [x] read it
          [!] write it (blocked: no key)
        Ship:
          [>] say it (in progress)
        ---
        Nothing is changed: there is a task "say it" already.
        1 of 3 closed, 1 open, 1 blocked.
        Build:
          [x] read it
          [!] write it (blocked: no key)
        Ship:
          [>] say it (in progress)
        ---
        1 of 3 closed, 1 open, 1 blocked.
        Build:
          [x] read it
          [!] write it (blocked: no key)
        Ship:
          [>] say it (in progress)
        "#);
        assert_eq!(
            results(&world, "todo")[1]["details"]["completedTasks"],
            json!([{"phase": "Build", "content": "read it"}])
        );

        let states = |session: &Session, leaf| {
            let list = TodoList::at(session, leaf).unwrap().unwrap();
            list.tasks().map(|task| task.status.as_str().to_owned()).collect::<Vec<_>>()
        };
        let at_leaf = agent.read(move |session| states(session, session.leaf())).await.unwrap();
        assert_eq!(at_leaf, ["completed", "blocked", "in_progress"]);
        let second_prompt = |session: &Session| session.leaf().and_then(|leaf| session.tree().ancestors(leaf).nth(6));
        let before = agent.read(move |session| states(session, second_prompt(session))).await.unwrap();
        assert_eq!(before, ["completed", "in_progress", "pending"]);
    });
}

async fn question(events: &mut Events) -> (u64, offshoot_protocol::Form) {
    let event = events.until(|event| matches!(event, Event::QuestionRequest { .. })).await;
    match event.as_ref() {
        Event::QuestionRequest { id, form } => (*id, form.clone()),
        other => panic!("{other:?}"),
    }
}

fn asked() -> Value {
    let options = json!([{"label": "red", "description": "warm"}, {"label": "blue"}]);
    json!({"questions": [
        {"id": "colour", "question": "Which colour?", "options": options, "recommended": 1},
        {"id": "parts", "question": "Which parts?", "options": [{"label": "a"}, {"label": "b"}], "multi": true},
    ]})
}

#[test]
fn a_question_waits_for_an_answer_that_fits() {
    run(async {
        let world = World::new([Reply::say([call("ask", "c1", &asked())]), Reply::text("Done.")]);
        let (agent, mut events) =
            world.start_with(world.session(), setup(&world, Approver::FrontEnd(Arc::new(NoRules))));
        let talking = prompting(&agent, "work");
        let (id, form) = question(&mut events).await;
        assert!(matches!(
            &form.fields[0].kind,
            FieldKind::Choice { recommended: Some(1), other: true, multi: false, .. }
        ));
        let answers = |colour: &str| {
            let parts = FieldAnswer { selected: vec!["a".to_owned(), "b".to_owned()], text: Some("and c".to_owned()) };
            FormAnswer::Send(BTreeMap::from([
                ("colour".to_owned(), FieldAnswer::chosen(colour)),
                ("parts".to_owned(), parts),
            ]))
        };
        let refused = agent.ask(AnswerForm { id, answer: answers("green") }).await.unwrap_err();
        assert!(refused.to_string().contains("\"green\" is not one of the options"), "{refused}");
        agent.ask(AnswerForm { id, answer: answers("blue") }).await.unwrap();
        assert!(agent.ask(AnswerForm { id, answer: FormAnswer::Cancel }).await.is_err(), "answered already");
        assert_eq!(talking.await.unwrap(), Ok(Settled::Done));
        assert_snapshot!(texts(&world, "ask"), @r#"
        User answers:
        colour: blue
        parts: a, b, "and c"
        "#);
        assert_snapshot!(results(&world, "ask")[0]["details"].to_string(), @r#"{"results":[{"id":"colour","question":"Which colour?","options":["red","blue"],"multi":false,"selectedOptions":["blue"]},{"id":"parts","question":"Which parts?","options":["a","b"],"multi":true,"selectedOptions":["a","b"],"customInput":"and c"}]}"#);
    });
}

#[test]
fn a_question_that_nobody_waits_for_is_taken_back() {
    run(async {
        let world = World::new([Reply::say([call("ask", "c1", &asked())])]);
        let (agent, mut events) =
            world.start_with(world.session(), setup(&world, Approver::FrontEnd(Arc::new(NoRules))));
        let talking = prompting(&agent, "work");
        let (id, _) = question(&mut events).await;
        agent.ask(Abort).await.unwrap();
        events.until(|event| matches!(event, Event::QuestionEnd { id: ended } if *ended == id)).await;
        assert!(agent.ask(AnswerForm { id, answer: FormAnswer::Cancel }).await.is_err());
        drop(talking.await);
        assert_eq!(results(&world, "ask")[0]["isError"], true);
    });
}

/// Where nobody can answer, requests have no such tool, and the session does not record that it was left out.
#[test]
fn without_a_person_there_is_no_question() {
    run(async {
        let world = World::new([Reply::text("Yes."), Reply::text("Yes.")]);
        for (approver, names) in
            [(Approver::Nobody, vec!["todo"]), (Approver::FrontEnd(Arc::new(NoRules)), vec!["ask", "todo"])]
        {
            let (agent, _events) = world.start_with(world.session(), setup(&world, approver));
            assert_eq!(prompting(&agent, "work").await.unwrap(), Ok(Settled::Done));
            let request = world.server.seen().pop().unwrap().json();
            let tools =
                request["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
            assert_eq!(tools.collect::<Vec<_>>(), names);
        }
    });
}
