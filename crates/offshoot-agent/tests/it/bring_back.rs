//! Merges by summary: what the summariser is asked, and what the next request contains. Requests of siblings, byte for
//! byte.

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::provider::Api;
use offshoot_agent::testing::script::Reply;
use offshoot_protocol::AgentError;

use crate::operations::{Asked, go, operate};
use crate::world::{World, run};

async fn leaf(agent: &AgentSession) -> String {
    agent.read(|session| session.leaf_id().unwrap().as_str().to_owned()).await.unwrap()
}

/// Two branches below the first answer; the current one has said the second words. Answers the tip of the other.
async fn parted(agent: &AgentSession, [there, here]: [&str; 2]) -> String {
    agent.prompt("the common beginning").await.unwrap();
    let base = leaf(agent).await;
    agent.prompt(there).await.unwrap();
    let tip = leaf(agent).await;
    go(agent, base).await;
    agent.prompt(here).await.unwrap();
    tip
}

/// What the last request says of the branch that is merged, and of the current one.
fn matter(world: &World) -> [String; 2] {
    let body = world.server.seen().pop().unwrap().json();
    let prompt = body["messages"][0]["content"][0]["text"].as_str().unwrap().to_owned();
    ["conversation", "current-branch"].map(|tag| {
        let inside = prompt.split(&format!("<{tag}>\n")).nth(1);
        inside.and_then(|inside| inside.split(&format!("\n</{tag}>")).next()).unwrap_or_default().to_owned()
    })
}

#[test]
fn a_merge_is_summarised_as_the_difference_of_two_branches() {
    run(async {
        let replies = ["One.", "There it failed: E0499.", "Here it is a cache.", "## Found\n- E0499", "And on."];
        let world = World::new(replies.map(Reply::text));
        let (agent, _events) = world.start();
        let tip = parted(&agent, ["try a lock", "use a cache"]).await;
        let merged = operate(&agent, Asked::Merge { tip, instructions: Some("mind the tests".to_owned()) }).await;
        assert_eq!(merged, Ok(None));
        let [there, here] = matter(&world);
        assert_eq!(there, "[User]: try a lock\n\n[Assistant]: There it failed: E0499.");
        assert_eq!(here, "[User]: use a cache\n\n[Assistant]: Here it is a cache.");
        let asked = world.server.seen().pop().unwrap().body;
        assert!(["## Tried", "## Found", "## Holds here", "mind the tests"].iter().all(|part| asked.contains(part)));
        agent.prompt("go on").await.unwrap();
        let next = world.server.seen().pop().unwrap().json()["messages"].to_string();
        assert!(
            next.contains("- E0499") && next.contains("Here it is a cache.") && !next.contains("try a lock"),
            "{next}"
        );
        world.no_problems();
    });
}

/// Story: an undo that arrived while the merge was planned ran after it, and took it back.
#[test]
fn an_undo_right_after_a_merge_is_refused_while_the_summary_is_written() {
    run(async {
        let world = World::new(["One.", "Tried.", "Held.", "## Found\n- nothing", "On."].map(Reply::text));
        let (agent, _events) = world.start();
        let tip = parted(&agent, ["try", "say"]).await;
        let merge = operate(&agent, Asked::Merge { tip, instructions: None });
        let (merged, undone) = tokio::join!(merge, operate(&agent, Asked::Undo));
        assert_eq!(merged, Ok(None));
        assert_eq!(undone, Err(AgentError::Busy("a summary is being written: stop it, or wait for its end")));
        agent.prompt("go on").await.unwrap();
        let next = world.server.seen().pop().unwrap().json()["messages"].to_string();
        assert!(next.contains("## Found"), "{next}");
    });
}

#[test]
fn only_the_newest_of_a_long_current_branch_goes_to_the_summariser() {
    run(async {
        let long = "many words ".repeat(5_000);
        let replies = ["One.", "Tried.", &long, "Short.", "## Found\n- nothing"];
        let world = World::new(replies.map(Reply::text));
        let (agent, _events) = world.start();
        let tip = parted(&agent, ["try", "say much"]).await;
        agent.prompt("and now in short").await.unwrap();
        operate(&agent, Asked::Merge { tip, instructions: None }).await.unwrap();
        assert_eq!(matter(&world)[1], "[User]: and now in short\n\n[Assistant]: Short.");
    });
}

#[test]
fn a_merge_into_a_branch_that_has_said_nothing_has_one_matter() {
    run(async {
        let world = World::new(["One.", "Tried.", "## Found\n- nothing"].map(Reply::text));
        let (agent, _events) = world.start();
        agent.prompt("the common beginning").await.unwrap();
        let base = leaf(&agent).await;
        agent.prompt("try").await.unwrap();
        let tip = leaf(&agent).await;
        go(&agent, base).await;
        operate(&agent, Asked::Merge { tip, instructions: None }).await.unwrap();
        assert_eq!(matter(&world), ["[User]: try\n\n[Assistant]: Tried.".to_owned(), String::new()]);
    });
}

#[test]
fn requests_of_siblings_are_the_same_bytes_up_to_the_fork_on_every_wire() {
    for api in Api::ALL {
        run(async {
            let call = Reply::call("ls", "c1", serde_json::json!({}));
            let answers = ["Listed.", "Of the first.", "Of the second."].map(Reply::text);
            let world = World::speaking(api, std::iter::once(call).chain(answers));
            let (agent, _events) = world.start();
            agent.prompt("list the files").await.unwrap();
            let fork = leaf(&agent).await;
            agent.prompt("alpha").await.unwrap();
            go(&agent, fork).await;
            agent.prompt("beta").await.unwrap();
            let seen = world.server.seen();
            let [.., first, second] = seen.as_slice() else { panic!("{seen:?}") };
            let same = first.body.bytes().zip(second.body.bytes()).take_while(|(one, other)| one == other).count();
            assert!(first.body[same..].starts_with("alpha"), "{api:?}: {}", &first.body[same..]);
            assert!(second.body[same..].starts_with("beta"), "{api:?}");
            assert!(first.body[..same].contains("Listed."), "{api:?}: the history comes before");
            world.no_problems();
        });
    }
}
