//! `offshoot -r`: a session is picked before the agent starts.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::channel;

use offshoot_session::clock::Millis;
use offshoot_tui::overlay::sessions::alone::{Around, pick};
use offshoot_tui::overlay::sessions::{Request, Sessions};
use offshoot_tui::theme::Theme;

use super::sessions::{Clerk, setting};
use crate::app::App;
use crate::error::{CommandError, Result};

/// Lets the user pick a session on the terminal; `None` if none is wanted.
pub(crate) fn session(app: &App) -> Result<Option<PathBuf>> {
    let (sender, answers) = channel();
    let sender = Mutex::new(sender);
    let clerk = Clerk::start(app, move |answer| {
        // When the selector has ended, nobody waits for answers.
        if let Ok(sender) = sender.lock() {
            drop(sender.send(answer));
        }
    })?;
    let picked = pick(Sessions::new(setting(app, None)), &Theme::default(), &answers, &mut Shell { app, clerk });
    picked.map_err(|error| CommandError::io("use the terminal", &error))
}

struct Shell<'a> {
    app: &'a App,
    clerk: Clerk,
}

impl Around for Shell<'_> {
    fn now(&self) -> Millis {
        self.app.now()
    }

    fn take(&mut self, request: Request) {
        self.clerk.take(request);
    }

    fn terminal(&self) -> Box<dyn Write> {
        crate::ui::terminal()
    }
}
