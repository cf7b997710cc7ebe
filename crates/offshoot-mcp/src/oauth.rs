//! Signing in to servers that are reached over HTTP: OAuth with PKCE on a loopback address. Tokens are kept by whoever starts the servers.

mod discovery;
mod sign_in;

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use offshoot_protocol::in_words;
use offshoot_session::id::{IdSource as _, RandomIds};
use offshoot_session::text::one_line;
use reqwest::{Client, RequestBuilder};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::time::timeout;

pub use sign_in::{SignIn, SignInPlace};

/// No request of a sign-in takes longer.
const REQUEST: Duration = Duration::from_secs(15);
/// More of an answer is not read.
const LARGEST: usize = 256 << 10;

/// What a sign-in has left. `Debug` shows no token.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Tokens {
    pub access_token: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    pub client_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    pub token_endpoint: String,
    pub resource: String,
    /// How the client shows itself at the token endpoint.
    #[serde(default)]
    pub shows_itself_by: ClientShows,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokens(…)")
    }
}

/// How a client shows itself at a token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum ClientShows {
    /// By its id alone.
    #[default]
    Id,
    /// By its secret in a header.
    Basic,
    /// By its secret in the form.
    Form,
}

/// Keeps the tokens of one server.
pub trait TokenStore: Send + Sync {
    /// Those of the last sign-in.
    fn tokens(&self) -> Option<Tokens>;

    /// Keeps or forgets them.
    ///
    /// # Errors
    /// They cannot be written, in words.
    fn keep(&self, tokens: Option<&Tokens>) -> Result<(), String>;
}

/// Sends a request of a sign-in, and reads its answer as JSON with its status.
async fn fetch(request: RequestBuilder) -> Result<(u16, Value), String> {
    let work = async {
        let mut response = request.send().await.map_err(|error| in_words(&error.without_url()))?;
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(|error| in_words(&error.without_url()))? {
            if body.len() + bytes.len() > LARGEST {
                return Err("the answer is too long".to_owned());
            }
            body.extend_from_slice(&bytes);
        }
        Ok((status, serde_json::from_slice(&body).unwrap_or(Value::Null)))
    };
    timeout(REQUEST, work).await.unwrap_or_else(|_| Err(format!("no answer in {} s", REQUEST.as_secs())))
}

/// A text that nobody can guess.
fn unguessable() -> String {
    let mut ids = RandomIds;
    (0..8).map(|_| ids.entry_id().as_str().to_owned()).collect()
}

/// PKCE's challenge of a verifier.
fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}

/// Asks for tokens with this form.
async fn tokens(client: &Client, of: &Tokens, mut form: BTreeMap<&str, String>) -> Result<Tokens, String> {
    form.insert("client_id", of.client_id.clone());
    form.insert("resource", of.resource.clone());
    let mut request = client.post(&of.token_endpoint).header("accept", "application/json");
    match (of.shows_itself_by, &of.client_secret) {
        (ClientShows::Basic, Some(secret)) => {
            form.remove("client_id");
            request = request.basic_auth(encoded(&of.client_id), Some(encoded(secret)));
        }
        (ClientShows::Form, Some(secret)) => drop(form.insert("client_secret", secret.clone())),
        (ClientShows::Id | ClientShows::Basic | ClientShows::Form, _) => {}
    }
    let body: Vec<String> = form.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    let request = request.header("content-type", "application/x-www-form-urlencoded").body(body.join("&"));
    let (status, answer) = fetch(request).await?;
    let Some(access) = answer["access_token"].as_str().filter(|_| (200..300).contains(&status)) else {
        let why = answer["error_description"].as_str().or(answer["error"].as_str()).unwrap_or("no token");
        return Err(format!("the server gave no token: {} ({status})", one_line(why, 300)));
    };
    let text = |key: &str| answer[key].as_str().map(str::to_owned);
    Ok(Tokens {
        access_token: access.to_owned(),
        refresh_token: text("refresh_token").or_else(|| of.refresh_token.clone()),
        scope: text("scope").or_else(|| of.scope.clone()),
        ..of.clone()
    })
}

/// New tokens from those of an earlier sign-in.
///
/// # Errors
/// The server gives none, in words.
pub(crate) async fn refresh(client: &Client, of: &Tokens) -> Result<Tokens, String> {
    let token = of.refresh_token.clone().ok_or("there is no refresh token")?;
    let form = BTreeMap::from([("grant_type", "refresh_token".to_owned()), ("refresh_token", token)]);
    tokens(client, of, form).await
}

/// A text within an address or a form.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7636.
    #[test]
    fn the_challenge_is_that_of_the_standard() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(challenge(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        assert!(unguessable().len() == 64 && unguessable() != unguessable());
        assert_eq!(encoded("a b&ü"), "a%20b%26%C3%BC");
    }
}
