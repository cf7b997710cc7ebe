//! `offshoot entry`: prints one record, byte for byte.

use std::io::Write as _;

use crate::app::App;
use crate::error::Result;
use crate::select::{self, SessionToRead};

/// Print one entry exactly as it is in the file
///
/// Prints the bytes of the line and a line feed, even if the line is damaged
/// or the file has an old version.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    session: SessionToRead,

    /// An id or its unique start, a label, `@`, `@-`, or a time such as 2h
    entry: String,
}

const EXAMPLES: &str = "\
Examples:
  offshoot entry latest 1a2b3c4d
  offshoot entry latest 1a2b | jq .message.usage";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let session = args.session.open(app)?;
    let line = session.raw_line(select::entry(app, &session, &args.entry)?)?;
    let mut out = app.ui.raw();
    out.write_all(&line)?;
    out.write_all(b"\n")?;
    Ok(out.finish()?)
}
