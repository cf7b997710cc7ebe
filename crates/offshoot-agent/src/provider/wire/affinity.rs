//! Headers that tell a server the session's id, so that requests of one session reach the same machine and its prompt cache.

use offshoot_protocol::CacheRetention;
use offshoot_protocol::model::Model;

use super::Api;

/// Names of headers whose value is the session's id.
pub(super) fn headers(model: &Model, api: Api) -> Vec<&'static str> {
    let compat = &model.compat;
    let is_router = model.provider == "openrouter" || model.base_url.contains("openrouter.ai");
    let is_asked = compat.send_session_affinity_headers.unwrap_or(is_router);
    let usual = if is_router { "openrouter" } else { "openai" };
    let format = compat.session_affinity_format.as_deref().unwrap_or(usual);
    let is_cached = model.cache_retention != CacheRetention::None;
    let mut names = match (api, format) {
        _ if !is_cached => Vec::new(),
        (Api::Google | Api::Bedrock, _) => Vec::new(),
        (Api::Mistral, _) => vec!["x-affinity"],
        (Api::Anthropic | Api::Completions, _) if !is_asked => Vec::new(),
        (_, "openrouter") => vec!["x-session-id"],
        (Api::Anthropic, _) => vec!["x-session-affinity"],
        (Api::Responses, "openai") => vec!["session-id", "x-client-request-id"],
        (Api::Responses, _) => vec!["x-client-request-id"],
        (Api::Completions, "openai") => vec!["session_id", "x-client-request-id", "x-session-affinity"],
        (Api::Completions, _) => vec!["x-client-request-id", "x-session-affinity"],
    };
    // OpenCode routes by it, whatever the wire format.
    names.extend(model.provider.starts_with("opencode").then_some("x-opencode-session"));
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use offshoot_protocol::model::Compat;

    fn names(provider: &str, api: Api, compat: Compat) -> String {
        let model = Model { provider: provider.to_owned(), compat, ..Model::default() };
        headers(&model, api).join(" ")
    }

    /// As pi 1.6.0.
    #[test]
    fn each_wire_format_has_its_own_headers() {
        let asked = |format: Option<&str>| Compat {
            send_session_affinity_headers: Some(true),
            session_affinity_format: format.map(str::to_owned),
            ..Compat::default()
        };
        for (provider, api, compat, expected) in [
            ("openai", Api::Responses, Compat::default(), "session-id x-client-request-id"),
            ("openai", Api::Responses, asked(Some("openai-nosession")), "x-client-request-id"),
            ("openrouter", Api::Completions, Compat::default(), "x-session-id"),
            ("openrouter", Api::Anthropic, Compat::default(), "x-session-id"),
            ("groq", Api::Completions, Compat::default(), ""),
            ("baseten", Api::Completions, asked(None), "session_id x-client-request-id x-session-affinity"),
            ("baseten", Api::Completions, asked(Some("openai-nosession")), "x-client-request-id x-session-affinity"),
            ("fireworks", Api::Anthropic, asked(None), "x-session-affinity"),
            ("anthropic", Api::Anthropic, Compat::default(), ""),
            ("mistral", Api::Mistral, Compat::default(), "x-affinity"),
            ("opencode-go", Api::Google, Compat::default(), "x-opencode-session"),
        ] {
            assert_eq!(names(provider, api, compat), expected, "{provider} {api:?}");
        }
    }
}
