//! The question whether other agents' sessions are copied, the first time that something is about to be deleted.

use offshoot_app::app::App;
use offshoot_foreign::{Agent, Archive};
use offshoot_workspace::sources::expiring;

use super::start_panel::{StartAnswer, StartQuestion};
use crate::copies::copy_beside;

/// So long before an agent deletes a session somebody is asked.
const SOON_DAYS: i64 = 3;

/// The question, and where the copies will be; `None` if nothing goes soon, or somebody was asked before.
pub(super) fn question(app: &App) -> Option<(Archive, StartQuestion)> {
    let place = app.place();
    let archive = place.archive().ok().filter(|archive| !archive.is_asked())?;
    let (agents, count) = expiring(&place, SOON_DAYS)?;
    let sessions = if count == 1 { "a session".to_owned() } else { format!("{count} sessions") };
    let question = StartQuestion {
        title: format!("Keep copies? {agents} will delete {sessions} within {SOON_DAYS} days."),
        about: "What is new is copied while you use offshoot. The agents' folders stay as they are.",
        details: Vec::new(),
        notes: Vec::new(),
        answers: vec![StartAnswer::new("yes", "keep copies"), StartAnswer::new("no", "do not keep any")],
        otherwise: "not now; `offshoot keep on` does it later",
    };
    Some((archive, question))
}

/// Keeps the answer, and begins to copy. Nobody is asked a second time.
pub(super) fn settle(app: &App, archive: &Archive, answer: Option<&str>) {
    let kept = match answer {
        Some("yes") => archive.set(Agent::ALL, &archive.excluded()),
        Some(_) => archive.set(&[], &archive.excluded()),
        None => archive.note_asked(),
    };
    match kept {
        Ok(()) => copy_beside(app),
        Err(error) => app.ui.warning(&format!("the answer about copies is not kept: {error}")),
    }
}
