//! The question in which folder the agent works on a session from elsewhere, asked before the front end takes the terminal.
//! The answer counts for this start.

use std::path::PathBuf;

use offshoot_app::agent::{self, Args, shown_path};
use offshoot_app::app::App;
use offshoot_app::error::{CommandError, Result};
use offshoot_protocol::FolderRefusal;
use offshoot_session::session::Session;

/// Continues the session in its folder, or in the one that the user names. Whether the user wants it at all.
pub(super) fn entered(app: &App, args: &Args, session: &mut Session) -> Result<bool> {
    let Err(refused) = agent::enter_folder(app, args, session) else { return Ok(true) };
    let unasked = app.folders.enter(session, None).err().filter(|_| args.session_folder.is_none());
    let Some(folder) = ask(app, &unasked.ok_or(refused)?)? else { return Ok(false) };
    app.folders.enter(session, Some(&folder)).map_err(|refusal| CommandError::from(&refusal))?;
    Ok(true)
}

/// The folder that the user names. An empty line, and the end of the input, name none.
fn ask(app: &App, refusal: &FolderRefusal) -> Result<Option<PathBuf>> {
    let (why, here, own) = match refusal {
        FolderRefusal::Elsewhere { own, here } => {
            (format!("This session belongs to another folder, {}.", shown_path(own)), here, Some(own))
        }
        FolderRefusal::Gone { own, here } => {
            (format!("This session's folder is not there any more: {}.", shown_path(own)), here, None)
        }
        FolderRefusal::Neither { .. } => return Err(refusal.into()),
    };
    let mut lines =
        vec![why, "The model's tools would read and write in the folder that you choose.".to_owned(), String::new()];
    lines.extend(own.map(|own| format!("  s      the session's folder, {}", shown_path(own))));
    lines.extend([
        format!("  t      this folder, {}", shown_path(here)),
        "  Enter  do not open the session".to_owned(),
        String::new(),
    ]);
    let keys = if own.is_some() { "s, t or Enter: " } else { "t or Enter: " };
    let failed = |error| CommandError::io("ask about the session's folder", &error);
    let mut answer = app.ui.ask(&lines, keys).map_err(failed)?;
    loop {
        match (answer.unwrap_or_default().trim().to_lowercase().as_str(), own) {
            ("s" | "session", Some(own)) => return Ok(Some(own.clone())),
            ("t" | "this", _) => return Ok(Some(here.clone())),
            ("", _) => return Ok(None),
            _ => answer = app.ui.ask(&[], keys).map_err(failed)?,
        }
    }
}
