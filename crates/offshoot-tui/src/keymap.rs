//! Key bindings: actions, their default keys, and the user's changes. Knows no component.
//!
//! A component asks for the actions of a key in its own [`Context`] and does the first that has a meaning there.

mod action;
mod key;
mod bytes;
mod file;

use ratatui::crossterm::event::{KeyEvent, KeyEventKind};

pub use action::{Action, Group};
pub use bytes::{bytes, keys};
pub use key::{Key, KeyError};
use offshoot_settings::diagnostic::ConfigDiagnostic;

/// The place where a key was pressed. A key may have different actions in different contexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Context {
    Editor,
    /// In the editor, while a list of completions is open.
    Completion,
    Tree,
    Sessions,
    Transcript,
    /// In the search line of the transcript.
    TranscriptSearch,
    /// In the list of models that a key changes between.
    Models,
    Dialog,
}

impl Context {
    pub const ALL: [Self; 8] = [
        Self::Editor,
        Self::Completion,
        Self::Tree,
        Self::Sessions,
        Self::Transcript,
        Self::TranscriptSearch,
        Self::Models,
        Self::Dialog,
    ];

    /// The groups of actions that apply here, in order of precedence.
    #[must_use]
    pub fn groups(self) -> &'static [Group] {
        match self {
            Self::Editor => &[Group::App, Group::Input, Group::Editor],
            Self::Completion => &[Group::Select, Group::App, Group::Input, Group::Editor],
            Self::Tree => &[Group::Tree, Group::Select, Group::App, Group::Editor],
            Self::Sessions => &[Group::Sessions, Group::Select, Group::App, Group::Editor],
            Self::Transcript => &[Group::Transcript, Group::Select, Group::App],
            Self::TranscriptSearch => &[Group::TranscriptSearch],
            Self::Models => &[Group::Models, Group::Select, Group::Input, Group::Editor],
            Self::Dialog => &[Group::Select, Group::Input, Group::Editor],
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    bindings: Vec<Binding>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Binding {
    action: Action,
    keys: Vec<Key>,
    /// From the user's file: such keys take precedence over default keys.
    own: bool,
}

impl Default for Keymap {
    fn default() -> Self {
        let keys = |action: Action| action.usual().iter().filter_map(|key| Key::parse(key).ok()).collect();
        let bindings = Action::ALL.iter().map(|action| Binding { action: *action, keys: keys(*action), own: false });
        Self { bindings: bindings.collect() }
    }
}

impl Keymap {
    /// The default keys, with the changes of a file: one object from an action's name to a key or a list of keys, as in
    /// pi. Invalid parts change nothing and are reported with their line.
    #[must_use]
    pub fn read(text: &str) -> (Self, Vec<ConfigDiagnostic>) {
        let mut map = Self::default();
        let diagnostics = file::read(text, &mut map);
        (map, diagnostics)
    }

    /// The actions of a key, in order of precedence; none for a released key.
    #[must_use]
    pub fn actions(&self, context: Context, event: KeyEvent) -> Vec<Action> {
        if event.kind == KeyEventKind::Release {
            return Vec::new();
        }
        let key = Key::pressed(event);
        let mut found: Vec<&Binding> = Vec::new();
        for group in context.groups() {
            found.extend(self.bindings.iter().filter(|it| it.action.group() == *group && it.keys.contains(&key)));
        }
        found.sort_by_key(|binding| !binding.own);
        found.into_iter().map(|binding| binding.action).collect()
    }

    #[must_use]
    pub fn action(&self, context: Context, event: KeyEvent) -> Option<Action> {
        self.actions(context, event).first().copied()
    }

    /// The action of a key in a small list or a line, where submitting and new lines have no meaning.
    #[must_use]
    pub fn in_list(&self, event: KeyEvent) -> Option<Action> {
        let actions = self.actions(Context::Dialog, event);
        actions.into_iter().find(|action| !matches!(action, Action::Submit | Action::NewLine))
    }

    #[must_use]
    pub fn keys(&self, action: Action) -> &[Key] {
        self.bindings.iter().find(|binding| binding.action == action).map_or(&[], |binding| &binding.keys)
    }

    /// The first key of an action, for hints; `None` if it has no key.
    #[must_use]
    pub fn hint(&self, action: Action) -> Option<String> {
        self.keys(action).first().map(Key::to_string)
    }

    #[must_use]
    pub fn all(&self, action: Action) -> String {
        self.keys(action).iter().map(Key::to_string).collect::<Vec<_>>().join(" / ")
    }

    fn bind(&mut self, action: Action, keys: Vec<Key>) {
        if let Some(binding) = self.bindings.iter_mut().find(|binding| binding.action == action) {
            *binding = Binding { action, keys, own: true };
        }
    }
}

#[cfg(test)]
mod tests {
    use ratatui::crossterm::event::{KeyCode, KeyModifiers};

    use super::*;

    fn event(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
        KeyEvent::new(code, modifiers)
    }

    #[test]
    fn a_key_does_what_its_place_says() {
        let map = Keymap::default();
        let ctrl_d = event(KeyCode::Char('d'), KeyModifiers::CONTROL);
        assert_eq!(map.actions(Context::Editor, ctrl_d), [Action::Exit, Action::DeleteCharForward]);
        assert_eq!(map.action(Context::Tree, ctrl_d), Some(Action::FilterDefault));
        assert_eq!(map.action(Context::Sessions, ctrl_d), Some(Action::DeleteSession));
        let enter = event(KeyCode::Enter, KeyModifiers::NONE);
        assert_eq!(map.action(Context::Editor, enter), Some(Action::Submit));
        assert_eq!(map.action(Context::Completion, enter), Some(Action::SelectConfirm));
        let letter = event(KeyCode::Char('z'), KeyModifiers::NONE);
        assert!(Context::ALL.iter().all(|context| map.actions(*context, letter).is_empty()));
    }

    #[test]
    fn a_key_that_is_let_go_does_nothing() {
        let up = KeyEvent::new_with_kind(KeyCode::Up, KeyModifiers::NONE, KeyEventKind::Release);
        assert!(Keymap::default().actions(Context::Editor, up).is_empty());
    }

    #[test]
    fn a_key_of_the_users_comes_before_a_usual_one() {
        let (map, diagnostics) = Keymap::read(r#"{"tui.editor.historyPrevious":"ctrl+p"}"#);
        assert_eq!(diagnostics.len(), 1);
        let ctrl_p = event(KeyCode::Char('p'), KeyModifiers::CONTROL);
        assert_eq!(map.actions(Context::Editor, ctrl_p), [Action::HistoryPrevious, Action::NextModel]);
    }
}
