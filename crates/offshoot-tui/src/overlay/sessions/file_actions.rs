//! Rename a session, move it to the trash and restore it: the questions before each action, and its result. The owner
//! of the selector changes the files.

use std::path::{Path, PathBuf};

use ratatui::crossterm::event::KeyEvent;

use super::{Mode, Notice, Request, Sessions, SessionsOutcome, list};
use crate::keymap::Action;
use crate::overlay::line::LineInput;
use crate::text;

impl Sessions {
    pub(super) fn rename(&mut self, key: KeyEvent, file: PathBuf, mut line: LineInput) -> SessionsOutcome {
        match self.setting.keymap.in_list(key) {
            Some(Action::SelectCancel) => {}
            Some(Action::SelectConfirm) => {
                let name = line.text().trim().to_owned();
                if name.is_empty() {
                    self.mode = Mode::Rename(file, line);
                } else {
                    self.requests.push(Request::Rename(file, name));
                }
            }
            _ => {
                line.key(&self.setting.keymap, key);
                self.mode = Mode::Rename(file, line);
            }
        }
        SessionsOutcome::Open
    }

    pub(super) fn confirm(&mut self, key: KeyEvent, file: PathBuf) -> SessionsOutcome {
        match self.setting.keymap.in_list(key) {
            Some(Action::SelectConfirm) => self.requests.push(Request::Trash(file)),
            Some(Action::SelectCancel) => {}
            _ => self.mode = Mode::Confirm(file),
        }
        SessionsOutcome::Open
    }

    pub(super) fn begin_rename(&mut self) {
        self.hold();
        if let Some(row) = self.chosen() {
            let line = LineInput::new(row.name.as_deref().unwrap_or_default());
            self.mode = Mode::Rename(row.path.clone(), line);
        }
    }

    pub(super) fn begin_trash(&mut self) {
        self.hold();
        let Some(row) = self.chosen() else { return };
        if self.setting.current.as_ref() == Some(&row.real) {
            self.notice = Some(Notice::Trouble("this session is open: it cannot go to the trash".to_owned()));
        } else {
            self.mode = Mode::Confirm(row.path.clone());
        }
    }

    /// Requests the session that was moved to the trash last.
    pub(super) fn bring_back(&mut self) {
        self.requests.extend(self.trashed.last().map(|(file, ..)| Request::Restore(file.clone())));
    }

    pub(super) fn renamed(&mut self, file: &Path, result: Result<String, String>) {
        match result {
            Ok(name) => {
                let real = self.real_of(file);
                for list in [&mut self.folder, &mut self.all] {
                    if let Some(row) = list.row_mut(&real) {
                        row.rename(Some(text::fit(&name, list::KEPT).into_owned()).filter(|name| !name.is_empty()));
                    }
                }
                self.notice = Some(Notice::Done(format!("named {name}")));
                self.arrange();
            }
            Err(why) => self.notice = Some(Notice::Trouble(why)),
        }
    }

    pub(super) fn trashed(&mut self, file: &Path, result: Result<(), String>) {
        match result {
            Ok(()) => {
                let real = self.real_of(file);
                let name =
                    self.list_mut(self.scope).row_mut(&real).map_or_else(String::new, |row| row.words().to_owned());
                self.folder.set_gone(&real, true);
                self.all.set_gone(&real, true);
                self.notice = Some(Notice::Trashed(name.clone()));
                self.trashed.push((file.to_path_buf(), real, name));
                self.arrange();
            }
            Err(why) => self.notice = Some(Notice::Trouble(why)),
        }
    }

    pub(super) fn restored(&mut self, file: &Path, result: Result<(), String>) {
        let place = self.trashed.iter().rposition(|(trashed, ..)| trashed == file);
        match (result, place) {
            (Ok(()), Some(place)) => {
                let (_, real, name) = self.trashed.remove(place);
                self.folder.set_gone(&real, false);
                self.all.set_gone(&real, false);
                self.notice = Some(Notice::Done(format!("brought back: {name}")));
                self.held = Some(real);
                self.arrange();
            }
            (Ok(()), None) => {}
            (Err(why), _) => self.notice = Some(Notice::Trouble(why)),
        }
    }
}
