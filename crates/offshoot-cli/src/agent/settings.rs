//! What `settings.json` of offshoot's folder says, in pi's names. What it does not say is as in pi. Reads one file;
//! knows no agent.

use std::collections::BTreeMap;
use std::path::Path;

use offshoot_agent::turn::{QueueMode, Retry};
use offshoot_session::compact;
use offshoot_session::json::Json;

/// The user's settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Settings {
    pub(crate) provider: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) thinking: Option<String>,
    pub(crate) compaction: compact::Settings,
    /// The same for single models, by `provider/id`.
    pub(crate) compaction_for: BTreeMap<String, compact::Settings>,
    pub(crate) branch_reserve: Option<u64>,
    pub(crate) retry: Retry,
    pub(crate) steering: QueueMode,
    pub(crate) follow_up: QueueMode,
    pub(crate) shell: Option<String>,
    pub(crate) shell_prefix: Option<String>,
}

/// Reads the settings of a folder, and says what is wrong with them.
pub(crate) fn load(folder: Option<&Path>) -> (Settings, Option<String>) {
    let Some(path) = folder.map(|folder| folder.join("settings.json")) else { return Default::default() };
    match std::fs::read_to_string(&path) {
        Ok(text) => match Json::parse(&text) {
            Ok(json) => (read(json), None),
            Err(error) => (Settings::default(), Some(format!("{} is not JSON: {error}", path.display()))),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Default::default(),
        Err(error) => (Settings::default(), Some(format!("{} cannot be read: {error}", path.display()))),
    }
}

fn read(json: Json<'_>) -> Settings {
    let mut settings = Settings::default();
    let text = |name: &str| json.str(name).map(std::borrow::Cow::into_owned).filter(|text| !text.is_empty());
    let number = |of: Option<Json<'_>>, name: &str| {
        of.and_then(|of| of.get(name)?.as_f64()).filter(|number| *number >= 0.0).map(|number| number as u64)
    };
    let flag = |of: Option<Json<'_>>, name: &str| of.and_then(|of| of.get(name)?.as_bool());
    let (compaction, branch, retry) = (json.get("compaction"), json.get("branchSummary"), json.get("retry"));
    let now = &mut settings.compaction;
    now.enabled = flag(compaction, "enabled").unwrap_or(now.enabled);
    let tokens = |of: Option<Json<'_>>, than: compact::Settings| compact::Settings {
        reserve_tokens: number(of, "reserveTokens").unwrap_or(than.reserve_tokens),
        keep_recent_tokens: number(of, "keepRecentTokens").unwrap_or(than.keep_recent_tokens),
        ..than
    };
    *now = tokens(compaction, *now);
    let general = *now;
    let overrides = compaction.and_then(|of| of.get("modelOverrides")).map(Json::members).into_iter().flatten();
    settings.compaction_for = overrides.map(|(name, of)| (name.into_owned(), tokens(Some(of), general))).collect();
    let rules = &mut settings.retry;
    rules.enabled = flag(retry, "enabled").unwrap_or(rules.enabled);
    let retries = number(retry, "maxRetries").and_then(|retries| u32::try_from(retries).ok());
    rules.max_retries = retries.unwrap_or(rules.max_retries);
    rules.base_delay_ms = number(retry, "baseDelayMs").unwrap_or(rules.base_delay_ms);
    rules.max_delay_ms = number(retry, "maxAgentDelayMs").unwrap_or(rules.max_delay_ms);
    let mode = |name: &str| match json.str(name).as_deref() {
        Some("all") => QueueMode::All,
        _ => QueueMode::OneAtATime,
    };
    Settings {
        provider: text("defaultProvider"),
        model: text("defaultModel"),
        thinking: text("defaultThinkingLevel"),
        branch_reserve: number(branch, "reserveTokens"),
        steering: mode("steeringMode"),
        follow_up: mode("followUpMode"),
        shell: text("shellPath"),
        shell_prefix: text("shellCommandPrefix"),
        ..settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_pis_names() {
        let text = r#"{"defaultModel":"m","compaction":{"enabled":false,"reserveTokens":7,
            "modelOverrides":{"p/m":{"keepRecentTokens":9}}},
            "retry":{"maxRetries":1,"baseDelayMs":0},"followUpMode":"all","theme":"dark"}"#;
        let settings = read(Json::parse(text).unwrap());
        assert_eq!(settings.model.as_deref(), Some("m"));
        assert_eq!((settings.compaction.enabled, settings.compaction.reserve_tokens), (false, 7));
        assert_eq!(settings.compaction.keep_recent_tokens, 20_000);
        let of_one = settings.compaction_for["p/m"];
        assert_eq!((of_one.enabled, of_one.reserve_tokens, of_one.keep_recent_tokens), (false, 7, 9));
        assert_eq!(settings.retry, Retry { max_retries: 1, base_delay_ms: 0, ..Retry::default() });
        assert_eq!((settings.steering, settings.follow_up), (QueueMode::OneAtATime, QueueMode::All));
    }
}
