//! What a call of `task` may order beside the task: a form of the answer, the parent's context, going on in the background. And what a
//! person may order of children that have ended.

use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::approval::Rule;
use offshoot_agent::testing::script::{Gate, Reply, Say};
use offshoot_agent::testing::seen::Seen;
use offshoot_agent::{Approver, RuleStore, Setup};
use offshoot_protocol::request::{ChildOrder, Children, ToChild};
use offshoot_protocol::{ApprovalScope, Event, NoticeCode, Settled};
use offshoot_session::session::{Options, Session};
use serde_json::{Value, json};

use crate::children::{ends, entries, files, lines, result, task};
use crate::world::{Events, World, prompting, run};

struct NoRules;

impl RuleStore for NoRules {
    fn allow(&self, _: &Rule, _: ApprovalScope) -> Result<(), String> {
        Ok(())
    }
}

/// An agent that stays when a run has ended.
pub(crate) fn staying(world: &World) -> Setup {
    Setup { approver: Approver::FrontEnd(Arc::new(NoRules)), ..world.setup() }
}

pub(crate) fn called(id: &str, arguments: &Value) -> Reply {
    let arguments = arguments.as_object().unwrap().clone();
    Reply::say([Say::Call { call: "task".to_owned(), id: id.to_owned(), arguments, signature: None }])
}

pub(crate) async fn child_ends(events: &mut Events, id: &str) {
    events.until(|event| matches!(event, Event::ChildEnd { child } if child.id == id)).await;
}

fn messages(seen: &Seen) -> String {
    seen.json()["messages"].to_string()
}

async fn say(agent: &AgentSession, id: &str, order: ChildOrder) -> Result<(), String> {
    agent.ask(ToChild { id: id.to_owned(), order }).await.map_err(|error| error.to_string())
}

/// The call is answered at once. What the child says comes once, with the next prompt on the branch that started it.
#[test]
fn a_child_in_the_background_reports_with_the_next_prompt_of_its_branch() {
    run(async {
        let gate = Gate::new();
        let slow = Reply { gate: Some((0, gate.clone())), ..Reply::text("Seven files.").on("count slowly") };
        let order = json!({"background": true, "tasks": [{"task": "count slowly", "name": "Alpha"}, {"task": "x", "agent": "nobody"}]});
        let texts = ["Begun.", "Elsewhere.", "Seven, says Alpha.", "On."].map(|text| Reply::text(text).on("zulu"));
        let begin = [Reply::text("Hello.").on("first"), called("c1", &order)];
        let world = World::new(begin.into_iter().chain(texts).chain([slow]));
        let (agent, mut events) = world.start_with(world.session(), staying(&world));
        let leaf = async |agent: &AgentSession| {
            let leaf = agent.read(|session| session.leaf_id().map(|id| id.as_str().to_owned()));
            leaf.await.unwrap().unwrap()
        };
        assert_eq!(prompting(&agent, "first, zulu").await.unwrap(), Ok(Settled::Done));
        let before = leaf(&agent).await;
        assert_eq!(prompting(&agent, "zulu: start it").await.unwrap(), Ok(Settled::Done));
        let after = leaf(&agent).await;
        let text = result(&world)["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text.starts_with("Alpha (task) works in the background.\n"), "{text}");
        assert!(text.contains("there is no agent \"nobody\"") && result(&world)["isError"] == false, "{text}");
        assert_eq!(result(&world)["details"]["inBackground"], json!(["Alpha"]));
        gate.open();
        child_ends(&mut events, "Alpha").await;
        let notice = events.until(|event| matches!(event, Event::Notice { .. })).await;
        let Event::Notice { code: NoticeCode::Background, message, .. } = notice.as_ref() else { panic!("{notice:?}") };
        assert_eq!(message, "ended in the background (completed): the agent Alpha");
        crate::operations::go(&agent, before).await;
        assert_eq!(prompting(&agent, "zulu elsewhere").await.unwrap(), Ok(Settled::Done));
        crate::operations::go(&agent, after).await;
        assert_eq!(prompting(&agent, "and now? zulu").await.unwrap(), Ok(Settled::Done));
        assert_eq!(prompting(&agent, "zulu, no more").await.unwrap(), Ok(Settled::Done));
        world.no_problems();
        let told = |seen: &Seen| messages(seen).matches("The agent Alpha in the background has ended.").count();
        let of_parent: Vec<usize> =
            world.server.seen().iter().filter(|seen| messages(seen).contains("zulu")).map(told).collect();
        assert_eq!(of_parent, [0, 0, 0, 0, 1, 1]);
        let last = world.server.seen().pop().unwrap();
        assert!(
            messages(&last).contains("status=\\\"completed\\\">\\nSeven files.\\n</task-result>"),
            "{}",
            messages(&last)
        );
        let entry =
            lines(&files(&world).0).into_iter().find(|line| line["customType"] == "offshoot.background").unwrap();
        assert_eq!(
            (&entry["details"]["agents"][0]["id"], &entry["details"]["commands"]),
            (&json!("Alpha"), &json!([]))
        );
    });
}

/// Where the program ends with the run, the call waits as any other does. So does that of a child.
#[test]
fn without_a_front_end_that_stays_a_call_in_the_background_waits() {
    run(async {
        let order = |word: &str, name: &str| json!({"background": true, "tasks": [{"task": word, "name": name}]});
        let world = World::new([
            task(order("dig", "Alpha")),
            called("c2", &order("look", "Beta")).on("dig"),
            Reply::text("A hole.").on("look"),
            Reply::text("Beta says: a hole.").on("dig"),
            Reply::text("All."),
        ]);
        let (agent, _events) = world.start();
        assert_eq!(prompting(&agent, "go").await.unwrap(), Ok(Settled::Done));
        world.no_problems();
        assert!(result(&world)["content"].to_string().contains("Beta says: a hole."), "{}", result(&world));
        assert_eq!(files(&world).1.len(), 2);
    });
}

/// The end of the agent stops what goes on, and the child's file says so.
#[test]
fn nothing_in_the_background_outlives_the_agent() {
    run(async {
        let order = json!({"background": true, "tasks": [{"task": "sleep", "name": "Alpha"}]});
        let sleeps = Reply::call("bash", "s", json!({"command": "sleep 1000"})).on("sleep");
        let world = World::new([called("c1", &order), Reply::text("Begun.").on("zulu"), sleeps]);
        let (agent, mut events) = world.start_with(world.session(), staying(&world));
        assert_eq!(prompting(&agent, "zulu: start it").await.unwrap(), Ok(Settled::Done));
        let works = |event: &Event| matches!(event, Event::ChildUpdate { child } if child.current_tool.as_deref() == Some("bash"));
        events.until(works).await;
        // Stopping the agent's run stops no child that goes on beside it.
        agent.abort().await.unwrap();
        assert_eq!(agent.ask(Children).await.unwrap()[0].status.as_str(), "running");
        agent.close().await;
        let told = events.all().into_iter().filter_map(|event| match event.as_ref() {
            Event::Notice { message, .. } => Some(message.clone()),
            _ => None,
        });
        assert_eq!(told.collect::<Vec<_>>(), ["stopped in the background: the agents Alpha"]);
        let (root, children) = files(&world);
        let end = lines(&children[0]).pop().unwrap();
        assert_eq!(end["data"]["status"], "aborted", "{end}");
        // The next program tells the model so, once; a child whose program was killed has no end in its file.
        let text = std::fs::read_to_string(&children[0]).unwrap();
        for (text, told) in [
            (text.clone(), "was stopped"),
            (text.replace(&format!("{end}\n"), ""), "failed: the program ended while it ran"),
        ] {
            let again = World::new([Reply::text("I see."), Reply::text("Yes.")]);
            let file = again.path("sessions").join(root.file_name().unwrap());
            let beside = file.with_extension("");
            std::fs::create_dir_all(&beside).unwrap();
            std::fs::copy(&root, &file).unwrap();
            std::fs::write(beside.join("Alpha.jsonl"), text).unwrap();
            let session = Session::open(&file, Options::default()).unwrap();
            let (agent, _events) = again.start_with(session, staying(&again));
            for words in ["and now?", "really?"] {
                assert_eq!(prompting(&agent, words).await.unwrap(), Ok(Settled::Done));
            }
            again.no_problems();
            agent.close().await;
            let seen = again.server.seen();
            let counts: Vec<usize> =
                seen.iter().map(|seen| messages(seen).matches("The agent Alpha in the background").count()).collect();
            assert_eq!(counts, [1, 1]);
            assert!(messages(&seen[0]).contains(told), "{}", messages(&seen[0]));
        }
    });
}

/// An answer of another form is asked for again, twice; then the child has failed, with what it said.
#[test]
fn an_answer_has_the_form_that_was_ordered_or_the_child_fails() {
    run(async {
        let schema = json!({"type": "object", "required": ["count"], "properties": {"count": {"type": "integer"}}});
        let order = json!({"tasks": [
            {"task": "count them", "name": "Good", "outputSchema": schema}, {"task": "talk", "name": "Bad", "outputSchema": schema},
            {"task": "odd", "name": "Odd", "outputSchema": {"pattern": "x"}},
        ]});
        let world = World::new([
            task(order),
            Reply::text("There are three.").on("count them"),
            Reply::text("```json\n{\"count\": 3}\n```").on("count them"),
            Reply::text("One.").on("talk"),
            Reply::text("Two.").on("talk"),
            Reply::text("{\"count\": \"three\"}").on("talk"),
            Reply::text("All.").on("go"),
        ]);
        let (agent, mut events) = world.start();
        assert_eq!(prompting(&agent, "go").await.unwrap(), Ok(Settled::Done));
        world.no_problems();
        let text = result(&world)["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(
            text.contains("id=\"Good\" agent=\"task\" status=\"completed\">\n{\"count\": 3}\n</task-result>"),
            "{text}"
        );
        let why = "failed: its last message does not fit the ordered schema: .count is string, not \"integer\"\nIt said last:\n{\"count\": \"three\"}";
        assert!(text.contains(&format!("id=\"Bad\" agent=\"task\" status=\"failed\">\n{why}")), "{text}");
        assert!(text.contains("outputSchema has \"pattern\", which is not checked here"), "{text}");
        let ended = ends(&mut events);
        assert_eq!(ended.iter().map(|state| state.requests).collect::<Vec<_>>().iter().sum::<u64>(), 5);
        let (_, children) = files(&world);
        let good = entries(&children[1]);
        assert!(good.contains("Your last message does not fit the schema: it is not JSON"), "{good}");
        let seen = world.server.seen();
        let asked =
            seen.iter().find(|seen| seen.body.contains("count them") && !messages(seen).contains("go")).unwrap();
        assert!(
            asked.json()["system"].to_string().contains("one JSON value that fits this JSON schema"),
            "{}",
            asked.body
        );
        assert_eq!(lines(&children[1])[1]["data"]["outputSchema"], schema);
    });
}

/// Its requests begin as its parent's do, so that the provider has their beginning; what was spent on the copies counts once.
#[test]
fn a_forked_child_begins_with_its_parents_context() {
    run(async {
        let order =
            json!({"context": "Be quick.", "tasks": [{"task": "name its colour", "name": "Alpha", "fork": true}]});
        let world = World::new([
            Reply::text("A lexer.").on("what is it"),
            Reply::call("ls", "k1", json!({})).on("what is it"),
            called("c1", &order),
            Reply::text("Blue.").on("name its colour"),
            Reply::text("Blue, says Alpha."),
        ]);
        let (agent, mut events) = world.start();
        assert_eq!(prompting(&agent, "what is it?").await.unwrap(), Ok(Settled::Done));
        assert_eq!(prompting(&agent, "look, and ask").await.unwrap(), Ok(Settled::Done));
        world.no_problems();
        let seen: Vec<Value> = world.server.seen().iter().map(Seen::json).collect();
        let child = seen.iter().find(|seen| seen["messages"].to_string().contains("# Your task")).unwrap();
        let parent = &seen[2];
        assert_eq!((&child["system"], &child["tools"]), (&parent["system"], &parent["tools"]));
        // Without the marks that say up to where the provider keeps it.
        let plain = |messages: &Value| {
            let mut messages = messages.as_array().unwrap().clone();
            for block in messages.iter_mut().flat_map(|message| message["content"].as_array_mut().into_iter().flatten())
            {
                block.as_object_mut().unwrap().remove("cache_control");
            }
            messages
        };
        let (own, of_parent) = (plain(&child["messages"]), plain(&parent["messages"]));
        assert_eq!(own[..of_parent.len() - 1], of_parent[..of_parent.len() - 1]);
        let last = own.last().unwrap().to_string();
        assert!(
            last.contains("You are another agent now")
                && last.contains("Be quick.")
                && last.contains("name its colour")
        );
        let file = &files(&world).1[0];
        let said = entries(file);
        let first = "custom offshoot.child\ncustom offshoot.op\nuser \"what is it?\"\nassistant \"A lexer.\" Stop\nuser \"look, and ask\"\n";
        assert!(
            said.starts_with(first) && said.ends_with("assistant \"Blue.\" Stop\ncustom offshoot.child_end"),
            "{said}"
        );
        assert_eq!(ends(&mut events)[0].requests, 1);
        let list = offshoot_session::children::ChildList::of(&files(&world).0).unwrap();
        assert_eq!((list.children[0].tokens, list.children[0].agent.as_str()), (15, "task"));
    });
}

/// While its call runs, what a child says when it is spoken to again is part of the result. After that it comes with the next prompt.
#[test]
fn a_child_that_has_ended_goes_on_when_it_is_spoken_to() {
    run(async {
        let gate = Gate::new();
        let slow = Reply { gate: Some((0, gate.clone())), ..Reply::text("slow is done").on("be slow") };
        let orders = json!({"tasks": [{"task": "be quick", "name": "Quick", "limits": {"requests": 3}}, {"task": "be slow", "name": "Slow"}]});
        let world = World::new([
            task(orders),
            Reply::text("quick is done").on("be quick"),
            slow,
            Reply::text("quick is done again").on("once more"),
            Reply::text("All.").on("go"),
            Reply::text("quick is done for good").on("and finally"),
            Reply::text("I see.").on("go"),
        ]);
        let (agent, mut events) = world.start_with(world.session(), staying(&world));
        let talking = prompting(&agent, "go");
        child_ends(&mut events, "Quick").await;
        say(&agent, "Quick", ChildOrder::FollowUp("once more".to_owned())).await.unwrap();
        child_ends(&mut events, "Quick").await;
        gate.open();
        assert_eq!(talking.await.unwrap(), Ok(Settled::Done));
        let text = result(&world)["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(
            text.contains("status=\"completed\">\nquick is done again\n") && text.contains("slow is done"),
            "{text}"
        );
        say(&agent, "Quick", ChildOrder::Steer("and finally".to_owned())).await.unwrap();
        child_ends(&mut events, "Quick").await;
        assert_eq!(prompting(&agent, "go on").await.unwrap(), Ok(Settled::Done));
        let last = messages(&world.server.seen().pop().unwrap());
        assert!(
            last.contains("The agent Quick in the background has ended.") && last.contains("quick is done for good"),
            "{last}"
        );
        // It is one session and one account: the fourth request is not sent.
        say(&agent, "Quick", ChildOrder::FollowUp("a fourth".to_owned())).await.unwrap();
        child_ends(&mut events, "Quick").await;
        let states = agent.ask(Children).await.unwrap();
        assert_eq!((states[0].status.as_str(), states[0].requests), ("limit", 3));
        world.no_problems();
        let said = entries(&files(&world).1[0]);
        assert_eq!(
            (said.matches("custom offshoot.child_end").count(), said.matches("custom offshoot.child\n").count()),
            (4, 1),
            "{said}"
        );
        let odd = say(&agent, "Nobody", ChildOrder::FollowUp("x".to_owned())).await.unwrap_err();
        assert_eq!(odd, "this session has no agent Nobody in a file");
        agent.close().await;
    });
}
