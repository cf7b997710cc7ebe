//! A provider refuses a message of the history on every prompt: the words name the entry and the command that goes round
//! it, and after that command the next prompt is answered.

use offshoot_agent::provider::Api;
use offshoot_agent::testing::script::Reply;
use offshoot_protocol::{Event, NoticeCode, Settled};
use serde_json::{Value, json};

use crate::operations::go;
use crate::world::{World, run};

/// The id and the parent of the entry with these words.
fn entry_with(world: &World, words: &str) -> (String, String) {
    let line = world.lines().into_iter().find(|line| line.contains(words)).unwrap();
    let entry: Value = serde_json::from_str(&line).unwrap();
    let text = |name: &str| entry[name].as_str().unwrap().to_owned();
    (text("id"), text("parentId"))
}

/// The entry to which the words of a refusal send.
fn target(words: &str) -> &str {
    let (_, after) = words.split_once("offshoot switch ").unwrap();
    let (command, _) = after.split_once('`').unwrap();
    command.rsplit_once(' ').unwrap().1
}

/// What each provider says of the third answer's message.
fn said(api: Api) -> &'static str {
    match api {
        Api::Anthropic | Api::Bedrock => "messages.4.content.0.text: cannot be used",
        Api::Completions | Api::Mistral => "Invalid value: 'messages[5].content'",
        Api::Responses => "Invalid value: 'input[5].content'",
        Api::Google => "* GenerateContentRequest.contents[4].parts[0].text: cannot be used",
    }
}

#[test]
fn a_refused_message_is_named_with_the_command_that_goes_round_it() {
    for api in Api::ALL {
        run(async {
            let body = json!({"error": {"type": "invalid_request_error", "message": said(api)}}).to_string();
            let world = World::speaking(
                api,
                [
                    Reply::call("ls", "c1", json!({})),
                    Reply::text("looked"),
                    Reply::text("then"),
                    Reply::error(400, &body),
                    Reply::text("round it"),
                ],
            );
            let (agent, mut events) = world.start();
            agent.prompt("first").await.unwrap();
            agent.prompt("poison").await.unwrap();
            let Ok(Settled::Failed(why)) = agent.prompt("third").await else { panic!("{api:?}: no failure") };
            let (id, parent) = entry_with(&world, "poison");
            let words = why.to_string();
            assert!(words.contains(said(api)), "{api:?}: {words}");
            assert!(words.contains(&format!("entry {}", &id[..4])), "{api:?}: {words}");
            assert!(words.contains("/tree"), "{api:?}: {words}");
            let to = target(&words).to_owned();
            assert!(to.len() >= 4 && parent.starts_with(&to), "{api:?}: {words}, {parent}");
            let told = events.all().into_iter().any(
                |event| matches!(&*event, Event::Notice { code: NoticeCode::Refused, message, .. } if words.contains(message)),
            );
            assert!(told, "{api:?}");
            go(&agent, parent).await;
            assert_eq!(agent.prompt("third").await, Ok(Settled::Done));
            assert!(!world.server.seen().last().unwrap().body.contains("poison"), "{api:?}");
            agent.close().await;
        });
    }
}

/// The words may be about anything: where nobody can say which message it is, the way back is named.
#[test]
fn a_refusal_that_names_no_message_names_the_way_back() {
    run(async {
        let body = json!({"error": {"type": "invalid_request_error", "message": "cannot be used"}}).to_string();
        let world = World::new([Reply::text("one"), Reply::error(400, &body), Reply::text("again")]);
        let (agent, _events) = world.start();
        agent.prompt("first").await.unwrap();
        let Ok(Settled::Failed(why)) = agent.prompt("poison").await else { panic!("no failure") };
        let (_, parent) = entry_with(&world, "poison");
        let words = why.to_string();
        assert!(words.contains("the session is kept") && words.contains("before the last prompt"), "{words}");
        assert!(parent.starts_with(target(&words)), "{words}, {parent}");
        go(&agent, parent).await;
        assert_eq!(agent.prompt("second").await, Ok(Settled::Done));
        assert!(!world.server.seen().last().unwrap().body.contains("poison"));
    });
}

/// Nothing of the conversation is wrong: nobody is sent back in it.
#[test]
fn other_failures_send_nobody_back() {
    for (status, words) in [(401, "invalid x-api-key"), (400, "Your credit balance is too low: see Plans & Billing")] {
        run(async {
            let world = World::new([Reply::error(status, words)]);
            let (agent, _events) = world.start();
            let Ok(Settled::Failed(why)) = agent.prompt("first").await else { panic!("no failure") };
            assert!(!why.to_string().contains("switch"), "{why}");
        });
    }
}
