//! Temporary keys of a role: from the endpoint of a container (ECS, EKS), or from STS for a web identity. Keeps none of them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::time::Duration;

use offshoot_protocol::Secret;
use offshoot_session::medium::read_regular_text;

use super::{Aws, AwsKeys, Env, host_of};
use crate::provider::{Outgoing, percent_encoded, url_host};

pub(super) const RELATIVE: &str = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
pub(super) const FULL: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
/// The endpoint of ECS. EKS has its own addresses.
const ECS: Ipv4Addr = Ipv4Addr::new(169, 254, 170, 2);
const EKS: (Ipv4Addr, Ipv6Addr) = (Ipv4Addr::new(169, 254, 170, 23), Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23));
/// Tokens and answers are much shorter.
const LIMIT: usize = 64 << 10;
/// A service that has not answered by then is not waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// The endpoint of a container.
pub(super) struct Container {
    url: String,
    /// What it wants to see, if anything.
    token: Option<Secret>,
}

impl Container {
    /// `None` where no variable names one.
    pub(super) fn of(variable: Env<'_>) -> Option<Result<Self, String>> {
        let url = match (variable(RELATIVE), variable(FULL)) {
            (Some(path), _) if path.starts_with('/') => Ok(format!("http://{ECS}{path}")),
            (Some(path), _) => Err(format!("{RELATIVE} is `{path}`, which is not a path")),
            (None, full) => {
                let full = full?;
                let why = "an address without encryption may only be this machine or the endpoint of ECS or EKS";
                if is_allowed(&full) { Ok(full) } else { Err(format!("{FULL} is refused: {why}")) }
            }
        };
        Some(url.and_then(|url| Ok(Self { url, token: token(variable)? })))
    }

    pub(super) fn name(&self) -> String {
        "the container's endpoint".to_owned()
    }

    pub(super) async fn ask(&self, aws: &Aws<'_>) -> Result<AwsKeys, String> {
        let accept = ("accept".to_owned(), Secret::new("application/json"));
        let token = self.token.iter().map(|token| ("authorization".to_owned(), token.clone()));
        let headers = std::iter::once(accept).chain(token).collect();
        let outgoing = Outgoing { url: self.url.clone(), headers, body: String::new() };
        let answer = fetch(aws, &outgoing, &self.name(), self.token.as_ref()).await?;
        serde_json::from_str(&answer).map_err(|_| format!("{} answered without keys", self.name()))
    }
}

/// The token's file is read each time: it changes.
fn token(variable: Env<'_>) -> Result<Option<Secret>, String> {
    match variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
        Some(path) => read_token(&path).map(Some),
        None => Ok(variable("AWS_CONTAINER_AUTHORIZATION_TOKEN").map(Secret::new)),
    }
}

fn read_token(path: &str) -> Result<Secret, String> {
    let text =
        read_regular_text(Path::new(path), LIMIT as u64).map_err(|error| format!("could not read {path}: {error}"))?;
    match text.trim() {
        "" => Err(format!("{path} is empty")),
        text => Ok(Secret::new(text)),
    }
}

/// Whether keys may come from there, as in AWS's own programs. Marks that programs read in different ways are refused.
fn is_allowed(url: &str) -> bool {
    let is_plain = url.chars().all(|c| c.is_ascii_graphic() && c != '\\' && c != '@');
    let Some((scheme, host)) = url_host(url).filter(|_| is_plain) else { return false };
    let is_known = |address: IpAddr| match address {
        IpAddr::V4(four) => four.is_loopback() || four == ECS || four == EKS.0,
        IpAddr::V6(six) => six.is_loopback() || six == EKS.1,
    };
    match scheme {
        "https" => !host.is_empty(),
        "http" => host == "localhost" || host.parse().is_ok_and(is_known),
        _ => false,
    }
}

/// A token that says who a program is, for which STS gives keys of a role.
pub(super) struct WebIdentity {
    token: Secret,
    role: String,
    session: String,
    url: String,
}

impl WebIdentity {
    /// `None` where no variable names a token.
    pub(super) fn of(variable: Env<'_>, region: &str) -> Option<Result<Self, String>> {
        let path = variable("AWS_WEB_IDENTITY_TOKEN_FILE")?;
        Some(Self::with(variable, &path, region))
    }

    fn with(variable: Env<'_>, path: &str, region: &str) -> Result<Self, String> {
        let role = variable("AWS_ROLE_ARN")
            .ok_or("AWS_WEB_IDENTITY_TOKEN_FILE is set, and AWS_ROLE_ARN, the role to assume, is not")?;
        let session = variable("AWS_ROLE_SESSION_NAME").unwrap_or_else(|| "offshoot".to_owned());
        let own = variable("AWS_ENDPOINT_URL_STS");
        if own.as_deref().is_some_and(|url| !is_allowed(url)) {
            return Err(
                "AWS_ENDPOINT_URL_STS is refused: only an address of this machine may be without encryption".to_owned()
            );
        }
        let url = own.unwrap_or_else(|| host_of("sts", region));
        Ok(Self { token: read_token(path)?, role, session, url: format!("{}/", url.trim_end_matches('/')) })
    }

    pub(super) fn name(&self) -> String {
        format!("the role {}", self.role)
    }

    pub(super) async fn ask(&self, aws: &Aws<'_>) -> Result<AwsKeys, String> {
        let members = [
            ("Action", "AssumeRoleWithWebIdentity"),
            ("Version", "2011-06-15"),
            ("RoleArn", &self.role),
            ("RoleSessionName", &self.session),
            ("WebIdentityToken", self.token.expose()),
        ];
        let body = members.map(|(name, value)| format!("{name}={}", percent_encoded(value))).join("&");
        let headers = vec![("content-type".to_owned(), Secret::new("application/x-www-form-urlencoded"))];
        let outgoing = Outgoing { url: self.url.clone(), headers, body };
        let answer = fetch(aws, &outgoing, &format!("STS, asked for {},", self.name()), Some(&self.token)).await?;
        let get = |name: &str| element(&answer, name).map(str::to_owned);
        let none = || format!("STS answered without keys of {}", self.name());
        Ok(AwsKeys {
            access_key_id: get("AccessKeyId").ok_or_else(none)?,
            secret_access_key: get("SecretAccessKey").ok_or_else(none)?,
            session_token: get("SessionToken"),
            expiration: get("Expiration"),
        })
    }
}

/// The text of the first element with a name. Keys and times need no escapes.
fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    let text = rest.split_once(&format!("</{name}>"))?.0.trim();
    Some(text).filter(|text| !text.is_empty())
}

/// The answer of a service, which may repeat what it was sent.
async fn fetch(aws: &Aws<'_>, outgoing: &Outgoing, who: &str, token: Option<&Secret>) -> Result<String, String> {
    let asked = tokio::time::timeout(PATIENCE, aws.http.fetch_bytes(outgoing, LIMIT));
    let answer = asked.await.map_err(|_| format!("{who} did not answer in {} s", PATIENCE.as_secs()))?;
    let masked = |text: String| token.map_or_else(|| text.clone(), |token| token.mask(&text));
    let bytes = answer.map_err(|text| match (element(&text, "Code"), element(&text, "Message")) {
        (Some(code), Some(message)) => format!("{who} refused: {}", masked(format!("{code}: {message}"))),
        _ => format!("{who} gave none: {}", masked(text.clone())),
    })?;
    String::from_utf8(bytes).map_err(|_| format!("{who} answered something that is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_this_machine_that_of_the_container_or_encrypted() {
        for url in [
            "http://127.0.0.1:51/x",
            "http://localhost/x",
            "http://[::1]:80/",
            "http://169.254.170.2/v2",
            "http://169.254.170.23/v1",
            "http://[fd00:ec2::23]/v1",
            "https://anything.example/x",
        ] {
            assert!(is_allowed(url), "{url}");
        }
        for url in [
            "http://169.254.169.254/latest",
            "http://10.0.0.1/",
            "http://localhost.evil.example/",
            "http://127.0.0.1@evil.example/",
            r"http://evil.example\@127.0.0.1/",
            "http://127.0.0.1\t.evil.example/",
            "https://",
            "ftp://127.0.0.1/",
            "/v2",
            "",
        ] {
            assert!(!is_allowed(url), "{url}");
        }
    }

    #[test]
    fn a_path_is_one_of_the_container_and_comes_first() {
        let of = |pairs: &[(&str, &str)]| {
            let pairs: Vec<_> = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
            let find = move |name: &str| pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
            Container::of(&find).map(|found| found.map(|found| found.url))
        };
        assert_eq!(of(&[]), None);
        let both = [(RELATIVE, "/v2/credentials/1"), (FULL, "http://localhost/")];
        assert_eq!(of(&both), Some(Ok("http://169.254.170.2/v2/credentials/1".to_owned())));
        assert!(of(&[(RELATIVE, "@evil.example/")]).unwrap().is_err());
        assert!(of(&[(FULL, "http://evil.example/")]).unwrap().unwrap_err().contains("refused"));
    }

    #[test]
    fn an_element_is_read_whole_or_not_at_all() {
        let xml = "<A><Code> X </Code><Empty></Empty><Open>1</A>";
        assert_eq!((element(xml, "Code"), element(xml, "Empty"), element(xml, "Open")), (Some("X"), None, None));
    }
}
