//! The pager: the transcript of the open session on the whole screen, its keys, and the line of its search.

use std::sync::Arc;

use offshoot_session::error::Result;
use offshoot_session::transcript::StoredPicture;
use offshoot_session::tree::NodeIx;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Rect, Size};
use ratatui::text::{Line, Span};

use super::children::AgentTalk;
use crate::conversation::Conversation;
use crate::keymap::{Action, Context, Keymap};
use crate::message::Habits;
use crate::overlay::hint;
use crate::overlay::line::{LineInput, Typed};
use crate::overlay::tree::Snapshot;
use crate::text;
use crate::theme::{Theme, Token};
use crate::transcript::{Move, Parts, Path, PathLength, SearchStatus, SearchStep, SearchWrap, Transcript};

/// The number of rows in half a page.
const HALF: usize = 10;

const HINTS: &[hint::Hint<'static>] = &[
    (&[Action::CloseTranscript], "leave"),
    (&[Action::TranscriptLineUp, Action::TranscriptLineDown], "scroll"),
    (&[Action::SearchTranscript], "search"),
    (&[Action::NextPart, Action::TogglePart], "fold"),
    (&[Action::TranscriptTop, Action::TranscriptBottom], "ends"),
];

const SEARCH_HINTS: &[hint::Hint<'static>] =
    &[(&[Action::SearchNext], "next"), (&[Action::SearchPrevious], "previous"), (&[Action::CloseSearch], "close")];

/// The columns of the search line.
const SEARCH_COLUMNS: std::ops::RangeInclusive<usize> = 12..=40;
/// From this width on the search line has a name.
const WIDE: usize = 60;

/// The transcript and its source.
pub struct Pager {
    source: Snapshot,
    transcript: Transcript,
    trouble: Option<String>,
    /// The text to search for, while the search is open.
    search: Option<LineInput>,
    /// Why the search lacks an entry.
    search_trouble: Option<String>,
}

impl std::fmt::Debug for Pager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.transcript.fmt(f)
    }
}

impl Pager {
    /// A pager on the path to an entry. It starts at the end of the path.
    #[must_use]
    pub fn new(source: Snapshot, leaf: Option<NodeIx>, habits: Habits) -> Self {
        let mut transcript = Transcript::new(habits);
        transcript.open(Path::of(source.tree(), leaf));
        Self { source, transcript, trouble: None, search: None, search_trouble: None }
    }

    /// A pager on the path to `leaf` that stands at an entry, which it marks with what was found in it.
    #[must_use]
    pub fn at(source: Snapshot, (leaf, entry): (Option<NodeIx>, NodeIx), found: &[String], habits: Habits) -> Self {
        let mut pager = Self::new(source, leaf, habits);
        let marked = pager.transcript.mark(pager.source.as_ref(), entry, found);
        pager.search_trouble = marked.err().map(|error| error.to_string());
        pager
    }

    /// A pager on the whole conversation, which it follows. Of the path it shows only the entries that are not in the
    /// conversation. The session may have entries that the conversation has not received yet, and the reverse.
    #[must_use]
    pub fn of(conversation: &Conversation, source: Snapshot, leaf: Option<NodeIx>, habits: Habits) -> Self {
        let (entries, first) = conversation.joint();
        let mut transcript = Transcript::new(habits);
        transcript.open(Path::beginning(source.tree(), leaf, entries));
        transcript.join(conversation, first);
        Self { source, transcript, trouble: None, search: None, search_trouble: None }
    }

    /// A pager on what an agent of the session says while it runs. Its file has what it said before.
    #[must_use]
    pub fn of_talk(talk: &AgentTalk, source: Snapshot, leaf: Option<NodeIx>, habits: Habits) -> Self {
        let (entries, first) = talk.conversation.joint();
        let begun = talk.leaf.as_deref().and_then(|leaf| source.tree().find(leaf));
        let before = PathLength::of(source.tree(), begun, None).entries;
        let mut transcript = Transcript::new(habits);
        transcript.open(Path::beginning(source.tree(), leaf, before + entries));
        transcript.join(&talk.conversation, first);
        Self { source, transcript, trouble: None, search: None, search_trouble: None }
    }

    /// Unfolds tools, and moves to a block of the conversation.
    pub fn unfold_at(&mut self, conversation: &Conversation, block: u64) {
        let (_, first) = conversation.joint();
        self.transcript.fold_all(Parts::Tools);
        self.transcript.go_to_block(first, block);
    }

    /// Sets the rendering habits, such as the size of pictures.
    pub fn set_habits(&mut self, habits: Habits) {
        self.transcript.set_habits(habits);
    }

    /// Whether a part is chosen that a key folds.
    #[must_use]
    pub fn has_focus(&self) -> bool {
        self.transcript.has_focus()
    }

    /// The pictures that are completely visible on a screen of this size, and their places.
    #[must_use]
    pub fn pictures(&self, size: Size) -> Vec<(Rect, Arc<StoredPicture>)> {
        self.transcript.pictures(Rect::new(0, 0, size.width, size.height.saturating_sub(1)))
    }

    /// Handles a key. Returns whether the pager stays open.
    pub fn key(&mut self, keymap: &Keymap, key: KeyEvent) -> bool {
        if self.search.is_some() {
            self.search_key(keymap, key);
            return true;
        }
        let action = keymap.action(Context::Transcript, key);
        if let Some(to) = action.and_then(movement) {
            self.transcript.go(to);
            return true;
        }
        match action {
            Some(Action::SearchTranscript) => self.search = Some(LineInput::default()),
            Some(Action::ExpandTools) => self.transcript.fold_all(Parts::Tools),
            Some(Action::ToggleThinking) => self.transcript.fold_all(Parts::Thinking),
            Some(Action::NextPart) => self.transcript.focus(true),
            Some(Action::PreviousPart) => self.transcript.focus(false),
            Some(Action::TogglePart | Action::SelectConfirm) => _ = self.transcript.toggle(),
            Some(Action::CloseTranscript | Action::SelectCancel) => return false,
            Some(Action::Interrupt | Action::Clear | Action::Exit) => return false,
            _ => {}
        }
        true
    }

    /// A letter goes to the line, and so does a key that edits it; keys that move by rows, pages and prompts scroll.
    fn search_key(&mut self, keymap: &Keymap, key: KeyEvent) {
        let Some(line) = &mut self.search else { return };
        let step = match keymap.action(Context::TranscriptSearch, key) {
            Some(Action::SearchNext) => Some(SearchStep::Next),
            Some(Action::SearchPrevious) => Some(SearchStep::Previous),
            Some(Action::CloseSearch) => return self.end_search(),
            _ => None,
        };
        if let Some(step) = step {
            let done = self.transcript.search_step(self.source.as_ref(), step);
            return self.report(done);
        }
        if line.letter(key) == Typed::Changed {
            return self.search_for_line();
        }
        let actions = keymap.actions(Context::Transcript, key);
        let scrolls = |action: &Action| {
            matches!(
                action,
                Action::TranscriptPageUp
                    | Action::TranscriptPageDown
                    | Action::TranscriptLineUp
                    | Action::TranscriptLineDown
                    | Action::PreviousPrompt
                    | Action::NextPrompt
            )
        };
        if let Some(to) = actions.iter().copied().find(scrolls).and_then(movement) {
            self.transcript.leave_search_origin();
            return self.transcript.go(to);
        }
        match actions.first() {
            Some(Action::SearchTranscript | Action::SelectCancel | Action::Interrupt | Action::Clear) => {
                return self.end_search();
            }
            Some(Action::ExpandTools) => return self.transcript.fold_all(Parts::Tools),
            Some(Action::ToggleThinking) => return self.transcript.fold_all(Parts::Thinking),
            _ => {}
        }
        if line.key(keymap, key) == Typed::Changed {
            self.search_for_line();
        }
    }

    /// Whether the line at the bottom is that of the search.
    #[must_use]
    pub fn has_search_line(&self) -> bool {
        self.search.is_some()
    }

    /// Inserts pasted text into the search line, if it is open.
    pub fn paste(&mut self, text: &str) {
        if self.search.as_mut().is_some_and(|line| line.insert(text) == Typed::Changed) {
            self.search_for_line();
        }
    }

    fn search_for_line(&mut self) {
        self.search_trouble = None;
        let query = self.search.as_ref().map(LineInput::text).unwrap_or_default();
        let done = self.transcript.search_for(self.source.as_ref(), query);
        self.report(done);
    }

    fn end_search(&mut self) {
        (self.search, self.search_trouble) = (None, None);
        self.transcript.end_search();
    }

    fn report(&mut self, done: Result<()>) {
        self.search_trouble = done.err().map(|error| error.to_string()).or(self.search_trouble.take());
    }

    /// Whether [`Pager::work`] has work to do.
    #[must_use]
    pub fn is_at_work(&self) -> bool {
        self.transcript.is_searching()
    }

    /// Continues the search for about `budget` bytes.
    pub fn work(&mut self, budget: usize) {
        let done = self.transcript.search_on(self.source.as_ref(), budget);
        self.report(done);
    }

    /// Reads and lays out the content of a screen of this size.
    pub fn lay_out(&mut self, conversation: &Conversation, theme: &Theme, size: Size) {
        let size = Size { height: size.height.saturating_sub(1), ..size };
        let filled = self.transcript.fill(self.source.as_ref(), conversation, theme, size);
        self.trouble = filled.err().map(|error| error.to_string());
    }

    /// Draws the pager. The line at the bottom shows the position, or the search.
    pub fn view(&self, keymap: &Keymap, theme: &Theme, area: Rect, buf: &mut Buffer) {
        self.view_with(keymap, theme, (area, HINTS), buf);
    }

    /// The same with other hints at the bottom.
    pub(crate) fn view_with(
        &self,
        keymap: &Keymap,
        theme: &Theme,
        (area, hints): (Rect, &[hint::Hint<'_>]),
        buf: &mut Buffer,
    ) {
        let height = area.height.saturating_sub(1);
        self.transcript.view(theme, Rect { height, ..area }, buf);
        let foot = Rect { y: area.y + height, height: area.height.min(1), ..area };
        let columns = usize::from(area.width);
        let trouble =
            self.trouble.as_ref().or(self.search_trouble.as_ref()).map(|trouble| text::clean(trouble).into_owned());
        let standing = self.transcript.scroll_position();
        let place = match (&self.search, trouble) {
            (_, Some(trouble)) => trouble,
            (Some(line), None) => return self.view_search(line, keymap, theme, foot, buf),
            (None, None) if standing.count == 0 => "no messages yet".to_owned(),
            (None, None) => format!("{}–{} of {}", standing.first + 1, standing.last + 1, standing.count),
        };
        let place = text::fit(&place, columns).into_owned();
        let keys = hint::fit(keymap, hints, columns.saturating_sub(text::width(&place) + 2));
        text::draw(&Line::styled(format!("{place}  {keys}"), theme.style(Token::Dim)), foot, buf);
    }

    fn view_search(&self, line: &LineInput, keymap: &Keymap, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let columns = usize::from(area.width);
        let prompt = if columns < WIDE { "/ " } else { "Search: " };
        let status = self.transcript.search_status().map(|status| status_words(status, columns)).unwrap_or_default();
        let taken = text::width(&status) + text::width(prompt) + 4;
        let wanted = (text::width(line.text()) + 1).clamp(*SEARCH_COLUMNS.start(), *SEARCH_COLUMNS.end());
        let input = wanted.min(columns.saturating_sub(taken).max(*SEARCH_COLUMNS.start())) + text::width(prompt);
        let width = u16::try_from(input.min(columns)).unwrap_or(area.width);
        let prompt = Span::styled(prompt, theme.style(Token::Accent));
        line.view(prompt, theme.style(Token::Text), Rect { width, ..area }, buf);
        let keys = hint::fit(keymap, SEARCH_HINTS, columns.saturating_sub(input + text::width(&status) + 4));
        // Rather no hint than half of one.
        let keys = if keys.ends_with('…') { String::new() } else { keys };
        let told = Line::from(vec![
            Span::styled(format!("  {status}"), theme.style(Token::Muted)),
            Span::styled(if status.is_empty() { keys } else { format!("  {keys}") }, theme.style(Token::Dim)),
        ]);
        let rest = Rect { x: area.x + width, width: area.width - width, ..area };
        if !rest.is_empty() {
            text::draw(&told, rest, buf);
        }
    }
}

/// The status of a search. In a narrow window the least is left of where it goes on.
fn status_words(status: SearchStatus, columns: usize) -> String {
    let found = match (status.number, status.count, status.percent) {
        (_, 0, None) => "no match".to_owned(),
        (_, 0, Some(percent)) => format!("searching, {percent} %"),
        (0, count, _) => format!("– of {count}"),
        (number, count, None) => format!("{number} of {count}"),
        (number, count, Some(percent)) => format!("{number} of {count}, {percent} %"),
    };
    match status.wrap {
        Some(SearchWrap::ToBeginning) if columns < WIDE => format!("{found} · from top"),
        Some(SearchWrap::ToEnd) if columns < WIDE => format!("{found} · from end"),
        Some(SearchWrap::ToBeginning) => format!("{found} · from the beginning"),
        Some(SearchWrap::ToEnd) => format!("{found} · from the end"),
        None => found,
    }
}

/// The movement of an action.
fn movement(action: Action) -> Option<Move> {
    Some(match action {
        Action::TranscriptPageUp => Move::PageUp,
        Action::TranscriptPageDown => Move::PageDown,
        Action::TranscriptHalfPageUp => Move::Up(HALF),
        Action::TranscriptHalfPageDown => Move::Down(HALF),
        Action::TranscriptLineUp | Action::SelectUp => Move::Up(1),
        Action::TranscriptLineDown | Action::SelectDown => Move::Down(1),
        Action::TranscriptTop => Move::Top,
        Action::TranscriptBottom => Move::Bottom,
        Action::PreviousPrompt => Move::PreviousUser,
        Action::NextPrompt => Move::NextUser,
        _ => return None,
    })
}
