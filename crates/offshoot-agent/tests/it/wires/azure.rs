//! Azure: Responses and Chat Completions at an address of the person's own, with a key in a place of its own.

use std::sync::Arc;

use offshoot_agent::model::{KeyedModel, Keys, Models};
use offshoot_agent::provider::Request;
use offshoot_agent::testing::script::Reply;
use offshoot_agent::testing::server::{KEY, Server};
use offshoot_protocol::KeyError;
use offshoot_session::clock::FixedClock;

use super::{NOW, ask, request, user};

/// The model as it is asked with these variables.
fn access(id: &str, variables: Vec<(&'static str, String)>) -> Result<KeyedModel, KeyError> {
    let env = move |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
    let keys = Keys::new(Arc::new(env), Arc::new(FixedClock(NOW)));
    let models = Models::builtin();
    let model = models.get("azure-openai-responses", id).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(keys.access(&models, model))
}

#[test]
fn both_wire_formats_reach_the_deployments_of_the_person() {
    let server = Server::start([Reply::text("fine"), Reply::text("fine")]).unwrap();
    let variables = || {
        vec![
            ("AZURE_OPENAI_API_KEY", KEY.to_owned()),
            ("AZURE_OPENAI_BASE_URL", format!("{}/openai/v1/", server.url())),
            ("AZURE_OPENAI_DEPLOYMENT_NAME_MAP", "gpt-5.5=prod,deepseek-v4-pro=deep".to_owned()),
        ]
    };
    for id in ["gpt-5.5", "deepseek-v4-pro"] {
        let KeyedModel { model, key } = access(id, variables()).unwrap();
        let (_, answer) =
            ask(Request { model, key, ..request(super::model(super::Api::Responses, ""), vec![user("x")]) });
        assert_eq!(answer.message.error_message, None);
        assert_eq!((answer.message.provider.as_str(), answer.message.model.as_str()), ("azure", id));
    }
    assert_eq!(server.problems(), [""; 0]);
    let [responses, chat] = &server.seen()[..] else { panic!("two requests") };
    assert_eq!(responses.path, "/openai/v1/responses?api-version=v1");
    assert_eq!((responses.header("api-key"), responses.header("authorization")), (Some(KEY), None));
    let ids = ["session-id", "x-client-request-id"].map(|name| responses.header(name));
    assert_eq!(ids, [None; 2], "Azure has no use for the session's id");
    assert_eq!((&responses.json()["model"], &responses.json()["tools"][0]["strict"]), (&"prod".into(), &false.into()));
    assert_eq!(chat.path, "/openai/v1/chat/completions");
    assert_eq!((chat.header("authorization"), chat.header("api-key")), (Some(format!("Bearer {KEY}").as_str()), None));
    assert_eq!(chat.json()["model"], "deep");
}

#[test]
fn an_address_or_a_key_that_is_missing_is_named() {
    let why = |variables| access("gpt-5.5", variables).unwrap_err().to_string();
    let address =
        "the address of azure needs the variable AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME, which is not set";
    assert_eq!(why(vec![("AZURE_OPENAI_API_KEY", KEY.to_owned())]), address);
    let key = "there is no key for azure; run `offshoot auth login azure`, or set AZURE_OPENAI_API_KEY";
    assert_eq!(why(vec![("AZURE_OPENAI_RESOURCE_NAME", "r".to_owned())]), key);
}
