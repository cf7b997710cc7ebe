//! Prompts that are larger than the model's window, and compactions that cannot help.

use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::testing::script::{Gate, Reply};
use offshoot_protocol::message::{Block, Content};
use offshoot_protocol::model::Model;
use offshoot_protocol::request::{Delivery, InjectUser};
use offshoot_protocol::{AgentError, Event, Settled};

use crate::world::{Events, World, prompting, run};

const OVERFLOW: &str = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 25000 tokens > 20000 maximum"}}"#;

/// An agent with a window of 20,000 tokens.
fn start(world: &World) -> (AgentSession, Events) {
    let mut setup = world.setup();
    setup.model = Arc::new(Model { context_window: 20_000, max_tokens: 4_000, ..(*world.model).clone() });
    setup.compaction.reserve_tokens = 4_000;
    setup.compaction.keep_recent_tokens = 2_000;
    world.start_with(world.session(), setup)
}

/// A text that is estimated at so many tokens.
fn text(tokens: usize) -> String {
    "abc ".repeat(tokens)
}

fn assert_oversized(refused: &Result<impl std::fmt::Debug, AgentError>) {
    let Err(error @ AgentError::Oversized(_)) = refused else { panic!("{refused:?}") };
    let said = error.to_string();
    for word in ["about 40,0", "20,000", "anthropic/claude-test", "shorten it", "nothing was sent or recorded"] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

/// The prompt was replaced by its first 1,200 tokens, and the model answered those.
#[test]
fn a_prompt_that_cannot_fit_is_refused_before_it_is_recorded() {
    run(async {
        let world = World::new([Reply::text("one"), Reply::text("two")]);
        let (agent, mut events) = start(&world);
        assert_oversized(&agent.prompt(text(40_000).as_str()).await);
        assert!(!world.path("sessions").exists() || world.entries().is_empty(), "{}", world.entries());
        assert_eq!(agent.prompt("first").await, Ok(Settled::Done));
        let before = world.lines();
        events.names();
        assert_oversized(&agent.prompt(text(40_000).as_str()).await);
        assert_eq!((world.lines(), events.names()), (before, Vec::<String>::new()));
        assert_eq!(world.server.seen().len(), 1);
        assert_eq!(agent.prompt("second").await, Ok(Settled::Done), "the session goes on");
        world.no_problems();
    });
}

#[test]
fn nothing_that_waits_for_a_turn_may_be_larger_than_the_window() {
    run(async {
        let gate = Gate::new();
        let world = World::new([Reply { gate: Some((0, gate.clone())), ..Reply::text("ok") }]);
        let (agent, mut events) = start(&world);
        let talking = prompting(&agent, "go");
        events.until(|event| matches!(event, Event::TurnStart)).await;
        assert_oversized(&agent.steer(text(40_000).as_str()).await);
        assert_oversized(&agent.follow_up(text(40_000).as_str()).await);
        for delivery in [Delivery::Steer, Delivery::FollowUp, Delivery::NextPrompt] {
            let content = Content::Text(text(40_000));
            assert_oversized(&agent.ask(InjectUser { content, delivery }).await);
        }
        gate.open();
        assert_eq!(talking.await.unwrap(), Ok(Settled::Done));
        assert_eq!(world.server.seen().len(), 1);
        let content = Content::Blocks(vec![Block::text(text(40_000))]);
        assert_oversized(&agent.ask(InjectUser { content, delivery: Delivery::Steer }).await);
        world.no_problems();
    });
}

/// Tokens are an estimate: what is a little above the window may fit. It is sent whole, and the provider decides.
#[test]
fn a_prompt_slightly_above_the_window_is_sent_whole_and_a_refusal_is_reported() {
    run(async {
        let prompt = text(22_000);
        let world = World::new([Reply::error(400, OVERFLOW), Reply::text("## Goal\nNo."), Reply::text("no")]);
        let (agent, _events) = start(&world);
        let Ok(Settled::Failed(error @ AgentError::Oversized(_))) = agent.prompt(prompt.as_str()).await else {
            panic!("not reported")
        };
        let said = error.to_string();
        for word in ["about 22,0", "20,000", "shorten it", "refused"] {
            assert!(said.contains(word), "{word}: {said}");
        }
        let asked: Vec<_> = world.server.seen().iter().map(|seen| seen.body.clone()).collect();
        assert!(asked.iter().all(|body| body.contains(prompt.trim_end())), "never shortened");
        assert_eq!(asked.len(), 1, "and not summarised");
        world.no_problems();
    });
}

#[test]
fn room_is_made_for_a_large_prompt_without_shortening_it() {
    run(async {
        let prompt = text(15_000);
        let world = World::new([
            Reply::text(&text(3_000)),
            Reply::error(400, OVERFLOW),
            Reply::text("## Goal\nWords before."),
            Reply::text("It fits."),
        ]);
        let (agent, _events) = start(&world);
        agent.prompt(text(500).as_str()).await.unwrap();
        assert_eq!(agent.prompt(prompt.as_str()).await, Ok(Settled::Done));
        let last = world.server.seen().pop().unwrap().body.clone();
        assert!(last.contains(prompt.trim_end()), "the prompt is whole");
        world.no_problems();
    });
}

/// The next prompt is not kept out by one that was refused.
#[test]
fn a_session_with_a_refused_prompt_goes_on() {
    run(async {
        let world = World::new([
            Reply::error(400, OVERFLOW),
            Reply::text("## Goal\nA large text was refused."),
            Reply::text("Fine."),
        ]);
        let (agent, _events) = start(&world);
        let refused = agent.prompt(text(22_000).as_str()).await;
        assert!(matches!(refused, Ok(Settled::Failed(AgentError::Oversized(_)))), "{refused:?}");
        assert_eq!(agent.prompt("and now?").await, Ok(Settled::Done));
        let last = world.server.seen().pop().unwrap().body.clone();
        assert!(last.contains("and now?") && last.len() < 20_000, "{} bytes", last.len());
        world.no_problems();
    });
}
