//! The settings in effect, each in the type that its users need.

mod choices;
mod permissions;

use std::collections::BTreeMap;
use std::time::Duration;

use offshoot_protocol::{
    AnswerLimits, CacheRetention, ComesBack, HttpOptions, Peer, PromptStorage, QueueMode, Resend, Retry, SandboxMode,
    SandboxNetwork, ThinkingBudgets, ThinkingLevel,
};
use offshoot_session::compact;
use offshoot_session::outline::{Filter, TreeLayout};

pub use choices::{DoubleEscape, ImageProtocol, NotificationKind, Notifications, PeerUse, ProjectTrust};
pub use permissions::{ALLOW, ASK, DENY, WrittenPermissions, WrittenRule};

use crate::layer::{Layers, PeerLayer, SettingOrigin};
use crate::setting::Scope;
use crate::table::find;
use crate::value::Value;

impl Layers {
    fn of(&self, key: &str) -> Option<Value> {
        find(key).and_then(|setting| self.value(setting).0)
    }

    fn flag(&self, key: &str) -> bool {
        matches!(self.of(key), Some(Value::Flag(true)))
    }

    fn number(&self, key: &str) -> u64 {
        self.optional_number(key).unwrap_or(0)
    }

    fn optional_number(&self, key: &str) -> Option<u64> {
        match self.of(key) {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        }
    }

    fn text(&self, key: &str) -> Option<String> {
        match self.of(key) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn texts(&self, key: &str) -> Option<Vec<String>> {
        match self.of(key) {
            Some(Value::Texts(texts)) => Some(texts),
            _ => None,
        }
    }

    fn compaction(&self) -> compact::Settings {
        compact::Settings {
            enabled: self.flag("compaction.enabled"),
            reserve_tokens: self.number("compaction.reserveTokens"),
            keep_recent_tokens: self.number("compaction.keepRecentTokens"),
        }
    }

    /// Whether a peer's own folder counts, without reading all other settings.
    #[must_use]
    pub fn use_of(&self, peer: Peer) -> PeerUse {
        match self.text(peer.setting()).as_deref() {
            Some("on") => PeerUse::On,
            Some("off") => PeerUse::Off,
            _ => PeerUse::Ask,
        }
    }

    /// What both files list, each with the file's scope, the project's first.
    #[must_use]
    pub fn listed(&self, key: &str) -> Vec<(Scope, Vec<String>)> {
        let texts = |scope| match self.layer(scope).get(key) {
            Some(Value::Texts(texts) | Value::Packages(texts)) => Some((scope, texts.clone())),
            _ => None,
        };
        [Scope::Project, Scope::Global].into_iter().filter_map(texts).collect()
    }

    /// What the files of a peer list, each with the file's scope, the project's first.
    #[must_use]
    pub fn listed_by(&self, peer: Peer, key: &str) -> Vec<(Scope, Vec<String>)> {
        let of_peer = self.peers.iter().filter(|of| of.peer == peer);
        let texts = |of: &PeerLayer| match of.layer.get(key) {
            Some(Value::Texts(texts)) => Some((of.scope, texts.clone())),
            _ => None,
        };
        of_peer.filter_map(texts).collect()
    }

    /// The provider of the model at the start. One of a peer counts only beside a model of the same peer.
    fn provider(&self) -> Option<String> {
        let provider = self.origin("defaultProvider");
        let is_alone = matches!(provider, Some(SettingOrigin::Peer(_))) && self.origin("defaultModel") != provider;
        self.text("defaultProvider").filter(|_| !is_alone)
    }

    fn origin(&self, key: &str) -> Option<SettingOrigin> {
        find(key).map(|setting| self.value(setting).1)
    }

    /// Settings of single models: the project's, else the user's or those of pi, else those for all models, value by value as
    /// in pi.
    fn compaction_for(&self) -> BTreeMap<String, compact::Settings> {
        const KEY: &str = "compaction.modelOverrides";
        let mut models = BTreeMap::new();
        let peers = self.peers.iter().map(|of| &of.layer).filter(|_| self.global.get(KEY).is_none());
        for layer in peers.take(1).chain([&self.global, &self.project]) {
            let Some(Value::PerModel(said)) = layer.get(KEY) else { continue };
            for (name, tokens) in said {
                let model: &mut compact::Settings = models.entry(name.clone()).or_insert_with(|| self.compaction());
                model.reserve_tokens = tokens.reserve.unwrap_or(model.reserve_tokens);
                model.keep_recent_tokens = tokens.keep_recent.unwrap_or(model.keep_recent_tokens);
            }
        }
        models
    }

    fn queue(&self, key: &str) -> QueueMode {
        match self.text(key).as_deref() {
            Some("all") => QueueMode::All,
            _ => QueueMode::OneAtATime,
        }
    }
}

/// The values in effect. `SETTINGS` has their names in the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub provider: Option<String>,
    pub model: Option<String>,
    /// The peer whose settings name the model.
    pub model_of: Option<Peer>,
    pub thinking: ThinkingLevel,
    /// Of single models, by `provider/id`.
    pub thinking_of: BTreeMap<String, ThinkingLevel>,
    /// Patterns of the models between which a key changes; `None` means all with a key.
    pub enabled_models: Option<Vec<String>>,
    pub hide_thinking: bool,
    pub steering: QueueMode,
    pub follow_up: QueueMode,
    /// The external editor's command; `None` leaves it to the environment.
    pub external_editor: Option<String>,
    pub double_escape: DoubleEscape,
    pub project_trust: ProjectTrust,
    pub tree_filter: Filter,
    /// What comes back from a place in the tree; `None` until the user has said it.
    pub tree_files: Option<ComesBack>,
    /// The largest file that is recorded, in bytes.
    pub largest_file: u64,
    /// The largest store of files' contents, in bytes.
    pub largest_file_store: u64,
    pub tree_layout: TreeLayout,
    pub completion_rows: usize,
    pub offers_skills: bool,
    /// Whether sent prompts are kept in a file.
    pub keeps_prompts: bool,
    /// The folder of sessions, as written.
    pub session_dir: Option<String>,
    /// The model's tools; `None` means the usual ones.
    pub tools: Option<Vec<String>>,
    /// Which calls run, are asked about or are refused, as written.
    pub permissions: WrittenPermissions,
    pub compaction: compact::Settings,
    /// Settings of single models, by `provider/id`.
    pub compaction_for: BTreeMap<String, compact::Settings>,
    pub branch_reserve: u64,
    /// Whether the calls of an answer run at once.
    pub parallel_tools: bool,
    /// Agents that the tool `task` runs at once.
    pub tasks_at_once: usize,
    /// How deep they may be.
    pub task_depth: u64,
    /// How many one run may start.
    pub most_tasks: usize,
    pub skip_summary_prompt: bool,
    pub prompt_storage: PromptStorage,
    /// A theme's name, or a light and a dark one as `light/dark`; `None` lets the terminal decide.
    pub theme: Option<String>,
    /// Whether key hints are hidden until the first prompt.
    pub is_quiet: bool,
    /// Free columns on either side of the editor's text.
    pub editor_padding: u16,
    pub indents_answers: bool,
    /// Whether the terminal has 24-bit colour; `None` detects it.
    pub true_color: Option<bool>,
    pub shows_progress: bool,
    pub notifications: Notifications,
    /// Whether the window is named after the session.
    pub sets_title: bool,
    pub reduced_motion: bool,
    /// The protocol for images; `None` detects it.
    pub images: Option<ImageProtocol>,
    pub show_images: bool,
    /// The greatest width of an image, in columns.
    pub image_columns: u16,
    pub retry: Retry,
    pub http: HttpOptions,
    pub answer_limits: AnswerLimits,
    /// In the order of `Peer::ALL`.
    pub peers: [PeerUse; 2],
    /// The Node.js that runs extensions.
    pub node: Option<String>,
    /// npm and its first arguments; empty for `npm`.
    pub npm: Vec<String>,
    /// The shell; `None` means bash.
    pub shell: Option<String>,
    /// For the model's commands that name no time-out.
    pub shell_timeout: Option<Duration>,
    /// Text put before every shell command.
    pub shell_prefix: Option<String>,
    /// Variables with keys that the model's commands get.
    pub shell_keep_keys: Vec<String>,
    /// Programs whose MCP servers are used, too.
    pub mcp_import: Vec<String>,
    pub sandbox: SandboxSettings,
    pub rules: StreamRuleSettings,
}

/// The settings of rules with conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamRuleSettings {
    pub watches: bool,
    /// As written.
    pub interrupt_mode: String,
    pub disabled: Vec<String>,
    pub has_built_in: bool,
}

/// The settings of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSettings {
    pub mode: SandboxMode,
    pub network: SandboxNetwork,
    /// As written: `~` is the home directory.
    pub writable: Vec<String>,
    pub is_required: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self::from(&Layers::default())
    }
}

impl From<&Layers> for Settings {
    fn from(layers: &Layers) -> Self {
        let narrow = |key| u32::try_from(layers.number(key)).unwrap_or(u32::MAX);
        Self {
            provider: layers.provider(),
            model: layers.text("defaultModel"),
            model_of: match layers.origin("defaultModel") {
                Some(SettingOrigin::Peer(peer)) => Some(peer),
                _ => None,
            },
            thinking: layers
                .text("defaultThinkingLevel")
                .and_then(|name| ThinkingLevel::parse(&name))
                .unwrap_or_default(),
            thinking_of: match layers.of("modelThinkingLevels") {
                Some(Value::Levels(levels)) => levels.into_iter().collect(),
                _ => BTreeMap::new(),
            },
            enabled_models: layers.texts("enabledModels"),
            hide_thinking: layers.flag("hideThinkingBlock"),
            steering: layers.queue("steeringMode"),
            follow_up: layers.queue("followUpMode"),
            external_editor: layers.text("externalEditor"),
            double_escape: match layers.text("doubleEscapeAction").as_deref() {
                Some("fork") => DoubleEscape::Fork,
                Some("none") => DoubleEscape::None,
                _ => DoubleEscape::Tree,
            },
            project_trust: match layers.text("defaultProjectTrust").as_deref() {
                Some("always") => ProjectTrust::Always,
                Some("never") => ProjectTrust::Never,
                _ => ProjectTrust::Ask,
            },
            tree_filter: layers.text("treeFilterMode").and_then(|name| Filter::parse(&name)).unwrap_or_default(),
            tree_files: layers.text("treeFiles").and_then(|word| ComesBack::parse(&word)),
            largest_file: layers.number("files.maxBytes"),
            largest_file_store: layers.number("files.maxStoreBytes"),
            tree_layout: layers.text("treeLayout").and_then(|name| TreeLayout::parse(&name)).unwrap_or_default(),
            completion_rows: usize::try_from(layers.number("autocompleteMaxVisible")).unwrap_or(usize::MAX),
            keeps_prompts: layers.flag("promptHistory"),
            offers_skills: layers.flag("enableSkillCommands"),
            session_dir: layers.text("sessionDir"),
            tools: layers.texts("defaultTools"),
            permissions: layers.permissions(),
            compaction: layers.compaction(),
            compaction_for: layers.compaction_for(),
            branch_reserve: layers.number("branchSummary.reserveTokens"),
            parallel_tools: layers.flag("parallelTools"),
            tasks_at_once: usize::try_from(layers.number("task.maxConcurrency")).unwrap_or(1),
            task_depth: layers.number("task.maxDepth"),
            most_tasks: usize::try_from(layers.number("task.maxAgents")).unwrap_or(1),
            skip_summary_prompt: layers.flag("branchSummary.skipPrompt"),
            prompt_storage: if layers.flag("storeSystemPrompt") {
                PromptStorage::Whole
            } else {
                PromptStorage::UnusualTools
            },
            theme: layers.text("theme"),
            is_quiet: layers.flag("quietStartup"),
            editor_padding: u16::try_from(layers.number("editorPaddingX")).unwrap_or(u16::MAX),
            indents_answers: layers.number("outputPad") > 0,
            true_color: match layers.of("terminal.trueColor") {
                Some(Value::Flag(flag)) => Some(flag),
                _ => None,
            },
            shows_progress: layers.flag("terminal.showTerminalProgress"),
            notifications: layers
                .text("terminal.notifications")
                .and_then(|name| Notifications::parse(&name))
                .unwrap_or_default(),
            sets_title: layers.flag("terminal.setTitle"),
            reduced_motion: layers.flag("terminal.reducedMotion"),
            images: layers.text("terminal.images").and_then(|name| ImageProtocol::parse(&name)),
            show_images: layers.flag("terminal.showImages") && layers.of("terminal.images") != Some(Value::Flag(false)),
            image_columns: u16::try_from(layers.number("terminal.imageWidthCells")).unwrap_or(u16::MAX),
            retry: Retry {
                enabled: layers.flag("retry.enabled"),
                max_retries: narrow("retry.maxRetries"),
                base_delay_ms: layers.number("retry.baseDelayMs"),
                max_delay_ms: layers.number("retry.maxAgentDelayMs"),
                max_asked_ms: longest_asked(layers),
            },
            http: http_options(layers),
            peers: Peer::ALL.map(|peer| layers.use_of(peer)),
            node: layers.text("node"),
            npm: layers.texts("npmCommand").unwrap_or_default(),
            answer_limits: AnswerLimits {
                bytes: layers.number("answer.maxBytes"),
                blocks: usize::try_from(layers.number("answer.maxBlocks")).unwrap_or(usize::MAX),
                time: Duration::from_secs(layers.number("answer.maxSeconds")),
            },
            shell: layers.text("shellPath"),
            shell_timeout: Some(layers.number("shellTimeoutSeconds"))
                .filter(|seconds| *seconds > 0)
                .map(Duration::from_secs),
            shell_prefix: layers.text("shellCommandPrefix"),
            shell_keep_keys: layers.texts("shellKeepKeys").unwrap_or_default(),
            mcp_import: layers.texts("mcp.import").unwrap_or_default(),
            rules: stream_rules(layers),
            sandbox: sandbox(layers),
        }
    }
}

fn sandbox(layers: &Layers) -> SandboxSettings {
    SandboxSettings {
        mode: layers.text("sandbox.mode").and_then(|name| SandboxMode::parse(&name)).unwrap_or_default(),
        network: match layers.text("sandbox.network").as_deref() {
            Some("on") => SandboxNetwork::On,
            _ => SandboxNetwork::Off,
        },
        writable: layers.texts("sandbox.writable").unwrap_or_default(),
        is_required: layers.flag("sandbox.required"),
    }
}

fn stream_rules(layers: &Layers) -> StreamRuleSettings {
    StreamRuleSettings {
        watches: layers.flag("ttsr.enabled"),
        interrupt_mode: layers.text("ttsr.interruptMode").unwrap_or_default(),
        disabled: layers.texts("ttsr.disabledRules").unwrap_or_default(),
        has_built_in: layers.flag("ttsr.builtinRules"),
    }
}

/// In milliseconds.
fn longest_asked(layers: &Layers) -> Option<u64> {
    Some(layers.number("retry.provider.maxRetryDelayMs")).filter(|ms| *ms > 0)
}

fn http_options(layers: &Layers) -> HttpOptions {
    HttpOptions {
        silence: Some(layers.number("httpIdleTimeoutMs")).filter(|ms| *ms > 0).map(Duration::from_millis),
        response: layers.optional_number("retry.provider.timeoutMs").map(Duration::from_millis),
        resend: Resend {
            most: u32::try_from(layers.number("retry.provider.maxRetries")).unwrap_or(u32::MAX),
            longest_wait: longest_asked(layers),
        },
        proxy: layers.text("httpProxy"),
        sends_images: !layers.flag("images.blockImages"),
        budgets: ThinkingBudgets {
            minimal: layers.optional_number("thinkingBudgets.minimal"),
            low: layers.optional_number("thinkingBudgets.low"),
            medium: layers.optional_number("thinkingBudgets.medium"),
            high: layers.optional_number("thinkingBudgets.high"),
        },
        cache_retention: layers.text("cacheRetention").and_then(|name| CacheRetention::parse(&name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::edit;
    use crate::layer::Layer;
    use crate::omp_settings::omp_settings;
    use crate::table::SETTINGS;
    use crate::value::{ModelTokens, SettingKind};

    fn layers(global: &str, project: &str) -> Layers {
        let read = |text, scope| Layer::read(text, scope).unwrap().0;
        Layers { global: read(global, Scope::Global), project: read(project, Scope::Project), ..Layers::default() }
    }

    #[test]
    fn what_nobody_says_is_as_in_the_library() {
        let settings = Settings::default();
        assert_eq!(settings.compaction, compact::Settings::default());
        assert_eq!(settings.branch_reserve, offshoot_session::branch_summary::RESERVE);
        assert_eq!(settings.retry, Retry::default());
        assert_eq!(settings.http, HttpOptions::default());
        assert_eq!((settings.steering, settings.follow_up), (QueueMode::default(), QueueMode::default()));
        assert_eq!(settings.tree_filter, Filter::default());
        assert_eq!((settings.thinking, settings.double_escape), (ThinkingLevel::Medium, DoubleEscape::Tree));
        assert_eq!(settings.project_trust, ProjectTrust::Ask);
        assert_eq!((settings.model, settings.theme, settings.tools), (None, None, None));
    }

    #[test]
    fn the_bounds_of_recorded_files_are_the_users_alone() {
        let bounds = |global, project| {
            let settings = Settings::from(&layers(global, project));
            (settings.largest_file, settings.largest_file_store)
        };
        assert_eq!(bounds("{}", r#"{"files":{"maxBytes":2048,"maxStoreBytes":1048576}}"#), (10 << 20, 2 << 30));
        assert_eq!(bounds(r#"{"files":{"maxBytes":2048,"maxStoreBytes":1048576}}"#, "{}"), (2048, 1 << 20));
        let said =
            |text| Layer::read(text, Scope::Global).unwrap().1.iter().map(ToString::to_string).collect::<String>();
        insta::assert_snapshot!(
            said(r#"{"files":{"maxBytes":"50 MB"}}"#),
            @r#"1:22: files.maxBytes should be a whole number from 1024 to 268435456, and is "50 MB""#
        );
        insta::assert_snapshot!(
            said(r#"{"files":{"maxStoreBytes":1}}"#),
            @"1:27: files.maxStoreBytes should be a whole number from 1048576, and is 1"
        );
    }

    #[test]
    fn the_project_comes_before_the_user_member_by_member() {
        let global = r#"{"compaction":{"reserveTokens":7,"keepRecentTokens":8},"followUpMode":"all","theme":"light"}"#;
        let settings =
            Settings::from(&layers(global, r#"{"compaction":{"reserveTokens":9},"followUpMode":"one-at-a-time"}"#));
        assert_eq!((settings.compaction.reserve_tokens, settings.compaction.keep_recent_tokens), (9, 8));
        assert_eq!(settings.follow_up, QueueMode::OneAtATime);
        assert_eq!(settings.theme.as_deref(), Some("light"));
    }

    #[test]
    fn what_pi_says_counts_behind_the_user_and_names_no_program() {
        let pi = r#"{"defaultModel":"m9","theme":"light","shellPath":"/x","httpProxy":"http://x","retry":{"maxRetries":9},
            "compaction":{"modelOverrides":{"p/m":{"reserveTokens":7}}}}"#;
        let mut layers = layers(r#"{"theme":"dark"}"#, "");
        layers.peers = vec![of_peer(Peer::Pi, Layer::read(pi, Scope::Global).unwrap().0)];
        let settings = Settings::from(&layers);
        assert_eq!((settings.model.as_deref(), settings.theme.as_deref()), (Some("m9"), Some("dark")));
        assert_eq!((settings.shell, settings.http.proxy, settings.retry.max_retries), (None, None, 9));
        assert_eq!(settings.compaction_for["p/m"].reserve_tokens, 7);
    }

    fn of_peer(peer: Peer, layer: Layer) -> PeerLayer {
        PeerLayer { peer, scope: Scope::Global, layer }
    }

    #[test]
    fn what_omp_says_counts_behind_pi_and_its_provider_only_beside_its_model() {
        let omp = r#"{"modelRoles":{"default":"p/m:high"},"theme":{"dark":"night"},"retry":{"maxRetries":8},"hideThinkingBlock":true}"#;
        let omp = || of_peer(Peer::Omp, omp_settings(omp, Scope::Global, &|_| true).layer);
        let pi = r#"{"theme":"light","retry":{"maxRetries":9}}"#;
        let pi = || of_peer(Peer::Pi, Layer::read(pi, Scope::Global).unwrap().0);
        let said = |own: &str, peers: Vec<PeerLayer>| {
            let settings = Settings::from(&Layers { peers, ..layers(own, "") });
            (settings.provider, settings.model, settings.theme, settings.retry.max_retries, settings.hide_thinking)
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(said("", vec![omp()]), (text("p"), text("m"), text("light/night"), 8, true));
        assert_eq!(said("", vec![pi(), omp()]), (text("p"), text("m"), text("light"), 9, true));
        let own = r#"{"defaultModel":"own","hideThinkingBlock":false}"#;
        assert_eq!(said(own, vec![pi(), omp()]), (None, text("own"), text("light"), 9, false));
    }

    /// A project's settings come with a clone.
    #[test]
    fn a_project_makes_the_sandbox_stricter_and_never_looser() {
        let sandbox = |user: &str, project: &str| {
            let file = |text: &str| format!(r#"{{"sandbox":{{{text}}}}}"#);
            Settings::from(&layers(&file(user), &file(project))).sandbox
        };
        let loose = r#""mode":"off","network":"on","required":false,"writable":["/"]"#;
        let strict = r#""mode":"read-only","network":"off","required":true"#;
        let user = sandbox(r#""mode":"workspace","network":"off","required":true"#, loose);
        assert_eq!((user.mode, user.network, user.is_required), (SandboxMode::Workspace, SandboxNetwork::Off, true));
        assert_eq!(user.writable, [""; 0]);
        let project = sandbox(r#""mode":"workspace","network":"on""#, strict);
        assert_eq!(
            (project.mode, project.network, project.is_required),
            (SandboxMode::ReadOnly, SandboxNetwork::Off, true)
        );
        assert_eq!(sandbox(strict, r#""mode":"workspace""#).mode, SandboxMode::ReadOnly);
    }

    #[test]
    fn true_color_is_yes_no_or_left_to_the_terminal() {
        let said = |text: &str| Settings::from(&layers(text, "")).true_color;
        assert_eq!(said(r#"{"terminal":{"trueColor":"auto"}}"#), None);
        assert_eq!(said(r#"{"terminal":{"trueColor":true}}"#), Some(true));
        assert_eq!(said(r#"{"terminal":{"trueColor":false}}"#), Some(false));
    }

    #[test]
    fn single_models_are_merged_token_by_token() {
        let global =
            r#"{"compaction":{"reserveTokens":5,"modelOverrides":{"p/m":{"reserveTokens":7,"keepRecentTokens":8}}}}"#;
        let project = r#"{"compaction":{"modelOverrides":{"p/m":{"keepRecentTokens":9},"p/n":{}}}}"#;
        let models = Settings::from(&layers(global, project)).compaction_for;
        let tokens = |name: &str| (models[name].reserve_tokens, models[name].keep_recent_tokens);
        assert_eq!((tokens("p/m"), tokens("p/n")), ((7, 9), (5, 20_000)));
    }

    #[test]
    fn every_choice_of_the_table_makes_a_difference() {
        // These lists are read where resources are looked for.
        let is_list = |key: &str| ["packages", "extensions", "hooks", "skills", "prompts", "themes"].contains(&key);
        for setting in SETTINGS.iter().filter(|setting| !is_list(setting.key)) {
            let changed = match setting.kind {
                SettingKind::Flag => match setting.default() {
                    Some(Value::Flag(flag)) => Value::Flag(!flag),
                    _ => Value::Flag(true),
                },
                SettingKind::Switch => Value::Flag(true),
                SettingKind::Number { least, greatest } => {
                    let usual = setting.default();
                    let other =
                        [least, greatest].map(Value::Number).into_iter().find(|other| Some(other) != usual.as_ref());
                    other.unwrap()
                }
                SettingKind::Choice(names) | SettingKind::ChoiceOrNo(names) => {
                    let mut others = names.iter().rev().map(|name| Value::Text(name.to_string()));
                    others.find(|other| Some(other) != setting.default().as_ref()).unwrap()
                }
                SettingKind::Text => Value::Text("x".to_owned()),
                SettingKind::Texts => Value::Texts(vec!["read".to_owned()]),
                SettingKind::PerModel => Value::PerModel(vec![("p/m".to_owned(), ModelTokens::default())]),

                SettingKind::Packages => Value::Packages(vec!["\"npm:x\"".to_owned()]),
                SettingKind::LevelPerModel => Value::Levels(vec![("p/m".to_owned(), ThinkingLevel::Low)]),
            };
            let text = edit("", setting.key, Some(&changed)).unwrap();
            let changed = Settings::from(&layers(&text, ""));
            assert_ne!(changed, Settings::default(), "{}", setting.key);
        }
    }
}
