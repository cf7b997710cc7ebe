//! Servers that are reached over HTTP, in both eras.

use std::sync::Mutex;

use offshoot_mcp::server::ServerState;
use serde_json::{Value, json};

use crate::http_server::{HttpReply, HttpServer, SeenRequest, message, refusal, stream};
use crate::run::{Run, run};

fn initialized() -> Value {
    json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "odd", "version": "1"}})
}

fn tools() -> Value {
    json!({"tools": [{"name": "echo", "inputSchema": {}}], "resultType": "complete"})
}

fn echoed(of: &SeenRequest) -> Value {
    json!({"content": [{"type": "text", "text": of.json()["params"]["arguments"]["text"]}], "resultType": "complete"})
}

/// A server of the older era, with a session.
fn legacy(of: &SeenRequest) -> HttpReply {
    match (of.method.as_str(), of.asks().as_str()) {
        ("POST", "initialize") => {
            let (status, mut headers, body) = message(of, initialized());
            headers.push(("mcp-session-id", "s1".to_owned()));
            (status, headers, body)
        }
        ("POST", "tools/list") => message(of, tools()),
        ("POST", "tools/call") => {
            let result = json!({"jsonrpc": "2.0", "id": of.json()["id"], "result": echoed(of)});
            stream(format!(": hello\n\nevent: message\ndata: {result}\n\n"))
        }
        ("POST", _) if of.json()["id"].is_null() => refusal(202),
        ("POST", _) => refusal(400),
        _ => refusal(405),
    }
}

fn of(server: &HttpServer, more: Value) -> Run {
    let mut entry = json!({"url": server.url});
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Run::of_entry(&entry)
}

#[test]
fn a_server_of_the_older_era_has_a_session_from_start_to_end() {
    run(async {
        let server = HttpServer::start(legacy);
        let run = of(&server, json!({"headers": {"X-Key": "k1"}}));
        run.start().await;
        assert_eq!(run.told(), [""; 0]);
        assert_eq!(run.echo("hello").await, ("hello".to_owned(), false));
        run.servers_close().await;
        let seen = server.seen();
        assert!(seen.iter().all(|request| request.header("x-key") == Some("k1")), "{seen:?}");
        let call = seen.iter().find(|request| request.asks() == "tools/call").unwrap();
        assert_eq!(
            (call.header("mcp-session-id"), call.header("mcp-protocol-version")),
            (Some("s1"), Some("2025-06-18"))
        );
        assert_eq!(call.header("accept"), Some("application/json, text/event-stream"));
        assert!(seen.iter().any(|request| request.method == "GET"), "what it says unasked is listened to");
        let last = seen.last().unwrap();
        assert_eq!((last.method.as_str(), last.header("mcp-session-id")), ("DELETE", Some("s1")));
    });
}

#[test]
fn a_server_of_the_newer_era_has_headers_and_no_session() {
    run(async {
        let server = HttpServer::start(|of| match of.asks().as_str() {
            "server/discover" => {
                message(of, json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}))
            }
            "tools/list" => message(of, tools()),
            "tools/call" => message(of, echoed(of)),
            _ => refusal(404),
        });
        let run = of(&server, json!({}));
        run.start().await;
        assert_eq!(run.echo("hello").await, ("hello".to_owned(), false));
        run.servers_close().await;
        let seen = server.seen();
        let methods: Vec<String> = seen.iter().map(SeenRequest::asks).collect();
        assert_eq!(methods, ["server/discover", "tools/list", "tools/call"]);
        let call = seen.last().unwrap();
        let header = |name: &str| {
            call.headers
                .iter()
                .filter(|(known, _)| known == name)
                .map(|(_, value)| value.clone())
                .collect::<Vec<_>>()
                .join(" and ")
        };
        let headers = ["mcp-protocol-version", "mcp-method", "mcp-name"].map(header);
        assert_eq!(headers, ["2026-07-28", "tools/call", "echo"]);
    });
}

#[test]
fn arguments_that_a_tool_wants_as_headers_are_sent_twice() {
    run(async {
        let server = HttpServer::start(|of| match of.asks().as_str() {
            "server/discover" => {
                message(of, json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}))
            }
            "tools/list" => {
                let text =
                    json!({"type": "object", "properties": {"text": {"type": "string", "x-mcp-header": "Text"}}});
                let bad = json!({"type": "object", "properties": {"text": {"type": "number", "x-mcp-header": "Text"}}});
                let tools = json!([{"name": "echo", "inputSchema": text}, {"name": "bad", "inputSchema": bad}]);
                message(of, json!({"tools": tools, "resultType": "complete"}))
            }
            "tools/call" => message(of, echoed(of)),
            _ => refusal(404),
        });
        let run = of(&server, json!({}));
        run.start().await;
        assert_eq!(run.names(), ["mcp__odd__echo"]);
        assert_eq!(run.told().len(), 1, "{:?}", run.told());
        assert_eq!(run.echo("hé").await, ("hé".to_owned(), false));
        run.servers_close().await;
        let seen = server.seen();
        let call = seen.last().unwrap();
        assert_eq!(call.header("mcp-param-text"), Some("=?base64?aMOp?="));
        assert_eq!(call.json()["params"]["arguments"]["text"], "hé");
    });
}

/// A server of the newer era that announces changes is listened to; when the stream has ended it is asked for again, and what may have
/// changed meanwhile is listed anew.
#[test]
fn changes_come_in_a_stream_that_is_asked_for_again() {
    run(async {
        let listened = Mutex::new(0);
        let server = HttpServer::start(move |of| match of.asks().as_str() {
            "server/discover" => {
                let capabilities = json!({"tools": {"listChanged": true}, "prompts": {}});
                message(of, json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities}))
            }
            "tools/list" => message(of, tools()),
            "subscriptions/listen" => {
                let mut listened = listened.lock().unwrap();
                *listened += 1;
                let said = |method: &str| format!("data: {}\n\n", json!({"jsonrpc": "2.0", "method": method}));
                match *listened {
                    // Nothing has changed yet, and the stream breaks off.
                    1 => stream(said("notifications/subscriptions/acknowledged")),
                    2 => stream(said("notifications/subscriptions/acknowledged")),
                    _ => refusal(404),
                }
            }
            _ => refusal(404),
        });
        let run = of(&server, json!({}));
        run.start().await;
        let asked = |what: &str| {
            let seen = server.seen().into_iter().filter(|request| request.asks() == what);
            seen.collect::<Vec<_>>()
        };
        while asked("subscriptions/listen").len() < 3 || asked("tools/list").len() < 2 {
            tokio::task::yield_now().await;
        }
        let wish = &asked("subscriptions/listen")[0];
        assert_eq!(wish.json()["params"]["notifications"], json!({"toolsListChanged": true}));
        assert_eq!(wish.header("mcp-method"), Some("subscriptions/listen"));
        assert_eq!(asked("tools/list").len(), 2, "once at the start, once when it was agreed again");
        run.servers_close().await;
        assert_eq!(asked("subscriptions/listen").len(), 3, "a refusal is not asked for again");
    });
}

/// A session that the server has forgotten has done nothing: the call is made again in a new one.
#[test]
fn a_forgotten_session_is_begun_anew_and_the_call_is_made_once_more() {
    run(async {
        let calls = Mutex::new(0);
        let server = HttpServer::start(move |of| {
            if of.asks() == "tools/call" {
                let mut calls = calls.lock().unwrap();
                *calls += 1;
                if *calls == 1 {
                    return refusal(404);
                }
            }
            legacy(of)
        });
        let run = of(&server, json!({}));
        run.start().await;
        assert_eq!(run.echo("again").await, ("again".to_owned(), false));
        let starts = server.seen().iter().filter(|request| request.asks() == "initialize").count();
        assert_eq!(starts, 2);
        run.servers_close().await;
    });
}

/// A stream that ends before the answer is continued from its last event, after the time that the server wishes.
#[test]
fn a_stream_is_continued_where_it_was_cut() {
    run(async {
        let asked = Mutex::new(Value::Null);
        let server = HttpServer::start(move |of| match (of.method.as_str(), of.asks().as_str()) {
            ("POST", "tools/call") => {
                *asked.lock().unwrap() = of.json()["id"].clone();
                stream("retry: 1\nid: e7\ndata: \n\n".to_owned())
            }
            ("GET", _) if of.header("last-event-id") == Some("e7") => {
                let result = json!({"content": [{"type": "text", "text": "late"}]});
                let answer = json!({"jsonrpc": "2.0", "id": *asked.lock().unwrap(), "result": result});
                stream(format!("id: e8\ndata: {answer}\n\n"))
            }
            _ => legacy(of),
        });
        let run = of(&server, json!({}));
        run.start().await;
        assert_eq!(run.echo("x").await, ("late".to_owned(), false));
        run.servers_close().await;
    });
}

#[test]
fn refusals_are_told() {
    run(async {
        for (status, headers, words) in [
            (
                401,
                vec![("www-authenticate", "Bearer realm=x".to_owned())],
                "MCP server odd: it needs a sign-in: Bearer realm=x",
            ),
            (500, Vec::new(), "MCP server odd: it answered 500 Internal Server Error"),
        ] {
            let server = HttpServer::start(move |_| (status, headers.clone(), String::new()));
            let run = of(&server, json!({}));
            run.start().await;
            assert_eq!(run.told(), [words]);
            let is_sign_in = matches!(run.state(), ServerState::NeedsSignIn(_));
            assert_eq!(is_sign_in, status == 401, "{:?}", run.state());
        }
        let run = Run::of_entry(&json!({"url": "http://127.0.0.1:9/mcp?key=secret-in-the-address"}));
        run.start().await;
        let told = run.told();
        assert!(told.len() == 1 && told[0].starts_with("MCP server odd: 127.0.0.1 cannot be reached"), "{told:?}");
        assert!(!told[0].contains("secret"), "{told:?}");
    });
}

/// An answer that is not the protocol's ends the request and not the program.
#[test]
fn garbage_over_http_is_an_error_of_the_call() {
    run(async {
        let server = HttpServer::start(|of| match of.asks().as_str() {
            "tools/call" => (200, vec![("content-type", "text/html".to_owned())], "<html>".to_owned()),
            _ => legacy(of),
        });
        let run = of(&server, json!({}));
        run.start().await;
        let (text, is_error) = run.echo("x").await;
        assert!(is_error && text.contains("its answer is not a message of the protocol"), "{text}");
        run.servers_close().await;
    });
}
