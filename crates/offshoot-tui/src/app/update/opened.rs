//! Another session, or another place in it.

use crate::app::cmd::Cmd;
use crate::app::model::Model;
use crate::app::msg::Opened;
use crate::message::Level;
use crate::theme::Token;

/// Shows what was said last there. What the terminal has above stays.
pub(super) fn opened(model: &mut Model, opened: Opened) -> Vec<Cmd> {
    model.live.begin_again();
    model.is_working = false;
    if let Some(what) = separator(&opened) {
        model.notice(Level::Info, what);
    }
    if opened.hidden > 0 {
        let key = model.wishes.keymap.hint(crate::keymap::Action::OpenTranscript).unwrap_or_default();
        let messages = if opened.hidden == 1 { "message" } else { "messages" };
        model.notice(Level::Info, format!("{} earlier {messages}: {key} shows them", opened.hidden));
    }
    for block in opened.tail {
        model.live.finished.push(block);
    }
    vec![Cmd::Look]
}

fn separator(opened: &Opened) -> Option<String> {
    match opened.reason {
        "new" => Some("a new session".to_owned()),
        "resume" => Some(format!("session {}", opened.id)),
        "fork" => Some(format!("a new session, begun from the other: {}", opened.id)),
        "tree" => Some("at another place of the tree".to_owned()),
        _ => None,
    }
}

/// The border tells how much the model thinks.
pub(super) fn looked(model: &mut Model) {
    use offshoot_agent::provider::ThinkingLevel as Level;
    model.editor.set_border(match model.looked.thinking {
        None | Some(Level::Off) => Token::ThinkingOff,
        Some(Level::Minimal) => Token::ThinkingMinimal,
        Some(Level::Low) => Token::ThinkingLow,
        Some(Level::Medium) => Token::ThinkingMedium,
        Some(Level::High) => Token::ThinkingHigh,
        Some(Level::XHigh) => Token::ThinkingXhigh,
        Some(Level::Max) => Token::ThinkingMax,
    });
}
