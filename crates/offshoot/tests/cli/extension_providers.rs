//! Providers of models that extensions register: signing in to them, and their models at the next start.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use offshoot_agent::testing::script::Reply;
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::extensions::{command, extension, has_node, run};
use crate::rpc_client::RpcClient;

/// Its own server hands out tokens, as a company's would.
const CORP: &str = r#"
import { createServer } from "node:http";
export default async function (pi) {
  let given = 0;
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url, "http://x");
    response.end(JSON.stringify({ access: `access-${++given}-of-${searchParams.get("code")}`, refresh: `refresh-${given}` }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const url = `http://127.0.0.1:${server.address().port}`;
  const tokens = async (code, expires) => ({ ...(await (await fetch(`${url}/token?code=${code}`)).json()), expires });
  pi.registerProvider("corp", {
    name: "Corp", baseUrl: "BASE", api: "anthropic-messages",
    models: [{ id: "c1", name: "c1", reasoning: false, input: ["text"], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 9000, maxTokens: 100 }],
    refreshModels: async ({ credential }) => ["c1", "c2"].map((id) => ({ id, name: `${id} of ${credential.refresh.slice(0, 7)}`, reasoning: false, input: ["text"], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 9000, maxTokens: 100 })),
    oauth: {
      name: "Corp Cloud",
      async login({ onAuth, onPrompt, onProgress }) {
        onAuth({ url: `${url}/authorize`, instructions: "copy the code" });
        const code = await onPrompt({ message: "Paste the code:" });
        onProgress?.("asking for tokens");
        return tokens(code, Date.now() - 1);
      },
      refreshToken: ({ refresh }) => tokens(refresh, Date.now() + 3_600_000),
      getApiKey: ({ access }) => `key-of-${access}`,
    },
  });
  pi.registerCommand("tell", { handler: async (_, { ui, modelRegistry }) => ui.notify(`it is ${(await modelRegistry.getApiKeyForProvider("corp"))?.slice(-9)}`) });
  pi.registerCommand("less", { handler: async (_, { ui }) => (pi.unregisterProvider("corp"), ui.notify("it is gone")) });
}
"#;

fn corp(talk: &Talk) -> PathBuf {
    let base = talk.server.base_url(offshoot_agent::provider::Api::Anthropic);
    extension(talk, "corp.js", &CORP.replace("BASE", &base));
    talk.world.home().join(".local/share/offshoot/auth.json")
}

fn models(client: &mut RpcClient) -> Vec<String> {
    let models = client.ask(json!({"type": "get_available_models"}))["models"].clone();
    let corps = models.as_array().unwrap().iter().filter(|model| model["provider"] == "corp");
    corps.map(|model| format!("{} ({})", model["id"].as_str().unwrap(), model["name"].as_str().unwrap())).collect()
}

/// Answers the question for the code; what was shown until then.
fn answer(client: &mut RpcClient, value: &Value) -> Vec<String> {
    let question = client.until(|record| record["method"] == "input");
    assert_eq!(question["title"], "Paste the code:");
    let mut response = value.clone();
    response["type"] = json!("extension_ui_response");
    response["id"] = question["id"].clone();
    client.send(&response);
    client.passed.iter().filter_map(|record| record["message"].as_str().map(str::to_owned)).collect()
}

#[test]
fn a_person_signs_in_to_a_provider_of_an_extension_and_out_again() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([Reply::text("From the cloud.")]);
    let auth = corp(&talk);
    let mut client = RpcClient::of(command(&talk, &["--mode", "rpc"]), &[]);
    client.ask(json!({"type": "get_commands"}));
    assert_eq!(models(&mut client), [""; 0], "nobody is signed in");
    client.send(&json!({"id": "l1", "type": "prompt", "message": "/login corp"}));
    answer(&mut client, &json!({"cancelled": true}));
    let failed = client.event("extension_error");
    assert_eq!(failed["error"], "the sign-in was cancelled");
    assert!(!auth.exists());
    client.send(&json!({"id": "l2", "type": "prompt", "message": "/login"}));
    let shown = answer(&mut client, &json!({"value": "me"}));
    assert!(
        shown.iter().any(|text| text.starts_with("sign in at http://127.0.0.1:") && text.ends_with("\ncopy the code")),
        "{shown:?}"
    );
    client.until(|record| record["message"] == "signed in to Corp Cloud");
    let kept = || serde_json::from_str::<Value>(&std::fs::read_to_string(&auth).unwrap()).unwrap();
    assert_eq!(std::fs::metadata(&auth).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(models(&mut client), ["c1 (c1 of refresh)", "c2 (c2 of refresh)"], "the list was read with the sign-in");
    client.ask(json!({"type": "set_model", "provider": "corp", "modelId": "c2"}));
    client.ask(json!({"type": "prompt", "message": "hi"}));
    client.event("agent_settled");
    // What the sign-in gave had expired: it was refreshed once, and kept.
    assert_eq!(kept()["corp"]["access"], "access-2-of-refresh-1");
    let seen = talk.server.seen();
    assert!(format!("{:?}", seen.last().unwrap()).contains("key-of-access-2-of-refresh-1"), "{seen:?}");
    client.send(&json!({"id": "l3", "type": "prompt", "message": "/logout corp"}));
    client.until(|record| record["message"] == "signed out of Corp Cloud");
    assert_eq!(kept(), json!({}));
    assert_eq!(models(&mut client), [""; 0]);
    let refused = client.ask(json!({"type": "prompt", "message": "again"}));
    assert_eq!(refused, "you are not signed in to corp; /login corp signs in");
    client.end();
}

/// The tokens are known to nobody but the extension and `auth.json`. A model that its extension has taken away is asked no more.
#[test]
fn tokens_are_masked_and_nothing_is_sent_to_a_provider_that_was_taken_away() {
    if !has_node() {
        return;
    }
    let token = "access-2-of-refresh-1";
    let says = Reply::call("bash", "c1", json!({"command": "cat given"}));
    let talk = Talk::new([says, Reply::text(&format!("I saw {token}."))]);
    let auth = corp(&talk);
    talk.world.write("given", token);
    let mut client = RpcClient::of(command(&talk, &["--mode", "rpc"]), &["--approval", "auto"]);
    client.ask(json!({"type": "get_commands"}));
    client.send(&json!({"id": "l", "type": "prompt", "message": "/login"}));
    answer(&mut client, &json!({"value": "me"}));
    client.until(|record| record["message"] == "signed in to Corp Cloud");
    client.send(&json!({"id": "t", "type": "prompt", "message": "/tell"}));
    client.until(|record| record["message"] == "it is refresh-1");
    client.ask(json!({"type": "set_model", "provider": "corp", "modelId": "c1"}));
    client.ask(json!({"type": "prompt", "message": "hi"}));
    client.event("agent_settled");
    client.send(&json!({"id": "g", "type": "prompt", "message": "/less"}));
    client.until(|record| record["message"] == "it is gone");
    let refused = client.ask(json!({"type": "prompt", "message": "again"}));
    assert_eq!(refused, "there is no provider corp any more; /model chooses another model");
    client.ask(json!({"type": "bash", "command": "cat given"}));
    let shown = format!("{:?}", client.passed);
    client.end();
    assert_eq!(talk.server.seen().len(), 2);
    let stored = format!("{:?}", talk.lines());
    assert!(std::fs::read_to_string(&auth).unwrap().contains(token), "the sign-in stays");
    for (what, text) in [("shown", &shown), ("stored", &stored)] {
        assert!(!text.contains(token), "{what}: {text}");
        assert!(text.contains("[key hidden by offshoot]"), "{what}: {text}");
    }
}

const OWN: &str = r#"
export default function (pi) {
  pi.registerProvider("own", {
    baseUrl: "BASE", api: "anthropic-messages", apiKey: "k-own",
    models: [{ id: "o1", name: "o1", reasoning: false, input: ["text"], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 9000, maxTokens: 100 }],
  });
}
"#;

/// The session names a model that nobody knows before the extension is loaded.
#[test]
fn a_sessions_model_of_an_extension_is_used_at_the_next_start() {
    if !has_node() {
        return;
    }
    let talk = Talk::new(["One.", "Two."].map(Reply::text));
    let base = talk.server.base_url(offshoot_agent::provider::Api::Anthropic);
    extension(&talk, "own.js", &OWN.replace("BASE", &base));
    let first = run(&talk, &["--model", "own/o1", "-p", "first"]);
    assert!(first.contains("One."), "{first}");
    let second = run(&talk, &["-c", "-p", "second"]);
    assert!(second.contains("Two."), "{second}");
    let models: Vec<Value> = talk.server.seen().iter().map(|seen| seen.json()["model"].clone()).collect();
    assert_eq!(models, [json!("o1"), json!("o1")]);
    talk.no_problems();
}

/// As a library makes them: a whole provider instead of its description.
const WHOLE: &str = r#"
import { createAssistantMessageEventStream } from "@earendil-works/pi-ai";
export default function (pi) {
  const limits = { reasoning: false, input: ["text"], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 9000, maxTokens: 100 };
  pi.registerProvider({
    id: "whole", name: "Whole", baseUrl: "http://127.0.0.1:1",
    auth: { apiKey: { name: "Whole key", resolve: async ({ ctx }) => ({ auth: { apiKey: await ctx.env("WHOLE_KEY") } }) } },
    getModels: () => [{ id: "w1", name: "w1", provider: "whole", api: "whole-api", ...limits }],
    streamSimple(model, context, { apiKey }) {
      const stream = createAssistantMessageEventStream();
      const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
      const message = { role: "assistant", content: [{ type: "text", text: `${model.id} with ${apiKey.length} letters` }], api: model.api, provider: model.provider, model: model.id, usage, stopReason: "stop", timestamp: 1 };
      stream.push({ type: "done", reason: "stop", message });
      stream.end(message);
      return stream;
    },
  });
}
"#;

#[test]
fn a_whole_provider_answers_with_the_key_that_it_finds_itself() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([]);
    extension(&talk, "whole.js", WHOLE);
    let mut command = command(&talk, &["--model", "whole/w1", "-p", "hi"]);
    let said = talk.world.shown(&command.env("WHOLE_KEY", "seven77").output().unwrap());
    assert!(said.contains("w1 with 7 letters"), "{said}");
}

/// One that streams itself hands on what it reads, as pi's own do. `order` has events and steps of the answer as they come.
const STREAMS: &str = r#"
import * as fs from "node:fs";
const seen = (...values) => fs.appendFileSync("seen", JSON.stringify(values) + "\n");
const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
export default (pi) => {
  pi.on("provider_stream_event", async ({ type, provider, api, model, data }) => {
    await new Promise((done) => setTimeout(done, 1));
    seen(type, provider, api, model, data.type ?? data);
  });
  pi.on("message_update", ({ assistantMessageEvent: { type, delta } }) => type === "text_delta" && seen("delta", delta));
  pi.registerProvider("own", {
    baseUrl: "http://localhost", apiKey: "k", api: "own-api",
    models: [{ id: "o1", name: "o1", reasoning: false, input: ["text"], cost, contextWindow: 9000, maxTokens: 100 }],
    streamSimple(model, context, options) {
      const message = { role: "assistant", content: [{ type: "text", text: "mine" }], api: model.api, provider: model.provider, model: model.id, timestamp: 1, stopReason: "stop", usage: { ...cost, totalTokens: 0, cost: { ...cost, total: 0 } } };
      return (async function* () {
        await options.onProviderStreamEvent?.({ type: "raw", words: 1 }, model);
        yield { type: "start", partial: message };
        yield { type: "done", reason: "stop", message };
      })();
    },
  });
};
"#;

#[test]
fn an_extension_sees_the_events_of_an_answer_as_the_provider_sent_them() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([Reply::text("Hello.")]);
    extension(&talk, "streams.js", STREAMS);
    let printed = run(&talk, &["-p", "one"]);
    let file = talk.world.work().join("seen");
    let seen = |printed: &str| {
        let lines = std::fs::read_to_string(&file).unwrap_or_else(|_| panic!("{printed}"));
        lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>()
    };
    let first = seen(&printed);
    let event = |name: &str| json!(["provider_stream_event", "test", "anthropic-messages", "m1", name]);
    assert_eq!(first[0], event("message_start"), "{first:?}");
    assert!(first.contains(&event("content_block_delta")) && first.contains(&event("message_stop")), "{first:?}");
    let at = |what: &Value| first.iter().position(|seen| seen == what).unwrap();
    assert!(
        at(&event("content_block_start")) < at(&json!(["delta", "Hello."])),
        "before the answer that is made of it"
    );
    std::fs::remove_file(&file).unwrap();
    let printed = run(&talk, &["--model", "own/o1", "-p", "two"]);
    assert_eq!(seen(&printed), [json!(["provider_stream_event", "own", "own-api", "o1", "raw"])], "{printed}");
}
