//! The question before leaving: whether to summarise the branch that is left, and with which instructions. Does not use
//! the tree.

use offshoot_protocol::ComesBack;
use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::files::FilesLook;
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
    /// What comes back.
    pub(super) comes: ComesBack,
    /// What the files of the entry would change.
    pub(super) files: FilesLook,
    /// Whether the user is asked about files before the first such answer.
    pub(super) asks_files: bool,
    /// What waits for that.
    pub(super) asked: Option<(bool, Option<String>)>,
}

/// An answer about files.
pub(super) fn comes_words(comes: ComesBack) -> &'static str {
    match comes {
        ComesBack::Messages => "Messages alone",
        ComesBack::Both => "Messages and files",
        ComesBack::Files => "Files alone",
    }
}

/// The answer after one, or before it.
fn cycled(comes: ComesBack, steps: usize) -> ComesBack {
    let at = ComesBack::ALL.iter().position(|one| *one == comes).unwrap_or_default();
    ComesBack::ALL[(at + steps) % ComesBack::ALL.len()]
}

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
    /// What the files would change is to be worked out.
    Preview,
}

impl Question {
    /// The question on a terminal of this size.
    pub(super) fn new((columns, rows): (u16, u16)) -> Self {
        let mut prompt = Box::new(Editor::plain());
        prompt.resize(columns, rows);
        Self {
            at: 0,
            prompt,
            is_writing: false,
            left_out: None,
            comes: ComesBack::Messages,
            files: FilesLook::NotAsked,
            asks_files: false,
            asked: None,
        }
    }

    /// Whether the user is asked about files now.
    pub(super) fn is_asking_files(&self) -> bool {
        self.asked.is_some()
    }

    /// A key on a screen with so many rows.
    pub(super) fn key(&mut self, keymap: &Keymap, key: KeyEvent, rows: u16) -> Answer {
        if let Some(diff) = self.files.shown() {
            diff.key(keymap, key, rows);
            return Answer::Open;
        }
        if !self.is_writing && key.code == KeyCode::Char('d') && key.modifiers.is_empty() {
            return self.show_files();
        }
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
            Some(Action::SelectUp) => self.comes = cycled(self.comes, ComesBack::ALL.len() - 1),
            Some(Action::SelectDown) => self.comes = cycled(self.comes, 1),
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
            // Nothing is left, so there is nothing to summarise.
            Some(Action::SelectConfirm) if self.comes == ComesBack::Files => {
                return Answer::Leave { summarize: false, instructions: None };
            }
            Some(Action::SelectCancel) => return Answer::Back,
            Some(Action::SelectUp) => self.at = self.at.checked_sub(1).unwrap_or(ANSWERS.len() - 1),
            Some(Action::SelectDown) => self.at = (self.at + 1) % ANSWERS.len(),
            Some(Action::SelectConfirm) => return self.answered(),
            _ => {
                if key.code == KeyCode::Char('f') && key.modifiers.is_empty() {
                    self.comes = cycled(self.comes, 1);
                    return self.want_files();
                }
                if let KeyCode::Char(c @ '1'..='3') = key.code {
                    self.at = usize::from(c as u8 - b'1');
                    return self.answered();
                }
            }
        }
        Answer::Open
    }

    /// Has the files looked at, if nobody has.
    fn want_files(&mut self) -> Answer {
        if !matches!(self.files, FilesLook::NotAsked) || self.comes == ComesBack::Messages {
            return Answer::Open;
        }
        self.files = FilesLook::Asked;
        Answer::Preview
    }

    fn show_files(&mut self) -> Answer {
        match &mut self.files {
            FilesLook::Known(diff) => diff.show(),
            FilesLook::Asked => {}
            FilesLook::NotAsked | FilesLook::Failed(_) => {
                self.files = FilesLook::Asked;
                return Answer::Preview;
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
pub(crate) fn files_words(comes: ComesBack) -> &'static str {
    match comes {
        ComesBack::Messages => "f  Files stay as they are",
        ComesBack::Both => "f  Files come back, too",
        ComesBack::Files => "f  Files come back alone",
    }
}

#[cfg(test)]
mod tests {
    use offshoot_agent::branch_files::FilePatch;
    use offshoot_workspace::FilesPreview;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;

    use super::super::files::FilesDiff;
    use super::*;
    use crate::keymap::Key;
    use crate::theme::Theme;

    fn press(question: &mut Question, keymap: &Keymap, keys: &str) -> Answer {
        let mut answer = Answer::Open;
        for key in keys.split(' ') {
            answer = question.key(keymap, Key::parse(key).unwrap().event(), 24);
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
        assert_eq!(question.comes, ComesBack::Messages);
        // They are looked at when they are wanted for the first time.
        assert_eq!(press(&mut question, &keymap, "f"), Answer::Preview);
        assert_eq!(question.comes, ComesBack::Both);
        assert_eq!(press(&mut question, &keymap, "f"), Answer::Open);
        assert_eq!(question.comes, ComesBack::Files);
        // Nothing is left then, so nothing is summarised.
        let leave = Answer::Leave { summarize: false, instructions: None };
        assert_eq!(press(&mut question, &keymap, "down enter"), leave);
        press(&mut question, &keymap, "f");
        assert_eq!(question.comes, ComesBack::Messages);
    }

    #[test]
    fn what_comes_back_is_asked_once_and_the_answer_goes_with_the_leave() {
        let (keymap, mut question) = (Keymap::default(), Question::new((80, 24)));
        question.asks_files = true;
        assert_eq!(press(&mut question, &keymap, "2"), Answer::Open);
        assert!(question.is_asking_files() && question.comes == ComesBack::Messages);
        // Back to the question, and here again.
        assert_eq!(press(&mut question, &keymap, "escape"), Answer::Open);
        assert!(!question.is_asking_files());
        let answer = press(&mut question, &keymap, "2 down enter");
        assert_eq!(answer, Answer::Leave { summarize: true, instructions: None });
        assert_eq!(question.comes, ComesBack::Both);
    }

    #[test]
    fn what_would_change_is_shown_before_one_goes_and_scrolls() {
        let (keymap, mut question) = (Keymap::default(), Question::new((80, 24)));
        assert_eq!(press(&mut question, &keymap, "d"), Answer::Preview);
        assert_eq!(question.files.words(), " · looking…");
        let patch = (0..100).map(|line| format!("+{line}\n")).collect::<String>();
        let patches = vec![FilePatch { path: "a.txt".to_owned(), patch: Some(patch) }];
        let warning = Some("recorded at another commit".to_owned());
        let preview = FilesPreview { patches, more: 2, staying: vec!["b.txt: stays".to_owned()], warning };
        question.files = FilesLook::Known(FilesDiff::new(&preview));
        assert_eq!(question.files.words(), " · d: 3 files");
        assert!(question.files.is_across_commits());
        press(&mut question, &keymap, "d pagedown");
        let shown = |question: &mut Question, size: (u16, u16)| {
            let mut buf = Buffer::empty(Rect::new(0, 0, size.0, size.1));
            let diff = question.files.shown().unwrap();
            diff.view(&Theme::default(), &Keymap::default(), buf.area, &mut buf);
            crate::testing::text_of(&buf)
        };
        let text = shown(&mut question, (80, 24));
        assert!(text.contains("+16") && text.contains("40/105") && !text.contains("recorded at"), "{text}");
        press(&mut question, &keymap, "pageup");
        let text = shown(&mut question, (40, 12));
        assert!(text.contains("recorded at another commit") && text.contains("b.txt: stays"), "{text}");
        assert!(text.contains("a.txt") && text.lines().count() <= 12 && text.contains("8/105"), "{text}");
        assert_eq!(press(&mut question, &keymap, "escape"), Answer::Open);
        assert!(question.files.shown().is_none(), "back at the question");
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
