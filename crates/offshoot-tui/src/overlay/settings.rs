//! `/settings`: every setting with its value and its source. The user changes it in the user's file or in the project's
//! file. The list contains the values of the files; the program stores a change and gives back the new values.

mod view;

use offshoot_agent::approval::Rule;
use ratatui::crossterm::event::KeyEvent;

use super::line::{LineInput, Typed};
use crate::keymap::{Action, Keymap};
use offshoot_settings::{Layers, SETTINGS, Scope, Setting, SettingKind, Value};

/// The outcome of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingsOutcome {
    /// No outcome yet.
    Open,
    Closed,
    /// Store this value. [`Settings::stored`] or [`Settings::failed`] follows.
    Store {
        scope: Scope,
        key: &'static str,
        /// The value; `None` removes the setting from the file.
        value: Option<Value>,
    },
}

/// The paths of the settings files, as they are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    pub global: String,
    /// The project's file; `None` if there is no folder for it.
    pub project: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Settings {
    layers: Layers,
    files: Files,
    scope: Scope,
    search: LineInput,
    /// The settings that match the search, as places in the table.
    shown: Vec<usize>,
    cursor: usize,
    editing: Option<LineInput>,
    names: Vec<(&'static str, Vec<String>)>,
    notice: Option<String>,
}

/// The number of rows that a page key moves.
const PAGE: usize = 10;

impl Settings {
    /// A list of all settings, which changes the user's file.
    #[must_use]
    pub fn new(layers: Layers, files: Files) -> Self {
        Self {
            layers,
            files,
            scope: Scope::Global,
            search: LineInput::default(),
            shown: (0..SETTINGS.len()).collect(),
            cursor: 0,
            editing: None,
            names: Vec::new(),
            notice: None,
        }
    }

    /// Sets the names that a setting allows, such as theme names. The user cycles through them instead of typing.
    pub fn offer(&mut self, key: &'static str, names: Vec<String>) {
        self.names.retain(|(known, _)| *known != key);
        self.names.push((key, names));
    }

    /// Applies the values of the files after a change was stored. Says what a new rule lets run beyond its words.
    pub fn stored(&mut self, layers: Layers) {
        let before = allowing(&self.layers);
        let allow = allowing(&layers);
        let new = allow.iter().filter(|rule| !before.contains(rule));
        let notes: Vec<_> = new.filter_map(|rule| Some(format!("{rule}: {}", rule.note()?))).collect();
        self.notice = (!notes.is_empty()).then(|| notes.join("; "));
        self.layers = layers;
    }

    /// Reports why a change could not be stored.
    pub fn failed(&mut self, why: String) {
        self.notice = Some(why);
    }

    /// Inserts pasted text into the current line.
    pub fn paste(&mut self, text: &str) {
        match &mut self.editing {
            Some(line) => drop(line.insert(text)),
            None if self.search.insert(text) == Typed::Changed => self.narrow(),
            None => {}
        }
    }

    pub fn key(&mut self, keymap: &Keymap, event: KeyEvent) -> SettingsOutcome {
        let action = keymap.in_list(event);
        if self.editing.is_some() {
            return self.edit(keymap, event);
        }
        self.notice = None;
        let last = self.shown.len().saturating_sub(1);
        match action {
            Some(Action::SelectUp) => self.cursor = self.cursor.checked_sub(1).unwrap_or(last),
            Some(Action::SelectDown) => self.cursor = if self.cursor >= last { 0 } else { self.cursor + 1 },
            Some(Action::SelectPageUp) => self.cursor = self.cursor.saturating_sub(PAGE),
            Some(Action::SelectPageDown) => self.cursor = self.cursor.saturating_add(PAGE).min(last),
            Some(Action::SelectConfirm) => return self.change(),
            Some(Action::SelectCancel) if self.search.is_empty() => return SettingsOutcome::Closed,
            Some(Action::SelectCancel) => {
                self.search = LineInput::default();
                self.narrow();
            }
            Some(Action::Tab) => self.turn(),
            Some(Action::DeleteCharForward) => return self.take_out(),
            _ if self.search.key(keymap, event) == Typed::Changed => self.narrow(),
            _ => {}
        }
        SettingsOutcome::Open
    }

    fn chosen(&self) -> Option<&'static Setting> {
        self.shown.get(self.cursor).and_then(|at| SETTINGS.get(*at))
    }

    /// Switches to the other file.
    fn turn(&mut self) {
        self.scope = match (self.scope, &self.files.project) {
            (Scope::Global, Some(_)) => Scope::Project,
            _ => Scope::Global,
        };
    }

    fn narrow(&mut self) {
        let wanted = self.search.text().to_lowercase();
        let fits = |setting: &Setting| {
            let text = format!("{} {} {}", setting.key, setting.says, setting.section.title()).to_lowercase();
            wanted.split_whitespace().all(|word| text.contains(word))
        };
        let mut found: Vec<_> = SETTINGS.iter().enumerate().filter(|(_, setting)| fits(setting)).collect();
        // What has the name comes first, then what has it as a part.
        let wanted = wanted.trim();
        found.sort_by_key(|(_, setting)| {
            let key = setting.key.to_lowercase();
            (key != wanted, !key.contains(wanted))
        });
        self.shown = found.into_iter().map(|(at, _)| at).collect();
        self.cursor = 0;
    }

    /// Sets the next of a few values, or opens a line to type a value.
    fn change(&mut self) -> SettingsOutcome {
        let Some(setting) = self.chosen() else { return SettingsOutcome::Open };
        if !setting.may_stand_in(self.scope) {
            self.notice = Some(format!("{} works only in the user's settings", setting.key));
            return SettingsOutcome::Open;
        }
        if matches!(setting.kind, SettingKind::PerModel | SettingKind::LevelPerModel | SettingKind::Packages) {
            self.notice = Some(format!("{} is written in the file", setting.key));
            return SettingsOutcome::Open;
        }
        let now = self.in_scope(setting);
        let names = self.names.iter().find(|(key, names)| *key == setting.key && !names.is_empty());
        let next = match (setting.kind, names) {
            (SettingKind::Flag, _) => Some(Value::Flag(now != Some(Value::Flag(true)))),
            (SettingKind::Switch, _) => Some(match now {
                Some(Value::Flag(true)) => Value::Flag(false),
                Some(Value::Flag(false)) => Value::Text("auto".to_owned()),
                _ => Value::Flag(true),
            }),
            (SettingKind::Choice(names), _) => after(names.iter().copied(), now.as_ref()),
            (SettingKind::ChoiceOrNo(names), _) => match (&now, names.last()) {
                (Some(Value::Text(now)), Some(last)) if now == last => Some(Value::Flag(false)),
                _ => after(names.iter().copied(), now.as_ref()),
            },
            (SettingKind::Text, Some((_, names))) => after(names.iter().map(String::as_str), now.as_ref()),
            (
                SettingKind::Text
                | SettingKind::Number { .. }
                | SettingKind::Texts
                | SettingKind::PerModel
                | SettingKind::LevelPerModel
                | SettingKind::Packages,
                _,
            ) => None,
        };
        match next {
            Some(value) => self.store(setting, Some(value)),
            None => {
                self.editing = Some(LineInput::new(&now.map_or_else(String::new, |value| value.to_string())));
                SettingsOutcome::Open
            }
        }
    }

    /// The value to change: the file's own value, else the effective value.
    fn in_scope(&self, setting: &Setting) -> Option<Value> {
        let own = self.layers.layer(self.scope).get(setting.key).cloned();
        own.or_else(|| self.layers.value(setting).0)
    }

    fn take_out(&mut self) -> SettingsOutcome {
        match self.chosen() {
            Some(setting) if self.layers.layer(self.scope).get(setting.key).is_some() => self.store(setting, None),
            _ => {
                self.notice = Some("not set in this file".to_owned());
                SettingsOutcome::Open
            }
        }
    }

    fn store(&self, setting: &Setting, value: Option<Value>) -> SettingsOutcome {
        SettingsOutcome::Store { scope: self.scope, key: setting.key, value }
    }

    /// Handles a key while a value is typed.
    fn edit(&mut self, keymap: &Keymap, event: KeyEvent) -> SettingsOutcome {
        let (Some(line), Some(setting)) =
            (&mut self.editing, self.shown.get(self.cursor).and_then(|at| SETTINGS.get(*at)))
        else {
            return SettingsOutcome::Open;
        };
        match keymap.in_list(event) {
            Some(Action::SelectCancel) => (self.editing, self.notice) = (None, None),
            Some(Action::SelectConfirm) => match setting.kind.parse(line.text()) {
                Ok(value) => {
                    (self.editing, self.notice) = (None, None);
                    return self.store(setting, Some(value));
                }
                Err(why) => self.notice = Some(format!("{} {why}", setting.key)),
            },
            _ => _ = line.key(keymap, event),
        }
        SettingsOutcome::Open
    }
}

fn allowing(layers: &Layers) -> Vec<Rule> {
    layers.permissions().allow.iter().filter_map(|rule| Rule::parse(&rule.text).ok()).collect()
}

/// The name after the current one. The first name follows the last.
fn after<'a>(mut names: impl Iterator<Item = &'a str> + Clone, now: Option<&Value>) -> Option<Value> {
    let next = match now {
        Some(Value::Text(now)) => names.clone().skip_while(|name| name != now).nth(1),
        _ => None,
    };
    next.or_else(|| names.next()).map(|name| Value::Text(name.to_owned()))
}

#[cfg(test)]
mod tests;
