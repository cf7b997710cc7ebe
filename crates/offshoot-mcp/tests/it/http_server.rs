//! A server over HTTP for tests: it answers each POST by a function, and keeps what it was sent.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct SeenRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl SeenRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The method of the message.
    pub(crate) fn asks(&self) -> String {
        self.json()["method"].as_str().unwrap_or_default().to_owned()
    }
}

/// What is answered: status, headers, body.
pub(crate) type HttpReply = (u16, Vec<(&'static str, String)>, String);

pub(crate) struct HttpServer {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<SeenRequest>>>,
}

/// A message as JSON.
pub(crate) fn message(of: &SeenRequest, result: Value) -> HttpReply {
    let body = json!({"jsonrpc": "2.0", "id": of.json()["id"], "result": result});
    (200, vec![("content-type", "application/json".to_owned())], body.to_string())
}

/// Messages as a stream of events.
pub(crate) fn stream(text: String) -> HttpReply {
    (200, vec![("content-type", "text/event-stream".to_owned())], text)
}

pub(crate) fn refusal(status: u16) -> HttpReply {
    (status, Vec::new(), String::new())
}

impl HttpServer {
    /// Serves until the test ends.
    pub(crate) fn start(answer: impl Fn(&SeenRequest) -> HttpReply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<SeenRequest>>> = Arc::default();
        let (kept, answer) = (seen.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, answer) = (kept.clone(), answer.clone());
                std::thread::spawn(move || serve(stream, &kept, &*answer));
            }
        });
        Self { url, seen }
    }

    pub(crate) fn seen(&self) -> Vec<SeenRequest> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, seen: &Mutex<Vec<SeenRequest>>, answer: &dyn Fn(&SeenRequest) -> HttpReply) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let Some(request) = read(&mut reader) else { return };
        seen.lock().unwrap().push(request.clone());
        let (status, headers, body) = answer(&request);
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\n\r\n", body.len());
        if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<SeenRequest> {
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|count| *count > 0)?;
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(SeenRequest { method, path, headers, body: String::from_utf8(body).unwrap() })
}
