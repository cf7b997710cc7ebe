//! Questions about calls: asked when the call is in the file, answered once, recorded, and gone when everything stops.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use insta::assert_snapshot;
use offshoot_agent::approval::{Permissions, Rule};
use offshoot_agent::provider::ToolSpec;
use offshoot_agent::testing::script::{Reply, Say};
use offshoot_agent::tool::{Running, SandboxRefusal, Tool, ToolContext, ToolOutcome};
use offshoot_agent::{Approver, RuleStore, Setup};
use offshoot_protocol::request::{Approve, SetApproval};
use offshoot_protocol::{
    AgentError, ApprovalDecision, ApprovalMode, ApprovalOutcome, ApprovalScope, Event, ForeseenQuestion, Settled,
};
use offshoot_session::session::{Options, Session};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedSender;

use crate::world::{Events, World, prompting, run};

fn write(id: &str, path: &str) -> Say {
    let arguments = json!({"path": path, "content": "x"}).as_object().unwrap().clone();
    Say::Call { call: "write".to_owned(), id: id.to_owned(), arguments, signature: None }
}

/// Keeps no rule.
struct Full;

impl RuleStore for Full {
    fn allow(&self, _: &Rule, _: ApprovalScope) -> Result<(), String> {
        Err("the disk is full".to_owned())
    }
}

/// Keeps rules as a front end would.
#[derive(Default)]
struct Kept(Mutex<Vec<String>>);

impl RuleStore for Kept {
    fn allow(&self, rule: &Rule, scope: ApprovalScope) -> Result<(), String> {
        let scope = if scope == ApprovalScope::Project { " in the project" } else { "" };
        self.0.lock().unwrap().push(format!("{rule}{scope}"));
        Ok(())
    }
}

fn front_end() -> Approver {
    Approver::FrontEnd(Arc::new(Full))
}

fn asking(world: &World, approver: Approver) -> Setup {
    let permissions = Permissions { mode: ApprovalMode::Ask, ..Permissions::default() };
    Setup { permissions, approver, ..world.setup() }
}

/// The next question's number and the path that it is about.
async fn question(events: &mut Events) -> (u64, String) {
    let event = events.until(|event| matches!(event, Event::ApprovalRequest { .. })).await;
    match event.as_ref() {
        Event::ApprovalRequest { id, args, .. } => (*id, args["path"].as_str().unwrap().to_owned()),
        other => panic!("{other:?}"),
    }
}

fn approve(id: u64, decision: ApprovalDecision, message: Option<&str>) -> Approve {
    Approve { id, decision, message: message.map(str::to_owned), rule: None, scope: None }
}

fn records(world: &World) -> String {
    let lines = world.lines();
    let values = lines.iter().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let records = values.filter(|value| value["customType"] == "offshoot.approval");
    records.map(|record| record["data"].to_string()).collect::<Vec<_>>().join("\n")
}

#[test]
fn calls_are_asked_about_one_after_another_and_the_answers_are_recorded() {
    run(async {
        let calls = [write("c1", "a"), write("c2", "b"), write("c3", "c"), write("c4", "c")];
        let world = World::new([Reply::say(calls), Reply::text("Done.")]);
        let (agent, mut events) = world.start_with(world.session(), asking(&world, front_end()));
        let talking = prompting(&agent, "work");

        let (first, path) = question(&mut events).await;
        assert_eq!(path, "a");
        assert!(world.lines().iter().any(|line| line.contains("\"c1\"")), "the call is in the file");
        assert!(!world.path("a").exists());
        agent.ask(approve(first, ApprovalDecision::AllowOnce, None)).await.unwrap();
        let late = agent.ask(approve(first, ApprovalDecision::Reject, None)).await;
        assert!(matches!(late, Err(AgentError::Busy(_))), "{late:?}");

        let (second, _) = question(&mut events).await;
        agent.ask(approve(second, ApprovalDecision::Reject, Some("use a"))).await.unwrap();
        let (third, _) = question(&mut events).await;
        agent.ask(approve(third, ApprovalDecision::AllowSession, None)).await.unwrap();
        // The fourth call is the third once more.
        assert_eq!(talking.await.unwrap(), Ok(Settled::Done));

        assert_eq!(["a", "b", "c"].map(|name| world.path(name).exists()), [true, false, true]);
        assert_snapshot!(records(&world), @r#"
        {"toolCallId":"c1","decision":"allow_once","by":"user"}
        {"toolCallId":"c2","decision":"reject","by":"user"}
        {"toolCallId":"c3","decision":"allow_session","by":"user","rule":"edit(./c)"}
        "#);
        let entries = world.entries();
        assert!(entries.contains(r#"error write "The user did not allow this call. use a""#), "{entries}");
        let request = world.server.seen().pop().unwrap().json().to_string();
        assert!(!request.contains("offshoot.approval"), "the model does not see records");
        world.no_problems();
    });
}

#[test]
fn stopping_takes_the_question_back_and_runs_nothing() {
    run(async {
        let world = World::new([Reply::say([write("c1", "a"), write("c2", "b")]), Reply::text("Yes.")]);
        let (agent, mut events) = world.start_with(world.session(), asking(&world, front_end()));
        let talking = prompting(&agent, "work");
        let (asked, _) = question(&mut events).await;
        agent.abort().await.unwrap();
        assert_eq!(talking.await.unwrap(), Ok(Settled::Aborted));
        let is_end = |event: &Event| matches!(event, Event::ApprovalEnd { record, .. } if record.decision == ApprovalOutcome::Stopped);
        events.until(is_end).await;
        assert!(agent.ask(approve(asked, ApprovalDecision::AllowOnce, None)).await.is_err());
        assert!(!world.path("a").exists() && !world.path("b").exists());
        assert_eq!(agent.prompt("go on").await, Ok(Settled::Done));
        world.no_problems();
    });
}

#[test]
fn what_would_ask_is_refused_where_nobody_can_answer() {
    run(async {
        let world =
            World::new([Reply::say([write("c1", "a"), write("c2", "b"), write("c3", "c")]), Reply::text("Well.")]);
        let mut setup = asking(&world, Approver::Nobody);
        setup.permissions.allow = vec![Rule::parse("edit(./b)").unwrap()];
        setup.permissions.deny = vec![Rule::parse("edit(./c)").unwrap()];
        let (agent, _events) = world.start_with(world.session(), setup);
        assert_eq!(agent.prompt("work").await, Ok(Settled::Done));
        assert_eq!(["a", "b", "c"].map(|name| world.path(name).exists()), [false, true, false]);
        assert_snapshot!(records(&world), @r#"
        {"toolCallId":"c1","decision":"refuse","by":"nobody"}
        {"toolCallId":"c3","decision":"refuse","by":"rule","rule":"edit(./c)"}
        "#);
        let entries = world.entries();
        assert!(entries.contains("needs the user's approval, and nobody can be asked here"), "{entries}");
        world.no_problems();
    });
}

#[test]
fn another_mode_counts_from_the_next_call_on() {
    run(async {
        let say = |id: &str, path: &str| Reply::say([write(id, path)]);
        let world = World::new([say("c1", "a"), Reply::text("One."), say("c2", "b"), Reply::text("Two.")]);
        let (agent, _events) = world.start_with(world.session(), asking(&world, front_end()));
        agent.ask(SetApproval(ApprovalMode::ReadOnly)).await.unwrap();
        agent.prompt("work").await.unwrap();
        agent.ask(SetApproval(ApprovalMode::Edits)).await.unwrap();
        agent.prompt("work").await.unwrap();
        assert_eq!(["a", "b"].map(|name| world.path(name).exists()), [false, true]);
        let entries = Arc::new(world.entries());
        assert!(entries.contains("the approval mode is read-only"), "{entries}");
    });
}

/// The tools of each request, and how often it says that read-only has begun and ended.
fn requests(world: &World) -> Vec<(Vec<String>, usize, usize)> {
    let of_request = |seen: &offshoot_agent::testing::seen::Seen| {
        let request = seen.json();
        let tools = request["tools"].as_array().into_iter().flatten();
        let names = tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        let messages = request["messages"].to_string();
        let count = |words: &str| messages.matches(words).count();
        (names, count("has set the approval mode to read-only"), count("approval mode is no longer read-only"))
    };
    world.server.seen().iter().map(of_request).collect()
}

/// Its tools are never recorded, and the requests so far stay the beginning of later ones.
#[test]
fn a_run_that_begins_in_read_only_leaves_out_tools_that_could_only_be_refused() {
    run(async {
        let texts = ["One.", "Two.", "Three.", "Four."].map(Reply::text);
        let world = World::new(texts);
        let setup = Setup {
            permissions: Permissions { mode: ApprovalMode::ReadOnly, ..Permissions::default() },
            ..world.setup()
        };
        // Nobody can be asked here.
        let tools = setup.tools.iter().filter(|tool| !tool.needs_person());
        let all: Vec<String> = tools.map(|tool| tool.name().to_owned()).collect();
        let reading: Vec<String> =
            all.iter().filter(|name| !["write", "edit"].contains(&name.as_str())).cloned().collect();
        assert!(all.len() > reading.len());
        let (agent, _events) = world.start_with(world.session(), setup);
        agent.prompt("a").await.unwrap();
        for mode in [ApprovalMode::Ask, ApprovalMode::ReadOnly] {
            agent.ask(SetApproval(mode)).await.unwrap();
            agent.prompt("b").await.unwrap();
        }
        agent.prompt("c").await.unwrap();
        assert_eq!(requests(&world), [(reading, 0, 0), (all.clone(), 0, 1), (all.clone(), 1, 1), (all, 1, 1)]);
        let recorded = world.lines().iter().filter(|line| line.contains("toolsRemoved")).count();
        assert_eq!(recorded, 0, "{}", world.entries());
        let seen = world.server.seen();
        let [third, fourth] = [2, 3].map(|at: usize| seen[at].json());
        assert_eq!((&third["tools"], &third["system"]), (&fourth["tools"], &fourth["system"]));
        world.no_problems();
    });
}

#[test]
fn a_conversation_that_was_told_of_read_only_is_told_when_another_program_ends_it() {
    run(async {
        let world = World::new(["One.", "Two.", "Three."].map(Reply::text));
        let (agent, _events) = world.start();
        agent.ask(SetApproval(ApprovalMode::ReadOnly)).await.unwrap();
        agent.prompt("a").await.unwrap();
        drop(agent);
        let file = std::fs::read_dir(world.path("sessions")).unwrap().next().unwrap().unwrap().path();
        let again = Session::open(&file, Options::default()).unwrap();
        let (agent, _events) = world.start_with(again, world.setup());
        agent.prompt("b").await.unwrap();
        agent.prompt("c").await.unwrap();
        let told: Vec<_> = requests(&world).into_iter().map(|(_, begun, ended)| (begun, ended)).collect();
        assert_eq!(told, [(1, 0), (1, 1), (1, 1)]);
    });
}

/// The message about the mode is among those that were summarised.
#[test]
fn a_model_is_told_of_the_mode_again_after_a_compaction() {
    run(async {
        let long = |text: &str| format!("{text} {}", "and more words to fill the context with ".repeat(20));
        let world = World::new([
            Reply::text(&long("One.")),
            Reply::text("Two."),
            Reply::text("A summary."),
            Reply::text("Three."),
        ]);
        let mut setup = world.setup();
        setup.compaction.keep_recent_tokens = 10;
        let (agent, _events) = world.start_with(world.session(), setup);
        agent.ask(SetApproval(ApprovalMode::ReadOnly)).await.unwrap();
        agent.prompt("a").await.unwrap();
        agent.prompt(long("b").as_str()).await.unwrap();
        agent.compact(None).await.unwrap();
        agent.prompt("c").await.unwrap();
        let told: Vec<_> = requests(&world).into_iter().map(|(_, begun, ended)| (begun, ended)).collect();
        assert_eq!((told[0], told[1], told[3]), ((1, 0), (1, 0), (1, 0)), "{told:?}");
        let last = world.server.seen().pop().unwrap().json()["messages"].to_string();
        assert!(last.contains("A summary.") && !last.contains("One."), "{last}");
        world.no_problems();
    });
}

fn edit(id: &str, path: &str, old: &str, new: &str) -> Say {
    let arguments = json!({"path": path, "edits": [{"oldText": old, "newText": new}]}).as_object().unwrap().clone();
    Say::Call { call: "edit".to_owned(), id: id.to_owned(), arguments, signature: None }
}

/// One that reads like the file outside would tell what is in it, so it is asked about.
#[test]
fn an_edit_that_cannot_succeed_is_refused_before_anyone_is_asked() {
    run(async {
        let calls = [
            edit("c1", "a", "not there", "x"),
            edit("c2", "a", "one", "two"),
            edit("c3", "a", "one", "three"),
            edit("c4", "missing", "one", "two"),
            edit("c5", "../outside-of-this-test", "one", "two"),
        ];
        let world = World::new([Reply::say(calls), Reply::text("Done.")]);
        std::fs::write(world.path("a"), "one").unwrap();
        let (agent, mut events) = world.start_with(world.session(), asking(&world, front_end()));
        let running = prompting(&agent, "work");
        let mut asked = Vec::new();
        for _ in 0..2 {
            let (id, path) = question(&mut events).await;
            asked.push(path);
            agent.ask(approve(id, ApprovalDecision::AllowOnce, None)).await.unwrap();
        }
        running.await.unwrap().unwrap();
        assert_eq!(asked, ["a", "../outside-of-this-test"]);
        assert_eq!(std::fs::read_to_string(world.path("a")).unwrap(), "two");
        assert_eq!(world.entries().matches("is not in the file").count(), 2, "{}", world.entries());
    });
}

#[test]
fn a_question_shows_the_change_and_what_waits() {
    run(async {
        let edit = |id: &str, old: &str, new: &str| {
            let arguments = json!({"path": "a", "edits": [{"oldText": old, "newText": new}]});
            let arguments = arguments.as_object().unwrap().clone();
            Say::Call { call: "edit".to_owned(), id: id.to_owned(), arguments, signature: None }
        };
        // The second one is only possible after the first one.
        let calls = [edit("c1", "two", "2"), edit("c2", "2", "zwei"), write("c3", "c")];
        let world = World::new([Reply::say(calls), Reply::text("Done.")]);
        std::fs::write(world.path("a"), "one\ntwo\n").unwrap();
        let (agent, mut events) = world.start_with(world.session(), asking(&world, front_end()));
        let talking = prompting(&agent, "work");
        let mut seen = Vec::new();
        for _ in 0..3 {
            let event = events.until(|event| matches!(event, Event::ApprovalRequest { .. })).await;
            let Event::ApprovalRequest { id, diff, waiting, .. } = event.as_ref() else { unreachable!() };
            seen.push((diff.clone().unwrap(), *waiting));
            agent.ask(approve(*id, ApprovalDecision::AllowOnce, None)).await.unwrap();
        }
        assert_eq!(talking.await.unwrap(), Ok(Settled::Done));
        let shown = [(" 1 one\n-2 two\n+2 2", 2), (" 1 one\n-2 2\n+2 zwei", 1), ("+1 x", 0)];
        assert_eq!(seen, shown.map(|(diff, waiting)| (diff.to_owned(), waiting)));
    });
}

/// A front end can show the questions of an answer together. What is foreseen decides nothing.
#[test]
fn a_question_names_the_calls_after_it_that_will_be_asked_about() {
    run(async {
        let read = Say::Call {
            call: "read".to_owned(),
            id: "c2".to_owned(),
            arguments: json!({"path": "a"}).as_object().unwrap().clone(),
            signature: None,
        };
        let world = World::new([Reply::say([write("c1", "a"), read, write("c3", "b")]), Reply::text("Done.")]);
        std::fs::write(world.path("a"), "old\n").unwrap();
        let (agent, mut events) = world.start_with(world.session(), asking(&world, front_end()));
        let talking = prompting(&agent, "work");
        let mut seen = Vec::new();
        for _ in 0..2 {
            let event = events.until(is_question).await;
            let Event::ApprovalRequest { id, following, .. } = event.as_ref() else { unreachable!() };
            let foreseen =
                |call: &ForeseenQuestion| (call.tool_call_id.clone(), call.diff.clone(), call.reason.clone());
            seen.push(following.iter().map(foreseen).collect::<Vec<_>>());
            assert!(!event.to_json().contains("c3") || seen.len() == 2, "programs are not sent them");
            agent.ask(approve(*id, ApprovalDecision::AllowOnce, None)).await.unwrap();
        }
        assert_eq!(talking.await.unwrap(), Ok(Settled::Done));
        let c3 = ("c3".to_owned(), Some("+1 x".to_owned()), "mode `ask` asks before files are changed".to_owned());
        assert_eq!(seen, [vec![c3], Vec::new()]);
    });
}

/// Writes the same file twice, and always allows it at the first question.
async fn always(rules: Arc<dyn RuleStore>) -> (World, Events) {
    let calls = [write("c1", "a"), write("c2", "a")];
    let world = World::new([Reply::say(calls), Reply::text("Done.")]);
    let (agent, mut events) = world.start_with(world.session(), asking(&world, Approver::FrontEnd(rules)));
    let talking = prompting(&agent, "work");
    let (asked, _) = question(&mut events).await;
    agent.ask(approve(asked, ApprovalDecision::AllowAlways, None)).await.unwrap();
    assert_eq!(talking.await.unwrap(), Ok(Settled::Done));
    assert!(world.path("a").exists());
    let record = r#"{"toolCallId":"c1","decision":"allow_always","by":"user","rule":"edit(./a)"}"#;
    assert_eq!(records(&world), record);
    (world, events)
}

#[test]
fn what_is_always_allowed_is_kept_or_the_failure_is_told() {
    run(async {
        let kept = Arc::new(Kept::default());
        always(kept.clone()).await;
        assert_eq!(*kept.0.lock().unwrap(), ["edit(./a)"]);
        let (_world, mut events) = always(Arc::new(Full)).await;
        let is_notice = |event: &Event| match event {
            Event::Notice { message, .. } => message.contains("counts only until the end: the disk is full"),
            _ => false,
        };
        events.until(is_notice).await;
    });
}

#[test]
fn nothing_waits_where_nobody_listens() {
    run(async {
        let world = World::new([Reply::say([write("c1", "a")]), Reply::text("Well.")]);
        let (agent, events) = world.start_with(world.session(), asking(&world, front_end()));
        drop(events);
        assert_eq!(agent.prompt("work").await, Ok(Settled::Done));
        assert!(!world.path("a").exists());
        assert_eq!(records(&world), r#"{"toolCallId":"c1","decision":"refuse","by":"nobody"}"#);
    });
}

#[test]
fn another_mode_decides_open_questions_again() {
    run(async {
        let world = World::new([Reply::say([write("c1", "a")]), Reply::text("Done.")]);
        let (agent, mut events) = world.start_with(world.session(), asking(&world, front_end()));
        let talking = prompting(&agent, "work");
        question(&mut events).await;
        agent.ask(SetApproval(ApprovalMode::Auto)).await.unwrap();
        assert_eq!(talking.await.unwrap(), Ok(Settled::Done));
        assert!(world.path("a").exists());
    });
}

/// Each run waits until it may end, and the sandbox may have stopped it.
struct Confined {
    runs: AtomicUsize,
    may_end: Arc<Semaphore>,
}

impl Tool for Confined {
    fn name(&self) -> &'static str {
        "confined"
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "confined".to_owned(), description: String::new(), parameters: json!({"type": "object"}) }
    }

    fn run(&self, _: Value, _: Arc<ToolContext>, partial: UnboundedSender<ToolOutcome>) -> Running {
        self.runs.fetch_add(1, Ordering::SeqCst);
        partial.send(ToolOutcome::text("working")).unwrap();
        let may_end = self.may_end.clone();
        Box::pin(async move {
            may_end.acquire().await.unwrap().forget();
            ToolOutcome {
                sandbox_refusal: Some(Box::new(SandboxRefusal("it writes elsewhere".to_owned()))),
                ..ToolOutcome::failed("exit 1")
            }
        })
    }
}

fn is_question(event: &Event) -> bool {
    matches!(event, Event::ApprovalRequest { .. })
}

/// The question about a run outside the sandbox is void in read-only: also if the mode was switched before it was asked.
#[test]
fn read_only_leaves_no_way_out_of_the_sandbox() {
    for is_asked_before in [true, false] {
        run(async {
            let call = Reply::call("confined", "c1", json!({}));
            let world = World::new([call, Reply::text("Done.")]);
            let may_end = Arc::new(Semaphore::new(usize::from(is_asked_before)));
            let tool = Arc::new(Confined { runs: AtomicUsize::new(0), may_end: may_end.clone() });
            let setup = Setup { tools: vec![tool.clone()], approver: front_end(), ..world.setup() };
            let (agent, mut events) = world.start_with(world.session(), setup);
            let talking = prompting(&agent, "work");
            let first = if is_asked_before {
                is_question
            } else {
                |event: &Event| matches!(event, Event::ToolExecutionUpdate { .. })
            };
            events.until(first).await;
            agent.ask(SetApproval(ApprovalMode::ReadOnly)).await.unwrap();
            // A second run could end.
            may_end.add_permits(2);
            let next = events.until(|event| is_question(event) || matches!(event, Event::TurnEnd { .. })).await;
            assert!(!is_question(&next), "{next:?}");
            assert_eq!(talking.await.unwrap(), Ok(Settled::Done));
            assert_eq!(tool.runs.load(Ordering::SeqCst), 1);
            let entries = world.entries();
            assert!(entries.contains("exit 1") && !entries.contains("outside the sandbox"), "{entries}");
            world.no_problems();
        });
    }
}

/// Any other mode asks again, and a yes counts.
#[test]
fn another_mode_asks_again_about_a_run_outside_the_sandbox() {
    run(async {
        let world = World::new([Reply::call("confined", "c1", json!({})), Reply::text("Done.")]);
        let tool = Arc::new(Confined { runs: AtomicUsize::new(0), may_end: Arc::new(Semaphore::new(2)) });
        let setup = Setup { tools: vec![tool.clone()], approver: front_end(), ..world.setup() };
        let (agent, mut events) = world.start_with(world.session(), setup);
        let talking = prompting(&agent, "work");
        events.until(is_question).await;
        agent.ask(SetApproval(ApprovalMode::Edits)).await.unwrap();
        let asked = events.until(is_question).await;
        let Event::ApprovalRequest { id, .. } = asked.as_ref() else { unreachable!() };
        agent.ask(approve(*id, ApprovalDecision::OnceUnsandboxed, None)).await.unwrap();
        assert_eq!(talking.await.unwrap(), Ok(Settled::Done));
        assert_eq!(tool.runs.load(Ordering::SeqCst), 2);
        assert_eq!(records(&world), r#"{"toolCallId":"c1","decision":"once_unsandboxed","by":"user"}"#);
    });
}
