//! One sign-in: the client is registered, a person opens an address, the answer comes to a port of this machine, and becomes tokens.

use std::collections::BTreeMap;
use std::time::Duration;

use offshoot_session::text::one_line;
use reqwest::{Client, Url};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::discovery::{Authority, Challenge, authority};
use super::{ClientShows, TokenStore, Tokens, challenge, fetch, tokens, unguessable};
use crate::era::CLIENT;
use crate::server_config::OauthConfig;

/// A person has so long.
const PERSON: Duration = Duration::from_secs(300);
const CALLBACK: &str = "/callback";
/// A browser's request is not longer.
const LONGEST_REQUEST: usize = 16 << 10;

/// Where a sign-in happens.
pub struct SignInPlace<'a> {
    /// The client for addresses of the server.
    pub client: Client,
    /// The server's address.
    pub url: &'a str,
    /// What the configuration says.
    pub config: &'a OauthConfig,
}

/// A sign-in that waits for a person.
pub struct SignIn {
    /// The address that the person opens.
    pub address: String,
    listener: TcpListener,
    state: String,
    verifier: String,
    redirect: String,
    pending: Tokens,
    authority: Authority,
    client: Client,
}

impl SignIn {
    /// Begins a sign-in. `refusal` is the server's `WWW-Authenticate`; `store` may have a client that was registered before.
    ///
    /// # Errors
    /// Why nobody can sign in, in words.
    pub async fn begin(place: SignInPlace<'_>, refusal: &str, store: &dyn TokenStore) -> Result<Self, String> {
        let SignInPlace { client, url, config } = place;
        let server = Url::parse(url).map_err(|_| "the server's url is no address".to_owned())?;
        let found = authority(&client, &server, &Challenge::of(refusal)).await?;
        let port = config.callback_port.unwrap_or(0);
        let listener =
            TcpListener::bind(("127.0.0.1", port)).await.map_err(|error| format!("no port to listen at: {error}"))?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        let redirect = format!("http://127.0.0.1:{port}{CALLBACK}");
        let scope = scope(config, &found, store.tokens().as_ref());
        let pending = registered(&client, config, (&found, &redirect), scope.clone()).await?;
        let (state, verifier) = (unguessable(), unguessable());
        let mut address = Url::parse(&found.authorization_endpoint).map_err(|error| error.to_string())?;
        address
            .query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &pending.client_id)
            .append_pair("redirect_uri", &redirect)
            .append_pair("state", &state)
            .append_pair("code_challenge", &challenge(&verifier))
            .append_pair("code_challenge_method", "S256")
            .append_pair("resource", &found.resource);
        if let Some(scope) = &scope {
            address.query_pairs_mut().append_pair("scope", scope);
        }
        Ok(Self {
            address: address.to_string(),
            listener,
            state,
            verifier,
            redirect,
            pending,
            authority: found,
            client,
        })
    }

    /// Waits for the person, and returns the tokens. `pasted` gets the address to which a browser elsewhere was sent, if there is one.
    ///
    /// # Errors
    /// Nobody has signed in, or the server gives no tokens, in words.
    pub async fn finish(self, pasted: oneshot::Receiver<String>) -> Result<Tokens, String> {
        let come = async {
            loop {
                let (stream, _) = self.listener.accept().await.map_err(|error| error.to_string())?;
                // A browser asks for other things, too.
                if let Some(answer) = callback(stream).await {
                    return Ok(answer);
                }
            }
        };
        let typed = async {
            match pasted.await {
                Ok(text) => Url::parse(text.trim()).map(|url| pairs(&url)).map_err(|_| "that is no address".to_owned()),
                Err(_) => std::future::pending().await,
            }
        };
        let answer = async {
            tokio::select! {
                answer = come => answer,
                answer = typed => answer,
            }
        };
        let late = || Err(format!("nobody has signed in within {} s", PERSON.as_secs()));
        let answer = timeout(PERSON, answer).await.unwrap_or_else(|_| late())?;
        let code = self.code(&answer)?;
        self.exchange(code).await
    }

    fn code(&self, answer: &BTreeMap<String, String>) -> Result<String, String> {
        let get = |key: &str| answer.get(key).map(String::as_str);
        if get("state") != Some(&self.state) {
            return Err("the answer is not one to this sign-in".to_owned());
        }
        match get("iss") {
            // Exactly: RFC 9207 forbids to make them alike.
            Some(issuer) if issuer != self.authority.issuer => {
                return Err("the answer is that of another server".to_owned());
            }
            None if self.authority.names_itself => return Err("the answer does not name its server".to_owned()),
            Some(_) | None => {}
        }
        match (get("code"), get("error")) {
            (Some(code), None) => Ok(code.to_owned()),
            (_, Some(error)) => {
                Err(format!("the sign-in was refused: {}", one_line(get("error_description").unwrap_or(error), 300)))
            }
            (None, None) => Err("the answer has no code".to_owned()),
        }
    }

    async fn exchange(&self, code: String) -> Result<Tokens, String> {
        let form = BTreeMap::from([
            ("grant_type", "authorization_code".to_owned()),
            ("code", code),
            ("redirect_uri", self.redirect.clone()),
            ("code_verifier", self.verifier.clone()),
        ]);
        tokens(&self.client, &self.pending, form).await
    }
}

/// What is asked for: what was granted before is not lost.
fn scope(config: &OauthConfig, found: &Authority, before: Option<&Tokens>) -> Option<String> {
    let mut all: Vec<&str> = Vec::new();
    let wanted = config.scope.as_deref().or(found.scopes.as_deref());
    let granted = before.filter(|before| before.resource == found.resource).and_then(|before| before.scope.as_deref());
    for scope in wanted.into_iter().chain(granted).flat_map(str::split_whitespace) {
        if !all.contains(&scope) {
            all.push(scope);
        }
    }
    (!all.is_empty()).then(|| all.join(" "))
}

/// The client: that of the configuration, else one that is registered now.
async fn registered(
    client: &Client,
    config: &OauthConfig,
    (found, redirect): (&Authority, &str),
    scope: Option<String>,
) -> Result<Tokens, String> {
    let unsigned = |id: String, secret: Option<String>| Tokens {
        access_token: String::new(),
        refresh_token: None,
        scope: scope.clone(),
        client_id: id,
        shows_itself_by: way(&found.ways, secret.is_some()),
        client_secret: secret,
        token_endpoint: found.token_endpoint.clone(),
        resource: found.resource.clone(),
    };
    if let Some(id) = &config.client_id {
        return Ok(unsigned(id.clone(), config.client_secret.clone()));
    }
    let endpoint = found.registration_endpoint.as_ref().ok_or(
        "the authorization server registers no clients: set oauth.clientId of the server to a client that you have registered",
    )?;
    let takes_public = found.ways.is_empty() || found.ways.iter().any(|way| way == "none");
    let method = if takes_public { "none" } else { found.ways.first().map_or("none", String::as_str) };
    let mut body = json!({
        "client_name": config.client_name.as_deref().unwrap_or(CLIENT), "redirect_uris": [redirect], "response_types": ["code"],
        "grant_types": ["authorization_code", "refresh_token"], "token_endpoint_auth_method": method, "application_type": "native",
    });
    if let Some(scope) = &scope {
        body["scope"] = json!(scope);
    }
    let request = client.post(endpoint).header("content-type", "application/json").body(body.to_string());
    let (status, answer) = fetch(request).await?;
    let id = answer["client_id"].as_str().filter(|_| (200..300).contains(&status));
    let id = id.ok_or_else(|| {
        let why = answer["error_description"].as_str().or(answer["error"].as_str()).unwrap_or("no client");
        format!("the authorization server registers no client: {} ({status})", one_line(why, 300))
    })?;
    let secret = answer["client_secret"].as_str().map(str::to_owned);
    let mut made = unsigned(id.to_owned(), secret);
    if let Some(said) = answer["token_endpoint_auth_method"].as_str() {
        made.shows_itself_by = way(&[said.to_owned()], made.client_secret.is_some());
    }
    Ok(made)
}

fn way(ways: &[String], has_secret: bool) -> ClientShows {
    let takes = |way: &str| ways.iter().any(|known| known == way);
    match has_secret {
        false => ClientShows::Id,
        true if takes("client_secret_basic") || ways.is_empty() => ClientShows::Basic,
        true if takes("client_secret_post") => ClientShows::Form,
        true if takes("none") => ClientShows::Id,
        true => ClientShows::Basic,
    }
}

fn pairs(url: &Url) -> BTreeMap<String, String> {
    url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

/// What a browser brings, if it asks for the right page.
async fn callback(mut stream: TcpStream) -> Option<BTreeMap<String, String>> {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    let reading = async {
        while !request.windows(4).any(|window| window == b"\r\n\r\n") && request.len() < LONGEST_REQUEST {
            let count = stream.read(&mut buffer).await.ok()?;
            if count == 0 {
                return None;
            }
            request.extend_from_slice(buffer.get(..count)?);
        }
        Some(())
    };
    timeout(Duration::from_secs(5), reading).await.ok()??;
    let text = String::from_utf8_lossy(&request);
    let mut words = text.split(' ');
    let (method, path) = (words.next()?, words.next()?);
    let url = Url::parse("http://127.0.0.1").ok()?.join(path).ok()?;
    let is_right = method == "GET" && url.path() == CALLBACK;
    let (status, words) =
        if is_right { ("200 OK", "You can close this window and go back to offshoot.") } else { ("404 Not Found", "") };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{words}",
        words.len()
    );
    // The browser may be gone.
    drop(stream.write_all(head.as_bytes()).await);
    drop(stream.shutdown().await);
    is_right.then(|| pairs(&url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn granted_scopes_are_kept_and_configured_ones_asked_for() {
        let found = Authority {
            issuer: String::new(),
            authorization_endpoint: String::new(),
            token_endpoint: String::new(),
            registration_endpoint: None,
            ways: Vec::new(),
            resource: "r".to_owned(),
            scopes: Some("read".to_owned()),
            names_itself: false,
        };
        let before = Tokens { scope: Some("write read".to_owned()), resource: "r".to_owned(), ..Tokens::default() };
        let config = OauthConfig::default();
        assert_eq!(scope(&config, &found, Some(&before)).as_deref(), Some("read write"));
        assert_eq!(scope(&config, &found, None).as_deref(), Some("read"));
        let config = OauthConfig { scope: Some("own".to_owned()), ..config };
        assert_eq!(scope(&config, &found, None).as_deref(), Some("own"));
    }

    #[test]
    fn a_secret_is_shown_in_a_way_that_the_server_takes() {
        let ways = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(way(&ways(&["client_secret_post"]), true), ClientShows::Form);
        assert_eq!(way(&ways(&["client_secret_post", "client_secret_basic"]), true), ClientShows::Basic);
        assert_eq!(way(&ways(&["none"]), true), ClientShows::Id);
        assert_eq!(way(&[], false), ClientShows::Id);
    }
}
