//! The question whether another program's own folder counts, and what follows from its answer.

use offshoot_app::app::App;
use offshoot_app::config::settings::SettingsFiles;
use offshoot_app::error::Result;
use offshoot_protocol::Peer;
use offshoot_settings::{PeerUse, Scope, Value};

use super::start_panel::{StartAnswer, StartQuestion};
use crate::commands::doctor::{PeerStanding, peer_standing};

/// The question about each peer that has a folder with something to use, of which nobody has answered.
pub(super) fn questions(app: &App) -> Result<Vec<(Peer, StartQuestion)>> {
    let layers = settings(app).load()?.0;
    let unasked = Peer::ALL.into_iter().filter(|peer| layers.use_of(*peer) == PeerUse::Ask);
    let standings = unasked.filter_map(|peer| peer_standing(app, peer));
    let usable = standings.filter(|standing| !standing.counts.is_empty());
    Ok(usable.map(|standing| (standing.folder.peer, question(app, standing))).collect())
}

fn question(app: &App, PeerStanding { folder, counts, .. }: PeerStanding) -> StartQuestion {
    let path = app.environment.short(&folder.path.display().to_string());
    StartQuestion {
        title: format!("Use the files of {} in {path}?", folder.peer.as_str()),
        about: "They are:",
        details: counts,
        notes: vec!["offshoot uses them after its own, and never writes there."],
        answers: vec![StartAnswer::new("yes", "use them"), StartAnswer::new("no", "do not use them")],
        otherwise: "do not use them this time",
    }
}

/// Keeps the answer in the user's settings. Without one the next start asks again.
pub(super) fn settle(app: &App, peer: Peer, answer: Option<&str>) {
    let Some(answer) = answer else { return };
    let value = Value::Text(if answer == "yes" { "on" } else { "off" }.to_owned());
    if let Err(error) = settings(app).store(Scope::Global, peer.setting(), Some(&value)) {
        app.ui.warning(&format!("the answer is not kept: {}", error.with_hints_on_one_line()));
    }
}

fn settings(app: &App) -> SettingsFiles {
    SettingsFiles::of(app.environment.data.as_deref(), &app.environment.cwd).without_project(Vec::new())
}
