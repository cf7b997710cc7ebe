//! pi's own folder: whether it counts behind offshoot's, what of it counts, and what does not. Shows no key.

use std::path::{Path, PathBuf};

use offshoot_agent::resources::{skill_files, template_files};
use offshoot_app::app::App;
use offshoot_app::config::settings::of_pi;
use offshoot_session::medium::read_regular_text;
use offshoot_session::text::counted;
use offshoot_settings::{PiFolder, Settings, is_taken_from_pi};

use crate::themes::files_of;

const LIMIT: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct PiStanding {
    pub(super) path: PathBuf,
    /// `on`, `off` or `ask`.
    pub(super) state: &'static str,
    pub(super) counts: Vec<String>,
    pub(super) does_not_count: Vec<String>,
}

/// `None` if pi has no folder with anything to use.
pub(super) fn standing(app: &App) -> Option<PiStanding> {
    let path = app.environment.pi.clone().filter(|pi| app.environment.data.as_ref() != Some(pi))?;
    let settings = app.settings_files(&app.environment.cwd).load().map(|(layers, _)| Settings::from(&layers));
    let state = match settings.map(|settings| settings.pi_folder).unwrap_or_default() {
        PiFolder::On => "on",
        PiFolder::Off => "off",
        PiFolder::Ask => "ask",
    };
    let (mut counts, mut does_not_count) = credentials(&path);
    counts.extend(providers(&path));
    let files = [
        (template_files(&path.join("prompts")).len(), "prompt template", "prompt templates"),
        (skill_files(&path.join("skills")).len(), "skill", "skills"),
        (files_of([path.join("themes")]).iter().filter(|file| file.is_file()).count(), "theme", "themes"),
    ];
    counts
        .extend(files.into_iter().filter(|(count, ..)| *count > 0).map(|(count, one, many)| counted(count, one, many)));
    let keys = of_pi(&path).keys();
    let (taken, left): (Vec<&str>, Vec<&str>) = keys.into_iter().partition(|key| is_taken_from_pi(key));
    let named = |what: &str, keys: Vec<&str>| (!keys.is_empty()).then(|| format!("{what}: {}", keys.join(", ")));
    counts.extend(named("settings", taken));
    counts.extend(path.join("keybindings.json").is_file().then(|| "key bindings, if you have none".to_owned()));
    does_not_count.extend(named("settings that name programs, proxies, folders or trust", left));
    for name in ["SYSTEM.md", "APPEND_SYSTEM.md", "extensions", "npm", "git"] {
        does_not_count.extend(path.join(name).exists().then(|| name.to_owned()));
    }
    let is_empty = counts.is_empty() && does_not_count.is_empty();
    (!is_empty).then_some(PiStanding { path, state, counts, does_not_count })
}

/// The providers with a key, and those that pi is logged in to.
fn credentials(pi: &Path) -> (Vec<String>, Vec<String>) {
    let text = read_regular_text(&pi.join("auth.json"), LIMIT).unwrap_or_default();
    let Ok(all) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text) else {
        return Default::default();
    };
    let of = |wanted: &str| {
        let is_wanted = |value: &serde_json::Value| value.get("type").and_then(|kind| kind.as_str()) == Some(wanted);
        let names = all.iter().filter(|(_, value)| is_wanted(value)).map(|(name, _)| name.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    let some = |what: &str, names: String| (!names.is_empty()).then(|| format!("{what}{names}"));
    let keys = some("keys of ", of("api_key")).into_iter().collect();
    (keys, some("logins, which pi alone may renew: ", of("oauth")).into_iter().collect())
}

fn providers(pi: &Path) -> Option<String> {
    let count = offshoot_agent::model::Models::providers_of(&pi.join("models.json"));
    (!count.is_empty()).then(|| format!("models.json with {}", count.join(", ")))
}
