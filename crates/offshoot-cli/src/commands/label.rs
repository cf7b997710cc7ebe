//! `offshoot label`: sets or clears a label.

use std::io::Write as _;

use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::error::Error;
use offshoot_session::text::one_line;

use crate::app::App;
use crate::error::Result;
use crate::select;
use crate::ui::style::{ID, LABEL, Painted};

/// Label an entry, or remove its label
///
/// Labels are shown in trees and transcripts and by `branches`. An entry has
/// one label; without TEXT it is taken off.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    session: String,

    /// An id or its unique start, a label, `@`, `@-`, or a time such as 2h
    entry: String,

    /// The label
    text: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  offshoot label latest 1a2b3c4d 'tests pass here'
  offshoot label latest 1a2b3c4d
  offshoot tree latest --filter labeled-only";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let mut session = app.open_to_write(&args.session)?;
    let target = select::entry_to_write(app, &session, &args.entry)?;
    let target = app.upgraded(&mut session, target)?;
    let id =
        session.tree().node(target).id().cloned().ok_or_else(|| Error::EntryNotFound { id: args.entry.clone() })?;
    let text = args.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
    session.append(&NewEntry::label(id.as_str(), text))?;
    let shown = Painted(ID, &one_line(id.as_str(), 40)).to_string();
    let mut out = app.ui.text();
    match text {
        Some(text) => writeln!(out, "{shown} {}", Painted(LABEL, &format!("[{}]", one_line(text, 200))))?,
        None => writeln!(out, "{shown} has no label now")?,
    }
    Ok(out.finish()?)
}
