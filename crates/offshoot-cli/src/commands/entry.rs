//! `offshoot entry`: prints one record, byte for byte.

use std::io::Write as _;

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::lookup;
use offshoot_session::entry::Source as _;
use offshoot_session::provenance::Origin;
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;

use crate::originals::{find_elsewhere, not_here};
use crate::select::SessionToRead;

/// Print one entry exactly as it is in the file
///
/// Prints the bytes of the line and a line feed, even if the line is damaged
/// or the file has an old version.
///
/// --source prints the original of a copy, or the last entry of the branch that
/// a merge stands for. It is looked for in the session, in those that it was
/// forked from, and in the one that the copy names; if it is in none of them
/// the exit code is 3. The original has the tokens and the cost.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    session: SessionToRead,

    /// An id or its unique start, a label, `@`, `@-`, or a time such as 2h
    entry: String,

    /// Print the entry that a copy or a merge comes from
    #[arg(long)]
    source: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot entry latest 1a2b3c4d
  offshoot entry latest 1a2b | jq .message.usage";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let session = args.session.open(app)?;
    let ix = lookup::entry(app, &session, &args.entry)?;
    let line = if args.source { original(app, &session, ix)? } else { session.raw_line(ix)? };
    let mut out = app.ui.raw();
    out.write_all(&line)?;
    out.write_all(b"\n")?;
    Ok(out.finish()?)
}

fn original(app: &App, session: &Session, ix: NodeIx) -> Result<Vec<u8>> {
    let missing = |why: String| CommandError::new(FailureKind::NotFound, why);
    let origin = Origin::of_copy_or_merge(&session.entry(ix)?);
    let origin = origin.ok_or_else(|| missing("the entry was written here: it is no copy and no merge".to_owned()))?;
    let is_own = origin.session.as_deref().is_none_or(|named| named == session.id());
    if let Some(own) = session.tree().find(origin.id.as_str()).filter(|_| is_own) {
        return Ok(session.raw_line(own)?);
    }
    match find_elsewhere(app, session.ancestors(), &origin) {
        Some((other, ix)) => Ok(other.raw_line(ix)?),
        None => Err(missing(not_here(&origin))),
    }
}
