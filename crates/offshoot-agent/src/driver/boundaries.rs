//! The end of a turn or of a run, to which extensions may add entries, and after which they may ask for more.

use std::sync::Arc;

use offshoot_files::{BatchChanges, Recorder};
use offshoot_protocol::message::{AssistantMessage, Message, StopReason, ToolResultMessage, UserMessage};
use offshoot_protocol::{AgentError, Event, Window};
use offshoot_session::compose::NewEntry;
use offshoot_session::context;
use offshoot_session::entry::Source as _;
use offshoot_session::json::Json;
use offshoot_session::kind::Role;
use offshoot_session::manager::drafted;
use offshoot_session::session::Session;
use serde_json::Value;

use super::files::{self, TurnFiles};
use super::{Driver, DriverInput};
use crate::extensions::{EndAdditions, EndedTurn};
use crate::turn::{EndOutcome, Ticket, TurnInput};
use crate::window::{self, window_of};
use crate::writer::{OwnedSession, WriterHandle};

/// A turn or a run that is in the file up to its end.
pub(crate) struct RecordedEnd {
    ticket: Ticket,
    ended: Ended,
    /// Emitted when extensions have added what they add.
    event: Option<Event>,
}

enum Ended {
    Turn(EndedTurn),
    Run(EndOutcome),
}

/// What became of what extensions have added.
pub(crate) struct Bounded {
    end: RecordedEnd,
    written: Result<AddedAtEnd, AgentError>,
}

struct AddedAtEnd {
    /// Of each entry.
    events: Vec<Event>,
    continues: bool,
    /// What an extension asked for and does not get.
    refused: Option<String>,
}

impl Ended {
    fn name(&self) -> &'static str {
        match self {
            Self::Turn(_) => "turn_end",
            Self::Run(_) => "agent_before_settle",
        }
    }
}

impl Driver {
    /// Everything before it is in the file, and its events have been sent, when the session's thread has come to it.
    pub(super) fn close_turn(
        &mut self,
        ticket: Ticket,
        answer: Arc<AssistantMessage>,
        results: Vec<Arc<ToolResultMessage>>,
    ) {
        let outcome = match answer.stop_reason {
            StopReason::Aborted => EndOutcome::Aborted,
            StopReason::Error => EndOutcome::Error,
            _ => EndOutcome::Completed,
        };
        let message = Message::Assistant(answer);
        let as_messages = results.iter().cloned().map(Message::ToolResult).collect();
        let event = Some(Event::TurnEnd { message: message.clone(), tool_results: results });
        let own = self.own.clone();
        self.writer.handle().send(
            |owned| ids(owned.session()),
            move |found| {
                // A session that cannot be read says so when it is used.
                let (message_id, result_ids) = found.unwrap_or_default();
                let turn = EndedTurn { message, results: as_messages, message_id, result_ids, outcome };
                let end = RecordedEnd { ticket, ended: Ended::Turn(turn), event };
                drop(own.send(DriverInput::EndRecorded(Box::new(end))));
            },
        );
    }

    pub(super) fn before_settle(&mut self, ticket: Ticket, outcome: EndOutcome) {
        let own = self.own.clone();
        self.writer.handle().send(
            |_| (),
            move |_| {
                let end = RecordedEnd { ticket, ended: Ended::Run(outcome), event: None };
                drop(own.send(DriverInput::EndRecorded(Box::new(end))));
            },
        );
    }

    pub(super) fn end_recorded(&mut self, end: RecordedEnd) {
        let (own, handle, extensions) = (self.own.clone(), self.writer.handle().clone(), self.setup.extensions.clone());
        let has_queue = self.state.has_queue();
        let window = window_of(&self.setup.model);
        let files = match &end.ended {
            Ended::Turn(_) => self.take_files(),
            Ended::Run(_) => TurnFiles::default(),
        };
        drop(tokio::spawn(async move {
            let (changed, failed) = files.look().await;
            let why = failed.or(record_all(&handle, changed).await);
            why.into_iter().for_each(|why| drop(own.send(DriverInput::FilesFailed(why))));
            let additions = match (&end.ended, extensions) {
                (Ended::Turn(turn), Some(extensions)) => extensions.turn_end(turn.clone()).await,
                (Ended::Run(outcome), Some(extensions)) => extensions.before_settling(*outcome).await,
                (_, None) => EndAdditions::default(),
            };
            let event = end.ended.name();
            handle.send(
                move |owned| add(owned, additions, &EndOfWork { event, has_queue, window }),
                move |done| {
                    let bounded = Bounded { end, written: done.and_then(|written| written) };
                    drop(own.send(DriverInput::Bounded(Box::new(bounded))));
                },
            );
        }));
    }

    /// A refused draft is the extension's error, and the run goes on without its entries. If they cannot be written, the next
    /// write tells.
    pub(super) fn bounded(&mut self, bounded: Bounded) {
        let Bounded { end: RecordedEnd { ticket, ended, event }, written } = bounded;
        let AddedAtEnd { events, continues, refused } = written.unwrap_or_else(|error| AddedAtEnd {
            events: vec![crate::event::not_recorded("what an extension adds", &error)],
            continues: false,
            refused: Some(format!("its entries are not written: {error}")),
        });
        if let (Some(extensions), Some(why)) = (&self.setup.extensions, refused) {
            extensions.refused(ended.name(), why);
        }
        events.into_iter().for_each(|event| self.outbox.tell(event));
        event.into_iter().for_each(|event| self.outbox.pass(&Arc::new(event)));
        self.step(match ended {
            Ended::Turn(_) => TurnInput::TurnClosed { ticket, continues },
            Ended::Run(_) => TurnInput::MaySettle { ticket, continues },
        });
    }
}

/// Records what calls have changed; returns why some of it is not recorded.
async fn record_all(handle: &WriterHandle, changed: Vec<(Arc<Recorder>, BatchChanges)>) -> Option<String> {
    let mut failed = None;
    for (recorder, changes) in changed {
        let recorded = handle.ask(move |owned| files::record(owned, &recorder, changes)).await;
        failed = recorded.and_then(|done| done).err().map(|error| error.to_string()).or(failed);
    }
    failed
}

/// To what extensions add.
struct EndOfWork {
    event: &'static str,
    has_queue: bool,
    window: Option<Window>,
}

/// Writes the drafts of extensions: all of them, or none if one is refused.
fn add(owned: &mut OwnedSession, additions: EndAdditions, end: &EndOfWork) -> Result<AddedAtEnd, AgentError> {
    let EndAdditions { entries, continues } = additions;
    let EndOfWork { event, has_queue, window } = end;
    let composed = entries.iter().map(|draft| {
        window.as_ref().map_or(Ok(()), |window| check_size(draft, window))?;
        compose(owned.session(), draft)
    });
    let composed = composed.collect::<Result<Vec<_>, AgentError>>();
    let written = composed.and_then(|entries| match entries.is_empty() {
        true => Ok(Vec::new()),
        false => owned.append_with_events(&entries),
    });
    let (events, refused) = match written {
        Ok(events) => (events, None),
        Err(why) if why.is_refusal() || matches!(why, AgentError::Failed(_)) => {
            (Vec::new(), Some(format!("its entries are not written: {why}")))
        }
        Err(why) => return Err(why),
    };
    let can_continue = *has_queue || !continues || ends_with_a_question(owned.session());
    let nothing = || format!("{event} requested continuation without runnable model context");
    let refused = refused.or_else(|| (!can_continue).then(nothing));
    Ok(AddedAtEnd { events, continues: continues && can_continue, refused })
}

/// The ids of the last answer, and of the results of its calls.
fn ids(session: &Session) -> (Option<String>, Vec<String>) {
    let tree = session.tree();
    let (mut answer, mut results) = (None, Vec::new());
    for ix in session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf)) {
        let id = tree.node(ix).id().map(|id| id.as_str().to_owned());
        match tree.node(ix).role() {
            Some(Role::Assistant) => {
                answer = id;
                break;
            }
            Some(Role::ToolResult) => results.extend(id),
            Some(Role::User) => break,
            _ => {}
        }
    }
    results.reverse();
    (answer, results)
}

/// Whether the model has something to answer.
fn ends_with_a_question(session: &Session) -> bool {
    let Ok(context) = session.context() else { return false };
    let last = context.messages(session).filter_map(Result::ok).filter(|message| message.role != Role::System).last();
    last.is_some_and(|message: context::Message| message.role != Role::Assistant)
}

/// Refuses a draft whose words would be in every later request and fit none.
fn check_size(draft: &Value, window: &Window) -> Result<(), String> {
    let kind = draft["type"].as_str().unwrap_or_default();
    let words = match kind {
        "custom_message" => &draft["content"],
        "context_edit" => &draft["replacement"]["content"],
        "compaction" => &draft["summary"],
        _ => return Ok(()),
    };
    // Invalid content is refused with its own reason.
    let Ok(content) = serde_json::from_value(words.clone()) else { return Ok(()) };
    window::check_addition(window, &format!("a {kind}"), &UserMessage { content, timestamp: 0 }.into())
}

/// An entry that an extension has drafted.
fn compose(session: &Session, draft: &Value) -> Result<NewEntry, AgentError> {
    let text = draft.to_string();
    Ok(drafted(session, Json::parse(&text).map_err(|error| error.to_string())?)?)
}
