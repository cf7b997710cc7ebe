//! Forecasts along random walks, against a server that sees only requests, counts their words, and caches as providers
//! do. `cargo nextest run -p offshoot-agent forecasts --no-capture` prints the distribution of the errors.

use std::io::Write as _;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::forecast::{RequestPlace, request_forecast};
use offshoot_agent::provider::Api;
use offshoot_agent::testing::script::Reply;
use offshoot_agent::testing::seen::Seen;
use offshoot_protocol::message::Usage;
use offshoot_protocol::model::Model;
use offshoot_session::clock::{Clock as _, SystemClock};
use offshoot_session::entry::Source as _;
use offshoot_session::forecast::Forecast;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::session::{NewSession, Options, Session};
use serde_json::Value;

use crate::operations::go;
use crate::world::{World, run};

/// OpenAI caches from so many tokens on, in steps.
const LEAST: u64 = 1024;
const STEP: u64 = 128;

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }

    fn words(&mut self, most: usize) -> String {
        let words =
            (0..=self.below(most)).map(|_| ["tree", "branch", "leaf", "of", "a", "long", "path"][self.below(7)]);
        words.collect::<Vec<_>>().join(" ")
    }
}

/// Words and signs of all texts of a value.
fn count(value: &Value) -> u64 {
    match value {
        Value::String(text) => text
            .split_whitespace()
            .map(|word| 1 + word.matches(|c: char| c.is_ascii_punctuation()).count() as u64)
            .sum(),
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => {
            members.iter().filter(|(name, _)| *name != "cache_control").map(|(_, item)| count(item)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

/// The parts of a request in the order in which providers read them, each with whether a cache mark ends it.
fn parts(seen: &Seen) -> Vec<(String, u64, bool)> {
    let body = seen.json();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let of_google = list(&body["systemInstruction"]["parts"]);
    let lists = ["tools", "system", "messages", "input", "contents"].map(|name| list(&body[name]));
    let part = |value: Value| {
        let text = value.to_string();
        let is_marked = text.contains("cache_control");
        (
            text.replace(r#","cache_control":{"type":"ephemeral"}"#, "")
                .replace(r#""cache_control":{"type":"ephemeral"},"#, ""),
            count(&value),
            is_marked,
        )
    };
    of_google.into_iter().chain(lists.into_iter().flatten()).map(part).collect()
}

/// A server's cache.
fn meter(api: Api) -> Box<dyn FnMut(&Seen) -> Usage + Send> {
    let mut cached: Vec<Vec<String>> = Vec::new();
    Box::new(move |seen| {
        let parts = parts(seen);
        let total: u64 = parts.iter().map(|(_, tokens, _)| tokens).sum();
        let texts: Vec<String> = parts.iter().map(|(text, ..)| text.clone()).collect();
        let same = |known: &Vec<String>| known.iter().zip(&texts).take_while(|(one, other)| one == other).count();
        let whole = |known: &Vec<String>| same(known) == known.len();
        let found = match api {
            Api::Anthropic => cached.iter().filter(|known| whole(known)).map(Vec::len).max(),
            Api::Responses | Api::Completions | Api::Google | Api::Mistral | Api::Bedrock => {
                cached.iter().map(same).max()
            }
        };
        let read: u64 = parts.iter().take(found.unwrap_or(0)).map(|(_, tokens, _)| tokens).sum();
        if api == Api::Anthropic {
            let marks = parts.iter().enumerate().filter(|(_, (.., is_marked))| *is_marked);
            cached.extend(marks.map(|(at, _)| texts[..=at].to_vec()));
            return Usage { cache_read: read, cache_write: total - read, ..Usage::default() };
        }
        cached.push(texts);
        let read = if read < LEAST { 0 } else { read / STEP * STEP };
        Usage { input: total - read, cache_read: read, ..Usage::default() }
    })
}

async fn forecast(agent: &AgentSession, model: &Model) -> Forecast {
    let model = model.clone();
    let overhead = agent.state().await.unwrap().overhead;
    let found = agent.read(move |session| {
        let place = RequestPlace { target: session.leaf(), more_tokens: 0, overhead };
        request_forecast((session, session.dialect()), place, &model, SystemClock.now()).unwrap().tokens
    });
    found.await.unwrap()
}

/// The messages that a walk may return to. The first prompt is not one of them, because it has no report yet.
async fn places(agent: &AgentSession) -> Vec<String> {
    let places = agent.read(|session| {
        let tree = session.tree();
        let may = |ix: &_| tree.node(*ix).kind() == Kind::Message && tree.node(*ix).role() == Some(Role::Assistant);
        tree.entries().filter(may).map(|ix| tree.node(ix).id().unwrap().as_str().to_owned()).collect()
    });
    places.await.unwrap()
}

/// The errors of a walk in hundredths of a percent of the request: of the context, and of what is cached, if that is forecast.
async fn walk(api: Api, seed: u64, errors: &mut Vec<(u64, Option<u64>)>) {
    let mut dice = Dice(seed);
    let world = World::speaking(api, []);
    world.server.count_with(meter(api));
    let mut setup = world.setup();
    setup.system = (dice.words(3_000) + &" and more".repeat(1_000)).into();
    let session = Session::in_memory(&NewSession::default(), Options::default()).unwrap();
    let (agent, _events) = world.start_with(session, setup);
    for at in 0..6 {
        if at > 0 && dice.below(3) == 0 {
            let places = places(&agent).await;
            let target = places[dice.below(places.len())].clone();
            go(&agent, target).await;
        }
        let prompt = dice.words(40);
        let said = Value::String(dice.words(400));
        let usage = Usage { output: count(&said), ..Usage::default() };
        world.server.add([Reply { usage, ..Reply::text(said.as_str().unwrap()) }]);
        let before = forecast(&agent, &world.model).await;
        let asked = count(&Value::String(prompt.clone()));
        agent.prompt(prompt.as_str()).await.unwrap();
        let last = agent.read(|session| {
            let entry = session.entry(session.leaf().unwrap()).unwrap();
            let usage = entry.message().and_then(|message| message.get("usage")).unwrap();
            offshoot_session::tokens::Usage::read(usage)
        });
        let last = last.await.unwrap();
        if at > 0 {
            let error = |forecast: u64, real: u64| forecast.abs_diff(real) * 10_000 / last.prompt();
            let cached = before.cached_tokens.map(|cached| error(cached, last.cache_read));
            errors.push((error(before.context_tokens + asked, last.prompt()), cached));
        }
    }
    world.no_problems();
}

/// The errors in hundredths of a percent, in words.
fn distribution(mut errors: Vec<u64>) -> (String, u64) {
    errors.sort_unstable();
    let up_to = |part: usize| errors[(errors.len() - 1) * part / 100];
    let percent = |part: usize| format!("{}.{:02} %", up_to(part) / 100, up_to(part) % 100);
    let words = format!(
        "{} forecasts, half within {}, 95 of 100 within {}, all within {}",
        errors.len(),
        percent(50),
        percent(95),
        percent(100)
    );
    (words, up_to(100))
}

/// How many of the errors are within 5 and 15 % of the request.
fn shares(errors: &[u64]) -> String {
    let within = |most: u64| errors.iter().filter(|error| **error <= most).count() * 100 / errors.len().max(1);
    format!("{} % within 5 %, {} % within 15 %", within(500), within(1_500))
}

/// The forecasts of 100 walks are within 5 % of the request. A model that never reported a cache is not forecast to have
/// one.
fn check(api: Api) {
    let mut errors = Vec::new();
    for seed in 0..100 {
        run(walk(api, seed, &mut errors));
    }
    let cached: Vec<u64> = errors.iter().filter_map(|(_, cached)| *cached).collect();
    assert!(cached.len() * 2 > errors.len(), "{api:?}: most are known");
    let unknown = errors.len() - cached.len();
    let context: Vec<u64> = errors.into_iter().map(|(context, _)| context).collect();
    let (context_shares, cached_shares) = (shares(&context), shares(&cached));
    let (context, cached) = (distribution(context), distribution(cached));
    let line = format!(
        "{api:?}, 100 walks\n  context: {}; {context_shares}\n  cached: {}; {cached_shares}; {unknown} unknown\n",
        context.0, cached.0
    );
    std::io::stderr().write_all(line.as_bytes()).unwrap();
    assert!(context.1 <= 500 && cached.1 <= 500, "{line}");
}

#[test]
fn forecasts_hold_where_whole_requests_are_cached() {
    check(Api::Anthropic);
}

#[test]
fn forecasts_hold_where_common_beginnings_are_cached() {
    check(Api::Responses);
}

#[test]
fn forecasts_hold_for_chat_completions() {
    check(Api::Completions);
}

#[test]
fn forecasts_hold_for_mistral() {
    check(Api::Mistral);
}

#[test]
fn forecasts_hold_for_google() {
    check(Api::Google);
}
