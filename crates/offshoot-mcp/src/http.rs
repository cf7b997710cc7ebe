//! A server that is reached over HTTP: each message is a POST, whose answer is one message or a stream of them. In the older era the
//! server may name a session, and sends what it says unasked in a stream of its own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use offshoot_agent::provider::{Http, Sse};
use offshoot_protocol::{Secret, in_words};
use offshoot_session::text::one_line;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use crate::era::{Era, version_of};
use crate::message::{Incoming, LONGEST_MESSAGE, METHOD_NOT_FOUND, RpcError};
use crate::oauth::{TokenStore, refresh};
use crate::param_headers::{ParamHeader, encoded};
use crate::pauses::{LONGEST_PAUSE, Pauses};
use crate::peer::{CallError, Carrier, Closing, Peer, PeerParts};

const BOTH: &str = "application/json, text/event-stream";
const STREAM: &str = "text/event-stream";
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const LAST_EVENT: &str = "last-event-id";
/// A session's name is not longer.
const LONGEST_SESSION: usize = 1024;
/// More of an answer that refuses is not read.
const LONGEST_REFUSAL: usize = 64 << 10;
/// A stream that ends without the answer is continued so often.
const MOST_RESUMED: usize = 5;
/// Where the server wishes none.
const PAUSE: Duration = Duration::from_millis(500);
/// A good-bye takes no longer.
const FAREWELL: Duration = Duration::from_secs(2);

struct HttpLine {
    client: Client,
    url: String,
    headers: HeaderMap,
    /// Of a person who has signed in.
    tokens: Arc<dyn TokenStore>,
    /// One refresh at a time.
    refreshing: tokio::sync::Mutex<()>,
    peer: OnceLock<Weak<Peer>>,
    state: Mutex<LineState>,
}

#[derive(Default)]
struct LineState {
    session: Option<String>,
    version: Option<String>,
    era: Option<Era>,
    /// Requests under way.
    tasks: HashMap<u64, AbortHandle>,
    /// The stream of what the server says unasked.
    stream: Option<AbortHandle>,
    /// By tool.
    headers: HashMap<String, Vec<ParamHeader>>,
}

struct HttpCarrier(Arc<HttpLine>);

/// A connection to a server. Nothing is sent yet.
///
/// # Errors
/// A header is none, or the client cannot be made, as a clause.
pub(crate) fn open(
    http: &Http,
    (url, headers): (&str, &[(String, Secret)]),
    tokens: Arc<dyn TokenStore>,
    parts: PeerParts,
) -> Result<Arc<Peer>, String> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let wrong = |_| format!("the header {name} cannot be sent");
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("{name:?} is no name of a header"))?;
        let mut value = HeaderValue::from_str(value.expose()).map_err(wrong)?;
        value.set_sensitive(true);
        map.insert(key, value);
    }
    let client = http.client_for(url)?;
    let (peer, state) = (OnceLock::new(), Mutex::default());
    let refreshing = tokio::sync::Mutex::default();
    let line = Arc::new(HttpLine { client, url: url.to_owned(), headers: map, tokens, refreshing, peer, state });
    let peer = Peer::new(Box::new(HttpCarrier(line.clone())), parts);
    // Set once, here.
    line.peer.set(Arc::downgrade(&peer)).unwrap_or(());
    Ok(peer)
}

impl Carrier for HttpCarrier {
    fn send(&self, message: Value, id: Option<u64>) {
        let line = self.0.clone();
        let task = tokio::spawn(async move {
            let sent = line.post(&message, id).await;
            let Some(peer) = line.peer() else { return };
            if let (Some(id), Err(error)) = (id, &sent) {
                peer.settle(id, Err(error.clone()));
            }
            if sent == Err(CallError::SessionLost) {
                peer.lose(&CallError::SessionLost);
            }
            id.into_iter().for_each(|id| drop(line.state().tasks.remove(&id)));
        });
        if let Some(id) = id.filter(|_| !task.is_finished()) {
            self.0.state().tasks.insert(id, task.abort_handle());
        }
    }

    /// In the newer era the end of the stream says it; in the older one a stream may end by accident.
    fn forget(&self, id: u64) -> bool {
        let mut state = self.0.state();
        if let Some(task) = state.tasks.remove(&id) {
            task.abort();
        }
        state.era != Some(Era::Modern)
    }

    fn settled(&self, era: Era, version: &str) {
        let mut state = self.0.state();
        (state.era, state.version) = (Some(era), Some(version.to_owned()));
        if era == Era::Legacy && state.stream.is_none() {
            let line = self.0.clone();
            state.stream = Some(tokio::spawn(async move { line.follow().await }).abort_handle());
        }
    }

    fn designate(&self, headers: HashMap<String, Vec<ParamHeader>>) {
        self.0.state().headers = headers;
    }

    fn close(&self) -> Closing<'_> {
        Box::pin(async {
            let (stream, session) = {
                let mut state = self.0.state();
                (state.stream.take(), state.session.clone())
            };
            stream.into_iter().for_each(|stream| stream.abort());
            if session.is_some() {
                let request = self.0.with_headers(self.0.client.delete(&self.0.url));
                // A server need not allow it.
                drop(tokio::time::timeout(FAREWELL, request.send()).await);
            }
        })
    }
}

impl Drop for HttpCarrier {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.stream.take().into_iter().for_each(|stream| stream.abort());
        state.tasks.drain().for_each(|(_, task)| task.abort());
    }
}

/// What the answer to a POST has come to.
enum Read {
    Done,
    /// The stream has ended before the answer; from where it can be continued, and after how long.
    Cut(Option<String>, Duration),
}

impl HttpLine {
    fn state(&self) -> MutexGuard<'_, LineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn peer(&self) -> Option<Arc<Peer>> {
        self.peer.get()?.upgrade()
    }

    fn with_headers(&self, request: RequestBuilder) -> RequestBuilder {
        let state = self.state();
        let request = request.headers(self.headers.clone());
        let request = match self.bearer() {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        let request = match &state.session {
            Some(session) => request.header(SESSION, session),
            None => request,
        };
        match &state.version {
            // In the newer era each message names its own.
            Some(version) if state.era == Some(Era::Legacy) => request.header(VERSION, version),
            Some(_) | None => request,
        }
    }

    /// The token of a person who has signed in; a configured header comes before it.
    fn bearer(&self) -> Option<String> {
        (!self.headers.contains_key(AUTHORIZATION)).then(|| self.tokens.tokens())?.map(|tokens| tokens.access_token)
    }

    /// New tokens in place of those that the server has refused. Whether there are any.
    async fn refresh(&self, refused: Option<String>) -> bool {
        let Some(refused) = refused else { return false };
        let _one = self.refreshing.lock().await;
        match self.tokens.tokens() {
            // Somebody else has refreshed them meanwhile.
            Some(tokens) if tokens.access_token != refused => true,
            Some(tokens) => match refresh(&self.client, &tokens).await {
                Ok(tokens) => self.tokens.keep(Some(&tokens)).is_ok(),
                Err(_) => false,
            },
            None => false,
        }
    }

    /// Sends a message. What a server refuses for its token has not been done: it is sent again with a new one, once.
    async fn post(&self, message: &Value, id: Option<u64>) -> Result<(), CallError> {
        let used = self.bearer();
        match self.post_once(message, id).await {
            Err(CallError::SignIn(_)) if self.refresh(used).await => self.post_once(message, id).await,
            posted => posted,
        }
    }

    async fn post_once(&self, message: &Value, id: Option<u64>) -> Result<(), CallError> {
        let request = self.client.post(&self.url).header(ACCEPT, BOTH).header(CONTENT_TYPE, "application/json");
        let mut request = self.with_headers(request).body(message.to_string());
        if let Some(version) = version_of(message) {
            let method = message["method"].as_str().unwrap_or_default();
            let name = message["params"]["name"].as_str().or(message["params"]["uri"].as_str());
            request = request.header(VERSION, version).header("mcp-method", method);
            if let Some(name) = name.and_then(|name| HeaderValue::from_str(name).ok()) {
                request = request.header("mcp-name", name);
            }
            for (name, value) in self.repeated(message) {
                request = request.header(name, value);
            }
        }
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        let response = self.accepted(response).await?;
        self.keep_session(&response);
        let Some(id) = id else { return Ok(()) };
        let mut read = self.read(response, Some(id)).await?;
        for _ in 0..MOST_RESUMED {
            let Read::Cut(Some(from), pause) = read else { break };
            sleep(pause).await;
            let request = self.with_headers(self.client.get(&self.url)).header(ACCEPT, STREAM).header(LAST_EVENT, from);
            let response = request.send().await.map_err(|error| self.unreachable(&error))?;
            read = self.read(self.accepted(response).await?, Some(id)).await?;
        }
        match read {
            Read::Done => Ok(()),
            Read::Cut(..) => Err(CallError::Gone("the server ended its answer before the result".to_owned())),
        }
    }

    /// The arguments of a call that its tool wants as headers, too.
    fn repeated(&self, message: &Value) -> Vec<(HeaderName, HeaderValue)> {
        let params = &message["params"];
        let tool = params["name"].as_str().filter(|_| message["method"] == "tools/call");
        let state = self.state();
        let designated = tool.and_then(|tool| state.headers.get(tool)).into_iter().flatten();
        let header = |ParamHeader { param, header }: &ParamHeader| {
            let value = encoded(params["arguments"].get(param)?)?;
            Some((HeaderName::from_bytes(header.as_bytes()).ok()?, HeaderValue::from_str(&value).ok()?))
        };
        designated.filter_map(header).collect()
    }

    fn keep_session(&self, response: &Response) {
        let session = response.headers().get(SESSION).and_then(|session| session.to_str().ok());
        if let Some(session) = session.filter(|session| session.len() <= LONGEST_SESSION) {
            self.state().session = Some(session.to_owned());
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> CallError {
        // An address may have a key in it.
        let host = reqwest::Url::parse(&self.url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let without = error.to_string().replace(&self.url, "its address");
        let cause = std::error::Error::source(error).map_or(without, in_words);
        CallError::Gone(format!("{} cannot be reached: {cause}", host.unwrap_or_else(|| "the server".to_owned())))
    }

    /// The response, unless it refuses.
    async fn accepted(&self, response: Response) -> Result<Response, CallError> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if status == StatusCode::UNAUTHORIZED
            || (status == StatusCode::FORBIDDEN && response.headers().contains_key(WWW_AUTHENTICATE))
        {
            let why = response
                .headers()
                .get(WWW_AUTHENTICATE)
                .and_then(|value| value.to_str().ok())
                .unwrap_or("it answered 401");
            return Err(CallError::SignIn(one_line(why, 500)));
        }
        let has_session = self.state().session.is_some();
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(CallError::SessionLost);
        }
        let body = bounded(response, LONGEST_REFUSAL).await.unwrap_or_default();
        if let Ok(value) = serde_json::from_slice::<Value>(&body)
            && value["error"].is_object()
        {
            return Err(CallError::Refused(RpcError::of(&value["error"])));
        }
        if status.is_client_error() {
            let message = format!("it answered {status}");
            return Err(CallError::Refused(RpcError { code: METHOD_NOT_FOUND, message, data: Value::Null }));
        }
        Err(CallError::Gone(format!("it answered {status}")))
    }

    /// Gives what arrives to the peer. With an id it is read until that is answered.
    async fn read(&self, mut response: Response, id: Option<u64>) -> Result<Read, CallError> {
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let broken = |error: reqwest::Error| {
            CallError::Gone(format!("its answer was cut off: {}", in_words(&error.without_url())))
        };
        if !kind.starts_with(STREAM) {
            let body = bounded(response, LONGEST_MESSAGE).await.map_err(CallError::Gone)?;
            let is_answered = self.take(&body, id);
            return if is_answered || id.is_none() {
                Ok(Read::Done)
            } else {
                Err(CallError::Gone("its answer is not a message of the protocol".to_owned()))
            };
        }
        let (mut sse, mut is_answered, mut is_too_long) = (Sse::default(), false, false);
        let mut is_broken = false;
        while !is_answered && !is_too_long {
            match response.chunk().await {
                Ok(Some(bytes)) => {
                    let mut each = |_: &str, data: &str| is_answered |= self.take(data.as_bytes(), id);
                    is_too_long = sse.push(&bytes, &mut each).is_err();
                }
                Ok(None) => break,
                Err(_) if sse.last_id().is_some() => {
                    is_broken = true;
                    break;
                }
                Err(error) => return Err(broken(error)),
            }
        }
        if is_too_long {
            return Err(CallError::Gone("it sent an event of more than 64 MiB".to_owned()));
        }
        if !is_answered && !is_broken {
            sse.end(&mut |_, data| is_answered |= self.take(data.as_bytes(), id));
        }
        let pause = sse.retry_ms().map_or(PAUSE, Duration::from_millis).min(LONGEST_PAUSE);
        Ok(if is_answered { Read::Done } else { Read::Cut(sse.last_id().map(str::to_owned), pause) })
    }

    /// Whether the message answers this request.
    fn take(&self, message: &[u8], id: Option<u64>) -> bool {
        let Some(peer) = self.peer() else { return true };
        let mut is_answered = false;
        for incoming in Incoming::parse_all(message) {
            is_answered |= matches!(&incoming, Incoming::Answer { id: answered, .. } if Some(*answered) == id);
            peer.take(incoming);
        }
        is_answered
    }

    /// Follows what a server of the older era says unasked, as long as anybody has the connection.
    async fn follow(self: Arc<Self>) {
        let (mut from, mut pauses) = (None::<String>, Pauses::default());
        loop {
            let request = self.with_headers(self.client.get(&self.url)).header(ACCEPT, STREAM);
            let request = match &from {
                Some(from) => request.header(LAST_EVENT, from),
                None => request,
            };
            let begun = Instant::now();
            let pause = match request.send().await {
                Ok(response) if response.status().is_success() => match self.read(response, None).await {
                    Ok(Read::Cut(last, wish)) => {
                        from = last.or(from);
                        pauses.after(begun.elapsed()).max(wish)
                    }
                    Ok(Read::Done) | Err(_) => pauses.after(begun.elapsed()),
                },
                // Not every server has one.
                Ok(response) if response.status().is_client_error() => return,
                Ok(_) | Err(_) => pauses.after(Duration::ZERO),
            };
            if self.peer().is_none_or(|peer| peer.is_gone()) {
                return;
            }
            sleep(pause).await;
        }
    }
}

async fn bounded(mut response: Response, limit: usize) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    let broken = |error: reqwest::Error| format!("its answer was cut off: {}", in_words(&error.without_url()));
    while let Some(bytes) = response.chunk().await.map_err(broken)? {
        if body.len() + bytes.len() > limit {
            return Err(format!("its answer has more than {} MiB", limit >> 20));
        }
        body.extend_from_slice(&bytes);
    }
    Ok(body)
}
