//! What extensions have to do with what is written: an editor in place of offshoot's, completions, and keys that they hear first.

use std::sync::Arc;

use offshoot_extensions::ExtensionSet;
use offshoot_tui::app::extension::{Completing, ComponentId, ExtensionMsg, ForeignSuggestions, HeardKey};
use offshoot_tui::editor::Choice;
use serde_json::{Value, json};

use super::extension_front::ExtensionUiState;

/// More completions are not shown, and longer texts are cut.
const MAX_CHOICES: usize = 500;
const MAX_TEXT: usize = 1 << 10;

/// The extensions, and the front end that shows what they do.
#[derive(Clone)]
pub(super) struct Writing {
    pub(super) ui_state: Arc<ExtensionUiState>,
    pub(super) extensions: Arc<ExtensionSet>,
}

impl Writing {
    /// Gives the editor of an extension another text.
    pub(super) async fn set_text(self, component: ComponentId, text: String, after: usize) {
        let what = json!({"kind": "editor.setText", "component": component, "text": text, "after": after});
        if let Err(failure) = self.extensions.on_screen(what).await {
            self.ui_state.failed_on_screen("the editor's text", &failure);
        }
    }

    /// The editor of an extension has lost its place. It may hang, so nothing is waited for.
    pub(super) async fn leave(self, component: ComponentId) {
        self.ui_state.leave_editor(component);
        drop(self.extensions.on_screen(json!({"kind": "editor.leave", "component": component})).await);
    }

    pub(super) async fn listen(self, id: u64, data: String) {
        let answer = self.extensions.on_screen(json!({"kind": "terminalInput", "data": data})).await;
        let heard = match &answer {
            Ok(answer) if answer["consume"] == true => HeardKey::Consumed,
            Ok(answer) => answer["data"].as_str().map_or(HeardKey::AsItWas, |data| HeardKey::Changed(data.to_owned())),
            Err(failure) => {
                self.ui_state.failed_on_screen("a key", failure);
                HeardKey::AsItWas
            }
        };
        self.ui_state.send(ExtensionMsg::Heard(id, heard));
    }

    /// Asks about a text, and no more about the one before.
    pub(super) fn suggest_instead(self, text: Completing, own: Option<(String, Vec<Choice>)>, is_forced: bool) {
        let ui_state = Arc::clone(&self.ui_state);
        ui_state.completes(tokio::spawn(self.suggest(text, own, is_forced)).abort_handle());
    }

    async fn suggest(self, text: Completing, own: Option<(String, Vec<Choice>)>, is_forced: bool) {
        let own = own.map(|(prefix, choices)| {
            let items: Vec<Value> = choices.iter().map(item).collect();
            json!({"items": items, "prefix": prefix})
        });
        let mut what = members("autocomplete", &text);
        (what["force"], what["own"]) = (json!(is_forced), json!(own));
        let found = match self.extensions.on_screen(what).await {
            Ok(found) => suggestions(&found, own.as_ref()),
            Err(failure) => {
                self.ui_state.failed_on_screen("a completion", &failure);
                None
            }
        };
        self.ui_state.send(ExtensionMsg::Suggested(text.id, found));
    }

    pub(super) async fn apply(self, text: Completing, item: Value, prefix: String) {
        let mut what = members("autocomplete.apply", &text);
        (what["item"], what["prefix"]) = (item, json!(prefix));
        match self.extensions.on_screen(what).await {
            Ok(applied) => {
                if let Some((written, cursor)) = written(&applied) {
                    self.ui_state.send(ExtensionMsg::Applied(text.id, written, cursor));
                }
            }
            Err(failure) => self.ui_state.failed_on_screen("a completion", &failure),
        }
    }
}

fn members(kind: &str, text: &Completing) -> Value {
    json!({"kind": kind, "lines": text.lines, "cursorLine": text.line, "cursorCol": text.column})
}

/// A completion of offshoot's in pi's shape.
fn item(choice: &Choice) -> Value {
    json!({"value": choice.insert, "label": choice.label, "description": choice.detail})
}

/// `None` if the extension has nothing of its own: what offshoot itself offers stays.
fn suggestions(found: &Value, own: Option<&Value>) -> Option<ForeignSuggestions> {
    let items: Vec<Value> = found["items"].as_array()?.iter().take(MAX_CHOICES).cloned().collect();
    if own.is_some_and(|own| own["items"].as_array().is_some_and(|own| *own == items)) {
        return None;
    }
    let text = |item: &Value, name: &str| {
        let text = item[name].as_str().unwrap_or_default();
        text.get(..text.floor_char_boundary(MAX_TEXT)).unwrap_or_default().to_owned()
    };
    let choice = |item: &Value| {
        let (insert, label) = (text(item, "value"), text(item, "label"));
        let label = if label.is_empty() { insert.clone() } else { label };
        Choice { insert, label, detail: text(item, "description") }
    };
    let prefix = found["prefix"].as_str().unwrap_or_default().to_owned();
    Some(ForeignSuggestions { prefix, choices: items.iter().map(choice).collect(), items })
}

/// The text and the place of the cursor in its bytes.
fn written(applied: &Value) -> Option<(String, usize)> {
    let lines: Vec<&str> = applied["lines"].as_array()?.iter().filter_map(Value::as_str).collect();
    let number = |name: &str| applied[name].as_u64().and_then(|number| usize::try_from(number).ok());
    let (line, column) = number("cursorLine").zip(number("cursorCol"))?;
    let before: usize = lines.iter().take(line).map(|line| line.len() + 1).sum();
    let mut units = 0;
    let within = lines.get(line)?.char_indices().find(|(_, sign)| {
        let is_there = units >= column;
        units += sign.len_utf16();
        is_there
    });
    let within = within.map_or(lines.get(line)?.len(), |(at, _)| at);
    Some((lines.join("\n"), before + within))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_is_counted_as_extensions_count_it() {
        let of = |lines: Value, line: u64, column: u64| {
            written(&json!({"lines": lines, "cursorLine": line, "cursorCol": column}))
                .map(|(text, at)| (text.len(), at))
        };
        assert_eq!(of(json!(["ab", "cd"]), 1, 1), Some((5, 4)));
        assert_eq!(of(json!(["😀é!"]), 0, 3), Some((7, 6)), "an emoji is two units");
        assert_eq!(of(json!(["ab"]), 0, 99), Some((2, 2)));
        assert_eq!(of(json!(["ab"]), 7, 0), None);
    }

    #[test]
    fn an_extension_that_gives_back_what_offshoot_offers_changes_nothing() {
        let own = json!({"items": [{"value": "/tree ", "label": "tree", "description": "shows it"}], "prefix": "/t"});
        assert_eq!(suggestions(&own, Some(&own)), None);
        assert_eq!(suggestions(&Value::Null, Some(&own)), None);
        let more = json!({"items": [{"value": "#1", "label": ""}], "prefix": "#"});
        assert_eq!(suggestions(&more, Some(&own)).unwrap().choices, [Choice::new("#1")]);
    }
}
