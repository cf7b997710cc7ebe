//! pi's settings that offshoot does not have, and those that are taken from pi's own file.

/// pi's settings about pi's own looks and greetings. They have no meaning here and cause no warning.
pub(crate) const SILENT: &[&str] = &[
    "tuiMode",
    "fullscreenExitOutput",
    "fullscreenScrollbar",
    "fullscreenCopyOnSelect",
    "showHardwareCursor",
    "terminal.clearOnShrink",
    "terminal.hyperlinks",
    "images.autoResize",
    "markdown",
    "showCacheMissNotices",
    "collapseChangelog",
    "lastChangelogVersion",
    "enableInstallTelemetry",
    "enableAnalytics",
    "warnings",
];

/// Other pi settings without a meaning here, each a whole name or an object with all its members. They cause a warning.
pub(crate) const OF_PI: &[&str] = &["cacheWarming", "transport", "websocketConnectTimeoutMs"];

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
