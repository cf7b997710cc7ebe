//! Signing in to a server, against an authorization server that checks what it gets.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use offshoot_mcp::oauth::TokenStore as _;
use offshoot_mcp::server::ServerState;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::sync::oneshot;

use crate::http_server::{HttpReply, HttpServer, SeenRequest, message, refusal};
use crate::run::{Run, run};

fn json_reply(status: u16, value: serde_json::Value) -> HttpReply {
    (status, vec![("content-type", "application/json".to_owned())], value.to_string())
}

fn form(of: &SeenRequest) -> BTreeMap<String, String> {
    let pairs = reqwest::Url::parse(&format!("http://h/?{}", of.body)).unwrap();
    pairs.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

/// What the authorization server knows.
#[derive(Default)]
struct Known {
    base: Mutex<String>,
    challenge: Mutex<String>,
    /// The token that counts.
    token: Mutex<String>,
    issuer: Mutex<Option<String>>,
}

fn protected(known: &Known, of: &SeenRequest) -> HttpReply {
    let base = known.base.lock().unwrap().clone();
    let path = of.path.split('?').next().unwrap_or_default();
    match path {
        "/.well-known/prm" => json_reply(
            200,
            json!({"resource": format!("{base}/mcp"), "authorization_servers": [base], "scopes_supported": ["read"]}),
        ),
        "/.well-known/oauth-authorization-server" => {
            let issuer = known.issuer.lock().unwrap().clone().unwrap_or_else(|| base.clone());
            json_reply(
                200,
                json!({
                    "issuer": issuer, "authorization_endpoint": format!("{base}/authorize"), "token_endpoint": format!("{base}/token"),
                    "registration_endpoint": format!("{base}/register"), "code_challenge_methods_supported": ["S256"],
                    "token_endpoint_auth_methods_supported": ["none"], "authorization_response_iss_parameter_supported": true,
                }),
            )
        }
        "/register" => json_reply(201, json!({"client_id": "c1"})),
        "/token" => {
            let form = form(of);
            let is_right = match form["grant_type"].as_str() {
                "authorization_code" => {
                    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&form["code_verifier"]));
                    form["code"] == "the-code" && challenge == *known.challenge.lock().unwrap()
                }
                _ => form["refresh_token"] == "r1",
            };
            if !is_right || form["resource"] != format!("{base}/mcp") || form["client_id"] != "c1" {
                return json_reply(400, json!({"error": "invalid_grant"}));
            }
            let token = format!("token-{}", form["grant_type"]);
            *known.token.lock().unwrap() = token.clone();
            json_reply(200, json!({"access_token": token, "refresh_token": "r1", "scope": "read"}))
        }
        "/mcp" if of.header("authorization") != Some(&format!("Bearer {}", known.token.lock().unwrap())) => {
            let header = format!("Bearer resource_metadata=\"{base}/.well-known/prm\", scope=\"read\"");
            (401, vec![("www-authenticate", header)], String::new())
        }
        "/mcp" => match of.asks().as_str() {
            "server/discover" => {
                message(of, json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}))
            }
            "tools/list" => message(of, json!({"tools": [{"name": "echo", "inputSchema": {}}]})),
            "tools/call" => message(of, json!({"content": [{"type": "text", "text": "signed in"}]})),
            _ => refusal(404),
        },
        _ => refusal(404),
    }
}

fn server() -> (Arc<Known>, HttpServer, Run) {
    let known: Arc<Known> = Arc::default();
    *known.token.lock().unwrap() = "nobody has this".to_owned();
    let of = known.clone();
    let server = HttpServer::start(move |request| protected(&of, request));
    *known.base.lock().unwrap() = server.url.trim_end_matches("/mcp").to_owned();
    let run = Run::of_entry(&json!({"url": server.url}));
    (known, server, run)
}

/// What a browser does: it follows the address, and the server sends it to the callback.
async fn browse(known: &Known, address: &str, answer: impl Fn(&str) -> String) {
    let url = reqwest::Url::parse(address).unwrap();
    let asked: BTreeMap<String, String> =
        url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    assert_eq!((asked["code_challenge_method"].as_str(), asked["scope"].as_str()), ("S256", "read"));
    known.challenge.lock().unwrap().clone_from(&asked["code_challenge"]);
    let back = format!("{}?{}", asked["redirect_uri"], answer(&asked["state"]));
    let client =
        offshoot_agent::provider::Http::new(Arc::new(offshoot_session::clock::SystemClock)).client_for(&back).unwrap();
    let noise = asked["redirect_uri"].replace("/callback", "/favicon.ico");
    assert_eq!(client.get(&noise).send().await.unwrap().status(), 404);
    assert_eq!(client.get(&back).send().await.unwrap().status(), 200);
}

#[test]
fn a_person_signs_in_and_a_refused_token_is_refreshed_once() {
    run(async {
        let (known, server, run) = server();
        run.start().await;
        assert!(matches!(run.state(), ServerState::NeedsSignIn(_)), "{:?}", run.state());
        let one = run.servers.all()[0].clone();
        let sign_in = one.sign_in().await.unwrap();
        let (address, issuer) = (sign_in.address.clone(), known.base.lock().unwrap().clone());
        let (_pasted, nothing) = oneshot::channel();
        let (tokens, ()) = tokio::join!(
            sign_in.finish(nothing),
            browse(&known, &address, |state| format!("code=the-code&state={state}&iss={issuer}"))
        );
        run.tokens.keep(Some(&tokens.unwrap())).unwrap();
        one.reset();
        one.list_tools().await.unwrap();
        run.until_declared("mcp__odd__echo").await;
        assert_eq!(run.echo("x").await, ("signed in".to_owned(), false));
        *known.token.lock().unwrap() = "another".to_owned();
        assert_eq!(run.echo("x").await, ("signed in".to_owned(), false));
        assert_eq!(run.tokens.tokens().unwrap().access_token, "token-refresh_token");
        let refreshed = server.seen().iter().filter(|request| request.body.contains("refresh_token")).count();
        // The registration names it too.
        assert_eq!(refreshed, 2);
        assert!(!format!("{:?}", run.tokens.tokens()).contains("token-"));
        run.servers_close().await;
    });
}

#[test]
fn an_answer_of_somebody_else_is_no_sign_in() {
    run(async {
        let (known, _server, run) = server();
        run.start().await;
        let one = run.servers.all()[0].clone();
        let issuer = known.base.lock().unwrap().clone();
        for (answer, why) in [
            (
                Box::new(|_: &str| format!("code=the-code&state=guessed&iss={issuer}")) as Box<dyn Fn(&str) -> String>,
                "the answer is not one to this sign-in",
            ),
            (
                Box::new(|state: &str| format!("code=the-code&state={state}&iss=https://evil")),
                "the answer is that of another server",
            ),
            (Box::new(|state: &str| format!("code=the-code&state={state}")), "the answer does not name its server"),
            (
                Box::new(|state: &str| format!("error=access_denied&state={state}&iss={issuer}")),
                "the sign-in was refused: access_denied",
            ),
        ] {
            let sign_in = one.sign_in().await.unwrap();
            let address = sign_in.address.clone();
            let (_pasted, nothing) = oneshot::channel();
            let (tokens, ()) = tokio::join!(sign_in.finish(nothing), browse(&known, &address, answer));
            assert_eq!(tokens.unwrap_err(), why);
        }
    });
}

/// A server must not send its person to another authorization server than its metadata is of.
#[test]
fn metadata_of_another_server_ends_the_sign_in() {
    run(async {
        let (known, _server, run) = server();
        *known.issuer.lock().unwrap() = Some("https://evil".to_owned());
        run.start().await;
        let why = run.servers.all()[0].sign_in().await.err().unwrap();
        assert!(why.contains("is that of another server: https://evil"), "{why}");
    });
}

/// Over a connection to another machine the browser cannot reach the port: the address is pasted.
#[test]
fn the_address_can_be_pasted() {
    run(async {
        let (known, _server, run) = server();
        run.start().await;
        let sign_in = run.servers.all()[0].sign_in().await.unwrap();
        let url = reqwest::Url::parse(&sign_in.address).unwrap();
        let asked: BTreeMap<String, String> =
            url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        known.challenge.lock().unwrap().clone_from(&asked["code_challenge"]);
        let issuer = known.base.lock().unwrap().clone();
        let (paste, pasted) = oneshot::channel();
        paste.send(format!("{}?code=the-code&state={}&iss={issuer}\n", asked["redirect_uri"], asked["state"])).unwrap();
        assert_eq!(sign_in.finish(pasted).await.unwrap().access_token, "token-authorization_code");
    });
}
