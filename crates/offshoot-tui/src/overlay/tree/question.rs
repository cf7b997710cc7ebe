//! The question before leaving: whether to summarise the branch that is left, and with which instructions. Does not use
//! the tree.

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use crate::editor::{Editor, EditorOutcome, Submission};
use crate::keymap::{Action, Context, Keymap};

/// The possible answers.
pub(super) const ANSWERS: [&str; 3] = ["No summary", "Summarize", "Summarize with custom prompt"];

/// The question and its current answer.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) at: usize,
    /// The instructions for the summary. They are kept when the user goes back to the question.
    pub(super) prompt: Box<Editor>,
    pub(super) is_writing: bool,
    /// The completed tool calls that the entry leaves out, in words.
    pub(super) left_out: Option<String>,
    /// Whether the files of the entry come back, too.
    pub(super) files: bool,
    /// Whether the user is asked about files before the first such answer.
    pub(super) asks_files: bool,
    /// What waits for that.
    pub(super) asked: Option<(bool, Option<String>)>,
}

/// The answers about files.
pub(super) const FILES: [&str; 2] = ["Messages alone", "Messages and files"];

/// The outcome of a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Not answered yet.
    Open,
    Back,
    /// Leave, with or without a summary.
    Leave {
        summarize: bool,
        instructions: Option<String>,
    },
    External(String),
}

impl Question {
    /// The question on a terminal of this size.
    pub(super) fn new((columns, rows): (u16, u16)) -> Self {
        let mut prompt = Box::new(Editor::plain());
        prompt.resize(columns, rows);
        Self { at: 0, prompt, is_writing: false, left_out: None, files: false, asks_files: false, asked: None }
    }

    /// Whether the user is asked about files now.
    pub(super) fn is_asking_files(&self) -> bool {
        self.asked.is_some()
    }

    pub(super) fn key(&mut self, keymap: &Keymap, key: KeyEvent) -> Answer {
        if self.is_asking_files() {
            return self.files_key(keymap, key);
        }
        match self.plain_key(keymap, key) {
            Answer::Leave { summarize, instructions } if self.asks_files => {
                self.asked = Some((summarize, instructions));
                self.is_writing = false;
                Answer::Open
            }
            answer => answer,
        }
    }

    /// A key at the question about files.
    fn files_key(&mut self, keymap: &Keymap, key: KeyEvent) -> Answer {
        match keymap.in_list(key) {
            Some(Action::SelectCancel) => self.asked = None,
            Some(Action::SelectUp | Action::SelectDown) => self.files = !self.files,
            Some(Action::SelectConfirm) => {
                if let Some((summarize, instructions)) = self.asked.take() {
                    return Answer::Leave { summarize, instructions };
                }
            }
            _ => {}
        }
        Answer::Open
    }

    fn plain_key(&mut self, keymap: &Keymap, key: KeyEvent) -> Answer {
        let action = keymap.in_list(key);
        if self.is_writing {
            return self.write(keymap, key);
        }
        match action {
            Some(Action::SelectCancel) => return Answer::Back,
            Some(Action::SelectUp) => self.at = self.at.checked_sub(1).unwrap_or(ANSWERS.len() - 1),
            Some(Action::SelectDown) => self.at = (self.at + 1) % ANSWERS.len(),
            Some(Action::SelectConfirm) => return self.answered(),
            _ => {
                if key.code == KeyCode::Char('f') && key.modifiers.is_empty() {
                    self.files = !self.files;
                }
                if let KeyCode::Char(c @ '1'..='3') = key.code {
                    self.at = usize::from(c as u8 - b'1');
                    return self.answered();
                }
            }
        }
        Answer::Open
    }

    fn write(&mut self, keymap: &Keymap, key: KeyEvent) -> Answer {
        if keymap.actions(Context::Dialog, key).contains(&Action::SelectCancel) {
            self.is_writing = false;
            return Answer::Open;
        }
        match self.prompt.key(keymap, key) {
            EditorOutcome::Submit(Submission { text, .. }) | EditorOutcome::FollowUp(Submission { text, .. }) => {
                Answer::Leave { summarize: true, instructions: (!text.is_empty()).then_some(text) }
            }
            EditorOutcome::External(text) => Answer::External(text),
            EditorOutcome::Act(Action::Interrupt) => {
                self.is_writing = false;
                Answer::Open
            }
            EditorOutcome::Ignored
            | EditorOutcome::Moved
            | EditorOutcome::Edited
            | EditorOutcome::Mistake(_)
            | EditorOutcome::Taken(_)
            | EditorOutcome::Act(_) => Answer::Open,
        }
    }

    fn answered(&mut self) -> Answer {
        match self.at {
            0 => Answer::Leave { summarize: false, instructions: None },
            1 => Answer::Leave { summarize: true, instructions: None },
            _ => {
                self.is_writing = true;
                Answer::Open
            }
        }
    }
}

/// What becomes of the files, for the row below the answers.
pub(super) fn files_words(files: bool) -> &'static str {
    if files { "f  Files come back, too" } else { "f  Files stay as they are" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keymap::Key;

    fn press(question: &mut Question, keymap: &Keymap, keys: &str) -> Answer {
        let mut answer = Answer::Open;
        for key in keys.split(' ') {
            answer = question.key(keymap, Key::parse(key).unwrap().event());
        }
        answer
    }

    #[test]
    fn a_prompt_has_several_lines_and_waits_while_one_looks_at_the_question() {
        let keymap = Keymap::default();
        let mut question = Question::new((80, 24));
        assert_eq!(
            press(&mut question, &keymap, "down down enter / n e w shift+enter ! x ctrl+j y escape"),
            Answer::Open
        );
        assert!(!question.is_writing);
        assert_eq!(press(&mut question, &keymap, "3 z ctrl+g"), Answer::External("/new\n!x\nyz".to_owned()));
        let instructions = Some("/new\n!x\nyz".to_owned());
        assert_eq!(press(&mut question, &keymap, "enter"), Answer::Leave { summarize: true, instructions });
    }

    #[test]
    fn an_empty_prompt_is_a_summary_as_usual() {
        let mut question = Question::new((80, 24));
        let answer = press(&mut question, &Keymap::default(), "3 enter");
        assert_eq!(answer, Answer::Leave { summarize: true, instructions: None });
        assert_eq!(press(&mut Question::new((80, 24)), &Keymap::default(), "escape"), Answer::Back);
    }

    #[test]
    fn files_stay_unless_the_person_says_otherwise() {
        let (keymap, mut question) = (Keymap::default(), Question::new((80, 24)));
        assert!(!question.files);
        press(&mut question, &keymap, "f");
        assert!(question.files);
        press(&mut question, &keymap, "f");
        assert!(!question.files);
    }

    #[test]
    fn what_comes_back_is_asked_once_and_the_answer_goes_with_the_leave() {
        let (keymap, mut question) = (Keymap::default(), Question::new((80, 24)));
        question.asks_files = true;
        assert_eq!(press(&mut question, &keymap, "2"), Answer::Open);
        assert!(question.is_asking_files() && !question.files);
        // Back to the question, and here again.
        assert_eq!(press(&mut question, &keymap, "escape"), Answer::Open);
        assert!(!question.is_asking_files());
        let answer = press(&mut question, &keymap, "2 down enter");
        assert_eq!(answer, Answer::Leave { summarize: true, instructions: None });
        assert!(question.files);
    }

    #[test]
    fn keys_are_those_of_the_user() {
        let (keymap, _) = Keymap::read(
            r#"{"tui.select.down":"ctrl+n","tui.select.cancel":"f10","tui.input.submit":"f2","tui.input.newLine":"enter"}"#,
        );
        let mut question = Question::new((80, 24));
        assert_eq!(press(&mut question, &keymap, "ctrl+n ctrl+n enter a enter b f10 f10"), Answer::Back);
        let instructions = Some("a\nb".to_owned());
        assert_eq!(press(&mut question, &keymap, "3 f2"), Answer::Leave { summarize: true, instructions });
    }
}
