//! The table of settings, with pi's names where pi has the setting. `docs/settings.md` is checked against it.

use offshoot_session::json::Json;

use crate::value::{SAFE, SettingKind, Value};

/// Which file: what the project's says comes before what the global one says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    Global,
    Project,
}

/// What a setting belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Section {
    Model,
    Interaction,
    Tools,
    Context,
    Display,
    Retries,
    Shell,
}

impl Section {
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Model => "Model and thinking",
            Self::Interaction => "Interaction",
            Self::Tools => "Tools",
            Self::Context => "Sessions and context",
            Self::Display => "Terminal and display",
            Self::Retries => "Retries",
            Self::Shell => "Shell",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Its name; a point stands between an object and its member.
    pub key: &'static str,
    pub section: Section,
    pub kind: SettingKind,
    /// The JSON of its value when nobody says anything; `None`: offshoot finds out by itself.
    pub usual: Option<&'static str>,
    /// Whether a project may say it: not what would run a program of the project's choice.
    pub in_projects: bool,
    pub says: &'static str,
}

impl Setting {
    /// Its value when nobody says anything.
    #[must_use]
    pub fn default(&self) -> Option<Value> {
        self.usual.and_then(|json| self.kind.read(Json::parse(json).ok()?).ok())
    }

    /// Whether a file may say it.
    #[must_use]
    pub fn may_stand_in(&self, scope: Scope) -> bool {
        scope == Scope::Global || self.in_projects
    }

    const fn global_only(self) -> Self {
        Self { in_projects: false, ..self }
    }
}

const fn setting_row(
    key: &'static str,
    section: Section,
    kind: SettingKind,
    usual: Option<&'static str>,
    says: &'static str,
) -> Setting {
    Setting { key, section, kind, usual, in_projects: true, says }
}

const fn from(least: u64) -> SettingKind {
    SettingKind::Number { least, greatest: SAFE }
}

const QUEUE: SettingKind = SettingKind::Choice(&["one-at-a-time", "all"]);
const LEVELS: SettingKind = SettingKind::Choice(&["off", "minimal", "low", "medium", "high", "xhigh", "max"]);
const FILTERS: SettingKind = SettingKind::Choice(&["default", "no-tools", "user-only", "labeled-only", "all"]);

use Section::{Context, Display, Interaction, Model, Retries, Shell, Tools};

/// All settings, in the order in which they are shown.
pub const SETTINGS: &[Setting] = &[
    setting_row("defaultProvider", Model, SettingKind::Text, None, "whose model is asked at the start"),
    setting_row(
        "defaultModel",
        Model,
        SettingKind::Text,
        None,
        "the model that is asked at the start: an id, or a part of one",
    ),
    setting_row("defaultThinkingLevel", Model, LEVELS, Some("\"medium\""), "how much it thinks at the start"),
    setting_row("hideThinkingBlock", Model, SettingKind::Flag, Some("false"), "fold thoughts in the transcript"),
    setting_row(
        "steeringMode",
        Interaction,
        QUEUE,
        Some("\"one-at-a-time\""),
        "how messages that steer are said when several wait",
    ),
    setting_row(
        "followUpMode",
        Interaction,
        QUEUE,
        Some("\"one-at-a-time\""),
        "how messages for afterwards are said when several wait",
    ),
    setting_row(
        "externalEditor",
        Interaction,
        SettingKind::Text,
        None,
        "the command of the external editor; else $VISUAL, $EDITOR",
    )
    .global_only(),
    setting_row(
        "doubleEscapeAction",
        Interaction,
        SettingKind::Choice(&["tree", "fork", "none"]),
        Some("\"tree\""),
        "what two presses of Escape in an empty editor do",
    ),
    setting_row("treeFilterMode", Interaction, FILTERS, Some("\"default\""), "what /tree shows first"),
    setting_row(
        "autocompleteMaxVisible",
        Interaction,
        SettingKind::Number { least: 3, greatest: 20 },
        Some("5"),
        "how many completions are shown at once",
    ),
    setting_row("defaultTools", Tools, SettingKind::Texts, None, "the tools that the model has; an empty list: none"),
    setting_row(
        "compaction.enabled",
        Context,
        SettingKind::Flag,
        Some("true"),
        "compact a context by itself before it is too long",
    ),
    setting_row("compaction.reserveTokens", Context, from(0), Some("16384"), "tokens that stay free for the answer"),
    setting_row(
        "compaction.keepRecentTokens",
        Context,
        from(0),
        Some("20000"),
        "tokens of the newest messages that are kept",
    ),
    setting_row("compaction.modelOverrides", Context, SettingKind::PerModel, None, "the same tokens for single models"),
    setting_row(
        "branchSummary.reserveTokens",
        Context,
        from(0),
        Some("16384"),
        "tokens that stay free when a branch is summarised",
    ),
    setting_row(
        "branchSummary.skipPrompt",
        Context,
        SettingKind::Flag,
        Some("false"),
        "leave a branch without being asked for a summary",
    ),
    setting_row(
        "theme",
        Display,
        SettingKind::Text,
        None,
        "dark, light, a file of the data folder's themes without its .json, or two as in light/dark; else by the terminal",
    ),
    setting_row(
        "quietStartup",
        Display,
        SettingKind::Flag,
        Some("false"),
        "leave out the words in the empty editor that name keys at the start",
    ),
    setting_row(
        "editorPaddingX",
        Display,
        SettingKind::Number { least: 0, greatest: 3 },
        Some("0"),
        "columns that stay free on either side of what is written",
    ),
    setting_row(
        "outputPad",
        Display,
        SettingKind::Number { least: 0, greatest: 1 },
        Some("1"),
        "1: the words of answers are indented beneath the marks; 0: they begin in the first column",
    ),
    setting_row(
        "terminal.trueColor",
        Display,
        SettingKind::Switch,
        Some("\"auto\""),
        "whether the terminal has 24 bits of colour, where it is taken for another",
    ),
    setting_row(
        "terminal.showTerminalProgress",
        Display,
        SettingKind::Flag,
        Some("false"),
        "show in the terminal's tab that the agent is at work (OSC 9;4)",
    ),
    setting_row(
        "terminal.images",
        Display,
        SettingKind::ChoiceOrNo(&["auto", "kitty", "iterm2", "sixel"]),
        Some("\"auto\""),
        "how pictures are sent, where the terminal is taken for another; false: not at all",
    ),
    setting_row(
        "terminal.showImages",
        Display,
        SettingKind::Flag,
        Some("true"),
        "show pictures where the terminal can",
    ),
    setting_row(
        "terminal.imageWidthCells",
        Display,
        SettingKind::Number { least: 1, greatest: 1000 },
        Some("60"),
        "how many columns a picture takes at most",
    ),
    setting_row(
        "retry.enabled",
        Retries,
        SettingKind::Flag,
        Some("true"),
        "send a request again that failed for a passing reason",
    ),
    setting_row("retry.maxRetries", Retries, SettingKind::Number { least: 0, greatest: 1000 }, Some("3"), "how often"),
    setting_row(
        "retry.baseDelayMs",
        Retries,
        from(0),
        Some("2000"),
        "milliseconds before the first time, doubled each time",
    ),
    setting_row("retry.maxAgentDelayMs", Retries, from(0), Some("60000"), "the longest wait in milliseconds"),
    setting_row("shellPath", Shell, SettingKind::Text, None, "the shell; else bash").global_only(),
    setting_row("shellCommandPrefix", Shell, SettingKind::Text, None, "what stands before every command").global_only(),
];

/// The row of a name.
#[must_use]
pub fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// Settings of pi about how pi looks or greets. They have no meaning here and nobody misses them: nothing is said of them.
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

/// Other settings of pi that have no meaning here: the whole name, or an object with all its members.
pub(crate) const OF_PI: &[&str] = &[
    "modelThinkingLevels",
    "thinkingBudgets",
    "enabledModels",
    "cacheWarming",
    "defaultProjectTrust",
    "sessionDir",
    "images",
    "transport",
    "httpProxy",
    "httpIdleTimeoutMs",
    "websocketConnectTimeoutMs",
    "retry.provider",
    "npmCommand",
    "packages",
    "extensions",
    "skills",
    "prompts",
    "themes",
    "enableSkillCommands",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_defaults_are_values() {
        for (at, setting) in SETTINGS.iter().enumerate() {
            assert!(SETTINGS[..at].iter().all(|other| other.key != setting.key), "{}", setting.key);
            assert_eq!(setting.default().is_some(), setting.usual.is_some(), "{}", setting.key);
            assert!(!OF_PI.contains(&setting.key) && !SILENT.contains(&setting.key), "{}", setting.key);
        }
    }

    fn documented(setting: &Setting) -> String {
        let usual = setting.default().map_or_else(|| "automatic".to_owned(), |value| format!("`{value}`"));
        let whose = if setting.in_projects { "" } else { ". The user's own file only" };
        format!("| `{}` | {} | {usual} | {}{whose} |", setting.key, setting.kind.wanted(), setting.says)
    }

    #[test]
    fn the_document_has_every_setting_and_no_other() {
        let document = include_str!("../../../docs/settings.md");
        let rows: Vec<&str> = document.lines().filter(|line| line.starts_with("| `")).collect();
        let expected: Vec<String> = SETTINGS.iter().map(documented).collect();
        assert_eq!(rows.join("\n"), expected.join("\n"));
    }

    #[test]
    fn sections_stand_together() {
        let mut seen: Vec<Section> = Vec::new();
        for setting in SETTINGS {
            if seen.last() != Some(&setting.section) {
                assert!(!seen.contains(&setting.section), "{}", setting.key);
                seen.push(setting.section);
            }
        }
    }
}
