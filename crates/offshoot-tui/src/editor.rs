//! The editor: the text, its history, completion, and queued messages. Keys and pastes go in, an [`EditorOutcome`]
//! tells the program what to do. Knows no agent, no file and no clock.
//!
//! The program calls [`Editor::resize`] before the first view and after each resize, draws [`Editor::view`] on
//! [`Editor::height`] rows, and saves [`Editor::draft`] when typing pauses, so that the text survives a crash.

mod complete;
mod history;
mod layout;
mod view;
mod words;
mod foreign;
pub(crate) mod buffer;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::keymap::{Action, Context, Keymap};
use crate::slash::{self, Argument, Mistake, SlashCommand};
use crate::theme::Token;
use buffer::{Did, EditBuffer, Reach, Way};
use complete::Completion;
pub use complete::{Choice, Offers, Suggestions};
pub use history::{History, PastPrompt};
use layout::Layout;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditorOutcome {
    /// The key has no meaning here.
    Ignored,
    /// The editor must be redrawn.
    Moved,
    /// The text changed: [`Editor::draft`] should be saved.
    Edited,
    /// A message was sent; the editor is empty.
    Submit(Submission),
    /// A message was queued for when the agent is done; the editor is empty.
    FollowUp(Submission),
    /// A completion of an extension was chosen, by its place in the list.
    Taken(usize),
    /// An invalid command; its text stays.
    Mistake(Mistake),
    /// The external editor should open with this text; [`Editor::replace`] takes the result.
    External(String),
    /// An action for the program. [`Action::Interrupt`] is passed on only if no list was open: the program stops the
    /// agent, or counts two presses for the tree. After [`Action::Clear`] it calls [`Editor::clear`].
    Act(Action),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    pub what: Sent,
    /// As written, with the full pastes: a line for the history, see [`PastPrompt::line`].
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    Prompt(String),
    Bash {
        command: String,
        /// From `!!`.
        exclude_from_context: bool,
    },
    Command(SlashCommand),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Queue {
    steering: Vec<String>,
    follow_up: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct Editor {
    buffer: EditBuffer,
    history: History,
    completion: Completion,
    queue: Queue,
    layout: Layout,
    columns: u16,
    /// Of the terminal: the editor takes at most a third.
    rows: u16,
    padding: u16,
    top: usize,
    goal: Option<usize>,
    jump: Option<Way>,
    border: Token,
    /// Without commands, files and history.
    is_plain: bool,
    dequeue_hint: Option<String>,
    /// Whether the text is submitted once the skills and templates are there.
    awaits_called: bool,
}

impl Default for Editor {
    fn default() -> Self {
        Self {
            buffer: EditBuffer::default(),
            history: History::default(),
            completion: Completion::default(),
            queue: Queue::default(),
            layout: Layout::new("", 79),
            columns: 80,
            rows: 24,
            padding: 0,
            top: 0,
            goal: None,
            jump: None,
            border: Token::BorderMuted,
            is_plain: false,
            dequeue_hint: Keymap::default().hint(Action::Dequeue),
            awaits_called: false,
        }
    }
}

impl Editor {
    #[must_use]
    pub fn new(history: History) -> Self {
        Self { history, ..Self::default() }
    }

    /// An editor in which commands and files have no meaning, and an empty text may be sent.
    #[must_use]
    pub fn plain() -> Self {
        Self { is_plain: true, ..Self::default() }
    }

    pub fn resize(&mut self, columns: u16, rows: u16) {
        (self.columns, self.rows) = (columns, rows);
        self.settle();
    }

    /// Sets the token of the border, such as the thinking level's; shell commands have their own.
    pub fn set_border(&mut self, token: Token) {
        self.border = token;
    }

    pub fn set_queue(&mut self, steering: Vec<String>, follow_up: Vec<String>) {
        self.queue = Queue { steering, follow_up };
    }

    pub fn set_completion_rows(&mut self, rows: usize) {
        self.completion.rows = rows.max(1);
    }

    /// Changes the offered completions; an open list shows them at once.
    pub fn offer(&mut self, change: impl FnOnce(&mut Offers)) {
        change(&mut self.completion.offers);
        self.completion.refresh();
    }

    /// The argument being completed: the program may look for more choices.
    #[must_use]
    pub fn wants(&self) -> Option<Argument> {
        self.completion.wants()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    #[must_use]
    pub fn is_bash(&self) -> bool {
        !self.is_plain && self.buffer.text().trim_start().starts_with('!')
    }

    #[must_use]
    pub fn is_completing(&self) -> bool {
        self.completion.is_open()
    }

    /// Whether the text is sent once the skills, templates and commands of extensions are known.
    #[must_use]
    pub fn awaits_called(&self) -> bool {
        self.awaits_called
    }

    /// The text, with the full pastes.
    #[must_use]
    pub fn draft(&self) -> String {
        self.buffer.expanded()
    }

    /// Sets the text; can be undone.
    pub fn replace(&mut self, text: &str) {
        self.history.leave();
        self.buffer.set(text);
        self.changed();
        self.completion.close();
    }

    /// Removes the text; can be undone.
    pub fn clear(&mut self) {
        self.replace("");
    }

    /// Puts queued messages back before the text, as in pi.
    pub fn restore(&mut self, waiting: &[String]) {
        let now = self.buffer.expanded();
        let all = waiting.iter().map(String::as_str).chain([now.as_str()]).filter(|text| !text.trim().is_empty());
        let text = all.collect::<Vec<_>>().join("\n\n");
        if text != now {
            self.replace(&text);
        }
    }

    pub fn paste(&mut self, text: &str) -> EditorOutcome {
        self.history.leave();
        self.buffer.paste(text);
        self.changed();
        self.completion.close();
        EditorOutcome::Edited
    }

    pub fn key(&mut self, keymap: &Keymap, event: KeyEvent) -> EditorOutcome {
        self.dequeue_hint = keymap.hint(Action::Dequeue);
        let typed = typed(event);
        // Any other key ends the jump.
        if let (Some(way), Some(wanted)) = (self.jump.take(), typed) {
            self.buffer.jump(way, wanted);
            return self.moved();
        }
        let context = if self.completion.is_open() { Context::Completion } else { Context::Editor };
        let actions = keymap.actions(context, event);
        // A key for both empties the editor, as in pi, and its list with it.
        let clears = actions.contains(&Action::Clear);
        for action in actions.into_iter().filter(|action| !(clears && *action == Action::SelectCancel)) {
            // A letter is for the program only while the text is empty.
            let is_letter = typed.is_some() && (self.is_plain || !self.buffer.is_empty());
            if let Some(outcome) = if is_letter { None } else { self.act(action) } {
                return outcome;
            }
        }
        match typed {
            Some(letter) => self.edit(|buffer| buffer.type_char(letter)),
            None => EditorOutcome::Ignored,
        }
    }

    /// Does an action; `None`: it has no meaning now, and the key's next action is tried.
    fn act(&mut self, action: Action) -> Option<EditorOutcome> {
        Some(match action {
            Action::SelectUp | Action::SelectDown | Action::SelectPageUp | Action::SelectPageDown => {
                return self.select(action);
            }
            Action::SelectCancel if self.completion.is_open() => {
                self.completion.dismiss();
                EditorOutcome::Moved
            }
            Action::SelectConfirm => return self.confirm(),
            Action::Tab if self.is_plain => return None,
            Action::Tab if self.completion.is_open() => match self.completion.take_foreign() {
                Some(taken) => EditorOutcome::Taken(taken),
                None => {
                    self.take();
                    EditorOutcome::Edited
                }
            },
            Action::Tab => {
                self.completion.ask(self.buffer.text(), self.buffer.cursor());
                EditorOutcome::Moved
            }
            Action::Submit => self.submit(),
            Action::NewLine => self.edit(|buffer| buffer.insert("\n")),
            Action::FollowUp => match self.submit() {
                EditorOutcome::Submit(submission) => EditorOutcome::FollowUp(submission),
                other => other,
            },
            Action::ExternalEditor => EditorOutcome::External(self.buffer.expanded()),
            Action::Exit if !self.buffer.is_empty() => return None,
            Action::Undo => {
                if !self.buffer.undo() {
                    return Some(EditorOutcome::Moved);
                }
                self.history.leave();
                self.changed();
                self.completion.close();
                EditorOutcome::Edited
            }
            // It has a meaning only while a question is open, and is taken before then.
            Action::AnswerQuestion => return None,
            action if action.group() == crate::keymap::Group::App => EditorOutcome::Act(action),
            action => return self.write(action).or_else(|| self.walk(action)),
        })
    }

    fn write(&mut self, action: Action) -> Option<EditorOutcome> {
        Some(match self.buffer.act(action)? {
            Did::Edit => self.edited(),
            Did::Move => self.moved(),
        })
    }

    /// Movements by rows and through the history.
    fn walk(&mut self, action: Action) -> Option<EditorOutcome> {
        let page = isize::try_from(self.text_rows()).unwrap_or(isize::MAX);
        Some(match action {
            Action::CursorUp => self.up(),
            Action::CursorDown => self.down(),
            Action::EditorPageUp => self.rows_on(-page),
            Action::EditorPageDown => self.rows_on(page),
            Action::HistoryPrevious => self.older(),
            Action::HistoryNext => self.newer(),
            Action::JumpForward => self.begin_jump(Way::Forward),
            Action::JumpBackward => self.begin_jump(Way::Back),
            _ => return None,
        })
    }

    fn edit(&mut self, change: impl FnOnce(&mut EditBuffer)) -> EditorOutcome {
        change(&mut self.buffer);
        self.edited()
    }

    fn edited(&mut self) -> EditorOutcome {
        self.history.leave();
        self.changed();
        EditorOutcome::Edited
    }

    fn go(&mut self, way: Way, reach: Reach) -> EditorOutcome {
        self.buffer.go(way, reach);
        self.moved()
    }

    fn begin_jump(&mut self, way: Way) -> EditorOutcome {
        self.jump = Some(way);
        EditorOutcome::Moved
    }

    fn up(&mut self) -> EditorOutcome {
        let (at, row) = (self.buffer.cursor(), self.layout.row_of(self.buffer.cursor()));
        match row {
            0 if at == 0 || self.history.is_walked() => self.older(),
            0 => self.go(Way::Back, Reach::Line),
            _ => self.rows_on(-1),
        }
    }

    fn down(&mut self) -> EditorOutcome {
        let is_last = self.layout.row_of(self.buffer.cursor()) + 1 >= self.layout.len();
        match is_last {
            true if self.history.is_walked() => self.newer(),
            true => self.go(Way::Forward, Reach::Line),
            false => self.rows_on(1),
        }
    }

    fn rows_on(&mut self, by: isize) -> EditorOutcome {
        let (text, at) = (self.buffer.text(), self.buffer.cursor());
        let goal = self.goal.unwrap_or_else(|| self.layout.column_of(text, at));
        let row = self.layout.row_of(at).saturating_add_signed(by).min(self.layout.len().saturating_sub(1));
        let to = self.layout.byte_at(text, row, goal);
        self.buffer.go_to(to);
        let outcome = self.moved();
        self.goal = Some(goal);
        outcome
    }

    fn older(&mut self) -> EditorOutcome {
        let now = self.buffer.expanded();
        let Some(prompt) = self.history.older(&now).map(str::to_owned) else { return EditorOutcome::Moved };
        self.buffer.set(&prompt);
        self.buffer.go_to(0);
        self.moved();
        EditorOutcome::Edited
    }

    fn newer(&mut self) -> EditorOutcome {
        let Some(prompt) = self.history.newer() else { return EditorOutcome::Moved };
        self.buffer.set(&prompt);
        self.moved();
        EditorOutcome::Edited
    }

    fn select(&mut self, action: Action) -> Option<EditorOutcome> {
        if !self.completion.is_open() {
            return None;
        }
        let page = isize::try_from(self.completion.rows).unwrap_or(isize::MAX);
        self.completion.step(match action {
            Action::SelectUp => -1,
            Action::SelectDown => 1,
            Action::SelectPageUp => -page,
            _ => page,
        });
        Some(EditorOutcome::Moved)
    }

    /// Enter in an open list: a complete command is sent at once, as in pi.
    fn confirm(&mut self) -> Option<EditorOutcome> {
        if !self.completion.is_open() {
            return None;
        }
        if let Some(taken) = self.completion.take_foreign() {
            return Some(EditorOutcome::Taken(taken));
        }
        if self.completion.is_typed() {
            return Some(self.submit());
        }
        let is_command = self.take();
        Some(if is_command { self.submit() } else { EditorOutcome::Edited })
    }

    fn take(&mut self) -> bool {
        let Some(taken) = self.completion.take() else { return false };
        self.history.leave();
        self.buffer.replace(taken.range, &taken.text);
        self.changed();
        if taken.is_command {
            self.completion.close();
        }
        taken.is_command
    }

    fn submit(&mut self) -> EditorOutcome {
        let before = self.buffer.text().get(..self.buffer.cursor()).unwrap_or_default();
        if before.ends_with('\\') {
            // For terminals that cannot distinguish shift+enter from enter, as in pi.
            return self.edit(|buffer| {
                buffer.delete(Way::Back);
                buffer.insert("\n");
            });
        }
        let text = self.buffer.expanded().trim().to_owned();
        let called = slash::called_name(&text).filter(|_| !self.is_plain);
        let calls_other = called.is_some_and(|name| self.completion.offers.is_called(name));
        let is_prompt = self.is_plain || calls_other;
        let sent = if is_prompt { Ok(Some(Sent::Prompt(text.clone()))) } else { sent(&text) };
        // A skill that is not known yet may have this name.
        let may_call_other = called.is_some_and(slash::yields) && !calls_other;
        if self.completion.offers.expects_called && (sent.is_err() || may_call_other) {
            self.awaits_called = true;
            return EditorOutcome::Moved;
        }
        let what = match sent {
            Ok(Some(what)) => what,
            Ok(None) => return EditorOutcome::Moved,
            Err(mistake) => return EditorOutcome::Mistake(mistake.with_called(self.completion.offers.called())),
        };
        if !self.is_plain {
            self.history.add(&text);
        }
        self.buffer.reset();
        self.changed();
        self.completion.close();
        EditorOutcome::Submit(Submission { what, text })
    }

    /// Takes the skills and templates, and submits a text that waited for them.
    pub fn set_called(&mut self, called: Vec<Choice>) -> EditorOutcome {
        self.offer(|offers| offers.set_called(called));
        if std::mem::take(&mut self.awaits_called) { self.submit() } else { EditorOutcome::Moved }
    }

    /// After a change of the text.
    fn changed(&mut self) {
        self.awaits_called = false;
        self.goal = None;
        self.settle();
        if !self.is_plain {
            self.completion.update(self.buffer.text(), self.buffer.cursor());
        }
    }

    /// After a change of the cursor.
    fn moved(&mut self) -> EditorOutcome {
        self.goal = None;
        self.settle();
        self.completion.close();
        EditorOutcome::Moved
    }
}

fn sent(text: &str) -> Result<Option<Sent>, Mistake> {
    if let Some(command) = text.strip_prefix('!') {
        let hidden = command.strip_prefix('!');
        let command = hidden.unwrap_or(command).trim();
        let bash = Sent::Bash { command: command.to_owned(), exclude_from_context: hidden.is_some() };
        return Ok((!command.is_empty()).then_some(bash));
    }
    match slash::parse(text) {
        Some(command) => command.map(|command| Some(Sent::Command(command))),
        None => Ok((!text.is_empty()).then(|| Sent::Prompt(text.to_owned()))),
    }
}

fn typed(event: KeyEvent) -> Option<char> {
    let plain = event.modifiers.difference(KeyModifiers::SHIFT).is_empty();
    match event.code {
        KeyCode::Char(letter) if plain && !event.is_release() => Some(letter),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
