//! What extensions show, out of what they send: statuses, widgets, the working indicator and the text of an editor of their own.
//! Bounds it; knows no channel and no front end.

use offshoot_session::text::counted;
use offshoot_tui::app::extension::{ExtensionMsg, ExtensionScreen, ExtensionWidget, WidgetContent};
use offshoot_tui::keymap::Action;
use serde_json::Value;

const MAX_STATUSES: usize = 64;
const MAX_WIDGETS: usize = 32;
/// As in pi.
const MAX_LINES: usize = 10;
const MAX_FRAMES: usize = 64;
/// Longer keys, texts and lines are cut.
const MAX_BYTES: usize = 4 << 10;
/// At these a word begins that is completed, as in pi.
const TRIGGERS: [char; 2] = ['@', '#'];
const MAX_TRIGGERS: usize = 32;
/// A longer text does not fit an editor.
pub(super) const MAX_WRITTEN: usize = 4 << 20;

pub(super) fn bounded(text: &str, most: usize) -> String {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default().to_owned()
}

pub(super) fn text_of(params: &Value, name: &str) -> Option<String> {
    params[name].as_str().map(|text| bounded(text, MAX_BYTES))
}

/// What an editor in place of offshoot's tells of itself.
pub(super) fn of_editor(method: &str, params: &Value) -> Option<ExtensionMsg> {
    let component = params["component"].as_u64()?;
    let text = || bounded(params["text"].as_str().unwrap_or_default(), MAX_WRITTEN);
    Some(match method {
        "editor.changed" => {
            let cursor = params["cursor"].as_u64().and_then(|cursor| usize::try_from(cursor).ok());
            ExtensionMsg::EditorChanged(component, text(), cursor)
        }
        "editor.submit" => ExtensionMsg::EditorSubmitted(component, text()),
        "editor.action" => {
            ExtensionMsg::EditorAction(component, Action::parse(params["action"].as_str().unwrap_or_default())?)
        }
        _ => return None,
    })
}

pub(super) fn triggers(params: &Value) -> Vec<char> {
    let own = params["triggers"].as_array().into_iter().flatten().filter_map(|one| one.as_str()?.chars().next());
    TRIGGERS.into_iter().chain(own.take(MAX_TRIGGERS)).collect()
}

fn widget(key: String, params: &Value) -> Option<ExtensionWidget> {
    let content = match &params["lines"] {
        Value::Array(lines) => {
            let text = |line: &Value| bounded(line.as_str().unwrap_or_default(), MAX_BYTES);
            let mut shown: Vec<String> = lines.iter().take(MAX_LINES).map(text).collect();
            if lines.len() > MAX_LINES {
                shown.push(format!("… {}", counted(lines.len() - MAX_LINES, "more line", "more lines")));
            }
            WidgetContent::Lines(shown)
        }
        _ => WidgetContent::Component(params["component"].as_u64()?),
    };
    Some(ExtensionWidget { key, is_below: params["placement"] == "belowEditor", content })
}

pub(super) fn set_widget(screen: &mut ExtensionScreen, params: &Value) {
    let key = text_of(params, "key").unwrap_or_default();
    let at = screen.widgets.iter().position(|widget| widget.key == key);
    match (widget(key, params), at) {
        (Some(new), Some(at)) => drop(screen.widgets.get_mut(at).map(|old| std::mem::replace(old, new))),
        (Some(new), None) if screen.widgets.len() < MAX_WIDGETS => screen.widgets.push(new),
        (None, Some(at)) => drop(screen.widgets.remove(at)),
        (Some(_) | None, None) => {}
    }
}

pub(super) fn set_status(screen: &mut ExtensionScreen, params: &Value) {
    let Some(key) = text_of(params, "key") else { return };
    match text_of(params, "text").filter(|text| !text.is_empty()) {
        Some(text) if screen.statuses.len() < MAX_STATUSES || screen.statuses.contains_key(&key) => {
            screen.statuses.insert(key, text);
        }
        Some(_) => {}
        None => drop(screen.statuses.remove(&key)),
    }
}

pub(super) fn set_indicator(screen: &mut ExtensionScreen, options: &Value) {
    let frames = options["frames"].as_array();
    let frames = frames.map(|frames| frames.iter().filter_map(Value::as_str).take(MAX_FRAMES));
    screen.work.frames = frames.map(|frames| frames.map(|frame| bounded(frame, 200)).collect());
    let step = options["intervalMs"].as_u64().and_then(|step| u32::try_from(step).ok());
    screen.work.step = step.unwrap_or(100);
}
