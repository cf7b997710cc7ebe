//! The table of settings, under pi's names where pi has the setting. A test keeps `docs/settings.md` equal to it.

use offshoot_protocol::ApprovalMode;

use crate::setting::Section::{Context, Display, Interaction, Model, Resources, Retries, Safety, Shell, Tools};
use crate::setting::{Setting, setting_row};
use crate::value::{SAFE, SettingKind};

const fn from(least: u64) -> SettingKind {
    SettingKind::Number { least, greatest: SAFE }
}

const QUEUE: SettingKind = SettingKind::Choice(&["one-at-a-time", "all"]);
const LEVELS: SettingKind = SettingKind::Choice(&["off", "minimal", "low", "medium", "high", "xhigh", "max"]);
const FILTERS: SettingKind = SettingKind::Choice(&["default", "no-tools", "user-only", "labeled-only", "all"]);

/// All settings, in display order.
pub const SETTINGS: &[Setting] = &[
    setting_row("defaultProvider", Model, SettingKind::Text, None, "the provider used at the start"),
    setting_row("defaultModel", Model, SettingKind::Text, None, "the model used at the start: an id, or a part of one"),
    setting_row("defaultThinkingLevel", Model, LEVELS, Some("\"medium\""), "the thinking level at the start"),
    setting_row(
        "modelThinkingLevels",
        Model,
        SettingKind::LevelPerModel,
        None,
        "the thinking level of single models at the start and when they are chosen",
    ),
    setting_row(
        "enabledModels",
        Model,
        SettingKind::Texts,
        None,
        "the models between which ctrl+p changes: ids, parts of ids, or globs such as anthropic/* or *sonnet*:high; an id that several providers have means all of them; by default, and where none fits, all with a key",
    ),
    setting_row("images.blockImages", Model, SettingKind::Flag, Some("false"), "send the model no pictures"),
    setting_row("hideThinkingBlock", Model, SettingKind::Flag, Some("false"), "fold thinking in the transcript"),
    setting_row("thinkingBudgets.minimal", Model, from(1024), None, "tokens of thinking at this level, for models that take a number; by default 1024"),
    setting_row("thinkingBudgets.low", Model, from(1024), None, "the same; by default 2048"),
    setting_row("thinkingBudgets.medium", Model, from(1024), None, "the same; by default 8192"),
    setting_row("thinkingBudgets.high", Model, from(1024), None, "the same, also for the levels above; by default 16384"),
    setting_row(
        "cacheRetention",
        Model,
        SettingKind::Choice(&["none", "short", "long"]),
        None,
        "how long providers are asked to keep a conversation in their cache: not at all, for minutes, or for up to an hour or a day, which may cost more; by default PI_CACHE_RETENTION, else short",
    ),
    setting_row(
        "steeringMode",
        Interaction,
        QUEUE,
        Some("\"one-at-a-time\""),
        "whether waiting steering messages are sent one at a time or all at once",
    ),
    setting_row(
        "followUpMode",
        Interaction,
        QUEUE,
        Some("\"one-at-a-time\""),
        "whether waiting follow-up messages are sent one at a time or all at once",
    ),
    setting_row(
        "externalEditor",
        Interaction,
        SettingKind::Text,
        None,
        "the external editor's command; by default $VISUAL, then $EDITOR",
    )
    .global_only(),
    setting_row(
        "doubleEscapeAction",
        Interaction,
        SettingKind::Choice(&["tree", "fork", "none"]),
        Some("\"tree\""),
        "what pressing Escape twice in an empty editor does",
    ),
    setting_row("treeFilterMode", Interaction, FILTERS, Some("\"default\""), "the filter that /tree starts with"),
    setting_row(
        "treeLayout",
        Interaction,
        SettingKind::Choice(&["trunk", "pi"]),
        Some("\"trunk\""),
        "how the tree is drawn: the path as a trunk, or pi's columns",
    ),
    setting_row(
        "treeFiles",
        Interaction,
        SettingKind::Choice(&["messages", "both", "files"]),
        None,
        "what comes back when you leave a branch in /tree: the messages alone, both, or the files alone; asked once where files would change",
    ),
    setting_row(
        "autocompleteMaxVisible",
        Interaction,
        SettingKind::Number { least: 3, greatest: 20 },
        Some("5"),
        "how many completions are shown at most",
    ),
    setting_row(
        "enableSkillCommands",
        Interaction,
        SettingKind::Flag,
        Some("true"),
        "offer /skill:name when a command is typed; it works either way",
    ),
    setting_row(
        "promptHistory",
        Interaction,
        SettingKind::Flag,
        Some("true"),
        "keep sent prompts in a file, for the keys Up and ctrl+r",
    ),
    setting_row(
        "packages",
        Resources,
        SettingKind::Packages,
        None,
        "packages of skills, templates and themes; files add up, and a project's entry replaces the user's of the same package",
    ),
    setting_row(
        "extensions",
        Resources,
        SettingKind::Texts,
        None,
        "more files and folders of extensions; files add up. They are programs with your rights",
    ),
    setting_row(
        "hooks",
        Resources,
        SettingKind::Texts,
        None,
        "more files and folders of hooks of pi 0.31; files add up. They are programs with your rights",
    ),
    setting_row(
        "node",
        Resources,
        SettingKind::Text,
        None,
        "the Node.js that runs extensions, 22.19 or newer; by default PI_NODE, else the first on the path",
    )
    .global_only(),
    setting_row(
        "skills",
        Resources,
        SettingKind::Texts,
        None,
        "more files and folders of skills, and patterns such as !name over those that are found; files add up",
    ),
    setting_row(
        "prompts",
        Resources,
        SettingKind::Texts,
        None,
        "more files and folders of prompt templates, and patterns over those that are found; files add up",
    ),
    setting_row(
        "piFolder",
        Resources,
        SettingKind::Choice(&["ask", "on", "off"]),
        Some("\"ask\""),
        "whether keys, models, prompts, skills, themes and settings of pi's own folder count after yours; the first start that finds one asks",
    )
    .global_only(),
    setting_row(
        "ompFolder",
        Resources,
        SettingKind::Choice(&["ask", "on", "off"]),
        Some("\"ask\""),
        "the same for oh-my-pi's own folder, whose keys, models, prompts, commands, skills, rules and themes count after pi's",
    )
    .global_only(),
    setting_row(
        "ttsr.enabled",
        Resources,
        SettingKind::Flag,
        Some("true"),
        "hold the model's answers against the conditions of rules; without it a rule with a condition counts as one without",
    )
    .global_only(),
    setting_row(
        "ttsr.interruptMode",
        Resources,
        SettingKind::Choice(&["always", "prose-only", "tool-only", "never"]),
        Some("\"always\""),
        "what a rule with a condition stops that does not say it: texts and calls, texts only, calls only, or nothing",
    )
    .global_only(),
    setting_row("ttsr.disabledRules", Resources, SettingKind::Texts, None, "names of rules that do not count").global_only(),
    setting_row(
        "ttsr.builtinRules",
        Resources,
        SettingKind::Flag,
        Some("true"),
        "whether the rules that oh-my-pi brings count where its folder counts",
    )
    .global_only(),
    setting_row("themes", Resources, SettingKind::Texts, None, "more files and folders of themes; files add up"),
    setting_row(
        "npmCommand",
        Resources,
        SettingKind::Texts,
        None,
        "npm and its first arguments, such as mise, exec, --, npm; by default npm",
    )
    .global_only(),
    setting_row("defaultTools", Tools, SettingKind::Texts, None, "the model's tools; an empty list means none, and +name and -name change the usual list"),
    setting_row(
        "parallelTools",
        Tools,
        SettingKind::Flag,
        Some("true"),
        "whether the calls of an answer run at once, or one after another",
    ),
    setting_row(
        "task.maxConcurrency",
        Tools,
        SettingKind::Number { least: 1, greatest: 64 },
        Some("4"),
        "agents of one depth that the tool task runs at once; the others wait",
    )
    .global_only(),
    setting_row(
        "task.maxDepth",
        Tools,
        SettingKind::Number { least: 0, greatest: 8 },
        Some("2"),
        "how deep agents may start others; 0: none are started",
    )
    .global_only(),
    setting_row(
        "task.maxAgents",
        Tools,
        SettingKind::Number { least: 1, greatest: 10_000 },
        Some("64"),
        "agents that one run may start, with those that they start",
    )
    .global_only(),
    setting_row(
        "approval",
        Tools,
        SettingKind::Choice(&ApprovalMode::NAMES),
        Some("\"auto\""),
        "which of the model's calls run without a question",
    )
    .global_only(),
    setting_row(
        "permissions.allow",
        Tools,
        SettingKind::Texts,
        None,
        "rules for calls that run without a question, such as bash(cargo test:*)",
    )
    .global_only(),
    setting_row(
        "permissions.ask",
        Tools,
        SettingKind::Texts,
        None,
        "rules for calls that are asked about; files add up",
    ),
    setting_row("permissions.deny", Tools, SettingKind::Texts, None, "rules for calls that are refused; files add up"),
    setting_row(
        "mcp.import",
        Tools,
        SettingKind::Texts,
        None,
        "programs whose MCP servers are used, too: pi, omp, claude; by default none",
    )
    .global_only(),
    setting_row(
        "sessionDir",
        Context,
        SettingKind::Text,
        None,
        "the folder of sessions, as with --session-dir, which wins; relative to the working folder, or with ~",
    )
    .global_only(),
    setting_row(
        "compaction.enabled",
        Context,
        SettingKind::Flag,
        Some("true"),
        "compact automatically before the context is full",
    ),
    setting_row("compaction.reserveTokens", Context, from(0), Some("16384"), "tokens kept free for the answer"),
    setting_row(
        "compaction.keepRecentTokens",
        Context,
        from(0),
        Some("20000"),
        "tokens of the newest messages that are kept",
    ),
    setting_row(
        "compaction.modelOverrides",
        Context,
        SettingKind::PerModel,
        None,
        "numbers of tokens for single models",
    ),
    setting_row(
        "branchSummary.reserveTokens",
        Context,
        from(0),
        Some("16384"),
        "tokens kept free when a branch is summarised",
    ),
    setting_row(
        "branchSummary.skipPrompt",
        Context,
        SettingKind::Flag,
        Some("false"),
        "leave a branch without offering a summary",
    ),
    setting_row(
        "storeSystemPrompt",
        Context,
        SettingKind::Flag,
        Some("false"),
        "keep the system prompt and the tools in the session as pi does, with each prompt before which they changed",
    ),
    setting_row(
        "files.maxBytes",
        Context,
        SettingKind::Number { least: 1024, greatest: 256 << 20 },
        Some("10485760"),
        "bytes of the largest file whose changes are recorded and brought back",
    )
    .global_only(),
    setting_row(
        "files.maxStoreBytes",
        Context,
        SettingKind::Number { least: 1 << 20, greatest: SAFE },
        Some("2147483648"),
        "bytes of the contents of files that are kept for a folder; beyond them the oldest go",
    )
    .global_only(),
    setting_row(
        "theme",
        Display,
        SettingKind::Text,
        None,
        "dark, light, a file in the data folder's themes without .json, or a pair such as light/dark; by default the terminal decides",
    ),
    setting_row(
        "quietStartup",
        Display,
        SettingKind::Flag,
        Some("false"),
        "hide the key hints in the empty editor at the start",
    ),
    setting_row(
        "editorPaddingX",
        Display,
        SettingKind::Number { least: 0, greatest: 3 },
        Some("0"),
        "free columns on either side of the editor's text",
    ),
    setting_row(
        "outputPad",
        Display,
        SettingKind::Number { least: 0, greatest: 1 },
        Some("1"),
        "1 indents answers below their marks; 0 starts them in the first column",
    ),
    setting_row(
        "terminal.trueColor",
        Display,
        SettingKind::Switch,
        Some("\"auto\""),
        "whether the terminal has 24-bit colour; auto detects it",
    ),
    setting_row(
        "terminal.showTerminalProgress",
        Display,
        SettingKind::Flag,
        Some("false"),
        "show in the terminal's tab that the agent is working (OSC 9;4)",
    ),
    setting_row(
        "terminal.notifications",
        Display,
        SettingKind::Choice(&["auto", "off", "bell", "osc9", "osc777", "osc99"]),
        Some("\"auto\""),
        "how you are told that a turn has ended or a question waits while you are elsewhere; auto takes what the terminal is known to understand, else the bell",
    ),
    setting_row(
        "terminal.setTitle",
        Display,
        SettingKind::Flag,
        Some("true"),
        "name the terminal's window after the session or its folder",
    ),
    setting_row(
        "terminal.reducedMotion",
        Display,
        SettingKind::Flag,
        Some("false"),
        "no spinner and no count of tokens while something is awaited; seconds are counted in tens",
    ),
    setting_row(
        "terminal.images",
        Display,
        SettingKind::ChoiceOrNo(&["auto", "kitty", "iterm2", "sixel"]),
        Some("\"auto\""),
        "the protocol for images; auto detects it, false sends none",
    ),
    setting_row("terminal.showImages", Display, SettingKind::Flag, Some("true"), "show images where the terminal can"),
    setting_row(
        "terminal.imageWidthCells",
        Display,
        SettingKind::Number { least: 1, greatest: 1000 },
        Some("60"),
        "how many columns an image takes at most",
    ),
    setting_row("retry.enabled", Retries, SettingKind::Flag, Some("true"), "retry a request after a transient failure"),
    setting_row(
        "retry.maxRetries",
        Retries,
        SettingKind::Number { least: 0, greatest: 1000 },
        Some("3"),
        "how many retries at most",
    ),
    setting_row(
        "retry.baseDelayMs",
        Retries,
        from(0),
        Some("2000"),
        "milliseconds before the first retry, doubled for each further one",
    ),
    setting_row(
        "retry.maxAgentDelayMs",
        Retries,
        from(0),
        Some("60000"),
        "the longest wait before a retry, in milliseconds",
    ),
    setting_row(
        "retry.provider.maxRetryDelayMs",
        Retries,
        from(0),
        Some("60000"),
        "the longest wait that a server may ask for, in milliseconds: after a longer one the request is not sent again; 0 for any",
    ),
    setting_row(
        "retry.provider.timeoutMs",
        Retries,
        from(1),
        None,
        "milliseconds until an answer must begin, else the request has failed; by default httpIdleTimeoutMs",
    ),
    setting_row(
        "retry.provider.maxRetries",
        Retries,
        SettingKind::Number { least: 0, greatest: 1000 },
        Some("0"),
        "how often a request is sent again before retry.maxRetries counts, after 0.5 s, 1 s and so on up to 8 s",
    ),
    setting_row(
        "httpIdleTimeoutMs",
        Retries,
        from(0),
        Some("600000"),
        "milliseconds for which a server may send nothing; 0 for ever",
    )
    .global_only(),
    setting_row(
        "httpProxy",
        Retries,
        SettingKind::Text,
        None,
        "the URL of a proxy for requests that leave this machine; by default HTTPS_PROXY and HTTP_PROXY name it",
    )
    .global_only(),
    setting_row(
        "answer.maxBytes",
        Retries,
        from(1),
        Some("67108864"),
        "bytes of an answer as it is sent; a longer one fails with what came so far",
    )
    .global_only(),
    setting_row(
        "answer.maxBlocks",
        Retries,
        from(1),
        Some("1000"),
        "texts, thoughts and tool calls of an answer; with more it fails with what came so far",
    )
    .global_only(),
    setting_row(
        "answer.maxSeconds",
        Retries,
        from(1),
        Some("3600"),
        "seconds that an answer may take; after that it fails with what came so far",
    )
    .global_only(),
    setting_row("shellPath", Shell, SettingKind::Text, None, "the shell; by default bash").global_only(),
    setting_row(
        "shellTimeoutSeconds",
        Shell,
        SettingKind::Number { least: 0, greatest: 2_147_483 },
        Some("0"),
        "seconds after which a command of the model is killed that names no time-out; 0 for never",
    ),
    setting_row(
        "shellKeepKeys",
        Shell,
        SettingKind::Texts,
        None,
        "variables with providers' keys that the model's commands get; by default none",
    )
    .global_only(),
    setting_row("shellCommandPrefix", Shell, SettingKind::Text, None, "text put before every command").global_only(),
    setting_row(
        "defaultProjectTrust",
        Safety,
        SettingKind::Choice(&["ask", "always", "never"]),
        Some("\"ask\""),
        "whether the settings of a project are used that you were not asked about",
    )
    .global_only(),
    setting_row(
        "sandbox.mode",
        Safety,
        SettingKind::Choice(&["off", "workspace", "read-only"]),
        Some("\"off\""),
        "where the model's commands and file tools may write: everywhere, in the working folder, or nowhere",
    )
    .tightened_by_projects(),
    setting_row(
        "sandbox.network",
        Safety,
        SettingKind::Choice(&["on", "off"]),
        Some("\"off\""),
        "whether commands in the sandbox have a network",
    )
    .tightened_by_projects(),
    setting_row(
        "sandbox.writable",
        Safety,
        SettingKind::Texts,
        None,
        "folders and files besides the working folder that the sandbox lets be written, such as ~/.npm",
    )
    .global_only(),
    setting_row(
        "sandbox.required",
        Safety,
        SettingKind::Flag,
        Some("false"),
        "run no command if this system cannot enforce all of the sandbox",
    )
    .tightened_by_projects(),
];

#[must_use]
pub fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::{InProjects, Section};

    #[test]
    fn names_are_unique_and_defaults_are_values() {
        for (at, setting) in SETTINGS.iter().enumerate() {
            assert!(SETTINGS[..at].iter().all(|other| other.key != setting.key), "{}", setting.key);
            assert_eq!(setting.default().is_some(), setting.usual.is_some(), "{}", setting.key);
        }
    }

    fn documented(setting: &Setting) -> String {
        let usual = setting.default().map_or_else(|| "automatic".to_owned(), |value| format!("`{value}`"));
        let whose = match setting.in_projects {
            InProjects::Set => "",
            InProjects::Tighten => ". A project may only make it stricter",
            InProjects::Nothing => ". The user's own file only",
        };
        format!("| `{}` | {} | {usual} | {}{whose} |", setting.key, setting.kind.wanted(), setting.says)
    }

    #[test]
    fn the_document_has_every_setting_and_no_other() {
        let document = include_str!("../../../docs/settings.md");
        let (document, _) = document.split_once("\n## Environment variables").unwrap();
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
