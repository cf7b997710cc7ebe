//! The agents that the session has started: the list of them, the session of one that is read over the list or the tree, and what a
//! person says to it.

use std::sync::Arc;

use offshoot_protocol::request::{ChildOrder, ToChild};
use offshoot_protocol::{AgentError, ChildState, Event};
use offshoot_session::children::ChildList;
use offshoot_session::text::counted;
use offshoot_session::transcript::Level;

use crate::app::cmd::{Cmd, ProgramTask};
use crate::app::model::{Model, Overlay, Picking};
use crate::app::reader::HitReader;
use crate::overlay::hits::{HitPlace, HitRequest};
use crate::overlay::pick::{Choice, Pick};
use crate::overlay::sessions::Request;
use crate::overlay::tree::AgentRow;

/// `/agents`: a list of them, with those that run first.
pub(super) fn list(model: &mut Model) -> Vec<Cmd> {
    let rows = model.agents.rows();
    if rows.is_empty() {
        model.notice(Level::Info, "this session has started no agents");
        return Vec::new();
    }
    let ids = rows.iter().map(|row| row.id.clone()).collect();
    let mut pick = Pick::new(title_of_list(&rows), rows.iter().map(choice).collect());
    pick.go_to(rows.iter().position(|row| row.is_running).unwrap_or_default());
    model.overlay = Some(Overlay::Pick(Box::new(pick), Picking::Agents(ids)));
    vec![ProgramTask::ReadChildren.into()]
}

fn title_of_list(rows: &[AgentRow]) -> String {
    match rows.iter().filter(|row| row.is_running).count() {
        0 => "Agents of this session: enter reads one".to_owned(),
        running => format!("{}: enter reads one", counted(running, "agent runs", "agents run")),
    }
}

fn choice(row: &AgentRow) -> Choice {
    Choice { detail: row.standing.clone(), ..Choice::new(row.name.clone()) }
}

/// Reads the session of an agent, over what is on the screen.
pub(super) fn open(model: &mut Model, id: &str) -> Vec<Cmd> {
    let Some(row) = model.agents.row(id) else { return Vec::new() };
    let Some(file) = row.file.clone() else { return unread(model, "this agent has no file: it is only in memory") };
    let place = HitPlace { file, entry: None, found: Vec::new(), title: title(&row), child: Some(row.id) };
    vec![ProgramTask::Sessions(Request::Hits(HitRequest::Read(0, place))).into()]
}

fn title(row: &AgentRow) -> String {
    format!("{} · {}", row.name.trim_start(), row.standing)
}

/// A session that cannot be read is reported where the person looks.
pub(super) fn unread(model: &mut Model, why: &str) -> Vec<Cmd> {
    if let Some(Overlay::Tree(tree)) = &mut model.overlay {
        tree.tell(why);
    }
    model.notice(Level::Error, why);
    Vec::new()
}

/// The person has left an agent's session.
pub(super) fn left(model: &mut Model, reader: &HitReader) -> Vec<Cmd> {
    reader.child().into_iter().for_each(|id| model.agents.leave(id));
    refresh(model);
    Vec::new()
}

/// An agent stands elsewhere.
pub(super) fn told(model: &mut Model, state: &ChildState) -> Vec<Cmd> {
    let is_new = model.agents.row(&state.id).is_none();
    let is_read = reader(model).is_some_and(|reader| reader.child() == Some(state.id.as_str()));
    model.agents.tell(state, is_read);
    refresh(model);
    // Its file says which call has started it.
    let is_shown = matches!(model.overlay, Some(Overlay::Tree(_) | Overlay::Reader(..)));
    if (is_new && is_shown) || state.status.is_end() { vec![ProgramTask::ReadChildren.into()] } else { Vec::new() }
}

/// An event of an agent itself.
pub(super) fn heard(model: &mut Model, id: &Arc<str>, event: &Event) -> Vec<Cmd> {
    model.agents.hear(id, event, model.now);
    if matches!(event, Event::QueueUpdate { .. }) {
        refresh(model);
    }
    // One that is read has been spoken to after its end: what it says is followed from here on.
    let is_read = reader(model).is_some_and(|reader| reader.child() == Some(&**id));
    if is_read && matches!(event, Event::SessionChanged { .. }) { open(model, id) } else { Vec::new() }
}

/// What the files of the agents say.
pub(super) fn stored(model: &mut Model, children: ChildList) -> Vec<Cmd> {
    model.agents.set_stored(children);
    refresh(model);
    Vec::new()
}

fn reader(model: &Model) -> Option<&HitReader> {
    match &model.overlay {
        Some(Overlay::Reader(reader, _)) => Some(reader),
        _ => None,
    }
}

/// Brings the rows of agents up to date, wherever they are shown.
fn refresh(model: &mut Model) {
    let rows = model.agents.rows();
    let mut shown = model.overlay.as_mut();
    if let Some(Overlay::Reader(reader, back)) = shown {
        let row = reader.child().and_then(|id| rows.iter().find(|row| row.id == id));
        if let Some(row) = row {
            let queued = model.agents.talk(&row.id).map_or(0, |talk| talk.queued.len());
            let waits = if queued == 0 { String::new() } else { format!(" · {queued} queued") };
            reader.stand(format!("{}{waits}", title(row)), row.is_running);
        }
        shown = Some(back);
    }
    match shown {
        Some(Overlay::Pick(pick, Picking::Agents(ids))) => {
            let at = pick.chosen().and_then(|at| ids.get(at).cloned());
            *ids = rows.iter().map(|row| row.id.clone()).collect();
            pick.replace(title_of_list(&rows), rows.iter().map(choice).collect());
            at.and_then(|at| ids.iter().position(|id| *id == at)).into_iter().for_each(|at| pick.go_to(at));
        }
        Some(Overlay::Tree(tree)) => tree.set_agents(rows),
        _ => {}
    }
}

/// Shows the agents in a tree that was opened.
pub(super) fn show_in_tree(model: &mut Model) -> Vec<Cmd> {
    refresh(model);
    vec![ProgramTask::ReadChildren.into()]
}

/// An agent does not take what was said. The words come back.
pub(super) fn refused(model: &mut Model, order: &ToChild, error: &AgentError) -> Vec<Cmd> {
    let why = error.to_string();
    match (&mut model.overlay, &order.order) {
        (Some(Overlay::Reader(reader, _)), ChildOrder::Steer(text) | ChildOrder::FollowUp(text)) => {
            reader.take_back(text);
            reader.tell(&why);
        }
        (Some(Overlay::Reader(reader, _)), ChildOrder::Stop) => reader.tell(&why),
        (_, ChildOrder::Steer(text) | ChildOrder::FollowUp(text)) => model.editor.restore(std::slice::from_ref(text)),
        (_, ChildOrder::Stop) => {}
    }
    model.notice(Level::Error, why);
    Vec::new()
}
