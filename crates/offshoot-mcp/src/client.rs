//! A connection to a server: the start of either era of the protocol, lists page by page, and calls.

use std::sync::Arc;
use std::time::Duration;

use offshoot_session::text::one_line;
use serde_json::{Map, Value, json};

use crate::era::{Era, LEGACY, LEGACY_VERSIONS, MODERN, capabilities, client_info, with_envelope};
use crate::message::UNSUPPORTED_VERSION;
use crate::peer::{CallError, Patience, Peer, Progress, within};

/// A server of the older era may not answer what it does not know.
const DISCOVERY: Duration = Duration::from_secs(2);
/// A start takes no longer.
const START: Duration = Duration::from_secs(60);
/// A server that asks within results is answered so often.
const MOST_ROUNDS: usize = 10;
/// At once.
const MOST_INPUTS: usize = 10;
/// A server of the older era refuses what needs an address that a person opens.
const ADDRESS_FIRST: i64 = -32042;
const MOST_PAGES: usize = 1000;
/// More of a list is not read.
const MOST_ITEMS: usize = 20_000;
const LONGEST_INSTRUCTIONS: usize = 4096;

/// What a server says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ServerSelf {
    pub name: String,
    pub version: String,
    pub protocol: String,
    pub instructions: Option<String>,
    pub has_tools: bool,
    pub has_resources: bool,
    pub has_prompts: bool,
    pub has_completions: bool,
    /// Whether it says that its tools have changed.
    pub announces_tools: bool,
    pub announces_prompts: bool,
}

pub(crate) struct Client {
    pub(crate) peer: Arc<Peer>,
    pub(crate) era: Era,
    pub(crate) server: ServerSelf,
    timeout: Option<Duration>,
}

/// Begins to talk. The newer era is tried first, unless the server is known to speak the older one.
pub(crate) async fn begin(peer: Arc<Peer>, timeout: Option<Duration>, known: Option<Era>) -> Result<Client, CallError> {
    let limit = timeout.unwrap_or(START).min(START);
    if known != Some(Era::Legacy) {
        let patience = if known == Some(Era::Modern) { limit } else { DISCOVERY.min(limit) };
        if let Some(server) = within(limit, discover(&peer, patience)).await? {
            return Ok(modern(peer, server, timeout));
        }
    }
    match within(limit, initialize(&peer)).await {
        Ok(server) => Ok(Client { peer, era: Era::Legacy, server, timeout }),
        // It was slow to start, and has understood the first question since; or it has learnt the newer era since an earlier run.
        Err(CallError::Refused(error)) if error.code == UNSUPPORTED_VERSION || known == Some(Era::Legacy) => {
            match within(limit, discover(&peer, limit)).await? {
                Some(server) => Ok(modern(peer, server, timeout)),
                None => Err(CallError::Refused(error)),
            }
        }
        Err(error) => Err(error),
    }
}

fn modern(peer: Arc<Peer>, server: ServerSelf, timeout: Option<Duration>) -> Client {
    peer.settled(Era::Modern, MODERN);
    Client { peer, era: Era::Modern, server, timeout }
}

/// `None`: the server is of the older era.
async fn discover(peer: &Peer, patience: Duration) -> Result<Option<ServerSelf>, CallError> {
    let mut is_again = false;
    loop {
        let patience = Patience { silence: Some(patience) };
        match peer.ask("server/discover", with_envelope(json!({}), peer.asks()), patience, None).await {
            Ok(result) => {
                // An empty result is that of a server which answers anything.
                let speaks = names_modern(&result["supportedVersions"]);
                let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
                return Ok(speaks.then(|| said_of_itself(&result, info, MODERN)));
            }
            Err(CallError::Refused(error))
                if error.code == UNSUPPORTED_VERSION && names_modern(&error.data["supported"]) && !is_again =>
            {
                is_again = true;
            }
            // Servers of the older era refuse it with many numbers, or say nothing.
            Err(CallError::Refused(_) | CallError::Late(_)) => return Ok(None),
            Err(error @ (CallError::Gone(_) | CallError::SignIn(_) | CallError::SessionLost)) => return Err(error),
        }
    }
}

fn names_modern(versions: &Value) -> bool {
    versions.as_array().is_some_and(|versions| versions.iter().any(|version| version == MODERN))
}

async fn initialize(peer: &Peer) -> Result<ServerSelf, CallError> {
    let params = json!({
        "protocolVersion": LEGACY,
        "capabilities": capabilities(peer.asks()),
        "clientInfo": client_info(),
    });
    let result = peer.ask("initialize", params, Patience { silence: None }, None).await?;
    let version = result["protocolVersion"].as_str().unwrap_or_default();
    if !LEGACY_VERSIONS.contains(&version) {
        let words = format!("it speaks version {} of the protocol, which offshoot does not", one_line(version, 60));
        return Err(CallError::Gone(words));
    }
    peer.settled(Era::Legacy, version);
    peer.notify("notifications/initialized", None);
    Ok(said_of_itself(&result, &result["serverInfo"], version))
}

fn said_of_itself(result: &Value, info: &Value, protocol: &str) -> ServerSelf {
    let text = |value: &Value| one_line(value.as_str().unwrap_or_default(), 200);
    let has = |name: &str| result["capabilities"].get(name).is_some_and(Value::is_object);
    let announces = |name: &str| result["capabilities"][name]["listChanged"] == true;
    let instructions = result["instructions"].as_str().filter(|text| !text.trim().is_empty());
    ServerSelf {
        name: text(&info["name"]),
        version: text(&info["version"]),
        protocol: protocol.to_owned(),
        instructions: instructions.map(|text| one_line(text, LONGEST_INSTRUCTIONS)),
        has_tools: has("tools"),
        has_resources: has("resources"),
        has_prompts: has("prompts"),
        has_completions: has("completions"),
        announces_tools: announces("tools"),
        announces_prompts: announces("prompts"),
    }
}

impl Client {
    /// Asks for anything. A server that wants to know something first gets the answers of the person.
    pub(crate) async fn ask(
        &self,
        method: &str,
        params: Value,
        progress: Option<Progress>,
    ) -> Result<Value, CallError> {
        let patience = Patience { silence: self.timeout };
        let mut params = match self.era {
            Era::Legacy => params,
            Era::Modern => with_envelope(params, self.peer.asks()),
        };
        for _ in 0..MOST_ROUNDS {
            let result = match self.peer.ask(method, params.clone(), patience, progress.clone()).await {
                // It has done nothing yet: a person has to open an address first.
                Err(CallError::Refused(error)) if error.code == ADDRESS_FIRST && self.opened(&error.data).await => {
                    continue;
                }
                result => result?,
            };
            if self.era == Era::Legacy || result["resultType"] != "input_required" {
                return Ok(result);
            }
            let mut answers = Map::new();
            for (name, asked) in result["inputRequests"].as_object().into_iter().flatten().take(MOST_INPUTS) {
                answers.insert(name.clone(), self.peer.input(asked).await);
            }
            params["inputResponses"] = Value::Object(answers);
            if let Some(state) = result.get("requestState") {
                params["requestState"] = state.clone();
            }
        }
        Err(CallError::Gone(format!("it asked for something {MOST_ROUNDS} times instead of answering")))
    }

    /// Whether a person has opened all addresses that a refusal names.
    async fn opened(&self, refusal: &Value) -> bool {
        let Some(asked) = refusal["elicitations"].as_array().filter(|asked| !asked.is_empty()) else { return false };
        for params in asked.iter().take(MOST_INPUTS) {
            let asked = json!({"method": "elicitation/create", "params": params});
            if self.peer.input(&asked).await["action"] != "accept" {
                return false;
            }
        }
        true
    }

    /// A list of all pages.
    pub(crate) async fn list(&self, method: &str, key: &str) -> Result<Vec<Value>, CallError> {
        let (mut items, mut cursor) = (Vec::new(), None::<Value>);
        for _ in 0..MOST_PAGES {
            let params = cursor.take().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
            let mut page = self.ask(method, params, None).await?;
            if let Some(Value::Array(more)) = page.get_mut(key).map(Value::take) {
                items.extend(more.into_iter().take(MOST_ITEMS - items.len()));
            }
            cursor =
                page.get("nextCursor").filter(|cursor| cursor.as_str().is_some_and(|text| !text.is_empty())).cloned();
            if cursor.is_none() || items.len() >= MOST_ITEMS {
                break;
            }
        }
        Ok(items)
    }

    /// What to ask for, if the server announces changes in a stream.
    pub(crate) fn subscription(&self) -> Option<Value> {
        let ServerSelf { announces_tools, announces_prompts, .. } = self.server;
        let is_needed = self.era == Era::Modern && (announces_tools || announces_prompts);
        let mut wish = Map::new();
        let wishes = [("toolsListChanged", announces_tools), ("promptsListChanged", announces_prompts)];
        wish.extend(
            wishes.into_iter().filter(|(_, is_wished)| *is_wished).map(|(name, _)| (name.to_owned(), json!(true))),
        );
        is_needed.then_some(Value::Object(wish))
    }

    /// Listens to the changes that were wished. Ends when the server ends it.
    pub(crate) async fn listen(&self, wish: Value) -> Result<(), CallError> {
        let params = with_envelope(json!({ "notifications": wish }), self.peer.asks());
        self.peer.ask("subscriptions/listen", params, Patience { silence: None }, None).await.map(drop)
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value, progress: Progress) -> Result<Value, CallError> {
        let arguments = if arguments.is_object() { arguments } else { json!({}) };
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}), Some(progress)).await
    }
}
