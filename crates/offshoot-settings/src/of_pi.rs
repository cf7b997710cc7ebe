//! pi's settings that offshoot does not have, and those that are taken from pi's own file.

use crate::value::Value;

/// pi's settings about pi's own looks and greetings. They have no meaning here and cause no warning.
pub(crate) const SILENT: &[&str] = &[
    "$schema",
    "tuiMode",
    "fullscreenExitOutput",
    "fullscreenScrollbar",
    "fullscreenCopyOnSelect",
    "fullscreenWheelScrollLines",
    "showHardwareCursor",
    "terminal.clearOnShrink",
    "terminal.hyperlinks",
    "images.autoResize",
    "markdown",
    "showCacheMissNotices",
    "collapseChangelog",
    "lastChangelogVersion",
    "extensionChangelogVersions",
    "enableInstallTelemetry",
    "enableAnalytics",
    "trackingId",
    "deviceId",
    "warnings",
];

/// Other pi settings without a meaning here, each a whole name or an object with all its members. They cause a warning.
pub(crate) const OF_PI: &[&str] = &[
    "cacheWarming",
    "transport",
    "websocketConnectTimeoutMs",
    "websockets",
    "codemode",
    "sessionShareDestination",
    "selfUpdateCommand",
    "queueMode",
    "retry.maxDelayMs",
];

/// What is taken from pi's own settings file, each a whole name or the start of one. Nothing that names a program, a proxy or a
/// folder, and nothing about trust.
pub(crate) const FROM_PI: &[&str] = &[
    "defaultProvider",
    "defaultModel",
    "defaultThinkingLevel",
    "modelThinkingLevels",
    "thinkingBudgets.",
    "enabledModels",
    "theme",
    "hideThinkingBlock",
    "defaultTools",
    "doubleEscapeAction",
    "treeFilterMode",
    "autocompleteMaxVisible",
    "enableSkillCommands",
    "quietStartup",
    "editorPaddingX",
    "outputPad",
    "httpIdleTimeoutMs",
    "steeringMode",
    "followUpMode",
    "compaction.",
    "branchSummary.",
    "retry.",
    "images.",
    "terminal.",
    "skills",
    "prompts",
    "themes",
];

/// Whether a setting is taken from pi's own settings file.
#[must_use]
pub fn is_taken_from_pi(key: &str) -> bool {
    FROM_PI.iter().any(|name| key == *name || (name.ends_with('.') && key.starts_with(name)))
}

/// A value of pi that says in a word what the setting says otherwise here.
pub(crate) fn in_pi_words(key: &str, word: &str) -> Option<Value> {
    match (key, word) {
        // pi's greeting with its header and without the list of what was loaded, which is not shown here anyway.
        ("quietStartup", "header") => Some(Value::Flag(false)),
        ("httpIdleTimeoutMs", "disabled") => Some(Value::Number(0)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::SETTINGS;

    #[test]
    fn what_is_here_is_not_missing() {
        for setting in SETTINGS {
            assert!(!OF_PI.contains(&setting.key) && !SILENT.contains(&setting.key), "{}", setting.key);
        }
    }
}
