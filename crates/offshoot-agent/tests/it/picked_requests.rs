//! Requests after random picks, merges and undos of random trees: each wire's rules hold, whatever the calls are named.

use offshoot_agent::provider::{Api, Outgoing};
use offshoot_agent::request::{self, Frame};
use offshoot_agent::testing::check::{self, Issued};
use offshoot_agent::testing::seen::Seen;
use offshoot_agent::testing::server::KEY;
use offshoot_protocol::ThinkingLevel;
use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::json::Json;
use offshoot_session::merge::MergeRequest;
use offshoot_session::pick::{PickOptions, PickRequest};
use offshoot_session::session::{Options, Session};
use offshoot_session::tree::NodeIx;
use proptest::prelude::*;
use serde_json::json;

use crate::wires::model;

/// An entry of a random tree: how far up its parent is, and what it is.
type Seed = (u8, u8);
/// An operation: what, and on which entries.
type Operation = (u8, prop::sample::Index, prop::sample::Index);

/// A signature as the wire's provider gives it.
fn signature(api: Api, at: usize) -> String {
    match api {
        Api::Responses => {
            let sealed = format!("sealed{at}");
            json!({"type": "reasoning", "id": format!("rs_{at}"), "summary": [], "encrypted_content": sealed})
                .to_string()
        }
        Api::Anthropic | Api::Completions | Api::Google | Api::Mistral | Api::Bedrock => format!("{:08}", at % 5),
    }
}

/// What of it is sent back.
fn sent_back(api: Api, at: usize) -> String {
    if api == Api::Responses { format!("sealed{at}") } else { signature(api, at) }
}

/// Names that several turns have. Those of another model may be such that the wire does not take them.
fn call_id(api: Api, is_foreign: bool, what: u8) -> String {
    match (what % 5, is_foreign) {
        (0, true) => "call_2|fc_2".to_owned(),
        (1, true) => format!("call:{}", "x".repeat(90)),
        (2, true) => "ä".to_owned(),
        (what, _) if api == Api::Responses => format!("call_{}|fc_{}", what % 2, what % 2),
        (what, _) => format!("call_{}", what % 2),
    }
}

/// A tree of prompts, answers of the asked model and of another, calls with and without results.
fn tree(api: Api, seeds: &[Seed], prefix: &str) -> Session {
    let asked = model(api, "");
    let header =
        json!({"type": "session", "version": 3, "id": prefix, "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w"});
    let mut text = format!("{header}\n");
    let mut open: Vec<String> = Vec::new();
    for (at, (up, what)) in seeds.iter().enumerate() {
        let name = |at: usize| format!("{prefix}{at}");
        let parent = match at {
            0 => None,
            _ if !open.is_empty() || *up < 200 => Some(name(at - 1)),
            _ => Some(name(at - 1 - usize::from(*up) % at.min(6))),
        };
        // Some calls have no result.
        let message = if let Some(call) = open.pop().filter(|_| what % 13 > 0) {
            let content = [json!({"type": "text", "text": if what % 3 == 0 { "" } else { "ok" }})];
            json!({"role": "toolResult", "toolCallId": call, "toolName": "read", "content": content, "isError": false})
        } else {
            open.clear();
            let is_foreign = what % 2 == 0;
            let call = |id: &String| json!({"type": "toolCall", "id": id, "name": "read", "arguments": {"path": "x"}});
            let ids = match what % 12 {
                6 | 7 => vec![call_id(api, is_foreign, *up)],
                // Of one answer, ids differ.
                8 => [0, 1].map(|next| call_id(api, is_foreign, (*up).min(254) + next)).to_vec(),
                _ => vec![],
            };
            let sealed = if is_foreign { "Zm9yZWlnbg==".to_owned() } else { signature(api, at) };
            let mut content = vec![json!({"type": "thinking", "thinking": "hm", "thinkingSignature": sealed})];
            if what % 7 > 0 {
                content.push(json!({"type": "text", "text": if what % 5 == 0 { "" } else { "said" }}));
            }
            content.extend(ids.iter().map(call));
            let stop = if what % 11 == 10 {
                "aborted"
            } else if ids.is_empty() {
                "stop"
            } else {
                "toolUse"
            };
            match what % 12 {
                0..=3 => json!({"role": "user", "content": "asked"}),
                4 => {
                    json!({"role": "user", "content": [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]})
                }
                _ => {
                    open = ids.into_iter().rev().collect();
                    let (provider, id) = if is_foreign { ("other", "other-1") } else { (&*asked.provider, &*asked.id) };
                    let api = if is_foreign { "other-api" } else { &*asked.api };
                    json!({"role": "assistant", "content": content, "api": api, "provider": provider, "model": id, "stopReason": stop})
                }
            }
        };
        let entry = json!({"type": "message", "id": name(at), "parentId": parent, "timestamp": "2026-01-01T00:00:01.000Z", "message": message});
        text.push_str(&format!("{entry}\n"));
    }
    Session::from_text(&text, Options::default()).unwrap()
}

/// Applies an operation, unless it is refused.
fn operate(session: &mut Session, other: &Session, (what, first, second): Operation) {
    let all: Vec<NodeIx> = session.tree().entries().collect();
    let theirs: Vec<NodeIx> = other.tree().entries().collect();
    let (at, to) = (*first.get(&all), *second.get(&all));
    let options = PickOptions { again: what % 2 == 0, ..PickOptions::default() };
    match what % 8 {
        0..=2 => {
            let request = PickRequest { from: None, selections: &[vec![at], vec![to]], onto: session.leaf(), options };
            if let Ok(planned) = session.plan_pick(&request) {
                drop(session.pick(&planned).unwrap());
            }
        }
        3 | 4 => {
            let selections = [vec![*first.get(&theirs)], vec![*second.get(&theirs)]];
            let from = Some(other.pick_end());
            let request = PickRequest { from, selections: &selections, onto: session.leaf(), options };
            if let Ok(planned) = session.plan_pick(&request) {
                drop(session.pick(&planned).unwrap());
            }
        }
        5 => {
            let request = MergeRequest { from: None, tip: at, onto: session.leaf(), budget: 0 };
            if let Ok(planned) = session.plan_merge(&request)
                && !planned.plan.is_empty()
            {
                let drafted = planned.plan.in_words("tried");
                session.merge(&planned, &drafted).unwrap();
            }
        }
        6 => {
            if let Ok(Some(plan)) = session.plan_undo() {
                session.undo(&plan).unwrap();
            }
        }
        _ => session.switch(at).unwrap(),
    }
}

/// What is wrong with the next request.
fn problems(session: &Session, api: Api, issued: &[Issued]) -> Vec<String> {
    let model = model(api, "http://127.0.0.1:1").into();
    let (system, tools) = ("You are a test.".to_owned(), Vec::new());
    let frame = Frame { model, thinking: ThinkingLevel::High, system, tools, key: None };
    let request = request::build(session, frame).unwrap().request;
    let outgoing = Outgoing::new(&request).unwrap();
    let path = format!("/models/{}:streamGenerateContent", request.model.id);
    let seen = Seen { api: Some(api), path, headers: Vec::new(), body: outgoing.body };
    check::problems(&seen, KEY, issued)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_request_after_picks_merges_and_undos_is_valid_on_all_wires(
        (seeds, others) in (prop::collection::vec(any::<Seed>(), 1..30), prop::collection::vec(any::<Seed>(), 1..15)),
        operations in prop::collection::vec(any::<Operation>(), 1..8),
    ) {
        for api in Api::ALL {
            let (mut session, other) = (tree(api, &seeds, "e"), tree(api, &others, "o"));
            for operation in &operations {
                operate(&mut session, &other, *operation);
            }
            let prompt = Json::parse(r#"{"role":"user","content":"and now"}"#).unwrap();
            session.append(&NewEntry::message(prompt).unwrap()).unwrap();
            let signatures = (0..30).map(|at| sent_back(api, at));
            let issued = Issued::signed(api, &model(api, "").id, signatures);
            let found = problems(&session, api, &[issued]);
            prop_assert!(found.is_empty(), "{:?}: {:?}", api, found);
        }
    }
}
