//! The only place that uses the network: sends a request, reads the answer's bytes, and describes errors.
//!
//! Redirects are not followed: they would carry the key to a host that the first server names.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::stream;
use offshoot_protocol::model::Model;
use offshoot_protocol::{AnswerLimits, CacheRetention, HttpOptions, Resend, ThinkingBudgets, in_words};
use offshoot_session::clock::Clock;
use offshoot_session::text::counted;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Proxy, Response, redirect};
use tokio::time::{Instant, timeout_at};

use super::address::url_host;
use super::classify::AnswerTrouble;
use super::roots::ExtraRoots;
use super::wire::{Outgoing, Reader};
use super::{Answer, Delta, Deltas, Hooks, Provider, Request, limits, retry_after, signing};
use crate::words::innermost;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// The endpoint of containers at EKS.
const CONTAINER: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23);
/// Before a request is sent again, in milliseconds: doubled each time, up to 8 s.
const FIRST_WAIT: u64 = 500;
const NEVER: Duration = Duration::from_secs(365 * 24 * 3600);
const MAX_ERROR_TEXT: usize = 4000;
const MAX_ERROR_BODY: usize = 256 << 10;

/// The wait before the request is sent again; `None`: the agent decides.
fn wait_before(resend: Resend, sent: u32, trouble: &AnswerTrouble) -> Option<Duration> {
    let failure = trouble.failure_of("");
    let is_worth_it = sent <= resend.most && failure.is_transient;
    let wait = failure.retry_after.unwrap_or_else(|| FIRST_WAIT << (sent - 1).min(4));
    let is_short = resend.longest_wait.is_none_or(|longest| wait <= longest);
    (is_worth_it && is_short).then(|| Duration::from_millis(wait))
}

/// The provider for all wire formats.
#[derive(Clone)]
pub struct Http {
    clock: Arc<dyn Clock>,
    options: HttpOptions,
    limits: AnswerLimits,
    tells_causes: bool,
    /// For servers on this machine: without certificates and proxies, which would take time to load.
    local: Arc<OnceLock<Result<Client, String>>>,
    roots: ExtraRoots,
    remote: Arc<OnceLock<Result<Client, String>>>,
}

impl Http {
    /// Connections are made when needed, and kept.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let (options, limits, tells_causes) = Default::default();
        let (local, roots, remote) = Default::default();
        Self { clock, options, limits, tells_causes, local, roots, remote }
    }

    /// The usual options are those of [`HttpOptions::default`].
    #[must_use]
    pub fn with_options(self, options: HttpOptions) -> Self {
        Self { options, local: Arc::default(), remote: Arc::default(), ..self }
    }

    /// Without them the system's roots count alone.
    #[must_use]
    pub fn with_roots(self, roots: ExtraRoots) -> Self {
        Self { roots, local: Arc::default(), remote: Arc::default(), ..self }
    }

    /// The usual limits are those of [`AnswerLimits::default`].
    #[must_use]
    pub fn with_limits(self, limits: AnswerLimits) -> Self {
        Self { limits, ..self }
    }

    /// A lost connection is told with every cause that the libraries below give, or as one sentence.
    #[must_use]
    pub fn telling_causes(self, tells_causes: bool) -> Self {
        Self { tells_causes, ..self }
    }

    /// The client for an address that belongs to no model, with the same proxy and certificates. It follows no redirect.
    ///
    /// # Errors
    /// The proxy or a certificate cannot be used.
    pub fn client_for(&self, url: &str) -> Result<Client, String> {
        self.client(url).map_err(|trouble| trouble.text)
    }

    fn client(&self, url: &str) -> Result<Client, AnswerTrouble> {
        let is_local = is_local(url);
        let cell = if is_local { &self.local } else { &self.remote };
        let made = cell.get_or_init(|| {
            // If another part of the program has installed a provider, it stays.
            let _already = rustls::crypto::ring::default_provider().install_default();
            let builder = Client::builder()
                .redirect(redirect::Policy::none())
                .connect_timeout(CONNECT_TIMEOUT)
                .user_agent(concat!("offshoot/", env!("CARGO_PKG_VERSION")));
            let builder = match self.options.silence {
                Some(silence) => builder.read_timeout(silence),
                None => builder,
            };
            let builder = match &self.options.proxy {
                _ if is_local => builder.no_proxy().tls_certs_only([]),
                Some(proxy) => builder.proxy(Proxy::all(proxy).map_err(|error| in_words(&error))?),
                None => builder,
            };
            let builder = if is_local { builder } else { self.roots.add_to(builder) };
            builder.build().map_err(|error| in_words(&error))
        });
        made.clone().map_err(|error| AnswerTrouble {
            text: format!("could not set up HTTP: {error}"),
            ..AnswerTrouble::default()
        })
    }
}

impl Http {
    /// Sends a request without a body. Nothing of a good answer is read.
    pub(super) async fn get(&self, outgoing: &Outgoing) -> Result<(), AnswerTrouble> {
        let get = self.client(&outgoing.url)?.get(&outgoing.url).headers(headers(outgoing)?);
        let response = get.send().await.map_err(|error| self.unreachable(&outgoing.url, error))?;
        if response.status().is_success() { Ok(()) } else { Err(error_of(response, self.clock.now()).await) }
    }

    /// [`Self::fetch`] for an address that belongs to no model. The error is the server's message, or why there is none.
    pub(crate) async fn fetch_bytes(&self, outgoing: &Outgoing, limit: usize) -> Result<Vec<u8>, String> {
        self.fetch(outgoing, limit).await.map_err(|trouble| trouble.text)
    }

    /// Reads a whole answer of at most `limit` bytes: a request without a body is a GET, else a POST.
    pub(super) async fn fetch(&self, outgoing: &Outgoing, limit: usize) -> Result<Vec<u8>, AnswerTrouble> {
        let (client, headers) = (self.client(&outgoing.url)?, headers(outgoing)?);
        let request = match outgoing.body.is_empty() {
            true => client.get(&outgoing.url),
            false => client.post(&outgoing.url).body(outgoing.body.clone()),
        };
        let sent = request.headers(headers).send().await.map_err(|error| {
            // Somebody listens who speaks another protocol.
            let is_lost = error.is_connect();
            AnswerTrouble { is_lost, ..self.unreachable(&outgoing.url, error) }
        });
        let mut response = sent?;
        if !response.status().is_success() {
            return Err(error_of(response, self.clock.now()).await);
        }
        let mut answer = Vec::new();
        let broken = |error: reqwest::Error| AnswerTrouble::lost(self.lost(&error.without_url()));
        while let Some(bytes) = response.chunk().await.map_err(broken)? {
            if answer.len() + bytes.len() > limit {
                let text = format!("its answer has more than {limit} bytes");
                return Err(AnswerTrouble { text, ..AnswerTrouble::default() });
            }
            answer.extend_from_slice(&bytes);
        }
        Ok(answer)
    }
}

/// Whether the address is unencrypted and on this machine, or on its link, where containers have their endpoints.
fn is_local(url: &str) -> bool {
    let Some(("http", name)) = url_host(url) else { return false };
    let is_near = |address: IpAddr| match address {
        IpAddr::V4(four) => four.is_loopback() || four.is_link_local(),
        IpAddr::V6(six) => six.is_loopback() || six == CONTAINER,
    };
    name == "localhost" || name.parse().is_ok_and(is_near)
}

impl Provider for Http {
    fn sends_images(&self) -> bool {
        self.options.sends_images
    }

    fn stream(&self, mut request: Request) -> Deltas {
        let HttpOptions { sends_images, budgets, cache_retention, .. } = self.options;
        if !sends_images || budgets != ThinkingBudgets::default() || cache_retention.is_some() {
            let images = request.model.images && sends_images;
            let cache_retention = match request.model.cache_retention {
                CacheRetention::None => CacheRetention::None,
                own => cache_retention.unwrap_or(own),
            };
            request.model = Arc::new(Model { images, budgets, cache_retention, ..Model::clone(&request.model) });
        }
        let answer =
            Answering { http: self.clone(), state: StreamState::Before(request), queue: Vec::new().into_iter() };
        Box::pin(stream::unfold(Box::new(answer), |mut answer| async move {
            let delta = answer.next().await?;
            Some((delta, answer))
        }))
    }
}

struct Answering {
    http: Http,
    state: StreamState,
    queue: std::vec::IntoIter<Delta>,
}

enum StreamState {
    Before(Request),
    Within(Box<ReceivedResponse>),
    /// The last delta was returned, or is in the queue.
    After,
}

struct ReceivedResponse {
    response: Response,
    reader: Reader,
    mask: Mask,
    bytes: u64,
    deadline: Instant,
    /// Who gets the events as they are, and the model that sends them.
    listener: Option<(Hooks, Arc<Model>)>,
}

impl Answering {
    async fn next(&mut self) -> Option<Delta> {
        loop {
            if let Some(delta) = self.queue.next() {
                return Some(delta);
            }
            let deltas = match std::mem::replace(&mut self.state, StreamState::After) {
                StreamState::Before(request) => self.send(&request).await,
                StreamState::Within(within) => self.read(within).await,
                StreamState::After => return None,
            };
            self.queue = deltas.into_iter();
        }
    }

    async fn send(&mut self, request: &Request) -> Vec<Delta> {
        let now = self.http.clock.now();
        let mut mask = Mask::of(request);
        let (mut outgoing, mut reader) = match (Outgoing::new(request), Reader::new(request, now)) {
            (Ok(outgoing), Ok(reader)) => (outgoing, reader),
            (Err(error), _) | (_, Err(error)) => return refused(&request.model, error.to_string(), now),
        };
        request.hooks.change(&request.model.headers, &mut outgoing).await;
        mask.add(&outgoing.headers);
        // Last: the signature covers what the hooks have changed.
        if let Some(keys) = &request.model.signing
            && let Err(why) = signing::sign(keys, &mut outgoing, now)
        {
            return refused(&request.model, why, now);
        }
        let limits = self.http.limits;
        // A limit beyond the clock's end is none.
        let deadline = Instant::now().checked_add(limits.time).unwrap_or_else(|| Instant::now() + NEVER);
        match timeout_at(deadline, self.post(&outgoing, now)).await.unwrap_or_else(|_| Err(limits::late(limits))) {
            Ok(response) => {
                let before = Instant::now();
                request.hooks.received(response.status().as_u16(), texts(response.headers())).await;
                let deadline = deadline.checked_add(before.elapsed()).unwrap_or(deadline);
                let deltas = reader.start();
                let listener = request.hooks.want_events().then(|| (request.hooks.clone(), request.model.clone()));
                if listener.is_some() {
                    reader.keep_events();
                }
                let received = ReceivedResponse { response, reader, mask, bytes: 0, deadline, listener };
                self.state = StreamState::Within(Box::new(received));
                deltas
            }
            Err(trouble) => mask.all(reader.fail(&signing::in_words(&request.model, trouble))),
        }
    }

    async fn post(&self, outgoing: &Outgoing, now: i64) -> Result<Response, AnswerTrouble> {
        let HttpOptions { response, resend, .. } = self.http.options;
        let mut sent = 1;
        loop {
            let posted = match response {
                None => self.post_once(outgoing, now).await,
                Some(longest) => {
                    tokio::time::timeout(longest, self.post_once(outgoing, now)).await.unwrap_or_else(|_| {
                        let after = format!("after {} ms the server had not begun to answer", longest.as_millis());
                        Err(AnswerTrouble::lost(format!(
                            "{after} (the setting retry.provider.timeoutMs changes the limit)"
                        )))
                    })
                }
            };
            let Err(trouble) = &posted else { return posted };
            let Some(wait) = wait_before(resend, sent, trouble) else { return posted };
            tokio::time::sleep(wait).await;
            sent += 1;
        }
    }

    async fn post_once(&self, outgoing: &Outgoing, now: i64) -> Result<Response, AnswerTrouble> {
        let client = self.http.client(&outgoing.url)?;
        let post = client.post(&outgoing.url).headers(headers(outgoing)?).body(outgoing.body.clone());
        let response = post.send().await.map_err(|error| self.http.unreachable(&outgoing.url, error))?;
        if response.status().is_success() { Ok(response) } else { Err(error_of(response, now).await) }
    }

    async fn read(&mut self, mut within: Box<ReceivedResponse>) -> Vec<Delta> {
        let ReceivedResponse { response, reader, mask, bytes: received, deadline, listener } = &mut *within;
        let limits = self.http.limits;
        let deltas = match timeout_at(*deadline, response.chunk()).await {
            Err(_) => reader.fail(&limits::late(limits)),
            Ok(Ok(Some(bytes))) => {
                *received += bytes.len() as u64;
                let mut deltas = reader.push(&bytes);
                if let Err(trouble) = limits::check(limits, *received, reader.blocks()) {
                    deltas.extend(reader.fail(&trouble));
                }
                deltas
            }
            Ok(Ok(None)) => reader.end(),
            Ok(Err(error)) => reader.fail(&AnswerTrouble::lost(self.http.lost(&error.without_url()))),
        };
        if let Some((hooks, model)) = listener {
            let before = Instant::now();
            hooks.stream_events(model, reader.take_events()).await;
            *deadline = deadline.checked_add(before.elapsed()).unwrap_or(*deadline);
        }
        let deltas = mask.all(deltas);
        if !reader.is_done() {
            self.state = StreamState::Within(within);
        }
        deltas
    }
}

fn headers(outgoing: &Outgoing) -> Result<HeaderMap, AnswerTrouble> {
    let mut map = HeaderMap::new();
    for (name, value) in &outgoing.headers {
        let bad = || AnswerTrouble {
            text: format!("header `{name}` cannot be sent: it has a character that headers cannot have"),
            ..AnswerTrouble::default()
        };
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        let mut value = HeaderValue::from_str(value.expose().trim()).map_err(|_| bad())?;
        value.set_sensitive(true);
        map.insert(key, value);
    }
    Ok(map)
}

fn texts(headers: &HeaderMap) -> impl Iterator<Item = (String, String)> {
    headers.iter().map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
}

impl Http {
    fn lost(&self, error: &reqwest::Error) -> String {
        self.with_causes(lost(error), error)
    }

    fn unreachable(&self, url: &str, error: reqwest::Error) -> AnswerTrouble {
        let is_lost = !error.is_builder();
        let error = error.without_url();
        // The address without credentials.
        let host = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = host.split('/').next().unwrap_or_default();
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let text = self.with_causes(format!("could not reach {host}: {}", innermost(&error)), &error);
        AnswerTrouble { text, is_lost, ..AnswerTrouble::default() }
    }

    /// The sentence; on demand followed by what each layer below says, from the outermost in.
    fn with_causes(&self, sentence: String, error: &reqwest::Error) -> String {
        if !self.tells_causes {
            return sentence;
        }
        let causes: Vec<String> = causes(error).map(ToString::to_string).collect();
        format!("{sentence} ({})", causes.join(": "))
    }
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source())
}

/// A lost connection as one sentence. The layers above the system's error say only who passed it on, and without a system's error
/// the connection just ended.
fn lost(error: &reqwest::Error) -> String {
    let what = "the connection was lost while the answer came in";
    let system = causes(error).filter_map(|cause| cause.downcast_ref::<std::io::Error>()).last();
    match system.filter(|error| error.raw_os_error().is_some()) {
        Some(error) => format!("{what}: {}", innermost(error).to_lowercase()),
        None => what.to_owned(),
    }
}

async fn error_of(mut response: Response, now: i64) -> AnswerTrouble {
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let mut body = Vec::new();
    while body.len() < MAX_ERROR_BODY {
        // The body received before a lost connection is worth showing.
        let Ok(Some(bytes)) = response.chunk().await else { break };
        body.extend_from_slice(&bytes);
    }
    let body = String::from_utf8_lossy(&body);
    let body = body.trim();
    let mut text = if body.is_empty() { format!("{status} status code (no body)") } else { format!("{status} {body}") };
    if let Some((at, _)) = text.char_indices().nth(MAX_ERROR_TEXT) {
        let more = text.chars().count() - MAX_ERROR_TEXT;
        text.truncate(at);
        text.push_str(&format!("... [{}]", counted(more, "more character", "more characters")));
    }
    let wait = retry_after::milliseconds(header, now).or_else(|| retry_after::in_body(body));
    let may_retry = header("x-should-retry").and_then(|text| text.parse().ok());
    AnswerTrouble { status: Some(status), text, retry_after: wait, may_retry, is_lost: false, is_damage: false }
}

fn refused(model: &Arc<Model>, text: String, now: i64) -> Vec<Delta> {
    let mut draft = super::draft::AnswerDraft::new(model.clone(), now);
    draft.fail(&AnswerTrouble { text, ..AnswerTrouble::default() });
    draft.take()
}

/// Secrets that servers may echo in errors.
struct Mask(Vec<super::Secret>);

impl Mask {
    fn of(request: &Request) -> Self {
        let mut mask = Self(request.key.iter().cloned().collect());
        mask.add(&request.model.headers);
        if let Some(keys) = &request.model.signing {
            mask.0.push(keys.secret_access_key.clone());
            mask.0.extend(keys.session_token.clone());
        }
        mask
    }

    fn add(&mut self, headers: &[(String, super::Secret)]) {
        let telling = ["auth", "key", "token", "secret", "cookie"];
        let is_telling = |name: &str| telling.iter().any(|part| name.to_ascii_lowercase().contains(part));
        for (_, value) in headers.iter().filter(|(name, _)| is_telling(name)) {
            // A server may echo a header with or without the word before the key.
            let bare = super::Secret::new(value.expose().rsplit(' ').next().unwrap_or_default());
            let new = [value.clone(), bare].into_iter().filter(|secret| !self.0.contains(secret)).collect::<Vec<_>>();
            self.0.extend(new);
        }
    }

    fn all(&self, mut deltas: Vec<Delta>) -> Vec<Delta> {
        if let Some(Delta::Done(answer)) = deltas.last_mut() {
            self.one(answer);
        }
        deltas
    }

    fn one(&self, answer: &mut Answer) {
        if let Some(text) = &mut answer.message.error_message {
            for secret in &self.0 {
                *text = secret.mask(text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_sent_again_only_where_that_may_help() {
        let busy = AnswerTrouble { status: Some(503), ..AnswerTrouble::default() };
        let asking = |ms| AnswerTrouble { retry_after: Some(ms), ..busy.clone() };
        let resend = Resend { most: 7, longest_wait: Some(60_000) };
        let waits: Vec<_> = (1..=8).map(|sent| wait_before(resend, sent, &busy).map(|wait| wait.as_millis())).collect();
        let expected = [500, 1000, 2000, 4000, 8000, 8000, 8000].map(Some);
        assert_eq!(waits[..7], expected);
        assert_eq!(waits[7], None, "as often as it is allowed");
        assert_eq!(wait_before(resend, 1, &asking(60_000)), Some(Duration::from_secs(60)));
        assert_eq!(wait_before(resend, 1, &asking(60_001)), None, "the agent reports so long a wait");
        assert_eq!(
            wait_before(Resend { longest_wait: None, ..resend }, 1, &asking(60_001)),
            Some(Duration::from_millis(60_001))
        );
        assert_eq!(wait_before(resend, 1, &AnswerTrouble { status: Some(401), ..busy.clone() }), None);
        assert_eq!(wait_before(resend, 1, &AnswerTrouble { may_retry: Some(false), ..busy.clone() }), None);
        assert_eq!(wait_before(Resend::default(), 1, &busy), None);
    }

    #[test]
    fn only_plain_addresses_on_this_machine_are_local() {
        for url in [
            "http://127.0.0.1:8080/v1",
            "http://localhost/v1",
            "http://[::1]:11434",
            "http://u:p@127.9.9.9",
            "http://169.254.170.2/v2",
            "http://[fd00:ec2::23]/v1",
        ] {
            assert!(is_local(url), "{url}");
        }
        for url in
            ["https://localhost/v1", "http://localhost.evil.example/", "http://10.0.0.1", "http://example.org@x/"]
        {
            assert!(!is_local(url), "{url}");
        }
    }
}
