//! The table of settings, with pi's names where pi has the setting. `docs/settings.md` is checked against it.

use offshoot_session::json::Json;

use crate::value::{Kind, SAFE, Value};

/// Which file: what the project's says comes before what the global one says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The user's, for all folders.
    Global,
    /// That of a folder.
    Project,
}

/// What a setting belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Section {
    /// Which model is asked.
    Model,
    /// How one writes and walks.
    Interaction,
    /// What the model may use.
    Tools,
    /// Sessions and contexts.
    Context,
    /// What the terminal shows.
    Display,
    /// Failed requests.
    Retries,
    /// Commands.
    Shell,
}

impl Section {
    /// Its heading.
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

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Its name; a point stands between an object and its member.
    pub key: &'static str,
    /// What it belongs to.
    pub section: Section,
    /// What sort of value it has.
    pub kind: Kind,
    /// The JSON of its value when nobody says anything; `None`: offshoot finds out by itself.
    pub usual: Option<&'static str>,
    /// Whether a project may say it: not what would run a program of the project's choice.
    pub in_projects: bool,
    /// What it does.
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

const fn row(
    key: &'static str,
    section: Section,
    kind: Kind,
    usual: Option<&'static str>,
    says: &'static str,
) -> Setting {
    Setting { key, section, kind, usual, in_projects: true, says }
}

const fn from(least: u64) -> Kind {
    Kind::Number { least, greatest: SAFE }
}

const QUEUE: Kind = Kind::Choice(&["one-at-a-time", "all"]);
const LEVELS: Kind = Kind::Choice(&["off", "minimal", "low", "medium", "high", "xhigh", "max"]);
const FILTERS: Kind = Kind::Choice(&["default", "no-tools", "user-only", "labeled-only", "all"]);

use Section::{Context, Display, Interaction, Model, Retries, Shell, Tools};

/// All settings, in the order in which they are shown.
pub const SETTINGS: &[Setting] = &[
    row("defaultProvider", Model, Kind::Text, None, "whose model is asked at the start"),
    row("defaultModel", Model, Kind::Text, None, "the model that is asked at the start: an id, or a part of one"),
    row("defaultThinkingLevel", Model, LEVELS, Some("\"medium\""), "how much it thinks at the start"),
    row("hideThinkingBlock", Model, Kind::Flag, Some("false"), "fold thoughts in the transcript"),
    row(
        "steeringMode",
        Interaction,
        QUEUE,
        Some("\"one-at-a-time\""),
        "how messages that steer are said when several wait",
    ),
    row(
        "followUpMode",
        Interaction,
        QUEUE,
        Some("\"one-at-a-time\""),
        "how messages for afterwards are said when several wait",
    ),
    row("externalEditor", Interaction, Kind::Text, None, "the command of the external editor; else $VISUAL, $EDITOR")
        .global_only(),
    row(
        "doubleEscapeAction",
        Interaction,
        Kind::Choice(&["tree", "fork", "none"]),
        Some("\"tree\""),
        "what two presses of Escape in an empty editor do",
    ),
    row("treeFilterMode", Interaction, FILTERS, Some("\"default\""), "what /tree shows first"),
    row(
        "autocompleteMaxVisible",
        Interaction,
        Kind::Number { least: 3, greatest: 20 },
        Some("5"),
        "how many completions are shown at once",
    ),
    row("defaultTools", Tools, Kind::Texts, None, "the tools that the model has; an empty list: none"),
    row("compaction.enabled", Context, Kind::Flag, Some("true"), "compact a context by itself before it is too long"),
    row("compaction.reserveTokens", Context, from(0), Some("16384"), "tokens that stay free for the answer"),
    row("compaction.keepRecentTokens", Context, from(0), Some("20000"), "tokens of the newest messages that are kept"),
    row("compaction.modelOverrides", Context, Kind::PerModel, None, "the same tokens for single models"),
    row(
        "branchSummary.reserveTokens",
        Context,
        from(0),
        Some("16384"),
        "tokens that stay free when a branch is summarised",
    ),
    row(
        "branchSummary.skipPrompt",
        Context,
        Kind::Flag,
        Some("false"),
        "leave a branch without being asked for a summary",
    ),
    row(
        "theme",
        Display,
        Kind::Text,
        None,
        "dark, light, a file of the data folder's themes without its .json, or two as in light/dark; else by the terminal",
    ),
    row(
        "quietStartup",
        Display,
        Kind::Flag,
        Some("false"),
        "leave out the words in the empty editor that name keys at the start",
    ),
    row(
        "editorPaddingX",
        Display,
        Kind::Number { least: 0, greatest: 3 },
        Some("0"),
        "columns that stay free on either side of what is written",
    ),
    row(
        "outputPad",
        Display,
        Kind::Number { least: 0, greatest: 1 },
        Some("1"),
        "1: the words of answers are indented beneath the marks; 0: they begin in the first column",
    ),
    row(
        "terminal.trueColor",
        Display,
        Kind::Switch,
        Some("\"auto\""),
        "whether the terminal has 24 bits of colour, where it is taken for another",
    ),
    row(
        "terminal.showTerminalProgress",
        Display,
        Kind::Flag,
        Some("false"),
        "show in the terminal's tab that the agent is at work (OSC 9;4)",
    ),
    row(
        "terminal.images",
        Display,
        Kind::ChoiceOrNo(&["auto", "kitty", "iterm2", "sixel"]),
        Some("\"auto\""),
        "how pictures are sent, where the terminal is taken for another; false: not at all",
    ),
    row("terminal.showImages", Display, Kind::Flag, Some("true"), "show pictures where the terminal can"),
    row(
        "terminal.imageWidthCells",
        Display,
        Kind::Number { least: 1, greatest: 1000 },
        Some("60"),
        "how many columns a picture takes at most",
    ),
    row("retry.enabled", Retries, Kind::Flag, Some("true"), "send a request again that failed for a passing reason"),
    row("retry.maxRetries", Retries, Kind::Number { least: 0, greatest: 1000 }, Some("3"), "how often"),
    row("retry.baseDelayMs", Retries, from(0), Some("2000"), "milliseconds before the first time, doubled each time"),
    row("retry.maxAgentDelayMs", Retries, from(0), Some("60000"), "the longest wait in milliseconds"),
    row("shellPath", Shell, Kind::Text, None, "the shell; else bash").global_only(),
    row("shellCommandPrefix", Shell, Kind::Text, None, "what stands before every command").global_only(),
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

    /// The row of a setting in the document.
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
