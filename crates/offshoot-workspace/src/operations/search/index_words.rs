//! The state of the index, in words and as JSON.

use std::path::Path;

use offshoot_search::index::IndexState;
use offshoot_session::json::Object;
use offshoot_session::text::{counted, grouped};

use crate::words::{Line, Role};

pub(super) fn json(file: &Path, state: &IndexState) -> String {
    let (word, why) = state.health.words();
    Object::new()
        .str("file", &file.to_string_lossy())
        .str("state", word)
        .opt_str("why", why)
        .raw("sessions", state.sessions)
        .raw("texts", state.documents)
        .raw("bytes", state.size)
        .finish()
}

pub(super) fn line(file: &Path, state: &IndexState) -> Line {
    let said = match state.health.words() {
        ("sound", _) => {
            let (sessions, texts) = (counted(state.sessions, "session", "sessions"), grouped(state.documents));
            format!("{texts} texts of {sessions}, {} KB", grouped(state.size / 1000))
        }
        ("absent", _) => "not made yet: the next search makes it".to_owned(),
        ("foreign", _) => "made by another version: the next search makes it anew".to_owned(),
        ("damaged", why) => format!("damaged ({}): the next search makes it anew", why.unwrap_or_default()),
        (_, why) => format!("cannot be used ({}): searches read every session", why.unwrap_or_default()),
    };
    Line::of(Role::Plain, format!("{}  {said}", file.display()))
}
