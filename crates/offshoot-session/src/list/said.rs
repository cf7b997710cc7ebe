//! The messages of the person and the model in a session file, one after the other, for searches: lines that cannot matter
//! are passed over unread, and the walk ends when the caller has seen enough.

use std::borrow::Cow;
use std::ops::ControlFlow;

use crate::entry::{Source as _, text_of};
use crate::envelope::{LineBytes, scan};
use crate::error::{Error, Result};
use crate::json::Json;
use crate::kind::{Kind, Role};
use crate::lines::for_each_line;
use crate::medium::{Medium, read_exact_at};
use crate::session::Session;
use crate::tree::Node;

/// Calls `each` with the entry id and the text of every message of the person or the model, in the order of the file, until it
/// breaks off. An entry of a session of version 1 has no id.
/// Lines for whose bytes `can_matter` is false are not decoded.
///
/// # Errors
/// [`Error::Io`]. Damaged lines are passed over.
pub fn for_each_message(
    medium: &dyn Medium,
    mut can_matter: impl FnMut(&[u8]) -> bool,
    mut each: impl FnMut(Option<&str>, &str) -> ControlFlow<()>,
) -> Result<()> {
    let length = medium.len().map_err(Error::io("read", medium.path()))?;
    let mut visit = |line: &[u8]| match can_matter(line).then(|| text_of_line(line)).flatten() {
        Some((id, text)) => each(id.as_deref(), &text),
        None => ControlFlow::Continue(()),
    };
    let mut trouble = Ok(());
    for_each_line(medium, 0, length, 1, |span, line| match line.tail {
        None => visit(line.head),
        // Only its ends are here.
        Some(_) => match read_exact_at(medium, span.offset, usize::try_from(span.length).unwrap_or(usize::MAX)) {
            Ok(whole) => visit(&whole),
            Err(error) => {
                trouble = Err(error);
                ControlFlow::Break(())
            }
        },
    })
    .and(trouble)
    .map_err(Error::io("read", medium.path()))
}

/// The same of an open session, of whatever its lines are made.
///
/// # Errors
/// [`Error::Io`].
pub fn for_each_message_of(
    session: &Session,
    mut can_matter: impl FnMut(&[u8]) -> bool,
    mut each: impl FnMut(Option<&str>, &str) -> ControlFlow<()>,
) -> Result<()> {
    let is_said = |node: &Node| matches!(node.role(), Some(Role::User | Role::Assistant));
    for ix in session.tree().entries().filter(|ix| is_said(session.tree().node(*ix))) {
        let entry = session.entry(ix)?;
        let line = entry.line().as_bytes();
        if let Some((id, text)) = can_matter(line).then(|| text_of_line(line)).flatten()
            && each(id.as_deref(), &text).is_break()
        {
            break;
        }
    }
    Ok(())
}

fn text_of_line(line: &[u8]) -> Option<(Option<String>, String)> {
    let envelope = scan(LineBytes { head: line, tail: None }).ok()?;
    if envelope.kind != Kind::Message || !matches!(envelope.role, Some(Role::User | Role::Assistant)) {
        return None;
    }
    let text = String::from_utf8_lossy(line);
    let content = Json::trusted(&text).get("message")?.get("content")?;
    let said = text_of(content, " ");
    (!said.is_empty()).then(|| (envelope.id.map(Cow::into_owned), said))
}
