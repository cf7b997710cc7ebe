//! Where a person's models at Azure are: the address, the version of the interface and the names of deployments, from variables as in
//! pi. Builds no request.

use offshoot_protocol::model::Model;

use crate::provider::AZURE_RESPONSES;

/// The provider's name.
const PROVIDER: &str = "azure";
/// The version of the interface, if no variable names one.
const VERSION: &str = "v1";
/// The path of the interface at Azure's own hosts.
const PATH: &str = "/openai/v1";
/// What the address needs.
const VARIABLES: &str = "AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME";

type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The provider's present name: before pi 1.6 it had that of its wire format.
pub(super) fn present_name(provider: &str) -> &str {
    if provider.eq_ignore_ascii_case(AZURE_RESPONSES) { PROVIDER } else { provider }
}

/// Whether the model's address comes from variables.
pub(super) fn has_own_address(model: &Model) -> bool {
    model.provider == PROVIDER || model.api == AZURE_RESPONSES
}

/// The address of the model, with the version of the interface for Azure's own wire format; else the names of the variables that it needs.
pub(super) fn address(model: &Model, env: Env<'_>) -> Result<String, String> {
    let get = |name: &str| env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let of_resource = || Some(format!("https://{}.openai.azure.com{PATH}", get("AZURE_OPENAI_RESOURCE_NAME")?));
    let named = get("AZURE_OPENAI_BASE_URL").or_else(of_resource);
    let named = named.or_else(|| Some(model.base_url.clone()).filter(|url| !url.is_empty()));
    let base = whole(&named.ok_or_else(|| VARIABLES.to_owned())?);
    if model.api != AZURE_RESPONSES {
        return Ok(base);
    }
    let version = get("AZURE_OPENAI_API_VERSION").unwrap_or_else(|| VERSION.to_owned());
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "-._".contains(*letter);
    let version: String = version.chars().filter(is_plain).collect();
    let separator = if base.contains('?') { '&' } else { '?' };
    Ok(format!("{base}{separator}api-version={version}"))
}

/// The address with the path of the interface, which people leave out or give too much of at Azure's own hosts.
fn whole(named: &str) -> String {
    let trimmed = named.trim_end_matches('/');
    let Some((scheme, rest)) = trimmed.split_once("://") else { return trimmed.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let name = host.rsplit_once('@').map_or(host, |(_, name)| name);
    let name = name.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let is_azure =
        [".openai.azure.com", ".cognitiveservices.azure.com", ".ai.azure.com"].iter().any(|end| name.ends_with(end));
    let path = after.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    match path {
        "" | "/openai" | "/openai/v1/responses" if is_azure => format!("{scheme}://{host}{PATH}"),
        _ => trimmed.to_owned(),
    }
}

/// The name of the deployment of a model, where the variable has one.
pub(super) fn deployment(model: &Model, env: Env<'_>) -> Option<String> {
    let map = env("AZURE_OPENAI_DEPLOYMENT_NAME_MAP")?;
    let mut pairs = map.split(',').filter_map(|pair| pair.trim().split_once('='));
    let name = pairs.rfind(|(id, _)| id.trim() == model.id).map(|(_, name)| name.trim().to_owned())?;
    Some(name).filter(|name| !name.is_empty() && *name != model.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(api: &str, base_url: &str) -> Model {
        let [id, api, base_url] = ["gpt-5", api, base_url].map(str::to_owned);
        Model { id, api, base_url, provider: PROVIDER.to_owned(), ..Model::default() }
    }

    fn at(model: &Model, variables: &[(&str, &str)]) -> Result<String, String> {
        address(model, &|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    /// As pi 1.6.0.
    #[test]
    fn the_address_is_that_of_the_variables() {
        let gpt = model(AZURE_RESPONSES, "");
        for (base, expected) in [
            ("https://r.openai.azure.com", "https://r.openai.azure.com/openai/v1"),
            ("https://r.openai.azure.com/", "https://r.openai.azure.com/openai/v1"),
            (" https://r.openai.azure.com/openai/ ", "https://r.openai.azure.com/openai/v1"),
            ("https://R.cognitiveservices.Azure.com", "https://R.cognitiveservices.Azure.com/openai/v1"),
            ("https://r.services.ai.azure.com/openai/v1/responses?x=1", "https://r.services.ai.azure.com/openai/v1"),
            ("https://r.openai.azure.com/openai/v1", "https://r.openai.azure.com/openai/v1"),
            ("https://r.openai.azure.com/other", "https://r.openai.azure.com/other"),
            ("https://proxy.example/", "https://proxy.example"),
            ("https://openai.azure.com.evil.example", "https://openai.azure.com.evil.example"),
        ] {
            let expected = format!("{expected}?api-version=v1");
            assert_eq!(at(&gpt, &[("AZURE_OPENAI_BASE_URL", base)]), Ok(expected), "{base}");
        }
        let both = [("AZURE_OPENAI_RESOURCE_NAME", "r"), ("AZURE_OPENAI_API_VERSION", "2026-01-01-preview")];
        let expected = "https://r.openai.azure.com/openai/v1?api-version=2026-01-01-preview".to_owned();
        assert_eq!(at(&gpt, &both), Ok(expected));
        let chat = model("openai-completions", "");
        assert_eq!(at(&chat, &both), Ok("https://r.openai.azure.com/openai/v1".to_owned()));
        assert_eq!(at(&model("openai-completions", "http://own"), &[]), Ok("http://own".to_owned()));
        assert_eq!(at(&gpt, &[("AZURE_OPENAI_BASE_URL", " ")]), Err(VARIABLES.to_owned()));
    }

    #[test]
    fn a_deployment_has_the_name_of_the_map() {
        let named = |map: &str| deployment(&model(AZURE_RESPONSES, ""), &|_| Some(map.to_owned()));
        for (map, expected) in [
            ("gpt-5=prod", Some("prod")),
            (" o3 = x , gpt-5 = prod ,", Some("prod")),
            ("gpt-5=a,gpt-5=b", Some("b")),
            ("gpt-5=", None),
            ("gpt-5", None),
            ("", None),
            ("gpt-5=gpt-5", None),
        ] {
            assert_eq!(named(map).as_deref(), expected, "{map}");
        }
    }
}
