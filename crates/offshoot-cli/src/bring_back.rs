//! What the commands that bring work back share: files that the copies speak of.

use offshoot_app::agent::overhead;
use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_app::models::ModelTable;
use offshoot_session::context::ContextWeight;
use offshoot_session::files::FileLists;
use offshoot_session::session::Session;
use offshoot_session::text::one_line;

/// More files are counted.
const FILES: usize = 5;

/// Refuses what does not fit into the window of the session's model, if that is known: the context before, and the tokens
/// that come.
pub(crate) fn refuse_too_big(app: &App, session: &Session, before: ContextWeight, more: u64) -> Result<()> {
    let Some(window) = ModelTable::window_of(app, session).filter(|_| more > 0) else { return Ok(()) };
    Ok(session.refuse_beyond_window(before.total(overhead(app, session)?), more, window)?)
}

/// Names the changed files that the folder of the session lacks.
pub(crate) fn report_files(app: &App, session: &Session, files: &FileLists) {
    let folder = session.cwd().filter(|cwd| !cwd.is_empty()).map_or_else(|| app.cwd(), str::to_owned);
    let lacks = |file: &&String| !std::path::Path::new(&folder).join(file).exists();
    let missing: Vec<String> = files.modified.iter().filter(lacks).map(|file| one_line(file, 80)).collect();
    if missing.is_empty() {
        return;
    }
    let more = missing.len().saturating_sub(FILES);
    let mut named = missing.iter().take(FILES).cloned().collect::<Vec<_>>().join(", ");
    if more > 0 {
        named.push_str(&format!(" and {more} more"));
    }
    app.ui.note(&format!("words came, files did not: the folder lacks {named}"));
}
