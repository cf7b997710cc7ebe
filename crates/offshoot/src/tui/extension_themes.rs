//! Themes for extensions: their names, their colours, and the one that an extension chooses.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use offshoot_app::agent::Args;
use offshoot_app::app::App;
use offshoot_settings::{Scope, Value as Setting};
use offshoot_tui::app::extension::ExtensionMsg;
use offshoot_tui::theme::{Theme, Themes};
use serde_json::{Map, Value, json};

use super::theme_files::theme_files;
use crate::themes::{self, ThemeFiles};

/// Where the themes of a session are.
pub(super) struct ThemeShelf {
    app: App,
    args: Arc<Args>,
    /// Of the open session.
    folder: Mutex<PathBuf>,
}

impl ThemeShelf {
    pub(super) fn new(app: &App, args: &Arc<Args>, folder: PathBuf) -> Self {
        let app = App { ui: app.ui.quiet(), ..app.clone() };
        Self { app, args: Arc::clone(args), folder: Mutex::new(folder) }
    }

    pub(super) fn follow(&self, folder: PathBuf) {
        *self.folder.lock().unwrap_or_else(PoisonError::into_inner) = folder;
    }

    fn folder(&self) -> PathBuf {
        self.folder.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn files(&self) -> ThemeFiles {
        let folder = self.folder();
        let layers = self.app.settings_files(&folder).load().map(|(layers, _)| layers).unwrap_or_default();
        theme_files(&self.app, &self.args, &layers, &folder)
    }

    /// In pi's shape.
    pub(super) fn all(&self) -> Value {
        let files = self.files();
        let mut all = themes::listed(&files);
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all.into_iter().map(|(name, path)| json!({"name": name, "path": path})).collect()
    }

    fn find(&self, name: &str) -> Result<Themes, String> {
        themes::named(&|| self.files(), Some(name)).map(|(found, _)| found).map_err(|error| error.message)
    }

    /// The colours of a theme; null if there is none of that name.
    pub(super) fn colours(&self, name: &str) -> Value {
        self.find(name).map(|found| found.dark.described()).unwrap_or_default()
    }

    /// Uses a theme: one by its name, which is kept in the settings as in pi, or the colours that an extension made.
    pub(super) fn choose(&self, params: &Value) -> (Value, Option<ExtensionMsg>) {
        let name = params["name"].as_str().unwrap_or_default();
        let chosen = match &params["fg"] {
            Value::Object(colours) => {
                self.find(name).or_else(|_| made(name, colours, &params["bg"])).map(|one| (one, None))
            }
            _ => self.find(name).and_then(|found| self.keep(name).map(|()| (found, Some(name.to_owned())))),
        };
        match chosen {
            Ok((themes, setting)) => (json!({"success": true}), Some(ExtensionMsg::Themes(Box::new(themes), setting))),
            Err(error) => (json!({"success": false, "error": error}), None),
        }
    }

    fn keep(&self, name: &str) -> Result<(), String> {
        let files = self.app.settings_files(&self.folder());
        let kept = files.store(Scope::Global, "theme", Some(&Setting::Text(name.to_owned())));
        kept.map_err(|error| error.with_hints_on_one_line())
    }
}

/// A theme of colours by the names of tokens.
fn made(name: &str, colours: &Map<String, Value>, grounds: &Value) -> Result<Themes, String> {
    let mut all = colours.clone();
    all.extend(grounds.as_object().cloned().unwrap_or_default());
    let name = if name.is_empty() { "of an extension" } else { name };
    let text = json!({"name": name, "colors": all}).to_string();
    let (theme, _) = Theme::read(&text, name).map_err(|error| error.to_string())?;
    Ok(Themes { light: theme.clone(), dark: theme })
}
