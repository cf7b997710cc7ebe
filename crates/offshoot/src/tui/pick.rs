//! `offshoot -r`: picks a session before the agent starts.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::channel;

use offshoot_app::agent::Args;
use offshoot_app::app::App;
use offshoot_app::error::{CommandError, Result};
use offshoot_session::clock::Millis;
use offshoot_session::id::EntryId;
use offshoot_tui::app::cmd::ProgramTask;
use offshoot_tui::app::model::Model;
use offshoot_tui::app::msg::Msg;
use offshoot_tui::app::run::{Inbox, Program, run};
use offshoot_tui::overlay::sessions::{Sessions, Setting};
use offshoot_tui::slash::AuthAction;

use super::hangup;
use super::preferences::preferences;
use super::session_list::{SessionListWorker, surroundings};
use super::signals::Signals;
use super::stop::stop;

/// What the user picked.
pub(super) struct Picked {
    pub(super) file: PathBuf,
    /// The entry from which the user goes on.
    pub(super) entry: Option<EntryId>,
    pub(super) signals: Signals,
}

/// Lets the user pick a session; `None` if the user leaves. Signals are handled from here on: those that arrive before
/// the conversation starts are passed to it.
pub(super) fn session(app: &App, args: &Args) -> Result<Option<Picked>> {
    let app = App { ui: app.ui.quiet(), ..app.clone() };
    // Unbounded: reading threads must not wait for a stopped screen. The channel ends with the list.
    let (sender, receiver) = channel();
    let told = sender.clone();
    // The front end may have ended.
    let session_list = SessionListWorker::start(&app, move |answer| drop(told.send(Msg::Sessions(answer))))?;
    let files = app.settings_files(&app.environment.cwd);
    let preferences = preferences(&app, args, &files, &app.cwd())?;
    let mut sessions = Sessions::new(Setting { keymap: preferences.keymap.clone(), ..surroundings(&app) });
    sessions.requests().into_iter().for_each(|request| session_list.take(request));
    let signals = Signals::listen()?;
    signals.connect(sender.clone());
    // There is no agent yet.
    let (watch, _) = hangup::hangup();
    watch.start(sender.clone(), signals.ending())?;
    let inbox = Inbox { sender, receiver };
    let mut picker = Picker { app: &app, session_list };
    let ran = run(Model::choosing(preferences, sessions), &inbox, &mut picker, offshoot_app::ui::terminal);
    signals.disconnect(&inbox.receiver);
    let model = ran.map_err(|error| CommandError::io("use the terminal", &error))?;
    let entry = model.goes_on_at;
    Ok(model.chosen.map(|file| Picked { file, entry, signals }))
}

struct Picker<'a> {
    app: &'a App,
    session_list: SessionListWorker,
}

impl Program for Picker<'_> {
    fn now(&self) -> Millis {
        self.app.now()
    }

    /// There is no agent yet: only tasks of the list are run.
    fn take(&mut self, task: ProgramTask) {
        if let ProgramTask::Sessions(request) = task {
            self.session_list.take(request);
        }
    }

    fn stop(&mut self) -> io::Result<()> {
        stop()
    }

    fn edit(&mut self, _: &str, _: Option<&str>) -> io::Result<Option<String>> {
        Ok(None)
    }

    fn auth(&mut self, _: AuthAction, _: Option<&str>) -> io::Result<bool> {
        Ok(false)
    }

    /// The list of sessions runs before extensions are loaded, so nobody asks for the terminal.
    fn lend(&mut self, _: u64, _: u32) -> io::Result<()> {
        Ok(())
    }
}
