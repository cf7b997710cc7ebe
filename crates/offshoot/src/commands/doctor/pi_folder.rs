//! pi's own folder: whether it counts behind offshoot's, what of it counts, and what does not. Shows no key.

use std::path::{Path, PathBuf};

use offshoot_agent::resources::{skill_files, template_files};
use offshoot_app::app::App;
use offshoot_app::models::ModelTable;
use offshoot_packages::contents::extensions;
use offshoot_session::medium::read_regular_text;
use offshoot_session::text::counted;
use offshoot_settings::{PiFolder, PiSettingUse, Settings, settings_of_pi};

use crate::themes::files_of;

const LIMIT: u64 = 1 << 20;

/// What is said of pi's key bindings.
pub(crate) const KEY_BINDINGS_COUNT: &str = "key bindings, if you have none";

#[derive(Debug)]
pub(crate) struct PiStanding {
    pub(crate) path: PathBuf,
    /// `on`, `off` or `ask`.
    pub(crate) state: &'static str,
    /// What counts where it is.
    pub(crate) counts: Vec<String>,
    /// What counts after `offshoot migrate-from pi` has copied it.
    pub(crate) to_copy: Vec<String>,
    /// What does not count, and why.
    pub(crate) does_not_count: Vec<String>,
}

/// `None` if pi has no folder with anything to use.
pub(crate) fn standing(app: &App) -> Option<PiStanding> {
    let path = app.environment.pi.clone().filter(|pi| app.environment.data.as_ref() != Some(pi))?;
    let settings = app.settings_files(&app.environment.cwd).load().map(|(layers, _)| Settings::from(&layers));
    let state = match settings.map(|settings| settings.pi_folder).unwrap_or_default() {
        PiFolder::On => "on",
        PiFolder::Off => "off",
        PiFolder::Ask => "ask",
    };
    let (mut counts, mut does_not_count) = credentials(app, &path);
    counts.extend(providers(&path));
    let files = [
        (template_files(&path.join("prompts")).len(), "prompt template", "prompt templates"),
        (skill_files(&path.join("skills")).len(), "skill", "skills"),
        (files_of([path.join("themes")]).iter().filter(|file| file.is_file()).count(), "theme", "themes"),
    ];
    counts
        .extend(files.into_iter().filter(|(count, ..)| *count > 0).map(|(count, one, many)| counted(count, one, many)));
    let programs = [("extensions", "extension"), ("hooks", "hook"), ("tools", "tool")];
    let programs = programs.map(|(folder, one)| (extensions(&path.join(folder)).len(), one, folder));
    counts.extend(
        programs.into_iter().filter(|(count, ..)| *count > 0).map(|(count, one, many)| counted(count, one, many)),
    );
    let settings = settings_of_pi(&read_regular_text(&path.join("settings.json"), LIMIT).unwrap_or_default());
    counts.extend(settings_line(&settings, &PiSettingUse::Counts, "settings"));
    counts.extend(path.join("keybindings.json").is_file().then(|| KEY_BINDINGS_COUNT.to_owned()));
    does_not_count.extend(REASONS.iter().filter_map(|(reason, words)| settings_line(&settings, reason, words)));
    does_not_count.extend(settings.iter().filter_map(|(key, becomes)| match becomes {
        PiSettingUse::DoesNotFit(why) => Some(format!("the setting {key} {why}")),
        _ => None,
    }));
    for (name, why) in [
        ("trust.json", "the folders that pi trusts: offshoot asks about each"),
        ("mcp.json", "MCP servers of pi's configuration, which offshoot does not start"),
    ] {
        does_not_count.extend(path.join(name).exists().then(|| why.to_owned()));
    }
    let own = |name: &&str| app.environment.data.as_ref().is_some_and(|data| data.join(name).exists());
    let prompts = ["SYSTEM.md", "APPEND_SYSTEM.md"].into_iter().filter(|name| path.join(name).exists() && !own(name));
    let mut to_copy: Vec<String> = prompts.map(str::to_owned).collect();
    let lists_packages = settings.iter().any(|(_, becomes)| *becomes == PiSettingUse::ListsPackages);
    to_copy.extend(lists_packages.then(|| "packages".to_owned()));
    let is_empty = counts.is_empty() && to_copy.is_empty() && does_not_count.is_empty();
    (!is_empty).then_some(PiStanding { path, state, counts, to_copy, does_not_count })
}

/// Why settings do not count.
const REASONS: [(PiSettingUse, &str); 8] = [
    (PiSettingUse::NamesProgram, "settings that name a program"),
    (PiSettingUse::NamesProxy, "settings that name a proxy"),
    (PiSettingUse::NamesFolder, "settings that name a folder"),
    (PiSettingUse::GivesTrust, "settings about trust"),
    (PiSettingUse::ListsExtensions, "extensions that the settings list by path"),
    (PiSettingUse::IsMissing, "settings that offshoot does not have"),
    (PiSettingUse::IsAboutPi, "settings about pi's own looks"),
    (PiSettingUse::IsUnknown, "settings that pi does not have"),
];

fn settings_line(settings: &[(String, PiSettingUse)], wanted: &PiSettingUse, words: &str) -> Option<String> {
    let keys: Vec<&str> = settings.iter().filter(|(_, becomes)| becomes == wanted).map(|(key, _)| &**key).collect();
    (!keys.is_empty()).then(|| format!("{words}: {}", keys.join(", ")))
}

/// The keys that can be used, and those that cannot.
fn credentials(app: &App, pi: &Path) -> (Vec<String>, Vec<String>) {
    let all = credential_kinds(pi);
    let own = app.environment.data.as_deref().map(credential_kinds).unwrap_or_default();
    let (models, of_pi) = (ModelTable::read(app).0.models, providers_of(pi));
    let has_models = |name: &str| !models.of_provider(name).is_empty() || of_pi.iter().any(|known| known == name);
    let (mut used, mut hidden, mut idle, mut logins) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (name, kind) in &all {
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
        some("logins, which pi alone may renew", logins),
        some("keys of providers that your own auth.json has", hidden),
        some("keys of providers without a model here", idle),
    ];
    (counts.into_iter().collect(), left.into_iter().flatten().collect())
}

/// The providers of a folder's `auth.json`, and what each has.
fn credential_kinds(folder: &Path) -> Vec<(String, String)> {
    let text = read_regular_text(&folder.join("auth.json"), LIMIT).unwrap_or_default();
    let all = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text).unwrap_or_default();
    let kind = |value: &serde_json::Value| Some(value.get("type")?.as_str()?.to_owned());
    all.iter().filter_map(|(name, value)| Some((name.clone(), kind(value)?))).collect()
}

fn providers_of(pi: &Path) -> Vec<String> {
    offshoot_agent::model::Models::providers_of(&pi.join("models.json"))
}

fn providers(pi: &Path) -> Option<String> {
    let count = providers_of(pi);
    (!count.is_empty()).then(|| format!("models.json with {}", count.join(", ")))
}
