//! Model servers on the person's own machine: looked for when that is asked, remembered, and asked like others.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::world::World;

/// Nobody listens there.
const NOBODY: &str = "127.0.0.1:9";

/// The answer to a request, by its path and its body: a status line and a body.
type Answer = Box<dyn Fn(&str, &str) -> (&'static str, String) + Send>;

/// A server on a port of its own, which ends with the test's process.
struct LocalServer {
    host: String,
    /// The requests, each as its first line, its key and its body.
    seen: Arc<Mutex<Vec<String>>>,
}

impl LocalServer {
    fn new(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // A client that leaves is no problem of the server's.
                drop(stream.and_then(|stream| serve(stream, &answer, &all)));
            }
        });
        Self { host, seen }
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, answer: &Answer, seen: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = Vec::new();
    for line in reader.by_ref().lines() {
        let line = line?;
        if line.is_empty() {
            break;
        }
        head.push(line);
    }
    let header = |name: &str| {
        let fits = |line: &&String| line.to_lowercase().starts_with(&format!("{name}: "));
        head.iter().find(fits).and_then(|line| line.split_once(": ")).map(|(_, value)| value.to_owned())
    };
    let length = header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = String::from_utf8_lossy(&body).into_owned();
    let first = head.first().cloned().unwrap_or_default();
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let key = header("authorization").map(|key| format!(" [{key}]")).unwrap_or_default();
    seen.lock().unwrap().push(format!("{}{key} {body}", first.trim_end_matches(" HTTP/1.1")));
    let (status, text) = answer(&path, &body);
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}", text.len())
}

/// Ollama with a model that thinks, one that sees, one that only embeds, and one whose name is a trick.
fn ollama() -> LocalServer {
    let answer = |path: &str, body: &str| match path {
        "/api/tags" => {
            let names = ["qwen3:8b", "llava:7b", "nomic-embed", "evil\u{1b}[2J"];
            let models: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
            ("200 OK", json!({"models": models}).to_string())
        }
        "/api/show" => {
            let asked: Value = serde_json::from_str(body).unwrap();
            let (window, can) = match asked["model"].as_str().unwrap() {
                "qwen3:8b" => (40960, json!(["completion", "tools", "thinking"])),
                "llava:7b" => (32768, json!(["completion", "vision"])),
                _ => (2048, json!(["embedding"])),
            };
            ("200 OK", json!({"model_info": {"x.context_length": window}, "capabilities": can}).to_string())
        }
        "/v1/chat/completions" => {
            let chunk = |value: Value| format!("data: {value}\n\n");
            let text = chunk(json!({"choices": [{"index": 0, "delta": {"content": "From here."}}]}));
            let end = chunk(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 9, "completion_tokens": 2}}));
            ("200 OK", format!("{text}{end}data: [DONE]\n\n"))
        }
        _ => ("404 Not Found", String::new()),
    };
    LocalServer::new(Box::new(answer))
}

/// A command that looks for each server at the given place, and elsewhere nowhere.
fn command(world: &World, arguments: &[&str], places: &[(&str, &str)]) -> Command {
    let mut command = world.command(arguments);
    for name in ["OLLAMA_HOST", "LM_STUDIO_BASE_URL", "LLAMA_BASE_URL", "VLLM_BASE_URL"] {
        command.env(name, NOBODY);
    }
    command.envs(places.iter().copied());
    command
}

fn run(world: &World, arguments: &[&str], places: &[(&str, &str)]) -> String {
    let shown = world.shown(&command(world, arguments, places).output().unwrap());
    places.iter().fold(shown, |shown, (name, host)| shown.replace(*host, &format!("[{name}]")))
}

#[test]
fn ollamas_models_are_found_once_and_asked_by_name_from_then_on() {
    let (world, server) = (World::new(), ollama());
    let places = [("OLLAMA_HOST", server.host.as_str())];
    assert_snapshot!(run(&world, &["models", "--local"], &places), @"
    PROVIDER  ID        CONTEXT  OUT  THINKING  IMAGES  $ IN/OUT  KEY
    ollama    qwen3:8b      40K  16K  low-high  no          free  not needed
    ollama    llava:7b      32K  16K  no        yes         free  not needed
    [stderr]
    note: [OLLAMA_HOST] (Ollama): 2 models
    note: [OLLAMA_HOST] (Ollama): 1 model left out: the name is empty, too long, or has characters that cannot be shown
    note: [OLLAMA_HOST] (Ollama): asked without tools, which the server refuses for it: llava:7b
    note: no server at 127.0.0.1:9 (LM Studio), 127.0.0.1:9 (llama.cpp), 127.0.0.1:9 (vLLM)
    ");
    let found = server.seen().len();
    assert_eq!(found, 4, "a list and a question about each model: {:?}", server.seen());
    // Neither the list nor a start asks again, and the variable is not needed for the address.
    assert_snapshot!(run(&world, &["models"], &[]), @"
    PROVIDER  ID        CONTEXT  OUT  THINKING  IMAGES  $ IN/OUT  KEY
    ollama    qwen3:8b      40K  16K  low-high  no          free  not needed
    ollama    llava:7b      32K  16K  no        yes         free  not needed
    [stderr]
    note: 1,698 models without a key are not listed; 43 providers are known
    hint: `offshoot models --all` lists them all
    ");
    assert_eq!(run(&world, &["-p", "hi", "--model", "ollama/qwen3:8b", "--no-tools"], &[]), "From here.\n");
    let asked = server.seen().split_off(found);
    let [request] = &asked[..] else { panic!("{asked:?}") };
    assert!(request.starts_with("POST /v1/chat/completions {"), "{request}");
    let body: Value = serde_json::from_str(request.split_once(' ').unwrap().1.split_once(' ').unwrap().1).unwrap();
    assert_eq!((&body["model"], &body["max_tokens"]), (&json!("qwen3:8b"), &json!(16384)), "{body}");
    assert_eq!((&body["messages"][0]["role"], body.get("store")), (&json!("system"), None), "{body}");
    for (model, has_tools) in [("qwen3:8b", true), ("llava:7b", false)] {
        assert_eq!(run(&world, &["-p", "hi", "--provider", "ollama", "--model", model], &[]), "From here.\n");
        let request = server.seen().pop().unwrap();
        assert_eq!(request.contains("\"tools\":"), has_tools, "{request}");
    }
}

#[test]
fn found_models_are_json_and_can_be_searched() {
    let (world, server) = (World::new(), ollama());
    let places = [("OLLAMA_HOST", server.host.as_str())];
    let shown = run(&world, &["models", "--local", "--json", "llava"], &places);
    let found: Value = serde_json::from_str(shown.split("[stderr]").next().unwrap()).unwrap();
    let [model] = &found.as_array().unwrap()[..] else { panic!("{found}") };
    let expected = json!({"provider": "ollama", "id": "llava:7b", "name": "llava:7b", "api": "openai-completions",
        "contextWindow": 32768, "maxTokens": 16384, "thinking": ["off"], "images": true,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}, "usable": true});
    assert_eq!(model, &expected);
}

#[test]
fn without_a_server_one_line_says_where_it_looked() {
    let world = World::new();
    assert_snapshot!(run(&world, &["models", "--local"], &[]), @"
    [stderr]
    note: no server at 127.0.0.1:9 (Ollama), 127.0.0.1:9 (LM Studio), 127.0.0.1:9 (llama.cpp), 127.0.0.1:9 (vLLM)
    ");
    assert_eq!(run(&world, &["models", "--local", "--json"], &[]), "[]\n");
    assert_snapshot!(run(&world, &["models", "--local", "--provider", "vllm"], &[]), @"
    [stderr]
    note: no server at 127.0.0.1:9 (vLLM)
    ");
    assert_snapshot!(run(&world, &["models", "--local", "--provider", "groq"], &[]), @"
    [stderr]
    error: --local looks for ollama, lm-studio, llama.cpp, vllm, and not for groq
    [exit code 3]
    ");
}

/// A server with a key, one that redirects, one that is none, and one that talks too much.
#[test]
fn each_server_is_asked_in_its_own_way_and_foreign_answers_are_bounded() {
    let world = World::new();
    let llama = LocalServer::new(Box::new(|path, _| match path {
        "/v1/models" => ("200 OK", json!({"data": [{"id": "gemma", "meta": {"n_ctx_train": 131_072}}]}).to_string()),
        _ => ("200 OK", json!({"default_generation_settings": {"n_ctx": 8192}}).to_string()),
    }));
    let moved = LocalServer::new(Box::new(|_, _| ("302 Found\r\nlocation: http://127.0.0.1:1/", String::new())));
    let endless = LocalServer::new(Box::new(|_, _| ("200 OK", " ".repeat(9 << 20))));
    let site = LocalServer::new(Box::new(|_, _| ("200 OK", "<html>Hello</html>".to_owned())));
    let places = [
        ("LLAMA_BASE_URL", llama.host.as_str()),
        ("VLLM_BASE_URL", &moved.host),
        ("LM_STUDIO_BASE_URL", &endless.host),
        ("OLLAMA_HOST", &site.host),
    ];
    let output = command(&world, &["models", "--local"], &places).env("LLAMA_API_KEY", "own-key-0123456789ab").output();
    let shown = world.shown(&output.unwrap());
    let shown = places.iter().fold(shown, |shown, (name, host)| shown.replace(*host, &format!("[{name}]")));
    assert_snapshot!(shown, @"
    PROVIDER   ID     CONTEXT  OUT  THINKING  IMAGES  $ IN/OUT  KEY
    llama.cpp  gemma       8K   8K  no        no          free  LLAMA_API_KEY
    [stderr]
    note: [OLLAMA_HOST] (Ollama): it answers with something else than JSON
    note: [LM_STUDIO_BASE_URL] (LM Studio): its answer has more than 8388608 bytes
    note: [LLAMA_BASE_URL] (llama.cpp): 1 model
    note: [VLLM_BASE_URL] (vLLM): 302 status code (no body)
    ");
    assert_eq!(
        llama.seen(),
        ["GET /v1/models [Bearer own-key-0123456789ab] ", "GET /props [Bearer own-key-0123456789ab] "]
    );
    assert_eq!(moved.seen(), ["GET /v1/models "], "the key is for one server alone, and nobody was followed");
    let kept = fs::read_to_string(world.home().join(".cache/offshoot/local-models.json")).unwrap();
    assert!(kept.contains("gemma") && !kept.contains("own-key"), "{kept}");
}

#[test]
fn models_json_counts_before_what_is_found() {
    let (world, server) = (World::new(), ollama());
    let places = [("OLLAMA_HOST", server.host.as_str())];
    let with = |url: &str| {
        let models = json!({"providers": {"ollama": {"baseUrl": url, "api": "openai-completions",
            "models": [{"id": "qwen3:8b", "contextWindow": 9999}]}}});
        let data = world.home().join(".local/share/offshoot");
        fs::create_dir_all(&data).unwrap();
        fs::write(data.join("models.json"), models.to_string()).unwrap();
    };
    with(&format!("http://{}/v1", server.host.replace("127.0.0.1", "localhost")));
    let shown = run(&world, &["models", "--local"], &places);
    assert!(shown.contains("9K") && shown.contains("llava:7b"), "{shown}");
    with("http://elsewhere.example/v1");
    assert_snapshot!(run(&world, &["models", "--local"], &places), @"
    [stderr]
    note: [OLLAMA_HOST] (Ollama): 2 models
    note: [OLLAMA_HOST] (Ollama): 1 model left out: the name is empty, too long, or has characters that cannot be shown
    note: [OLLAMA_HOST] (Ollama): asked without tools, which the server refuses for it: llava:7b
    note: [OLLAMA_HOST] (Ollama): models.json has the provider ollama at another address, so these models are not used
    note: no server at 127.0.0.1:9 (LM Studio), 127.0.0.1:9 (llama.cpp), 127.0.0.1:9 (vLLM)
    ");
}
