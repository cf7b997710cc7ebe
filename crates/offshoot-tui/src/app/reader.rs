//! A session that is read over a list: the conversation of its branch. A hit of a search stands at the entry that was found; the session
//! of an agent is followed while the agent runs, and takes what a person says to it. It is read from the file: the session is not
//! opened, and nothing is written. Does not know the list.

use std::path::PathBuf;

use offshoot_protocol::request::{ChildOrder, ToChild};
use offshoot_session::id::EntryId;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::{Rect, Size};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::children::AgentTalk;
use super::pager::Pager;
use crate::conversation::Conversation;
use crate::keymap::{Action, Context, Keymap};
use crate::message::Habits;
use crate::overlay::hint;
use crate::overlay::hits::ReadHit;
use crate::overlay::line::LineInput;
use crate::text;
use crate::theme::{Theme, Token};

const HINTS: &[hint::Hint<'static>] = &[
    (&[Action::SelectConfirm], "continue here"),
    (&[Action::SelectCancel], "back"),
    (&[Action::OpenAtEnd], "open"),
    (&[Action::TranscriptLineUp, Action::TranscriptLineDown], "scroll"),
    (&[Action::SearchTranscript], "search"),
    (&[Action::NextPart, Action::TogglePart], "fold"),
];

/// While an agent runs.
const AGENT_HINTS: &[hint::Hint<'static>] = &[
    (&[Action::SelectConfirm], "say something"),
    (&[Action::StopAgent], "stop"),
    (&[Action::SelectCancel], "back"),
    (&[Action::TranscriptLineUp, Action::TranscriptLineDown], "scroll"),
    (&[Action::SearchTranscript], "search"),
    (&[Action::NextPart, Action::TogglePart], "fold"),
];

/// When an agent has ended.
const ENDED_HINTS: &[hint::Hint<'static>] = &[
    (&[Action::SelectConfirm], "say something"),
    (&[Action::SelectCancel], "back"),
    (&[Action::OpenAtEnd], "open"),
    (&[Action::TranscriptLineUp, Action::TranscriptLineDown], "scroll"),
    (&[Action::SearchTranscript], "search"),
    (&[Action::NextPart, Action::TogglePart], "fold"),
];

/// While a line for it is written.
const SAY_HINTS: &[hint::Hint<'static>] =
    &[(&[Action::Submit], "after its turn"), (&[Action::FollowUp], "at its end"), (&[Action::SelectCancel], "close")];

/// From this width on the line for an agent has hints.
const WIDE: usize = 60;

/// The outcome of a key.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ReaderOutcome {
    Open,
    Back,
    /// The session is opened, and the leaf goes to the hit.
    GoOn,
    /// The session is opened where it ends.
    OpenAtEnd,
    /// For the agent that is read.
    Say(ToChild),
}

/// Who gets the keys.
#[derive(Debug, Default)]
enum ReaderLine {
    #[default]
    Reading,
    /// A line for the agent.
    Saying(LineInput),
    /// The question whether the agent is stopped.
    Stopping,
}

/// A conversation that is read.
#[derive(Debug)]
pub struct HitReader {
    pager: Pager,
    title: String,
    /// The agent whose session it is, by its id, and whether it runs.
    child: Option<(String, bool)>,
    line: ReaderLine,
    notice: Option<String>,
    /// The session's file, without links.
    pub(super) real: PathBuf,
    pub(super) file: PathBuf,
    /// `None` for a session's name, or if the entry has gone.
    pub(super) entry: Option<EntryId>,
}

impl HitReader {
    /// Of an agent that runs `talk` has what it says.
    pub(super) fn new(hit: ReadHit, talk: Option<&AgentTalk>, habits: &Habits) -> Self {
        let ReadHit { place, real, source, leaf, entry } = hit;
        // Pictures would be drawn over rows of another session.
        let habits = Habits { picture_size: None, ..habits.clone() };
        let pager = match (entry, talk) {
            (Some(entry), _) => Pager::at(source, (leaf, entry), &place.found, habits),
            (None, Some(talk)) => Pager::of_talk(talk, source, leaf, habits),
            (None, None) => Pager::new(source, leaf, habits),
        };
        let entry_id = place.entry.filter(|_| entry.is_some());
        let child = place.child.map(|id| (id, talk.is_some()));
        let line = ReaderLine::Reading;
        Self { pager, title: place.title, child, line, notice: None, real, file: place.file, entry: entry_id }
    }

    /// The agent whose session is read.
    pub(super) fn child(&self) -> Option<&str> {
        self.child.as_ref().map(|(id, _)| id.as_str())
    }

    fn is_running(&self) -> bool {
        self.child.as_ref().is_some_and(|(_, is_running)| *is_running)
    }

    /// Where the agent stands now.
    pub(super) fn stand(&mut self, title: String, is_running: bool) {
        self.title = title;
        self.child.iter_mut().for_each(|(_, running)| *running = is_running);
        if !is_running && matches!(self.line, ReaderLine::Stopping) {
            self.line = ReaderLine::Reading;
        }
    }

    /// Shows a message in place of the hints, until the next key.
    pub(super) fn tell(&mut self, notice: &str) {
        self.notice = Some(text::clean(notice).into_owned());
    }

    /// Puts words back that the agent has not taken, unless others are being written.
    pub(super) fn take_back(&mut self, words: &str) {
        if matches!(self.line, ReaderLine::Reading) {
            self.line = ReaderLine::Saying(LineInput::new(words));
        }
    }

    pub(super) fn key(&mut self, keymap: &Keymap, key: KeyEvent) -> ReaderOutcome {
        self.notice = None;
        match &self.line {
            ReaderLine::Saying(_) => return self.say(keymap, key),
            ReaderLine::Stopping => return self.answer_stop(key),
            ReaderLine::Reading => {}
        }
        let is_free = !self.pager.has_search_line();
        let actions = keymap.actions(Context::Transcript, key);
        if self.is_running() && is_free && actions.contains(&Action::StopAgent) {
            self.line = ReaderLine::Stopping;
            return ReaderOutcome::Open;
        }
        if actions.contains(&Action::SelectConfirm) && is_free && !self.pager.has_focus() {
            // One that has ended goes on with what is said to it.
            if self.child.is_none() {
                return ReaderOutcome::GoOn;
            }
            self.line = ReaderLine::Saying(LineInput::default());
            return ReaderOutcome::Open;
        }
        if !self.is_running() && keymap.actions(Context::Sessions, key).contains(&Action::OpenAtEnd) {
            return ReaderOutcome::OpenAtEnd;
        }
        if self.pager.key(keymap, key) { ReaderOutcome::Open } else { ReaderOutcome::Back }
    }

    /// A key for the line. A line that is closed is lost, as that of a search is.
    fn say(&mut self, keymap: &Keymap, key: KeyEvent) -> ReaderOutcome {
        let (Some(id), ReaderLine::Saying(line)) = (self.child.as_ref().map(|(id, _)| id.clone()), &mut self.line)
        else {
            return ReaderOutcome::Open;
        };
        let actions = keymap.actions(Context::Editor, key);
        let order: Option<fn(String) -> ChildOrder> = match () {
            () if actions.contains(&Action::FollowUp) => Some(ChildOrder::FollowUp),
            () if actions.contains(&Action::Submit) => Some(ChildOrder::Steer),
            () => None,
        };
        if let Some(order) = order {
            let text = line.text().trim().to_owned();
            self.line = ReaderLine::Reading;
            return match text.is_empty() {
                true => ReaderOutcome::Open,
                false => ReaderOutcome::Say(ToChild { id, order: order(text) }),
            };
        }
        if actions.iter().any(|action| matches!(action, Action::SelectCancel | Action::Interrupt | Action::Clear)) {
            self.line = ReaderLine::Reading;
            return ReaderOutcome::Open;
        }
        _ = line.key(keymap, key);
        ReaderOutcome::Open
    }

    /// Yes stops the agent; any other key does not.
    fn answer_stop(&mut self, key: KeyEvent) -> ReaderOutcome {
        self.line = ReaderLine::Reading;
        match (key.code, &self.child) {
            (KeyCode::Char('y' | 'Y') | KeyCode::Enter, Some((id, true))) => {
                ReaderOutcome::Say(ToChild { id: id.clone(), order: ChildOrder::Stop })
            }
            _ => ReaderOutcome::Open,
        }
    }

    /// The session, without the place in it.
    pub(super) fn at_end(self) -> Self {
        Self { entry: None, ..self }
    }

    pub(super) fn paste(&mut self, text: &str) {
        match &mut self.line {
            ReaderLine::Saying(line) => _ = line.insert(text),
            ReaderLine::Reading => self.pager.paste(text),
            ReaderLine::Stopping => {}
        }
    }

    pub(super) fn has_search_line(&self) -> bool {
        self.pager.has_search_line() || matches!(self.line, ReaderLine::Saying(_))
    }

    pub(super) fn is_at_work(&self) -> bool {
        self.pager.is_at_work()
    }

    pub(super) fn work(&mut self, budget: usize) {
        self.pager.work(budget);
    }

    pub(super) fn set_habits(&mut self, habits: &Habits) {
        self.pager.set_habits(Habits { picture_size: None, ..habits.clone() });
    }

    pub(super) fn lay_out(&mut self, conversation: &Conversation, theme: &Theme, size: Size) {
        self.pager.lay_out(conversation, theme, Size { height: size.height.saturating_sub(1), ..size });
    }

    pub(super) fn view(&self, keymap: &Keymap, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let mut rows = area.rows();
        let Some(head) = rows.next() else { return };
        let title = text::fit(&self.title, usize::from(area.width)).into_owned();
        text::draw(&Line::styled(title, theme.style(Token::Accent).add_modifier(Modifier::BOLD)), head, buf);
        let below = Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1), ..area };
        let hints = match &self.child {
            Some((_, true)) => AGENT_HINTS,
            Some((_, false)) => ENDED_HINTS,
            None => HINTS,
        };
        self.pager.view_with(keymap, theme, (below, hints), buf);
        let Some(foot) = rows.next_back() else { return };
        let columns = usize::from(area.width);
        let over = match (&self.line, &self.notice) {
            (ReaderLine::Saying(line), _) => {
                let keys = if columns < WIDE { String::new() } else { hint::fit(keymap, SAY_HINTS, columns / 2) };
                let taken = u16::try_from(text::width(&keys) + 1).unwrap_or(u16::MAX);
                let input = Rect { width: foot.width.saturating_sub(taken), ..foot };
                text::clear(foot, buf);
                let prompt = Span::styled("Say: ", theme.style(Token::Accent));
                line.view(prompt, theme.style(Token::Text), input, buf);
                let rest = Rect { x: input.right(), width: foot.width - input.width, ..foot };
                Some((Line::styled(format!(" {keys}"), theme.style(Token::Dim)), rest))
            }
            (ReaderLine::Stopping, _) => {
                let ask = format!("Stop {}? y stops it, any other key does not", self.child().unwrap_or_default());
                Some((Line::styled(text::fit(&ask, columns).into_owned(), theme.style(Token::Warning)), foot))
            }
            (ReaderLine::Reading, Some(notice)) => {
                Some((Line::styled(text::fit(notice, columns).into_owned(), theme.style(Token::Warning)), foot))
            }
            (ReaderLine::Reading, None) => None,
        };
        if let Some((line, place)) = over.filter(|(_, place)| !place.is_empty()) {
            text::clear(place, buf);
            text::draw(&line, place, buf);
        }
    }
}
