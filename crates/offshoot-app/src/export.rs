//! Exports of a session's file beside the agent that has it open.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_workspace::export::Export;
use offshoot_workspace::{ArgValue, Given, Output as _, run_as};

use crate::app::App;
use crate::error::{CommandError, Result};
use crate::models::ModelArgs;
use crate::next_request::RequestOfApp;

/// Writes a session file, or its path to an entry, to a file whose name says the format.
///
/// # Errors
/// The file exists, or cannot be written; the session cannot be read.
pub fn export(app: &App, session: &Path, output: PathBuf, at: Option<String>) -> Result<()> {
    let named = session.display().to_string();
    let mut given = Given::default();
    given.put_text("session", &named);
    given.put("output", ArgValue::Path(output));
    at.into_iter().for_each(|at| given.put_text("at", at));
    let request = RequestOfApp { app: app.clone(), typed: ModelArgs::default() };
    let place = app.place().with_next_request(Arc::new(request));
    let written = run_as::<Export>(given, &place);
    app.tell(&place.take_notes(), &named);
    let written = written.map_err(|failure| CommandError::of_operation(failure, Some(&named)))?;
    app.tell(&written.notes(), &named);
    Ok(())
}
