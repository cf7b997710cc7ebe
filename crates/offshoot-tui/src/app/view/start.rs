//! The start screen: the program, the first keys, and the hint in the empty editor. The rows
//! are printed as soon as the model and the folder are known: a terminal that gets narrower may push rows into its
//! scrollback, where nothing can redraw them.

use ratatui::text::Line;

use super::status;
use crate::app::model::Model;
use crate::app::msg::{ModelAccess, SessionFacts};
use crate::keymap::Action;
use crate::text::{joined, width};
use crate::theme::Token;

/// The rows, once they no longer change. Marks them as printed.
pub(super) fn finished(model: &mut Model) -> Vec<Line<'static>> {
    let rows = if facts(model).cwd.is_empty() { Vec::new() } else { unfinished(model) };
    // They never come below a conversation.
    model.live.has_start |= !rows.is_empty() || !model.conversation.is_empty();
    rows
}

/// One row with the program, the model and the folder, and one row with keys, while they are not printed.
pub(super) fn unfinished(model: &Model) -> Vec<Line<'static>> {
    let is_late = !model.conversation.is_empty() && model.start.is_none();
    if model.live.has_start || is_late || model.preferences.settings.is_quiet {
        return Vec::new();
    }
    let facts = facts(model);
    let columns = usize::from(model.size.width);
    let name = concat!("offshoot ", env!("CARGO_PKG_VERSION")).to_owned();
    let folder = Some(status::folder(facts)).filter(|folder| !folder.is_empty());
    let what: Vec<String> = [Some(name), status::answering(facts), folder].into_iter().flatten().collect();
    let what: Vec<&str> = what.iter().map(String::as_str).collect();
    let theme = &model.preferences.theme;
    vec![
        Line::styled(joined(&what, columns), theme.style(Token::Muted)),
        Line::styled(keys(model, columns), theme.style(Token::Dim)),
    ]
}

/// What is known of the session, or of its start while nothing else is.
fn facts(model: &Model) -> &SessionFacts {
    model.start.as_deref().unwrap_or(&model.facts)
}

fn keys(model: &Model, columns: usize) -> String {
    let key = |action, does: &str| {
        let keys = model.preferences.keymap.keys(action).iter().map(ToString::to_string);
        keys.min_by_key(String::len).map(|key| format!("{key} {does}"))
    };
    let words = [
        key(Action::Help, "help"),
        Some("/ commands".to_owned()),
        Some("@ files".to_owned()),
        Some("! shell".to_owned()),
        key(Action::Interrupt, "stops"),
        key(Action::Exit, "leaves"),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    joined(&words.iter().map(String::as_str).collect::<Vec<_>>(), columns)
}

/// The text in the empty editor while no model can be used: how to change that.
pub(super) fn placeholder(model: &Model, columns: u16) -> Option<Line<'static>> {
    const WAYS: [&str; 3] = [
        "No key yet: /login asks for one, or set a variable such as ANTHROPIC_API_KEY",
        "No key yet: /login asks for one and saves it",
        "No key yet: /login",
    ];
    let is_keyless = model.facts.access == ModelAccess::NoKeys && model.editor.is_empty();
    let way = WAYS.into_iter().find(|way| width(way) <= usize::from(columns)).filter(|_| is_keyless)?;
    Some(Line::styled(way, model.preferences.theme.style(Token::Dim)))
}
