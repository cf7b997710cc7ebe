//! What holds for every tool, whoever brings it: rules decide before it runs, and no key that offshoot knows gets into its result.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use offshoot_agent::approval::{Permissions, Rule};
use offshoot_agent::provider::ToolSpec;
use offshoot_agent::testing::script::{Reply, Say};
use offshoot_agent::testing::server::KEY;
use offshoot_agent::tool::{self, Running, Shell, Tool, ToolContext, ToolOutcome};
use offshoot_agent::{Approver, RuleStore, Setup};
use offshoot_protocol::request::AnswerForm;
use offshoot_protocol::{ApprovalMode, ApprovalScope, Event, FieldAnswer, FormAnswer, Settled};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use crate::world::{World, prompting, run};

/// As a server's: it says what it is given.
#[derive(Default)]
struct Echo(AtomicUsize);

impl Tool for Echo {
    fn name(&self) -> &str {
        "mcp__there_echo"
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec { name: self.name().to_owned(), description: "Echo".to_owned(), parameters: json!({"type": "object"}) }
    }

    fn run(&self, arguments: Value, _: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(ToolOutcome::text(arguments["text"].as_str().unwrap_or_default())))
    }
}

struct NoRules;

impl RuleStore for NoRules {
    fn allow(&self, _: &Rule, _: ApprovalScope) -> Result<(), String> {
        Ok(())
    }
}

/// Each tool with a call that brings the key into its result where it can.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("read", json!({"path": "secret.txt"})),
        ("bash", json!({"command": "cat secret.txt", "background": true})),
        ("bash", json!({"command": "sleep 1000", "background": true})),
        ("bash", json!({"command": "cat secret.txt"})),
        ("edit", json!({"path": "plain.txt", "edits": [{"oldText": "old", "newText": "new"}]})),
        ("write", json!({"path": "made.txt", "content": "x"})),
        ("grep", json!({"pattern": "is", "path": "."})),
        ("find", json!({"pattern": "*.txt"})),
        ("ls", json!({})),
        ("ask", json!({"questions": [{"id": "a", "question": "Which?", "options": [{"label": "x"}]}]})),
        ("todo", json!({"op": "init", "items": [format!("use {KEY}")]})),
        ("plan", json!({"markdown": format!("use {KEY}")})),
        ("task", json!({"task": "tell the key"})),
        ("bash_output", json!({"id": "b1", "wait": 60})),
        ("bash_stop", json!({"id": "b2"})),
        ("bash_list", json!({})),
        ("mcp__there_echo", json!({"text": format!("it is {KEY}")})),
    ]
}

/// Of the tools that are called.
fn names() -> BTreeSet<&'static str> {
    calls().into_iter().map(|(name, _)| name).collect()
}

fn world() -> World {
    let said = calls().into_iter().enumerate().map(|(at, (name, arguments))| Say::Call {
        call: name.to_owned(),
        id: format!("c{at}"),
        arguments: arguments.as_object().unwrap().clone(),
        signature: None,
    });
    let child = Reply::text(&format!("it is {KEY}")).on("tell the key");
    let world = World::new([Reply::say(said), child, Reply::text("Done.")]);
    std::fs::write(world.path("secret.txt"), format!("the key is {KEY}\n")).unwrap();
    std::fs::write(world.path("plain.txt"), "old\n").unwrap();
    std::fs::write(world.path(&format!("{KEY}.txt")), "").unwrap();
    world
}

fn setup(world: &World, echo: &Arc<Echo>, permissions: Permissions) -> Setup {
    let mut tools = tool::all(&Shell::default());
    tools.push(echo.clone());
    let names: Vec<_> = tools.iter().map(|tool| tool.name().to_owned()).collect();
    assert!(names.iter().all(|name| calls().iter().any(|(known, _)| known == name)), "a tool has no call: {names:?}");
    Setup { tools, permissions, approver: Approver::FrontEnd(Arc::new(NoRules)), ..world.setup() }
}

/// The results by the tool.
fn results(world: &World) -> BTreeMap<String, Value> {
    let lines = world.lines();
    let messages = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()["message"].clone());
    let results = messages.filter(|message| message["role"] == "toolResult");
    results.map(|result| (result["toolName"].as_str().unwrap().to_owned(), result)).collect()
}

#[test]
fn a_rule_refuses_any_tool_before_it_runs() {
    run(async {
        let (world, echo) = (world(), Arc::new(Echo::default()));
        let deny = calls().iter().map(|(name, _)| Rule::parse(name).unwrap()).collect();
        let permissions = Permissions { mode: ApprovalMode::Auto, deny, ..Permissions::default() };
        let (agent, _events) = world.start_with(world.session(), setup(&world, &echo, permissions));
        assert_eq!(prompting(&agent, "work").await.unwrap(), Ok(Settled::Done));
        let results = results(&world);
        assert_eq!(results.len(), names().len());
        for (name, result) in &results {
            assert_eq!(result["isError"], true, "{name}");
            assert_eq!(result["details"]["phases"], Value::Null, "{name}");
        }
        assert_eq!(echo.0.load(Ordering::Relaxed), 0);
        assert!(!world.path("made.txt").exists());
    });
}

#[test]
fn no_result_has_a_key() {
    run(async {
        let (world, echo) = (world(), Arc::new(Echo::default()));
        let permissions = Permissions { mode: ApprovalMode::Auto, ..Permissions::default() };
        let (agent, mut events) = world.start_with(world.session(), setup(&world, &echo, permissions));
        let talking = prompting(&agent, "work");
        let asked = events.until(|event| matches!(event, Event::QuestionRequest { .. })).await;
        let Event::QuestionRequest { id, .. } = asked.as_ref() else { panic!("{asked:?}") };
        let answer = FieldAnswer::text(format!("take {KEY}"));
        let answer = FormAnswer::Send(BTreeMap::from([("a".to_owned(), answer)]));
        agent.ask(AnswerForm { id: *id, answer }).await.unwrap();
        assert_eq!(talking.await.unwrap(), Ok(Settled::Done));
        let results = results(&world);
        assert_eq!(results.len(), names().len());
        for (name, result) in &results {
            assert_ne!(result["isError"], true, "{name}: {result}");
            assert!(!result.to_string().contains(KEY), "{name}: {result}");
        }
        for name in ["read", "bash", "bash_output", "grep", "find", "ls", "ask", "todo", "task", "mcp__there_echo"] {
            assert!(results[name].to_string().contains(offshoot_protocol::MASK), "{name}: {}", results[name]);
        }
    });
}
