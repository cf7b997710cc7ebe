//! The agent's output: the answer, the answer as one JSON object, or every event.

use std::ffi::OsString;
use std::io::Write as _;
use std::sync::Arc;

use offshoot_agent::event::retry_words;
use offshoot_agent::sandbox::Sandbox;
use offshoot_app::agent::PrintForm;
use offshoot_app::app::{App, quoted};
use offshoot_app::error::{CommandError, Result};
use offshoot_app::ui::UiOutput;
use offshoot_protocol::message::{AssistantMessage, Message, StopReason, text_of};
use offshoot_protocol::{AgentError, AgentEvent, AgentId, Event, NoticeCode, Settled};
use offshoot_session::json::Object;
use offshoot_session::session::Session;

/// The failure of a run that printed no result, in the form that the arguments ask for; `None` for text.
pub(crate) fn failure(arguments: &[OsString], error: &CommandError) -> Option<String> {
    let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).take_while(|word| *word != "--").collect();
    let asks = |option: &str| {
        let joined = format!("{option}=json");
        let apart = words.windows(2).any(|pair| pair[0] == option && pair[1] == "json");
        apart || words.iter().any(|word| **word == *joined)
    };
    let why = error.on_one_line();
    if asks("--mode") {
        return Some(Object::new().str("type", "failed").str("error", &why).finish());
    }
    let result = || Object::new().str("type", "result").str("result", "").raw("isError", true).str("error", &why);
    asks("--output-format").then(|| result().finish())
}

pub(crate) struct Printer<'a> {
    app: &'a App,
    form: PrintForm,
    out: UiOutput,
    last: Option<Arc<AssistantMessage>>,
    session_id: String,
    file: Option<String>,
    /// What is enforced of the sandbox.
    sandbox: Option<String>,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(app: &'a App, form: PrintForm) -> Self {
        Self { app, form, out: app.ui.raw(), last: None, session_id: String::new(), file: None, sandbox: None }
    }

    pub(crate) fn begin(&mut self, session: &Session, sandbox: Option<&Sandbox>) -> Result<()> {
        session.id().clone_into(&mut self.session_id);
        let folder = self.app.folder_of(session);
        self.sandbox = sandbox.map(|sandbox| sandbox.told(&folder));
        self.file = session.file().map(|file| file.display().to_string());
        if self.form == PrintForm::Events {
            writeln!(self.out, "{}", session.header_line())?;
            if let Some(message) = self.sandbox.clone() {
                let told = Event::Notice { code: NoticeCode::Sandbox, message, entry_id: None };
                writeln!(self.out, "{}", told.to_json())?;
            }
            self.out.flush()?;
        }
        Ok(())
    }

    /// Prints events in order, and flushes.
    pub(crate) fn tell(&mut self, news: &mut Vec<AgentEvent>) -> Result<()> {
        // Of children, the root's events say where they stand; what they say is in their files.
        for told in news.drain(..).filter(|told| told.agent == AgentId::Root) {
            if let Event::MessageEnd { message: Message::Assistant(message) } = told.event.as_ref() {
                self.last = Some(message.clone());
            }
            match self.form {
                PrintForm::Events => {
                    self.out.write_all(told.to_json().as_bytes())?;
                    self.out.write_all(b"\n")?;
                }
                PrintForm::Text | PrintForm::Result => self.note(&told.event),
            }
        }
        if self.form == PrintForm::Events {
            self.out.flush()?;
        }
        Ok(())
    }

    /// Reports retries and compaction errors on stderr when only the answer is printed.
    fn note(&self, event: &Event) {
        match event {
            Event::AutoRetryStart { attempt, max_attempts, delay_ms, error_message } => {
                let next = retry_words(*delay_ms, *attempt, *max_attempts);
                self.app.ui.note(&format!("{error_message}; {next}"));
            }
            // The error that ends the run says it.
            Event::Notice { code: NoticeCode::AskLater, .. } => {}
            Event::CompactionEnd { error_message: Some(why), .. } => self.app.ui.note(&format!("compaction: {why}")),
            // The error says it.
            Event::Notice { code: NoticeCode::Refused, .. } => {}
            Event::Notice { message, entry_id, .. } => {
                self.app.ui.note(message);
                let session = self.file.as_deref().unwrap_or(&self.session_id);
                if let Some(entry) = entry_id {
                    self.app.ui.hint(&format!("`offshoot switch {} {entry}` goes there", quoted(session)));
                }
            }
            _ => {}
        }
    }

    pub(crate) fn end(&mut self, settled: &std::result::Result<Settled, AgentError>) -> Result<()> {
        match self.form {
            PrintForm::Events => {}
            PrintForm::Text => {
                let answer = self.last.as_ref().filter(|_| settled.is_ok()).map(|last| text_of(&last.content));
                if let Some(answer) = answer.filter(|answer| !answer.is_empty()) {
                    writeln!(self.out, "{answer}")?;
                }
                if self.last.as_ref().is_some_and(|last| last.stop_reason == StopReason::Length) {
                    self.app.ui.note("the answer is cut off: it reached its length limit");
                }
            }
            PrintForm::Result => {
                let result = self.result(settled);
                writeln!(self.out, "{result}")?;
            }
        }
        self.out.flush()?;
        Ok(())
    }

    fn result(&self, settled: &std::result::Result<Settled, AgentError>) -> String {
        let is_error = !matches!(settled, Ok(Settled::Done));
        let text = self.last.as_ref().map(|last| text_of(&last.content)).unwrap_or_default();
        let json = |value: serde_json::Result<String>| value.unwrap_or_else(|_| "null".to_owned());
        let mut object = Object::new().str("type", "result").str("result", &text).raw("isError", is_error);
        if let Some(last) = &self.last {
            object = object
                .raw("stopReason", json(serde_json::to_string(&last.stop_reason)))
                .str("provider", &last.provider)
                .str("model", &last.model)
                .raw("usage", json(serde_json::to_string(&last.usage)));
        }
        match settled {
            Ok(Settled::Failed(why) | Settled::Broken(why)) => object = object.str("error", &why.to_string()),
            Ok(Settled::Aborted) => object = object.str("error", "stopped"),
            Err(error) => object = object.str("error", &error.to_string()),
            Ok(Settled::Done) => {}
        }
        object = object.opt_str("sandbox", self.sandbox.as_deref()).str("sessionId", &self.session_id);
        object.opt_str("sessionFile", self.file.as_deref()).finish()
    }
}
