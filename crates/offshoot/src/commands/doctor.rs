//! `offshoot doctor`: why a session is not listed, and an overview of folders and caches. Reads only, and fills no
//! cache.

mod searched_roots;
mod reason;
mod examine;
mod search;
mod peer_folder;
mod overview;
mod report;

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::session_words::session_words;

/// Find a session that is not listed, or check the whole setup
///
/// With SESSION it shows every file that matches, in all session folders,
/// including files that lists leave out, backups, quarantines and entries that
/// wait outside a session. For each file it says what it is, why it is not
/// listed, and which command opens it. If nothing matches, the exit code is 3.
///
/// Without SESSION it shows every session folder, where its path comes from, how
/// many sessions it has, and which files in it are not sessions. It also shows
/// the caches, entries that wait outside their session, files that other users
/// can read, and the providers that have a key, with its variable or file.
///
/// Nothing is written, not even a cache.
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
///     "pi": {"path", "state", "counts": [text], "toCopy": [text],
///       "doesNotCount": [text]},
///     "omp": the same of oh-my-pi's folder,
///     "keys": [{"provider", "from"}],
///     "open": [{"path", "mode"}]}
///
/// `fits` is "path", "id", "name", "start of its id", "file name", "part of
/// its name" or "words of its name or first message". `code` is "listed",
/// "other-folder", "folder-gone", "misplaced", "passed-over", "outside",
/// "above", "below", "extension", "empty", "no-record", "no-header",
/// "late-header", "unreadable", "backup", "quarantine", "temporary",
/// "spilled", "not-for-others" or "pi-lists-here".
/// `state` is "absent", "sound", "foreign", "damaged" or "unusable". Unknown
/// values are null.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id, a name, a part of one, or words of the name or first message
    #[arg(value_parser = session_words())]
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

pub(crate) use peer_folder::{KEY_BINDINGS_COUNT, PeerStanding, standing as peer_standing};

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let Some(given) = &args.session else {
        let (roots, open) = overview::roots(app);
        return report::everything(app, args.json, &(roots, overview::rest(app), open));
    };
    if given.is_empty() {
        return Err(
            CommandError::usage("an empty text names no session").hint("`offshoot list --all` shows every session")
        );
    }
    let (found, unread) = search::search(app, given)?;
    report::found(app, args.json, given, (&found, &unread))?;
    if found.is_empty() {
        return Err(CommandError::new(FailureKind::NotFound, format!("no file resembles {given:?}"))
            .hint("`offshoot doctor` shows which folders were searched"));
    }
    Ok(())
}
