//! A file of key bindings: one JSON object from an action's name to its keys. Reads text, not files.

use offshoot_session::json::{Json, JsonKind};

use super::{Action, Context, Key, Keymap};
use offshoot_settings::diagnostic::{ConfigDiagnostic, TextPosition};
use offshoot_settings::nearest::nearest;

/// Actions of pi that have no meaning here.
const OF_PI: &[&str] = &["tui.altScreen.search", "tui.input.copy", "app.thinking.save"];

pub(super) fn read(text: &str, map: &mut Keymap) -> Vec<ConfigDiagnostic> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let json = match Json::parse(text) {
        Ok(json) if json.kind() == JsonKind::Object => json,
        Ok(json) => {
            let what = "this is no object from actions to keys, such as {\"app.session.tree\": \"alt+s\"}".to_owned();
            return vec![ConfigDiagnostic { place: TextPosition::of(text, json.text()), what }];
        }
        Err(error) => {
            let what = format!("this is not JSON: {} is missing; all keys are the usual ones", error.expected);
            return vec![ConfigDiagnostic { place: TextPosition::at(text, error.at), what }];
        }
    };
    let mut reader = Reader { text, diagnostics: Vec::new(), given: Vec::new() };
    for (id, value) in json.members() {
        reader.member(&id, value, map);
    }
    reader.conflicts(map);
    reader.diagnostics
}

struct Reader<'a> {
    text: &'a str,
    diagnostics: Vec<ConfigDiagnostic>,
    given: Vec<(Action, Key, TextPosition)>,
}

impl Reader<'_> {
    fn tell(&mut self, at: Json<'_>, what: String) {
        self.diagnostics.push(ConfigDiagnostic { place: TextPosition::of(self.text, at.text()), what });
    }

    fn member(&mut self, id: &str, value: Json<'_>, map: &mut Keymap) {
        let Some(action) = Action::parse(id) else {
            let what = if OF_PI.iter().any(|known| id.starts_with(known)) {
                format!("{id} is an action of pi's that is not here; it is left alone")
            } else {
                let meant = nearest(id, Action::ALL.iter().map(|action| action.id()));
                let meant = meant.map_or_else(String::new, |meant| format!(": did you mean {meant}?"));
                format!("there is no action {id:?}{meant}")
            };
            return self.tell(value, what);
        };
        let mut keys = Vec::new();
        for (text, at) in match value.kind() {
            JsonKind::Array => value.items().map(|item| (item.as_str(), item)).collect(),
            _ => vec![(value.as_str(), value)],
        } {
            match text.as_deref().map(Key::parse) {
                Some(Ok(key)) => {
                    keys.push(key);
                    self.given.push((action, key, TextPosition::of(self.text, at.text())));
                }
                Some(Err(error)) => self.tell(at, format!("{id}: {error}")),
                None => self.tell(at, format!("{id}: a key is a string, such as \"ctrl+x\"")),
            }
        }
        let is_off = value.kind() == JsonKind::Array && value.items().next().is_none();
        // An action keeps its keys if all new ones are invalid.
        if is_off || !keys.is_empty() {
            self.given.retain(|(known, key, _)| *known != action || keys.contains(key));
            map.bind(action, keys);
        }
    }

    /// Reports keys with two actions in one context, of which the first in the file wins, and actions that thereby lost
    /// their last default key.
    fn conflicts(&mut self, map: &Keymap) {
        let mut found = Vec::new();
        for (nth, (action, key, place)) in self.given.iter().enumerate() {
            let before = self.given.iter().take(nth);
            for (other, _, first) in before.filter(|(other, same, _)| same == key && other != action) {
                if Context::ALL.iter().any(|context| meet(*context, *action, *other)) {
                    let what = format!(
                        "{key} is given to {}, but {} of line {} comes first",
                        action.id(),
                        other.id(),
                        first.line
                    );
                    found.push(ConfigDiagnostic { place: *place, what });
                }
            }
            let met = Action::ALL.iter().filter(|lost| *lost != action && meet(Context::Editor, *action, **lost));
            for lost in met.filter(|lost| map.keys(**lost).contains(key) && !may_share(*action, **lost)) {
                if self.is_lost(*lost, map) {
                    let (action, lost) = (action.id(), lost.id());
                    let what = format!(
                        "{key} is given to {action}, and {lost} has no key any more: give it another, or [] if that is meant"
                    );
                    found.push(ConfigDiagnostic { place: *place, what });
                }
            }
        }
        self.diagnostics.append(&mut found);
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.place);
    }

    /// Whether the file gives all keys of an action to others in the editor, without naming the action.
    fn is_lost(&self, action: Action, map: &Keymap) -> bool {
        let taken =
            |key: &Key| self.given.iter().any(|(by, given, _)| given == key && meet(Context::Editor, *by, action));
        let own = self.given.iter().any(|(by, _, _)| *by == action);
        !own && !map.keys(action).is_empty() && map.keys(action).iter().all(taken)
    }
}

fn meet(context: Context, one: Action, other: Action) -> bool {
    let here = |action: Action| context.groups().contains(&action.group());
    here(one) && here(other)
}

/// Actions that share keys on purpose: the state of the screen decides between them.
fn may_share(one: Action, other: Action) -> bool {
    let pair = |a, b| (one, other) == (a, b) || (one, other) == (b, a);
    pair(Action::Exit, Action::DeleteCharForward)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<String> {
        Keymap::read(text).1.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn pis_file_reads_as_in_pi() {
        let text = r#"{
  "app.session.new": "ctrl+shift+n",
  "app.session.tree": ["ctrl+shift+t", "alt+shift+t"],
  "tui.altScreen.pageUp": []
}"#;
        let (map, diagnostics) = Keymap::read(text);
        assert_eq!(diagnostics, []);
        assert_eq!(map.all(Action::NewSession), "ctrl+shift+n");
        assert_eq!(map.all(Action::OpenTree), "ctrl+shift+t / shift+alt+t");
        assert_eq!(map.hint(Action::TranscriptPageUp), None);
        assert_eq!(map.all(Action::CursorUp), "up");
    }

    #[test]
    fn what_cannot_be_used_is_told_with_its_line() {
        let text = "{\n  \"app.sesion.tree\": \"alt+t\",\n  \"app.clear\": [\"hyper+c\"],\n  \"app.exit\": 7,\n  \"app.thinking.save\": \"ctrl+s\"\n}";
        insta::assert_snapshot!(said(text).join("\n"), @r#"
        2:22: there is no action "app.sesion.tree": did you mean app.session.tree?
        3:17: app.clear: "hyper" is no modifier: there are ctrl, shift, alt and super
        4:15: app.exit: a key is a string, such as "ctrl+x"
        5:24: app.thinking.save is an action of pi's that is not here; it is left alone
        "#);
        let (map, _) = Keymap::read(text);
        assert_eq!(map, Keymap::default());
    }

    #[test]
    fn a_file_that_is_no_json_says_where() {
        insta::assert_snapshot!(said("{\n  \"app.clear\": \n}").join("\n"), @"3:1: this is not JSON: a value is missing; all keys are the usual ones");
        insta::assert_snapshot!(said("[1]").join("\n"), @r#"1:1: this is no object from actions to keys, such as {"app.session.tree": "alt+s"}"#);
    }

    #[test]
    fn a_key_that_does_two_things_is_told() {
        let text =
            "{\n\"app.session.new\": \"alt+n\",\n\"app.session.tree\": \"alt+n\",\n\"app.tree.mark\": \"alt+n\"}";
        insta::assert_snapshot!(said(text).join("\n"), @"
        3:21: alt+n is given to app.session.tree, but app.session.new of line 2 comes first
        4:18: alt+n is given to app.tree.mark, but app.session.new of line 2 comes first
        4:18: alt+n is given to app.tree.mark, but app.session.tree of line 3 comes first
        ");
        let text = "{\n\"app.session.new\": \"ctrl+k\",\n\"app.session.tree\": \"ctrl+b\"\n}";
        insta::assert_snapshot!(said(text).join("\n"), @"2:20: ctrl+k is given to app.session.new, and tui.editor.deleteToLineEnd has no key any more: give it another, or [] if that is meant");
    }

    proptest::proptest! {
        #[test]
        fn no_file_panics(text in "[{\"\\[\\]:,a-z.+\\PC]{0,60}") {
            drop(Keymap::read(&text));
        }
    }
}
