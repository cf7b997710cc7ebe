//! `offshoot label`: shows, sets or removes a label.

use std::io::Write as _;

use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::error::Error;
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::session::Session;
use offshoot_session::text::one_line;
use offshoot_session::tree::NodeIx;

use crate::app::{App, quoted};
use crate::error::{CommandError, Result};
use crate::select;
use crate::ui::style::{ID, LABEL, Painted};

/// Label an entry, or show its label
///
/// Trees, transcripts and `branches` show labels. An entry has at most one.
/// Without TEXT the command prints the label and changes nothing.
///
/// --json prints {"entryId", "label", "id"}: the label is null if there is none,
/// `id` is the entry that was written, null if none was.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    session: String,

    /// An id or its unique start, a label, `@`, `@-`, or a time such as 2h
    entry: String,

    /// The new label
    #[arg(conflicts_with = "clear")]
    text: Option<String>,

    /// Remove the label
    #[arg(long)]
    clear: bool,

    /// Show what would be labelled, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot label latest 1a2b3c4d 'tests pass here'
  offshoot label latest 1a2b3c4d
  offshoot tree latest --filter labeled-only
  offshoot label latest 1a2b3c4d --clear";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let text = match args.text.as_deref().map(str::trim) {
        Some("") => {
            let remove = format!("`offshoot label {} {} --clear`", quoted(&args.session), quoted(&args.entry));
            return Err(CommandError::usage("the label is empty").hint(format!("{remove} removes the label")));
        }
        None if !args.clear => return show(app, args),
        text => text,
    };
    let mut session = if args.dry_run { app.open(&args.session)? } else { app.open_to_write(&args.session)? };
    let target = select::entry_to_write(app, &session, &args.entry)?;
    let id = id_of(&session, target, args)?;
    let is_there = session.is_labelled(&id, text);
    if is_there && !args.json {
        return app.ui.nothing_to_do(&line(&id, text));
    }
    let would = if args.dry_run { "would be " } else { "" };
    let written = if is_there || args.dry_run {
        None
    } else {
        app.upgrade(&mut session)?;
        Some(session.append(&NewEntry::label(id.as_str(), text))?)
    };
    if args.json {
        return print(app, &json(&id, text, written.as_ref()));
    }
    print(app, &format!("{would}{}", line(&id, text)))
}

fn json(id: &EntryId, label: Option<&str>, written: Option<&EntryId>) -> String {
    let object = Object::new().str("entryId", id.as_str()).str_or_null("label", label);
    object.str_or_null("id", written.map(EntryId::as_str)).finish()
}

fn show(app: &App, args: &Args) -> Result<()> {
    let session = app.open(&args.session)?;
    let target = select::entry(app, &session, &args.entry)?;
    let id = id_of(&session, target, args)?;
    let label = session.tree().label(&id).map(|label| label.text.as_str());
    print(app, &if args.json { json(&id, label, None) } else { line(&id, label) })
}

fn id_of(session: &Session, ix: NodeIx, args: &Args) -> Result<EntryId> {
    let id = session.tree().node(ix).id().cloned();
    Ok(id.ok_or_else(|| Error::EntryNotFound { id: args.entry.clone() })?)
}

fn line(id: &EntryId, label: Option<&str>) -> String {
    let shown = Painted(ID, &one_line(id.as_str(), 40)).to_string();
    match label {
        Some(label) => format!("{shown} {}", Painted(LABEL, &format!("[{}]", one_line(label, 200)))),
        None => format!("{shown} has no label"),
    }
}

fn print(app: &App, line: &str) -> Result<()> {
    let mut out = app.ui.text();
    writeln!(out, "{line}")?;
    Ok(out.finish()?)
}
