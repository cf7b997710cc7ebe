//! A local server that answers from a script and reports invalid requests.
//!
//! Speaks HTTP/1.1 with chunked bodies, one thread per connection. The request's path selects the wire format.

#![expect(missing_docs, reason = "the names say what they are")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use offshoot_protocol::message::Usage;

use super::check::{self, Issued};
use super::render::{Number, frame, render};
use super::script::{Gate, Reply, Then};
use super::seen::Seen;
use crate::provider::Api;

pub const KEY: &str = "sk-test-0123456789abcdef";

/// Counts a request as a provider would, from what it was sent alone. The answer's tokens are the reply's.
pub type Meter = Box<dyn FnMut(&Seen) -> Usage + Send>;

#[derive(Default)]
struct Inner {
    replies: std::collections::VecDeque<Reply>,
    seen: Vec<Seen>,
    problems: Vec<String>,
    issued: Vec<Issued>,
    meter: Option<Meter>,
    is_closed: bool,
    streams: Vec<TcpStream>,
    arrived: Arc<Condvar>,
}

/// Ends when dropped.
pub struct Server {
    address: SocketAddr,
    inner: Arc<Mutex<Inner>>,
    end: Gate,
}

impl Server {
    /// Each request gets the next reply. Fails if the system has no port.
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let inner = Arc::new(Mutex::new(Inner { replies: replies.into_iter().collect(), ..Inner::default() }));
        let end = Gate::new();
        let (shared, gate) = (inner.clone(), end.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { continue };
                {
                    let mut inner = lock(&shared);
                    if inner.is_closed {
                        break;
                    }
                    inner.streams.extend(stream.try_clone());
                }
                let (shared, gate) = (shared.clone(), gate.clone());
                // A broken connection is the client's problem.
                std::thread::spawn(move || drop(serve(stream, &shared, &gate)));
            }
        });
        Ok(Self { address, inner, end })
    }

    pub fn add(&self, replies: impl IntoIterator<Item = Reply>) {
        lock(&self.inner).replies.extend(replies);
    }

    /// From now on this reports the usage of requests.
    pub fn count_with(&self, meter: Meter) {
        lock(&self.inner).meter = Some(meter);
    }

    /// Registers the reply of an earlier server, so that its signatures may return.
    pub fn remember(&self, reply: &Reply, api: Api, model: &str) {
        lock(&self.inner).issued.push(Issued::of(reply, api, model));
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn base_url(&self, api: Api) -> String {
        match api {
            Api::Anthropic => self.url(),
            Api::Responses | Api::Completions => format!("{}/v1", self.url()),
            Api::Google => format!("{}/v1beta", self.url()),
            Api::Mistral => format!("{}/mistral", self.url()),
            Api::Bedrock => format!("{}/bedrock", self.url()),
        }
    }

    pub fn seen(&self) -> Vec<Seen> {
        lock(&self.inner).seen.clone()
    }

    /// Blocks until so many requests have arrived.
    pub fn wait_for(&self, requests: usize) {
        let mut inner = lock(&self.inner);
        let arrived = Arc::clone(&inner.arrived);
        while inner.seen.len() < requests {
            inner = arrived.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Problems of requests and of the script.
    pub fn problems(&self) -> Vec<String> {
        lock(&self.inner).problems.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        {
            let mut inner = lock(&self.inner);
            inner.is_closed = true;
            for stream in inner.streams.drain(..) {
                let _closed_already = stream.shutdown(Shutdown::Both);
            }
        }
        self.end.open();
        // Wakes the accepting thread.
        drop(TcpStream::connect(self.address));
    }
}

fn lock(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(stream: TcpStream, inner: &Mutex<Inner>, end: &Gate) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    while let Some(seen) = receive(&mut reader)? {
        let (body, reply) = list_of_models(&seen).unwrap_or_else(|| answer(inner, seen));
        if !send(&mut stream, &body, &reply, end)? {
            break;
        }
    }
    stream.shutdown(Shutdown::Both)
}

fn receive(reader: &mut BufReader<TcpStream>) -> std::io::Result<Option<Seen>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = String::from_utf8_lossy(&body).into_owned();
    Ok(Some(Seen { api: api(&path), path, headers, body }))
}

fn api(path: &str) -> Option<Api> {
    let route = path.split('?').next().unwrap_or_default();
    match () {
        () if route.ends_with("/v1/messages") => Some(Api::Anthropic),
        () if route.ends_with("/responses") => Some(Api::Responses),
        () if route.ends_with("/mistral/v1/chat/completions") => Some(Api::Mistral),
        () if route.ends_with("/chat/completions") => Some(Api::Completions),
        () if route.ends_with("/converse-stream") => Some(Api::Bedrock),
        () if route.ends_with(":streamGenerateContent") => Some(Api::Google),
        () => None,
    }
}

/// The list of models, which takes no reply of the script.
fn list_of_models(seen: &Seen) -> Option<(Vec<u8>, Reply)> {
    seen.path.ends_with("/models").then(|| {
        let is_known = seen.headers.iter().any(|(_, value)| value.contains(KEY));
        let reply = if is_known { Reply::raw(r#"{"data": []}"#) } else { Reply::error(401, "no such key") };
        (reply.body.clone().unwrap_or_default().into_bytes(), reply)
    })
}

fn answer(inner: &Mutex<Inner>, seen: Seen) -> (Vec<u8>, Reply) {
    let mut inner = lock(inner);
    let at = inner.seen.len();
    let found: Vec<String> = check::problems(&seen, KEY, &inner.issued);
    inner.problems.extend(found.into_iter().map(|problem| format!("request {at}: {problem}")));
    let next = inner.replies.iter().position(|reply| reply.on.as_ref().is_none_or(|words| seen.body.contains(words)));
    let mut reply = next.and_then(|next| inner.replies.remove(next)).unwrap_or_else(|| {
        inner.problems.push(format!("request {at}: the script has no reply left"));
        Reply::error(500, "the script has no reply left")
    });
    let model = check::model(&seen);
    if let Some(meter) = &mut inner.meter {
        reply.usage = Usage { output: reply.usage.output, ..meter(&seen) };
    }
    let body = match (&reply.body, seen.api) {
        (Some(body), _) => body.clone().into_bytes(),
        (None, Some(api)) => {
            inner.issued.push(Issued::of(&reply, api, &model));
            render(&reply, api, &model, Number(at + 1))
        }
        (None, None) => {
            inner.problems.push(format!("request {at}: nobody listens at {}", seen.path));
            Vec::new()
        }
    };
    inner.seen.push(seen);
    inner.arrived.notify_all();
    (body, reply)
}

/// Sends a response. Returns whether the connection stays open.
fn send(stream: &mut TcpStream, bytes: &[u8], reply: &Reply, end: &Gate) -> std::io::Result<bool> {
    let mut head = format!("HTTP/1.1 {} Scripted\r\ntransfer-encoding: chunked\r\n", reply.status);
    if reply.status == 200 && !reply.headers.contains_key("content-type") {
        head.push_str("content-type: text/event-stream\r\n");
    }
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {}\r\n", value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    let bytes = bytes.get(..reply.cut.unwrap_or(bytes.len()).min(bytes.len())).unwrap_or_default();
    let (before, after) = match &reply.gate {
        Some((at, _)) => bytes.split_at((*at).min(bytes.len())),
        None => (bytes, &[][..]),
    };
    write_chunks(stream, before, reply)?;
    if let Some((_, gate)) = &reply.gate {
        gate.pass();
        write_chunks(stream, after, reply)?;
    }
    match reply.then {
        Then::End => stream.write_all(b"0\r\n\r\n").map(|()| true),
        Then::Drop => Ok(false),
        Then::Hang => {
            end.pass();
            Ok(false)
        }
    }
}

fn write_chunks(stream: &mut TcpStream, bytes: &[u8], reply: &Reply) -> std::io::Result<()> {
    let size = if reply.chunk == 0 { bytes.len().max(1) } else { reply.chunk };
    for chunk in bytes.chunks(size) {
        if let Some(pace) = &reply.pace {
            pace.pass();
        }
        let mut framed = format!("{:x}\r\n", chunk.len()).into_bytes();
        framed.extend_from_slice(chunk);
        framed.extend_from_slice(b"\r\n");
        stream.write_all(&framed)?;
    }
    Ok(())
}

/// An event of Bedrock, as the server would send it.
pub fn bedrock_frame(name: &str, data: &serde_json::Value) -> Vec<u8> {
    let mut out = Vec::new();
    frame(&mut out, name, data);
    out
}

/// The body of a reply, as the server would send it.
pub fn body(reply: &Reply, api: Api, model: &str) -> Vec<u8> {
    reply.body.clone().map_or_else(|| render(reply, api, model, Number(1)), String::into_bytes)
}
