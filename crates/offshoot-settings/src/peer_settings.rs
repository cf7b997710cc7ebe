//! What becomes of each setting of a peer's own file, for a report: all of pi's. Reads text, not files.

use offshoot_session::json::{Json, JsonKind};

use crate::comments::blanked;
use crate::layer::object;
use crate::of_pi::{OF_PI, SILENT, in_pi_words, is_taken_from_pi};
use crate::table::{SETTINGS, find};

/// Whether a setting of a peer's own file counts, and why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerSettingUse {
    /// After the user's own settings.
    Counts,
    /// It names a program, which a peer's file may not.
    NamesProgram,
    /// It names a proxy.
    NamesProxy,
    /// It names a folder.
    NamesFolder,
    /// It is about trust, or says which calls run.
    GivesTrust,
    /// The list of packages, which are installed anew.
    ListsPackages,
    /// The list of extensions.
    ListsExtensions,
    /// It is about the peer's own looks, greetings and updates.
    IsAboutPeer,
    /// offshoot has nothing of the kind.
    IsMissing,
    /// The value cannot be used, and why.
    DoesNotFit(String),
    /// The peer does not have it either.
    IsUnknown,
}

/// The settings of pi's own file in their order, and what becomes of each. An unreadable file has none.
#[must_use]
pub fn settings_of_pi(text: &str) -> Vec<(String, PeerSettingUse)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let plain = blanked(text);
    let mut found = Vec::new();
    if let Ok(Some(json)) = object(text, &plain) {
        collect("", json, &mut found);
    }
    found
}

/// Settings are nested at most three deep.
fn collect(prefix: &str, json: Json<'_>, found: &mut Vec<(String, PeerSettingUse)>) {
    for (name, value) in json.members() {
        let key = format!("{prefix}{name}");
        let holds_settings =
            SETTINGS.iter().any(|setting| setting.key.strip_prefix(&*key).is_some_and(|rest| rest.starts_with('.')));
        if holds_settings && value.kind() == JsonKind::Object && !name.contains('.') {
            collect(&format!("{key}."), value, found);
            continue;
        }
        let becomes = becomes(&key, value);
        found.push((key, becomes));
    }
}

fn becomes(key: &str, value: Json<'_>) -> PeerSettingUse {
    let Some(setting) = find(key) else {
        return match () {
            () if SILENT.contains(&key) => PeerSettingUse::IsAboutPeer,
            () if OF_PI.contains(&key) => PeerSettingUse::IsMissing,
            () => PeerSettingUse::IsUnknown,
        };
    };
    match key {
        "shellPath" | "shellCommandPrefix" | "npmCommand" | "externalEditor" => PeerSettingUse::NamesProgram,
        "httpProxy" => PeerSettingUse::NamesProxy,
        "sessionDir" => PeerSettingUse::NamesFolder,
        "defaultProjectTrust" => PeerSettingUse::GivesTrust,
        "packages" => PeerSettingUse::ListsPackages,
        "extensions" => PeerSettingUse::ListsExtensions,
        _ if !is_taken_from_pi(key) => PeerSettingUse::IsUnknown,
        _ if value.as_str().and_then(|word| in_pi_words(key, &word)).is_some() => PeerSettingUse::Counts,
        _ => setting.kind.read(value).err().map_or(PeerSettingUse::Counts, PeerSettingUse::DoesNotFit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::Layer;
    use crate::setting::Scope;

    /// Every setting of pi 1.6.0's `schemas/settings.schema.json`, and its older names.
    const ALL: &str = r#"{
      "$schema": "x", "lastChangelogVersion": "1", "extensionChangelogVersions": {}, "defaultProvider": "p", "defaultModel": "m",
      "defaultThinkingLevel": "high", "modelThinkingLevels": {"p/m": "low"}, "transport": "auto", "sessionShareDestination": "gist",
      "steeringMode": "all", "followUpMode": "all", "theme": "dark",
      "compaction": {"enabled": true, "reserveTokens": 1, "keepRecentTokens": 1, "modelOverrides": {"p/m": {"reserveTokens": 1}}},
      "branchSummary": {"reserveTokens": 1, "skipPrompt": true},
      "retry": {"enabled": true, "maxRetries": 1, "baseDelayMs": 1, "maxAgentDelayMs": 1,
        "provider": {"timeoutMs": 1, "maxRetries": 1, "maxRetryDelayMs": 1}, "maxDelayMs": 1},
      "hideThinkingBlock": true, "showCacheMissNotices": true, "externalEditor": "vi", "shellPath": "sh", "quietStartup": "header",
      "defaultProjectTrust": "ask", "shellCommandPrefix": "x", "npmCommand": ["npm"], "selfUpdateCommand": ["x"],
      "collapseChangelog": true, "enableInstallTelemetry": true, "enableAnalytics": true, "trackingId": "x", "packages": [],
      "extensions": [], "deviceId": "x", "skills": [], "prompts": [], "themes": [], "enableSkillCommands": false,
      "terminal": {"showImages": true, "imageWidthCells": 60, "clearOnShrink": true, "showTerminalProgress": true,
        "hyperlinks": "auto", "images": "kitty", "trueColor": true},
      "images": {"autoResize": true, "blockImages": true}, "enabledModels": ["m"], "defaultTools": ["+grep"],
      "doubleEscapeAction": "fork", "treeFilterMode": "user-only",
      "thinkingBudgets": {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384},
      "editorPaddingX": 2, "outputPad": 0, "autocompleteMaxVisible": 7, "showHardwareCursor": true,
      "markdown": {"codeBlockIndent": "  ", "mermaid": "off"}, "warnings": {"anthropicExtraUsage": true},
      "codemode": {"mode": "on", "inlineBudget": 1}, "sessionDir": "x", "httpProxy": "http://x", "httpIdleTimeoutMs": "disabled",
      "cacheWarming": "off", "websocketConnectTimeoutMs": 1, "tuiMode": "regular", "fullscreenExitOutput": "transcript",
      "fullscreenScrollbar": "auto", "fullscreenCopyOnSelect": true, "fullscreenWheelScrollLines": 3, "queueMode": "all",
      "websockets": true
    }"#;

    #[test]
    fn every_setting_of_pi_counts_or_has_a_reason() {
        let all = settings_of_pi(ALL);
        let with = |wanted: PeerSettingUse| {
            let keys = all.iter().filter(|(_, becomes)| *becomes == wanted).map(|(key, _)| key.as_str());
            keys.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            with(PeerSettingUse::Counts),
            "defaultProvider defaultModel defaultThinkingLevel modelThinkingLevels steeringMode followUpMode theme \
             compaction.enabled compaction.reserveTokens compaction.keepRecentTokens compaction.modelOverrides \
             branchSummary.reserveTokens branchSummary.skipPrompt retry.enabled retry.maxRetries retry.baseDelayMs \
             retry.maxAgentDelayMs retry.provider.timeoutMs retry.provider.maxRetries retry.provider.maxRetryDelayMs \
             hideThinkingBlock quietStartup skills prompts themes enableSkillCommands terminal.showImages \
             terminal.imageWidthCells terminal.showTerminalProgress terminal.images terminal.trueColor images.blockImages \
             enabledModels defaultTools doubleEscapeAction treeFilterMode thinkingBudgets.minimal thinkingBudgets.low \
             thinkingBudgets.medium thinkingBudgets.high editorPaddingX outputPad autocompleteMaxVisible httpIdleTimeoutMs"
        );
        assert_eq!(with(PeerSettingUse::NamesProgram), "externalEditor shellPath shellCommandPrefix npmCommand");
        assert_eq!(with(PeerSettingUse::NamesProxy), "httpProxy");
        assert_eq!(with(PeerSettingUse::NamesFolder), "sessionDir");
        assert_eq!(with(PeerSettingUse::GivesTrust), "defaultProjectTrust");
        assert_eq!(with(PeerSettingUse::ListsPackages), "packages");
        assert_eq!(with(PeerSettingUse::ListsExtensions), "extensions");
        assert_eq!(
            with(PeerSettingUse::IsMissing),
            "transport sessionShareDestination retry.maxDelayMs selfUpdateCommand codemode cacheWarming \
             websocketConnectTimeoutMs queueMode websockets"
        );
        assert_eq!(
            with(PeerSettingUse::IsAboutPeer),
            "$schema lastChangelogVersion extensionChangelogVersions showCacheMissNotices collapseChangelog \
             enableInstallTelemetry enableAnalytics trackingId deviceId terminal.clearOnShrink terminal.hyperlinks \
             images.autoResize showHardwareCursor markdown warnings tuiMode fullscreenExitOutput fullscreenScrollbar \
             fullscreenCopyOnSelect fullscreenWheelScrollLines"
        );
        assert_eq!(with(PeerSettingUse::IsUnknown), "");
        assert!(!all.iter().any(|(_, becomes)| matches!(becomes, PeerSettingUse::DoesNotFit(_))), "{all:?}");
    }

    /// The same file as the user's own: nothing in it is unknown, and what has no effect is reported.
    #[test]
    fn every_setting_of_pi_is_known_in_a_settings_file() {
        let (_, diagnostics) = Layer::read(ALL, Scope::Global).unwrap();
        let told: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        assert!(told.iter().all(|told| told.ends_with("is a pi setting that offshoot does not use")), "{told:#?}");
        let missing =
            settings_of_pi(ALL).into_iter().filter(|(_, becomes)| *becomes == PeerSettingUse::IsMissing).count();
        assert_eq!(told.len(), missing, "{told:#?}");
    }

    #[test]
    fn values_that_cannot_be_used_and_names_of_nobody_are_named() {
        let all = settings_of_pi(r#"{"outputPad": 3, "aproval": "auto", "approval": "auto", "theme": "dark"}"#);
        let becomes: Vec<&PeerSettingUse> = all.iter().map(|(_, becomes)| becomes).collect();
        let unknown = &PeerSettingUse::IsUnknown;
        assert!(matches!(becomes[0], PeerSettingUse::DoesNotFit(why) if why.contains("from 0 to 1")), "{all:?}");
        assert_eq!(becomes[1..], [unknown, unknown, &PeerSettingUse::Counts]);
    }
}
