//! The title of the terminal's window.

use offshoot_session::text::strip;

use crate::app::model::Model;

/// More characters of a name are not sent.
const MOST: usize = 80;

/// The title of an extension, else the name of the session or its folder. `None` leaves the window its own.
pub(in crate::app) fn title(model: &Model) -> Option<String> {
    let own = || {
        let name = name(model).filter(|_| model.preferences.settings.sets_title)?;
        Some(format!("{name} - offshoot"))
    };
    model.extensions.title.clone().or_else(own)
}

/// The name of the session, else of its folder, once they are known. Without control characters.
pub(in crate::app) fn name(model: &Model) -> Option<String> {
    let facts = &model.facts;
    let last = facts.cwd.trim_end_matches('/').rsplit('/').next().filter(|last| !last.is_empty());
    let given = facts.name.as_deref().filter(|name| !name.trim().is_empty());
    let name = given.or(last).unwrap_or(&facts.cwd);
    let name: String = strip(name).chars().filter(|letter| !letter.is_control()).take(MOST).collect();
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}
