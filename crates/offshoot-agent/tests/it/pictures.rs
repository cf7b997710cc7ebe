//! Stored pictures in requests: what is sent of them, and what is kept in the session about it.

use std::sync::Arc;

use offshoot_agent::provider::Api;
use offshoot_agent::testing::script::Reply;
use offshoot_protocol::message::Block;
use offshoot_protocol::model::Model;
use offshoot_protocol::request::UserPrompt;
use offshoot_protocol::{Event, NoticeCode, Settled};
use serde_json::{Value, json};

use crate::world::{World, run};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

fn seeing(text: &str, pictures: usize) -> UserPrompt {
    let picture = Block::Image { data: PNG.to_owned(), mime_type: "image/png".to_owned() };
    UserPrompt { text: text.to_owned(), images: vec![picture; pictures], ..UserPrompt::default() }
}

fn choices(world: &World) -> Vec<Value> {
    let lines = world.lines();
    let entries = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries.filter(|entry| entry["customType"] == "offshoot.pictures").map(|entry| entry["data"].clone()).collect()
}

fn sent(world: &World) -> usize {
    world.server.seen().pop().unwrap().body.matches(PNG).count()
}

/// The hundred and first picture was a 400 on every prompt, for ever.
#[test]
fn what_is_left_out_of_a_request_is_kept_for_its_wire_and_its_branch() {
    run(async {
        let world = World::new((0..6).map(|at| Reply::text(&format!("seen {at}"))));
        let (agent, mut events) = world.start();
        agent.prompt(seeing("hundred", 100)).await.unwrap();
        assert_eq!((sent(&world), choices(&world)), (100, Vec::new()));
        let hundred = leaf_before(&world, "hundred");
        agent.prompt(seeing("one more", 1)).await.unwrap();
        let told = events.until(|event| matches!(event, Event::Notice { code: NoticeCode::Pictures, .. })).await;
        assert!(told.to_json().contains("51 older pictures are not sent any more"), "{}", told.to_json());
        let choice = json!({"wire": "anthropic-messages", "from": hundred, "skip": 51});
        assert_eq!((sent(&world), choices(&world)), (50, vec![choice.clone()]));
        let before = world.server.seen().pop().unwrap().json()["messages"].clone();
        agent.prompt(seeing("and another", 1)).await.unwrap();
        let after = world.server.seen().pop().unwrap().json()["messages"].clone();
        let same = |message: &Value| message.to_string().replace(r#""cache_control":{"type":"ephemeral"},"#, "");
        assert_eq!(same(&before[0]), same(&after[0]), "the cached beginning stays");
        assert_eq!((sent(&world), choices(&world).len()), (51, 1));
        // Another wire format takes more of them.
        let other = World::speaking(Api::Responses, [Reply::text("all")]);
        agent.set_model(other.model.clone()).await.unwrap();
        assert_eq!(agent.prompt("and you?").await, Ok(Settled::Done));
        assert_eq!(sent(&other), 102);
        world.no_problems();
    });
}

/// The id of the entry with this prompt.
fn leaf_before(world: &World, prompt: &str) -> String {
    let lines = world.lines();
    let entry = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut entry = entry.filter(|entry| entry["message"]["content"][0]["text"] == prompt);
    entry.next().unwrap()["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_picture_that_was_read_for_a_model_without_eyes_reaches_one_that_sees() {
    run(async {
        let world = World::new([
            Reply::call("read", "c1", json!({"path": "p.png"})),
            Reply::text("I see nothing."),
            Reply::text("A dot."),
        ]);
        use base64::Engine as _;
        std::fs::write(world.path("p.png"), base64::engine::general_purpose::STANDARD.decode(PNG).unwrap()).unwrap();
        let mut setup = world.setup();
        setup.model = Arc::new(Model { images: false, ..(*world.model).clone() });
        let (agent, _events) = world.start_with(world.session(), setup);
        agent.prompt("look at p.png").await.unwrap();
        assert_eq!(sent(&world), 0);
        agent.set_model(world.model.clone()).await.unwrap();
        agent.prompt("and now?").await.unwrap();
        assert_eq!(sent(&world), 1);
        world.no_problems();
    });
}

#[test]
fn a_refusal_about_pictures_names_what_helps() {
    for (status, body) in [
        (413, r#"{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#),
        (
            400,
            r#"{"error":{"type":"invalid_request_error","message":"messages.0.content.1.image: Could not process image"}}"#,
        ),
    ] {
        run(async {
            let world = World::new([Reply::error(status, body)]);
            let (agent, _events) = world.start();
            let Ok(Settled::Failed(why)) = agent.prompt(seeing("look", 1)).await else { panic!("no failure") };
            let said = why.to_string();
            assert!(said.contains("images.blockImages") && said.contains("offshoot compact"), "{said}");
            assert!(!said.contains("too small"), "{said}");
        });
    }
}
