//! Where a server's person signs in: from the server's refusal to the metadata of the authorization server (RFC 9728, RFC 8414).

use offshoot_session::text::one_line;
use reqwest::{Client, Url};
use serde_json::Value;

use super::fetch;

/// What a refusal says of the sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Challenge {
    pub(super) resource_metadata: Option<String>,
    pub(super) scope: Option<String>,
}

impl Challenge {
    /// Reads `WWW-Authenticate`.
    pub(super) fn of(header: &str) -> Self {
        Self { resource_metadata: parameter(header, "resource_metadata"), scope: parameter(header, "scope") }
    }
}

fn parameter(header: &str, name: &str) -> Option<String> {
    let mut rest = header;
    loop {
        let at = rest.find(name)?;
        let (before, after) = rest.split_at(at);
        let after = after.get(name.len()..)?;
        let is_word = before.is_empty() || before.ends_with([' ', ',']);
        if let Some(value) = after.strip_prefix('=').filter(|_| is_word) {
            return Some(match value.strip_prefix('"') {
                Some(quoted) => quoted.split('"').next().unwrap_or_default().to_owned(),
                None => value.split([',', ' ']).next().unwrap_or_default().to_owned(),
            });
        }
        rest = after;
    }
}

/// An authorization server, and what it protects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Authority {
    pub(super) issuer: String,
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    pub(super) registration_endpoint: Option<String>,
    /// The ways in which clients show themselves at the token endpoint.
    pub(super) ways: Vec<String>,
    pub(super) resource: String,
    pub(super) scopes: Option<String>,
    /// Whether its answers name it.
    pub(super) names_itself: bool,
}

/// Finds the authorization server of a server.
pub(super) async fn authority(client: &Client, server: &Url, challenge: &Challenge) -> Result<Authority, String> {
    let protected = protected_resource(client, server, challenge).await?;
    let resource = protected["resource"].as_str().map_or_else(|| server.to_string(), str::to_owned);
    check_resource(server, &resource)?;
    let listed = protected["scopes_supported"]
        .as_array()
        .map(|scopes| scopes.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "));
    let scopes = challenge.scope.clone().or(listed.filter(|scopes| !scopes.is_empty()));
    let named = protected["authorization_servers"][0].as_str();
    let is_named = named.is_some();
    let issuer = named.map_or_else(|| origin(server), |issuer| Ok(issuer.to_owned()))?;
    let base = safe_url(&issuer)?;
    for place in metadata_places(&base) {
        let Ok((200, metadata)) = fetch(client.get(place)).await else { continue };
        if !metadata.is_object() {
            continue;
        }
        return of_metadata(&metadata, (&issuer, is_named), resource, scopes);
    }
    if is_named {
        return Err(format!("{} has no metadata for a sign-in", one_line(&issuer, 200)));
    }
    // Servers of 2025-03-26 may have none.
    let at = |path: &str| base.join(path).map(|url| url.to_string()).map_err(|error| error.to_string());
    Ok(Authority {
        authorization_endpoint: at("/authorize")?,
        token_endpoint: at("/token")?,
        registration_endpoint: Some(at("/register")?),
        issuer,
        ways: Vec::new(),
        resource,
        scopes,
        names_itself: false,
    })
}

fn of_metadata(
    metadata: &Value,
    (issuer, is_named): (&str, bool),
    resource: String,
    scopes: Option<String>,
) -> Result<Authority, String> {
    let said = metadata["issuer"].as_str().unwrap_or_default();
    if is_named && said.trim_end_matches('/') != issuer.trim_end_matches('/') {
        let (said, issuer) = (one_line(said, 200), one_line(issuer, 200));
        return Err(format!("the metadata of {issuer} is that of another server: {said}"));
    }
    let challenges = metadata["code_challenge_methods_supported"].as_array();
    if challenges.is_some_and(|methods| methods.iter().all(|method| method != "S256")) {
        return Err("the authorization server does not take PKCE with S256".to_owned());
    }
    let endpoint = |key: &str| metadata[key].as_str().map(|url| safe_url(url).map(|url| url.to_string())).transpose();
    let needed = |key: &str| endpoint(key)?.ok_or_else(|| format!("the metadata names no {key}"));
    let ways = metadata["token_endpoint_auth_methods_supported"].as_array();
    Ok(Authority {
        issuer: said.to_owned(),
        authorization_endpoint: needed("authorization_endpoint")?,
        token_endpoint: needed("token_endpoint")?,
        registration_endpoint: endpoint("registration_endpoint")?,
        ways: ways.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
        resource,
        scopes,
        names_itself: metadata["authorization_response_iss_parameter_supported"] == true,
    })
}

/// The metadata of what is protected; an empty object if there is none.
async fn protected_resource(client: &Client, server: &Url, challenge: &Challenge) -> Result<Value, String> {
    let named = challenge.resource_metadata.as_deref().map(safe_url).transpose()?;
    let well_known = |path: &str| server.join(&format!("/.well-known/oauth-protected-resource{path}")).ok();
    let path = server.path().trim_end_matches('/');
    let places =
        named.map_or_else(|| [well_known(path), well_known("")].into_iter().flatten().collect(), |url| vec![url]);
    for place in places {
        if let Ok((200, metadata)) = fetch(client.get(place)).await
            && metadata.is_object()
        {
            return Ok(metadata);
        }
    }
    Ok(Value::Object(serde_json::Map::new()))
}

/// A token for another server must not be asked for.
fn check_resource(server: &Url, resource: &str) -> Result<(), String> {
    let named = Url::parse(resource).map_err(|_| "the resource is no address".to_owned())?;
    let path = named.path().trim_end_matches('/');
    let is_above = server.path() == path || server.path().starts_with(&format!("{path}/")) || path.is_empty();
    match named.origin() == server.origin() && is_above {
        true => Ok(()),
        false => Err(format!("the server protects another one: {}", one_line(resource, 200))),
    }
}

fn metadata_places(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let mut places = vec![format!("/.well-known/oauth-authorization-server{path}")];
    places.push(format!("/.well-known/openid-configuration{path}"));
    if !path.is_empty() {
        places.push(format!("{path}/.well-known/openid-configuration"));
    }
    places.iter().filter_map(|place| issuer.join(place).ok()).collect()
}

fn origin(server: &Url) -> Result<String, String> {
    server.join("/").map(|url| url.to_string()).map_err(|error| error.to_string())
}

/// Tokens go over TLS, save on this machine.
fn safe_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|_| format!("{} is no address", one_line(text, 200)))?;
    let is_here = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_here => Ok(url),
        _ => Err(format!("{} does not use https", one_line(text, 200))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_read() {
        let header =
            r#"Bearer error="invalid_token", xscope="no", resource_metadata="https://h/.well-known/x", scope="a b""#;
        let expected =
            Challenge { resource_metadata: Some("https://h/.well-known/x".to_owned()), scope: Some("a b".to_owned()) };
        assert_eq!(Challenge::of(header), expected);
        assert_eq!(Challenge::of("Bearer scope=a"), Challenge { scope: Some("a".to_owned()), resource_metadata: None });
        assert_eq!(Challenge::of("Basic"), Challenge::default());
    }

    #[test]
    fn a_token_is_for_this_server_and_goes_over_tls() {
        let server = Url::parse("https://h/a/mcp").unwrap();
        for (resource, is_right) in [
            ("https://h/a/mcp", true),
            ("https://h/", true),
            ("https://h/a", true),
            ("https://h/a/m", false),
            ("https://other/a/mcp", false),
            ("http://h/a/mcp", false),
        ] {
            assert_eq!(check_resource(&server, resource).is_ok(), is_right, "{resource}");
        }
        for (url, is_safe) in
            [("https://h", true), ("http://h", false), ("http://127.0.0.1:1", true), ("file:///x", false)]
        {
            assert_eq!(safe_url(url).is_ok(), is_safe, "{url}");
        }
    }

    #[test]
    fn metadata_of_another_server_is_refused() {
        let metadata = serde_json::json!({"issuer": "https://evil", "authorization_endpoint": "https://e/a", "token_endpoint": "https://e/t"});
        assert!(of_metadata(&metadata, ("https://good", true), String::new(), None).is_err());
        assert!(of_metadata(&metadata, ("https://evil/", true), String::new(), None).is_ok());
    }
}
