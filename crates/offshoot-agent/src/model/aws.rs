//! Where requests to Bedrock go and what signs them: the region, and the order of the sources of credentials. Asks no metadata service of a
//! machine.

use offshoot_protocol::Secret;
use offshoot_protocol::model::{AwsSigning, Model};
use offshoot_session::clock::{Millis, parse_iso};
use serde::{Deserialize, Serialize};

use super::key_command::KeyCommands;
use crate::provider::Http;

mod profile;
mod role;

pub(super) const PROVIDER: &str = "amazon-bedrock";
pub(super) const API: &str = "bedrock-converse-stream";
/// Variables whose values are secrets, beside the bearer key's.
pub(super) const SECRETS: [&str; 3] =
    ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN"];
/// What helps where no credentials are found.
pub(super) const VARIABLES: &str =
    "AWS_BEARER_TOKEN_BEDROCK, AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
/// Each of them says that there are credentials.
const SINGLE: [&str; 4] = ["AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE", role::RELATIVE, role::FULL];
const USUAL_REGION: &str = "us-east-1";
const FILE_LIMIT: u64 = 1 << 20;
/// Temporary keys are replaced so long before they expire.
const MARGIN_MS: Millis = 5 * 60 * 1000;

type Env<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// The variables, and what was found with them before.
pub(super) struct Aws<'a> {
    pub(super) variable: Env<'a>,
    /// The profile that the entry of `auth.json` names: it comes before keys of the environment.
    pub(super) own_profile: Option<&'a str>,
    pub(super) commands: &'a KeyCommands,
    pub(super) http: &'a Http,
}

/// The variable that says that there are credentials, found without reading a file.
pub(super) fn source(variable: &dyn Fn(&str) -> Option<String>) -> Option<&'static str> {
    let is_set = |name: &str| variable(name).is_some();
    let has_keys = is_set("AWS_ACCESS_KEY_ID") && is_set("AWS_SECRET_ACCESS_KEY");
    if has_keys { Some("AWS_ACCESS_KEY_ID") } else { SINGLE.into_iter().find(|name| is_set(name)) }
}

/// Keys as programs and services print them.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct AwsKeys {
    access_key_id: String,
    secret_access_key: String,
    #[serde(default, alias = "Token")]
    session_token: Option<String>,
    /// When they expire, if they do.
    #[serde(default)]
    expiration: Option<String>,
}

/// Keys, and what a person does when they have expired.
struct FoundKeys {
    keys: AwsKeys,
    renewal: String,
}

impl Aws<'_> {
    /// The region of a model, as in pi: that in its ARN, of the variables, of the profile that a variable names, of its address.
    pub(super) fn region(&self, model: &Model) -> String {
        let get = |name: &str| (self.variable)(name);
        let of_variables = || get("AWS_REGION").or_else(|| get("AWS_DEFAULT_REGION"));
        let ambient = || get("AWS_PROFILE").filter(|_| self.own_profile.is_none());
        let of_profile = || profile::members(self.variable, &ambient()?).remove("region");
        let found = arn_region(&model.id).map(str::to_owned).or_else(of_variables).or_else(of_profile);
        let found = found.or_else(|| address_region(&model.base_url).map(str::to_owned));
        found.unwrap_or_else(|| USUAL_REGION.to_owned())
    }

    /// The address: that of the region, unless the model has one that is not AWS's.
    pub(super) fn address(&self, model: &Model) -> String {
        if address_region(&model.base_url).is_none() {
            return model.base_url.clone();
        }
        host_of("bedrock-runtime", &self.region(model))
    }

    /// What signs the requests; `None` without any credentials.
    ///
    /// # Errors
    /// The source that counts has none.
    pub(super) async fn signing(&self, model: &Model) -> Result<Option<AwsSigning>, String> {
        let region = self.region(model);
        let Some(FoundKeys { keys, renewal }) = self.find(&region).await? else { return Ok(None) };
        Ok(Some(AwsSigning {
            access_key_id: Secret::new(keys.access_key_id),
            secret_access_key: Secret::new(keys.secret_access_key),
            session_token: keys.session_token.filter(|token| !token.is_empty()).map(Secret::new),
            region,
            renewal,
        }))
    }

    /// The order of AWS's own programs, but that no profile counts which nothing names.
    async fn find(&self, region: &str) -> Result<Option<FoundKeys>, String> {
        if let (None, Some(keys)) = (self.own_profile, self.of_variables()) {
            let renewal = "set new AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, and start again";
            return Ok(Some(FoundKeys { keys, renewal: renewal.to_owned() }));
        }
        let ambient = || (self.variable)("AWS_PROFILE");
        if let Some(name) = self.own_profile.map(str::to_owned).or_else(ambient) {
            return self.of_profile(&name).await.map(Some);
        }
        let keys = if let Some(identity) = role::WebIdentity::of(self.variable, region) {
            let identity = identity?;
            self.fresh(&identity.name(), identity.ask(self)).await?
        } else if let Some(container) = role::Container::of(self.variable) {
            let container = container?;
            self.fresh(&container.name(), container.ask(self)).await?
        } else {
            return Ok(None);
        };
        // They are asked for again, as their age is known.
        Ok(Some(FoundKeys { keys, renewal: "send the message again, which asks for new ones".to_owned() }))
    }

    fn of_variables(&self) -> Option<AwsKeys> {
        let variable = |name: &str| (self.variable)(name).map(|value| value.trim().to_owned());
        Some(AwsKeys {
            access_key_id: variable("AWS_ACCESS_KEY_ID")?,
            secret_access_key: variable("AWS_SECRET_ACCESS_KEY")?,
            session_token: variable("AWS_SESSION_TOKEN"),
            expiration: None,
        })
    }

    /// Keys of a source, which are kept until shortly before they expire, or for ten minutes.
    async fn fresh(
        &self,
        name: &str,
        getting: impl Future<Output = Result<AwsKeys, String>>,
    ) -> Result<AwsKeys, String> {
        let kept = self.commands.kept(PROVIDER, name);
        if let Some(keys) = kept.and_then(|kept| serde_json::from_str(kept.expose()).ok()) {
            return Ok(keys);
        }
        let keys = getting.await?;
        self.mask(name, &keys);
        let expires = keys.expiration.as_deref().and_then(parse_iso);
        if let Some(text) = keys.expiration.as_deref().filter(|_| expires.is_some_and(|at| at <= self.commands.now())) {
            return Err(format!("those of {name} expired at {text}"));
        }
        let text = serde_json::to_string(&keys).map_err(|error| error.to_string())?;
        self.commands.keep((PROVIDER, name), Secret::new(text), expires.map(|at| at.saturating_sub(MARGIN_MS)));
        Ok(keys)
    }

    /// Secrets are masked wherever they appear.
    fn mask(&self, name: &str, keys: &AwsKeys) {
        for (at, secret) in
            [Some(&keys.secret_access_key), keys.session_token.as_ref()].into_iter().flatten().enumerate()
        {
            self.commands.keep((PROVIDER, &format!("{at} of {name}")), Secret::new(secret.as_str()), None);
        }
    }
}

/// The address of a service in a region.
fn host_of(service: &str, region: &str) -> String {
    let end = if region.starts_with("cn-") { ".cn" } else { "" };
    format!("https://{service}.{region}.amazonaws.com{end}")
}

fn is_region(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

fn arn_region(id: &str) -> Option<&str> {
    let mut parts = id.split(':');
    let is_of_bedrock =
        parts.next() == Some("arn") && parts.next()?.starts_with("aws") && parts.next() == Some("bedrock");
    parts.next().filter(|region| is_of_bedrock && is_region(region))
}

/// The region in an address of AWS.
fn address_region(url: &str) -> Option<&str> {
    let host = url.strip_prefix("https://")?.split(['/', ':']).next()?;
    let rest = host.strip_prefix("bedrock-runtime.").or_else(|| host.strip_prefix("bedrock-runtime-fips."))?;
    let region = rest.strip_suffix(".amazonaws.com").or_else(|| rest.strip_suffix(".amazonaws.com.cn"))?;
    Some(region).filter(|region| is_region(region))
}

#[cfg(test)]
mod tests;
