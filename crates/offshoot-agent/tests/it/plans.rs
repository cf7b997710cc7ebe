//! The approval mode `plan`: what runs in it, the question about a plan, and what the session keeps of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::approval::{Permissions, Rule};
use offshoot_agent::testing::script::{Reply, Say};
use offshoot_agent::testing::server::KEY;
use offshoot_agent::{Approver, RuleStore, Setup};
use offshoot_protocol::request::{AnswerForm, SetApproval};
use offshoot_protocol::{ApprovalMode, ApprovalScope, Event, FieldAnswer, FieldKind, FormAnswer, MASK, Settled};
use offshoot_session::session::{Options, Session};
use serde_json::{Value, json};

use crate::world::{Events, World, prompting, run};

struct NoRules;

impl RuleStore for NoRules {
    fn allow(&self, _: &Rule, _: ApprovalScope) -> Result<(), String> {
        Ok(())
    }
}

fn person() -> Approver {
    Approver::FrontEnd(Arc::new(NoRules))
}

fn planning(world: &World, approver: Approver) -> Setup {
    // A rule that allows does not count.
    let allow = vec![Rule::parse("write").unwrap()];
    let permissions = Permissions { mode: ApprovalMode::Plan, allow, ..Permissions::default() };
    let mut setup = Setup { permissions, approver, ..world.setup() };
    setup.compaction.keep_recent_tokens = 10;
    setup
}

fn write(id: &str) -> Say {
    let arguments = json!({"path": "made", "content": "x\n"}).as_object().unwrap().clone();
    Say::Call { call: "write".to_owned(), id: id.to_owned(), arguments, signature: None }
}

fn plan(id: &str, markdown: &str) -> Reply {
    Reply::call("plan", id, json!({ "markdown": markdown }))
}

/// Answers the next question about a plan.
async fn answer(agent: &AgentSession, events: &mut Events, answer: FieldAnswer) {
    let event = events.until(|event| matches!(event, Event::QuestionRequest { .. })).await;
    let Event::QuestionRequest { id, form } = event.as_ref() else { panic!("{event:?}") };
    let FieldKind::Choice { options, other: true, .. } = &form.fields[0].kind else { panic!("{form:?}") };
    let labels: Vec<&str> = options.iter().map(|option| option.label.as_str()).collect();
    assert_eq!(labels, ["Yes, edits run", "Yes, ask each time", "Yes, everything runs", "No"]);
    let answer = FormAnswer::Send(BTreeMap::from([("go".to_owned(), answer)]));
    agent.ask(AnswerForm { id: *id, answer }).await.unwrap();
}

/// The tools of each request, and how often it has some words.
fn requests(world: &World, words: &str) -> Vec<(Value, usize)> {
    let of_request = |seen: &offshoot_agent::testing::seen::Seen| {
        let request = seen.json();
        (request["tools"].clone(), request["messages"].to_string().matches(words).count())
    };
    world.server.seen().iter().map(of_request).collect()
}

fn kept(world: &World) -> Vec<Value> {
    let lines = world.lines();
    let entries = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries.filter(|entry| entry["customType"] == "offshoot.plan").collect()
}

#[test]
fn a_plan_that_is_accepted_lets_the_work_begin() {
    run(async {
        let world = World::new([
            Reply::say([write("c1")]),
            plan("c2", &format!("1. Make it with {KEY}.")),
            Reply::say([write("c3")]),
            Reply::text("Done."),
            Reply::text("Yes."),
        ]);
        let (agent, mut events) = world.start_with(world.session(), planning(&world, person()));
        let talking = prompting(&agent, "work");
        let event = events.until(|event| matches!(event, Event::ToolExecutionEnd { .. })).await;
        let Event::ToolExecutionEnd { result, is_error: true, .. } = event.as_ref() else { panic!("{event:?}") };
        assert!(format!("{result:?}").contains("until the user has accepted a plan"), "{result:?}");
        assert!(!world.path("made").exists());
        answer(&agent, &mut events, FieldAnswer::chosen("Yes, edits run")).await;
        events.until(|event| matches!(event, Event::ApprovalModeChanged { mode: ApprovalMode::Edits })).await;
        assert_eq!(talking.await.unwrap(), Ok(Settled::Done));
        assert!(world.path("made").exists());
        agent.prompt("and?").await.unwrap();

        let told = requests(&world, "has set the approval mode to plan: ");
        assert!(told.iter().all(|(tools, count)| (tools, *count) == (&told[0].0, 1)), "{told:?}");
        let accepted: Vec<usize> =
            requests(&world, "has accepted this plan").into_iter().map(|(_, count)| count).collect();
        assert_eq!(accepted, [0, 0, 1, 1, 1]);
        assert!(requests(&world, "is no longer read-only").iter().all(|(_, count)| *count == 0));
        let [kept] = kept(&world).try_into().unwrap();
        let plan = format!("1. Make it with {MASK}.");
        assert_eq!(kept["content"], format!("The user has accepted this plan:\n\n{plan}"));
        assert_eq!(kept["details"], json!({"mode": "edits", "markdown": plan}));
        assert!(!world.lines().concat().contains(KEY));
        let entries = world.entries();
        let accepted = entries.find("result plan").unwrap();
        assert!(entries[accepted..].find("custom_message").is_some(), "{entries}");
        world.no_problems();
    });
}

#[test]
fn other_words_ask_for_another_plan_and_a_no_ends_the_run() {
    run(async {
        let world = World::new([plan("c1", "A"), plan("c2", "B"), Reply::text("Later.")]);
        let (agent, mut events) = world.start_with(world.session(), planning(&world, person()));
        let talking = prompting(&agent, "work");
        answer(&agent, &mut events, FieldAnswer::text("smaller steps")).await;
        answer(&agent, &mut events, FieldAnswer::chosen("No")).await;
        assert_eq!(talking.await.unwrap(), Ok(Settled::Done));
        assert_eq!(world.server.seen().len(), 2);
        assert_eq!(agent.state().await.unwrap().approval, ApprovalMode::Plan);
        assert_eq!(kept(&world), Vec::<Value>::new());
        let entries = world.entries();
        assert!(entries.contains(r#"result plan "The user wants another plan: smaller steps""#), "{entries}");
        agent.prompt("and?").await.unwrap();
        world.no_problems();
    });
}

#[test]
fn where_nobody_can_be_asked_the_answer_is_the_plan() {
    run(async {
        let world = World::new([Reply::text("1. Make it.")]);
        let (agent, _events) = world.start_with(world.session(), planning(&world, Approver::Nobody));
        assert_eq!(agent.prompt("work").await, Ok(Settled::Done));
        let [(tools, told)] = requests(&world, "then answer with the plan").try_into().unwrap();
        assert_eq!(told, 1);
        assert!(tools.as_array().unwrap().iter().all(|tool| tool["name"] != "plan"), "{tools}");
    });
}

#[test]
fn outside_the_mode_nothing_waits_for_a_plan() {
    run(async {
        let world = World::new([plan("c1", "A"), Reply::text("Done.")]);
        let setup = Setup { approver: person(), ..world.setup() };
        let (agent, _events) = world.start_with(world.session(), setup);
        assert_eq!(agent.prompt("work").await, Ok(Settled::Done));
        let entries = world.entries();
        assert!(entries.contains("nothing waits for a plan. Do the work."), "{entries}");
    });
}

/// A compaction may leave the plan out: it is said again with the next prompt, once, also by another program.
#[test]
fn a_compaction_does_not_lose_the_plan() {
    run(async {
        let long = "and more words to fill the context with ".repeat(20);
        // They serve as summaries, too.
        let answers = (0..10).map(|_| Reply::text(&format!("## Goal\n{long}")));
        let world = World::new(std::iter::once(plan("c1", "1. Make it.")).chain(answers));
        let (agent, mut events) = world.start_with(world.session(), planning(&world, person()));
        let talking = prompting(&agent, "work");
        answer(&agent, &mut events, FieldAnswer::chosen("Yes, everything runs")).await;
        talking.await.unwrap().unwrap();
        agent.prompt(long.as_str()).await.unwrap();
        agent.compact(None).await.unwrap();
        agent.prompt("third").await.unwrap();
        agent.prompt("fourth").await.unwrap();
        let again = |world: &World| -> Vec<usize> {
            let counts = requests(world, "compacted, the user accepted this plan:\\n\\n1. Make it.").into_iter();
            // Summaries are asked for without tools.
            counts.filter(|(tools, _)| !tools.is_null()).map(|(_, count)| count).collect()
        };
        assert_eq!(again(&world), [0, 0, 0, 1, 1]);
        agent.prompt(long.as_str()).await.unwrap();
        agent.compact(None).await.unwrap();
        drop(agent);
        let file = std::fs::read_dir(world.path("sessions")).unwrap().next().unwrap().unwrap().path();
        let session = Session::open(&file, Options::default()).unwrap();
        let (agent, _events) = world.start_with(session, Setup { approver: person(), ..world.setup() });
        agent.prompt("fifth").await.unwrap();
        assert_eq!(again(&world)[5..], [1, 1]);
        // The mode is the one in which this program began.
        assert!(requests(&world, "approval mode to plan").last().unwrap().1 == 0);
        agent.ask(SetApproval(ApprovalMode::Plan)).await.unwrap();
        world.no_problems();
    });
}
