//! What a list shows of a session, read in one pass without building a tree. Fields and rules are pi's (*Lists* in
//! `docs/format.md`), but odd lines do not remove a session from the list.

mod child_marks;
mod reading;
mod said;

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::clock::{Millis, to_iso};
use crate::error::{Error, Result};
use crate::header::Header;
use crate::json::Object;
use crate::lines::for_each_line;
use crate::medium::Medium;
use crate::session::Session;

pub use child_marks::ChildMarks;
pub use reading::{Beginning, Reading};
use reading::{Gather, no_header};
pub use said::{for_each_message, for_each_message_of};

/// A session in a list.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct SessionInfo {
    pub path: PathBuf,
    pub id: String,
    /// Empty if the header has none.
    pub cwd: String,
    /// The last `session_info`'s name, else omp's title.
    pub name: Option<String>,
    /// The header's parent session.
    pub parent_session_path: Option<String>,
    pub created: Option<Millis>,
    /// The last time of a message by the user or the model, else the creation time, else the file's time. A fork's is
    /// at least its creation time: the copied messages are older than the fork.
    pub modified: Option<Millis>,
    /// Message entries of any role on all branches.
    pub message_count: u64,
    /// Tokens of all kinds that providers reported, on all branches.
    pub tokens: u64,
    /// US dollars that providers reported, on all branches.
    pub cost: f64,
    /// The user's first message, or `(no messages)`.
    pub first_message: String,
    /// All messages of the user and the model, joined by spaces; `None` unless requested.
    pub all_messages_text: Option<String>,
}

impl SessionInfo {
    /// The record as pi's `SessionInfo`.
    pub fn to_json(&self) -> String {
        self.to_object().finish()
    }

    /// [`SessionInfo::to_json`], for further members.
    pub fn to_object(&self) -> Object {
        let time = |object: Object, name: &str, ms: Option<Millis>| match ms {
            Some(ms) => object.str(name, &to_iso(ms)),
            None => object.raw(name, "null"),
        };
        let object = Object::new()
            .str("path", &self.path.to_string_lossy())
            .str("id", &self.id)
            .str("cwd", &self.cwd)
            .opt_str("name", self.name.as_deref())
            .opt_str("parentSessionPath", self.parent_session_path.as_deref());
        time(time(object, "created", self.created), "modified", self.modified)
            .raw("messageCount", self.message_count)
            .str("firstMessage", &self.first_message)
            .opt_str("allMessagesText", self.all_messages_text.as_deref())
    }
}

/// Sorts by last activity, newest first, then by file name in descending order.
pub fn sort_by_activity(sessions: &mut [SessionInfo]) {
    // A record is large, and a sort moves it many times.
    sessions.sort_by_cached_key(by_activity);
}

/// What orders sessions by last activity, newest first, then by file name in descending order.
pub fn by_activity(session: &SessionInfo) -> impl Ord + use<> {
    (Reverse(session.modified), Reverse(session.path.file_name().map(OsStr::to_owned)))
}

/// Reads the list record of a session file.
///
/// # Errors
/// [`Error::NotASession`]; [`Error::Io`].
pub fn session_info(medium: &dyn Medium, file_time: Option<Millis>, with_text: bool) -> Result<SessionInfo> {
    let length = medium.len().map_err(Error::io("read", medium.path()))?;
    let mut gather = Gather::new(medium, Reading::default(), with_text);
    gather.read_further(length, &mut Vec::new())?;
    let info = gather.reading.into_info(medium.path(), file_time)?;
    Ok(SessionInfo { all_messages_text: gather.text, ..info })
}

/// The same of a session that is open, of whatever its lines are made.
///
/// # Errors
/// An entry cannot be read.
pub fn session_info_of(session: &Session, file_time: Option<Millis>, with_text: bool) -> Result<SessionInfo> {
    let (reading, text) = reading::of_session(session, with_text)?;
    let path = session.origin().map_or_else(PathBuf::new, Path::to_path_buf);
    Ok(SessionInfo { all_messages_text: text, ..reading.into_info(&path, file_time)? })
}

/// Reads only a session's header.
///
/// # Errors
/// [`Error::NotASession`]; [`Error::Io`].
pub fn header(medium: &dyn Medium) -> Result<Header> {
    let length = medium.len().map_err(Error::io("read", medium.path()))?;
    let mut window = FIRST_PIECE.min(length);
    loop {
        let mut gather = Gather::new(medium, Reading::default(), false);
        let mut header = Ok(None);
        for_each_line(medium, 0, window, 1, |span, line| {
            if !span.terminated && window < length {
                return ControlFlow::Break(()); // the piece ends within a line
            }
            header = gather.line(span, line);
            let is_decided = gather.reading.refused.is_some() || !matches!(header, Ok(None));
            if is_decided { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .map_err(Error::io("read", medium.path()))?;
        match (header?, gather.reading.refused) {
            (Some(header), _) => return Ok(header),
            (None, Some((line, offset))) => return Err(no_header(medium.path(), line, offset)),
            (None, None) if window == length => return Err(no_header(medium.path(), 1, 0)),
            (None, None) => window = window.saturating_mul(16).min(length),
        }
    }
}

/// How much of a file is read for its header at first; longer headers are rare.
const FIRST_PIECE: u64 = 16 << 10;
