//! `offshoot doctor`: why a session is not listed, and an overview of folders and caches. Reads only, and fills no
//! cache.

mod searched_roots;
mod reason;
mod examine;
mod search;
mod overview;
mod report;

use crate::app::App;
use crate::error::{CommandError, FailureKind, Result};

/// Say why a session is not listed and where it is, or check the whole setup
///
/// With SESSION (a path, an id, a name, or parts of them): every file that
/// resembles it, in all folders of sessions, also in those that lists pass
/// over; what it is, why it does not show, and the command that gets at it.
/// Backups, quarantines and entries that wait outside a session count, too. If
/// nothing resembles it the exit code is 3.
///
/// Without SESSION: every folder of sessions with what names it, how many
/// sessions it holds, and which files there are none; caches; entries that
/// could not be written to their session; files that others may read.
///
/// Nothing is written, no cache either.
///
/// --json prints one object. With SESSION:
///
///   {"session", "found": [{"path", "fits", "id", "name", "cwd",
///     "reasons": [{"code", "message"}], "commands": [text]}], "unread": [text]}
///
/// Without:
///
///   {"roots": [{"path", "of", "namedBy", "listed", "exists", "sessions",
///       "hidden": [{"path", "code", "message", "commands"}], "unread": [text]}],
///     "index": {"path", "files", "bytes"},
///     "catalogue": {"path", "state", "why", "sessions", "bytes"},
///     "spill": {"path", "files": [{"path", "file", "id", "entries"}], "unread"},
///     "open": [{"path", "mode"}]}
///
/// `fits` is "path", "id", "name", "start of its id", "file name" or "part of
/// its name". `code` is "listed", "other-folder", "folder-gone", "misplaced",
/// "passed-over", "outside", "above", "below", "extension", "empty",
/// "no-record", "no-header", "late-header", "unreadable", "backup",
/// "quarantine", "temporary", "spilled", "not-for-others" or "pi-lists-here".
/// `state` is "absent", "sound", "foreign", "damaged" or "unusable". What is not
/// known is null.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Path, id, name, or a part of them
    session: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot doctor
  offshoot doctor 0198c2
  offshoot doctor 'my refactoring' --json | jq -r '.found[].commands[]'";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let Some(given) = &args.session else {
        let (roots, open) = overview::roots(app);
        return report::everything(app, args.json, &(roots, overview::rest(app), open));
    };
    if given.is_empty() {
        return Err(CommandError::usage("an empty word resembles everything").hint("`offshoot list --all` shows it"));
    }
    let (found, unread) = search::search(app, given)?;
    report::found(app, args.json, given, (&found, &unread))?;
    if found.is_empty() {
        return Err(CommandError::new(FailureKind::NotFound, format!("nothing resembles {given:?}"))
            .hint("`offshoot doctor` says where it was looked for"));
    }
    Ok(())
}
