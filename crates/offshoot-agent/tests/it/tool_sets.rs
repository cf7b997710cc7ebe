//! Tools that belong to branches.

use std::sync::Arc;

use offshoot_agent::Setup;
use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::provider::ToolSpec;
use offshoot_agent::request_queue::{Reload, SetTools, ToolList};
use offshoot_agent::stored_prompt::{StoredPrompt, ToolSets};
use offshoot_agent::testing::script::Reply;
use offshoot_agent::tool::{self, Running, Shell, Tier, Tool, ToolContext, ToolFilter, ToolOutcome, ToolSource};
use offshoot_protocol::request::SetActiveTools;
use offshoot_protocol::{Event, NoticeCode, PromptStorage};
use offshoot_session::compose::NewEntry;
use offshoot_session::json::Json;
use offshoot_session::session::{Options, Session};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::operations::go;
use super::world::{Events, World, run};

/// An agent whose start has `now`, and without options `usual`.
fn setup(world: &World, now: &str, usual: &str) -> Setup {
    let select = |names: &str| tool::select(names, &Shell::default()).unwrap();
    let tool_sets = ToolSets {
        available: tool::all(&Shell::default()),
        first: select(now),
        usual: select(usual),
        filter: ToolFilter::default(),
    };
    Setup { tools: select(now), tool_sets: Some(tool_sets), ..world.setup() }
}

/// The events of a run, as JSON.
async fn until_settled(events: &mut Events) -> Vec<Value> {
    let mut told = Vec::new();
    loop {
        let event = events.until(|_| true).await;
        told.push(serde_json::from_str(&event.to_json()).unwrap());
        if matches!(*event, Event::AgentSettled { .. }) {
            return told;
        }
    }
}

/// The tools of each request.
fn sent(world: &World) -> Vec<String> {
    let names = |body: &str| {
        let body: Value = serde_json::from_str(body).unwrap();
        let tools = body["tools"].as_array().cloned().unwrap_or_default();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(",")
    };
    world.server.seen().iter().map(|seen| names(&seen.body)).collect()
}

fn stored(world: &World) -> Vec<Value> {
    let lines = world.lines();
    let messages = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()["message"].clone());
    messages.filter(|message| message["role"] == "system").collect()
}

#[test]
fn moves_and_resumed_sessions_restore_the_tools_of_the_branch() {
    run(async {
        let world = World::new(["one", "two", "three", "four", "five"].map(Reply::text));
        let (agent, _events) = world.start_with(world.session(), setup(&world, "read,ls", "read,bash"));
        agent.prompt("first").await.unwrap();
        let leaf = agent.read(|session| session.leaf_id().unwrap().as_str().to_owned()).await.unwrap();
        agent.close().await;

        // Another start has other tools, and stores them with its first prompt.
        let file = std::fs::read_dir(world.path("sessions")).unwrap().next().unwrap().unwrap().path();
        let open = || Session::open(&file, Options::default()).unwrap();
        let (agent, _events) = world.start_with(open(), setup(&world, "read,bash", "read,bash"));
        agent.prompt("second").await.unwrap();
        go(&agent, leaf).await;
        agent.prompt("third").await.unwrap();
        agent.new_session(None).await.unwrap();
        agent.prompt("fourth").await.unwrap();
        agent.switch_session(&file).await.unwrap();
        agent.prompt("fifth").await.unwrap();
        assert_eq!(sent(&world), ["read,ls", "read,bash", "read,ls", "read,bash", "read,ls"]);
    });
}

/// Another program gave the branch tools that this one lacks. They stay the branch's: back there, the model has them.
#[test]
fn tools_that_are_absent_are_left_out_of_requests_and_stay_in_the_session() {
    run(async {
        for storage in [PromptStorage::UnusualTools, PromptStorage::Whole] {
            let world = World::new(["one", "two", "three"].map(Reply::text));
            let mut session = world.session();
            let declared = |name: &str| format!(r#"{{"name":"{name}","description":"d","parameters":{{}}}}"#);
            let tools = ["read", "codemode", "mcp__echo"].map(declared).join(",");
            let system = format!(r#"{{"role":"system","content":"","toolsAdded":[{tools}]}}"#);
            session.append(&NewEntry::message(Json::parse(&system).unwrap()).unwrap()).unwrap();
            // The options of this run name other tools.
            let chosen = Setup { prompt_storage: storage, ..setup(&world, "ls", "read,bash") };
            let (agent, _events) = world.start_with(session, chosen);
            agent.prompt("first").await.unwrap();
            agent.prompt("second").await.unwrap();
            assert_eq!(sent(&world), ["ls", "ls"]);
            let told = &stored(&world)[1..];
            assert_eq!(told.len(), 1, "the choice, and nothing with the second prompt: {told:?}");
            assert_eq!(told[0]["toolsRemoved"], serde_json::json!([{ "name": "read" }]));
            agent.close().await;

            // Where the tools are back, the branch has them again.
            let file = std::fs::read_dir(world.path("sessions")).unwrap().next().unwrap().unwrap().path();
            let back = Session::open(&file, Options::default()).unwrap();
            let kept = StoredPrompt::of(&back, &back.context().unwrap());
            assert_eq!(kept.tools().unwrap(), ["codemode", "mcp__echo", "ls"]);
        }
    });
}

#[test]
fn a_turn_with_the_branch_s_own_tools_stores_nothing_about_absent_ones() {
    run(async {
        let world = World::new(["one", "two"].map(Reply::text));
        let mut session = world.session();
        let system = r#"{"role":"system","content":"","toolsAdded":[{"name":"read"},{"name":"codemode"}]}"#;
        session.append(&NewEntry::message(Json::parse(system).unwrap()).unwrap()).unwrap();
        let (agent, _events) = world.start_with(session, setup(&world, "read", "read,bash"));
        agent.prompt("first").await.unwrap();
        assert_eq!((sent(&world), stored(&world).len()), (vec!["read".to_owned()], 1));
    });
}

#[test]
fn usual_tools_are_not_stored_and_others_once() {
    run(async {
        let world = World::new(["one", "two"].map(Reply::text));
        let (agent, _events) = world.start_with(world.session(), setup(&world, "read", "read"));
        agent.prompt("first").await.unwrap();
        assert_eq!(stored(&world), [Value::Null; 0]);
        let world = World::new(["one", "two"].map(Reply::text));
        let (agent, _events) = world.start_with(world.session(), setup(&world, "", "read"));
        agent.prompt("first").await.unwrap();
        agent.prompt("second").await.unwrap();
        let stored = stored(&world);
        assert_eq!((stored.len(), &stored[0]["toolsAdded"]), (1, &Value::Array(Vec::new())));
    });
}

#[test]
fn the_whole_prompt_is_stored_if_a_setting_says_so() {
    run(async {
        let world = World::new(["one", "two", "three"].map(Reply::text));
        let setup = Setup { prompt_storage: PromptStorage::Whole, ..setup(&world, "read", "read") };
        let (agent, mut events) = world.start_with(world.session(), setup);
        agent.prompt("first").await.unwrap();
        let told = until_settled(&mut events).await;
        agent.prompt("second").await.unwrap();
        let again = until_settled(&mut events).await;
        let stored = stored(&world);
        assert_eq!(stored.len(), 1);
        let started = told.iter().position(|event| event["message"]["role"] == "system").unwrap();
        assert_eq!(told[started - 1]["type"], "turn_start");
        let events_of_it =
            ["message_start", "message_end"].map(|kind| serde_json::json!({ "type": kind, "message": stored[0] }));
        assert_eq!(told[started..started + 2], events_of_it);
        assert_eq!(told[started + 2]["message"]["role"], "user");
        assert!(!again.iter().any(|event| event["message"]["role"] == "system"));
        assert_eq!(stored[0]["sections"], serde_json::json!({ "preamble": "You are a test." }));
        assert_eq!(stored[0]["toolsAdded"][0]["name"], "read");
        let seen = world.server.seen();
        let body: Value = serde_json::from_str(&seen[1].body).unwrap();
        assert_eq!(body["system"][0]["text"], "You are a test.", "sent once");
        world.no_problems();
    });
}

/// A tool of another source.
struct Foreign {
    name: &'static str,
    from: &'static str,
}

impl Tool for Foreign {
    fn name(&self) -> &str {
        self.name
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.to_owned(),
            description: self.from.to_owned(),
            parameters: json!({"type": "object"}),
        }
    }

    fn tier(&self, _: &Value, _: &ToolContext) -> Tier {
        Tier::Read(Vec::new())
    }

    fn run(&self, _: Value, _: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        Box::pin(async { ToolOutcome::text("done") })
    }
}

async fn set(agent: &AgentSession, source: ToolSource, from: &'static str, names: &[&'static str]) {
    let tools: Vec<Arc<dyn Tool>> =
        names.iter().map(|name| Arc::new(Foreign { name, from }) as Arc<dyn Tool>).collect();
    agent.ask(SetTools { source, tools: ToolList(tools.into()) }).await.unwrap();
}

/// The names of the tools that the model gets, each with its source if that is not offshoot.
async fn active(agent: &AgentSession) -> String {
    let state = agent.state().await.unwrap();
    let from = |name: &String| {
        let tool = state.tools.0.iter().find(|tool| tool.name() == name).unwrap();
        let from = tool.spec().description;
        if from.len() < 10 { format!("{name} of {from}") } else { name.clone() }
    };
    state.active_tools.iter().map(from).collect::<Vec<_>>().join(", ")
}

fn mcp(name: &str) -> ToolSource {
    ToolSource::Mcp(name.to_owned())
}

#[test]
fn sources_of_tools_come_and_go_without_those_of_the_others() {
    run(async {
        let world = World::new([]);
        let (agent, _events) = world.start_with(world.session(), setup(&world, "read,ls", "read,ls"));
        set(&agent, ToolSource::Extensions, "ext", &["weigh"]).await;
        set(&agent, mcp("maps"), "maps", &["route"]).await;
        set(&agent, ToolSource::Agent("a1".to_owned()), "a1", &["child"]).await;
        assert_eq!(active(&agent).await, "read, ls, weigh of ext, route of maps, child of a1");
        set(&agent, mcp("maps"), "maps", &["place", "route"]).await;
        set(&agent, ToolSource::Extensions, "ext", &["ls"]).await;
        assert_eq!(active(&agent).await, "read, ls of ext, place of maps, route of maps, child of a1");
        set(&agent, mcp("maps"), "maps", &[]).await;
        set(&agent, ToolSource::Extensions, "ext", &[]).await;
        assert_eq!(active(&agent).await, "read, ls, child of a1");
    });
}

/// A server that offers `read` must not get what the model means for offshoot's. An extension wraps a tool on purpose.
#[test]
fn a_hidden_tool_is_said_and_comes_up_when_the_one_before_it_goes() {
    run(async {
        let world = World::new([]);
        let (agent, mut events) = world.start_with(world.session(), setup(&world, "read", "read"));
        set(&agent, ToolSource::Extensions, "ext", &["read", "route"]).await;
        set(&agent, mcp("maps"), "maps", &["read", "route", "place"]).await;
        set(&agent, mcp("more"), "more", &["place", "more", "more"]).await;
        let mut notices = Vec::new();
        while notices.len() < 4 {
            if let Event::Notice { code: NoticeCode::ToolHidden, message, .. } = &*events.until(|_| true).await {
                notices.push(message.clone());
            }
        }
        insta::assert_snapshot!(notices.join("\n"), @r"
        the tool read of the MCP server maps is not used: an extension has a tool of this name
        the tool route of the MCP server maps is not used: an extension has a tool of this name
        the tool place of the MCP server more is not used: the MCP server maps has a tool of this name
        the MCP server more has several tools named more: the first is used
        ");
        assert_eq!(active(&agent).await, "read of ext, route of ext, place of maps, more of more");
        set(&agent, ToolSource::Extensions, "ext", &[]).await;
        assert_eq!(active(&agent).await, "read, route of maps, place of maps, more of more");
        set(&agent, mcp("maps"), "maps", &[]).await;
        assert_eq!(active(&agent).await, "read, place of more, more of more");
    });
}

/// A server that connects late, or an extension that registers a tool later, adds its tools to those in use.
#[test]
fn another_source_leaves_the_chosen_tools_in_use() {
    run(async {
        let world = World::new([]);
        let mut session = world.session();
        let system = r#"{"role":"system","content":"","toolsAdded":[{"name":"read"},{"name":"weigh"}]}"#;
        session.append(&NewEntry::message(Json::parse(system).unwrap()).unwrap()).unwrap();
        let (agent, _events) = world.start_with(session, setup(&world, "ls", "read,bash"));
        set(&agent, ToolSource::Extensions, "ext", &["weigh", "other"]).await;
        assert_eq!(active(&agent).await, "weigh of ext, ls", "as the start and the branch have chosen");
        agent.ask(SetActiveTools(vec!["grep".to_owned()])).await.unwrap();
        set(&agent, mcp("maps"), "maps", &["route"]).await;
        set(&agent, ToolSource::Extensions, "ext", &["weigh"]).await;
        assert_eq!(active(&agent).await, "grep");
        let reloaded = setup(&world, "ls", "read,bash");
        agent.ask(Reload(offshoot_agent::ReloadedSetup(Arc::new(reloaded)))).await.unwrap();
        assert_eq!(active(&agent).await, "grep");
    });
}
