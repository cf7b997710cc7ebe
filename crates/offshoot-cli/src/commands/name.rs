//! `offshoot name`: sets a session's display name.

use std::io::Write as _;

use offshoot_session::compose::NewEntry;
use offshoot_session::header::Dialect;
use offshoot_session::session::Session;
use offshoot_session::text::one_line;

use crate::app::App;
use crate::error::Result;
use crate::ui::style::{BOLD, Painted};

/// Name a session
///
/// `list` shows the name, and commands take it for SESSION. An empty name
/// removes it.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    session: String,

    /// The name
    text: String,
}

const EXAMPLES: &str = "\
Examples:
  offshoot name latest 'fix the login test'
  offshoot show 'fix the login test'
  offshoot name latest ''";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let mut session = app.open_to_write(&args.session)?;
    if session.is_named(&args.text)? {
        return app.ui.nothing_to_do(&said(&session)?);
    }
    app.upgrade(&mut session)?;
    session.append(&NewEntry::session_info(&args.text))?;
    let mut out = app.ui.text();
    writeln!(out, "{}", said(&session)?)?;
    out.finish()?;
    if session.dialect() == Dialect::Omp {
        app.ui.note("oh-my-pi keeps showing the session's own title");
    }
    Ok(())
}

fn said(session: &Session) -> Result<String> {
    Ok(match session.name()? {
        Some(name) => format!("the session is named {}", Painted(BOLD, &one_line(&name, 200))),
        None => "the session has no name".to_owned(),
    })
}
