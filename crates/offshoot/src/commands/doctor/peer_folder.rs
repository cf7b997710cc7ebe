//! The peers' own folders: whether each counts after offshoot's, what of it counts, and what does not. Shows no key.

use std::path::Path;

use offshoot_agent::context_files::has_one;
use offshoot_agent::model::Models;
use offshoot_agent::resources::{rule_files, skill_files_of, template_files, tree_rules};
use offshoot_app::app::App;
use offshoot_app::config::settings;
use offshoot_app::models::{KEYS_OF_OMP, ModelTable};
use offshoot_app::trust::extension_places;
use offshoot_extensions::contract::ExtensionKind;
use offshoot_foreign::omp_keys;
use offshoot_packages::contents::extensions;
use offshoot_protocol::{Peer, PeerFolder};
use offshoot_session::medium::read_regular_text;
use offshoot_session::text::{counted, noun};
use offshoot_settings::{PeerSettingUse, PeerUse, Scope, settings_of_pi};

use crate::key_bindings;
use crate::themes::files_of;

const LIMIT: u64 = 1 << 20;

/// What is said of pi's key bindings.
pub(crate) const KEY_BINDINGS_COUNT: &str = "key bindings, if you have none";

/// What a peer's folder has.
#[derive(Debug)]
pub(crate) struct PeerStanding {
    pub(crate) folder: PeerFolder,
    pub(crate) state: PeerUse,
    /// What counts where it is.
    pub(crate) counts: Vec<String>,
    /// What counts after `offshoot migrate-from pi` has copied it.
    pub(crate) to_copy: Vec<String>,
    /// What does not count, and why.
    pub(crate) does_not_count: Vec<String>,
}

/// `None` if the peer has no folder with anything to use.
pub(crate) fn standing(app: &App, peer: Peer) -> Option<PeerStanding> {
    let folder = PeerFolder { peer, path: app.environment.peer(peer)?.to_path_buf() };
    let files = app.settings_files(&app.environment.cwd);
    let state = files.load().map(|(layers, _)| layers.use_of(peer)).unwrap_or_default();
    let found = PeerStanding { folder, state, counts: Vec::new(), to_copy: Vec::new(), does_not_count: Vec::new() };
    let found = match peer {
        Peer::Pi => of_pi(app, found),
        Peer::Omp => of_omp(app, found),
    };
    let is_empty = found.counts.is_empty() && found.to_copy.is_empty() && found.does_not_count.is_empty();
    (!is_empty).then_some(found)
}

/// How many files of each kind there are that every peer has.
fn shared(folder: &PeerFolder) -> Vec<String> {
    let path = &folder.path;
    let templates = ["prompts", "commands"].map(|name| template_files(&path.join(name)).len());
    let places = extension_places(Some(folder.peer), path);
    let scripts =
        |kind| -> usize { places.iter().filter(|(_, of)| *of == kind).map(|(place, _)| extensions(place).len()).sum() };
    let rules = if folder.peer == Peer::Omp { rule_files(path) } else { Vec::new() };
    let files = [
        (templates[0], "prompt template", "prompt templates"),
        (templates[1], "command", "commands"),
        (skill_files_of(folder).len(), "skill", "skills"),
        (rules.len(), "rule", "rules"),
        (template_files(&path.join("agents")).len(), "agent", "agents"),
        (files_of([path.join("themes")]).iter().filter(|file| file.is_file()).count(), "theme", "themes"),
        (scripts(ExtensionKind::Extension), "extension", "extensions"),
        (scripts(ExtensionKind::Hook), "hook", "hooks"),
        (scripts(ExtensionKind::Tool), "tool", "tools"),
    ];
    let some = files.into_iter().filter(|(count, ..)| *count > 0);
    some.map(|(count, one, many)| counted(count, one, many)).collect()
}

/// What oh-my-pi's folder has that counts, and what does not.
fn of_omp(app: &App, found: PeerStanding) -> PeerStanding {
    let (folder, path) = (&found.folder, &found.folder.path);
    let kinds = kinds_of_omp(path);
    let (mut counts, mut does_not_count) = credentials(app, folder, &kinds);
    let models = Models::providers_of_peer(folder);
    counts.extend((!models.is_empty()).then(|| format!("models.yml with {}", models.join(", "))));
    counts.extend(shared(folder));
    let settings = settings::of_omp(path, Scope::Global).uses;
    counts.extend(settings_line(&settings, &PeerSettingUse::Counts, "settings"));
    counts.extend(key_bindings::file_of(folder).map(|_| KEY_BINDINGS_COUNT.to_owned()));
    counts.extend(has_one(path).then(|| "AGENTS.md, if you have none".to_owned()));
    let prompts = ["SYSTEM.md", "APPEND_SYSTEM.md"].into_iter().filter(|name| path.join(name).is_file());
    counts.extend(prompts.map(|name| format!("{name}, if you have none")));
    does_not_count.extend(settings::omp_text(path).err());
    does_not_count.extend(settings_left(&settings, folder.peer));
    let trees = tree_rules(rule_files(path));
    does_not_count.extend((!trees.is_empty()).then(|| {
        format!(
            "astCondition of the {} {}: offshoot parses no code",
            noun(trees.len(), "rule", "rules"),
            trees.join(", ")
        )
    }));
    let missing = OF_OMP_ALONE.iter().filter(|(name, _)| path.join(name).exists());
    does_not_count.extend(missing.map(|(name, why)| format!("{}{why}", name.trim_start_matches("../"))));
    PeerStanding { counts, does_not_count, ..found }
}

/// Files of oh-my-pi's folder that do not count, and why.
const OF_OMP_ALONE: [(&str, &str); 4] = [
    ("mcp.json", ": the setting mcp.import adds its MCP servers"),
    ("instructions", ": oh-my-pi does not send them either"),
    ("ssh.json", ": offshoot has no tool for other machines"),
    ("../plugins/package.json", ": oh-my-pi's packages; `offshoot install npm:NAME` installs one here"),
];

fn of_pi(app: &App, found: PeerStanding) -> PeerStanding {
    let (folder, path) = (&found.folder, &found.folder.path);
    let (mut counts, mut does_not_count) = credentials(app, folder, &credential_kinds(path));
    let models = Models::providers_of_peer(folder);
    counts.extend((!models.is_empty()).then(|| format!("models.json with {}", models.join(", "))));
    counts.extend(shared(folder));
    let settings = settings_of_pi(&read_regular_text(&path.join("settings.json"), LIMIT).unwrap_or_default());
    counts.extend(settings_line(&settings, &PeerSettingUse::Counts, "settings"));
    counts.extend(path.join("keybindings.json").is_file().then(|| KEY_BINDINGS_COUNT.to_owned()));
    counts.extend(has_one(path).then(|| "AGENTS.md, if you have none".to_owned()));
    does_not_count.extend(settings_left(&settings, folder.peer));
    for (name, why) in [
        ("trust.json", "the folders that pi trusts: offshoot asks about each"),
        ("mcp.json", "MCP servers of pi's configuration: the setting mcp.import adds them"),
    ] {
        does_not_count.extend(path.join(name).exists().then(|| why.to_owned()));
    }
    let own = |name: &&str| app.environment.data.as_ref().is_some_and(|data| data.join(name).exists());
    let prompts = ["SYSTEM.md", "APPEND_SYSTEM.md"].into_iter().filter(|name| path.join(name).exists() && !own(name));
    let mut to_copy: Vec<String> = prompts.map(str::to_owned).collect();
    let lists_packages = settings.iter().any(|(_, becomes)| *becomes == PeerSettingUse::ListsPackages);
    to_copy.extend(lists_packages.then(|| "packages".to_owned()));
    PeerStanding { counts, to_copy, does_not_count, ..found }
}

/// Why settings do not count.
const REASONS: [(PeerSettingUse, &str); 8] = [
    (PeerSettingUse::NamesProgram, "settings that name a program"),
    (PeerSettingUse::NamesProxy, "settings that name a proxy"),
    (PeerSettingUse::NamesFolder, "settings that name a folder"),
    (PeerSettingUse::GivesTrust, "settings about trust"),
    (PeerSettingUse::ListsExtensions, "extensions that the settings list by path"),
    (PeerSettingUse::IsMissing, "settings that offshoot does not have"),
    (PeerSettingUse::IsAboutPeer, "settings about PEER's own looks"),
    (PeerSettingUse::IsUnknown, "settings that PEER does not have"),
];

/// The settings that do not count, by their reason.
fn settings_left(settings: &[(String, PeerSettingUse)], peer: Peer) -> Vec<String> {
    let by_reason = REASONS.iter().filter_map(|(reason, words)| settings_line(settings, reason, words));
    let unfit = settings.iter().filter_map(|(key, becomes)| match becomes {
        PeerSettingUse::DoesNotFit(why) => Some(format!("the setting {key} {why}")),
        _ => None,
    });
    by_reason.map(|line| line.replacen("PEER", peer.as_str(), 1)).chain(unfit).collect()
}

fn settings_line(settings: &[(String, PeerSettingUse)], wanted: &PeerSettingUse, words: &str) -> Option<String> {
    let keys: Vec<&str> = settings.iter().filter(|(_, becomes)| becomes == wanted).map(|(key, _)| &**key).collect();
    (!keys.is_empty()).then(|| format!("{words}: {}", keys.join(", ")))
}

/// The keys that can be used, and those that cannot.
fn credentials(app: &App, folder: &PeerFolder, all: &[(String, String)]) -> (Vec<String>, Vec<String>) {
    let own = app.environment.data.as_deref().map(credential_kinds).unwrap_or_default();
    let (models, named) = (ModelTable::read(app).0.models, Models::providers_of_peer(folder));
    let has_models = |name: &str| !models.of_provider(name).is_empty() || named.iter().any(|known| known == name);
    let (mut used, mut hidden, mut idle, mut logins) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (name, kind) in all {
        match kind.as_str() {
            "oauth" => logins.push(name.as_str()),
            "api_key" if own.iter().any(|(known, _)| known == name) => hidden.push(name.as_str()),
            "api_key" if has_models(name) => used.push(name.as_str()),
            "api_key" => idle.push(name.as_str()),
            _ => {}
        }
    }
    let some = |what: &str, names: Vec<&str>| (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")));
    let counts = (!used.is_empty()).then(|| format!("keys of {}", used.join(", ")));
    let left = [
        some(&format!("logins, which {} alone may renew", folder.peer.as_str()), logins),
        some("keys of providers that your own auth.json has", hidden),
        some("keys of providers without a model here", idle),
    ];
    (counts.into_iter().collect(), left.into_iter().flatten().collect())
}

/// The same of oh-my-pi's database.
fn kinds_of_omp(omp: &Path) -> Vec<(String, String)> {
    let found = omp_keys(&omp.join(KEYS_OF_OMP)).unwrap_or_default();
    let keys = found.keys.into_iter().map(|key| (key.provider, "api_key".to_owned()));
    keys.chain(found.sign_ins.into_iter().map(|name| (name, "oauth".to_owned()))).collect()
}

/// The providers of a folder's `auth.json`, and what each has.
fn credential_kinds(folder: &Path) -> Vec<(String, String)> {
    let text = read_regular_text(&folder.join("auth.json"), LIMIT).unwrap_or_default();
    let all = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text).unwrap_or_default();
    let kind = |value: &serde_json::Value| Some(value.get("type")?.as_str()?.to_owned());
    all.iter().filter_map(|(name, value)| Some((name.clone(), kind(value)?))).collect()
}
