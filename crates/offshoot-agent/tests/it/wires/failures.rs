//! Requests that fail: statuses, words, waiting times, lost and silent servers.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use offshoot_agent::provider::{Api, Delta, Failure, Provider as _, Request};
use offshoot_agent::testing::script::{Gate, Reply, Say, Then};
use offshoot_agent::testing::server::Server;
use offshoot_protocol::message::StopReason;
use offshoot_protocol::{AnswerLimits, HttpOptions, Resend};

use super::{ask, ask_once, http, model, request, user};

#[test]
fn a_status_keeps_the_providers_words_and_says_what_may_be_done() {
    let too_long = "{\"error\": {\"message\": \"prompt is too long: 9 tokens > 8 maximum\"}}";
    let cases: [(Reply, Failure); 8] = [
        (Reply::error(401, "{\"error\": \"bad key\"}"), final_failure(401)),
        (Reply::error(400, too_long), overflow(400)),
        (Reply::error(413, ""), overflow(413)),
        (Reply::error(429, "slow down").header("retry-after", "7"), transient(429, 7000)),
        (Reply::error(429, "slow down").header("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT"), transient(429, 30_000)),
        (Reply::error(529, "overloaded").header("retry-after-ms", "250"), transient(529, 250)),
        (Reply::error(500, "").header("x-should-retry", "false"), final_failure(500)),
        (Reply::error(302, "").header("location", "http://127.0.0.1:1/"), final_failure(302)),
    ];
    for api in Api::ALL {
        for (reply, expected) in &cases {
            let (deltas, answer) = ask_once(api, reply.clone());
            assert_eq!(deltas, [], "{api:?}");
            assert_eq!(answer.failure.as_ref(), Some(expected), "{api:?}");
            let text = answer.message.error_message.unwrap();
            let body = reply.body.clone().filter(|body| !body.is_empty());
            let words = body.unwrap_or_else(|| "status code (no body)".to_owned());
            assert_eq!(text, format!("{} {words}", reply.status), "{api:?}");
        }
    }
}

fn final_failure(status: u16) -> Failure {
    Failure {
        status: Some(status),
        is_transient: false,
        is_overflow: false,
        is_about_pictures: false,
        retry_after: None,
        way_round: None,
    }
}

fn overflow(status: u16) -> Failure {
    Failure { is_overflow: true, ..final_failure(status) }
}

fn transient(status: u16, retry_after: u64) -> Failure {
    Failure { is_transient: true, retry_after: Some(retry_after), ..final_failure(status) }
}

#[test]
fn an_error_within_the_stream_ends_it_with_the_providers_words() {
    let error = "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"},\"message\":\"Overloaded\"}";
    for api in Api::OF_TEXT {
        let (_, answer) = ask_once(api, Reply::raw(&format!("event: error\ndata: {error}\n\n")));
        assert!(answer.message.error_message.unwrap().contains("Overloaded"), "{api:?}");
        assert!(answer.failure.unwrap().is_transient, "{api:?}");
    }
}

#[test]
fn a_server_that_is_not_there_is_worth_another_try() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let base = format!("http://user:secret-password@127.0.0.1:{port}");
    let (_, answer) = ask(request(model(Api::Anthropic, &base), vec![user("x")]));
    let text = answer.message.error_message.unwrap();
    // Neither the password nor the layers that passed the cause on.
    assert_eq!(text, format!("could not reach 127.0.0.1:{port}: Connection refused"));
    assert!(answer.failure.unwrap().is_transient);
}

/// Three layers of the HTTP library were named: `error decoding response body: request or response body error: …`.
#[test]
fn a_connection_that_is_lost_within_an_answer_is_one_sentence() {
    let reply = Reply { cut: Some(700), then: Then::Drop, ..Reply::text(&"word ".repeat(200)) };
    let (_, answer) = ask_once(Api::Anthropic, reply);
    let text = answer.message.error_message.unwrap();
    let sentence = "the connection was lost while the answer came in";
    assert!(text == sentence || text == format!("{sentence}: Connection reset by peer"), "{text}");
    assert!(answer.failure.unwrap().is_transient);
}

#[test]
fn every_cause_of_a_lost_connection_is_told_on_demand() {
    let reply = Reply { cut: Some(700), then: Then::Drop, ..Reply::text(&"word ".repeat(200)) };
    let server = Server::start([reply]).unwrap();
    let told = |base: &str| {
        let asked = request(model(Api::Anthropic, base), vec![user("x")]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        match runtime.block_on(http().telling_causes(true).stream(asked).collect::<Vec<_>>()).pop() {
            Some(Delta::Done(answer)) => answer.message.error_message.unwrap(),
            other => panic!("{other:?}"),
        }
    };
    let text = told(&server.base_url(Api::Anthropic));
    assert!(text.starts_with("the connection was lost while the answer came in"), "{text}");
    assert!(text.contains("(error decoding response body: "), "{text}");
    let text = told("http://127.0.0.1:1");
    assert!(text.starts_with("could not reach 127.0.0.1:1: Connection refused (error sending request: "), "{text}");
}

#[test]
fn a_model_that_nobody_speaks_or_reaches_says_so() {
    let mut odd = model(Api::Anthropic, "http://127.0.0.1:1");
    odd.api = "bedrock".to_owned();
    let (_, answer) = ask(request(odd, vec![user("x")]));
    assert!(answer.message.error_message.unwrap().contains("speaks `bedrock`"));
    let (_, answer) = ask(request(model(Api::Google, ""), vec![user("x")]));
    assert!(answer.message.error_message.unwrap().contains("has no base URL"));
    assert!(!answer.failure.unwrap().is_transient);
}

#[test]
fn deltas_come_while_the_answer_is_still_being_made_and_dropping_ends_it() {
    for api in Api::ALL {
        let gate = Gate::new();
        let held = Reply {
            gate: Some((usize::MAX, gate.clone())),
            cut: Some(3000),
            then: Then::Hang,
            ..Reply::text(&"word ".repeat(200))
        };
        let server = Server::start([held, Reply::text("after")]).unwrap();
        let asked = request(model(api, &server.base_url(api)), vec![user("x")]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let http = Arc::new(http());
        runtime.block_on(async {
            let mut stream = http.stream(asked.clone());
            let mut texts = 0;
            // The server holds the rest back: what comes now came before the end.
            while texts < 2 {
                texts += usize::from(matches!(stream.next().await, Some(Delta::Text { .. })));
            }
            drop(stream);
            let last = http.stream(asked.clone()).collect::<Vec<_>>().await.pop();
            let Some(Delta::Done(answer)) = last else { panic!("{api:?}: {last:?}") };
            assert_eq!(answer.message.stop_reason, StopReason::Stop, "{api:?}");
        });
        gate.open();
    }
}

fn last_with(options: HttpOptions, asked: Request) -> offshoot_agent::provider::Answer {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match runtime.block_on(http().with_options(options).stream(asked).collect::<Vec<_>>()).pop() {
        Some(Delta::Done(answer)) => *answer,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_request_is_sent_again_as_often_as_the_user_says() {
    let busy = || Reply::error(503, "busy").header("retry-after-ms", "1");
    for (most, status) in [(0, Some(503)), (1, Some(503)), (2, None)] {
        let server = Server::start([busy(), busy(), Reply::text("here")]).unwrap();
        let resend = Resend { most, longest_wait: Some(1) };
        let asked = request(model(Api::Anthropic, &server.base_url(Api::Anthropic)), vec![user("x")]);
        let answer = last_with(HttpOptions { resend, ..HttpOptions::default() }, asked);
        assert_eq!(answer.failure.and_then(|failure| failure.status), status, "{most}");
        let seen = server.seen();
        assert_eq!(seen.len() as u32, most + 1);
        assert!(seen.iter().all(|one| one.body == seen[0].body));
        assert_eq!(server.problems(), [""; 0]);
    }
}

#[test]
fn a_server_that_does_not_begin_to_answer_is_given_up() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", silent.local_addr().unwrap());
    let response = Some(Duration::from_millis(20));
    let answer = last_with(
        HttpOptions { response, ..HttpOptions::default() },
        request(model(Api::Anthropic, &base), vec![user("x")]),
    );
    let text = answer.message.error_message.unwrap();
    assert!(text.starts_with("after 20 ms the server had not begun to answer (the setting retry."), "{text}");
    assert!(answer.failure.unwrap().is_transient, "the agent tries it again");
}

/// Each limit ends an answer that would not end by itself. What was received before is kept.
#[test]
fn an_answer_beyond_a_limit_fails_with_what_came_so_far() {
    let endless = Reply { then: Then::Hang, cut: Some(12_000), ..Reply::text(&"word ".repeat(5000)) };
    let crowded = Reply { then: Then::Hang, cut: Some(12_000), ..Reply::say((0..500).map(call)) };
    let usual = AnswerLimits::default();
    let cases = [
        (AnswerLimits { bytes: 3000, ..usual }, &endless, "is longer than 3,000 bytes"),
        (AnswerLimits { blocks: 5, ..usual }, &crowded, "has more than 5 blocks"),
        (AnswerLimits { time: Duration::ZERO, ..usual }, &endless, "took longer than 0 seconds"),
    ];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for api in Api::ALL {
        for (limits, reply, what) in &cases {
            let server = Server::start([(*reply).clone()]).unwrap();
            let asked = request(model(api, &server.base_url(api)), vec![user("x")]);
            let last = runtime.block_on(http().with_limits(*limits).stream(asked).collect::<Vec<_>>()).pop();
            let Some(Delta::Done(answer)) = last else { panic!("{api:?}: {last:?}") };
            let text = answer.message.error_message.unwrap_or_else(|| panic!("{api:?}: {what}"));
            assert!(text.starts_with(&format!("the answer {what}: ")), "{api:?}: {text}");
            assert_eq!(answer.message.content.is_empty(), limits.time.is_zero(), "{api:?}: {what}");
            assert!(!answer.failure.unwrap().is_transient, "{api:?}: {what}");
        }
    }
}

fn call(number: usize) -> Say {
    Say::Call {
        call: "ls".to_owned(),
        id: format!("call_{number}"),
        arguments: serde_json::Map::new(),
        signature: None,
    }
}

#[test]
fn a_delta_for_a_block_that_never_began_is_an_error() {
    let anthropic = [
        r#"{"type":"message_start","message":{"id":"m"}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}"#,
        r#"{"type":"content_block_delta","index":7,"delta":{"type":"text_delta","text":"x"}}"#,
    ];
    let responses = [
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"web_search_call"}}"#,
        r#"{"type":"response.output_text.delta","output_index":0,"delta":"ignored"}"#,
        r#"{"type":"response.output_text.delta","output_index":7,"delta":"x"}"#,
    ];
    for (api, events) in [(Api::Anthropic, &anthropic[..]), (Api::Responses, &responses[..])] {
        let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        let (_, answer) = ask_once(api, Reply::raw(&body));
        let text = answer.message.error_message.unwrap();
        assert!(text.ends_with("stream continues block 7, which never began"), "{api:?}: {text}");
    }
}
