//! Navigation to the selected entry: whether it is possible, the question before it, and the keys on the way. The
//! caller performs the navigation.

use offshoot_agent::file_entries::files_between;
use offshoot_session::outline::left_out;
use offshoot_session::tree::NodeIx;
use ratatui::crossterm::event::KeyEvent;

use super::question::{Answer, Question};
use super::{Mode, TreeOutcome, TreeSelector};
use crate::keymap::{Action, Context};

/// How the user leaves to another entry; see [`TreeOutcome::Navigate`].
#[derive(Debug, Default)]
struct Departure {
    summarize: bool,
    instructions: Option<String>,
    left_out: Option<String>,
    files: bool,
}

impl TreeSelector {
    /// Handles a stopped navigation: nothing has changed.
    pub fn stopped(&mut self) {
        self.mode = Mode::Browse;
        self.notice = Some("the summary was stopped; nothing has changed".to_owned());
        self.fetch();
    }

    /// Goes to an entry as if the user had chosen it.
    pub fn go_to(&mut self, ix: NodeIx) -> TreeOutcome {
        self.complete();
        self.list.remember(ix);
        self.arrange_after(true);
        let outcome = self.confirm_at(ix);
        self.fetch();
        outcome
    }

    pub(super) fn confirm(&mut self) -> TreeOutcome {
        let Some(ix) = self.list.entry() else { return TreeOutcome::Stay };
        if self.search.query().contains('#') {
            // The query asks for a label: the cursor goes to it, and the whole tree is shown again.
            self.look_for(String::new());
            return TreeOutcome::Stay;
        }
        self.confirm_at(ix)
    }

    fn confirm_at(&mut self, ix: NodeIx) -> TreeOutcome {
        if self.list.outline.open() == Some(ix) {
            return TreeOutcome::AlreadyHere;
        }
        if self.id(ix).is_none() {
            self.notice = Some("this entry has no id, so nothing can follow it".to_owned());
            return TreeOutcome::Stay;
        }
        let left_out = match left_out(self.source.as_ref(), ix) {
            Ok(left) => left.map(|left| format!("left out: {}", left.text)),
            Err(error) => return self.noticed(error.to_string()),
        };
        if self.setup.skips_question {
            return self.leave(ix, Departure { left_out, ..Departure::default() });
        }
        let question = Question { left_out, ..Question::new(self.setup.size) };
        let asks_files = self.setup.files.is_none() && self.changes_files(ix);
        self.mode =
            Mode::Question(ix, Question { files: self.setup.files.unwrap_or_default(), asks_files, ..question });
        TreeOutcome::Stay
    }

    /// Whether files were recorded between here and an entry.
    fn changes_files(&self, ix: NodeIx) -> bool {
        let (up, down) = files_between(self.source.as_ref(), self.list.outline.open(), Some(ix));
        !up.is_empty() || !down.is_empty()
    }

    /// What the user answered about files since the last time, to be kept as a setting.
    pub fn take_files_answer(&mut self) -> Option<bool> {
        self.files_answer.take()
    }

    fn leave(&mut self, ix: NodeIx, departure: Departure) -> TreeOutcome {
        let Some(target) = self.id(ix) else { return TreeOutcome::Stay };
        let Departure { summarize, instructions, left_out, files } = departure;
        self.mode = Mode::Leaving { summarize, is_stopping: false };
        TreeOutcome::Navigate { target, summarize, instructions, left_out, files }
    }

    /// Takes the text from the external editor; `None` if it is unchanged.
    pub fn written(&mut self, text: Option<&str>) {
        if let (Mode::Question(_, question), Some(text)) = (&mut self.mode, text) {
            question.prompt.replace(text.trim_end());
        }
    }

    pub(super) fn question_key(&mut self, key: KeyEvent) -> TreeOutcome {
        let Mode::Question(ix, question) = &mut self.mode else { return TreeOutcome::Stay };
        let ix = *ix;
        let was_asking = question.is_asking_files();
        let answer = question.key(&self.setup.keymap, key);
        let files = question.files;
        if was_asking && matches!(answer, Answer::Leave { .. }) {
            self.files_answer = Some(files);
            self.setup.files = Some(files);
        }
        match answer {
            Answer::Open => TreeOutcome::Stay,
            Answer::External(text) => TreeOutcome::Edit(text),
            Answer::Back => {
                self.mode = Mode::Browse;
                TreeOutcome::Stay
            }
            Answer::Leave { summarize, instructions } => {
                self.leave(ix, Departure { summarize, instructions, left_out: None, files })
            }
        }
    }

    pub(super) fn leaving_key(&mut self, key: KeyEvent) -> TreeOutcome {
        let is_cancel = self.setup.keymap.actions(Context::Dialog, key).contains(&Action::SelectCancel);
        match &mut self.mode {
            Mode::Leaving { is_stopping: is_stopping @ false, .. } if is_cancel => {
                *is_stopping = true;
                TreeOutcome::Abort
            }
            _ => TreeOutcome::Stay,
        }
    }
}
