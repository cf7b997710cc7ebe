//! oh-my-pi's settings that offshoot has, under its own names or others, and how their values are read. Knows no file.

/// How a value of oh-my-pi becomes one of offshoot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    Same,
    /// The opposite of a flag.
    Opposite,
    /// A number of seconds; a negative one leaves the choice to the program.
    Seconds,
    /// Other words for the same; a word without one leaves the choice to the program. Words that are not listed are the same.
    Words(&'static [(&'static str, Option<&'static str>)]),
    /// `provider/id:level`.
    Model,
    /// The name of a theme on a dark screen.
    DarkTheme,
    /// The same on a light one.
    LightTheme,
    /// Names that do not count, which become patterns.
    Without,
}

/// A setting of oh-my-pi, the setting that it is here, and how it is read.
pub(crate) const FROM_OMP: &[(&str, &str, Reading)] = &[
    ("modelRoles.default", "defaultModel", Reading::Model),
    ("enabledModels", "enabledModels", Reading::Same),
    ("defaultThinkingLevel", "defaultThinkingLevel", Reading::Words(&[("auto", None), ("inherit", None)])),
    ("hideThinkingBlock", "hideThinkingBlock", Reading::Same),
    ("thinkingBudgets.minimal", "thinkingBudgets.minimal", Reading::Same),
    ("thinkingBudgets.low", "thinkingBudgets.low", Reading::Same),
    ("thinkingBudgets.medium", "thinkingBudgets.medium", Reading::Same),
    ("thinkingBudgets.high", "thinkingBudgets.high", Reading::Same),
    ("providers.cacheRetention", "cacheRetention", Reading::Words(&[("auto", None)])),
    ("providers.streamIdleTimeoutSeconds", "httpIdleTimeoutMs", Reading::Seconds),
    ("steeringMode", "steeringMode", Reading::Same),
    ("queueMode", "steeringMode", Reading::Same),
    ("followUpMode", "followUpMode", Reading::Same),
    ("doubleEscapeAction", "doubleEscapeAction", Reading::Words(&[("rewind", Some("tree")), ("branch", Some("tree"))])),
    ("treeFilterMode", "treeFilterMode", Reading::Same),
    ("autocompleteMaxVisible", "autocompleteMaxVisible", Reading::Same),
    ("startup.quiet", "quietStartup", Reading::Same),
    ("theme.dark", "theme", Reading::DarkTheme),
    ("theme.light", "theme", Reading::LightTheme),
    ("terminal.showImages", "terminal.showImages", Reading::Same),
    ("terminal.showProgress", "terminal.showTerminalProgress", Reading::Same),
    ("tui.maxInlineImageColumns", "terminal.imageWidthCells", Reading::Same),
    ("completion.notify", "terminal.notifications", Reading::Words(&[("on", Some("auto"))])),
    ("images.blockImages", "images.blockImages", Reading::Same),
    ("compaction.enabled", "compaction.enabled", Reading::Same),
    ("compaction.reserveTokens", "compaction.reserveTokens", Reading::Same),
    ("compaction.keepRecentTokens", "compaction.keepRecentTokens", Reading::Same),
    ("branchSummary.enabled", "branchSummary.skipPrompt", Reading::Opposite),
    ("branchSummary.reserveTokens", "branchSummary.reserveTokens", Reading::Same),
    ("retry.enabled", "retry.enabled", Reading::Same),
    ("retry.maxRetries", "retry.maxRetries", Reading::Same),
    ("retry.baseDelayMs", "retry.baseDelayMs", Reading::Same),
    ("retry.maxDelayMs", "retry.provider.maxRetryDelayMs", Reading::Same),
    (
        "tools.approvalMode",
        "approval",
        Reading::Words(&[("yolo", None), ("write", Some("edits")), ("always-ask", Some("ask"))]),
    ),
    ("ttsr.enabled", "ttsr.enabled", Reading::Same),
    ("ttsr.interruptMode", "ttsr.interruptMode", Reading::Same),
    ("ttsr.disabledRules", "ttsr.disabledRules", Reading::Same),
    ("ttsr.builtinRules", "ttsr.builtinRules", Reading::Same),
    ("skills.enableSkillCommands", "enableSkillCommands", Reading::Same),
    ("skills.customDirectories", "skills", Reading::Same),
    ("skills.ignoredSkills", "skills", Reading::Without),
    ("disabledExtensions", "", Reading::Without),
    ("extensions", "extensions", Reading::Same),
];

/// The kinds of `disabledExtensions`, the list here, and what is after a name in it. Names of rules are listed as they are.
pub(crate) const DISABLED: &[(&str, &str, &str)] = &[
    ("skill", "skills", ""),
    ("prompt", "prompts", ".md"),
    ("slash-command", "prompts", ".md"),
    ("extension-module", "extensions", ""),
    ("rule", "ttsr.disabledRules", ""),
];

/// Groups and settings of oh-my-pi's own looks and greetings.
pub(crate) const LOOKS: &[&str] = &[
    "setupVersion",
    "lastChangelogVersion",
    "collapseChangelog",
    "symbolPreset",
    "colorBlindMode",
    "composer",
    "statusLine",
    "display",
    "tui",
    "startup",
    "showHardwareCursor",
    "update",
    "marketplace",
    "spelling",
    "emojiAutocomplete",
    "images.autoResize",
];

/// Settings that say which calls run.
pub(crate) const CALLS: &[&str] = &["tools.approval", "bash", "bashInterceptor"];

/// The word of a setting here, as JSON; `None` leaves the choice to the program.
pub(crate) fn in_own_words(words: &[(&str, Option<&'static str>)], word: &str) -> Option<String> {
    match words.iter().find(|(known, _)| *known == word) {
        Some((_, own)) => own.map(str::to_owned),
        None => Some(word.to_owned()),
    }
}

/// The setting of a light and a dark theme; without one of them that of offshoot.
pub(crate) fn theme_of(light: Option<&str>, dark: Option<&str>) -> Option<String> {
    (light.is_some() || dark.is_some()).then(|| format!("{}/{}", light.unwrap_or("light"), dark.unwrap_or("dark")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::find;

    #[test]
    fn every_name_here_is_a_setting() {
        for (theirs, own, _) in FROM_OMP {
            assert!(own.is_empty() || find(own).is_some(), "{theirs}: {own}");
        }
        assert_eq!(theme_of(None, Some("night")).as_deref(), Some("light/night"));
        assert_eq!((theme_of(None, None), in_own_words(&[("auto", None)], "auto")), (None, None));
    }
}
