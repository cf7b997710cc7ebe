//! The program of the front end's loop: passes tasks to the agent's thread, and gives the terminal to the shell and the
//! user's editor.

use std::io::{self, Seek as _, Write as _};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use offshoot_agent::Setup;
use offshoot_app::app::App;
use offshoot_app::config::own_program;
use offshoot_app::error::{CommandError, Result};
use offshoot_session::clock::Millis;
use offshoot_session::medium::read_regular_text;
use offshoot_session::session::Session;
use offshoot_session::transcript::Level;
use offshoot_tui::app::cmd::ProgramTask;
use offshoot_tui::app::msg::Msg;
use offshoot_tui::slash::AuthAction;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::drafts::DraftWriter;
use super::ending::EndNotice;
use super::extension_front::ExtensionUiState;
use super::hangup::HangupNotice;
use super::job_context::JobContext;
use super::lending::{Borrowed, lend, run};
use super::serve::serve;
use super::stop::stop;

/// A longer text of the user's editor is refused.
const MAX_WRITTEN: u64 = 64 << 20;

pub(super) struct Program {
    app: App,
    drafts: DraftWriter,
    lender: Arc<OnceLock<Arc<ExtensionUiState>>>,
    ending: EndNotice,
    /// `None` once the program ends.
    tasks: Option<UnboundedSender<ProgramTask>>,
    thread: Option<JoinHandle<()>>,
}

impl Program {
    pub(super) fn start(
        context: JobContext,
        session: Session,
        setup: Setup,
        (hangup, ending): (HangupNotice, EndNotice),
    ) -> Result<Self> {
        let failed = |error| CommandError::io("start the agent", &error);
        // Unbounded: it carries the user's actions, and the screen never waits.
        let (tasks, wanted) = unbounded_channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (app, drafts, lender) = (context.app.clone(), context.drafts.clone(), context.lender.clone());
        let thread = std::thread::Builder::new().name("agent".to_owned()).spawn(move || {
            let news = context.news.clone();
            if let Err(error) = runtime.block_on(serve(context, session, setup, wanted, hangup)) {
                drop(news.send(Msg::Notice(Level::Error, format!("the agent could not be started: {error}"))));
            }
            // Longer work is not waited for.
            runtime.shutdown_background();
        });
        Ok(Self { app, drafts, lender, ending, tasks: Some(tasks), thread: Some(thread.map_err(failed)?) })
    }

    /// Returns when everything is written.
    pub(super) fn close(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has ended as well.
            drop(thread.join());
        }
        self.drafts.close();
    }
}

impl offshoot_tui::app::run::Program for Program {
    fn now(&self) -> Millis {
        self.app.now()
    }

    fn take(&mut self, task: ProgramTask) {
        // The agent may have ended.
        if let Some(tasks) = &self.tasks {
            drop(tasks.send(task));
        }
    }

    fn stop(&mut self) -> io::Result<()> {
        stop()
    }

    fn edit(&mut self, text: &str, editor: Option<&str>) -> io::Result<Option<String>> {
        let editor = editor.or(self.app.environment.editor.as_deref()).unwrap_or("nano");
        let mut words = editor.split_whitespace();
        let program = words.next().ok_or_else(|| io::Error::other("no editor is named"))?;
        let mut file = tempfile::Builder::new().prefix("offshoot-").suffix(".md").tempfile()?;
        file.write_all(text.as_bytes())?;
        file.flush()?;
        let borrowed = run(Command::new(program).args(words).arg(file.path()), &self.ending);
        let borrowed = borrowed.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                let what = "is not installed: name an editor in $VISUAL, in $EDITOR or in the setting externalEditor";
                io::Error::new(error.kind(), format!("{program} {what}"))
            }
            kind => io::Error::new(kind, format!("{program}: {error}")),
        })?;
        match borrowed {
            Borrowed::Ended(status) if !status.success() => {
                return Err(io::Error::other(format!("{program} ended with {status}; the text is as it was")));
            }
            // What was saved is the draft.
            Borrowed::Ended(_) | Borrowed::ToldToEnd => {}
        }
        // Some editors replace the file.
        let written = read_regular_text(file.path(), MAX_WRITTEN)?;
        file.rewind()?;
        Ok(Some(written))
    }

    fn auth(&mut self, action: AuthAction, provider: Option<&str>) -> io::Result<bool> {
        let own = own_program().ok_or_else(|| io::Error::other("this program's own file is not known"))?;
        let action = match action {
            AuthAction::Login => "login",
            AuthAction::Logout => "logout",
        };
        let borrowed = run(Command::new(own).args(["auth", action]).args(provider), &self.ending)?;
        Ok(matches!(borrowed, Borrowed::Ended(status) if status.success()))
    }

    fn lend(&mut self, wish: u64, group: u32) -> io::Result<()> {
        let Some(ui_state) = self.lender.get() else { return Ok(()) };
        lend(group, &self.ending, || ui_state.lends(wish))
    }
}
