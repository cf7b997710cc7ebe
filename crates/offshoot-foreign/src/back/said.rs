//! The messages of a path in order, as a model gets them, with the compactions between them. Knows no agent.

use std::collections::HashMap;

use offshoot_session::clock::Millis;
use offshoot_session::context::Message;
use offshoot_session::entry::Source as _;
use offshoot_session::error::Result;
use offshoot_session::id::EntryId;
use offshoot_session::json::Json;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::llm::Converter;
use offshoot_session::tree::NodeIx;

use super::{BackReport, BackWish};
use crate::key::print_of;

/// A message of the user, of the model, or the result of a call.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) entry: Option<EntryId>,
    pub(super) role: Role,
    /// Whether a person typed it.
    pub(super) is_typed: bool,
    pub(super) time: Millis,
    pub(super) json: String,
    /// Tells it from another form of the same entry.
    pub(super) print: u32,
}

impl Said {
    pub(super) fn json(&self) -> Json<'_> {
        Json::parse(&self.json).unwrap_or(Json::NULL)
    }

    /// The blocks of its content; a text alone is one block.
    pub(super) fn blocks(&self) -> Vec<SaidBlock<'_>> {
        let content = self.json().get("content").unwrap_or(Json::NULL);
        match content.as_str() {
            Some(text) => vec![SaidBlock::Text(text.into_owned())],
            None => content.items().filter_map(SaidBlock::of).collect(),
        }
    }
}

/// A part of a message.
#[derive(Debug, Clone)]
pub(super) enum SaidBlock<'a> {
    Text(String),
    Image {
        data: Json<'a>,
        mime: String,
    },
    /// With what the provider signed it.
    Thinking(Json<'a>),
    Call(Json<'a>),
}

impl<'a> SaidBlock<'a> {
    fn of(block: Json<'a>) -> Option<Self> {
        match block.str("type")?.as_ref() {
            "text" => Some(Self::Text(block.str("text")?.into_owned())),
            "image" => Some(Self::Image { data: block.get("data")?, mime: block.str("mimeType")?.into_owned() }),
            "thinking" => Some(Self::Thinking(block)),
            "toolCall" => Some(Self::Call(block)),
            _ => None,
        }
    }
}

/// A summary that replaces what was said before, except for what it keeps.
#[derive(Debug)]
pub(super) struct SaidSummary {
    pub(super) text: String,
    pub(super) tokens_before: u64,
    pub(super) time: Millis,
    pub(super) kept: Vec<Said>,
}

/// Writes the file of an agent.
pub(super) trait BackWriter {
    /// The next message.
    fn message(&mut self, said: &Said, report: &mut BackReport) -> Result<()>;

    /// A compaction.
    fn compaction(&mut self, summary: &SaidSummary) -> Result<()>;

    /// The end: the name of the session, if it has one.
    fn end(&mut self, name: Option<&str>) -> Result<()>;
}

/// Passes all that a path says to a writer.
pub(super) fn speak(wish: &BackWish<'_>, writer: &mut dyn BackWriter, report: &mut BackReport) -> Result<()> {
    let tree = wish.session.tree();
    let path = tree.path(wish.leaf);
    let places: HashMap<NodeIx, usize> = path.iter().copied().zip(0..).collect();
    // The path in goes: each ends before the next compaction.
    let mut begins = None;
    for at in 0..=path.len() {
        let is_compaction = path.get(at).is_some_and(|ix| tree.node(*ix).kind() == Kind::Compaction);
        if is_compaction || at == path.len() {
            if let Some(end) = at.checked_sub(1).and_then(|end| path.get(end)) {
                Go { wish, places: &places, compaction: begins, time: 0 }.speak(*end, writer, report)?;
            }
            begins = Some(at);
        }
    }
    writer.end(wish.session.name()?.as_deref())
}

/// What is said between two compactions.
struct Go<'a> {
    wish: &'a BackWish<'a>,
    /// Where entries are on the path.
    places: &'a HashMap<NodeIx, usize>,
    /// Where the compaction is with which it begins.
    compaction: Option<usize>,
    time: Millis,
}

impl Go<'_> {
    fn speak(&mut self, end: NodeIx, writer: &mut dyn BackWriter, report: &mut BackReport) -> Result<()> {
        let session = self.wish.session;
        let context = session.context_at(Some(end))?;
        let mut converter = Converter::default();
        let mut summary: Option<SaidSummary> = None;
        let mut is_before = self.compaction.is_some();
        let mut pass = |message: Message, go: &mut Self, summary: &mut Option<SaidSummary>, report: &mut BackReport| {
            is_before = is_before && go.is_before(&message);
            let said = go.said(message);
            match summary {
                Some(summary) if is_before => summary.kept.push(said),
                _ => {
                    if let Some(summary) = summary.take() {
                        writer.compaction(&summary)?;
                    }
                    writer.message(&said, report)?;
                }
            }
            Ok::<_, offshoot_session::error::Error>(())
        };
        for message in context.messages(session) {
            let message = message?;
            match message.role {
                Role::System => report.lose("system-message"),
                Role::CompactionSummary => summary = Some(self.summary(&message)),
                _ => {
                    // What a summary keeps was counted where it was said.
                    let is_again = self.compaction.is_some() && self.is_before(&message);
                    if is_failed(&message) && !is_again {
                        report.lose("failed-answer");
                    }
                    let made = converter.push(message);
                    for message in made {
                        pass(message, self, &mut summary, report)?;
                    }
                }
            }
        }
        for message in converter.finish().0 {
            pass(message, self, &mut summary, report)?;
        }
        if let Some(summary) = summary {
            writer.compaction(&summary)?;
        }
        Ok(())
    }

    /// Whether a message precedes the compaction.
    fn is_before(&self, message: &Message) -> bool {
        let ix = message.entry.as_ref().and_then(|id| self.wish.session.tree().find(id.as_str()));
        match (ix.and_then(|ix| self.places.get(&ix)), self.compaction) {
            (Some(place), Some(compaction)) => *place < compaction,
            // A substitute follows the call that it answers.
            _ => true,
        }
    }

    fn summary(&mut self, message: &Message) -> SaidSummary {
        let json = message.json();
        self.note_time(message.entry.as_ref());
        SaidSummary {
            text: json.str("summary").unwrap_or_default().into_owned(),
            tokens_before: json.get("tokensBefore").and_then(Json::as_f64).unwrap_or_default().max(0.0) as u64,
            time: self.time,
            kept: Vec::new(),
        }
    }

    fn said(&mut self, message: Message) -> Said {
        let tree = self.wish.session.tree();
        self.note_time(message.entry.as_ref());
        let node = message.entry.as_ref().and_then(|id| tree.find(id.as_str())).map(|ix| tree.node(ix));
        let is_typed = node.is_some_and(|node| node.kind() == Kind::Message && node.role() == Some(Role::User));
        let role = match message.role {
            role @ (Role::Assistant | Role::ToolResult) => role,
            _ => Role::User,
        };
        Said {
            role,
            is_typed,
            time: self.time,
            print: print_of(&message.json),
            entry: message.entry,
            json: message.json,
        }
    }

    /// The time of an entry; without one, that of the entry before it.
    fn note_time(&mut self, entry: Option<&EntryId>) {
        let tree = self.wish.session.tree();
        let ix = entry.and_then(|id| tree.find(id.as_str()));
        self.time = ix.and_then(|ix| tree.node(ix).time()).unwrap_or(self.time);
    }
}

/// Answers that failed or were stopped are not sent again.
fn is_failed(message: &Message) -> bool {
    message.role == Role::Assistant && matches!(message.json().str("stopReason").as_deref(), Some("error" | "aborted"))
}
