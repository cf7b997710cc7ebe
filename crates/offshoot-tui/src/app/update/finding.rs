//! Finding a session, or a place in one: the list of sessions, the search in all of them, and the hit that is read. Reading moves
//! no leaf; going on from a hit does, as the tree does.

use ratatui::crossterm::event::KeyEvent;

use super::agents;
use super::leaving::{Leave, leave};
use crate::app::cmd::{Cmd, ProgramTask, Purpose};
use crate::app::model::{Model, Overlay, Picking};
use crate::app::reader::{HitReader, ReaderOutcome};
use crate::keymap::{Action, Context};
use crate::overlay::hits::{HitAnswer, HitRequest, ReadHit};
use crate::overlay::search::{HitSearch, HitSearchOutcome};
use crate::overlay::sessions::{self as selector, Answer, Request};

/// The requests of the list of sessions, for the program.
pub(super) fn asks(requests: Vec<Request>) -> Vec<Cmd> {
    requests.into_iter().map(|request| ProgramTask::Sessions(request).into()).collect()
}

/// The requests of a list of hits.
pub(super) fn hit_asks(requests: Vec<HitRequest>) -> Vec<Cmd> {
    asks(requests.into_iter().map(Request::Hits).collect())
}

/// Opens the search in all sessions.
pub(super) fn search(model: &mut Model, words: Option<&str>) -> Vec<Cmd> {
    model.goes_on_at = None;
    let mut search = HitSearch::new(words.unwrap_or_default(), model.now, model.preferences.keymap.clone());
    let requests = search.requests();
    model.overlay = Some(Overlay::Search(Box::new(search)));
    hit_asks(requests)
}

pub(super) fn search_outcome(model: &mut Model, outcome: HitSearchOutcome) -> Vec<Cmd> {
    let Some(Overlay::Search(search)) = &mut model.overlay else { return Vec::new() };
    let mut cmds = hit_asks(search.requests());
    match outcome {
        HitSearchOutcome::Open => {}
        HitSearchOutcome::Closed => {
            model.overlay = None;
            cmds.extend(hit_asks(vec![HitRequest::Stop]));
        }
        HitSearchOutcome::Chosen(file) => {
            model.overlay = None;
            cmds.extend(hit_asks(vec![HitRequest::Stop]));
            cmds.extend(leave(model, ProgramTask::Open(file), Leave::OpenSession));
        }
    }
    cmds
}

pub(super) fn sessions_outcome(model: &mut Model, outcome: selector::SessionsOutcome) -> Vec<Cmd> {
    let Some(Overlay::Sessions(sessions)) = &mut model.overlay else { return Vec::new() };
    let mut cmds = asks(sessions.requests());
    match outcome {
        selector::SessionsOutcome::Open => {}
        // The list stays on the screen until the terminal is given back.
        selector::SessionsOutcome::Cancelled | selector::SessionsOutcome::Chosen(_) if model.is_choosing => {
            model.chosen = if let selector::SessionsOutcome::Chosen(file) = outcome { Some(file) } else { None };
            model.is_ending = true;
            cmds.push(ProgramTask::Sessions(selector::Request::StopSearch).into());
        }
        selector::SessionsOutcome::Cancelled => {
            model.overlay = None;
            cmds.push(ProgramTask::Sessions(selector::Request::StopSearch).into());
        }
        selector::SessionsOutcome::Chosen(file) => {
            model.overlay = None;
            cmds.push(ProgramTask::Sessions(selector::Request::StopSearch).into());
            cmds.extend(leave(model, ProgramTask::Open(file), Leave::OpenSession));
        }
    }
    cmds
}

/// Takes an answer to a list.
pub(super) fn answered(model: &mut Model, answer: Answer) -> Vec<Cmd> {
    match (answer, &mut model.overlay) {
        (
            Answer::Hits(HitAnswer::Read(_, Ok(hit))),
            Some(Overlay::Search(_) | Overlay::Sessions(_) | Overlay::Tree(_) | Overlay::Pick(_, Picking::Agents(_))),
        ) => {
            read(model, hit);
            Vec::new()
        }
        (Answer::Hits(HitAnswer::Read(_, Ok(hit))), Some(Overlay::Reader(reader, _)))
            if reader.child().is_some() && reader.child() == hit.place.child.as_deref() =>
        {
            read(model, hit);
            Vec::new()
        }
        (Answer::Hits(HitAnswer::Read(_, Err(why))), Some(Overlay::Tree(_) | Overlay::Pick(_, Picking::Agents(_)))) => {
            agents::unread(model, &why)
        }
        (Answer::Hits(answer), Some(Overlay::Search(search))) => {
            search.take(answer);
            hit_asks(search.requests())
        }
        (answer, Some(Overlay::Sessions(sessions))) => {
            sessions.take(answer);
            asks(sessions.requests())
        }
        _ => Vec::new(),
    }
}

/// Shows the session of a hit, over the list; that of an agent that is read already in its place.
fn read(model: &mut Model, hit: ReadHit) {
    if let Some(back) = model.overlay.take() {
        let back = match back {
            Overlay::Reader(_, back) => *back,
            list => list,
        };
        let talk = hit.place.child.as_deref().and_then(|id| model.agents.talk(id));
        let reader = HitReader::new(hit, talk, &model.preferences.habits);
        model.overlay = Some(Overlay::Reader(Box::new(reader), Box::new(back)));
    }
}

pub(super) fn reader_key(model: &mut Model, key: KeyEvent) -> Vec<Cmd> {
    if model.preferences.keymap.action(Context::Transcript, key) == Some(Action::ToggleTimestamps) {
        model.toggle_times();
        return Vec::new();
    }
    let Some(Overlay::Reader(mut reader, back)) = model.overlay.take() else { return Vec::new() };
    match reader.key(&model.preferences.keymap, key) {
        ReaderOutcome::Open => model.overlay = Some(Overlay::Reader(reader, back)),
        ReaderOutcome::Back => {
            model.overlay = Some(*back);
            return agents::left(model, &reader);
        }
        ReaderOutcome::Say(order) => {
            model.overlay = Some(Overlay::Reader(reader, back));
            return vec![Cmd::ask(order)];
        }
        ReaderOutcome::GoOn => return go_on(model, *reader, &back),
        ReaderOutcome::OpenAtEnd => return go_on(model, reader.at_end(), &back),
    }
    Vec::new()
}

/// Opens the session of the hit unless it is already open, and goes to its entry. Stops the search behind the reader.
fn go_on(model: &mut Model, reader: HitReader, back: &Overlay) -> Vec<Cmd> {
    let HitReader { real, file, entry, .. } = reader;
    let stop = if matches!(back, Overlay::Sessions(_)) { Request::StopSearch } else { Request::Hits(HitRequest::Stop) };
    let mut cmds = asks(vec![stop]);
    model.goes_on_at = entry;
    if model.is_choosing {
        (model.chosen, model.is_ending) = (Some(file), true);
    } else if model.facts.path.as_ref() != Some(&real) {
        cmds.extend(leave(model, ProgramTask::Open(file), Leave::OpenSession));
    } else if model.goes_on_at.is_some() {
        cmds.push(ProgramTask::Snapshot(Purpose::GoOn).into());
    }
    cmds
}
