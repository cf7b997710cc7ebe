//! The wire formats behind one interface. Does not use the network.

use offshoot_protocol::Secret;
use offshoot_protocol::model::Model;

use super::classify::AnswerTrouble;
use super::decoding::{Decoder, Next, cut_off, reported};
use super::draft::AnswerDraft;
use super::event_frames::{BadFrame, EventFrames};
use super::halves::HalfJoiner;
use super::sse::Sse;
use super::{AZURE_RESPONSES, Delta, Request, anthropic, bedrock, completions, google, mistral, responses};
use offshoot_session::clock::Millis;

mod affinity;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Api {
    Anthropic,
    Responses,
    Completions,
    Google,
    Mistral,
    Bedrock,
}

impl Api {
    /// Every wire format.
    pub const ALL: [Self; 6] =
        [Self::Anthropic, Self::Responses, Self::Completions, Self::Google, Self::Mistral, Self::Bedrock];

    /// Those whose answers are server-sent events.
    pub const OF_TEXT: [Self; 5] = [Self::Anthropic, Self::Responses, Self::Completions, Self::Google, Self::Mistral];

    /// Finds a wire format by its name.
    pub fn parse(name: &str) -> Option<Self> {
        let of_azure = (name == AZURE_RESPONSES).then_some(Self::Responses);
        Self::ALL.into_iter().find(|api| api.as_str() == name).or(of_azure)
    }

    /// The name, as in `models.json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic-messages",
            Self::Responses => "openai-responses",
            Self::Completions => "openai-completions",
            Self::Google => "google-generative-ai",
            Self::Mistral => "mistral-conversations",
            Self::Bedrock => "bedrock-converse-stream",
        }
    }
}

/// A request, ready to be sent.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Outgoing {
    pub url: String,
    /// The key is in one header and nowhere else.
    pub headers: Vec<(String, Secret)>,
    /// JSON.
    pub body: String,
}

/// Why a request cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Unsendable {
    #[error("model {model} speaks `{api}`, which is none of {}", names())]
    Api { api: String, model: String },
    #[error("there is no model {model}: no extension has registered it")]
    Unregistered { model: String },
    #[error("model {model} has no base URL to send requests to")]
    NoUrl { model: String },
    #[error("the server of model {model} has no list of models")]
    NoList { model: String },
}

fn names() -> String {
    let all: Vec<&str> = Api::ALL.iter().map(|api| api.as_str()).chain([AZURE_RESPONSES]).collect();
    all.join(", ")
}

impl Outgoing {
    /// Builds the request in the wire format of its model.
    pub fn new(request: &Request) -> Result<Self, Unsendable> {
        let model = &request.model;
        let api = api(model)?;
        let (base, query) = base(model)?;
        let mut headers = vec![header("content-type", "application/json"), header("accept", accept(api))];
        let (path, body) = match api {
            Api::Anthropic => {
                headers.extend(anthropic::beta(request).map(|beta| header("anthropic-beta", &beta)));
                ("/v1/messages".to_owned(), anthropic::body(request))
            }
            Api::Completions => ("/chat/completions".to_owned(), completions::body(request)),
            Api::Responses => ("/responses".to_owned(), responses::body(request)),
            Api::Google => (format!("/models/{}:streamGenerateContent?alt=sse", model.id), google::body(request)),
            Api::Mistral => ("/v1/chat/completions".to_owned(), mistral::body(request)),
            Api::Bedrock => (bedrock::path(model), bedrock::body(request)),
        };
        if let Some(id) = request.session_id.as_ref().filter(|_| model.api != AZURE_RESPONSES) {
            headers.extend(affinity::headers(model, api).into_iter().map(|name| header(name, id)));
        }
        let headers = with_access(headers, api, model, request.key.as_ref());
        Ok(Self { url: format!("{base}{path}{query}"), headers, body })
    }

    /// The request that lists the models of a model's server. It costs nothing, and its body is empty.
    ///
    /// # Errors
    /// The model has no address, or a wire format that is not known or has no such list.
    pub fn list_of_models(model: &Model, key: Option<&Secret>) -> Result<Self, Unsendable> {
        let api = api(model)?;
        let (base, query) = base(model)?;
        if api == Api::Bedrock {
            return Err(Unsendable::NoList { model: model.id.clone() });
        }
        let path = if matches!(api, Api::Anthropic | Api::Mistral) { "/v1/models" } else { "/models" };
        let headers = with_access(vec![header("accept", "application/json")], api, model, key);
        Ok(Self { url: format!("{base}{path}{query}"), headers, body: String::new() })
    }
}

/// The address before the path of a request, and what comes after the path: Azure's version of the interface.
fn base(model: &Model) -> Result<(&str, &str), Unsendable> {
    let url = model.base_url.as_str();
    let at = url.find('?').filter(|_| model.api == AZURE_RESPONSES).unwrap_or(url.len());
    let (base, query) = url.split_at_checked(at).unwrap_or((url, ""));
    let base = base.trim_end_matches('/');
    if base.is_empty() { Err(Unsendable::NoUrl { model: model.id.clone() }) } else { Ok((base, query)) }
}

/// The headers with the key, where its wire format has it, and with the model's own, which override others.
fn with_access(
    mut headers: Vec<(String, Secret)>,
    api: Api,
    model: &Model,
    key: Option<&Secret>,
) -> Vec<(String, Secret)> {
    let bearer = |key: &Secret| ("authorization".to_owned(), Secret::new(format!("Bearer {}", key.expose())));
    match api {
        Api::Anthropic => {
            headers.push(header("anthropic-version", "2023-06-01"));
            headers.extend(key.map(|key| ("x-api-key".to_owned(), key.clone())));
        }
        Api::Responses if model.api == AZURE_RESPONSES => {
            headers.extend(key.map(|key| ("api-key".to_owned(), key.clone())));
        }
        Api::Completions | Api::Responses | Api::Mistral | Api::Bedrock => headers.extend(key.map(bearer)),
        Api::Google => headers.extend(key.map(|key| ("x-goog-api-key".to_owned(), key.clone()))),
    }
    if model.auth_header && matches!(api, Api::Anthropic | Api::Google) {
        headers.extend(key.map(bearer));
    }
    for (name, value) in model.headers.iter().filter(|(name, _)| api != Api::Bedrock || !is_of_signature(name)) {
        headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        headers.push((name.clone(), value.clone()));
    }
    headers
}

fn accept(api: Api) -> &'static str {
    if api == Api::Bedrock { "application/vnd.amazon.eventstream" } else { "text/event-stream" }
}

/// Whether a header is part of AWS's signature: nobody else sets it.
fn is_of_signature(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("x-amz-") || name == "authorization" || name == "host"
}

fn api(model: &Model) -> Result<Api, Unsendable> {
    Api::parse(&model.api).ok_or_else(|| match (model.api.as_str(), model.id.clone()) {
        ("", model) => Unsendable::Unregistered { model },
        (api, model) => Unsendable::Api { api: api.to_owned(), model },
    })
}

fn header(name: &str, value: &str) -> (String, Secret) {
    (name.to_owned(), Secret::new(value))
}

/// How a body is divided into events.
enum Framing {
    Text(Sse),
    Frames(EventFrames),
}

impl Framing {
    /// Calls `event` with the name and data of each completed event. Fails if no later event can be found.
    fn push(&mut self, bytes: &[u8], event: &mut dyn FnMut(&str, &str)) -> Result<(), AnswerTrouble> {
        match self {
            Self::Text(sse) => {
                sse.push(bytes, event).map_err(|_| reported("the response has an event of more than 64 MiB"))
            }
            Self::Frames(frames) => frames
                .push(bytes, &mut |data| event("", data))
                .map_err(|BadFrame(what)| AnswerTrouble::lost(format!("the response has {what}"))),
        }
    }

    fn end(&mut self, event: &mut dyn FnMut(&str, &str)) -> Result<(), AnswerTrouble> {
        match self {
            Self::Text(sse) => sse.end(event),
            Self::Frames(frames) if frames.is_within() => return Err(cut_off("event", "the end of a frame")),
            Self::Frames(_) => {}
        }
        Ok(())
    }
}

/// Decodes an answer from the bytes of a response's body.
pub struct Reader {
    framing: Framing,
    draft: AnswerDraft,
    decoder: Box<dyn Decoder>,
    halves: HalfJoiner,
    is_done: bool,
    /// The data of the events that nobody has taken yet, if somebody wants them.
    kept_events: Option<Vec<String>>,
}

impl Reader {
    /// For the answer to `request`, which started at `now`.
    pub fn new(request: &Request, now: Millis) -> Result<Self, Unsendable> {
        let decoder: Box<dyn Decoder> = match api(&request.model)? {
            Api::Anthropic => Box::<anthropic::Decoder>::default(),
            Api::Responses => Box::<responses::Decoder>::default(),
            Api::Completions => Box::new(completions::Decoder::new(&request.model)),
            Api::Google => Box::<google::Decoder>::default(),
            Api::Mistral => Box::<mistral::Decoder>::default(),
            Api::Bedrock => Box::<bedrock::Decoder>::default(),
        };
        let framing = match api(&request.model)? {
            Api::Bedrock => Framing::Frames(EventFrames::default()),
            _ => Framing::Text(Sse::default()),
        };
        let draft = AnswerDraft::new(request.model.clone(), now);
        let halves = HalfJoiner::default();
        Ok(Self { framing, draft, decoder, halves, is_done: false, kept_events: None })
    }

    /// Keeps the data of each event, as the provider sent it, for [`Self::take_events`].
    pub(super) fn keep_events(&mut self) {
        self.kept_events = Some(Vec::new());
    }

    pub(super) fn take_events(&mut self) -> Vec<String> {
        self.kept_events.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The response started.
    pub fn start(&mut self) -> Vec<Delta> {
        self.draft.start();
        self.deltas()
    }

    fn deltas(&mut self) -> Vec<Delta> {
        self.halves.join(self.draft.take())
    }

    /// Takes the next bytes, split anywhere. Bytes after the answer's end are ignored.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Delta> {
        let Self { framing, draft, decoder, halves, is_done, kept_events } = self;
        if !*is_done {
            let mut event = |name: &str, data: &str| {
                keep(kept_events, *is_done, data);
                match take(decoder.as_mut(), draft, is_done, (name, &halves.mark(data))) {
                    Some(trouble) if trouble.is_damage && draft.can_lose_event() => draft.lose_event(trouble),
                    trouble => fail(draft, is_done, trouble),
                }
            };
            if let Err(trouble) = framing.push(bytes, &mut event)
                && !*is_done
            {
                *is_done = true;
                draft.fail(&trouble);
            }
        }
        self.deltas()
    }

    /// The body has ended.
    pub fn end(&mut self) -> Vec<Delta> {
        let Self { framing, draft, decoder, halves, is_done, kept_events } = self;
        if !*is_done {
            // An event that the end of the body cuts off is not a damaged one between others.
            let ended = framing.end(&mut |name, data| {
                keep(kept_events, *is_done, data);
                let trouble = take(decoder.as_mut(), draft, is_done, (name, &halves.mark(data)));
                fail(draft, is_done, trouble);
            });
            fail(draft, is_done, ended.err().filter(|_| !*is_done));
        }
        if !std::mem::replace(&mut self.is_done, true) {
            match self.decoder.end(&mut self.draft) {
                Ok(stop) => self.draft.complete(stop),
                Err(trouble) => self.draft.fail(&trouble),
            }
        }
        self.deltas()
    }

    /// How many blocks the answer has so far.
    pub(super) fn blocks(&self) -> usize {
        self.draft.len()
    }

    /// The answer failed outside its body.
    pub(super) fn fail(&mut self, trouble: &AnswerTrouble) -> Vec<Delta> {
        if !std::mem::replace(&mut self.is_done, true) {
            self.draft.fail(trouble);
        }
        self.deltas()
    }

    /// Whether [`Delta::Done`] was returned.
    pub fn is_done(&self) -> bool {
        self.is_done
    }
}

/// The mark of the end is not an event.
fn keep(kept: &mut Option<Vec<String>>, is_done: bool, data: &str) {
    if let Some(kept) = kept
        && !is_done
        && !data.trim().is_empty()
        && data.trim() != "[DONE]"
    {
        kept.push(data.to_owned());
    }
}

/// Gives an event to the decoder. Returns why the answer fails.
fn take(
    decoder: &mut dyn Decoder,
    draft: &mut AnswerDraft,
    is_done: &mut bool,
    (name, data): (&str, &str),
) -> Option<AnswerTrouble> {
    // Some servers keep the connection alive with empty events.
    if *is_done || data.trim().is_empty() {
        return None;
    }
    match decoder.event(name, data, draft) {
        Ok(Next::More) => None,
        Ok(Next::Complete(stop)) => {
            *is_done = true;
            draft.complete(stop);
            None
        }
        Err(trouble) => Some(trouble),
    }
}

fn fail(draft: &mut AnswerDraft, is_done: &mut bool, trouble: Option<AnswerTrouble>) {
    if let Some(trouble) = trouble {
        *is_done = true;
        draft.fail(&trouble);
    }
}
