//! `offshoot name`: sets a session's display name.

use std::io::Write as _;

use offshoot_session::compose::NewEntry;
use offshoot_session::header::Dialect;
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::text::one_line;

use crate::app::App;
use crate::error::Result;
use crate::ui::style::{BOLD, Painted};

/// Name a session
///
/// `list` shows the name, and commands take it for SESSION. An empty name
/// removes it.
///
/// --json prints {"name", "id"}: the name is null if there is none, `id` is the
/// entry that was written, null if none was.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    session: String,

    /// The name
    text: String,

    /// Show what would be named, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot name latest 'fix the login test'
  offshoot show 'fix the login test'
  offshoot name latest ''";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let mut session = if args.dry_run { app.open(&args.session)? } else { app.open_to_write(&args.session)? };
    let is_there = session.is_named(&args.text)?;
    if is_there && !args.json {
        return app.ui.nothing_to_do(&said("is", session.name()?.as_deref()));
    }
    let written = if is_there || args.dry_run {
        None
    } else {
        app.upgrade(&mut session)?;
        Some(session.append(&NewEntry::session_info(&args.text))?)
    };
    let planned = Some(args.text.trim()).filter(|name| !name.is_empty()).map(str::to_owned);
    let name = if args.dry_run { planned } else { session.name()? };
    let mut out = app.ui.text();
    if args.json {
        let object = Object::new().str_or_null("name", name.as_deref());
        writeln!(out, "{}", object.str_or_null("id", written.as_ref().map(EntryId::as_str)).finish())?;
        return Ok(out.finish()?);
    }
    writeln!(out, "{}", said(if args.dry_run { "would be" } else { "is" }, name.as_deref()))?;
    out.finish()?;
    if session.dialect() == Dialect::Omp {
        app.ui.note("oh-my-pi keeps showing the session's own title");
    }
    Ok(())
}

fn said(verb: &str, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("the session {verb} named {}", Painted(BOLD, &one_line(name, 200))),
        None if verb == "is" => "the session has no name".to_owned(),
        None => "the session would have no name".to_owned(),
    }
}
