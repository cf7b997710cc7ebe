//! Navigation to the selected entry: whether it is possible, the question before it, and the keys on the way. The
//! caller performs the navigation.

use offshoot_agent::file_entries::files_between;
use offshoot_protocol::{ComesBack, FilesAlong};
use offshoot_session::outline::left_out;
use offshoot_session::tree::NodeIx;
use offshoot_workspace::{ArgValue, FilesPreview, Given, OperationOrder};
use ratatui::crossterm::event::KeyEvent;

use super::files::{FilesDiff, FilesLook};
use super::question::{Answer, Question};
use super::{Mode, TreeOutcome, TreeSelector};
use crate::keymap::{Action, Context};

/// How the user leaves to another entry; see [`TreeOutcome::Navigate`].
#[derive(Debug, Default)]
struct Departure {
    summarize: bool,
    instructions: Option<String>,
    left_out: Option<String>,
    comes: ComesBack,
    /// Whether the user has seen that git has another commit checked out.
    is_across_commits: bool,
}

/// The order to bring back the files of an entry alone.
fn bring_files(entry: String, is_across_commits: bool) -> OperationOrder {
    let mut given = Given::default();
    given.put_text("action", "restore");
    given.put_text("entry", entry);
    if is_across_commits {
        given.put("across_commits", ArgValue::Flag);
    }
    OperationOrder::new("files", given)
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
            let comes = self.setup.files.unwrap_or_default();
            return self.leave(ix, Departure { left_out, comes, ..Departure::default() });
        }
        let question = Question { left_out, ..Question::new(self.setup.size) };
        let changes_files = self.changes_files(ix);
        let asks_files = self.setup.files.is_none() && changes_files;
        let files = if changes_files { FilesLook::Asked } else { FilesLook::NotAsked };
        let comes = self.setup.files.unwrap_or_default();
        self.mode = Mode::Question(ix, Question { comes, files, asks_files, ..question });
        self.id(ix).filter(|_| changes_files).map_or(TreeOutcome::Stay, TreeOutcome::PreviewFiles)
    }

    /// Whether files were recorded between here and an entry.
    fn changes_files(&self, ix: NodeIx) -> bool {
        let (up, down) = files_between(self.source.as_ref(), self.list.outline.open(), Some(ix));
        !up.is_empty() || !down.is_empty()
    }

    /// What the user answered about files since the last time, to be kept as a setting.
    pub fn take_files_answer(&mut self) -> Option<ComesBack> {
        self.files_answer.take()
    }

    fn leave(&mut self, ix: NodeIx, departure: Departure) -> TreeOutcome {
        let Some(target) = self.id(ix) else { return TreeOutcome::Stay };
        let Departure { summarize, instructions, left_out, comes, is_across_commits } = departure;
        let files = FilesAlong::of(comes == ComesBack::Both).across_commits(is_across_commits);
        if comes == ComesBack::Files {
            self.mode = Mode::Browse;
            return TreeOutcome::Operate(bring_files(target, is_across_commits));
        }
        self.mode = Mode::Leaving { summarize, is_stopping: false };
        TreeOutcome::Navigate { target, summarize, instructions, left_out, files }
    }

    /// Takes what the files of an entry would change, if it is still asked about.
    pub fn take_files_preview(&mut self, entry: &str, found: std::result::Result<&FilesPreview, String>) {
        let is_asked = matches!(&self.mode, Mode::Question(ix, _) if self.id(*ix).as_deref() == Some(entry));
        if let (Mode::Question(_, question), true) = (&mut self.mode, is_asked) {
            question.files = match found {
                Ok(preview) => FilesLook::Known(FilesDiff::new(preview)),
                Err(why) => FilesLook::Failed(why),
            };
        }
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
        let answer = question.key(&self.setup.keymap, key, self.setup.size.1);
        let (comes, is_across_commits) = (question.comes, question.files.is_across_commits());
        if was_asking && matches!(answer, Answer::Leave { .. }) {
            self.files_answer = Some(comes);
            self.setup.files = Some(comes);
        }
        match answer {
            Answer::Open => TreeOutcome::Stay,
            Answer::External(text) => TreeOutcome::Edit(text),
            Answer::Preview => self.id(ix).map_or(TreeOutcome::Stay, TreeOutcome::PreviewFiles),
            Answer::Back => {
                self.mode = Mode::Browse;
                TreeOutcome::Stay
            }
            Answer::Leave { summarize, instructions } => {
                let departure = Departure { summarize, instructions, left_out: None, comes, is_across_commits };
                self.leave(ix, departure)
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
