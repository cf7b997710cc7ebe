//! Keys: in one header, and in no error, delta or printed form.

use offshoot_agent::provider::Api;
use offshoot_agent::testing::script::Reply;
use offshoot_agent::testing::server::{KEY, Server};
use offshoot_protocol::{MASK, Secret};

use super::{ask, model, request, user};

#[test]
fn a_key_is_in_its_header_and_nowhere_else() {
    for api in Api::ALL {
        let echo = format!("{{\"error\": \"Incorrect API key provided: {KEY}, header: Bearer {KEY}\"}}");
        let streamed =
            format!("event: error\ndata: {{\"type\": \"error\", \"error\": {{}}, \"message\": \"{KEY}\"}}\n\n");
        let server = Server::start([Reply::error(401, &echo), Reply::raw(&streamed), Reply::text("fine")]).unwrap();
        let mut model = model(api, &server.base_url(api));
        model.headers.push(("x-team-token".to_owned(), Secret::new("team-0987654321")));
        let asked = request(model, vec![user("x")]);
        let mut printed = format!("{asked:?}");
        for _ in 0..3 {
            let out = ask(asked.clone());
            printed.push_str(&format!("{out:?}"));
            printed.push_str(&serde_json::to_string(&out.1.message).unwrap());
        }
        assert!(!printed.contains(KEY) && !printed.contains("team-0987654321"), "{api:?}: {printed}");
        assert!(printed.contains(&format!("Incorrect API key provided: {MASK}")), "{api:?}");
        assert_eq!(server.problems(), [""; 0]);
        let name = match api {
            Api::Anthropic => "x-api-key",
            Api::Responses | Api::Completions | Api::Mistral | Api::Bedrock => "authorization",
            Api::Google => "x-goog-api-key",
        };
        for seen in server.seen() {
            assert!(seen.header(name).unwrap().ends_with(KEY), "{api:?}");
            assert_eq!(seen.header("x-team-token"), Some("team-0987654321"));
        }
    }
}

#[test]
fn a_server_that_wants_no_key_gets_none() {
    for api in Api::ALL {
        let server = Server::start([Reply::text("fine")]).unwrap();
        let mut asked = request(model(api, &server.base_url(api)), vec![user("x")]);
        asked.key = None;
        ask(asked);
        let seen = server.seen();
        let keyed = ["authorization", "x-api-key", "x-goog-api-key"].map(|name| seen[0].header(name).is_some());
        assert_eq!(keyed, [false; 3], "{api:?}");
    }
}

#[test]
fn a_key_that_no_header_may_hold_is_refused_without_being_shown() {
    let mut asked = request(model(Api::Anthropic, "http://127.0.0.1:1"), vec![user("x")]);
    asked.key = Some(Secret::new("bad\nkey-123456"));
    let (_, answer) = ask(asked);
    let text = answer.message.error_message.unwrap();
    assert!(text.contains("`x-api-key` cannot be sent") && !text.contains("key-123456"), "{text}");
}
