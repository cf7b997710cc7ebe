//! pi's settings that offshoot does not have.

/// pi's settings about pi's own looks and greetings. They have no meaning here and cause no warning.
pub(crate) const SILENT: &[&str] = &[
    "tuiMode",
    "fullscreenExitOutput",
    "fullscreenScrollbar",
    "fullscreenCopyOnSelect",
    "showHardwareCursor",
    "terminal.clearOnShrink",
    "terminal.hyperlinks",
    "markdown",
    "showCacheMissNotices",
    "collapseChangelog",
    "lastChangelogVersion",
    "enableInstallTelemetry",
    "enableAnalytics",
    "warnings",
];

/// Other pi settings without a meaning here, each a whole name or an object with all its members. They cause a warning.
pub(crate) const OF_PI: &[&str] = &[
    "thinkingBudgets",
    "cacheWarming",
    "images.autoResize",
    "transport",
    "websocketConnectTimeoutMs",
    "retry.provider.timeoutMs",
    "retry.provider.maxRetries",
    "extensions",
];

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
