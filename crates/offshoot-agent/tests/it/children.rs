//! The tool `task`: agents that an agent starts, in sessions of their own.

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_agent::approval::{Permissions, Rule};
use offshoot_agent::testing::script::{Gate, Reply, Say, Then};
use offshoot_agent::tool::{self, Shell};
use offshoot_agent::{Approver, Family, FamilyLimits, RuleStore, Setup};
use offshoot_protocol::message::{Message, Usage};
use offshoot_protocol::model::{Model, Price};
use offshoot_protocol::request::{AnswerForm, Approve, ChildOrder, Children, ToChild};
use offshoot_protocol::{
    ApprovalDecision, ApprovalMode, ApprovalScope, ChildState, Event, FieldAnswer, FormAnswer, Settled,
};
use offshoot_session::session::{Options, Session};
use serde_json::{Value, json};

use crate::world::{Events, World, entry, prompting, run};

pub(crate) fn task(arguments: Value) -> Reply {
    let Value::Object(arguments) = arguments else { panic!("an object") };
    Reply::say([Say::Call { call: "task".to_owned(), id: "c1".to_owned(), arguments, signature: None }])
}

/// The only root session, and the files of its children.
pub(crate) fn files(world: &World) -> (PathBuf, Vec<PathBuf>) {
    let all = |folder: PathBuf| {
        let mut found: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        found.sort();
        found
    };
    let (mut roots, folders): (Vec<_>, Vec<_>) =
        all(world.path("sessions")).into_iter().partition(|path| path.is_file());
    assert_eq!(roots.len(), 1);
    (roots.remove(0), folders.into_iter().flat_map(all).collect())
}

pub(crate) fn lines(file: &PathBuf) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn entries(file: &PathBuf) -> String {
    lines(file).iter().skip(1).map(|line| entry(&line.to_string())).collect::<Vec<_>>().join("\n")
}

/// The result of the call of the root.
pub(crate) fn result(world: &World) -> Value {
    let all = lines(&files(world).0);
    all.iter().map(|line| line["message"].clone()).find(|message| message["role"] == "toolResult").unwrap()
}

pub(crate) fn ends(events: &mut Events) -> Vec<ChildState> {
    let end = |event: Arc<Event>| match event.as_ref() {
        Event::ChildEnd { child: state } => Some(ChildState::clone(state)),
        _ => None,
    };
    events.all().into_iter().filter_map(end).collect()
}

/// A model with prices: a token of input costs 1 µ$, one of output 10.
fn priced(world: &World) -> Setup {
    let price = Price { input: 1.0, output: 10.0, ..Price::default() };
    let model = Model { price, max_tokens: 10_000, ..Model::clone(&world.model) };
    Setup { model: Arc::new(model), ..world.setup() }
}

#[test]
fn a_child_is_a_session_beside_its_parents_and_its_last_words_are_the_result() {
    run(async {
        let world = World::new([
            task(json!({"context": "Be quick.", "tasks": [{"task": "count them", "name": "Alpha", "agent": "scout"}]})),
            Reply::call("ls", "k1", json!({})).on("count them"),
            Reply::text("There are three.").on("count them"),
            Reply::text("Three, says Alpha."),
        ]);
        let (agent, mut events) = world.start();
        assert_eq!(prompting(&agent, "how many?").await.unwrap(), Ok(Settled::Done));
        world.no_problems();
        let (root, children) = files(&world);
        assert_eq!(children, [root.with_extension("").join("Alpha.jsonl")]);
        insta::assert_snapshot!(entries(&children[0]), @r#"
        custom offshoot.child
        model anthropic/claude-test
        thinking off
        user "count them"
        assistant "" +ls ToolUse
        result ls "sessions/"
        assistant "There are three." Stop
        custom offshoot.child_end
        "#);
        let child = lines(&children[0]);
        assert_eq!(child[0]["parentSession"], root.display().to_string());
        let parent = lines(&root);
        let call = parent.iter().find(|line| line["message"]["stopReason"] == "toolUse").unwrap();
        let start = &child[1]["data"];
        assert_eq!((&start["parentEntry"], &start["parentId"]), (&call["id"], &parent[0]["id"]));
        assert_eq!((&start["toolCallId"], &start["name"], &start["depth"]), (&json!("c1"), &json!("Alpha"), &json!(1)));
        let end = &child.last().unwrap()["data"];
        assert_eq!((&end["status"], &end["output"]), (&json!("completed"), &json!("There are three.")));
        assert_eq!((&end["requests"], &end["tokens"]), (&json!(2), &json!(30)));
        let result = result(&world);
        let words = "<task-result id=\"Alpha\" agent=\"scout\" status=\"completed\">\nThere are three.\n</task-result>";
        assert_eq!((&result["content"][0]["text"], &result["isError"]), (&json!(words), &json!(false)));
        assert_eq!(result["details"]["results"][0]["sessionFile"], children[0].display().to_string());
        assert_eq!(result["details"]["usage"]["input"], 20);
        let ended = ends(&mut events);
        assert_eq!((ended.len(), ended[0].requests, ended[0].id.as_str()), (1, 2, "Alpha"));
        // Its request has nothing of the parent's conversation, and no tool that changes files.
        let seen = world.server.seen();
        let asked =
            seen.iter().find(|seen| seen.body.contains("count them") && !seen.body.contains("how many")).unwrap();
        let tools: Vec<String> =
            asked.json()["tools"].as_array().unwrap().iter().map(|tool| tool["name"].to_string()).collect();
        assert_eq!(tools.join(" "), r#""read" "bash" "grep" "find" "ls""#);
        assert!(asked.json()["system"].to_string().contains("Be quick."));
    });
}

/// A front end that opens a child while it runs has its file up to the first event, and what follows.
#[test]
fn a_child_tells_front_ends_what_it_does_below_an_entry_of_its_file() {
    run(async {
        let world = World::new([
            task(json!({"tasks": [{"task": "count them", "name": "Alpha"}]})),
            Reply::text("There are three.").on("count them"),
            Reply::text("Three, says Alpha."),
        ]);
        let (agent, mut events) = world.start();
        assert_eq!(prompting(&agent, "how many?").await.unwrap(), Ok(Settled::Done));
        let told = events.of_children();
        let begins = lines(&files(&world).1[0])[1]["id"].as_str().unwrap().to_owned();
        let Event::SessionChanged { leaf_id, .. } = told[0].1.as_ref() else { panic!("{:?}", told[0]) };
        assert_eq!(leaf_id.as_deref(), Some(begins.as_str()));
        let said: String = told
            .iter()
            .filter_map(|(id, event)| match event.as_ref() {
                Event::MessageEnd { message } => Some(format!("{id} {}\n", role(message))),
                _ => None,
            })
            .collect();
        assert_eq!(said, "Alpha user\nAlpha assistant\n");
    });
}

/// A name is taken once; what cannot be started says why, and the others run. A child that cannot start others has no tool for it.
#[test]
fn several_children_run_beside_each_other_and_each_says_how_it_ended() {
    run(async {
        let tasks = json!({"tasks": [
            {"task": "first part", "name": "Part"}, {"task": "second part", "name": "Part"},
            {"task": "third part", "agent": "nobody"}, {"task": "fourth part", "name": "../x"},
        ]});
        let world = World::new([
            task(tasks),
            Reply::text("one").on("first part"),
            Reply::error(400, "no").on("second part"),
            Reply::text("four").on("fourth part"),
            Reply::text("Done."),
        ]);
        let (agent, mut events) = world.start();
        assert_eq!(prompting(&agent, "go").await.unwrap(), Ok(Settled::Done));
        let (_, children) = files(&world);
        let names: Vec<_> = children.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["Part-2.jsonl", "Part.jsonl", "task.jsonl"]);
        let text = result(&world)["content"][0]["text"].as_str().unwrap().to_owned();
        let parts: Vec<&str> = text.split("\n\n").collect();
        assert_eq!(parts.len(), 4, "{text}");
        assert!(parts[0].contains("status=\"completed\">\none\n"), "{text}");
        assert!(parts[1].contains("id=\"Part-2\"") && parts[1].contains("failed: 400 no"), "{text}");
        assert!(parts[2].contains("there is no agent \"nobody\"") && parts[2].contains("scout, task"), "{text}");
        assert!(parts[3].contains("\nfour\n"), "{text}");
        assert_eq!(ends(&mut events).len(), 3);
    });
}

/// It spawns itself, until the limit of depth: the tool is no longer among its own then.
#[test]
fn an_agent_that_starts_itself_ends_at_the_depth_limit() {
    run(async {
        let again = |depth: &str| json!({"task": format!("bomb {depth}"), "name": depth});
        let world = World::new([
            task(again("A")),
            task(again("B")).on("bomb A"),
            task(again("C")).on("bomb B"),
            Reply::text("I have no such tool.").on("bomb B"),
            Reply::text("B says so.").on("bomb A"),
            Reply::text("End."),
        ]);
        let (agent, _events) = world.start();
        assert_eq!(prompting(&agent, "go").await.unwrap(), Ok(Settled::Done));
        world.no_problems();
        let (root, children) = files(&world);
        let names: Vec<_> = children.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["A.B.jsonl", "A.jsonl"]);
        let deepest = lines(&children[0]);
        assert_eq!(deepest[0]["parentSession"], children[1].display().to_string());
        let end = |file: &PathBuf| lines(file).last().unwrap()["data"].clone();
        assert_eq!((&end(&children[0])["requests"], &end(&children[1])["requests"]), (&json!(2), &json!(4)));
        assert!(root.is_file());
        let seen = world.server.seen();
        let tools =
            seen.iter().find(|seen| seen.body.contains("bomb B") && !seen.body.contains("bomb A")).unwrap().json();
        assert!(!tools["tools"].to_string().contains("\"name\":\"task\""));
    });
}

/// The first request of the child fits, the second does not: what it said counts, and no request says so.
#[test]
fn a_limit_ends_a_child_before_the_request_that_could_pass_it() {
    run(async {
        let order = json!({"tasks": [{"task": "dig", "limits": {"usd": 0.1}}]});
        let usage = Usage { input: 1_000, output: 9_000, ..Usage::default() };
        let digging = Reply::say([
            Say::Text { text: "Half of it.".to_owned() },
            Say::Call { call: "ls".to_owned(), id: "k".to_owned(), arguments: serde_json::Map::new(), signature: None },
        ]);
        let world = World::new([task(order), Reply { usage, ..digging }.on("dig"), Reply::text("The child stopped.")]);
        let (agent, mut events) = world.start_with(world.session(), priced(&world));
        assert_eq!(prompting(&agent, "go").await.unwrap(), Ok(Settled::Done));
        world.no_problems();
        let text = result(&world)["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text.contains("status=\"limit\">\nstopped: limit usd 0.1 reached: $0.0910 are spent"), "{text}");
        assert!(text.contains("It said last:\nHalf of it."), "{text}");
        let ended = ends(&mut events);
        assert_eq!((ended[0].requests, (ended[0].cost * 1e6).round()), (1, 91_000.0));
        // The output limit of its request was what the rest of the money could pay.
        let asked = world.server.seen()[1].json();
        let most = asked["max_tokens"].as_u64().unwrap();
        assert!((4_096..10_000).contains(&most), "{most}");
    });
}

/// A child that has spent 80 % of its own limit gets one message to finish.
#[test]
fn a_child_that_has_used_most_of_a_limit_is_told_once() {
    run(async {
        let order = json!({"tasks": [{"task": "dig", "name": "Alpha", "limits": {"requests": 10}}]});
        let looks = (0..9).map(|number| Reply::call("ls", &format!("k{number}"), json!({})).on("dig"));
        let ends = [Reply::text("Dug.").on("dig"), Reply::text("All.")];
        let world = World::new(std::iter::once(task(order)).chain(looks).chain(ends));
        let (agent, _events) = world.start();
        assert_eq!(prompting(&agent, "go").await.unwrap(), Ok(Settled::Done));
        world.no_problems();
        let (_, children) = files(&world);
        let said = entries(&children[0]);
        assert_eq!(said.matches("You have used most of what you may use").count(), 1, "{said}");
        let after = said.split("You have used most").nth(1).unwrap();
        assert_eq!(after.matches("+ls").count(), 1, "{said}");
        let end = lines(&children[0]).last().unwrap()["data"].clone();
        assert_eq!((&end["status"], &end["requests"]), (&json!("completed"), &json!(10)));
    });
}

struct NoRules;

impl RuleStore for NoRules {
    fn allow(&self, _: &Rule, _: ApprovalScope) -> Result<(), String> {
        Ok(())
    }
}

/// Two children ask at once: the person is asked one after the other, and an answer reaches the one that asked.
#[test]
fn questions_of_children_come_one_by_one_with_their_names() {
    run(async {
        let write = |id: &str, path: &str| Reply::call("write", id, json!({"path": path, "content": "x"}));
        let world = World::new([
            task(json!({"tasks": [{"task": "make one", "name": "One"}, {"task": "make two", "name": "Two"}]})),
            write("w1", "one.txt").on("make one"),
            write("w2", "two.txt").on("make two"),
            Reply::text("one is done").on("make one"),
            Reply::call("ask", "a", json!({"questions": [{"id": "q", "question": "Why not?", "options": []}]}))
                .on("make two"),
            Reply::text("two is done").on("make two"),
            Reply::text("Both."),
        ]);
        let permissions = Permissions { mode: ApprovalMode::Ask, ..Permissions::default() };
        let approver = Approver::FrontEnd(Arc::new(NoRules));
        let (agent, mut events) = world.start_with(world.session(), Setup { permissions, approver, ..world.setup() });
        let talking = prompting(&agent, "go");
        for _ in 0..2 {
            let asked = events.until(|event| matches!(event, Event::ApprovalRequest { .. })).await;
            let Event::ApprovalRequest { id, reason, args, .. } = asked.as_ref() else { unreachable!() };
            assert!(reason.starts_with("the agent ") && reason.contains(" asks: "), "{reason}");
            let is_one = args["path"] == "one.txt";
            assert_eq!(reason.contains("the agent One"), is_one, "{reason} {args}");
            let decision = if is_one { ApprovalDecision::AllowOnce } else { ApprovalDecision::Reject };
            agent.ask(Approve { id: *id, decision, message: None, rule: None, scope: None }).await.unwrap();
            let ended = events.until(|event| matches!(event, Event::ApprovalEnd { .. })).await;
            assert!(matches!(ended.as_ref(), Event::ApprovalEnd { id: Some(ended), .. } if ended == id), "{ended:?}");
        }
        let asked = events.until(|event| matches!(event, Event::QuestionRequest { .. })).await;
        let Event::QuestionRequest { id, form } = asked.as_ref() else { unreachable!() };
        assert_eq!(form.message.as_deref(), Some("The agent Two asks"));
        let answer = FormAnswer::Send([("q".to_owned(), FieldAnswer::text("so"))].into());
        agent.ask(AnswerForm { id: *id, answer }).await.unwrap();
        assert_eq!(talking.await.unwrap(), Ok(Settled::Done));
        world.no_problems();
        assert!(world.path("one.txt").exists() && !world.path("two.txt").exists());
        // What was decided is recorded where the call is.
        let (root, children) = files(&world);
        let decided = |file: &PathBuf| entries(file).matches("custom offshoot.approval").count();
        assert_eq!((decided(&root), decided(&children[0]), decided(&children[1])), (0, 1, 1));
    });
}

/// Neither the tools nor the mode of a definition go beyond the parent's.
#[test]
fn a_child_has_no_more_rights_than_its_parent() {
    run(async {
        let orders = json!({"tasks": [{"task": "look", "agent": "scout"}, {"task": "work"}]});
        let world = World::new([
            task(orders),
            Reply::call("bash", "b", json!({"command": "touch made.txt"})).on("look"),
            Reply::call("write", "w", json!({"path": "made.txt", "content": "x"})).on("work"),
            Reply::text("refused").on("look"),
            Reply::text("refused").on("work"),
            Reply::text("Nothing."),
        ]);
        let tools = tool::select("read,write,task", &Shell::default()).unwrap();
        let permissions = Permissions { mode: ApprovalMode::ReadOnly, ..Permissions::default() };
        let (agent, _events) = world.start_with(world.session(), Setup { permissions, tools, ..world.setup() });
        assert_eq!(prompting(&agent, "go").await.unwrap(), Ok(Settled::Done));
        assert!(!world.path("made.txt").exists());
        let (_, children) = files(&world);
        let said = children.iter().map(entries).collect::<Vec<_>>().join("\n");
        assert!(said.contains("there is no tool named bash"), "{said}");
        assert_eq!(said.matches("error ").count(), 2, "{said}");
    });
}

/// Stopped in the middle: what runs is stopped, each child's file says so, and nothing is left running.
#[test]
fn children_end_with_their_parent_and_say_so_in_their_files() {
    run(async {
        let sleep = Reply::call("bash", "s", json!({"command": "sleep 1000"})).on("sleep");
        let hang = Reply { then: Then::Hang, cut: Some(400), ..Reply::text(&"on and on ".repeat(50)) }.on("hang");
        let orders = json!({"tasks": [{"task": "sleep", "name": "Sleeper"}, {"task": "hang", "name": "Hanging"}]});
        let world = World::new([task(orders), sleep, hang]);
        let (agent, mut events) = world.start();
        let talking = prompting(&agent, "go");
        let works = |event: &Event| match event {
            Event::ChildUpdate { child: state } => state.current_tool.as_deref() == Some("bash"),
            _ => false,
        };
        events.until(works).await;
        assert_eq!(agent.abort().await.unwrap(), Settled::Aborted);
        assert_eq!(talking.await.unwrap(), Ok(Settled::Aborted));
        agent.close().await;
        let (root, children) = files(&world);
        for file in &children {
            let end = lines(file).last().unwrap()["data"].clone();
            assert_eq!(end["status"], "aborted", "{file:?} {end}");
        }
        assert_eq!(children.len(), 2);
        assert!(result(&world)["content"].to_string().contains("The user stopped this tool call"), "{root:?}");
        assert!(entries(&children[1]).contains("error bash"), "{}", entries(&children[1]));
    });
}

/// A world whose session and children are those of a run that was killed: of Beta's file only the first lines are there, and Gamma was
/// not started yet.
fn killed(lines_of_beta: usize, full: &[(PathBuf, String)], world: &World) -> PathBuf {
    let mut root = PathBuf::new();
    for (name, text) in full {
        let cut = |lines: usize| text.split_inclusive('\n').take(lines).collect::<String>();
        let text = match name.file_name().unwrap().to_str().unwrap() {
            "Beta.jsonl" => cut(lines_of_beta),
            "Alpha.jsonl" => text.clone(),
            "Gamma.jsonl" => String::new(),
            _ => {
                root = world.path("sessions").join(name);
                let call = text.lines().position(|line| line.contains("toolUse")).unwrap();
                cut(call + 1)
            }
        };
        let file = world.path("sessions").join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        if !text.is_empty() {
            std::fs::write(file, text).unwrap();
        }
    }
    root
}

/// After every line of a child's file: what has ended sends nothing again, what has begun goes on where it stood, and a call that may
/// have run is not repeated.
#[test]
fn children_of_a_killed_run_go_on_where_they_stood() {
    run(async {
        let orders = json!({"tasks": [
            {"task": "do alpha", "name": "Alpha"}, {"task": "do beta", "name": "Beta"}, {"task": "do gamma", "name": "Gamma"},
        ]});
        let runs = || Reply::call("bash", "b", json!({"command": "echo x >> ran.txt"})).on("do beta");
        let text = |text: &str, on: &str| Reply::text(text).on(on);
        let world = World::new([
            task(orders),
            text("alpha is done", "do alpha"),
            runs(),
            text("beta is done", "do beta"),
            text("gamma is done", "do gamma"),
            Reply::text("All."),
        ]);
        let (agent, _events) = world.start();
        assert_eq!(prompting(&agent, "go").await.unwrap(), Ok(Settled::Done));
        agent.close().await;
        let (root, children) = files(&world);
        let base = world.path("sessions");
        let full: Vec<(PathBuf, String)> = std::iter::once(&root)
            .chain(&children)
            .map(|file| (file.strip_prefix(&base).unwrap().to_owned(), std::fs::read_to_string(file).unwrap()))
            .collect();
        let beta = lines(&children[1]);
        assert_eq!(beta.len(), 9, "{}", entries(&children[1]));
        for cut in 0..=beta.len() {
            let again = World::new([text("gamma is done", "do gamma"), Reply::text("All.").on("and now?")]);
            // What Beta has still to do.
            let begins = cut < 6;
            again.server.add(begins.then(runs));
            again.server.add((cut < 8).then(|| text("beta is done", "do beta")));
            let file = killed(cut, &full, &again);
            let session = Session::open(&file, Options::default()).unwrap();
            let family = Family::new(FamilyLimits::default(), Some(again.path("ledgers")));
            let (agent, mut events) = again.start_with(session, Setup { family, ..again.setup() });
            assert_eq!(prompting(&agent, "and now?").await.unwrap(), Ok(Settled::Done), "cut {cut}");
            agent.close().await;
            again.no_problems();
            let asked = again.server.seen();
            let of = |words: &str| {
                asked.iter().filter(|seen| seen.body.contains(words) && !seen.body.contains("and now?")).count()
            };
            assert_eq!(of("do alpha"), 0, "cut {cut}");
            assert_eq!(of("do gamma"), 1, "cut {cut}");
            assert_eq!(of("do beta"), if begins { 2 } else { usize::from(cut < 8) }, "cut {cut}");
            let ran = std::fs::read_to_string(again.path("ran.txt")).unwrap_or_default().lines().count();
            assert_eq!(ran, usize::from(begins), "cut {cut}");
            let (root, children) = files(&again);
            for child in &children {
                assert_eq!(entries(child).matches("custom offshoot.child_end").count(), 1, "cut {cut} {child:?}");
            }
            let parent = entries(&root);
            assert_eq!(parent.matches("result task").count(), 1, "cut {cut}: {parent}");
            for name in ["alpha is done", "beta is done", "gamma is done"] {
                assert_eq!(parent.matches(name).count(), 1, "cut {cut}: {parent}");
            }
            assert!(parent.trim_end().ends_with("user \"and now?\"\nassistant \"All.\" Stop"), "cut {cut}: {parent}");
            // Each request was written down before it left, and settled.
            let ledger = std::fs::read_dir(again.path("ledgers")).unwrap().next().unwrap().unwrap().path();
            let ledger = lines(&ledger);
            let count = |name: &str| ledger.iter().filter(|line| line[name].is_string()).count();
            assert_eq!((count("hold"), count("end")), (asked.len(), asked.len()), "cut {cut}");
            // What was spent before the kill counts for the child.
            let ended = ends(&mut events);
            let beta = ended.iter().find(|state| state.id == "Beta").unwrap();
            assert_eq!(beta.requests, 2, "cut {cut}");
        }
    });
}

/// One is steered, one is stopped, and the call goes on with what both said.
#[test]
fn a_person_steers_and_stops_single_children() {
    run(async {
        let gate = Gate::new();
        let looks = Reply { gate: Some((100, gate.clone())), ..Reply::call("ls", "l", json!({})) }.on("look");
        let orders = json!({"tasks": [{"task": "look", "name": "Looker"}, {"task": "sleep", "name": "Sleeper"}]});
        let world = World::new([
            task(orders),
            looks,
            Reply::call("bash", "s", json!({"command": "sleep 1000"})).on("sleep"),
            Reply::text("In short: a folder.").on("be brief"),
            Reply::text("Done."),
        ]);
        let (agent, mut events) = world.start();
        let talking = prompting(&agent, "go");
        let works = |event: &Event| match event {
            Event::ChildUpdate { child: state } => state.current_tool.as_deref() == Some("bash"),
            _ => false,
        };
        events.until(works).await;
        let order = |id: &str, order: ChildOrder| agent.ask(ToChild { id: id.to_owned(), order });
        // It may begin after the other one.
        while let Err(early) = order("Looker", ChildOrder::Steer("be brief".to_owned())).await {
            assert_eq!(early.to_string(), "the agent Looker does not run yet");
            tokio::task::yield_now().await;
        }
        order("Sleeper", ChildOrder::Stop).await.unwrap();
        events.until(|event| matches!(event, Event::ChildEnd { child: state } if state.id == "Sleeper")).await;
        assert_eq!(order("Sleeper", ChildOrder::Stop).await.unwrap_err().to_string(), "the agent Sleeper has ended");
        assert_eq!(order("Nobody", ChildOrder::Stop).await.unwrap_err().to_string(), "there is no agent Nobody");
        gate.open();
        assert_eq!(talking.await.unwrap(), Ok(Settled::Done));
        world.no_problems();
        let states = agent.ask(Children).await.unwrap();
        let stand: Vec<_> = states.iter().map(|state| (state.id.as_str(), state.status.as_str())).collect();
        assert_eq!(stand, [("Looker", "completed"), ("Sleeper", "aborted")]);
        let text = result(&world)["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text.contains("In short: a folder.") && text.contains("status=\"aborted\">\nwas stopped"), "{text}");
    });
}

fn role(message: &Message) -> &'static str {
    match message {
        Message::User(_) => "user",
        Message::Assistant(_) => "assistant",
        Message::ToolResult(_) => "toolResult",
        Message::Custom(_) => "custom",
    }
}
